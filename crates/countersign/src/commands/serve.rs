//! `countersign serve`, and `countersign` alone: the command line of the daemon.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Parser as _;

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
    #[arg(long = "allow-host", value_name = "NAME")]
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
    /// How the log on stderr is written. COUNTERSIGN_LOG says what is in it: `info`, `debug`, `countersign_server=debug`
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Log::Text)]
    log: Log,
    /// Print what a program needs to know as one JSON object: url, link, socket, data, agents
    #[arg(long)]
    json: bool,
    /// Print a unit for systemd (or launchd on macOS) that runs this very program, and end
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

pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    if arguments.print_unit {
        return serve::unit::print();
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
        log: arguments.log,
        json: arguments.json,
    })
}
