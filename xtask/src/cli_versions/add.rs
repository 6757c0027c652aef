//! `cargo xtask cli add`: the steps in their order, and the result.
//!
//! Owns what counts as a failure: a malformed line, a scenario that did not play, a failed test. Differences are for people.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use countersign_testkit::fetch::{self, Installed, NEWEST, NEWEST_VARIABLE, Pinned};
use serde::Serialize;
use serde_json::Value;

use super::{drift, install, inventory, pages, previous, progress, table};
use crate::check::Binary;
use crate::generate;
use crate::nextest;
use crate::out::{self, Format};
use crate::process::Cmd;
use crate::report::Report;
use crate::workspace::{PROFILE, Workspace};

/// The suites that a version is put through, by name and nextest filter.
const SUITES: [(&str, &str); 3] = [
    (
        "conformance",
        "binary(conformance) & test(/(^|::)newest::/)",
    ),
    ("twins", "binary(twins) & test(/^live::/)"),
    (
        "flows of `run` and of the daemon",
        "(binary(run) | binary(versions)) & test(/(^|::)newest(_background)?::/)",
    ),
];

/// What came of it.
#[derive(Debug, Serialize)]
struct Added {
    version: String,
    /// The version it was compared with.
    before: String,
    recorded: Recorded,
    /// What the inventory does not have: new, gone and changed names, and what the running CLI did.
    drift: Vec<String>,
    suites: Vec<Suite>,
    /// The inventory describes this version now.
    inventory_moved: bool,
    /// What a person has to look at.
    review: Vec<String>,
}

