//! The agent's process with real processes in the agent's place.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign_process::Marker;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::ladder::Ended;
use super::*;

const LONG: Duration = Duration::from_secs(10);

fn spec(program: impl Into<PathBuf>, args: &[&str]) -> SpawnSpec {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    SpawnSpec {
        program: program.into(),
        args: args.iter().map(Into::into).collect(),
        env: vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("SOME_API_KEY".into(), "not-a-key".into()),
        ],
        cwd: std::env::temp_dir(),
        marker: Marker::new(format!("a9e{:08x}{number:08x}", std::process::id())).unwrap(),
        on_stderr: None,
    }
}

/// Starts a script and waits until it says `ready`.
async fn shell(script: &str) -> (AgentProcess, Pipes) {
    let (process, mut pipes) = AgentProcess::spawn(spec("/bin/sh", &["-c", script])).unwrap();
    let mut word = [0; 6];
    timeout(LONG, pipes.stdout.read_exact(&mut word))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(&word, b"ready\n");
    (process, pipes)
}

/// Reads a line: the number of a process, most often.
#[cfg(target_os = "linux")]
async fn number(pipes: &mut Pipes) -> u32 {
    let mut line = String::new();
    loop {
        match timeout(LONG, pipes.stdout.read_u8())
            .await
            .unwrap()
            .unwrap()
        {
            b'\n' => return line.parse().unwrap(),
            byte => line.push(byte.into()),
        }
    }
}

#[cfg(target_os = "linux")]
fn lives(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(") ").unwrap().1.starts_with('Z'))
}

#[cfg(target_os = "linux")]
fn is_reaped(pid: u32) -> bool {
    !Path::new(&format!("/proc/{pid}")).exists()
}

/// Ends a script. The grace that is to run out is short, the one that is to be enough is long.
async fn ended(script: &str, close: Duration, term: Duration) -> Ended {
    let (mut process, pipes) = shell(script).await;
    let mut stdin = Some(pipes.stdin);
    let mut running = Running {
        process: &mut process,
        close: || drop(stdin.take()),
        background: false,
    };
    let graces = Graces {
        close,
        term,
        kill: LONG,
        ..Graces::default()
    };
    timeout(3 * LONG, end(&mut running, &graces)).await.unwrap()
}

