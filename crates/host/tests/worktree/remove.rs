//! What is removed, and above all what is not.
//!
//! Owns each kind of work that must keep a worktree where it is.

use std::path::Path;

use countersign_host::control::session::NewWorktree;
use countersign_host::worktree::{BranchFate, Losses, Worktree, WorktreeError, Worktrees};

use crate::stage::{NOW, Stage, from_base, session, write};

async fn losses(stage: &Stage, worktree: &Worktree) -> Losses {
    match stage.stays(worktree).await {
        WorktreeError::WouldLose { losses, .. } => *losses,
        other => panic!("{other}"),
    }
}

fn records(stage: &Stage) -> usize {
    let listed = stage.git(&["worktree", "list", "--porcelain"]);
    listed.matches("worktree ").count()
}

#[tokio::test]
async fn an_untouched_worktree_goes_to_the_trash_with_its_build_output() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    write(&worktree.path.join("target/built"), "took long");
    let removed = stage.worktrees.remove(&worktree, NOW + 5).await.unwrap();
    assert_eq!(removed.branch, BranchFate::Deleted);
    assert!(!worktree.path.exists());
    assert!(!stage.has_branch(&worktree.branch));
    assert_eq!(records(&stage), 1);
    let entries = stage.trash.list().unwrap().entries;
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].id, removed.trash);
    assert_eq!(entries[0].origin, worktree.path);
    assert_eq!(entries[0].at, NOW + 5);
    assert_eq!(entries[0].reason.session, Some(session(1)));
    stage.trash.restore(&removed.trash).unwrap();
    let built = std::fs::read_to_string(worktree.path.join("target/built"));
    assert_eq!(built.unwrap(), "took long");
}

#[tokio::test]
async fn uncommitted_work_stays() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    write(&worktree.path.join("readme"), "changed\n");
    let lost = losses(&stage, &worktree).await;
    assert_eq!(lost.uncommitted.first, [Path::new("readme")]);
    // Staged, then changed back in the folder alone.
    stage.git_in(&worktree.path, &["add", "readme"]);
    write(&worktree.path.join("readme"), "one\n");
    let lost = losses(&stage, &worktree).await;
    assert_eq!(lost.uncommitted.count, 1);
    // Gone in the folder.
    stage.git_in(&worktree.path, &["reset", "--quiet", "--hard"]);
    std::fs::remove_file(worktree.path.join("readme")).unwrap();
    let lost = losses(&stage, &worktree).await;
    assert_eq!(lost.uncommitted.count, 1);
    assert!(lost.to_string().contains("\"readme\""));
}

#[tokio::test]
async fn new_files_stay() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    write(&worktree.path.join("a/new\n\"file\""), "x");
    let lost = losses(&stage, &worktree).await;
    assert_eq!(lost.untracked.first, [Path::new("a/new\n\"file\"")]);
    assert_eq!(lost.uncommitted.count, 0);
    // Even if the person does not want to see them.
    stage.git(&["config", "status.showUntrackedFiles", "no"]);
    assert_eq!(losses(&stage, &worktree).await.untracked.count, 1);
}

#[tokio::test]
async fn what_was_stashed_on_another_branch_or_on_none_stays() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    let git = |args: &[&str]| stage.git_in(&worktree.path, args);
    let back = worktree.branch.clone();
    for there in [&["--detach"][..], &["-b", "aside"]] {
        git(&[&["checkout", "--quiet"], there].concat());
        write(&worktree.path.join("readme"), "changed\n");
        git(&["stash", "push", "--quiet"]);
        git(&["checkout", "--quiet", &back]);
        let lost = losses(&stage, &worktree).await;
        assert_eq!(lost.stashes.len(), 1, "{lost:?}");
        git(&["stash", "drop", "--quiet"]);
    }
    // One of the repository itself is none of the worktree's.
    stage.write("readme", "changed\n");
    stage.git(&["stash", "push", "--quiet"]);
    stage.worktrees.remove(&worktree, NOW).await.unwrap();
}

