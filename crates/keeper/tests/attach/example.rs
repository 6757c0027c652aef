//! The example that people copy from, run as they would: in a folder of their own, with a path that is not absolute.

use std::process::Command;

use crate::stage::{example, until};

#[tokio::test]
async fn an_agent_is_started_left_and_answered_by_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(example("answer_later"))
            .args(arguments)
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{arguments:?}: {said}{errors}");
        said
    };
    let agent = example("scripted_agent");
    let agent = agent.to_str().unwrap();
    let asked = run(&["demo", "start", "run `touch here`", agent]);
    assert!(asked.contains("touch here"), "{asked}");
    assert!(asked.contains("Left open"), "{asked}");
    assert!(!folder.path().join("here").exists());
    let answered = run(&["demo", "answer", "yes"]);
    assert!(answered.contains("Nothing is open"), "{answered}");
    assert!(folder.path().join("here").exists());
    let lock = folder.path().join("demo/session/keeper.lock");
    until("its keeper is gone", || is_free(&lock)).await;
}

fn is_free(lock: &std::path::Path) -> bool {
    let lock = std::fs::File::open(lock).unwrap();
    let wanted = rustix::fs::FlockOperation::NonBlockingLockExclusive;
    rustix::fs::flock(lock, wanted).is_ok()
}

#[test]
fn a_keeper_command_that_is_not_one_says_how() {
    let output = Command::new(example("answer_later"))
        .args(["keeper", "--dir"])
        .env_clear()
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}
