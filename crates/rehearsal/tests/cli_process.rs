//! The scripted CLI as a process: what it says of itself, and the signals that end it. What a scenario makes it do wrong is
//! seen from outside by the hazards of the client.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

/// Everything that must come comes within this time.
const SOON: Duration = Duration::from_secs(20);

async fn soon<T>(what: &str, work: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(SOON, work).await;
    done.unwrap_or_else(|_| panic!("{what} did not come"))
}

/// The example that is built next to the tests, with nothing of the caller in its environment.
fn command(scenario: &str) -> Command {
    let mut command = Command::new(countersign_testkit::demand::example("play_scenario"));
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("COUNTERSIGN_SCENARIO_TEXT", scenario)
        .kill_on_drop(true);
    command
}

struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    /// Started, and told its first message.
    async fn in_turn(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let message = b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n";
        let stdin = child.stdin.as_mut().unwrap();
        stdin.write_all(message).await.unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    async fn until(&mut self, part: &str) {
        let found = async {
            while let Some(line) = self.lines.next_line().await.unwrap() {
                if line.contains(part) {
                    return true;
                }
            }
            false
        };
        assert!(soon(part, found).await, "the end came before {part}");
    }

    /// Sends the signal, and gives the exit code.
    async fn ended_by(&mut self, signal: Signal) -> Option<i32> {
        let pid = i32::try_from(self.child.id().unwrap()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
        soon("the end", self.child.wait()).await.unwrap().code()
    }
}

#[tokio::test]
async fn it_tells_the_version_of_the_scenario_and_what_is_wrong_with_one() {
    for (scenario, version) in [("", "2.1.327"), ("version 2.0.75", "2.0.75")] {
        let output = command(scenario).arg("--version").output();
        let output = soon("the version", output).await.unwrap();
        let expected = format!("{version} (Claude Code)\n");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
    }
    let output = command("turn\n  sya \"x\"").output();
    let output = soon("the mistake", output).await.unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).unwrap();
    let wrong = told.contains("line 2, column 3") && told.contains("did you mean `say`?");
    assert!(wrong, "{told}");
}

#[tokio::test]
async fn a_signal_ends_it_as_it_ends_the_cli() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 0)] {
        let mut command = command("turn\n  say \"x\"\n  wait forever");
        let mut process = Process::in_turn(&mut command).await;
        process.until("\"assistant\"").await;
        assert_eq!(process.ended_by(signal).await, Some(code), "{signal:?}");
    }
    // Also when nobody reads.
    let mut process = Process::in_turn(&mut command("turn\n  flood 1000000")).await;
    process.until("\"system\"").await;
    assert_eq!(process.ended_by(Signal::TERM).await, Some(143));
}

#[tokio::test]
async fn a_signal_that_ends_it_ends_the_command_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let mut command = command(
        "turn\n  tool Bash {\"command\":\"sleep 20 & echo $! > pid.tmp; mv pid.tmp pid; wait\"}",
    );
    command
        .args(["--allowedTools", "Bash"])
        .current_dir(folder.path());
    let mut process = Process::in_turn(&mut command).await;
    let until = async |what: &str, holds: &dyn Fn() -> bool| {
        let held = async {
            while !holds() {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        soon(what, held).await;
    };
    until("the start of the command", &|| file.exists()).await;
    let pid = std::fs::read_to_string(&file).unwrap();
    let pid = Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    assert_eq!(process.ended_by(Signal::TERM).await, Some(143));
    // Ended, whether or not anybody has taken note of it yet.
    until("the end of the command", &|| {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        test_kill_process(pid).is_err() || stat.is_ok_and(|stat| stat.contains(") Z"))
    })
    .await;
}
