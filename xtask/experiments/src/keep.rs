//! Keeps the runs: one folder for each experiment, with the wire of each run and what was read from it.
//!
//! Owns the layout. The recordings are of the format of docs/recordings.md, as they crossed the wire: nothing is
//! normalised. Invariant: they hold no key and nothing of the caller, since no run saw either.

use std::io;
use std::path::Path;

use countersign_wire::recording;
use serde_json::json;

use super::{Letter, Performed, Report, markdown};

const README: &str = "\
# Recordings of the experiments

One folder for each experiment. `wire.ndjson` is the run that the seed describes, other recordings in the folder are
further runs of the same experiment; `countersign wire check FILE` looks into them. `summary.json` has what was seen in
each of them, and how it compares. Made by `countersign experiments --record`.

";

/// Writes everything below `dir`.
pub(crate) fn keep(dir: &Path, report: &Report<'_>, performed: &[Performed]) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    std::fs::write(
        dir.join("README.md"),
        format!("{README}{}", markdown(report)),
    )?;
    for letter in &report.experiments {
        let folder = dir.join(letter.folder());
        std::fs::create_dir_all(&folder)?;
        for run in performed.iter().filter(|run| run.name.letter() == *letter) {
            let file = folder.join(format!("{}.ndjson", run.name.file()));
            std::fs::write(file, recorded(run, &report.cli))?;
        }
        let summary = serde_json::to_string_pretty(&summary(*letter, report, performed))?;
        std::fs::write(folder.join("summary.json"), summary + "\n")?;
    }
    Ok(())
}

fn summary(letter: Letter, report: &Report<'_>, performed: &[Performed]) -> serde_json::Value {
    let runs = performed.iter().filter(|run| run.name.letter() == letter);
    let seen: serde_json::Map<_, _> = runs
        .map(|run| (run.name.file().to_owned(), json!(run.seen)))
        .collect();
    let about = report.comparisons.iter();
    let comparisons: Vec<_> = about
        .filter(|comparison| comparison.experiments.contains(&letter))
        .collect();
    json!({"experiment": letter, "cli": report.cli, "seen": seen, "comparisons": comparisons})
}

fn recorded(run: &Performed, cli: &str) -> Vec<u8> {
    let scenario = format!("experiment-{}", run.name.id());
    let mut bytes = recording::header_line(cli, &scenario);
    for line in &run.lines {
        let at = u64::try_from(line.at.as_millis()).unwrap_or(u64::MAX);
        bytes.extend(recording::entry_line(at, line.direction, &line.bytes));
    }
    bytes
}
