//! What no worktree can be made from: each is told as what it is, and leaves nothing behind.
//!
//! Owns the errors of `create` but those of the setup script.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use countersign_host::control::ControlError;
use countersign_host::control::session::NewWorktree;
use countersign_host::trash::Trash;
use countersign_host::worktree::{Order, WorktreeError, Worktrees};

use crate::stage::{NOW, Stage, from_base, session, write};

async fn refused(stage: &Stage, cwd: &Path, new: &NewWorktree) -> WorktreeError {
    let error = stage.try_make(1, cwd, new).await.unwrap_err();
    assert!(stage.folders().is_empty(), "{error}");
    error
}

/// What a git that finds this `PATH` says.
async fn with_path(stage: &Stage, path: &Path) -> WorktreeError {
    let folder = stage.root.join("data/worktrees");
    let env = [("PATH".into(), path.as_os_str().to_owned())];
    let worktrees = Worktrees::new(folder, stage.trash.clone(), env);
    let (new, env) = (NewWorktree::default(), Default::default());
    let order = Order {
        session: session(1),
        cwd: &stage.repo,
        new: &new,
        name: "x",
        env: &env,
        now: NOW,
    };
    worktrees.create(order).await.unwrap_err()
}

#[tokio::test]
async fn a_folder_without_a_repository() {
    let stage = Stage::new();
    let plain = stage.root.join("plain");
    std::fs::create_dir(&plain).unwrap();
    let error = refused(&stage, &plain, &NewWorktree::default()).await;
    assert!(matches!(&error, WorktreeError::NotARepository(path) if *path == plain));
    assert!(error.to_string().contains("git init"));
    let error = refused(&stage, &stage.root.join("none"), &NewWorktree::default()).await;
    assert!(matches!(error, WorktreeError::NoFolder(_)), "{error}");
}

#[tokio::test]
async fn a_repository_without_files() {
    let stage = Stage::new();
    let bare = stage.root.join("bare");
    stage.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    for place in [bare, stage.repo.join(".git"), stage.repo.join(".git/refs")] {
        let error = refused(&stage, &place, &NewWorktree::default()).await;
        assert!(matches!(error, WorktreeError::NoWorkingTree(_)), "{error}");
    }
}

#[tokio::test]
async fn a_repository_without_a_commit() {
    let stage = Stage::without_commit();
    for new in [NewWorktree::default(), from_base("HEAD")] {
        let error = refused(&stage, &stage.repo, &new).await;
        assert!(matches!(error, WorktreeError::Unborn(_)), "{error}");
        assert!(error.to_string().contains("first"));
    }
}

#[tokio::test]
async fn a_base_that_is_none() {
    let stage = Stage::new();
    let blob = stage.git(&["rev-parse", "HEAD:readme"]);
    for base in [
        "nowhere",
        "",
        "--all",
        "-h",
        "main\nmain",
        "main\0",
        &blob,
        "main..main",
    ] {
        let error = refused(&stage, &stage.repo, &from_base(base)).await;
        assert!(
            matches!(&error, WorktreeError::NoSuchBase(named) if named == base),
            "{base:?}: {error}"
        );
    }
}

