//! Every misbehaviour that the documentation names, seen by a host from outside of the process.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod begins;
mod ends;
mod process;

use countersign_rehearsal::cli::WORDS;
use process::Process;
use serde_json::Value;

const DOC: &str = include_str!("../../../../docs/scenario.md");

#[test]
fn the_documentation_names_each_in_words_of_the_format() {
    let table = DOC.split("By name:").nth(1).unwrap();
    let rows: Vec<&str> = table
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(1)
        .collect();
    let rows: Vec<&str> = rows
        .into_iter()
        .take_while(|row| row.contains('`'))
        .collect();
    assert!(rows.len() > 25, "{}", rows.len());
    for row in rows {
        let how = row.split('|').nth(2).unwrap();
        for line in how.split('`').skip(1).step_by(2) {
            let name = line.split_whitespace().next().unwrap();
            assert!(
                WORDS.iter().any(|word| word.name == name),
                "`{name}` in {row}"
            );
        }
    }
}

fn text(line: &[u8]) -> &str {
    std::str::from_utf8(line).unwrap()
}

#[test]
fn garbage_lines_stand_between_good_ones() {
    let mut process = Process::in_turn(
        "turn\n  say \"one\"\n  noise \"Warning: no JSON\"\n  raw {\"type\":\"assistant\", oops # x\n  rawbytes \"\\xff\\xfe\\x00\\n\"\n  raw \n  say \"two\"",
    );
    process.until("assistant");
    assert_eq!(text(&process.line().unwrap()), "Warning: no JSON");
    assert_eq!(
        text(&process.line().unwrap()),
        "{\"type\":\"assistant\", oops # x"
    );
    assert_eq!(process.line().unwrap(), b"\xff\xfe\x00");
    assert_eq!(process.line().unwrap(), b"");
    assert_eq!(
        process.until("assistant")["message"]["content"][0]["text"],
        "two"
    );
    assert_eq!(process.until("result")["subtype"], "success");
}

#[test]
fn half_a_line_is_finished_later() {
    let mut process = Process::in_turn(
        "default init off\nturn\n  partial \"{\\\"type\\\":\\\"sys\"\n  wait control mcp_status\n  rawbytes \"tem\\\"}\\n\"",
    );
    process.until_bytes(b"{\"type\":\"sys");
    assert!(process.is_silent());
    process.request("go", "mcp_status");
    // The reply comes into the middle of the line: whoever writes half lines cannot be helped.
    process.until_bytes(b"tem\"}\n");
    process.until("result");
}

#[test]
fn half_a_line_is_never_finished() {
    let mut process =
        Process::in_turn("turn\n  partial \"{\\\"type\\\":\\\"assistant\\\",\"\n  exit 1");
    assert!(process.rest().ends_with(b"\n{\"type\":\"assistant\","));
    assert_eq!(process.status().code(), Some(1));
}

#[test]
fn a_line_can_be_huge() {
    let mut process = Process::in_turn("turn\n  big 20M");
    let line = process.until("assistant");
    let said = line["message"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(said.len(), 20 * 1024 * 1024);
    process.until("result");
}

#[test]
fn types_blocks_and_fields_can_be_unknown() {
    let mut process = Process::in_turn(
        "turn\n  emit {\"type\":\"from_the_future\"}\n  block {\"type\":\"hologram\"}\n  say \"x\" with {\"novel\":1}",
    );
    assert!(process.until("from_the_future")["uuid"].is_string());
    assert_eq!(
        process.until("assistant")["message"]["content"][0]["type"],
        "hologram"
    );
    assert_eq!(process.until("assistant")["novel"], 1);
    process.until("result");
}

#[test]
fn results_can_be_lost_come_twice_or_say_less() {
    let text = "turn\n  lose result\nturn\n  result success with {\"result\":\"\",\"is_error\":true}\n\
                turn\n  result without result\nturn\n  result\n  result error_during_execution\n\
                turn\n  fail 529 \"Overloaded\"\nturn\n  say \"back\"";
    let mut process = Process::in_turn(text);
    process.user("again");
    let result = process.until("result");
    assert_eq!(
        (&result["result"], &result["is_error"]),
        (&"".into(), &true.into())
    );
    process.user("again");
    assert_eq!(process.until("result").get("result"), None::<&Value>);
    process.user("again");
    assert_eq!(process.until("result")["subtype"], "success");
    assert_eq!(process.until("result")["subtype"], "error_during_execution");
    process.user("again");
    let result = process.until("result");
    let told = [
        &result["subtype"],
        &result["is_error"],
        &result["api_error_status"],
    ];
    assert_eq!(told, [&Value::from("success"), &true.into(), &529.into()]);
    process.user("again");
    assert_eq!(process.until("result")["result"], "back");
}

#[test]
fn stdout_can_be_flooded() {
    let mut process = Process::in_turn("turn\n  flood 100000");
    for number in 1..=100_000_u32 {
        let line = process.until("stream_event");
        assert_eq!(line["event"]["delta"]["text"], number.to_string());
    }
    process.until("result");
}

#[test]
fn stderr_can_be_flooded() {
    let mut process = Process::in_turn("turn\n  stderr flood 4M\n  say \"after it\"");
    let mut stderr = process.stderr.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        std::io::Read::read_to_end(&mut stderr, &mut all).unwrap();
        all.len()
    });
    assert_eq!(process.until("result")["result"], "after it");
    process.stdin = None;
    assert_eq!(process.status().code(), Some(0));
    assert!(reader.join().unwrap() >= 4 * 1024 * 1024);
}

#[test]
fn a_flood_on_stderr_that_nobody_reads_stops_everything() {
    let mut process = Process::in_turn("turn\n  say \"x\"\n  stderr flood 4M\n  say \"after it\"");
    process.until("assistant");
    assert!(process.is_silent());
    drop(process.stderr.take());
    assert_eq!(process.until("result")["result"], "after it");
}
