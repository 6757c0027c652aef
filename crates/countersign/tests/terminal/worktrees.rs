//! Worktrees from the terminal: removed when nothing in them would be lost, kept on request, shared by a fork on request.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::stage::{Stage, end, until};

const TALKS: &str = "turn always\n  stream \"You said: ${prompt}.\"\n";

fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=T", "-c", "user.email=t@example.com"])
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// A daemon whose project is a repository.
fn in_a_repository() -> Stage {
    let stage = Stage::playing(TALKS);
    let project = stage.project();
    git(&project, &["init", "-q", "-b", "main"]);
    std::fs::write(project.join("readme.md"), "hello").unwrap();
    git(&project, &["add", "."]);
    git(&project, &["commit", "-q", "-m", "first"]);
    stage
}

/// The folder that a session works in.
fn folder_of(stage: &Stage, id: &str) -> PathBuf {
    let shown = stage.json(&["show", id]);
    PathBuf::from(shown["session"]["cwd"].as_str().unwrap())
}

/// A session with a worktree, whose agent has said something and ended.
fn stopped_in_a_worktree(stage: &Stage) -> (String, PathBuf) {
    let began = stage.json(&["start", "hello", "--worktree"]);
    let id = began["did"]["session"].as_str().unwrap().to_owned();
    stage.until_said(&id, "You said: hello.");
    stage.until_state(&id, "idle");
    stage.ok(&["stop", &id]);
    stage.until_state(&id, "stopped");
    let folder = folder_of(stage, &id);
    assert!(folder.join("readme.md").exists() && folder != stage.project());
    (id, folder)
}

#[test]
fn a_worktree_with_work_in_it_stays_and_a_clean_one_goes_with_its_session() {
    let stage = in_a_repository();
    let (id, folder) = stopped_in_a_worktree(&stage);
    let work = folder.join("new.txt");
    std::fs::write(&work, "work").unwrap();
    let refused = stage.run(&["rm", "--worktree", &id]);
    assert!(refused.code != Some(0) && !refused.err.is_empty());
    assert!(work.exists(), "{refused:?}");
    assert_eq!(stage.json(&["sessions"])[0]["id"], id.as_str());
    std::fs::remove_file(&work).unwrap();
    let said = stage.ok(&["rm", "--worktree", &id]);
    assert!(said.contains("in the trash, with its worktree"), "{said}");
    assert!(!folder.exists());
    assert_eq!(stage.json(&["sessions", "--all"]), serde_json::json!([]));
    stage.ok(&["rm", "--restore", &end(&id)]);
    until("the worktree is back", || {
        match folder.join("readme.md").exists() {
            true => Ok(()),
            false => Err(stage.ok(&["show", &id])),
        }
    });
}

#[test]
fn a_removal_says_why_a_worktree_stays_and_offers_to_remove_one_that_is_clean() {
    let stage = in_a_repository();
    let (id, folder) = stopped_in_a_worktree(&stage);
    let work = folder.join("new.txt");
    std::fs::write(&work, "work").unwrap();
    let remove = || {
        let said = stage.ok(&["rm", &id]);
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let said = remove();
    assert!(
        said.contains("stays: ") && said.contains("new.txt") && !said.contains("rm --worktree"),
        "{said}"
    );
    stage.ok(&["rm", "--restore", &end(&id)]);
    std::fs::remove_file(&work).unwrap();
    let said = remove();
    let offered = format!("`countersign rm --worktree {}` removes it", end(&id));
    assert!(said.contains(&offered), "{said}");
    assert!(folder.join("readme.md").exists(), "nobody was asked");
    stage.ok(&["rm", "--worktree", &end(&id)]);
    assert!(!folder.exists());
}

#[test]
fn a_worktree_is_kept_on_request() {
    let stage = in_a_repository();
    let (id, folder) = stopped_in_a_worktree(&stage);
    let said = stage.ok(&["rm", "--keep-worktree", &id]);
    assert!(
        said.contains("in the trash") && !said.contains("worktree"),
        "{said}"
    );
    assert!(folder.join("readme.md").exists());
}

#[test]
fn a_fork_has_a_worktree_of_its_own_or_shares_it_on_request() {
    let stage = in_a_repository();
    let (id, folder) = stopped_in_a_worktree(&stage);
    let fork = |arguments: &[&str]| {
        let receipt = stage.json(&[&["fork", &id, "elsewhere"], arguments].concat());
        let fork = receipt["did"]["session"].as_str().unwrap().to_owned();
        stage.until_said(&fork, "You said: elsewhere.");
        folder_of(&stage, &fork)
    };
    assert_eq!(fork(&["--same-worktree"]), folder);
    let own = fork(&[]);
    assert!(own != folder && own != stage.project(), "{own:?}");
    assert!(own.join("readme.md").exists());
}
