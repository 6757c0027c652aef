//! `cargo xtask bench fleet`: one host with 1, 10, 50 and 200 agents that all stream at once.
//!
//! Owns the course: build the program, let `countersign-bench-fleet` measure, make tables of the raw lines it prints.
//! Invariants: a fleet of which anything was lost gives no table; a missed goal is told, and is no failure; what was not
//! measured is a dash, never a number.

mod tables;

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use clap::Parser;
use serde::{Deserialize, Serialize};

use super::{page, runs};
use crate::out::{self, Format};
use crate::process::Cmd;
use crate::workspace::Workspace;

const PROFILE: &str = "dist";
const PROGRAM: &str = "countersign-bench-fleet";

/// What one more session may take in the host's memory at rest, in KiB.
const GOAL_KIB: f64 = 300.0;

/// Measures a host with many agents, and writes the tables into docs/performance.md.
#[derive(Debug, Parser)]
struct Args {
    /// Fewer agents that say less: a look in a few minutes. Writes no page
    #[arg(long)]
    quick: bool,
    /// Raw measurements and the goal as one JSON document
    #[arg(long)]
    json: bool,
    /// So many agents at once, for each number. Writes no page
    #[arg(long, value_delimiter = ',')]
    agents: Vec<u32>,
}

/// One measurement with so many agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Raw {
    agents: u32,
    part: String,
    case: String,
    #[serde(flatten)]
    figures: BTreeMap<String, f64>,
}

/// Everything one run measured, in its order.
#[derive(Debug, Default, Serialize)]
struct Figures(Vec<Raw>);

/// The result for programs.
#[derive(Debug, Serialize)]
struct Document<'a> {
    machine: &'a str,
    goal_kib: f64,
    /// For each session beyond the first, with the most agents.
    found_kib: Option<f64>,
    measured: &'a Figures,
}

impl Figures {
    fn read(text: &str) -> anyhow::Result<Self> {
        let lines = text.lines().filter(|line| !line.is_empty());
        let read = lines.map(|line| {
            serde_json::from_str(line).with_context(|| format!("no measurement: {line}"))
        });
        read.collect::<anyhow::Result<_>>().map(Self)
    }

    /// How many agents there were, each number once, as they came.
    fn sizes(&self) -> Vec<u32> {
        let mut sizes: Vec<u32> = self.0.iter().map(|raw| raw.agents).collect();
        sizes.dedup();
        sizes
    }

    fn get(&self, agents: u32, part: &str, case: &str, name: &str) -> Option<f64> {
        let is_it = |raw: &&Raw| raw.agents == agents && raw.part == part && raw.case == case;
        self.0.iter().find(is_it)?.figures.get(name).copied()
    }

    /// What a session takes beyond those of a smaller fleet, in KiB.
    fn each_beyond(&self, fewer: u32, more: u32, case: &str) -> Option<f64> {
        let rss = |agents| self.get(agents, "memory", case, "rss_kib");
        let sessions = more.checked_sub(fewer).filter(|sessions| *sessions > 0)?;
        Some((rss(more)? - rss(fewer)?) / f64::from(sessions))
    }

    /// What is held against the goal.
    fn each(&self) -> Option<f64> {
        let most = self.sizes().into_iter().max()?;
        self.each_beyond(1, most, tables::AT_REST)
    }
}

/// Runs it. Whether everything was measured.
pub(super) fn command(workspace: &Workspace, args: &[String]) -> anyhow::Result<bool> {
    let name = "cargo xtask bench fleet".to_owned();
    let args = Args::parse_from([name].into_iter().chain(args.iter().cloned()));
    build(workspace)?;
    let load = runs::load();
    let figures = measure(workspace, &args)?;
    let machine = runs::machine(&load);
    if Format::from_flag(args.json) == Format::Json {
        out::say_json(&Document {
            machine: &machine,
            goal_kib: GOAL_KIB,
            found_kib: figures.each(),
            measured: &figures,
        })?;
        return Ok(true);
    }
    let text = tables::render(&figures, &machine);
    out::say(&text);
    if !args.quick && args.agents.is_empty() {
        let file = workspace.root.join("docs/performance.md");
        page::write(&file, "fleet", &text).context("the tables could not be written")?;
        out::note(format_args!("wrote the tables into {}", file.display()));
    }
    Ok(true)
}

fn build(workspace: &Workspace) -> anyhow::Result<()> {
    let cargo = workspace.cargo().args(["build", "--profile", PROFILE]);
    let built = cargo.args(["--package", PROGRAM]).run()?;
    if !built.success() {
        bail!("{PROGRAM} does not build");
    }
    Ok(())
}

fn measure(workspace: &Workspace, args: &Args) -> anyhow::Result<Figures> {
    // On the disk of the target folder: a folder for temporary files may be memory.
    let data = workspace.target.join("tmp/bench-fleet");
    let mut command = Cmd::new(workspace.target.join(PROFILE).join(PROGRAM)).arg("run");
    if args.quick {
        command = command.arg("--quick");
    }
    if !args.agents.is_empty() {
        let agents: Vec<String> = args.agents.iter().map(u32::to_string).collect();
        command = command.args(["--agents", &agents.join(",")]);
    }
    let (status, told) = command.arg(&data).tee()?;
    if !status.success() {
        bail!("the measurement failed: see above");
    }
    Figures::read(&told)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const RAW: &str = r#"
{"agents":1,"part":"memory","case":"at rest behind it","rss_kib":20000.0}
{"agents":10,"part":"memory","case":"at rest behind it","rss_kib":21800.0}
{"agents":10,"part":"work","case":"streaming","records":4000.0,"transactions":100.0,"at_once":10.0}
{"agents":10,"part":"latency","case":"read, at rest","p50_ms":0.13,"p99_ms":4.2,"most_ms":9.0}
{"agents":10,"part":"others","case":"at rest behind it","keepers_pss_kib":40960.0,"agents_pss_kib":20480.0}
"#;

    #[test]
    fn a_session_is_what_it_takes_beyond_the_first() {
        let figures = Figures::read(RAW).unwrap();
        assert_eq!(figures.sizes(), [1, 10]);
        assert_eq!(figures.each(), Some(200.0));
        assert_eq!(figures.each_beyond(10, 10, tables::AT_REST), None);
        assert_eq!(figures.each_beyond(1, 50, tables::AT_REST), None);
    }

    #[test]
    fn a_line_that_is_no_measurement_is_an_error() {
        assert!(Figures::read("10 at once\n").is_err());
    }
}
