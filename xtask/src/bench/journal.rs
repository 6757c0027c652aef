//! `cargo xtask bench journal`: journal and keeper beside a bare `write`, SQLite and the floor without a keeper.
//!
//! Owns the course: build the programs, let `countersign-bench-journal` measure, make tables of the raw lines it prints.
//! Invariants: ratios are those of one run, whose sides took turns; a missed goal is told, and is no failure.

mod figures;
mod tables;

use anyhow::{Context as _, bail};
use clap::Parser;
use serde::Serialize;

use self::figures::{Figures, Goal};
use super::{page, runs};
use crate::out::{self, Format};
use crate::process::Cmd;
use crate::workspace::Workspace;

/// Built as it is handed to people.
const PROFILE: &str = "dist";
const PROGRAM: &str = "countersign-bench-journal";
/// The least program that runs the same keeper.
const SMALL: &str = "countersign-bench-keeper";

/// Measures journal and keeper, and writes the tables into docs/performance.md.
#[derive(Debug, Parser)]
struct Args {
    /// Less of everything: a look in a minute. Writes no page
    #[arg(long)]
    quick: bool,
    /// Raw measurements, goals and medians as one JSON document
    #[arg(long)]
    json: bool,
    /// Only these parts: latency, append, follow, chain, memory, followers. Writes no page
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// The result for programs.
#[derive(Debug, Serialize)]
struct Document<'a> {
    machine: &'a str,
    goals: &'a [Goal],
    medians: Vec<figures::Median<'a>>,
}

/// Runs it. Whether everything was measured.
pub(super) fn command(workspace: &Workspace, args: &[String]) -> anyhow::Result<bool> {
    let name = "cargo xtask bench journal".to_owned();
    let args = Args::parse_from([name].into_iter().chain(args.iter().cloned()));
    build(workspace)?;
    let load = runs::load();
    let figures = measure(workspace, &args)?;
    let machine = runs::machine(&load);
    let goals = figures.goals();
    if Format::from_flag(args.json) == Format::Json {
        out::say_json(&Document {
            machine: &machine,
            goals: &goals,
            medians: figures.medians(),
        })?;
        return Ok(true);
    }
    let text = tables::render(&figures, &goals, &machine);
    out::say(&text);
    if !args.quick && args.only.is_empty() {
        let file = workspace.root.join("docs/performance.md");
        page::write(&file, "journal", &text).context("the tables could not be written")?;
        out::note(format_args!("wrote the tables into {}", file.display()));
    }
    Ok(true)
}

fn build(workspace: &Workspace) -> anyhow::Result<()> {
    let cargo = workspace.cargo().args(["build", "--profile", PROFILE]);
    let built = cargo
        .args(["--package", PROGRAM, "--package", "countersign"])
        .run()?;
    if !built.success() {
        bail!("{PROGRAM} or countersign does not build");
    }
    Ok(())
}

fn measure(workspace: &Workspace, args: &Args) -> anyhow::Result<Figures> {
    let built = workspace.target.join(PROFILE);
    // On the disk of the target folder: a folder for temporary files may be memory.
    let data = workspace.target.join("tmp/bench-journal");
    let mut command = Cmd::new(built.join(PROGRAM)).arg("run");
    if args.quick {
        command = command.arg("--quick");
    }
    for part in &args.only {
        command = command.args(["--only", part]);
    }
    let command = command
        .arg(&data)
        .arg(built.join("countersign"))
        .arg(built.join(SMALL));
    let (status, told) = command.tee()?;
    if !status.success() {
        bail!("the measurement failed: see above");
    }
    Figures::read(&told)
}
