//! `countersign rehearse model`: a scripted model on loopback, served until it is interrupted.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context as _;
use countersign_rehearsal::model::{Options, Report, Script, parse_var, serve_until};

use crate::Outcome;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The script
    #[arg(long, value_name = "FILE")]
    script: PathBuf,
    /// Where to listen; an address of this machine's loopback only
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// A value for `${NAME}` in the script; may be repeated
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = parse_var)]
    vars: Vec<(String, String)>,
    /// Print JSON: one line with the address, one with what was asked
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let Arguments {
        script,
        listen,
        vars,
        json,
    } = arguments;
    let text = std::fs::read_to_string(&script)
        .with_context(|| format!("cannot read the script {}", script.display()))?;
    let script = Script::parse(&text).with_context(|| format!("in {}", script.display()))?;
    if script.replies() == 0 {
        writeln!(
            io::stderr(),
            "warning: the script has no reply, so the first question to the model will be an error"
        )?;
    }
    let options = Options {
        listen,
        vars: vars.into_iter().collect(),
    };
    let report = tokio::runtime::Runtime::new()
        .context("cannot start the runtime")?
        .block_on(serve(script, options, json))?;
    print_report(&report, json)?;
    Ok(match report.unexpected.is_empty() {
        true => Outcome::Fine,
        false => Outcome::Found,
    })
}

async fn serve(script: Script, options: Options, json: bool) -> anyhow::Result<Report> {
    let mut printed = Ok(());
    let report = serve_until(script, options, interrupted(), |base_url| {
        printed = print_address(base_url, json);
    })
    .await?;
    printed?;
    Ok(report)
}

/// Completes when the person, or whoever started us, wants an end.
async fn interrupted() {
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated() => {}
    }
}

#[cfg(unix)]
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}

fn print_address(base_url: &str, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::json!({ "base_url": base_url }))?;
    } else {
        writeln!(out, "{base_url}")?;
        writeln!(
            io::stderr(),
            "Start `claude` with ANTHROPIC_BASE_URL={base_url} and any ANTHROPIC_API_KEY. Ctrl-C ends the model."
        )?;
    }
    out.flush()
}

fn print_report(report: &Report, json: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if json {
        let line = serde_json::to_string(report).map_err(io::Error::from)?;
        return writeln!(out, "{line}");
    }
    writeln!(
        out,
        "replies given: {}, left: {}; requests the script did not foresee: {}",
        report
            .replies
            .iter()
            .map(|reply| u64::from(reply.used))
            .sum::<u64>(),
        report.replies_left(),
        report.unexpected.len()
    )?;
    let mut errors = io::stderr().lock();
    for request in &report.unexpected {
        writeln!(
            errors,
            "request {} to {}: {}",
            request.number, request.path, request.why
        )?;
    }
    Ok(())
}