#[tokio::test]
async fn what_comes_between_the_look_and_the_removal_stays() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    // A git beside which somebody writes a file, after git has looked for files.
    let bin = stage.root.join("bin");
    let late = worktree.path.join("late");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *'stash list'*) echo late 2>/dev/null > '{}';; esac\nexec /usr/bin/git \"$@\"\n",
        late.display()
    );
    write(&bin.join("git"), &script);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(bin.join("git"), mode).unwrap();
    let mut env = stage.env();
    env.retain(|(name, _)| name != "PATH");
    env.push((
        "PATH".into(),
        format!("{}:/usr/bin:/bin", bin.display()).into(),
    ));
    let worktrees = Worktrees::new(stage.worktrees.folder(), stage.trash.clone(), env);
    let refused = worktrees.remove(&worktree, NOW).await.unwrap_err();
    assert!(matches!(refused, WorktreeError::Changed(_)), "{refused}");
    assert_eq!(std::fs::read_to_string(&late).unwrap(), "late\n");
    assert!(stage.has_branch(&worktree.branch));
}

#[tokio::test]
async fn a_removed_worktree_is_made_again_on_its_branch() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    write(&worktree.path.join("readme"), "two\n");
    let head = stage.commit_in(&worktree.path, "two");
    assert!(!stage.worktrees.restore(&worktree).await.unwrap());
    stage.git(&["merge", "--quiet", &worktree.branch]);
    stage.worktrees.remove(&worktree, NOW).await.unwrap();
    assert!(stage.worktrees.restore(&worktree).await.unwrap());
    let at = stage.git_in(&worktree.path, &["rev-parse", "HEAD"]);
    assert_eq!(at, head);
    let on = stage.git_in(&worktree.path, &["branch", "--show-current"]);
    assert_eq!(on, worktree.branch);
}

#[tokio::test]
async fn stashed_work_stays() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    write(&worktree.path.join("readme"), "changed\n");
    stage.git_in(
        &worktree.path,
        &["stash", "push", "--quiet", "-m", "for later"],
    );
    let lost = losses(&stage, &worktree).await;
    assert_eq!(lost.stashes, ["On countersign/fix-the-login: for later"]);
    stage.git(&["stash", "drop", "--quiet"]);
    // One of another branch is not ours to mind.
    stage.write("readme", "changed\n");
    stage.git(&["stash", "push", "--quiet"]);
    stage.worktrees.remove(&worktree, NOW).await.unwrap();
}

#[tokio::test]
async fn commits_that_are_in_no_other_branch_stay_until_they_are_merged() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    for n in 0..2 {
        write(&worktree.path.join(format!("work{n}")), "work");
        stage.commit_in(&worktree.path, "work");
    }
    let lost = losses(&stage, &worktree).await;
    assert_eq!(lost.unmerged.len(), 1);
    let unmerged = &lost.unmerged[0];
    assert_eq!(
        (unmerged.on.as_str(), unmerged.commits),
        ("countersign/fix-the-login", 2)
    );
    assert_eq!(
        (unmerged.into.as_deref(), unmerged.pushed),
        (Some("main"), false)
    );
    // A copy on another branch of a session is no merge.
    stage.git(&["branch", "countersign/other", &worktree.branch]);
    assert_eq!(losses(&stage, &worktree).await.unmerged[0].commits, 2);
    stage.git(&["merge", "--quiet", "--no-edit", &worktree.branch]);
    let removed = stage.worktrees.remove(&worktree, NOW).await.unwrap();
    assert_eq!(removed.branch, BranchFate::Deleted);
    assert!(stage.repo.join("work1").exists());
}

#[tokio::test]
async fn pushed_is_not_merged_but_told() {
    let stage = Stage::new();
    let remote = stage.root.join("remote.git");
    stage.git(&["clone", "--quiet", "--bare", ".", remote.to_str().unwrap()]);
    stage.git(&["remote", "add", "origin", remote.to_str().unwrap()]);
    let worktree = stage.plain().await;
    write(&worktree.path.join("work"), "work");
    stage.commit_in(&worktree.path, "work");
    stage.git(&["push", "--quiet", "origin", &worktree.branch]);
    let lost = losses(&stage, &worktree).await;
    assert!(lost.unmerged[0].pushed);
    // Merged over there, and seen here.
    let onto = format!("{}:main", worktree.branch);
    stage.git(&["push", "--quiet", "origin", &onto]);
    let removed = stage.worktrees.remove(&worktree, NOW).await.unwrap();
    assert_eq!(removed.branch, BranchFate::Deleted);
}

