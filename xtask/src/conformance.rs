//! `cargo xtask conformance`: the client on every pinned CLI, and docs/conformance.md made of what was seen.
//!
//! Owns the page. The tests (`crates/client/tests/conformance`) write one record a feature and version; no cell is written
//! by hand. Invariant: a record says `fails` until its case ended well, so that a feature cannot pass unseen.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use countersign_testkit::fetch;
use serde::Deserialize;

use crate::nextest;
use crate::out;
use crate::report::Report;
use crate::workspace::Workspace;

/// The tests that write records.
pub(crate) const FILTER: &str = "binary(conformance)";

/// Where the tests write their records, if it is set.
const RECORDS: &str = "COUNTERSIGN_CONFORMANCE";

/// The page, from the root.
const PAGE: &str = "docs/conformance.md";

/// `cargo xtask conformance`: runs the suite and writes the page, or only compares it.
pub(crate) fn command(workspace: &Workspace, check: bool) -> anyhow::Result<bool> {
    let mut report = Report::default();
    let page = run(workspace, &[], &mut report)?;
    for failed in &report.failed {
        out::note(format_args!("failed: {failed}"));
    }
    let path = workspace.root.join(PAGE);
    if check {
        let is_current = fs::read_to_string(&path).is_ok_and(|text| text == page);
        if !is_current {
            out::note(format_args!(
                "{PAGE} is out of date: run `cargo xtask conformance`"
            ));
        }
        return Ok(is_current && report.failed.is_empty());
    }
    fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    out::say(format_args!("wrote {PAGE}"));
    Ok(report.failed.is_empty())
}

/// The suite of `cargo xtask test`: runs the tests and compares the page.
pub(crate) fn suite(
    workspace: &Workspace,
    env: &[(&str, String)],
    report: &mut Report,
) -> anyhow::Result<()> {
    let page = run(workspace, env, report)?;
    let is_current = fs::read_to_string(workspace.root.join(PAGE)).is_ok_and(|text| text == page);
    if is_current {
        report.passed += 1;
    } else {
        report.failed.push(format!(
            "{PAGE} is not what this run showed: run `cargo xtask conformance` and read the difference"
        ));
    }
    Ok(())
}

fn run(
    workspace: &Workspace,
    env: &[(&str, String)],
    report: &mut Report,
) -> anyhow::Result<String> {
    let records = workspace.root.join("target/conformance");
    // Records of an earlier run must not speak for this one.
    if records.exists() {
        fs::remove_dir_all(&records)
            .with_context(|| format!("cannot remove {}", records.display()))?;
    }
    let mut env = env.to_vec();
    env.push((RECORDS, records.to_string_lossy().into_owned()));
    nextest::run(workspace, FILTER, &env, report)?;
    Ok(page(&read(&records)?))
}

/// What one case found for one feature and version.
#[derive(Debug, Clone, Deserialize)]
struct Record {
    feature: String,
    about: String,
    version: String,
    verdict: String,
    #[serde(default)]
    reason: String,
}

fn read(folder: &Path) -> anyhow::Result<Vec<Record>> {
    let entries = fs::read_dir(folder)
        .with_context(|| format!("no records in {}: did the tests run?", folder.display()))?;
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in entries {
        files.push(entry?.path());
    }
    files.sort();
    files
        .iter()
        .map(|file| {
            let text = fs::read_to_string(file)?;
            serde_json::from_str(&text).with_context(|| format!("broken: {}", file.display()))
        })
        .collect()
}

/// Returns the versions that the cases ran on, newest first: the columns of the page.
fn versions(records: &[Record]) -> Vec<&str> {
    let versions: BTreeSet<_> = records
        .iter()
        .map(|record| (fetch::numbers(&record.version), record.version.as_str()))
        .collect();
    versions
        .into_iter()
        .rev()
        .map(|(_, version)| version)
        .collect()
}

