//! `countersign policy check`: what is wrong with rules.

use std::io::{self, Write as _};
use std::path::PathBuf;

use countersign_policy::Rule;
use countersign_policy::check::{self, Finding, Severity};
use countersign_policy::rule::FileKind;
use countersign_policy::source::{Read, Trust};
use serde_json::{Value, json};

use super::here::{Here, misnamed};
use super::shown::{self, count};
use crate::Outcome;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Files of rules; without any, all that count for an agent in this folder
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The folder an agent would work in
    #[arg(short = 'C', value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What was checked, and what came of it.
#[derive(Default)]
struct Report {
    files: Vec<(PathBuf, FileKind, usize)>,
    findings: Vec<Finding>,
    withheld: Vec<Rule>,
    trust: Trust,
    looked_for: Vec<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    if let Some(message) = misnamed(&arguments.files) {
        return super::usage(&message);
    }
    let here = Here::at(arguments.dir.as_deref())?;
    let report = match arguments.files.is_empty() {
        true => all(&here),
        false => named(&here, &arguments.files)?,
    };
    let mut out = io::stdout().lock();
    match arguments.json {
        true => writeln!(out, "{}", report.json())?,
        false => write!(out, "{}", report.text())?,
    }
    Ok(match report.findings.is_empty() {
        true => Outcome::Fine,
        false => Outcome::Found,
    })
}

fn all(here: &Here) -> Report {
    let loaded = here.load();
    let files = loaded
        .files
        .iter()
        .map(|file| (file.path.clone(), file.kind, file.rules));
    Report {
        files: files.collect(),
        findings: check::loaded(&loaded, here.now),
        withheld: loaded.withheld,
        trust: loaded.trust,
        looked_for: here
            .sources
            .files()
            .into_iter()
            .map(|(_, path, _)| path)
            .collect(),
    }
}

/// The named files, taken together: a rule of one may leave a rule of another nothing to say.
fn named(here: &Here, files: &[PathBuf]) -> anyhow::Result<Report> {
    let mut report = Report::default();
    let mut together = Read::default();
    for file in files {
        let (kind, read) = here.read(file)?;
        report.files.push((file.clone(), kind, read.rules.len()));
        together.rules.extend(read.rules);
        together.examples.extend(read.examples);
        together.problems.extend(read.problems);
    }
    let place = here.place(&here.sources.cwd, &[]);
    report.findings = check::read(&together, &place, here.now);
    Ok(report)
}

impl Report {
    fn number(&self, severity: Severity) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for finding in &self.findings {
            text += &format!("{}\n", shown::finding(finding));
        }
        if !self.findings.is_empty() {
            text += "\n";
        }
        for (path, kind, rules) in &self.files {
            text += &format!(
                "{}: {} ({})\n",
                path.display(),
                count(*rules, "rule"),
                kind_in_words(*kind)
            );
        }
        if self.files.is_empty() {
            text += "There are no rules here. These files would count:\n";
            text.extend(
                self.looked_for
                    .iter()
                    .map(|path| format!("    {}\n", path.display())),
            );
        }
        text += &self.withheld_text();
        let errors = self.number(Severity::Error);
        let warnings = self.number(Severity::Warning);
        text += &match self.findings.is_empty() {
            true if self.files.is_empty() => String::new(),
            true => "nothing to say about them\n".to_owned(),
            false => format!(
                "{}, {}\n",
                count(errors, "error"),
                count(warnings, "warning")
            ),
        };
        text
    }

    fn withheld_text(&self) -> String {
        if self.withheld.is_empty() {
            return String::new();
        }
        let why = match self.trust {
            Trust::Changed => "it came after you trusted the folder",
            _ => "you have not trusted the folder",
        };
        let mut text = format!("Not in force, since {why}; `countersign run` asks about it:\n");
        for rule in &self.withheld {
            text += &format!("    {rule} ({})\n", rule.origin);
        }
        text
    }

    fn json(&self) -> Value {
        let files = self
            .files
            .iter()
            .map(|(path, kind, rules)| json!({"path": path, "kind": kind, "rules": rules}));
        json!({
            "files": files.collect::<Vec<_>>(),
            "findings": self.findings,
            "errors": self.number(Severity::Error),
            "warnings": self.number(Severity::Warning),
            "withheld": self.withheld.iter().map(|rule| shown::rule_json(Some(rule))).collect::<Vec<_>>(),
        })
    }
}

fn kind_in_words(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Managed => "the administrator's settings",
        FileKind::User => "your Claude Code settings",
        FileKind::Project => "Claude Code settings of a project",
        FileKind::Local => "local Claude Code settings of a project",
        FileKind::Own => "your own rules",
        FileKind::Repository => "rules of a repository",
    }
}
