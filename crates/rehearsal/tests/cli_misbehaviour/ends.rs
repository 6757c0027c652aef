//! Stalls, exits, signals, and children that stay behind.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getsid, kill_process, test_kill_process};

use super::process::Process;

#[test]
fn it_can_stall_without_a_word() {
    let mut process = Process::in_turn("turn\n  say \"x\"\n  wait forever");
    process.until("assistant");
    assert!(process.is_silent() && process.is_running());
    process.signal(Signal::TERM);
    assert_eq!(process.status().code(), Some(143));
}

#[test]
fn it_can_exit_before_and_during_a_turn() {
    let mut early = Process::start("start\n  stderr \"no such model\"\n  exit 3");
    assert!(early.rest().is_empty());
    assert_eq!(early.status().code(), Some(3));
    let mut late = Process::in_turn("turn\n  say \"x\"\n  exit 7");
    late.until("assistant");
    assert!(late.rest().is_empty(), "no result");
    assert_eq!(late.status().code(), Some(7));
}

#[test]
fn it_can_die_by_a_signal() {
    let mut process = Process::in_turn("turn\n  say \"x\"\n  crash");
    assert!(process.rest().ends_with(b"}\n"));
    assert_eq!(process.status().signal(), Some(9));
    let mut cut = Process::in_turn("turn\n  crash mid-line");
    assert!(!cut.rest().ends_with(b"\n"));
    assert_eq!(cut.status().signal(), Some(9));
}

#[test]
fn it_can_ignore_what_ends_others() {
    let signals = [
        ("sigint", Signal::INT),
        ("sigterm", Signal::TERM),
        ("sighup", Signal::HUP),
    ];
    for (name, signal) in signals {
        let mut process = Process::in_turn(&format!(
            "ignore {name}\nturn\n  say \"x\"\n  wait control mcp_status\n  say \"y\"\n  wait forever"
        ));
        process.until("assistant");
        process.signal(signal);
        process.request("go", "mcp_status");
        let said = process.until("assistant");
        assert_eq!(said["message"]["content"][0]["text"], "y", "{name}");
        assert!(process.is_silent() && process.is_running(), "{name}");
    }
}

#[test]
fn it_can_ignore_the_end_of_its_input() {
    let mut process = Process::in_turn("ignore eof\nturn\n  say \"x\"");
    process.until("result");
    process.stdin = None;
    assert!(process.is_silent() && process.is_running());
}

#[test]
fn it_can_take_its_time_to_end() {
    let mut process = Process::in_turn(
        "turn\n  say \"x\"\n  wait forever\non sigterm\n  stderr \"one moment\"\n  wait 200ms\n  exit 143",
    );
    process.until("assistant");
    process.signal(Signal::TERM);
    assert!(process.is_running());
    assert_eq!(process.status().code(), Some(143));
}

/// Ends a child that was left behind, whatever the test found.
struct Left(Pid);

impl Drop for Left {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::KILL);
    }
}

fn leave_behind(spawn: &str) -> (Process, Left) {
    let mut process = Process::in_turn(&format!(
        "turn\n  {spawn} \"echo $$; exec sleep 60\"\n  wait user\n  exit 0"
    ));
    process.until("system");
    let pid = String::from_utf8(process.line().unwrap()).unwrap();
    let left = Left(Pid::from_raw(pid.parse().unwrap()).unwrap());
    process.user("end");
    assert_eq!(process.status().code(), Some(0));
    (process, left)
}

#[test]
fn a_child_can_hold_the_pipes() {
    let (mut process, left) = leave_behind("spawn");
    assert!(process.is_silent(), "stdout is still open");
    drop(left);
    process.rest();
}

#[test]
fn a_child_can_go_on_in_a_session_of_its_own() {
    let (mut process, left) = leave_behind("spawn detached");
    assert!(test_kill_process(left.0).is_ok());
    assert_eq!(getsid(Some(left.0)).unwrap(), left.0);
    drop(left);
    process.rest();
}

#[test]
fn stdin_can_be_read_slowly() {
    let mut process = Process::in_turn("turn\n  read slowly 64K\n  say \"slow\"\n  wait forever");
    process.until("assistant");
    let mut stdin = process.stdin.take().unwrap();
    let (sender, written) = mpsc::channel();
    std::thread::spawn(move || {
        let line = format!("{{\"type\":\"x\",\"pad\":\"{}\"}}\n", "x".repeat(32 * 1024));
        for number in 0.. {
            if stdin.write_all(line.as_bytes()).is_err() || sender.send(number).is_err() {
                return;
            }
        }
    });
    // Two lines a second: what fits into pipe and buffer goes at once, the rest has to wait, and some of it gets through.
    let first = Instant::now();
    while written.recv_timeout(Duration::from_millis(300)).is_ok() {
        assert!(
            first.elapsed() < Duration::from_secs(20),
            "it reads as fast as it can"
        );
    }
    assert!(
        written.recv_timeout(Duration::from_secs(20)).is_ok(),
        "it reads nothing"
    );
    process.signal(Signal::KILL);
}

#[test]
fn stdin_can_stay_unread() {
    let mut process = Process::in_turn("turn\n  stop reading\n  say \"deaf\"\n  wait forever");
    process.until("assistant");
    let mut stdin = process.stdin.take().unwrap();
    let (sender, written) = mpsc::channel();
    std::thread::spawn(move || {
        let line = format!("{{\"type\":\"x\",\"pad\":\"{}\"}}\n", "x".repeat(1024));
        let all = (0..2048).try_for_each(|_| stdin.write_all(line.as_bytes()));
        let _ = sender.send(all.is_ok());
    });
    assert!(
        written.recv_timeout(Duration::from_millis(300)).is_err(),
        "the pipe is full"
    );
    process.signal(Signal::KILL);
    assert_eq!(written.recv_timeout(Duration::from_secs(20)), Ok(false));
}

#[test]
fn stdout_can_be_closed_while_it_goes_on() {
    let mut process = Process::in_turn("turn\n  close stdout\n  wait user\n  exit 5");
    process.rest();
    assert!(process.is_running());
    process.user("go on");
    assert_eq!(process.status().code(), Some(5));
}
