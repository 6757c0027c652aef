//! The command as people and scripts meet it: output, exit codes, errors.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The binary, with nothing of the caller's environment.
fn countersign(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
    command.env_clear().args(arguments).stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `rehearse model` with a script.
fn model(script: &Path, flags: &[&str]) -> Command {
    let command = ["rehearse", "model", "--script", script.to_str().unwrap()];
    countersign(&[&command, flags].concat())
}

fn hello() -> PathBuf {
    root().join("crates/rehearsal/scripts/hello.model")
}

fn check(input: &str, flags: &[&str]) -> Output {
    let mut child = countersign(&[&["wire", "check", "-"], flags].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn its_help_says_what_can_be_tried() {
    let output = countersign(&["--help"]).output().unwrap();
    assert!(output.status.success());
    let overview = text(&output.stdout);
    for command in [
        " run ",
        " policy explain ",
        " wire check ",
        " rehearse cli ",
        " rehearse model ",
    ] {
        let command = format!("      countersign{command}");
        assert!(overview.contains(&command), "{overview}");
    }
    // What it tells people to type must exist.
    for file in overview
        .split_whitespace()
        .map(|word| word.trim_matches('\''))
        .filter(|word| word.contains('/') && word.contains('.'))
    {
        assert!(root().join(file).exists(), "{file}");
    }
}

#[test]
fn checking_prints_a_table_for_people() {
    let output = check(
        "{\"type\":\"keep_alive\"}\n{\"type\":\"keep_alive\",\"shiny\":1}\n{\"type\":\"tomorrow\"}\nnonsense\n",
        &[],
    );
    insta::assert_snapshot!(text(&output.stdout), @r"
    2  keep_alive
    1  tomorrow

    unknown type   tomorrow
    unknown field  keep_alive: shiny
    malformed      line 4: not JSON at column 2: expected ident
    4 lines, 2 unknown, 1 malformed, round trip lossless
    ");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn of_lines_that_are_all_malformed_no_round_trip_is_claimed() {
    let output = check("nonsense\n", &[]);
    let table = text(&output.stdout);
    assert!(
        table.ends_with("1 line, 0 unknown, 1 malformed, round trip not tried\n"),
        "{table}"
    );
}

#[test]
fn checking_prints_one_json_object_for_scripts() {
    let output = check("{\"type\":\"tomorrow\"}\n", &["--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let keys: Vec<&String> = report.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "lines",
            "lossless",
            "malformed",
            "types",
            "unknown",
            "unknown_fields"
        ]
    );
    assert_eq!(report["unknown"], serde_json::json!(["tomorrow"]));
    assert_eq!(output.status.code(), Some(0), "unknown is not malformed");
}

#[test]
fn every_recording_of_the_current_cli_checks_clean() {
    let mut count = 0;
    for file in std::fs::read_dir(root().join("fixtures/wire/newest")).unwrap() {
        let path = file.unwrap().path();
        let output = countersign(&["wire", "check", "--json", path.to_str().unwrap()])
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(output.status.success(), "{report}");
        assert_eq!(report["lossless"], true, "{path:?}");
        count += 1;
    }
    assert!(count > 20, "{count} recordings");
}

#[test]
fn a_file_that_is_not_there_is_an_error_with_a_next_step() {
    let output = countersign(&["wire", "check", "no/such/file"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert!(
        error.contains("no/such/file") && error.contains("- for standard input"),
        "{error}"
    );
}

#[test]
fn a_reader_that_stops_reading_is_no_error() {
    let mut child = countersign(&["wire", "check", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"{\"type\":\"keep_alive\"}\n")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), text(&output.stderr)),
        (Some(0), String::new())
    );
}

#[test]
fn the_scripted_model_prints_its_address_serves_and_ends_on_request() {
    let mut child = model(&hello(), &["--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    let address = ready["base_url"]
        .as_str()
        .unwrap()
        .strip_prefix("http://")
        .unwrap();

    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .write_all(b"GET /nowhere HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");

    let killed = Command::new("kill")
        .arg(child.id().to_string())
        .status()
        .unwrap();
    assert!(killed.success());
    let mut report = String::new();
    out.read_to_string(&mut report).unwrap();
    assert!(child.wait().unwrap().success());
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["elsewhere"], serde_json::json!(["GET /nowhere"]));
}

#[test]
fn the_scripted_model_refuses_to_listen_beyond_loopback() {
    let output = model(&hello(), &["--listen", "0.0.0.0:0"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("loopback"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_broken_script_is_named_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("broken.model");
    std::fs::write(&script, "reply\n  sing \"la\"\n").unwrap();
    let output = model(&script, &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert!(
        error.contains("broken.model") && error.contains('2'),
        "{error}"
    );
}

#[test]
fn a_script_without_a_reply_is_warned_about() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("empty.model");
    std::fs::write(&script, "# nothing yet\n").unwrap();
    let output = model(&script, &["--listen", "0.0.0.0:0"]).output().unwrap();
    assert!(text(&output.stderr).contains("warning: the script has no reply"));
}