#[tokio::test]
async fn work_that_was_merged_as_one_commit_lets_the_worktree_go_and_keeps_the_branch() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    for n in 0..2 {
        write(&worktree.path.join("work"), format!("{n}\n"));
        stage.commit_in(&worktree.path, "work");
    }
    stage.write("meanwhile", "meanwhile\n");
    stage.commit("meanwhile");
    assert_eq!(losses(&stage, &worktree).await.unmerged[0].commits, 2);
    stage.git(&["merge", "--quiet", "--squash", &worktree.branch]);
    stage.commit("all of it");
    // More work on top is not merged.
    write(&worktree.path.join("work"), "more\n");
    stage.commit_in(&worktree.path, "more");
    assert_eq!(losses(&stage, &worktree).await.unmerged[0].commits, 3);
    stage.git_in(&worktree.path, &["reset", "--quiet", "--hard", "HEAD~1"]);
    let removed = stage.worktrees.remove(&worktree, NOW).await.unwrap();
    assert!(matches!(removed.branch, BranchFate::Kept { .. }));
    assert!(stage.has_branch(&worktree.branch));
}

#[tokio::test]
async fn a_git_command_that_still_runs_keeps_it() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    let admin = stage.git_in(&worktree.path, &["rev-parse", "--absolute-git-dir"]);
    write(&Path::new(&admin).join("index.lock"), "");
    assert_eq!(losses(&stage, &worktree).await.half_done, ["a git command"]);
}

#[tokio::test]
async fn a_branch_without_a_commit_is_no_change() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    stage.git_in(&worktree.path, &["switch", "--quiet", "--orphan", "fresh"]);
    stage.worktrees.remove(&worktree, NOW).await.unwrap();
}

#[tokio::test]
async fn commits_without_a_branch_stay() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    stage.git_in(&worktree.path, &["switch", "--quiet", "--detach"]);
    write(&worktree.path.join("work"), "work");
    stage.commit_in(&worktree.path, "work");
    let lost = losses(&stage, &worktree).await;
    assert_eq!(lost.unmerged.len(), 1);
    assert!(lost.unmerged[0].on.starts_with("no branch"));
}

#[tokio::test]
async fn commits_on_another_branch_of_the_worktree_stay() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    stage.git_in(&worktree.path, &["switch", "--quiet", "-c", "feature"]);
    write(&worktree.path.join("work"), "work");
    stage.commit_in(&worktree.path, "work");
    let lost = losses(&stage, &worktree).await;
    assert_eq!(lost.unmerged[0].on, "feature");
    stage.git(&["merge", "--quiet", "feature"]);
    stage.worktrees.remove(&worktree, NOW).await.unwrap();
    assert!(stage.has_branch("feature"), "a branch that is not ours");
    assert!(!stage.has_branch(&worktree.branch));
}

#[tokio::test]
async fn what_is_half_done_stays() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    let path = &worktree.path;
    write(&path.join("readme"), "ours\n");
    stage.commit_in(path, "ours");
    stage.write("readme", "theirs\n");
    stage.commit("theirs");
    let (ok, _) = stage.try_git_in(path, &["rebase", "--quiet", "main"]);
    assert!(!ok, "a conflict");
    let lost = losses(&stage, &worktree).await;
    assert_eq!(lost.half_done, ["a rebase"]);
    assert!(lost.to_string().contains("a rebase is half done"));
}

#[tokio::test]
async fn filled_submodules_stay() {
    let stage = Stage::new();
    let inner = stage.root.join("inner");
    stage.git(&["clone", "--quiet", ".", inner.to_str().unwrap()]);
    stage.git(&[
        "submodule",
        "--quiet",
        "add",
        inner.to_str().unwrap(),
        "module",
    ]);
    stage.commit("with a submodule");
    let worktree = stage.plain().await;
    stage.git_in(
        &worktree.path,
        &["submodule", "--quiet", "update", "--init"],
    );
    let lost = losses(&stage, &worktree).await;
    assert!(lost.submodules && lost.uncommitted.count == 0);
    // A change inside of it shows as a change.
    write(&worktree.path.join("module/readme"), "changed\n");
    assert_eq!(losses(&stage, &worktree).await.uncommitted.count, 1);
}

#[tokio::test]
async fn a_locked_worktree_stays() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    let path = worktree.path.to_str().unwrap();
    stage.git(&["worktree", "lock", "--reason", "on a stick", path]);
    let error = stage.stays(&worktree).await;
    assert!(error.to_string().contains("on a stick"), "{error}");
}

