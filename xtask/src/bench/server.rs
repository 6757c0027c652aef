//! `cargo xtask bench server`: records to an SSE reader, approvals there and back, lists of many sessions.
//!
//! Owns the course: build the program, let `countersign-bench-server` measure, make tables of the raw lines it prints.
//! Invariants: a run in which anything was lost gives no table; a missed goal is told, and is no failure; what was not
//! measured is a dash, never a number; rounds of a case are told by their median.

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
const PROGRAM: &str = "countersign-bench-server";

/// Measures a server, and writes the tables into docs/performance.md.
#[derive(Debug, Parser)]
struct Args {
    /// Fewer sessions, lines and rounds: a look in a minute. Writes no page
    #[arg(long)]
    quick: bool,
    /// Only these parts: records, approvals, memory, list. Writes no page
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Raw measurements and the goals as one JSON document
    #[arg(long)]
    json: bool,
}

/// One measurement of one round, or of all rounds together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Raw {
    part: String,
    case: String,
    #[serde(flatten)]
    figures: BTreeMap<String, f64>,
}

/// Everything one run measured, in its order.
#[derive(Debug, Default, Serialize)]
struct Figures(Vec<Raw>);

/// What is held against a goal: at most so many microseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Goal {
    what: &'static str,
    most_us: f64,
    found_us: Option<f64>,
}

/// The result for programs.
#[derive(Debug, Serialize)]
struct Document<'a> {
    machine: &'a str,
    goals: &'a [Goal],
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

    /// The median over the rounds of what `figure` makes of each.
    fn median(
        &self,
        part: &str,
        case: &str,
        figure: impl Fn(&BTreeMap<String, f64>) -> Option<f64>,
    ) -> Option<f64> {
        let rounds = self
            .0
            .iter()
            .filter(|raw| raw.part == part && raw.case == case);
        let mut all: Vec<f64> = rounds.filter_map(|raw| figure(&raw.figures)).collect();
        all.sort_by(f64::total_cmp);
        // Of two in the middle the worse one: all of them are costs but for rates, which are made of seconds.
        all.get(all.len() / 2).copied()
    }

    fn get(&self, part: &str, case: &str, name: &str) -> Option<f64> {
        self.median(part, case, |figures| figures.get(name).copied())
    }

    /// One figure for each of another.
    fn each(&self, part: &str, case: &str, name: &str, of: &str) -> Option<f64> {
        self.median(part, case, |figures| {
            Some(figures.get(name)? / figures.get(of)?)
        })
    }

    fn goals(&self) -> [Goal; 2] {
        let goal = |what, part, case, most_us| Goal {
            what,
            most_us,
            found_us: self.get(part, case, "p50_us"),
        };
        [
            goal(
                "an SSE reader sees a record after the agent wrote it, p50",
                "alone",
                tables::READER,
                300.0,
            ),
            goal(
                "an approval decided by rule, question to answer with one sync, p50",
                "approval",
                tables::BY_RULE,
                250.0,
            ),
        ]
    }
}

/// Runs it. Whether everything was measured.
pub(super) fn command(workspace: &Workspace, args: &[String]) -> anyhow::Result<bool> {
    let name = "cargo xtask bench server".to_owned();
    let args = Args::parse_from([name].into_iter().chain(args.iter().cloned()));
    build(workspace)?;
    let load = runs::load();
    let figures = measure(workspace, &args)?;
    let machine = runs::machine(&load);
    if Format::from_flag(args.json) == Format::Json {
        out::say_json(&Document {
            machine: &machine,
            goals: &figures.goals(),
            measured: &figures,
        })?;
        return Ok(true);
    }
    let text = tables::render(&figures, &machine);
    out::say(&text);
    if !args.quick && args.only.is_empty() {
        let file = workspace.root.join("docs/performance.md");
        page::write(&file, "server", &text).context("the tables could not be written")?;
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
    let data = workspace.target.join("tmp/bench-server");
    let mut command = Cmd::new(workspace.target.join(PROFILE).join(PROGRAM)).arg("run");
    if args.quick {
        command = command.arg("--quick");
    }
    if !args.only.is_empty() {
        command = command.args(["--only", &args.only.join(",")]);
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
{"part":"alone","case":"pipe and memchr","p50_us":20.0,"p99_us":90.0}
{"part":"alone","case":"an SSE reader","p50_us":200.0,"p99_us":900.0,"records":1000.0,"server_sleeps":4000.0}
{"part":"alone","case":"an SSE reader","p50_us":250.0,"p99_us":800.0,"records":1000.0,"server_sleeps":5000.0}
{"part":"alone","case":"an SSE reader","p50_us":240.0,"p99_us":700.0,"records":1000.0,"server_sleeps":4500.0}
{"part":"flood","case":"an SSE reader","records":100000.0,"seconds":0.5,"pieces":1000.0}
{"part":"approval","case":"by rule","asked":100.0,"p50_us":400.0,"p99_us":700.0,"synced":50.0}
{"part":"list","case":"the usual page","clients":1.0,"sessions":1000.0,"requests":100.0,"seconds":0.1,"bytes":20480.0}
{"part":"list","case":"the usual page","clients":4.0,"sessions":1000.0,"requests":100.0,"seconds":0.05,"bytes":20480.0}
"#;

    #[test]
    fn rounds_are_told_by_their_median() {
        let figures = Figures::read(RAW).unwrap();
        assert_eq!(figures.get("alone", tables::READER, "p50_us"), Some(240.0));
        let sleeps = figures.each("alone", tables::READER, "server_sleeps", "records");
        assert_eq!(sleeps, Some(4.5));
        assert_eq!(figures.get("alone", "nobody", "p50_us"), None);
    }

    #[test]
    fn goals_are_of_the_reader_and_of_the_rule() {
        let found = Figures::read(RAW)
            .unwrap()
            .goals()
            .map(|goal| goal.found_us);
        assert_eq!(found, [Some(240.0), Some(400.0)]);
    }

    #[test]
    fn a_line_that_is_no_measurement_is_an_error() {
        assert!(Figures::read("10 at once\n").is_err());
    }
}