/// What the recordings say.
#[derive(Debug, Default, Serialize)]
struct Recorded {
    folder: PathBuf,
    scenarios: usize,
    failed: Vec<String>,
    lines: u64,
    malformed: Vec<String>,
    unknown: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Suite {
    name: &'static str,
    passed: u32,
    failed: Vec<String>,
}

/// Takes the version in; returns whether all of it played, was understood and passed.
pub(super) fn command(
    workspace: &Workspace,
    version: &str,
    format: Format,
) -> anyhow::Result<bool> {
    let before = previous(version)
        .with_context(|| format!("{version} is older than every version of the table"))?;
    let before = install(workspace, before)?;
    let installed = fetch_version(workspace, version)?;
    table::add(workspace, installed.pinned)?;
    generate::ensure_binary(workspace, Binary::Missing)?;
    let recorded = record(workspace, version)?;
    let page = pages::page(workspace, &before, &installed)?;
    pages::write(workspace, version, &page)?;
    let drift = against_the_inventory(workspace, &installed)?;
    let suites = test(workspace, version)?;
    let mut added = Added {
        version: version.to_owned(),
        before: before.pinned.version.to_owned(),
        recorded,
        drift,
        suites,
        inventory_moved: false,
        review: Vec::new(),
    };
    if added.drift.is_empty() && added.is_understood() {
        added.inventory_moved = inventory::move_on(workspace, version)?;
    }
    added.review = review(&added, &inventory::version(workspace)?);
    match format {
        Format::Json => out::say_json(&added)?,
        Format::Text => out::say(text(&added)),
    }
    Ok(added.is_understood())
}

/// From the table's own package, or pinned now.
fn fetch_version(workspace: &Workspace, version: &str) -> anyhow::Result<Installed> {
    match Pinned::find(version) {
        Some(pinned) => install(workspace, pinned),
        None => fetch::pin(&workspace.cache, version, &mut progress(version))
            .with_context(|| format!("cannot fetch claude {version}")),
    }
}

/// Plays every scenario and checks every line.
fn record(workspace: &Workspace, version: &str) -> anyhow::Result<Recorded> {
    out::heading(format_args!("recording {version}"));
    let folder = workspace.target.join("cli");
    let cargo = workspace
        .cargo()
        .args(["run", "--quiet", "--profile", PROFILE]);
    let cargo = cargo.args(["--package", "countersign-testkit", "--bin", "record", "--"]);
    let cargo = cargo.args(["--cli", version, "--into"]).arg(&folder);
    let (_, printed) = cargo.tee()?;
    let folder = folder.join(version);
    let mut recorded = Recorded {
        failed: failed_scenarios(&printed),
        ..Recorded::default()
    };
    for file in files_in(&folder)? {
        let check = Cmd::new(workspace.built("countersign"));
        let (_, printed) = check
            .args(["wire", "check", "--json"])
            .arg(&file)
            .capture()?;
        let report: Value = serde_json::from_str(&printed)
            .with_context(|| format!("cannot check {}", file.display()))?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        recorded.add(&name, &report);
    }
    recorded.folder = folder;
    Ok(recorded)
}

impl Recorded {
    fn add(&mut self, scenario: &str, report: &Value) {
        self.scenarios += 1;
        self.lines += report["lines"].as_u64().unwrap_or(0);
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        for line in list(&report["malformed"]) {
            self.malformed.push(format!("{scenario}: {line}"));
        }
        if report["lossless"] == false {
            self.malformed
                .push(format!("{scenario}: a line is not written back as it was"));
        }
        let names = list(&report["unknown"]);
        let names = names.iter().filter_map(Value::as_str).map(str::to_owned);
        let fields = report["unknown_fields"].as_object();
        let fields = fields.into_iter().flatten();
        let fields = fields.map(|(name, fields)| format!("{name}: {fields}"));
        for unknown in names.chain(fields) {
            if !is_made_up(&unknown) && !self.unknown.contains(&unknown) {
                self.unknown.push(unknown);
            }
        }
    }
}

/// Whether a scenario sends it to see it refused.
fn is_made_up(unknown: &str) -> bool {
    unknown.ends_with("no_such_request") || unknown.contains("banana")
}

/// The names of the lines of the recorder's summary that say so.
fn failed_scenarios(summary: &str) -> Vec<String> {
    let rows = summary
        .lines()
        .filter(|line| line.trim_end().ends_with("FAILED"));
    let names = rows.filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

fn files_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)
        .with_context(|| format!("nothing was recorded in {}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        files.push(entry?.path());
    }
    files.sort();
    Ok(files)
}

/// Compares the CLI with what we know.
fn against_the_inventory(
    workspace: &Workspace,
    installed: &Installed,
) -> anyhow::Result<Vec<String>> {
    let (_, printed) = drift(workspace, installed).arg("--json").capture()?;
    let report: Value = serde_json::from_str(&printed).context("`countersign drift` said why")?;
    Ok(differences(&report))
}

/// One line for each difference of the report of `countersign drift --json`.
fn differences(report: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let changes = report["changes"].as_array().into_iter().flatten();
    let changes = changes.map(|change| {
        let (kind, name) = (text(&change["kind"]), text(&change["name"]));
        format!("{}: {kind} {name}", text(&change["change"]))
    });
    let findings = report["findings"].as_array().into_iter().flatten();
    let findings = findings.filter(|finding| finding["is_drift"] == true);
    let findings =
        findings.map(|one| format!("seen: {} {}", text(&one["what"]), text(&one["detail"])));
    changes.chain(findings).collect()
}

/// Runs the suites of the newest version on this one.
fn test(workspace: &Workspace, version: &str) -> anyhow::Result<Vec<Suite>> {
    let env = [
        (NEWEST_VARIABLE, version.to_owned()),
        ("COUNTERSIGN_REQUIRE", format!("claude-{NEWEST}")),
    ];
    let run = |(name, filter): (&'static str, &str)| {
        out::heading(format_args!("{name} on {version}"));
        let mut report = Report::default();
        nextest::run(workspace, filter, &env, &mut report)?;
        Ok(Suite {
            name,
            passed: report.passed,
            failed: report.failed,
        })
    };
    SUITES.into_iter().map(run).collect()
}

impl Added {
    /// Whether everything played, was read and passed; there may be news all the same.
    fn is_understood(&self) -> bool {
        self.recorded.failed.is_empty()
            && self.recorded.malformed.is_empty()
            && self.suites.iter().all(|suite| suite.failed.is_empty())
    }
}

/// Lists what a person has to look at.
fn review(added: &Added, described: &str) -> Vec<String> {
    let version = &added.version;
    let mut review = vec![
        format!(
            "docs/drift/{version}.md: decide on every row, and note it in docs/drift/README.md"
        ),
        format!(
            "crates/testkit/clis.json: the integrity of {version} is what the registry says today"
        ),
    ];
    let mut add = |many: usize, what: String| {
        if many > 0 {
            review.push(what);
        }
    };
    let recorded = &added.recorded;
    add(
        recorded.malformed.len(),
        format!(
            "{} malformed lines: mend crates/wire first",
            recorded.malformed.len()
        ),
    );
    add(
        recorded.unknown.len(),
        format!(
            "{} unknown types or fields in the recordings: crates/wire, inventory.json",
            recorded.unknown.len()
        ),
    );
    add(
        recorded.failed.len(),
        format!(
            "scenarios that did not play: {}",
            recorded.failed.join(", ")
        ),
    );
    add(
        added.drift.len(),
        format!(
            "{} differences to the inventory of {described}: `countersign drift` shows each with its place",
            added.drift.len()
        ),
    );
    for suite in &added.suites {
        add(
            suite.failed.len(),
            format!("{}: {}", suite.name, suite.failed.join(", ")),
        );
    }
    add(
        usize::from(added.inventory_moved),
        format!("crates/wire/inventory.json describes {version} now"),
    );
    review
}

/// The result for a terminal.
fn text(added: &Added) -> String {
    let recorded = &added.recorded;
    let mut text = format!(
        "claude {}, compared with {}\n\nrecorded      {} scenarios, {} lines: {} malformed, {} unknown, {} did not play\n",
        added.version,
        added.before,
        recorded.scenarios,
        recorded.lines,
        recorded.malformed.len(),
        recorded.unknown.len(),
        recorded.failed.len(),
    );
    for suite in &added.suites {
        text += &format!(
            "tested        {}: {} passed, {} failed\n",
            suite.name,
            suite.passed,
            suite.failed.len()
        );
    }
    text += &format!("inventory     {} differences\n", added.drift.len());
    for difference in added
        .drift
        .iter()
        .chain(&recorded.unknown)
        .chain(&recorded.malformed)
    {
        text += &format!("  {difference}\n");
    }
    text += "\nTo review\n";
    for review in &added.review {
        text += &format!("- {review}\n");
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn added() -> Added {
        Added {
            version: "9.9.9".into(),
            before: "9.9.8".into(),
            recorded: Recorded::default(),
            drift: Vec::new(),
            suites: vec![Suite {
                name: "twins",
                passed: 3,
                failed: Vec::new(),
            }],
            inventory_moved: false,
            review: Vec::new(),
        }
    }

    #[test]
    fn news_are_no_failure_but_what_is_not_understood_is() {
        let mut added = added();
        added.drift.push("new: message system/x".into());
        added.recorded.unknown.push("system/x".into());
        assert!(added.is_understood());
        added.suites[0].failed.push("live::x".into());
        assert!(!added.is_understood());
        added.suites[0].failed.clear();
        added.recorded.malformed.push("x".into());
        assert!(!added.is_understood());
    }

    #[test]
    fn each_thing_to_look_at_is_named_and_what_is_fine_is_not() {
        let mut added = added();
        assert_eq!(review(&added, "9.9.8").len(), 2);
        added.drift.push("gone: flag --x".into());
        added.suites[0].failed.push("live::x".into());
        added.inventory_moved = true;
        let review = review(&added, "9.9.8");
        assert_eq!(review.len(), 5);
        assert!(review[2].starts_with("1 differences to the inventory of 9.9.8"));
        assert_eq!(review[3], "twins: live::x");
    }

    #[test]
    fn a_recording_is_counted_with_what_is_wrong_in_it() {
        let mut recorded = Recorded::default();
        let report = json!({"lines": 4, "lossless": false, "malformed": [{"line": 2}],
            "unknown": ["system/x", "control_request/no_such_request"], "unknown_fields": {"user": ["y"]}});
        recorded.add("plain", &report);
        recorded.add("other", &report);
        assert_eq!((recorded.scenarios, recorded.lines), (2, 8));
        assert_eq!(recorded.malformed.len(), 4);
        assert_eq!(recorded.unknown, ["system/x", "user: [\"y\"]"]);
    }

    #[test]
    fn the_scenarios_that_failed_are_read_off_the_summary() {
        let summary = "scenario   2.1.328   \nbypass     same      \nfork       FAILED    \n";
        assert_eq!(failed_scenarios(summary), ["fork"]);
    }

    #[test]
    fn every_difference_of_a_report_is_one_line() {
        let report = json!({"changes": [{"kind": "flag", "name": "--x", "change": "new"}],
            "findings": [{"what": "unknown message", "detail": "y", "is_drift": true},
                {"what": "permission mode", "detail": "z", "is_drift": false}]});
        assert_eq!(
            differences(&report),
            ["new: flag --x", "seen: unknown message y"]
        );
    }
}
