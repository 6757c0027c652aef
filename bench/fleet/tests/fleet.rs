//! A small fleet in full: ten agents at once, all streaming, every call decided by a rule.
//!
//! Runs the benchmark's own program, which fails when anything is lost, runs twice or is asked of a person. What is bounded
//! here is what does not depend on the machine: memory for each session, and work for each record.

#![cfg(target_os = "linux")]

use std::process::Command;

use serde_json::Value;

fn run(args: &[&str], data: &std::path::Path) -> (bool, Vec<Value>, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_countersign-bench-fleet"))
        .args(args)
        .arg(data)
        .output()
        .expect("the bench starts");
    let told = String::from_utf8_lossy(&done.stdout).into_owned();
    let lines = told
        .lines()
        .map(|line| serde_json::from_str(line).expect("one JSON object a line"));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    (done.status.success(), lines.collect(), said)
}

fn figure(lines: &[Value], agents: u64, part: &str, case: &str, name: &str) -> f64 {
    let line = lines
        .iter()
        .find(|line| line["agents"] == agents && line["part"] == part && line["case"] == case);
    let line = line.unwrap_or_else(|| panic!("no {part}, {case} of {agents}: {lines:#?}"));
    line[name]
        .as_f64()
        .unwrap_or_else(|| panic!("no {name}: {line}"))
}

#[test]
fn ten_agents_at_once_lose_nothing_and_cost_little_each() {
    let data = tempfile::tempdir().unwrap();
    let (ok, lines, said) = run(&["run", "--quick", "--agents", "2,10"], data.path());
    assert!(ok, "{said}");
    let at_rest = |agents| {
        figure(
            &lines,
            agents,
            "memory",
            "at rest behind it",
            "anonymous_kib",
        )
    };
    // What the first sessions bring once, threads and caches, is in both. Far below what one buffer too many would take.
    let each = (at_rest(10) - at_rest(2)) / 8.0;
    assert!(each < 600.0, "{each} KiB for a session\n{lines:#?}");
    let of = |name| figure(&lines, 10, "work", "streaming", name);
    let records = of("records");
    assert!(records > 4_000.0, "{lines:#?}");
    // Deltas cost no transaction each, and no read each.
    assert!(of("transactions") < records / 4.0, "{lines:#?}");
    assert!(of("reads") < records * 2.0, "{lines:#?}");
    let left: Vec<_> = std::fs::read_dir(data.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_fleet_of_nobody_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let (ok, lines, said) = run(&["run", "--agents", "0"], data.path());
    assert!(!ok && lines.is_empty(), "{said}");
    assert!(said.contains("0 is no number of agents"), "{said}");
}
