//! `cargo xtask bench ui`: the page on sessions of 100,000 events, in a browser.
//!
//! Owns the course: build the program with its page, let `ui/bench` measure, make tables of the raw lines it writes.
//! Invariants: a run in which a row was never drawn gives no table; a missed goal is told, and is no failure; what was not
//! measured is a dash, never a number; rounds of a case are told by their median.

mod tables;

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use clap::Parser;
use serde::{Deserialize, Serialize};

use super::{page, runs};
use crate::out::{self, Format};
use crate::page as npm;
use crate::workspace::Workspace;

const PROFILE: &str = "dist";
const PROGRAM: &str = "countersign";

/// Measures the page in a browser, and writes the tables into docs/performance.md.
#[derive(Debug, Parser)]
struct Args {
    /// A shorter session and fewer rounds: a look in two minutes. Writes no page
    #[arg(long)]
    quick: bool,
    /// Raw measurements and the goals as one JSON document
    #[arg(long)]
    json: bool,
}

/// One measurement of one round.
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

/// What is held against a goal: at most so much.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Goal {
    what: &'static str,
    unit: &'static str,
    most: f64,
    found: Option<f64>,
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

    /// What the rounds of a case found, the least first.
    fn rounds(&self, part: &str, case: &str, name: &str) -> Vec<f64> {
        let is_it = |raw: &&Raw| raw.part == part && raw.case == case;
        let rounds = self.0.iter().filter(is_it);
        let mut all: Vec<f64> = rounds
            .filter_map(|raw| raw.figures.get(name).copied())
            .collect();
        all.sort_by(f64::total_cmp);
        all
    }

    /// The median over the rounds; of two in the middle the worse one, since all of them are costs.
    fn get(&self, part: &str, case: &str, name: &str) -> Option<f64> {
        let all = self.rounds(part, case, name);
        all.get(all.len() / 2).copied()
    }

    /// The worst round.
    fn most(&self, part: &str, case: &str, name: &str) -> Option<f64> {
        self.rounds(part, case, name).last().copied()
    }

    /// The greatest of some figures, where all of them were measured.
    fn worst_of(&self, cases: &[(&str, &str)], name: &str) -> Option<f64> {
        let found = cases.iter().map(|(part, case)| self.get(part, case, name));
        let found: Option<Vec<f64>> = found.collect();
        found?.into_iter().max_by(f64::total_cmp)
    }

    fn goals(&self) -> Vec<Goal> {
        let goal = |what, unit, most, found| Goal {
            what,
            unit,
            most,
            found,
        };
        let view = |case| self.get("open", case, "view_ms");
        let longest = |cases: &[(&str, &str)]| self.worst_of(cases, "longest_ms");
        let (opening, scrolling, streaming) =
            (tables::OPENING, tables::SCROLLING, tables::STREAMING);
        vec![
            goal(
                "the newest entries are seen, the browser has kept nothing",
                "ms",
                1000.0,
                view(tables::COLD),
            ),
            goal(
                "the same, the browser has kept the page",
                "ms",
                1000.0,
                view(tables::WARM),
            ),
            goal(
                "the same, of a session that nobody has looked at yet",
                "ms",
                1000.0,
                view(tables::FIRST),
            ),
            goal(
                "the first page of a session of 1,000,000 records is answered",
                "ms",
                300.0,
                self.get("page", tables::MILLION, "page_ms"),
            ),
            goal(
                "heap after scrolling to the beginning and back",
                "MiB",
                150.0,
                self.worst_of(&tables::SCROLLED, "heap_mib"),
            ),
            goal("longest task, opening", "ms", 100.0, longest(&opening)),
            goal("longest task, scrolling", "ms", 100.0, longest(&scrolling)),
            goal(
                "longest task, an agent floods it or writes a long answer",
                "ms",
                100.0,
                longest(&streaming),
            ),
        ]
    }
}

/// Runs it. Whether everything was measured.
pub(super) fn command(workspace: &Workspace, args: &[String]) -> anyhow::Result<bool> {
    let name = "cargo xtask bench ui".to_owned();
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
    if !args.quick {
        let file = workspace.root.join("docs/performance.md");
        page::write(&file, "ui", &text).context("the tables could not be written")?;
        out::note(format_args!("wrote the tables into {}", file.display()));
    }
    Ok(true)
}

/// The program as it is given to people, with the page in it.
fn build(workspace: &Workspace) -> anyhow::Result<()> {
    let cargo = workspace.cargo().args(["build", "--profile", PROFILE]);
    let built = cargo.args(["--package", PROGRAM]).run()?;
    if !built.success() {
        bail!("{PROGRAM} does not build");
    }
    Ok(())
}

fn measure(workspace: &Workspace, args: &Args) -> anyhow::Result<Figures> {
    let file = workspace.target.join("tmp/bench-ui.jsonl");
    std::fs::create_dir_all(workspace.target.join("tmp")).context("no folder for the figures")?;
    // Lines are added to it, and those of an earlier run are not ours; there may be none.
    let _ = std::fs::remove_file(&file);
    let program = workspace.target.join(PROFILE).join(PROGRAM);
    if !npm::bench(workspace, &program, &file, args.quick)? {
        bail!("the measurement failed: see above");
    }
    let told = std::fs::read_to_string(&file).context("nothing was measured")?;
    Figures::read(&told)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const RAW: &str = r#"
{"part":"session","case":"work","records":101000.0,"folded_ms":415.7}
{"part":"open","case":"an empty page","view_ms":40.0,"longest_ms":0.0}
{"part":"open","case":"nothing kept","view_ms":420.0,"longest_ms":0.0,"requests":9.0,"kib":281.2}
{"part":"open","case":"nothing kept","view_ms":700.0,"longest_ms":120.0,"requests":9.0,"kib":281.2}
{"part":"open","case":"nothing kept","view_ms":440.0,"longest_ms":60.0,"cpu_longest_ms":41.0,"requests":9.0,"kib":281.2}
{"part":"open","case":"kept","view_ms":300.0,"longest_ms":0.0}
{"part":"open","case":"from the list","view_ms":90.0,"longest_ms":55.0}
{"part":"scroll","case":"to the beginning","rows":5000.0,"seconds":9.0,"frame_p50_ms":16.7,"longest_ms":130.0}
{"part":"scroll","case":"back to the end","rows":5000.0,"seconds":8.0,"frame_p50_ms":16.7,"longest_ms":70.0}
{"part":"memory","case":"to the beginning","heap_mib":12.0}
{"part":"memory","case":"back to the end","heap_mib":14.0,"nodes":900.0}
"#;

    #[test]
    fn rounds_are_told_by_their_median_and_the_worst_of_them() {
        let figures = Figures::read(RAW).unwrap();
        let get = |name| figures.get("open", tables::COLD, name);
        assert_eq!(get("view_ms"), Some(440.0));
        assert_eq!(get("longest_ms"), Some(60.0));
        let most = figures.most("open", tables::COLD, "longest_ms");
        assert_eq!(most, Some(120.0));
        assert_eq!(figures.get("open", "nobody", "view_ms"), None);
    }

    #[test]
    fn a_goal_of_several_cases_is_of_the_worst_and_unknown_where_one_is_missing() {
        let goals = Figures::read(RAW).unwrap().goals();
        let found: Vec<_> = goals.iter().map(|goal| goal.found).collect();
        let wanted = [
            Some(440.0),
            Some(300.0),
            None,
            None,
            Some(14.0),
            None,
            Some(130.0),
            None,
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn a_line_that_is_no_measurement_is_an_error() {
        assert!(Figures::read("opens\n").is_err());
    }
}
