//! Programs that really run: what they are given, what is taken from them, and that nothing of theirs stays.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use countersign_host::notify::{Kind, Target, Targets, To};
use serde_json::Value;

use crate::stage::{QUICK, Stage, failed, outside, until};

/// A folder with a script in it.
struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new(script: &str) -> Self {
        let ground = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let path = ground.path("program");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        ground
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// A target that runs the script in the folder, with these arguments.
    fn target(&self, arguments: &[&str], env: &[&str]) -> Target {
        let program = self.path("program").to_string_lossy().into_owned();
        let words = arguments.iter().map(|word| (*word).to_owned());
        Target {
            name: "program".to_owned(),
            on: vec![Kind::Failed],
            to: To::Program {
                argv: std::iter::once(program).chain(words).collect(),
                cwd: Some(self.folder.path().to_owned()),
                env: env.iter().map(|name| (*name).to_owned()).collect(),
            },
        }
    }

    fn stage(&self) -> Stage {
        Stage::new(vec![self.target(&[], &[])])
    }

    fn stage_with(&self, limit: Duration) -> Stage {
        let targets = Targets::new(vec![self.target(&[], &[])], QUICK).unwrap();
        let mut outside = outside();
        outside.program.time = limit;
        Stage::with(targets, outside)
    }

    /// The processes that the script noted.
    fn pids(&self) -> Vec<u32> {
        let noted = self.read("pids");
        noted
            .split_whitespace()
            .map(|pid| pid.parse().unwrap())
            .collect()
    }
}

/// One that has ended and is not reaped does not run.
fn runs(pid: u32) -> bool {
    let started = countersign_process::started(pid);
    started.is_some_and(|started| countersign_process::is_running(pid, started) == Some(true))
}

#[tokio::test]
async fn a_program_reads_the_event_on_stdin_and_sees_a_clean_environment() {
    let ground = Ground::new("cat > told; env > seen; pwd > where; printf '%s|' \"$@\" > words");
    let target = ground.target(&["$(touch oops)", "a b; c", "*"], &[]);
    let stage = Stage::new(vec![target]);
    stage.notifier.tell(&failed(3, 9_000_000));
    stage.quiet().await;
    assert_eq!(stage.said(), []);
    let told: Value = serde_json::from_str(&ground.read("told")).unwrap();
    assert_eq!(told["event"], "failed");
    assert_eq!(told["session"]["name"], "session 3");
    let seen = ground.read("seen");
    let names: Vec<&str> = seen
        .lines()
        .filter_map(|line| line.split_once('=').map(|(name, _)| name))
        // What the shell of the script sets itself.
        .filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name))
        .collect();
    assert!(
        names
            .iter()
            .all(|name| ["PATH", "COUNTERSIGN_AGENT"].contains(name)),
        "{names:?}"
    );
    assert_eq!(names.len(), 2);
    assert_eq!(ground.read("words"), "$(touch oops)|a b; c|*|");
    assert!(!ground.path("oops").exists());
    let cwd = ground.folder.path().canonicalize().unwrap();
    assert_eq!(Path::new(ground.read("where").trim()), cwd);
}

#[tokio::test]
async fn a_variable_is_seen_when_it_was_granted() {
    let ground = Ground::new("env > seen");
    let stage = Stage::new(vec![ground.target(&[], &["NOT_FOR_PROGRAMS"])]);
    stage.notifier.tell(&failed(1, 1));
    stage.quiet().await;
    assert!(ground.read("seen").contains("NOT_FOR_PROGRAMS=x"));
}

#[tokio::test]
async fn a_program_that_takes_too_long_is_ended_with_everything_it_started() {
    let ground = Ground::new(
        "(sleep 600 & echo $! >> pids)\nsetsid sh -c 'echo $$ >> pids; sleep 600' &\necho $$ >> pids\nsleep 600",
    );
    let stage = ground.stage_with(Duration::from_secs(2));
    stage.notifier.tell(&failed(1, 1));
    stage.quiet().await;
    let why = stage.given_up().remove(0);
    assert!(
        why.starts_with("it ran longer than 2s and was ended"),
        "{why}"
    );
    let pids = ground.pids();
    assert_eq!(pids.len(), 3, "{pids:?}");
    for pid in pids {
        assert!(!runs(pid), "{pid}");
    }
}

#[tokio::test]
async fn what_a_program_leaves_running_is_ended_when_it_has_done_well() {
    let ground =
        Ground::new("setsid sh -c 'echo $$ > pids; sleep 600' &\nwhile [ ! -s pids ]; do :; done");
    let stage = ground.stage();
    stage.notifier.tell(&failed(1, 1));
    stage.quiet().await;
    assert_eq!(stage.said(), []);
    assert!(!runs(ground.pids()[0]));
}

#[tokio::test]
async fn a_notifier_that_goes_takes_its_program_along() {
    let ground =
        Ground::new("setsid sh -c 'echo $$ >> pids; sleep 600' &\necho $$ >> pids\nsleep 600");
    let stage = ground.stage();
    stage.notifier.tell(&failed(1, 1));
    until("both to start", || ground.pids().len() == 2).await;
    let pids = ground.pids();
    drop(stage);
    until("both to end", || !pids.iter().any(|pid| runs(*pid))).await;
}

#[tokio::test]
async fn only_the_code_that_asks_for_it_is_tried_again() {
    let ground = Ground::new("echo x >> tries; [ \"$(wc -l < tries)\" -ge 3 ] || exit 75");
    let stage = ground.stage();
    stage.notifier.tell(&failed(1, 1));
    stage.quiet().await;
    assert_eq!(stage.said(), []);
    assert_eq!(ground.read("tries").lines().count(), 3);

    let ground = Ground::new("echo x >> tries; echo some words; echo it went wrong >&2; exit 3");
    let stage = ground.stage();
    stage.notifier.tell(&failed(1, 1));
    stage.quiet().await;
    assert_eq!(ground.read("tries").lines().count(), 1);
    let why = stage.given_up().remove(0);
    assert!(
        why.starts_with("it ended with code 3: ") && why.contains("it went wrong"),
        "{why}"
    );
}

#[tokio::test]
async fn a_flood_of_output_neither_blocks_a_program_nor_fills_the_memory() {
    let ground =
        Ground::new("head -c 3000000 /dev/zero | tr '\\0' 'x'; echo; echo the end >&2; exit 1");
    let stage = ground.stage();
    stage.notifier.tell(&failed(1, 1));
    stage.quiet().await;
    let why = stage.given_up().remove(0);
    assert!(why.contains("the end") && why.len() < 1_024, "{why}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_given_up_at_once() {
    let ground = Ground::new("");
    std::fs::remove_file(ground.path("program")).unwrap();
    let stage = ground.stage();
    stage.notifier.tell(&failed(1, 1));
    stage.quiet().await;
    let why = stage.given_up().remove(0);
    assert!(
        why.contains("cannot run") && why.contains("give its whole path"),
        "{why}"
    );
}
