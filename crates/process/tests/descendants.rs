//! A process that takes in orphans ends everything that ever came from it: real processes, in a process of their own.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use countersign_process::{become_subreaper, descendants_of, end_descendants};

/// Names the role in which this test program is started again: what it ends must not be other tests' children.
const ROLE: &str = "COUNTERSIGN_TEST_ROLE";

fn in_a_process_of_its_own(role: &str) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", role, "--ignored", "--nocapture"])
        .env(ROLE, role)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

/// Starts the script and waits until so many processes descend from this one.
#[expect(clippy::zombie_processes, reason = "what is tested reaps it")]
fn start(script: &str, count: usize) {
    become_subreaper().unwrap();
    Command::new("/bin/sh")
        .args(["-c", script])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    while descendants_of(std::process::id()).len() < count {
        assert!(Instant::now() < deadline, "{count} processes");
        std::thread::yield_now();
    }
}

fn end_all() -> usize {
    let swept = end_descendants(Instant::now() + Duration::from_secs(10));
    assert_eq!(swept.survivors, []);
    assert_eq!(descendants_of(std::process::id()), []);
    let left = rustix::process::wait(rustix::process::WaitOptions::NOHANG);
    assert_eq!(left.unwrap_err(), rustix::io::Errno::CHILD);
    swept.ended.len()
}

#[test]
fn orphans_in_sessions_of_their_own_are_ended_whatever_they_ignore() {
    assert!(in_a_process_of_its_own("ends_orphans").contains("ended=4"));
}

#[test]
#[ignore = "started by the test above"]
fn ends_orphans() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let orphan = "setsid env -i /bin/sh -c \"trap '' TERM HUP; sleep 300 & wait\"";
    start(&format!("({orphan} &) ; ({orphan} &) ; exit 0"), 4);
    println!("ended={}", end_all());
}

#[test]
fn a_tree_that_keeps_forking_is_ended() {
    in_a_process_of_its_own("ends_forkers");
}

#[test]
#[ignore = "started by the test above"]
fn ends_forkers() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    // Each round leaves an orphan that goes on with the next, 500 rounds at most.
    let script = r#"round='[ $1 -gt 0 ] || exit; sleep 0.01
            setsid sh -c "$2" sh $(($1 - 1)) "$2" & setsid sleep 20 & exit 0'
        exec sh -c "$round" sh 500 "$round""#;
    start(script, 8);
    assert!(end_all() >= 8);
}

#[test]
fn with_nobody_there_nothing_is_waited_for() {
    in_a_process_of_its_own("ends_nobody");
}

#[test]
#[ignore = "started by the test above"]
fn ends_nobody() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let begun = Instant::now();
    assert_eq!(end_all(), 0);
    assert!(begun.elapsed() < Duration::from_secs(5));
}
