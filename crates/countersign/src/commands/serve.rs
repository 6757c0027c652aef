//! `countersign serve`, and `countersign` alone: the command line of the daemon.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Parser as _, ValueEnum as _};
use countersign_client::options::{Cli, Surroundings};
use countersign_server::OpenerSettings;
use countersign_server::auth::Hosts;

use crate::Outcome;
use crate::serve::{self, Log, Transport};

/// Where it listens without a word: loopback, so that nobody else reaches it.
const USUAL: &str = "127.0.0.1:4779";

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Where to listen; port 0 takes any that is free. Anything but loopback needs --tls, --cert or --insecure-listen
    #[arg(long, value_name = "ADDR", default_value = USUAL)]
    listen: SocketAddr,
    /// The data folder [default: countersign in $XDG_DATA_HOME or ~/.local/share]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// The CLI that agents are: a path, or a command with arguments [default: claude, where it is found]
    #[arg(long, value_name = "CMD", conflicts_with = "rehearsal")]
    claude: Option<String>,
    /// Scripted agents, which need no account. This is also what answers if no claude is found
    #[arg(long)]
    rehearsal: bool,
    /// A name under which browsers may call it, beside localhost and its address; may be repeated
    #[arg(long = "allow-host", value_name = "NAME", value_parser = Hosts::name)]
    allow_hosts: Vec<String>,
    /// Speak TLS, with a certificate of its own, which is made once and kept
    #[arg(long, conflicts_with_all = ["cert", "key", "insecure_listen"])]
    tls: bool,
    /// Speak TLS, with this certificate (PEM, the chain included)
    #[arg(long, value_name = "FILE", requires = "key")]
    cert: Option<PathBuf>,
    /// The key of --cert (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// Listen elsewhere than on loopback without TLS: whoever can listen in on the network can act as you
    #[arg(long)]
    insecure_listen: bool,
    /// Do not open the login link in a browser
    #[arg(long)]
    no_open: bool,
    /// Print the login link as a QR code, too, for a phone
    #[arg(long)]
    qr: bool,
    /// So many agents live at once; more sessions wait
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    max_agents: Option<u32>,
    /// The editor that the page opens files in, on this machine [default: $VISUAL, $EDITOR or a known editor with a window]
    #[arg(long, value_name = "CMD")]
    editor: Option<String>,
    /// The terminal that the page opens folders in, on this machine [default: $TERMINAL or a known one]
    #[arg(long, value_name = "CMD")]
    terminal: Option<String>,
    /// How the log on stderr is written. COUNTERSIGN_LOG says what is in it: `info`, `debug`, `countersign_server=debug`
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Log::Text)]
    log: Log,
    /// Print what a program needs to know as a line of JSON: url, link, socket, data, agents; and another one at the end
    #[arg(long)]
    json: bool,
    /// Print a unit for systemd (or launchd on macOS) that runs this very program with the other options, and end
    #[arg(long)]
    print_unit: bool,
}

impl Arguments {
    /// Those of `countersign` alone.
    pub(crate) fn usual() -> Self {
        Alone::parse_from(["countersign"]).arguments
    }
}

#[derive(clap::Parser)]
struct Alone {
    #[command(flatten)]
    arguments: Arguments,
}

/// The options that were given, as they hold wherever a manager starts the program.
fn given(arguments: &Arguments) -> anyhow::Result<Vec<String>> {
    let absolute = |path: &PathBuf| -> anyhow::Result<String> {
        let path = std::path::absolute(path)?;
        path.into_os_string()
            .into_string()
            .map_err(|path| anyhow::anyhow!("{} is no UTF-8", path.display()))
    };
    let path = |path: &Option<PathBuf>| path.as_ref().map(absolute).transpose();
    let listen = arguments.listen.to_string();
    let log = arguments.log.to_possible_value();
    let log = log.map(|value| value.get_name().to_owned());
    let valued = [
        ("--listen", Some(listen).filter(|listen| listen != USUAL)),
        ("--data", path(&arguments.data)?),
        ("--claude", arguments.claude.as_deref().map(from_anywhere)),
        ("--cert", path(&arguments.cert)?),
        ("--key", path(&arguments.key)?),
        (
            "--max-agents",
            arguments.max_agents.map(|most| most.to_string()),
        ),
        ("--editor", arguments.editor.as_deref().map(from_anywhere)),
        (
            "--terminal",
            arguments.terminal.as_deref().map(from_anywhere),
        ),
        ("--log", log.filter(|_| arguments.log != Log::Text)),
    ];
    let hosts = arguments.allow_hosts.iter();
    let hosts = hosts.map(|host| ("--allow-host", Some(host.clone())));
    let flags = [
        ("--rehearsal", arguments.rehearsal),
        ("--tls", arguments.tls),
        ("--insecure-listen", arguments.insecure_listen),
        ("--qr", arguments.qr),
        ("--json", arguments.json),
    ];
    let valued = valued.into_iter().chain(hosts);
    let valued = valued.filter_map(|(name, value)| Some([name.to_owned(), value?]));
    let flags = flags.into_iter().filter(|(_, is_given)| *is_given);
    Ok(valued
        .flatten()
        .chain(flags.map(|(name, _)| name.to_owned()))
        .collect())
}

