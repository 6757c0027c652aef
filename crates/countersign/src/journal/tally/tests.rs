//! Whole recordings, counted.

use std::path::{Path, PathBuf};

use super::questions::Outcome;
use super::*;
use crate::journal::source::{Form, Item, Source};

fn recording(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("fixtures/wire").join(name)
}

fn report(name: &str) -> Report {
    let mut source = Source::open(&recording(name)).unwrap();
    let mut tally = Tally::default();
    while let Some(item) = source.next().unwrap() {
        match item {
            Item::Record(generation, record) => tally.record(generation, &record),
            Item::Damaged(why) => panic!("{name}: {why}"),
        }
    }
    let form = source.form();
    tally.report(form, source.session(), source.header())
}

#[test]
fn an_approved_command_is_one_call_and_one_approval() {
    let report = report("newest/bash-approved.ndjson");
    assert_eq!(report.form, Form::Recording);
    assert_eq!(report.cli.as_deref(), Some("2.1.327"));
    assert_eq!((report.turns.prompts, report.turns.results), (1, 1));
    let [bash] = &report.tools[..] else {
        panic!("{:?}", report.tools);
    };
    assert_eq!(
        (bash.name.as_str(), bash.calls, bash.failed),
        ("Bash", 1, 0)
    );
    assert_eq!(report.approvals.asked, 1);
    assert_eq!(report.approvals.outcomes[&Outcome::Allowed].count, 1);
    assert_eq!(report.cost.total.cost_usd, 0.00136);
    assert_eq!(report.cost.total.input_tokens, 200);
    assert_eq!(report.generations.len(), 1);
    assert_eq!(report.generations[0].end.words(), "exit 0");
}

#[test]
fn a_denied_command_is_no_failure() {
    let report = report("newest/bash-denied.ndjson");
    let denied: u64 = report.tools.iter().map(|tool| tool.denied).sum();
    let failed: u64 = report.tools.iter().map(|tool| tool.failed).sum();
    assert_eq!((denied, failed), (2, 0));
    assert_eq!(report.approvals.outcomes[&Outcome::Denied].count, 2);
}

#[test]
fn a_resumed_conversation_costs_what_both_runs_cost() {
    for (name, cost) in [
        ("newest/resume.ndjson", 0.00106),
        ("2.1.62/resume.ndjson", 0.0007 + 0.000_625),
    ] {
        let report = report(name);
        assert_eq!(report.generations.len(), 2, "{name}");
        assert!(
            (report.cost.total.cost_usd - cost).abs() < 1e-9,
            "{name}: {:?}",
            report.cost
        );
    }
}

#[test]
fn every_recording_is_counted_to_its_last_line() {
    for version in ["newest", "2.1.62", "2.0.75"] {
        for entry in std::fs::read_dir(recording(version)).unwrap() {
            let path = entry.unwrap().path();
            let lines = std::fs::read_to_string(&path).unwrap().lines().count() as u64;
            let report = report(path.to_str().unwrap());
            assert_eq!(
                (report.records, report.damaged),
                (lines - 1, 0),
                "{}",
                path.display()
            );
            let by_type: u64 = report.types.iter().map(|row| row.count).sum();
            assert_eq!(by_type, report.records);
            let ended = report
                .generations
                .iter()
                .all(|run| run.end.words().starts_with("exit"));
            assert!(ended, "{}", path.display());
        }
    }
}

#[test]
fn names_that_an_agent_makes_up_do_not_fill_the_memory() {
    let mut tally = Tally::default();
    for seq in 0..(MOST_NAMES as u64 + 500) {
        let payload = format!(r#"{{"type":"made-up-{seq}"}}"#);
        let record = Record {
            seq,
            at: 0,
            kind: Kind::Agent,
            payload: payload.as_bytes(),
        };
        tally.record(1, &record);
    }
    let report = tally.report(Form::Plain, None, None);
    assert_eq!(report.types.len(), MOST_NAMES + 1);
    assert!(
        report
            .types
            .iter()
            .any(|row| row.name == "(others)" && row.count == 500)
    );
}
