//! The scripted CLI as a process: exit codes, signals, children, and what it leaves for a test to look at.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// The example that `cargo test` builds next to the tests.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test
        .parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples/play_scenario");
    assert!(
        program.exists(),
        "{} is missing; `cargo build -p countersign-rehearsal --examples` builds it",
        program.display()
    );
    program
}

fn command(text: &str) -> Command {
    let mut command = Command::new(program());
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("COUNTERSIGN_SCENARIO_TEXT", text);
    command
}

struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Process {
    fn start(text: &str) -> Self {
        Self::spawn(&mut command(text))
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn user(&mut self) -> &mut Self {
        let line = b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n";
        self.stdin.as_mut().unwrap().write_all(line).unwrap();
        self
    }

    fn until(&mut self, part: &str) -> String {
        let mut line = String::new();
        while self.stdout.read_line(&mut line).unwrap() > 0 {
            if line.contains(part) {
                return line;
            }
            line.clear();
        }
        panic!("the end came before {part}");
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Waits for the end, which must come.
    fn status(&mut self) -> ExitStatus {
        let deadline = Instant::now() + Duration::from_secs(20);
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        self.child.kill().unwrap();
        panic!("it did not end");
    }

    fn close(&mut self) -> ExitStatus {
        self.stdin = None;
        self.status()
    }
}

#[test]
fn it_tells_the_version_of_the_scenario() {
    let said = |text: &str| {
        let output = command(text)
            .args(["--verbose", "--version"])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(said(""), "2.1.325 (Claude Code)\n");
    assert_eq!(said("version 2.0.75"), "2.0.75 (Claude Code)\n");
}

#[test]
fn it_plays_a_turn_and_ends_with_its_input() {
    let mut process = Process::start("turn\n  say \"Hello.\"");
    process.user().until("Hello.");
    process.until("\"result\"");
    assert_eq!(process.close().code(), Some(0));
}

#[test]
fn a_bad_scenario_is_told_on_stderr() {
    let output = command("turn\n  sya \"x\"").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("line 2, column 3") && stderr.contains("did you mean `say`?"),
        "{stderr}"
    );
}

#[test]
fn what_it_read_and_how_it_was_started_can_be_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let (log, argv) = (folder.path().join("log"), folder.path().join("argv"));
    let mut command = command("");
    command
        .env("COUNTERSIGN_SCENARIO_LOG", &log)
        .env("COUNTERSIGN_SCENARIO_ARGV", &argv);
    let mut process = Process::spawn(command.args(["--model", "opus"]).current_dir(folder.path()));
    process.user().until("\"result\"");
    process.close();
    let read = std::fs::read_to_string(log).unwrap();
    assert_eq!(
        read,
        "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n"
    );
    let note: serde_json::Value = serde_json::from_slice(&std::fs::read(argv).unwrap()).unwrap();
    assert_eq!(note["argv"][1], "--model");
    assert_eq!(note["env"]["COUNTERSIGN_SCENARIO_TEXT"], "");
    assert_eq!(note["pid"], process.child.id());
}

#[test]
fn an_exit_has_its_code_and_its_reason() {
    let mut process = Process::start("turn\n  stderr \"the reason\"\n  exit 7");
    process.user();
    assert_eq!(process.status().code(), Some(7));
    let mut stderr = String::new();
    process
        .child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut stderr)
        .unwrap();
    assert_eq!(stderr, "the reason\n");
}

#[test]
fn a_crash_is_a_death_by_signal_in_the_middle_of_a_line() {
    let mut process = Process::start("turn\n  crash mid-line");
    process.user();
    assert_eq!(process.status().signal(), Some(9));
    let mut text = String::new();
    process.stdout.read_to_string(&mut text).unwrap();
    assert!(!text.ends_with('\n') && text.contains("init"), "{text}");
}

#[test]
fn a_signal_ends_it_as_it_ends_the_cli() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 0)] {
        let mut process = Process::start("turn\n  say \"x\"\n  wait forever");
        process.user().until("assistant");
        kill_process(process.pid(), signal).unwrap();
        assert_eq!(process.status().code(), Some(code), "{signal:?}");
    }
}

#[test]
fn a_signal_ends_it_also_when_nobody_reads() {
    let mut process = Process::start("turn\n  flood 1000000");
    process.user().until("init");
    kill_process(process.pid(), Signal::TERM).unwrap();
    assert_eq!(process.status().code(), Some(143));
}

#[test]
fn it_can_ignore_the_end_of_input_and_a_signal() {
    let mut process = Process::start(
        "ignore eof\nignore sigterm\nturn\n  say \"x\"\n  wait 300ms\n  say \"still there\"",
    );
    process.user().until("assistant");
    process.stdin = None;
    kill_process(process.pid(), Signal::TERM).unwrap();
    process.until("still there");
    process.until("\"result\"");
    assert!(process.child.try_wait().unwrap().is_none());
    kill_process(process.pid(), Signal::KILL).unwrap();
    assert_eq!(process.status().signal(), Some(9));
}

#[test]
fn a_detached_child_outlives_it_and_holds_the_pipes() {
    let mut process =
        Process::start("turn\n  spawn detached \"echo $$; exec sleep 60\"\n  wait 10s\n  exit 0");
    process.user().until("init");
    let mut line = String::new();
    process.stdout.read_line(&mut line).unwrap();
    let pid = Pid::from_raw(line.trim().parse().unwrap()).unwrap();
    kill_process(process.pid(), Signal::KILL).unwrap();
    process.status();
    assert!(test_kill_process(pid).is_ok(), "the child is gone");
    // Our own session is not asked for: in a pid namespace its leader may be outside, and has no id.
    let session = rustix::process::getsid(Some(pid)).unwrap();
    assert_eq!(session, pid, "it does not lead a session of its own");
    kill_process(pid, Signal::KILL).unwrap();
    // Only now, with the last holder gone, the pipe ends.
    let mut rest = Vec::new();
    process.stdout.read_to_end(&mut rest).unwrap();
}

#[test]
fn a_closed_stdout_is_an_end_while_the_process_goes_on() {
    let mut process = Process::start("turn\n  close stdout\n  wait user\n  exit 5");
    process.user().until("init");
    let mut rest = Vec::new();
    process.stdout.read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty());
    assert!(process.child.try_wait().unwrap().is_none());
    process.user();
    assert_eq!(process.status().code(), Some(5));
}

#[test]
fn a_signal_that_ends_it_ends_the_command_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        "turn\n  tool Bash {\"command\":\"echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 20\"}";
    let mut process = Process::spawn(
        command(text)
            .args(["--allowedTools", "Bash"])
            .current_dir(folder.path()),
    );
    process.user().until("tool_use");
    let deadline = Instant::now() + Duration::from_secs(20);
    let until = |what: &str, holds: &dyn Fn() -> bool| {
        while !holds() {
            assert!(Instant::now() < deadline, "{what}");
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    let file = folder.path().join("pid");
    until("the command did not start", &|| file.exists());
    let pid = std::fs::read_to_string(&file).unwrap();
    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    assert!(test_kill_process(pid).is_ok());
    kill_process(process.pid(), Signal::TERM).unwrap();
    assert_eq!(process.status().code(), Some(143));
    until("the command outlived it", &|| is_gone(pid));
}

/// Ended, whether or not anybody has taken note of it yet.
fn is_gone(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    test_kill_process(pid).is_err() || stat.is_ok_and(|stat| stat.contains(") Z"))
}