/// The page of these records.
fn page(records: &[Record]) -> String {
    let mut areas: BTreeMap<&str, BTreeMap<&str, Vec<&Record>>> = BTreeMap::new();
    for record in records {
        let (area, name) = record
            .feature
            .split_once('/')
            .unwrap_or(("other", &record.feature));
        areas
            .entry(area)
            .or_default()
            .entry(name)
            .or_default()
            .push(record);
    }
    let features: BTreeSet<&str> = records
        .iter()
        .map(|record| record.feature.as_str())
        .collect();
    let mut page = format!(
        "# Conformance\n\nWritten by `cargo xtask conformance`; do not edit. The client drives the real CLI on the scripted \
         model. *Pass*: the effect\nwas seen (a file, what the model was sent, a mode read back, a process gone). *Not there*: \
         it was shown that the version\ndoes not have it.\n\n{} features.\n\n",
        features.len()
    );
    let versions = versions(records);
    page.push_str("| version | pass | not there | fails |\n| --- | ---: | ---: | ---: |\n");
    for version in &versions {
        let count = |verdict: &str| {
            let matches =
                |record: &&Record| record.version == *version && record.verdict == verdict;
            records.iter().filter(matches).count()
        };
        let (pass, absent, fails) = (count("pass"), count("absent"), count("fails"));
        let _ = writeln!(page, "| {version} | {pass} | {absent} | {fails} |");
    }
    for (area, features) in &areas {
        let _ = write!(page, "\n## {area}\n\n| feature | what is seen |");
        for version in &versions {
            let _ = write!(page, " {version} |");
        }
        page.push_str("\n| --- | --- |");
        page.push_str(&" --- |".repeat(versions.len()));
        page.push('\n');
        let mut reasons: Vec<&str> = Vec::new();
        for (name, records) in features {
            row(&mut page, &versions, name, records, &mut reasons);
        }
        if !reasons.is_empty() {
            page.push('\n');
        }
        for (at, reason) in reasons.iter().enumerate() {
            let _ = writeln!(page, "{}. {reason}", at + 1);
        }
    }
    page
}

fn row<'a>(
    page: &mut String,
    versions: &[&str],
    name: &str,
    records: &[&'a Record],
    reasons: &mut Vec<&'a str>,
) {
    let about = records.first().map_or("", |record| record.about.as_str());
    let _ = write!(page, "| {name} | {about} |");
    for version in versions {
        let record = records.iter().find(|record| record.version == *version);
        let cell = match record {
            None => "not run".to_owned(),
            Some(record) => match record.verdict.as_str() {
                "pass" => "pass".to_owned(),
                "absent" => {
                    let at = reasons.iter().position(|reason| *reason == record.reason);
                    let at = at.unwrap_or_else(|| {
                        reasons.push(&record.reason);
                        reasons.len() - 1
                    });
                    format!("not there ({})", at + 1)
                }
                _ => "**fails**".to_owned(),
            },
        };
        let _ = write!(page, " {cell} |");
    }
    page.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(feature: &str, version: &str, verdict: &str, reason: &str) -> Record {
        Record {
            feature: feature.into(),
            about: "it shows".into(),
            version: version.into(),
            verdict: verdict.into(),
            reason: reason.into(),
        }
    }

    #[test]
    fn each_cell_is_what_its_record_says() {
        let newest = fetch::newest().version;
        let records = [
            record("a/x", newest, "pass", ""),
            record("a/x", "2.1.62", "absent", "silence"),
            record("a/x", "2.0.75", "absent", "silence"),
            record("b/y", newest, "fails", ""),
        ];
        let page = page(&records);
        assert!(
            page.contains(&format!("| {newest} | 1 | 0 | 1 |")),
            "{page}"
        );
        assert!(page.contains("| x | it shows | pass | not there (1) | not there (1) |"));
        assert!(page.contains("1. silence\n"));
        assert!(page.contains("| y | it shows | **fails** | not run | not run |"));
        assert!(page.contains("2 features."));
    }
}
