//! Commands that are stopped, run out of time, or leave something behind.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::act::{Job, Stop, Task, Workbench};

/// Longer than anything here takes on a machine with much else to do.
const PATIENCE: Duration = Duration::from_secs(20);

struct Bench {
    folder: tempfile::TempDir,
    bench: Workbench,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().join("project");
        std::fs::create_dir(&cwd).unwrap();
        let env = vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("SHELL".into(), "/bin/bash".into()),
        ];
        let bench = Workbench::new(cwd, folder.path().join("home"), env)
            .keeping(folder.path().join("results"), folder.path().join("scratch"));
        Self { folder, bench }
    }

    fn job(&self, input: Value, task: bool) -> Job {
        let task = task.then(|| Task {
            id: "b12345678".to_owned(),
            output: self.path("tasks/b12345678.output"),
        });
        let tool = "Bash".to_owned();
        Job { tool, input, task }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn in_project(&self, name: &str) -> PathBuf {
        self.folder.path().join("project").join(name)
    }
}

/// Waits until a file is there.
fn until_there(path: &Path) {
    let began = Instant::now();
    while !path.exists() {
        assert!(began.elapsed() < PATIENCE, "{} never came", path.display());
        std::thread::yield_now();
    }
}

/// Waits until no process has that number any more.
fn until_gone(pid: &str) {
    let began = Instant::now();
    let status = PathBuf::from("/proc").join(pid.trim()).join("stat");
    let runs = || std::fs::read_to_string(&status).is_ok_and(|stat| !stat.contains(") Z "));
    while runs() {
        assert!(began.elapsed() < PATIENCE, "{pid} still runs");
        std::thread::yield_now();
    }
}

#[test]
fn a_stop_ends_the_whole_group_of_a_command() {
    let bench = Bench::new();
    let stop = Stop::default();
    let job = bench.job(
        json!({"command": "true; sleep 60 & echo $! > pid; mv pid ready; wait"}),
        true,
    );
    let ran = std::thread::scope(|scope| {
        let running = scope.spawn(|| bench.bench.run(&job, &stop));
        until_there(&bench.in_project("ready"));
        stop.raise();
        running.join().unwrap()
    });
    assert_eq!((ran.is_error, ran.exit), (Some(true), Some(137)));
    until_gone(&std::fs::read_to_string(bench.in_project("ready")).unwrap());
}

#[test]
fn a_stop_that_was_raised_before_ends_a_command_at_once() {
    let bench = Bench::new();
    let stop = Stop::default();
    stop.raise();
    let began = Instant::now();
    let ran = bench
        .bench
        .run(&bench.job(json!({"command": "sleep 20"}), true), &stop);
    assert_eq!(ran.exit, Some(137));
    assert!(began.elapsed() < Duration::from_secs(15));
}

#[test]
fn who_is_left_behind_does_not_hold_the_report_up() {
    let bench = Bench::new();
    let began = Instant::now();
    let job = bench.job(json!({"command": "sleep 17 & echo $!"}), true);
    let ran = bench.bench.run(&job, &Stop::default());
    assert!(began.elapsed() < Duration::from_secs(15));
    let pid = ran.content.as_str().unwrap().to_owned();
    assert!(Path::new("/proc").join(&pid).exists());
    let pid = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn a_command_that_takes_too_long_goes_on_and_can_be_waited_for() {
    let bench = Bench::new();
    let command = "echo one; until [ -e go ]; do read -t 0.05 <> <(:); done; echo two; exit 7";
    let job = bench.job(json!({"command": command, "timeout": 700}), true);
    let ran = bench.bench.run(&job, &Stop::default());
    assert_eq!(ran.structured["backgroundTaskId"], "b12345678");
    assert_eq!(ran.structured["timedOutAfterMs"], 700);
    std::fs::write(bench.in_project("go"), "").unwrap();
    assert_eq!(ran.rest.unwrap().wait(), 7);
    let output = std::fs::read_to_string(bench.path("tasks/b12345678.output")).unwrap();
    assert_eq!(output, "one\ntwo\n");
}

#[test]
fn a_command_that_takes_too_long_ends_where_it_cannot_go_on() {
    let bench = Bench::new();
    let job = bench.job(
        json!({"command": "echo one; exec sleep 60", "timeout": 1500}),
        false,
    );
    let ran = bench.bench.run(&job, &Stop::default());
    assert_eq!(
        ran.content,
        "Exit code 143\nCommand timed out after 1s\none"
    );
    assert!(ran.rest.is_none());
}

#[test]
fn a_command_in_the_background_leaves_its_output_and_its_exit_code() {
    let bench = Bench::new();
    let input =
        json!({"command": "cd /; echo out; echo err >&2; exit 3", "run_in_background": true});
    let ran = bench.bench.run(&bench.job(input, true), &Stop::default());
    assert_eq!((ran.exit, ran.is_error), (Some(3), Some(true)));
    let output = std::fs::read_to_string(bench.path("tasks/b12345678.output")).unwrap();
    assert_eq!(output, "out\nerr\n");
    let cwd = std::fs::canonicalize(bench.in_project("")).unwrap();
    assert_eq!(bench.bench.cwd(), cwd);
}

#[test]
fn a_command_sees_the_environment_it_was_given_and_nothing_of_ours() {
    let bench = Bench::new();
    let job = bench.job(json!({"command": "env | cut -d= -f1 | sort"}), true);
    let ran = bench.bench.run(&job, &Stop::default());
    let names = [
        "AI_AGENT",
        "CLAUDECODE",
        "CLAUDE_CODE_CHILD_SESSION",
        "COREPACK_ENABLE_AUTO_PIN",
        "GIT_EDITOR",
        "NoDefaultCurrentDirectoryInExePath",
        "PATH",
        "PWD",
        "SHELL",
        "SHLVL",
        "_",
    ];
    let mut seen: Vec<&str> = ran.content.as_str().unwrap().lines().collect();
    seen.sort_unstable();
    assert_eq!(seen, names);
}

#[test]
fn a_command_that_is_done_leaves_no_file_behind() {
    let bench = Bench::new();
    let job = bench.job(json!({"command": "echo x"}), false);
    bench.bench.run(&job, &Stop::default());
    let left: Vec<_> = std::fs::read_dir(bench.path("scratch")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
