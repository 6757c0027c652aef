//! `countersign rehearse scenarios` and `rehearse check`: which scenarios there are, and whether a file is one.

use std::io::{self, Write as _};
use std::path::PathBuf;

use countersign_rehearsal::cli::{Scenario, ScenarioError, builtin};
use serde_json::{Value, json};

use super::wanted;
use crate::Outcome;

#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// Print JSON: a list of names and summaries
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// The files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print JSON: an object for each file
    #[arg(long)]
    json: bool,
}

pub(super) fn list(arguments: &List) -> anyhow::Result<Outcome> {
    let mut out = io::stdout().lock();
    if arguments.json {
        let scenarios: Vec<Value> = builtin::names()
            .map(|(name, summary)| json!({ "name": name, "summary": summary }))
            .collect();
        writeln!(out, "{}", Value::from(scenarios))?;
        return Ok(Outcome::Fine);
    }
    let width = builtin::names().map(|(name, _)| name.len()).max();
    let width = width.unwrap_or_default();
    for (name, summary) in builtin::names() {
        writeln!(out, "{name:width$}  {summary}")?;
    }
    Ok(Outcome::Fine)
}

pub(super) fn check(arguments: &Check) -> anyhow::Result<Outcome> {
    let mut out = io::stdout().lock();
    let mut outcome = Outcome::Fine;
    for path in &arguments.files {
        let file = path.to_string_lossy();
        let report = match wanted::read(path) {
            Err(error) => Err((
                format!("{error:#}"),
                json!({ "error": format!("{error:#}") }),
            )),
            Ok(text) => match Scenario::parse(&text, &file) {
                Err(mistake) => Err((mistake.to_string(), described(&mistake))),
                Ok(_) => Ok(()),
            },
        };
        if report.is_err() {
            outcome = Outcome::Found;
        }
        match (report, arguments.json) {
            (Ok(()), false) => writeln!(out, "{file}: can be played")?,
            (Err((mistake, _)), false) => writeln!(out, "{mistake}")?,
            (Ok(()), true) => writeln!(out, "{}", json!({ "file": file, "ok": true }))?,
            (Err((_, mut mistake)), true) => {
                mistake["file"] = file.into();
                mistake["ok"] = false.into();
                writeln!(out, "{mistake}")?;
            }
        }
    }
    Ok(outcome)
}

fn described(mistake: &ScenarioError) -> Value {
    json!({
        "line": mistake.error.at.line,
        "column": mistake.error.at.column,
        "expected": mistake.error.expected,
        "found": mistake.error.found,
        "hint": mistake.error.hint,
    })
}
