//! `record`: plays scenarios on the pinned CLIs and stores what crossed the wire in `fixtures/wire`.
//!
//! Owns the command line and the summary. A recording that differs from the stored one in times only
//! leaves the stored file as it is, so that a diff shows changed behaviour and nothing else.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use clap::Parser;
use countersign_testkit::drive;
use countersign_testkit::fetch::{self, Installed, Pinned, Progress};
use countersign_testkit::recording::{Recording, shape};
use countersign_testkit::sandbox::RunAs;
use countersign_testkit::scenario::{self, Scenario};

/// Plays scenarios on the real CLI and stores what crossed the wire.
#[derive(Debug, Parser)]
#[command(name = "record")]
struct Args {
    /// Scenarios to play (default: all)
    #[arg(value_name = "SCENARIO")]
    scenarios: Vec<String>,
    /// Version of the CLI to play on; may be given several times (default: all that the suites run on)
    #[arg(long = "cli", value_name = "VERSION")]
    versions: Vec<String>,
    /// List the scenarios and stop
    #[arg(long)]
    list: bool,
    /// Store nothing; fail if a run's shape is not the stored one's
    #[arg(long)]
    check: bool,
    /// Store the recordings below this folder instead of fixtures/wire
    #[arg(long, value_name = "DIR", conflicts_with = "check")]
    into: Option<PathBuf>,
}

/// What became of one scenario on one version.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    New,
    Changed,
    Same,
    NotForThisVersion,
    Failed(String),
}

impl Outcome {
    fn word(&self) -> &'static str {
        match self {
            Outcome::New => "new",
            Outcome::Changed => "changed",
            Outcome::Same => "same",
            Outcome::NotForThisVersion => "-",
            Outcome::Failed(_) => "FAILED",
        }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(&Args::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The message says what to do; a backtrace would bury it.
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: &Args) -> Result<()> {
    let files = chosen_files(args)?;
    let mut out = std::io::stdout().lock();
    if args.list {
        for file in files {
            let (name, about) = title(&file)?;
            writeln!(out, "{name:<28} {about}")?;
        }
        return Ok(());
    }
    let versions = chosen_versions(args)?;
    let mut rows = Vec::new();
    for installed in install(&versions)? {
        for file in &files {
            let (name, _) = title(file)?;
            let started = Instant::now();
            let outcome = record(file, &installed, args).await?;
            let seconds = started.elapsed().as_secs_f32();
            eprintln!(
                "{:<8} {name:<28} {:>5.1} s  {}",
                installed.pinned.version,
                seconds,
                outcome.word()
            );
            if let Outcome::Failed(why) = &outcome {
                eprintln!("{why}\n");
            }
            rows.push((name, installed.pinned.version, outcome));
        }
    }
    summary(&mut out, &versions, &rows)?;
    let failed = rows
        .iter()
        .filter(|(_, _, outcome)| matches!(outcome, Outcome::Failed(_)))
        .count();
    if failed > 0 {
        bail!(
            "{failed} of {} did not play; the reasons stand above",
            rows.len()
        );
    }
    Ok(())
}

async fn record(file: &Path, installed: &Installed, args: &Args) -> Result<Outcome> {
    let check = args.check;
    let version = installed.pinned.version;
    let Some(scenario) = Scenario::load(file, version)? else {
        return Ok(Outcome::NotForThisVersion);
    };
    let played = match drive::play(&scenario, installed, RunAs::Caller).await {
        Ok(played) => played.recording(),
        Err(error) => return Ok(Outcome::Failed(error.to_string())),
    };
    let folder = args.into.clone().unwrap_or_else(Recording::fixtures);
    let path = Recording::path(&folder, version, &scenario.name);
    let stored = if path.exists() {
        Some(Recording::read(&path)?)
    } else {
        None
    };
    Ok(match stored {
        Some(stored) if stored.same_lines(&played) => Outcome::Same,
        Some(stored) if check && shape(&stored) == shape(&played) => Outcome::Same,
        None if check => Outcome::Failed(format!("{} is not recorded yet", scenario.name)),
        Some(stored) if check => Outcome::Failed(format!(
            "the shape of {} changed\n  stored: {:?}\n  played: {:?}",
            scenario.name,
            shape(&stored),
            shape(&played)
        )),
        stored => {
            let played = match &stored {
                Some(stored) => played.with_times_of(stored),
                None => played,
            };
            played.write(&path)?;
            if stored.is_some() {
                Outcome::Changed
            } else {
                Outcome::New
            }
        }
    })
}

fn chosen_files(args: &Args) -> Result<Vec<PathBuf>> {
    let all = scenario::all().context("cannot list the scenarios of testkit")?;
    if args.scenarios.is_empty() {
        return Ok(all);
    }
    args.scenarios
        .iter()
        .map(|name| {
            let found = all
                .iter()
                .find(|file| file.file_stem().is_some_and(|stem| stem == &**name));
            found
                .cloned()
                .with_context(|| format!("no scenario {name}: `record --list` names them"))
        })
        .collect()
}

fn chosen_versions(args: &Args) -> Result<Vec<&'static Pinned>> {
    if args.versions.is_empty() {
        return Ok(fetch::tested().collect());
    }
    let known = || {
        let versions = fetch::pinned().iter().map(|pinned| pinned.version);
        versions.collect::<Vec<_>>().join(", ")
    };
    args.versions
        .iter()
        .map(|version| {
            Pinned::find(version)
                .with_context(|| format!("{version} is not pinned; there are {}", known()))
        })
        .collect()
}

fn install(versions: &[&'static Pinned]) -> Result<Vec<Installed>> {
    let cache = fetch::cache_dir()?;
    let one = |pinned: &&'static Pinned| {
        let mut last = None;
        let installed = fetch::install(&cache, pinned, &mut |progress| {
            let kind = std::mem::discriminant(&progress);
            if last.replace(kind) != Some(kind) && progress != Progress::Done {
                eprintln!("claude {}: {progress:?}", pinned.version);
            }
        });
        installed.with_context(|| format!("cannot get claude {}", pinned.version))
    };
    versions.iter().map(one).collect()
}

fn title(file: &Path) -> Result<(String, String)> {
    let name = file
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let about = text
        .lines()
        .next()
        .unwrap_or_default()
        .trim_start_matches(['#', ' '])
        .to_owned();
    Ok((name, about))
}

type Row = (String, &'static str, Outcome);

fn summary(out: &mut impl std::io::Write, versions: &[&Pinned], rows: &[Row]) -> Result<()> {
    write!(out, "{:<28}", "scenario")?;
    for pinned in versions {
        write!(out, " {:<10}", pinned.version)?;
    }
    writeln!(out)?;
    let mut names: Vec<&str> = rows.iter().map(|(name, _, _)| &**name).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        write!(out, "{name:<28}")?;
        for pinned in versions {
            let row = rows
                .iter()
                .find(|(n, version, _)| n == name && *version == pinned.version);
            write!(
                out,
                " {:<10}",
                row.map_or("-", |(_, _, outcome)| outcome.word())
            )?;
        }
        writeln!(out)?;
    }
    Ok(())
}