#[tokio::test]
async fn pipes_carry_both_ways_and_the_end_of_stdin_ends_it() {
    let (mut process, mut pipes) = shell("echo ready; cat; echo $SOME_API_KEY $HOME; exit 7").await;
    pipes.stdin.write_all(b"hello\n").await.unwrap();
    drop(pipes.stdin);
    let mut said = String::new();
    pipes.stdout.read_to_string(&mut said).await.unwrap();
    // Of the environment it has what it was given and nothing else.
    assert_eq!(said, "hello\nnot-a-key\n");
    let exit = timeout(LONG, process.wait()).await.unwrap();
    assert_eq!((exit.code, exit.signal), (Some(7), None));
    assert_eq!(process.exit(), Some(exit));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_other_process_of_the_user_opens_a_stream_of_the_agent() {
    let (process, pipes) = shell("echo ready; exec cat").await;
    for stream in [0, 1, 2] {
        let path = format!("/proc/{}/fd/{stream}", process.pid());
        let opened = std::fs::OpenOptions::new().write(true).open(&path);
        // ENXIO: a socket cannot be opened.
        assert_eq!(opened.unwrap_err().raw_os_error(), Some(6), "{path}");
    }
    drop(pipes);
}

#[tokio::test]
async fn what_an_agent_said_last_is_read_however_long_after_its_end() {
    let (mut process, mut pipes) = shell("echo ready; head -c 100000 /dev/zero; echo over").await;
    timeout(LONG, process.wait()).await.unwrap();
    let mut said = Vec::new();
    pipes.stdout.read_to_end(&mut said).await.unwrap();
    assert_eq!(said.len(), 100_005);
    assert!(said.ends_with(b"over\n"));
}

#[tokio::test]
async fn each_rung_of_the_ending_is_reached_when_it_is_needed() {
    const SHORT: Duration = Duration::from_millis(100);
    let how = |ended: &Ended| (ended.rung, ended.exit.unwrap().to_string());

    let by_close = ended("echo ready; cat >/dev/null", LONG, LONG).await;
    assert_eq!(how(&by_close), (Rung::StdinClosed, "exit code 0".into()));
    let by_term = ended("echo ready; exec sleep 300", SHORT, LONG).await;
    assert_eq!(
        how(&by_term),
        (Rung::Terminated, "killed by SIGTERM".into())
    );
    let trap = "trap 'exit 143' TERM; echo ready; while :; do sleep 0.01; done";
    let by_trap = ended(trap, SHORT, LONG).await;
    assert_eq!(
        how(&by_trap),
        (Rung::Terminated, "exit code 143 (SIGTERM)".into())
    );
    let deaf = "trap '' TERM; echo ready; while :; do sleep 1; done";
    let by_kill = ended(deaf, SHORT, SHORT).await;
    assert_eq!(how(&by_kill), (Rung::Killed, "killed by SIGKILL".into()));
}

#[tokio::test]
async fn an_agent_that_had_ended_is_known_to_have_ended_by_itself() {
    let (mut process, _pipes) = shell("echo ready; exit 3").await;
    timeout(LONG, process.wait()).await.unwrap();
    let mut running = Running {
        process: &mut process,
        close: || (),
        background: false,
    };
    let ended = end(&mut running, &Graces::default()).await;
    assert_eq!(ended.to_string(), "had ended by itself: exit code 3");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_grandchild_that_holds_every_pipe_hangs_nothing_and_is_swept() {
    let script = "setsid sleep 300 & echo ready; echo $!; echo last words >&2; exit 1";
    let (mut process, mut pipes) = shell(script).await;
    let grandchild = number(&mut pipes).await;
    let exit = timeout(LONG, process.wait()).await.unwrap();
    assert_eq!(exit.to_string(), "exit code 1");
    assert_eq!(process.stderr().trim_end(), "last words");
    assert!(lives(grandchild));

    let swept = process.sweep().await;
    assert_eq!(swept.ended.len(), 1);
    assert_eq!(
        (swept.ended[0].pid, swept.ended[0].command.as_str()),
        (grandchild, "sleep")
    );
    // With its holder gone the pipe closes.
    let mut rest = Vec::new();
    timeout(LONG, pipes.stdout.read_to_end(&mut rest))
        .await
        .unwrap()
        .unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn dropping_ends_and_reaps_the_agent_and_all_it_started() {
    let script = "trap '' TERM; setsid sleep 300 & echo ready; echo $!
        (setsid sh -c 'echo $$; exec sleep 300' &); while :; do wait; sleep 1; done";
    let (process, mut pipes) = shell(script).await;
    let pids = [number(&mut pipes).await, number(&mut pipes).await];
    let root = process.pid();
    assert!(lives(root) && pids.iter().all(|pid| lives(*pid)));
    drop(process);
    assert!(is_reaped(root));
    assert!(!pids.iter().any(|pid| lives(*pid)));
}

#[cfg(target_os = "linux")]
#[test]
fn the_end_of_the_runtime_ends_the_agent() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let (sender, pid) = std::sync::mpsc::channel();
    runtime.spawn(async move {
        let (process, _pipes) = shell("trap '' TERM; echo ready; while :; do sleep 1; done").await;
        sender.send(process.pid()).unwrap();
        std::future::pending::<()>().await;
    });
    let pid = pid.recv_timeout(LONG).unwrap();
    assert!(lives(pid));
    drop(runtime);
    assert!(is_reaped(pid));
}

#[cfg(target_os = "linux")]
#[test]
fn an_agent_outlives_the_runtime_thread_that_asked_for_it() {
    let start = || {
        let mut building = tokio::runtime::Builder::new_current_thread();
        let runtime = building.enable_all().build().unwrap();
        let started = runtime.block_on(shell("echo ready; exec cat"));
        let thread = std::fs::read_link("/proc/thread-self").unwrap();
        (runtime, started, Path::new("/proc").join(thread))
    };
    let (runtime, (mut process, mut pipes), thread) = std::thread::spawn(start).join().unwrap();
    // The kernel signals the children of a thread before it forgets the thread.
    let deadline = std::time::Instant::now() + LONG;
    while thread.exists() {
        assert!(
            std::time::Instant::now() < deadline,
            "the thread is still there"
        );
        std::thread::yield_now();
    }
    runtime.block_on(async {
        pipes.stdin.write_all(b"7\n").await.unwrap();
        assert_eq!(number(&mut pipes).await, 7);
        drop(pipes);
        assert_eq!(timeout(LONG, process.wait()).await.unwrap().code, Some(0));
    });
}

#[tokio::test]
async fn a_wait_that_was_dropped_can_be_called_again() {
    let (mut process, pipes) = shell("echo ready; cat >/dev/null; exit 4").await;
    for _ in 0..3 {
        assert!(
            timeout(Duration::from_millis(1), process.wait())
                .await
                .is_err()
        );
    }
    drop(pipes.stdin);
    assert_eq!(timeout(LONG, process.wait()).await.unwrap().code, Some(4));
    assert_eq!(process.wait().await.code, Some(4));
}

#[tokio::test]
async fn ten_megabytes_on_stderr_block_nobody_and_the_end_is_kept() {
    let script =
        "head -c 10485760 /dev/zero | tr '\\0' x >&2; echo ' the end not-a-key' >&2; echo ready";
    let (mut process, _pipes) = shell(script).await;
    assert_eq!(timeout(LONG, process.wait()).await.unwrap().code, Some(0));
    assert_eq!(process.stderr(), "[…]\nthe end [masked]\n");
}

#[tokio::test]
async fn lines_of_stderr_are_told_masked_and_a_panic_in_the_telling_harms_nothing() {
    let mut with = spec(
        "/bin/sh",
        &["-c", "echo one >&2; echo not-a-key >&2; printf three >&2"],
    );
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = told.clone();
    with.on_stderr = Some(Box::new(move |line| {
        sink.lock().unwrap().push(line.to_owned())
    }));
    let (mut process, _pipes) = AgentProcess::spawn(with).unwrap();
    timeout(LONG, process.wait()).await.unwrap();
    assert_eq!(*told.lock().unwrap(), ["one", "[masked]", "three"]);

    let mut with = spec("/bin/sh", &["-c", "echo one >&2; echo two >&2"]);
    with.on_stderr = Some(Box::new(|_| panic!("of the callback")));
    let (mut process, _pipes) = AgentProcess::spawn(with).unwrap();
    timeout(LONG, process.wait()).await.unwrap();
    assert_eq!(process.stderr(), "one\ntwo\n");
}

fn why_not(spec: SpawnSpec) -> SpawnError {
    AgentProcess::spawn(spec).map(|_| ()).unwrap_err()
}

fn write(path: &Path, content: &[u8], mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, content).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn each_reason_not_to_start_has_its_own_error() {
    let dir = tempfile::tempdir().unwrap();
    let missing = spec(dir.path().join("none"), &[]);
    assert!(matches!(why_not(missing), SpawnError::NotFound { .. }));
    assert!(matches!(
        why_not(spec("no-such-program-here", &[])),
        SpawnError::NotFound { .. }
    ));

    for cwd in [dir.path().join("none"), PathBuf::from("/etc/passwd")] {
        let nowhere = SpawnSpec {
            cwd,
            ..spec("/bin/sh", &[])
        };
        assert!(matches!(why_not(nowhere), SpawnError::BadCwd { .. }));
    }

    let file = dir.path().join("script");
    write(&file, b"#!/no/such/interpreter\n", 0o755);
    assert!(matches!(
        why_not(spec(&file, &[])),
        SpawnError::NoInterpreter { .. }
    ));
    write(&file, b"#!/bin/sh\n", 0o644);
    assert!(matches!(
        why_not(spec(&file, &[])),
        SpawnError::PermissionDenied { .. }
    ));
    assert!(matches!(
        why_not(spec(dir.path(), &[])),
        SpawnError::PermissionDenied { .. }
    ));

    let long = "x".repeat(8 << 20);
    let error = why_not(spec("/bin/sh", &[&long]));
    assert!(
        matches!(error, SpawnError::TooLong { args, .. } if args > 8 << 20),
        "{error}"
    );
    assert!(matches!(
        why_not(spec("/bin/sh", &["a\0b"])),
        SpawnError::Other { .. }
    ));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_that_is_being_written_is_named_as_such() {
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("sh");
    std::fs::copy("/bin/sh", &copy).unwrap();
    let _writing = std::fs::OpenOptions::new().write(true).open(&copy).unwrap();
    assert!(matches!(
        why_not(spec(&copy, &[])),
        SpawnError::TextBusy { .. }
    ));
}

#[test]
fn without_a_runtime_it_says_so_and_starts_nothing() {
    assert!(matches!(
        why_not(spec("/bin/sh", &[])),
        SpawnError::NoRuntime
    ));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_agents_at_once_each_have_their_own_tree() {
    let one = || async {
        let (mut process, pipes) = shell("sleep 300 & echo ready; cat >/dev/null").await;
        assert!(!process.has_ended());
        drop(pipes);
        assert_eq!(process.wait().await.code, Some(0));
        let swept = process.sweep().await;
        assert_eq!(swept.survivors, []);
        #[cfg(target_os = "linux")]
        assert_eq!(swept.ended.len(), 1);
    };
    let tasks: Vec<_> = (0..100).map(|_| tokio::spawn(one())).collect();
    for task in tasks {
        timeout(Duration::from_secs(50), task)
            .await
            .unwrap()
            .unwrap();
    }
}
