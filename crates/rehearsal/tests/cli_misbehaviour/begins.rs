//! How it is started: arguments, variables, and a scenario with a mistake in it.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, test_kill_process};

use super::process::{Process, command};

#[test]
fn it_tells_the_version_of_the_scenario_and_what_is_wrong_with_one() {
    let said = |text: &str, arguments: &[&str]| {
        let output = command(text).args(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    };
    let (_, version, _) = said("", &["--verbose", "--version"]);
    assert_eq!(version, "2.1.327 (Claude Code)\n");
    let (_, version, _) = said("version 2.0.75", &["--version"]);
    assert_eq!(version, "2.0.75 (Claude Code)\n");
    let (code, _, stderr) = said("turn\n  sya \"x\"", &[]);
    assert_eq!(code, Some(2));
    let wrong = stderr.contains("line 2, column 3") && stderr.contains("did you mean `say`?");
    assert!(wrong, "{stderr}");
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
    process.user("hi");
    process.until("result");
    process.stdin = None;
    assert_eq!(process.status().code(), Some(0));
    let read: serde_json::Value = serde_json::from_slice(&std::fs::read(log).unwrap()).unwrap();
    assert_eq!(read["message"]["content"], "hi");
    let note: serde_json::Value = serde_json::from_slice(&std::fs::read(argv).unwrap()).unwrap();
    assert_eq!(note["argv"][1], "--model");
    assert_eq!(note["env"]["COUNTERSIGN_SCENARIO_TEXT"], "");
    assert_eq!(note["pid"], process.pid());
}

#[test]
fn a_signal_ends_it_as_it_ends_the_cli() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 0)] {
        let mut process = Process::in_turn("turn\n  say \"x\"\n  wait forever");
        process.until("assistant");
        process.signal(signal);
        assert_eq!(process.status().code(), Some(code), "{signal:?}");
    }
    // Also when nobody reads.
    let mut process = Process::in_turn("turn\n  flood 1000000");
    process.until("system");
    process.signal(Signal::TERM);
    assert_eq!(process.status().code(), Some(143));
}

#[test]
fn a_signal_that_ends_it_ends_the_command_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        "turn\n  tool Bash {\"command\":\"echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 20\"}";
    let mut command = command(text);
    let mut process = Process::spawn(
        command
            .args(["--allowedTools", "Bash"])
            .current_dir(folder.path()),
    );
    process.user("hi");
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
    process.signal(Signal::TERM);
    assert_eq!(process.status().code(), Some(143));
    // Ended, whether or not anybody has taken note of it yet.
    until("the command outlived it", &|| {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        test_kill_process(pid).is_err() || stat.is_ok_and(|stat| stat.contains(") Z"))
    });
}
