//! `cargo xtask check`: format, lints, docs, dependencies, generated files, house rules. Each step
//! runs even if one before it failed, and counts as one test of the suite `check`.

use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

use crate::budget::Budget;
use crate::fetch::{self, Fetched, Item};
use crate::generate;
use crate::out::{self, Format};
use crate::process::Cmd;
use crate::report::{Report, Strictness};
use crate::summary::Summary;
use crate::tidy;
use crate::tools::DENY;
use crate::workspace::{FEATURES, PROFILE, Workspace};

/// Whether the product's binary is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    /// By the shared build.
    Built,
    /// It has to be built first.
    Missing,
}

/// What came of a step.
pub(crate) enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
    /// Skipped, and `--strict` has no objection.
    Exempt(String),
}

/// `cargo xtask check`. Whether nothing failed.
pub(crate) fn command(workspace: &Workspace, format: Format) -> anyhow::Result<bool> {
    let started = Instant::now();
    let fetched = fetch::bring(workspace, &[Item::Tool(&DENY)]);
    let fetch_seconds = started.elapsed().as_secs_f64();
    let mut report = Report {
        suite: "check".to_owned(),
        part: "rest".to_owned(),
        ..Report::default()
    };
    let started = Instant::now();
    run(workspace, &fetched, Binary::Missing, &mut report)?;
    report.seconds = started.elapsed().as_secs_f64();
    let budget = Budget::read(&workspace.root)?;
    let summary = Summary {
        fetch_seconds,
        reports: &[report],
        budget: &budget,
        strictness: Strictness::Lenient,
    };
    match format {
        Format::Json => out::say_json(&summary.json())?,
        Format::Text => out::say(summary.text()),
    }
    Ok(summary.totals().failed == 0)
}

/// All steps, into one report.
pub(crate) fn run(
    workspace: &Workspace,
    fetched: &Fetched,
    binary: Binary,
    report: &mut Report,
) -> anyhow::Result<()> {
    let mut step = |name: &str, result: anyhow::Result<Outcome>| {
        let outcome = result.unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        record(report, name, outcome);
    };
    step("format", format(workspace));
    step("clippy", clippy(workspace));
    step("docs", docs(workspace));
    step("licences, bans, sources", deny(workspace, fetched));
    step("advisories", advisories(workspace, fetched));
    step("generated files", generate::check(workspace, binary));
    for (rule, findings) in tidy::run(workspace)? {
        for finding in &findings {
            out::note(finding);
        }
        let outcome = match findings.as_slice() {
            [] => Outcome::Passed,
            [only] => Outcome::Failed(only.to_string()),
            [first, more @ ..] => {
                Outcome::Failed(format!("{first} (and {} more, see above)", more.len()))
            }
        };
        step(rule, Ok(outcome));
    }
    Ok(())
}

fn record(report: &mut Report, name: &str, outcome: Outcome) {
    match outcome {
        Outcome::Passed => {
            out::note(format_args!("ok       {name}"));
            report.passed += 1;
        }
        Outcome::Failed(why) => {
            out::note(format_args!("FAILED   {name}: {why}"));
            report.failed.push(format!("{name}: {why}"));
        }
        Outcome::Skipped(why) => {
            out::note(format_args!("SKIPPED  {name}: {why}"));
            report.skip(name, why);
        }
        Outcome::Exempt(why) => {
            out::note(format_args!("skipped  {name}: {why}"));
            report.skip_exempt(name, why);
        }
    }
}

/// Every formatting command line: the workspace, and the fuzz crate outside of it.
pub(crate) fn formatters(workspace: &Workspace) -> Vec<Cmd> {
    let mut formatters = vec![workspace.cargo().args(["fmt", "--all"])];
    let fuzz = workspace.root.join("fuzz/Cargo.toml");
    if fuzz.is_file() {
        let cargo = workspace.cargo().args(["fmt", "--manifest-path"]);
        formatters.push(cargo.arg(fuzz));
    }
    formatters
}