#[tokio::test]
async fn changes_that_the_worktree_would_not_have() {
    let stage = Stage::new();
    stage.write("readme", "changed\n");
    let error = refused(&stage, &stage.repo, &NewWorktree::default()).await;
    assert!(
        matches!(error, WorktreeError::DirtyBase { changed: 1, .. }),
        "{error}"
    );
    assert!(matches!(
        ControlError::from(error),
        ControlError::NotNow { .. }
    ));
    // Whoever names the base means it. A file that git does not know is no change.
    let made = stage.try_make(1, &stage.repo, &from_base("HEAD")).await;
    assert!(made.is_ok());
    stage.write("readme", "one\n");
    stage.write("new", "new");
    assert!(
        stage
            .try_make(2, &stage.repo, &NewWorktree::default())
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_branch_in_the_way_of_all_of_ours() {
    let stage = Stage::new();
    stage.git(&["branch", "countersign"]);
    let error = refused(&stage, &stage.repo, &NewWorktree::default()).await;
    assert!(matches!(error, WorktreeError::PrefixTaken(_)), "{error}");
    assert!(error.to_string().contains("rename it"));
}

#[tokio::test]
async fn no_git_or_one_that_is_too_old() {
    let stage = Stage::new();
    let error = with_path(&stage, &stage.root.join("empty")).await;
    assert!(matches!(error, WorktreeError::GitMissing), "{error}");
    let bin = stage.root.join("bin");
    write(&bin.join("git"), "#!/bin/sh\necho git version 2.17.1\n");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bin.join("git"), executable).unwrap();
    let error = with_path(&stage, &bin).await;
    assert!(
        matches!(&error, WorktreeError::GitTooOld { found, .. } if found == "2.17.1"),
        "{error}"
    );
    assert!(error.to_string().contains("2.31"));
}

#[tokio::test]
async fn a_data_folder_in_the_repository() {
    let stage = Stage::new();
    let trash = Trash::at(stage.repo.join("data/trash"));
    let worktrees = Worktrees::new(stage.repo.join("data/worktrees"), trash, stage.env());
    let (new, env) = (from_base("HEAD"), Default::default());
    let order = Order {
        session: session(1),
        cwd: &stage.repo,
        new: &new,
        name: "x",
        env: &env,
        now: NOW,
    };
    let error = worktrees.create(order).await.unwrap_err();
    assert!(
        matches!(error, WorktreeError::InsideRepository { .. }),
        "{error}"
    );
    assert!(!stage.has_branch("countersign/x"));
}

#[tokio::test]
async fn a_sub_folder_that_is_a_link_out_of_the_base() {
    let stage = Stage::new();
    let outside = stage.root.join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, stage.repo.join("way")).unwrap();
    stage.commit("a link");
    stage.git(&["tag", "linked"]);
    std::fs::remove_file(stage.repo.join("way")).unwrap();
    stage.write("way/below/file", "x");
    stage.commit("a folder");
    for cwd in ["way", "way/below"] {
        let cwd = stage.repo.join(cwd);
        let error = refused(&stage, &cwd, &from_base("linked")).await;
        assert!(matches!(error, WorktreeError::LeadsOut(_)), "{error}");
    }
    assert!(!stage.has_branch("countersign/fix-the-login"));
    assert!(std::fs::read_dir(&outside).unwrap().next().is_none());
}

#[tokio::test]
async fn a_checkout_that_fails_takes_its_branch_back() {
    let stage = Stage::new();
    stage.write(".gitattributes", "readme filter=broken\n");
    stage.commit("attributes");
    stage.git(&["config", "filter.broken.smudge", "false"]);
    stage.git(&["config", "filter.broken.required", "true"]);
    let error = refused(&stage, &stage.repo, &NewWorktree::default()).await;
    assert!(matches!(error, WorktreeError::Git { .. }), "{error}");
    assert!(!stage.has_branch("countersign/fix-the-login"));
    let records = stage.git(&["worktree", "list", "--porcelain"]);
    assert_eq!(records.matches("worktree ").count(), 1, "{records}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_checkout_that_hangs_is_ended_and_taken_back() {
    let mut stage = Stage::new();
    let limit = std::time::Duration::from_millis(1_500);
    stage.worktrees = stage.worktrees.clone().checkout_limit(limit);
    stage.write(".gitattributes", "readme filter=slow\n");
    stage.commit("attributes");
    let pid = stage.root.join("pid");
    let filter = format!("echo $$ > {}; exec sleep 1000", pid.display());
    stage.git(&["config", "filter.slow.smudge", &filter]);
    let error = refused(&stage, &stage.repo, &NewWorktree::default()).await;
    assert!(matches!(error, WorktreeError::TimedOut { .. }), "{error}");
    assert!(matches!(
        ControlError::from(error),
        ControlError::Unavailable { .. }
    ));
    assert!(!stage.has_branch("countersign/fix-the-login"));
    let records = stage.git(&["worktree", "list", "--porcelain"]);
    assert_eq!(records.matches("worktree ").count(), 1, "{records}");
    crate::setup::ends(crate::setup::pid_in(&pid)).await;
}