/// A command whose program is found from any folder and with any `PATH`. One that is not found stays as it is: a start says
/// where it was looked for.
fn from_anywhere(line: &str) -> String {
    let line = line.trim();
    let quote = line.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let (word, rest) = match quote {
        Some(quote) => line[1..].split_once(quote).unwrap_or((line, "")),
        None => line.split_at(line.find(char::is_whitespace).unwrap_or(line.len())),
    };
    let is_whole = rest.is_empty() || rest.starts_with(char::is_whitespace);
    let found = match word.contains('/') {
        true => std::path::absolute(word).ok(),
        false => {
            let found = Cli::Command(vec![word.into()]).locate(&Surroundings::of_this_process());
            // A script's program is another one.
            let found = found.ok().filter(|found| found.args.is_empty());
            found.and_then(|found| std::path::absolute(found.program).ok())
        }
    };
    let found = found.filter(|_| is_whole && !word.contains(['\'', '"', '\\']));
    match found.as_deref().and_then(Path::to_str) {
        Some(program) if program.contains('\'') => format!("\"{program}\"{rest}"),
        Some(program) => match program.contains(char::is_whitespace) {
            true => format!("'{program}'{rest}"),
            false => format!("{program}{rest}"),
        },
        None => line.to_owned(),
    }
}

/// The words of a command whose program is there.
fn words(option: &str, line: Option<String>) -> anyhow::Result<Option<Vec<OsString>>> {
    let Some(line) = line else { return Ok(None) };
    let found = Cli::Line(line).locate(&Surroundings::of_this_process());
    let found = found.with_context(|| format!("{option} cannot be used"))?;
    let program = found.program.into_os_string();
    Ok(Some(std::iter::once(program).chain(found.args).collect()))
}

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    if arguments.print_unit {
        return serve::unit::print(&given(&arguments)?);
    }
    let transport = match (arguments.cert, arguments.key) {
        (Some(cert), Some(key)) => Transport::Files { cert, key },
        _ if arguments.tls => Transport::OwnCertificate,
        _ if arguments.insecure_listen => Transport::InsecureAnywhere,
        _ => Transport::Plain,
    };
    serve::run(serve::Wanted {
        listen: arguments.listen,
        data: arguments.data,
        claude: arguments.claude,
        rehearsal: arguments.rehearsal,
        allow_hosts: arguments.allow_hosts,
        transport,
        opens_browser: !arguments.no_open && !arguments.json,
        qr: arguments.qr,
        max_agents: arguments.max_agents,
        openers: OpenerSettings {
            editor: words("--editor", arguments.editor)?,
            terminal: words("--terminal", arguments.terminal)?,
        },
        log: arguments.log,
        json: arguments.json,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_gets_every_option_that_was_given() {
        let words = |text: &str| {
            let words = ["countersign"].into_iter().chain(text.split_whitespace());
            given(&Alone::parse_from(words).arguments).unwrap()
        };
        assert_eq!(words("--print-unit --no-open"), [""; 0]);
        let here = std::env::current_dir().unwrap();
        let here = here.to_str().unwrap();
        assert_eq!(
            words(
                "--print-unit --tls --data d --listen 0.0.0.0:1 --max-agents 3 --allow-host a --allow-host b --log json"
            ),
            [
                "--listen",
                "0.0.0.0:1",
                "--data",
                &format!("{here}/d"),
                "--max-agents",
                "3",
                "--log",
                "json",
                "--allow-host",
                "a",
                "--allow-host",
                "b",
                "--tls",
            ]
        );
    }

    #[test]
    fn the_program_of_a_command_is_found_from_anywhere() {
        let here = std::env::current_dir().unwrap();
        let here = here.to_str().unwrap();
        for (line, found) in [
            ("/opt/claude", "/opt/claude".to_owned()),
            (
                "bin/claude --x 'a b'",
                format!("{here}/bin/claude --x 'a b'"),
            ),
            ("'/a b/claude' -y", "'/a b/claude' -y".to_owned()),
            (
                "no-such-program-here -y",
                "no-such-program-here -y".to_owned(),
            ),
            ("'open", "'open".to_owned()),
        ] {
            assert_eq!(from_anywhere(line), found);
        }
        assert!(from_anywhere("sh -c x").starts_with('/'));
    }
}