fn format(workspace: &Workspace) -> anyhow::Result<Outcome> {
    let mut clean = true;
    for formatter in formatters(workspace) {
        clean &= formatter.arg("--check").run()?.success();
    }
    Ok(pass(clean, "`cargo xtask fix` formats everything"))
}

fn clippy(workspace: &Workspace) -> anyhow::Result<Outcome> {
    let cargo = workspace
        .cargo()
        .args(["clippy", "--workspace", "--all-targets"])
        .args(FEATURES);
    let status = cargo
        .args(["--profile", PROFILE, "--", "-D", "warnings"])
        .run()?;
    Ok(pass(
        status.success(),
        "see above; `cargo xtask fix` mends some of it",
    ))
}

fn docs(workspace: &Workspace) -> anyhow::Result<Outcome> {
    let cargo = workspace.cargo().args(["doc", "--workspace", "--no-deps"]);
    let cargo = cargo.args(FEATURES);
    let cargo = cargo
        .args(["--profile", PROFILE])
        .env("RUSTDOCFLAGS", "-Dwarnings");
    Ok(pass(cargo.run()?.success(), "see above"))
}

fn deny(workspace: &Workspace, fetched: &Fetched) -> anyhow::Result<Outcome> {
    if let Some(reason) = fetched.why_missing(Item::Tool(&DENY)) {
        return Ok(Outcome::Skipped(reason.to_owned()));
    }
    let cargo = workspace
        .cargo()
        .args(["deny", "--log-level", "error", "check"]);
    let status = cargo.args(["licenses", "bans", "sources"]).run()?;
    Ok(pass(
        status.success(),
        "see above; deny.toml holds the rules",
    ))
}

/// Only a finding fails it: a database that cannot be reached is no fault of this repository.
fn advisories(workspace: &Workspace, fetched: &Fetched) -> anyhow::Result<Outcome> {
    const UNREACHABLE: &str = "the database of advisories cannot be reached from here";
    if let Some(reason) = fetched.why_missing(Item::Tool(&DENY)) {
        return Ok(Outcome::Exempt(reason.to_owned()));
    }
    if !database_may_be_reached() {
        return Ok(Outcome::Exempt(UNREACHABLE.to_owned()));
    }
    let fetch = workspace.cargo().args(["deny", "fetch", "db"]);
    if fetch.read().is_err() {
        return Ok(Outcome::Exempt(UNREACHABLE.to_owned()));
    }
    let cargo = workspace
        .cargo()
        .args(["deny", "--log-level", "error", "check"]);
    let status = cargo.args(["--disable-fetch", "advisories"]).run()?;
    Ok(pass(
        status.success(),
        "see above; update the dependency, or say in deny.toml why not",
    ))
}

/// A quick look, so that a machine without network does not wait for git's patience. Behind a proxy
/// nothing can be told from here, so it is tried.
fn database_may_be_reached() -> bool {
    let proxied = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    if proxied.iter().any(|name| std::env::var_os(name).is_some()) {
        return true;
    }
    let addresses = ("github.com", 443).to_socket_addrs();
    addresses.is_ok_and(|mut addresses| {
        addresses
            .any(|address| TcpStream::connect_timeout(&address, Duration::from_secs(3)).is_ok())
    })
}

fn pass(success: bool, otherwise: &str) -> Outcome {
    if success {
        Outcome::Passed
    } else {
        Outcome::Failed(otherwise.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_is_recorded_as_what_it_is() {
        let mut report = Report::default();
        record(&mut report, "a", Outcome::Passed);
        record(&mut report, "b", Outcome::Failed("why".into()));
        record(&mut report, "c", Outcome::Skipped("no tool".into()));
        record(&mut report, "d", Outcome::Exempt("no network".into()));
        assert_eq!(report.passed, 1);
        assert_eq!(report.failed, ["b: why"]);
        let exempt: Vec<bool> = report.skipped.iter().map(|skip| skip.exempt).collect();
        assert_eq!(exempt, [false, true]);
    }
}
