//! A child ends when the process that started it is killed, and not when the thread that asked for it ends.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on should say where"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use countersign_process::{die_with_parent, lasting};

/// Names the role in which this test program is started again.
const ROLE: &str = "COUNTERSIGN_TEST_ROLE";

fn spawn_cat() -> Child {
    let mut command = Command::new("cat");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    die_with_parent(&mut command);
    command.spawn().unwrap()
}

fn lives(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(") ").unwrap().1.starts_with('Z'))
}

#[test]
fn a_child_outlives_the_thread_that_asked_for_it_but_not_the_one_that_forked_it() {
    let asking = || (spawn_cat(), lasting::run(spawn_cat).unwrap());
    let (mut forked, mut lasting) = std::thread::spawn(asking).join().unwrap();

    // Started by the thread itself, it got the signal at the thread's end. The other would have by now.
    assert_eq!(forked.wait().unwrap().signal(), Some(15));

    let mut stdin = lasting.stdin.take().unwrap();
    writeln!(stdin, "still here").unwrap();
    let mut answer = String::new();
    let mut stdout = BufReader::new(lasting.stdout.take().unwrap());
    stdout.read_line(&mut answer).unwrap();
    assert_eq!(answer, "still here\n");
    drop(stdin);
    assert!(lasting.wait().unwrap().success());
}

#[test]
fn a_child_ends_when_its_host_is_killed() {
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "host_with_a_child", "--ignored", "--nocapture"])
        .env(ROLE, "host")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(host.stdout.take().unwrap()).lines();
    let child: u32 = lines
        .map_while(Result::ok)
        .find_map(|line| line.rsplit_once("child=")?.1.parse().ok())
        .expect("the host says which child it has");
    assert!(lives(child));

    host.kill().unwrap();
    host.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    while lives(child) {
        assert!(Instant::now() < deadline, "the child outlived its host");
        std::thread::yield_now();
    }
}

#[test]
#[ignore = "the host of the test above, which starts it"]
fn host_with_a_child() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    // Its end of the pipes goes with the host too, so it must be one that does not mind.
    let mut child = lasting::run(|| {
        let mut command = Command::new("sleep");
        command
            .arg("300")
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        die_with_parent(&mut command);
        command.spawn().unwrap()
    })
    .unwrap();
    println!("child={}", child.id());
    // Until it is killed, or the test that started it is gone.
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn the_child_leads_a_process_group_of_its_own() {
    let mut child = lasting::run(spawn_cat).unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let group = stat
        .rsplit_once(") ")
        .unwrap()
        .1
        .split(' ')
        .nth(2)
        .unwrap()
        .to_owned();
    assert_eq!(group, child.id().to_string());
    drop(child.stdin.take());
    child.wait().unwrap();
}
