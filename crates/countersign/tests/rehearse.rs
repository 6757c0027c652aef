//! The scripted CLI as people and scripts meet it: `rehearse cli`, `install`, `scenarios`, `check`.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder to work in and another for a home, and nothing of the caller's environment.
struct Stage {
    root: TempDir,
}

impl Stage {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("home")).unwrap();
        std::fs::create_dir(root.path().join("project")).unwrap();
        Self { root }
    }

    fn project(&self) -> std::path::PathBuf {
        self.root.path().join("project")
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.root.path().join("home"))
            .current_dir(self.project())
            .args(arguments)
            .stdin(Stdio::null());
        command
    }

    fn countersign(&self, arguments: &[&str]) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_countersign"));
        self.command(program, arguments)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.countersign(arguments).output().unwrap()
    }

    /// `rehearse cli` with a scenario and arguments.
    fn play(&self, scenario: &str, arguments: &[&str]) -> Output {
        let own = ["rehearse", "cli"];
        self.countersign(&[&own, arguments].concat())
            .env("COUNTERSIGN_SCENARIO_TEXT", scenario)
            .output()
            .unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.project().join(name), text).unwrap();
    }
}

/// Exit code, stdout, stderr.
fn told(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn said(code: i32, stdout: &str, stderr: &str) -> (Option<i32>, String, String) {
    (Some(code), stdout.to_owned(), stderr.to_owned())
}

const HELLO: &str = "turn\n  say \"Hello there.\"\n";

#[test]
fn a_prompt_is_answered_in_each_output_format() {
    let stage = Stage::new();
    let text = stage.play(HELLO, &["-p", "hi"]);
    assert_eq!(told(&text), said(0, "Hello there.\n", ""));

    let json = stage.play(HELLO, &["-p", "--output-format", "json", "hi"]);
    let result: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(
        (&result["type"], &result["result"]),
        (&"result".into(), &"Hello there.".into())
    );

    let all = stage.play(HELLO, &["-p", "--output-format", "json", "--verbose", "hi"]);
    let messages: Vec<Value> = serde_json::from_slice(&all.stdout).unwrap();
    let types: Vec<&str> = messages
        .iter()
        .map(|message| message["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["system", "assistant", "result"]);

    let lines = stage.play(
        HELLO,
        &["-p", "--output-format", "stream-json", "--verbose", "hi"],
    );
    assert_eq!(
        lines.stdout.iter().filter(|byte| **byte == b'\n').count(),
        3
    );
    assert_eq!(lines.status.code(), Some(0));
}

#[test]
fn an_error_ends_with_code_1_and_its_own_words() {
    let stage = Stage::new();
    let scenario = "turn\n  result error_max_turns with {\"is_error\":true,\"errors\":[\"Reached maximum number of turns (2)\"]}\n";
    let output = stage.play(scenario, &["-p", "hi"]);
    assert_eq!(told(&output), said(1, "Error: Reached max turns (2)", ""));
}

#[test]
fn piped_text_is_part_of_the_prompt() {
    let stage = Stage::new();
    let mut child = stage
        .countersign(&["rehearse", "cli", "-p", "What is this?"])
        .env(
            "COUNTERSIGN_SCENARIO_TEXT",
            "turn\n  say \"You said: ${prompt}\"\n",
        )
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"a log\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"You said: What is this?\na log\n");
}

#[test]
fn nobody_who_says_nothing_is_waited_for() {
    let stage = Stage::new();
    let child = stage
        .countersign(&["rehearse", "cli", "-p", "hi"])
        .env("COUNTERSIGN_SCENARIO_TEXT", HELLO)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.unwrap();
    let open = child.stdin.take();
    let (code, stdout, stderr) = told(&child.wait_with_output().unwrap());
    assert_eq!((code, stdout.as_str()), (Some(0), "Hello there.\n"));
    assert!(
        stderr.starts_with("Warning: no stdin data received in 3s"),
        "{stderr}"
    );
    drop(open);
}

#[test]
fn lines_are_read_and_written_without_a_prompt() {
    let stage = Stage::new();
    let flags = [
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
    ];
    let mut child = stage
        .countersign(&[&["rehearse", "cli", "--scenario", "long"], flags.as_slice()].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let user = br#"{"type":"user","message":{"role":"user","content":"go"}}"#;
    stdin.write_all(user).unwrap();
    stdin.write_all(b"\n").unwrap();
    drop(stdin);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.count() > 100_000);
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_the_real_cli_refuses_is_refused_in_its_words() {
    let stage = Stage::new();
    for (arguments, stderr) in [
        (
            ["-p", "--nonsense", "x"].as_slice(),
            "error: unknown option '--nonsense'\n",
        ),
        (
            &["-p", "--output-format", "stream-json", "hi"],
            "Error: When using --print, --output-format=stream-json requires --verbose\n",
        ),
        (
            &["-p", "--session-id", "abc", "hi"],
            "Error: Invalid session ID. Must be a valid UUID.\n",
        ),
        (
            &[
                "-p",
                "--resume",
                "11111111-1111-4111-8111-111111111111",
                "hi",
            ],
            "No conversation found with session ID: 11111111-1111-4111-8111-111111111111\n",
        ),
        (
            &["-p"],
            "Error: Input must be provided either through stdin or as a prompt argument when using --print\n",
        ),
    ] {
        assert_eq!(
            told(&stage.play(HELLO, arguments)),
            said(1, "", stderr),
            "{arguments:?}"
        );
    }
}

#[test]
fn a_session_that_cannot_be_resumed_has_a_result_for_who_reads_lines() {
    let stage = Stage::new();
    let id = "11111111-1111-4111-8111-111111111111";
    let flags = [
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "--resume",
        id,
        "hi",
    ];
    let output = stage.play(HELLO, &flags);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["session_id"], id);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_session_is_resumed_by_its_id_and_by_being_the_newest() {
    let stage = Stage::new();
    let id = "11111111-1111-4111-8111-111111111111";
    let first = stage.play(HELLO, &["-p", "--session-id", id, "hi"]);
    assert_eq!(told(&first), said(0, "Hello there.\n", ""));
    let again = stage.play(HELLO, &["-p", "--session-id", id, "hi"]);
    let taken = format!("Error: Session ID {id} is already in use.\n");
    assert_eq!(told(&again), said(1, "", &taken));
    for flags in [["--resume", id].as_slice(), &["--continue"]] {
        let output = stage.play(
            HELLO,
            &[&["-p", "--output-format", "json"], flags, &["hi"]].concat(),
        );
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(result["session_id"], id, "{flags:?}");
    }
}

#[test]
fn its_own_options_come_first_and_everything_else_is_passed_on() {
    let stage = Stage::new();
    let version = stage.run(&["rehearse", "cli", "--cli-version", "2.0.75", "--version"]);
    assert_eq!(told(&version), said(0, "2.0.75 (Claude Code)\n", ""));
    // Behind the first word of the CLI's, even our own names are the CLI's.
    let theirs = stage.run(&["rehearse", "cli", "-p", "--scenario", "tour"]);
    assert!(
        told(&theirs)
            .2
            .starts_with("error: unknown option '--scenario'")
    );
    let help = told(&stage.run(&["rehearse", "cli", "--", "--help"]));
    assert!(
        help.1
            .starts_with("Usage: claude [options] [command] [prompt]\n"),
        "{}",
        help.1
    );
    let ours = told(&stage.run(&["rehearse", "cli", "--help"]));
    assert!(ours.1.contains("--model-script <FILE>"), "{}", ours.1);
}

#[test]
fn a_model_script_speaks_in_place_of_a_scenario() {
    let stage = Stage::new();
    stage.write("a.model", "reply always\n  say \"In ${place}.\"\n");
    let own = ["rehearse", "cli", "--model-script", "a.model"];
    let output = stage.run(&[&own, ["--var", "place=Vienna", "-p", "where?"].as_slice()].concat());
    assert_eq!(told(&output), said(0, "In Vienna.\n", ""));
    let (code, _, stderr) = told(&stage.run(&[&own, ["-p", "where?"].as_slice()].concat()));
    assert_eq!(code, Some(1));
    assert!(stderr.contains("place"), "{stderr}");
}

#[test]
fn an_unknown_scenario_is_answered_with_the_names() {
    let stage = Stage::new();
    let (code, _, stderr) =
        told(&stage.run(&["rehearse", "cli", "--scenario", "tuor", "-p", "hi"]));
    assert_eq!(code, Some(1));
    assert!(
        stderr.contains("tour, plan") && stderr.contains("./tuor.scenario"),
        "{stderr}"
    );
}

#[test]
fn the_command_line_and_the_input_are_left_for_a_test_to_look_at() {
    let stage = Stage::new();
    let (note, log) = (stage.project().join("note"), stage.project().join("log"));
    let output = stage
        .countersign(&["rehearse", "cli", "-p", "hi"])
        .env("COUNTERSIGN_SCENARIO_TEXT", HELLO)
        .env("COUNTERSIGN_SCENARIO_ARGV", &note)
        .env("COUNTERSIGN_SCENARIO_LOG", &log)
        .output();
    assert!(output.unwrap().status.success());
    let note: Value = serde_json::from_slice(&std::fs::read(note).unwrap()).unwrap();
    assert_eq!(note["argv"].as_array().unwrap()[1..], ["-p", "hi"]);
    let line: Value = serde_json::from_slice(&std::fs::read(log).unwrap()).unwrap();
    assert_eq!(line["message"]["content"], "hi");
}

#[test]
fn installed_as_claude_it_plays_what_it_was_told_unless_the_environment_says_otherwise() {
    let stage = Stage::new();
    stage.write("mine.scenario", "turn\n  say \"Mine.\"\n");
    let install = [
        "rehearse",
        "install",
        "bin",
        "--scenario",
        "mine.scenario",
        "--json",
    ];
    let report: Value = serde_json::from_slice(&stage.run(&install).stdout).unwrap();
    let claude = stage.project().join("bin/claude");
    assert_eq!(
        Path::new(report["path"].as_str().unwrap())
            .canonicalize()
            .unwrap(),
        claude.canonicalize().unwrap()
    );
    assert_eq!(
        claude.metadata().unwrap().permissions().mode() & 0o777,
        0o755
    );

    // From anywhere, and with arguments that a shell would take apart.
    let mut command = stage.command(&claude, &["-p", "what's  \"this\"?"]);
    let output = command.current_dir("/").output().unwrap();
    assert_eq!(told(&output), said(0, "Mine.\n", ""));
    let told_otherwise = stage
        .command(&claude, &["-p", "hi"])
        .env("COUNTERSIGN_SCENARIO_TEXT", HELLO)
        .output();
    assert_eq!(
        told(&told_otherwise.unwrap()),
        said(0, "Hello there.\n", "")
    );
    let version = stage.command(&claude, &["--version"]).output().unwrap();
    assert_eq!(told(&version), said(0, "2.1.327 (Claude Code)\n", ""));
}

#[test]
fn installing_replaces_its_own_file_and_no_other() {
    let stage = Stage::new();
    let install = |more: &[&str]| stage.run(&[&["rehearse", "install", "bin"], more].concat());
    assert!(install(&[]).status.success());
    assert!(install(&["--scenario", "tour"]).status.success());
    let claude = stage.project().join("bin/claude");
    assert!(
        std::fs::read_to_string(&claude)
            .unwrap()
            .contains("--usual 'tour'")
    );

    std::fs::write(&claude, "#!/bin/sh\nexec real-claude\n").unwrap();
    let (code, _, stderr) = told(&install(&[]));
    assert_eq!(code, Some(1));
    assert!(stderr.contains("--force"), "{stderr}");
    assert!(
        std::fs::read_to_string(&claude)
            .unwrap()
            .contains("real-claude")
    );
    assert!(install(&["--force"]).status.success());
    assert!(
        !std::fs::read_to_string(&claude)
            .unwrap()
            .contains("real-claude")
    );
}

#[test]
fn a_scenario_with_a_mistake_is_not_installed() {
    let stage = Stage::new();
    stage.write("bad.scenario", "turn\n  sya \"x\"\n");
    let (code, _, stderr) =
        told(&stage.run(&["rehearse", "install", "bin", "--scenario", "./bad.scenario"]));
    assert_eq!(code, Some(1));
    assert!(stderr.contains("did you mean `say`?"), "{stderr}");
    assert!(!stage.project().join("bin/claude").exists());
}

#[test]
fn the_scenarios_are_listed_and_each_can_be_played() {
    let stage = Stage::new();
    let scenarios: Vec<Value> =
        serde_json::from_slice(&stage.run(&["rehearse", "scenarios", "--json"]).stdout).unwrap();
    assert!(scenarios.len() >= 8);
    let table = told(&stage.run(&["rehearse", "scenarios"])).1;
    for scenario in &scenarios {
        let name = scenario["name"].as_str().unwrap();
        assert!(!scenario["summary"].as_str().unwrap().is_empty(), "{name}");
        assert!(table.lines().any(|line| line.starts_with(name)), "{table}");
        let version = stage.run(&["rehearse", "cli", "--scenario", name, "--version"]);
        assert!(version.status.success(), "{name}");
    }
}

#[test]
fn a_mistake_in_a_file_is_reported_with_its_place() {
    let stage = Stage::new();
    stage.write("good.scenario", HELLO);
    stage.write("bad.scenario", "turn\n  sya \"x\"\n");
    let (code, stdout, _) =
        told(&stage.run(&["rehearse", "check", "good.scenario", "bad.scenario"]));
    assert_eq!(code, Some(1));
    assert!(
        stdout.starts_with("good.scenario: can be played\nbad.scenario:line 2, column 3"),
        "{stdout}"
    );
    let json = told(&stage.run(&["rehearse", "check", "--json", "bad.scenario"])).1;
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&report["line"], &report["hint"]),
        (&2.into(), &"say".into())
    );
    // One that is not there does not keep the others from being checked.
    let files = ["rehearse", "check", "none.scenario", "good.scenario"];
    let (code, stdout, _) = told(&stage.run(&files));
    assert_eq!(code, Some(1));
    assert!(
        stdout.contains("none.scenario;") && stdout.contains("good.scenario: can be played"),
        "{stdout}"
    );
}

/// The text of one chapter of the tour, and the conversation it belongs to.
fn chapter(stage: &Stage, resume: Option<&str>, prompt: &str) -> (String, String) {
    let mut arguments = vec!["rehearse", "cli", "--scenario", "tour", "-p", prompt];
    arguments.extend(["--output-format", "stream-json", "--verbose"]);
    arguments.extend(resume.into_iter().flat_map(|id| ["--resume", id]));
    let output = stage.run(&arguments);
    let said = String::from_utf8(output.stdout).unwrap();
    let last: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    (said, last["session_id"].as_str().unwrap().to_owned())
}

#[test]
fn the_tour_goes_on_where_it_was_when_its_agent_is_started_again() {
    let stage = Stage::new();
    let (said, session) = chapter(&stage, None, "Show me around.");
    assert!(said.contains("Welcome!"), "{said}");
    for number in 2..=4 {
        let (said, _) = chapter(&stage, Some(&session), "next");
        assert!(said.contains(&format!("**Chapter {number}:")), "{said}");
    }
    // Killed while a question is open: that chapter is played again.
    let words = [
        "rehearse",
        "cli",
        "--scenario",
        "tour",
        "--verbose",
        "--resume",
        &session,
    ];
    let streams = [
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
    ];
    let mut killed = stage
        .countersign(&[&words[..], &streams, &["--permission-prompt-tool", "stdio"]].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let next = r#"{"type":"user","message":{"role":"user","content":"next"}}"#;
    writeln!(killed.stdin.as_mut().unwrap(), "{next}").unwrap();
    let mut lines = BufReader::new(killed.stdout.take().unwrap()).lines();
    let is_asked = lines.any(|line| line.unwrap().contains("can_use_tool"));
    assert!(is_asked, "chapter 5 asks something");
    killed.kill().unwrap();
    killed.wait().unwrap();
    for number in 5..=6 {
        let (said, _) = chapter(&stage, Some(&session), "next");
        assert!(said.contains(&format!("**Chapter {number}:")), "{said}");
    }
}