#[tokio::test]
async fn a_branch_that_is_checked_out_elsewhere_is_kept() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    stage.git_in(&worktree.path, &["switch", "--quiet", "--detach"]);
    stage.git(&["switch", "--quiet", &worktree.branch]);
    let removed = stage.worktrees.remove(&worktree, NOW).await.unwrap();
    assert!(matches!(removed.branch, BranchFate::Kept { .. }));
    assert_eq!(stage.git(&["branch", "--show-current"]), worktree.branch);
}

#[tokio::test]
async fn a_base_that_is_in_no_branch_keeps_the_branch() {
    let stage = Stage::new();
    stage.git(&["switch", "--quiet", "--detach"]);
    stage.write("readme", "floating\n");
    let floating = stage.commit("floating");
    stage.git(&["switch", "--quiet", "main"]);
    let worktree = stage.make(1, from_base(&floating)).await.worktree;
    let removed = stage.worktrees.remove(&worktree, NOW).await.unwrap();
    assert!(
        matches!(removed.branch, BranchFate::Kept { .. }),
        "{removed:?}"
    );
    assert!(stage.has_branch(&worktree.branch));
}

#[tokio::test]
async fn a_removal_that_was_stopped_is_ended_by_the_next() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    // As after a crash between the two steps.
    let id = stage.trash.put(&worktree.path, "removed", NOW).unwrap();
    assert_eq!(records(&stage), 2);
    let removed = stage.worktrees.remove(&worktree, NOW + 1).await.unwrap();
    assert_eq!((removed.trash, removed.branch), (id, BranchFate::Deleted));
    assert_eq!(records(&stage), 1);
    let again = stage.worktrees.remove(&worktree, NOW + 2).await.unwrap();
    assert_eq!(again.branch, BranchFate::NotThere);
}

#[tokio::test]
async fn a_worktree_that_was_moved_away_is_not_forgotten() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    write(&worktree.path.join("work"), "work");
    let elsewhere = stage.root.join("elsewhere");
    std::fs::rename(&worktree.path, &elsewhere).unwrap();
    let error = stage.worktrees.remove(&worktree, NOW).await.unwrap_err();
    assert!(matches!(error, WorktreeError::FolderGone { .. }), "{error}");
    assert!(error.to_string().contains("git worktree repair"));
    assert_eq!(records(&stage), 2);
    assert!(elsewhere.join("work").exists() && stage.has_branch(&worktree.branch));
}

#[tokio::test]
async fn a_folder_that_is_another_repository_now_is_not_removed() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    std::fs::remove_file(worktree.path.join(".git")).unwrap();
    let error = stage.worktrees.remove(&worktree, NOW).await.unwrap_err();
    assert!(matches!(error, WorktreeError::Forgotten { .. }), "{error}");
    stage.git_in(&worktree.path, &["init", "--quiet"]);
    let error = stage.worktrees.remove(&worktree, NOW).await.unwrap_err();
    assert!(matches!(error, WorktreeError::Forgotten { .. }), "{error}");
    assert!(worktree.path.join("readme").exists());
}

#[tokio::test]
async fn a_worktree_whose_repository_was_moved_is_told_and_works_again_when_repaired() {
    let stage = Stage::new();
    let worktree = stage.make(1, NewWorktree::default()).await.worktree;
    write(&worktree.path.join("new"), "new\n");
    let moved = stage.root.join("moved");
    std::fs::rename(&stage.repo, &moved).unwrap();
    for error in [
        stage.worktrees.diff(&worktree).await.unwrap_err(),
        stage.worktrees.summary(&worktree).await.unwrap_err(),
        stage.worktrees.remove(&worktree, NOW).await.unwrap_err(),
    ] {
        assert!(
            matches!(error, WorktreeError::RepositoryGone { .. }),
            "{error}"
        );
        assert!(error.to_string().contains("git worktree repair"));
    }
    let path = worktree.path.to_str().unwrap();
    stage.git_in(&moved, &["worktree", "repair", path]);
    // Any repository could say that it is the one: a person says so by a link at the old place.
    let error = stage.worktrees.diff(&worktree).await.unwrap_err();
    assert!(error.to_string().contains("put a link"), "{error}");
    std::os::unix::fs::symlink(&moved, &stage.repo).unwrap();
    let diff = stage.worktrees.diff(&worktree).await.unwrap();
    assert!(diff.contains("+new"), "{diff}");
    std::fs::remove_file(worktree.path.join("new")).unwrap();
    stage.worktrees.remove(&worktree, NOW).await.unwrap();
}
