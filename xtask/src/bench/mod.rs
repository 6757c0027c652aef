//! `cargo xtask bench`: what this repository measures, and against whom.
//!
//! Owns the choice between the benchmarks and the course of `bench client`: prepare the peers, run them interleaved in
//! each placement, judge the figures, write the page. Invariant: every figure printed comes from the raw results of this
//! very run.

mod fleet;
mod journal;
mod page;
mod peers;
mod rehearsal;
mod runs;
mod server;
mod speed;
mod ui;

use anyhow::Context as _;
use clap::{Parser, ValueEnum};

use crate::out;
use crate::workspace::Workspace;
use peers::Peers;
use runs::{Placement, Results};

/// What can be measured.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Bench {
    /// Reading the wire: pass-through, typed decode, and what they are measured against
    Wire,
    /// The client as a host of a CLI that floods it, beside other SDKs
    Client,
    /// The scripted CLI: lines a second into a pipe
    Rehearsal,
    /// Journal and keeper: appending, following, memory, latency
    Journal,
    /// One host with up to 200 agents that all stream: nothing lost, memory and work for each
    Fleet,
    /// The server: records to an SSE reader, approvals there and back, lists of many sessions
    Server,
    /// The web page in a browser: first view, memory and tasks on sessions of 100,000 events
    Ui,
}

/// Runs one benchmark. Whether it succeeded.
pub(crate) fn command(
    workspace: &Workspace,
    bench: Bench,
    args: &[String],
) -> anyhow::Result<bool> {
    match bench {
        Bench::Wire => wire(workspace, args),
        Bench::Rehearsal => rehearsal::command(workspace, args),
        Bench::Journal => journal::command(workspace, args),
        Bench::Fleet => fleet::command(workspace, args),
        Bench::Server => server::command(workspace, args),
        Bench::Ui => ui::command(workspace, args),
        Bench::Client => {
            let name = "cargo xtask bench client".to_owned();
            let args = [name].into_iter().chain(args.iter().cloned());
            client(workspace, &ClientArgs::parse_from(args))
        }
    }
}

fn wire(workspace: &Workspace, args: &[String]) -> anyhow::Result<bool> {
    let cargo = workspace.cargo().args([
        "bench",
        "--package",
        "countersign-wire",
        "--bench",
        "wire",
        "--",
    ]);
    Ok(cargo.args(args).hand_over()?.success())
}

/// Measures the client beside other SDKs and writes the table into docs/performance.md.
#[derive(Debug, Parser)]
struct ClientArgs {
    /// The folder of the peer benchmark; `../shared/bench` beside the repository without one
    #[arg(long)]
    peers: Option<std::path::PathBuf>,
    /// Interleaved rounds; medians are compared
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: Option<u32>,
    /// Only these modes (startup is always measured: its cost is subtracted from the others)
    #[arg(long, value_delimiter = ',')]
    modes: Vec<String>,
    /// Where host and CLI run: on one core, on one each, as the system likes
    #[arg(long, value_enum, default_value_t = Pin::All)]
    pin: Pin,
    /// Fewer peers, rounds and events: a look in two minutes. Writes no page
    #[arg(long)]
    quick: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Pin {
    Same,
    Split,
    None,
    All,
}

impl Pin {
    fn placements(self) -> Vec<Placement> {
        match self {
            Self::Same => vec![Placement::Same],
            Self::Split => vec![Placement::Split],
            Self::None => vec![Placement::Free],
            Self::All => Placement::ALL.to_vec(),
        }
    }
}

fn client(workspace: &Workspace, args: &ClientArgs) -> anyhow::Result<bool> {
    let peers = Peers::prepare(workspace, args.peers.as_deref())?;
    let plan = runs::plan(&args.pin.placements(), &args.modes, args.rounds, args.quick);
    let load = runs::load();
    let mut results = Results::default();
    for step in &plan {
        results.add(step.placement, peers.run(step)?);
    }
    let machine = runs::machine(&load);
    let rows = speed::table(&results);
    let lost = results.losses();
    let text = page::render(&rows, &results, &plan, &machine);
    out::say(&text);
    for line in &lost {
        out::note(format_args!("error: {line}"));
    }
    let is_whole = !args.quick && args.modes.is_empty() && args.pin == Pin::All;
    if is_whole && lost.is_empty() {
        let file = workspace.root.join("docs/performance.md");
        page::write(&file, "client", &text).context("the table could not be written")?;
        out::note(format_args!("wrote the table into {}", file.display()));
    }
    Ok(lost.is_empty())
}
