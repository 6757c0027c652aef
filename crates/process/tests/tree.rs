//! What a shell can leave behind, found and ended: real processes throughout.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use countersign_process::{Marker, Process, Signal, Tree, die_with_parent, lasting};

static NEXT: AtomicU64 = AtomicU64::new(0);

struct Shell {
    child: Child,
    stdout: BufReader<ChildStdout>,
    tree: Tree,
}

impl Shell {
    /// Starts a script with a marker of its own and waits until it says `ready`.
    fn start(script: &str) -> Shell {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let marker = Marker::new(format!("{:08x}{number:08x}", std::process::id())).unwrap();
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", script])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env(Marker::NAME, marker.value())
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        die_with_parent(&mut command);
        let mut child = lasting::run(move || command.spawn().unwrap()).unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        let tree = Tree::new(child.id(), marker);
        Shell {
            child,
            stdout,
            tree,
        }
    }

    /// Waits until so many processes of that name belong to the tree.
    fn until(&self, command: &str, count: usize) -> Vec<Process> {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let mut members = self.tree.members();
            members.retain(|one| one.command == command);
            if members.len() == count {
                return members;
            }
            assert!(Instant::now() < deadline, "{command}: {members:?}");
            std::thread::yield_now();
        }
    }

    fn kill_all(&self) -> Vec<String> {
        let swept = self.tree.kill_all(Instant::now() + Duration::from_secs(10));
        assert_eq!(swept.survivors, []);
        assert_eq!(self.tree.members(), []);
        let mut names: Vec<_> = swept.ended.into_iter().map(|one| one.command).collect();
        names.sort();
        names
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        self.tree.kill_all(Instant::now() + Duration::from_secs(5));
        let _ = self.child.wait();
    }
}

#[test]
fn children_in_sessions_of_their_own_are_ended_with_the_root() {
    let mut shell = Shell::start("setsid sleep 300 & setsid sleep 300 & echo ready; wait");
    shell.until("sleep", 2);
    assert_eq!(shell.kill_all(), ["sh", "sleep", "sleep"]);
    assert_eq!(shell.child.wait().unwrap().signal(), Some(9));
}

#[test]
fn an_orphan_in_its_own_session_is_found_by_its_marker_after_the_root_is_reaped() {
    let mut shell = Shell::start("(setsid sleep 300 &) ; echo ready");
    assert!(shell.child.wait().unwrap().success());
    shell.until("sleep", 1);
    assert_eq!(shell.kill_all(), ["sleep"]);
}

#[test]
fn who_dropped_the_marker_is_found_by_descent() {
    let shell = Shell::start("env -i /bin/sleep 300 & echo ready; wait");
    shell.until("sleep", 1);
    assert_eq!(shell.kill_all(), ["sh", "sleep"]);
}

#[test]
fn an_orphan_that_dropped_the_marker_is_found_by_its_group() {
    let shell = Shell::start("(env -i /bin/sleep 300 &) ; echo ready; exec tail -f /dev/null");
    shell.until("sleep", 1);
    shell.until("tail", 1);
    assert_eq!(shell.kill_all(), ["sleep", "tail"]);
}

#[test]
fn who_ignores_signals_and_holds_the_pipe_is_ended_and_the_pipe_closes() {
    let script =
        "trap '' TERM INT HUP; setsid sh -c 'sleep 300' & echo ready; while :; do wait; done";
    let mut shell = Shell::start(script);
    shell.until("sleep", 1);
    shell.tree.signal_all(Signal::Terminate);
    shell.kill_all();
    let mut rest = String::new();
    assert_eq!(shell.stdout.read_line(&mut rest).unwrap(), 0);
}

#[test]
fn a_tree_that_keeps_forking_is_ended() {
    // Each round leaves an orphan in a session of its own that goes on with the next, 500 rounds at most.
    let script = r#"round='[ $1 -gt 0 ] || exit; sleep 0.01
            setsid sh -c "$2" sh $(($1 - 1)) "$2" & setsid sleep 20 & exit 0'
        setsid sh -c "$round" sh 500 "$round" &
        echo ready; wait; exec sleep 20"#;
    let shell = Shell::start(script);
    let deadline = Instant::now() + Duration::from_secs(10);
    while shell.tree.members().len() < 8 {
        assert!(Instant::now() < deadline, "{:?}", shell.tree.members());
        std::thread::yield_now();
    }
    assert!(shell.kill_all().len() >= 8);
}

#[test]
fn a_signal_to_all_reaches_each_member_and_names_it() {
    let mut shell = Shell::start("setsid sleep 300 & echo ready; wait");
    shell.until("sleep", 1);
    let told = shell.tree.signal_all(Signal::Terminate);
    assert_eq!(told.len(), 2);
    assert_eq!(shell.child.wait().unwrap().signal(), Some(15));
    shell.until("sleep", 0);
    assert_eq!(shell.kill_all(), [""; 0]);
}

#[test]
fn a_root_that_was_reaped_is_not_signalled() {
    let mut shell = Shell::start("echo ready");
    assert!(shell.child.wait().unwrap().success());
    assert!(!shell.tree.signal_root(Signal::Terminate));
}

#[test]
fn a_neighbour_with_another_marker_is_not_touched() {
    let mut neighbour = Shell::start("echo ready; read line; exec sleep 300");
    let shell = Shell::start("setsid sleep 300 & echo ready; wait");
    shell.until("sleep", 1);
    shell.kill_all();
    // Its stdin is empty, so it goes on to sleep: it still runs.
    neighbour.until("sleep", 1);
    assert!(neighbour.child.try_wait().unwrap().is_none());
}
