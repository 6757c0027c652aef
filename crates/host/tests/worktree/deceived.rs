//! Worktrees that somebody prepared: links, files `.git` that lie, settings of the repository that run programs.
//!
//! Owns what an agent can lay out in its worktree and its repository, and says what is still there after a removal.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use countersign_host::control::session::NewWorktree;
use countersign_host::worktree::{BranchFate, Losses, Worktree, WorktreeError, Worktrees};

use crate::stage::{NOW, Stage, write};

/// A git that runs a line of shell before it does what it was asked for.
pub(crate) fn with_git(stage: &Stage, line: &str) -> Worktrees {
    let bin = stage.root.join("bin");
    let script = format!("#!/bin/sh\n{line}\nexec /usr/bin/git \"$@\"\n");
    write(&bin.join("git"), script);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(bin.join("git"), mode).unwrap();
    let mut env = stage.env();
    env.retain(|(name, _)| name != "PATH");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    env.push(("PATH".into(), path.into()));
    Worktrees::new(stage.worktrees.folder(), stage.trash.clone(), env)
}

/// A folder of the person, which git would find clean in the place of the worktree.
fn private(stage: &Stage, admin: &Path) -> PathBuf {
    let private = stage.root.join("private");
    write(&private.join("diary"), "dear diary\n");
    write(&private.join("readme"), "one\n");
    write(&private.join(".gitignore"), "target/\n*.log\n");
    write(&private.join("sub/inner"), "inner\n");
    write(
        &private.join(".git"),
        format!("gitdir: {}\n", admin.display()),
    );
    stage.write(".git/info/exclude", "*\n");
    private
}

fn admin(stage: &Stage, worktree: &Worktree) -> PathBuf {
    let said = stage.git_in(&worktree.path, &["rev-parse", "--absolute-git-dir"]);
    PathBuf::from(said)
}

async fn losses(stage: &Stage, worktree: &Worktree) -> Losses {
    match stage.stays(worktree).await {
        WorktreeError::WouldLose { losses, .. } => *losses,
        other => panic!("{other}"),
    }
}

/// Removes a worktree while whatever git does puts a link at its place, once it is free.
async fn removed_under_a_link(stage: &Stage, worktree: &Worktree, target: &Path) {
    let line = format!(
        "[ -e '{0}' ] || ln -s '{1}' '{0}'",
        worktree.path.display(),
        target.display()
    );
    let worktrees = with_git(stage, &line);
    worktrees.remove(worktree, NOW).await.unwrap();
    let link = std::fs::symlink_metadata(&worktree.path).unwrap();
    assert!(link.is_symlink(), "somebody put it there");
}

#[tokio::test]
async fn a_link_that_takes_the_place_of_a_worktree_while_it_is_removed_is_not_followed() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    let private = private(&stage, &admin(&stage, &worktree));
    removed_under_a_link(&stage, &worktree, &private).await;
    let kept = std::fs::read_to_string(private.join("diary")).unwrap();
    assert_eq!(kept, "dear diary\n");
    assert!(private.join("readme").exists() && private.join(".git").exists());
    assert!(!stage.has_branch(&worktree.branch));
}

#[tokio::test]
async fn a_link_at_the_place_of_a_worktree_that_was_removed_before_is_not_followed() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    stage.worktrees.remove(&worktree, NOW).await.unwrap();
    stage.worktrees.restore(&worktree).await.unwrap();
    let elsewhere = stage.root.join("elsewhere");
    write(&worktree.path.join("target/built"), "took long");
    std::fs::rename(&worktree.path, &elsewhere).unwrap();
    symlink(&elsewhere, &worktree.path).unwrap();
    let error = stage
        .worktrees
        .remove(&worktree, NOW + 1)
        .await
        .unwrap_err();
    assert!(matches!(error, WorktreeError::FolderGone { .. }), "{error}");
    assert!(elsewhere.join("target/built").exists() && elsewhere.join("readme").exists());
    assert!(stage.has_branch(&worktree.branch));
}

#[tokio::test]
async fn what_lies_at_the_place_of_a_worktree_that_cannot_be_made_is_not_removed() {
    let stage = Stage::new();
    let private = stage.root.join("private");
    write(&private.join("diary"), "dear diary\n");
    let place = stage.worktrees.folder().join("00000001-fix-the-login");
    // A filter that puts a link there, and fails.
    let filter = format!(
        "mv '{0}' '{0}.away' && ln -s '{1}' '{0}'; exit 1",
        place.display(),
        private.display()
    );
    stage.write(".gitattributes", "readme filter=away\n");
    stage.commit("with a filter");
    stage.git(&["config", "filter.away.smudge", &filter]);
    stage.git(&["config", "filter.away.required", "true"]);
    let made = stage
        .try_make(1, &stage.repo, &NewWorktree::default())
        .await;
    assert!(made.is_err(), "{made:?}");
    let kept = std::fs::read_to_string(private.join("diary")).unwrap();
    assert_eq!(kept, "dear diary\n");
}

#[tokio::test]
async fn a_removed_worktree_comes_back_with_what_git_does_not_know() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    write(&worktree.path.join("target/built"), "took long");
    let log = std::fs::read(admin(&stage, &worktree).join("logs/HEAD")).unwrap();
    stage.worktrees.remove(&worktree, NOW).await.unwrap();
    assert!(stage.worktrees.restore(&worktree).await.unwrap());
    let built = std::fs::read_to_string(worktree.path.join("target/built")).unwrap();
    assert_eq!(built, "took long");
    assert_eq!(
        std::fs::read(admin(&stage, &worktree).join("logs/HEAD")).unwrap(),
        log
    );
    assert_eq!(stage.git_in(&worktree.path, &["status", "--porcelain"]), "");
    assert!(stage.trash.list().unwrap().entries.is_empty());
    // And goes again.
    stage.worktrees.remove(&worktree, NOW + 1).await.unwrap();
}

#[tokio::test]
async fn a_worktree_whose_branch_has_gone_on_comes_back_at_its_newest_commit() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    write(&worktree.path.join("target/built"), "took long");
    stage.worktrees.remove(&worktree, NOW).await.unwrap();
    stage.git(&["switch", "--quiet", "-c", &worktree.branch]);
    stage.write("readme", "two\n");
    stage.commit("two");
    stage.git(&["switch", "--quiet", "main"]);
    assert!(stage.worktrees.restore(&worktree).await.unwrap());
    let text = std::fs::read_to_string(worktree.path.join("readme")).unwrap();
    assert_eq!(text, "two\n");
    assert_eq!(stage.git_in(&worktree.path, &["status", "--porcelain"]), "");
    // What was removed lies where it was, and speaks for the worktree no more.
    let entries = stage.trash.list().unwrap().entries;
    assert_eq!(entries.len(), 1);
    assert!(
        entries[0].used
            && stage
                .trash
                .place_of(&entries[0].id)
                .join("target/built")
                .exists()
    );
}

#[tokio::test]
async fn a_worktree_that_an_earlier_build_removed_comes_back() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    stage.trash.put(&worktree.path, "removed", NOW).unwrap();
    stage.git(&["worktree", "prune", "--expire", "now"]);
    assert!(stage.worktrees.restore(&worktree).await.unwrap());
    let on = stage.git_in(&worktree.path, &["branch", "--show-current"]);
    assert_eq!(on, worktree.branch);
    stage.worktrees.remove(&worktree, NOW + 1).await.unwrap();
}

#[tokio::test]
async fn a_removal_and_a_return_that_were_stopped_half_way_are_ended() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    write(&worktree.path.join("target/built"), "took long");
    let admin = admin(&stage, &worktree);
    stage.worktrees.remove(&worktree, NOW).await.unwrap();
    let id = stage.trash.list().unwrap().entries[0].id.clone();
    // The record came back, the folder not yet.
    std::fs::create_dir_all(admin.parent().unwrap()).unwrap();
    stage.trash.restore_record(&id, &admin).unwrap();
    assert!(stage.worktrees.restore(&worktree).await.unwrap());
    assert!(worktree.path.join("target/built").exists());
    assert_eq!(stage.git_in(&worktree.path, &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn an_older_copy_in_the_trash_is_no_leave_to_forget_a_worktree_that_was_moved() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    // As an earlier build removed and restored it: a copy stays in the trash.
    stage.trash.put(&worktree.path, "removed", NOW).unwrap();
    stage.git(&["worktree", "prune", "--expire", "now"]);
    let path = worktree.path.to_str().unwrap();
    stage.git(&["worktree", "add", "--quiet", path, &worktree.branch]);
    stage.git_in(&worktree.path, &["checkout", "--quiet", "--detach"]);
    write(&worktree.path.join("work"), "work");
    let commit = stage.commit_in(&worktree.path, "work");
    let elsewhere = stage.root.join("elsewhere");
    std::fs::rename(&worktree.path, &elsewhere).unwrap();
    let error = stage
        .worktrees
        .remove(&worktree, NOW + 1)
        .await
        .unwrap_err();
    assert!(matches!(error, WorktreeError::FolderGone { .. }), "{error}");
    stage.git(&["worktree", "repair", elsewhere.to_str().unwrap()]);
    assert_eq!(stage.git_in(&elsewhere, &["rev-parse", "HEAD"]), commit);
}

#[tokio::test]
async fn a_worktree_that_was_restored_and_moved_is_not_forgotten() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    stage.worktrees.remove(&worktree, NOW).await.unwrap();
    stage.worktrees.restore(&worktree).await.unwrap();
    stage.git_in(&worktree.path, &["checkout", "--quiet", "--detach"]);
    write(&worktree.path.join("work"), "work");
    let commit = stage.commit_in(&worktree.path, "work");
    let elsewhere = stage.root.join("elsewhere");
    std::fs::rename(&worktree.path, &elsewhere).unwrap();
    let error = stage
        .worktrees
        .remove(&worktree, NOW + 1)
        .await
        .unwrap_err();
    assert!(matches!(error, WorktreeError::FolderGone { .. }), "{error}");
    stage.git(&["worktree", "repair", elsewhere.to_str().unwrap()]);
    assert_eq!(stage.git_in(&elsewhere, &["rev-parse", "HEAD"]), commit);
}

#[tokio::test]
async fn another_repository_does_not_answer_for_a_worktree() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    write(&worktree.path.join("work"), "work");
    // A clean worktree of another repository, whose record is lent to this one.
    let other = stage.root.join("other");
    stage.git(&["clone", "--quiet", ".", other.to_str().unwrap()]);
    let clean = stage.root.join("clean");
    let clean_path = clean.to_str().unwrap();
    stage.git_in(
        &other,
        &["worktree", "add", "--quiet", "-b", "x", clean_path],
    );
    write(&other.join(".git/info/exclude"), "*\n");
    std::fs::copy(clean.join(".git"), worktree.path.join(".git")).unwrap();
    let lent = stage.git_in(&clean, &["rev-parse", "--absolute-git-dir"]);
    let named = format!("{}\n", worktree.path.join(".git").display());
    write(&Path::new(&lent).join("gitdir"), named);
    let error = stage.stays(&worktree).await;
    assert!(matches!(error, WorktreeError::Forgotten { .. }), "{error}");
    // Nor does another worktree of its own repository.
    let second = stage.make(2, NewWorktree::default()).await.worktree;
    std::fs::copy(second.path.join(".git"), worktree.path.join(".git")).unwrap();
    let error = stage.stays(&worktree).await;
    assert!(matches!(error, WorktreeError::Forgotten { .. }), "{error}");
    let error = stage.worktrees.check_place(&worktree).unwrap_err();
    assert!(matches!(error, WorktreeError::Forgotten { .. }), "{error}");
    assert!(worktree.path.join("work").exists());
}

#[tokio::test]
async fn settings_of_a_worktree_do_not_lead_git_to_other_files() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    let second = stage.make(2, NewWorktree::default()).await.worktree;
    write(&worktree.path.join("work"), "work");
    stage.git(&["config", "extensions.worktreeConfig", "true"]);
    let set = ["config", "--worktree", "core.worktree"];
    stage.git_in(
        &worktree.path,
        &[&set[..], &[second.path.to_str().unwrap()]].concat(),
    );
    let lost = losses(&stage, &worktree).await;
    assert_eq!(lost.untracked.first, [Path::new("work")]);
}

#[tokio::test]
async fn a_fork_is_made_from_the_repository_of_its_session_alone() {
    let stage = Stage::new();
    let theirs = stage.plain().await;
    let other = stage.root.join("private");
    stage.git(&["clone", "--quiet", ".", other.to_str().unwrap()]);
    std::fs::rename(&theirs.path, stage.root.join("elsewhere")).unwrap();
    let beside = async || {
        let env = std::collections::BTreeMap::new();
        let order = countersign_host::worktree::Order {
            session: crate::stage::session(2),
            cwd: &theirs.cwd,
            new: &NewWorktree::default(),
            name: "a fork",
            env: &env,
            now: NOW,
        };
        stage.worktrees.create_beside(order, &theirs).await
    };
    symlink(&other, &theirs.path).unwrap();
    let error = beside().await.unwrap_err();
    assert!(matches!(error, WorktreeError::FolderGone { .. }), "{error}");
    std::fs::remove_file(&theirs.path).unwrap();
    stage.git(&["clone", "--quiet", ".", theirs.path.to_str().unwrap()]);
    let error = beside().await.unwrap_err();
    assert!(matches!(error, WorktreeError::Forgotten { .. }), "{error}");
    std::fs::remove_dir_all(&theirs.path).unwrap();
    std::fs::rename(stage.root.join("elsewhere"), &theirs.path).unwrap();
    let made = beside().await.unwrap().worktree;
    assert_eq!(made.git_dir, theirs.git_dir);
}

#[tokio::test]
async fn what_lies_at_the_place_of_a_removed_worktree_is_not_taken_for_it() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    stage.worktrees.remove(&worktree, NOW).await.unwrap();
    let private = stage.root.join("private");
    write(&private.join("diary"), "dear diary\n");
    symlink(&private, &worktree.path).unwrap();
    let error = stage.worktrees.restore(&worktree).await.unwrap_err();
    assert!(matches!(error, WorktreeError::FolderGone { .. }), "{error}");
    std::fs::remove_file(&worktree.path).unwrap();
    write(&worktree.path.join("other"), "other");
    let error = stage.worktrees.restore(&worktree).await.unwrap_err();
    assert!(matches!(error, WorktreeError::Forgotten { .. }), "{error}");
    assert!(worktree.path.join("other").exists() && private.join("diary").exists());
}

#[tokio::test]
async fn commits_that_another_object_stands_in_for_are_not_merged() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    write(&worktree.path.join("work"), "work");
    let work = stage.commit_in(&worktree.path, "work");
    let main = stage.git(&["rev-parse", "main"]);
    // `main` as if it came after the work.
    let tree = stage.git(&["rev-parse", "main^{tree}"]);
    let forged = stage.git(&["commit-tree", "-p", &work, "-m", "forged", &tree]);
    stage.git(&["replace", &main, &forged]);
    assert_eq!(losses(&stage, &worktree).await.unmerged[0].commits, 1);
    stage.git(&["replace", "-d", &main]);
    write(
        &stage.repo.join(".git/info/grafts"),
        format!("{main} {work}\n"),
    );
    assert_eq!(losses(&stage, &worktree).await.unmerged[0].commits, 1);
    assert!(stage.has_branch(&worktree.branch));
}

#[tokio::test]
async fn a_branch_that_only_names_the_one_of_a_worktree_does_not_hold_its_commits() {
    for name in ["refs/heads/zz", "refs/remotes/zz/x"] {
        let stage = Stage::new();
        let worktree = stage.plain().await;
        write(&worktree.path.join("work"), "work");
        stage.commit_in(&worktree.path, "work");
        let full = format!("refs/heads/{}", worktree.branch);
        stage.git(&["symbolic-ref", name, &full]);
        let lost = losses(&stage, &worktree).await;
        assert_eq!(lost.unmerged[0].commits, 1, "{name}");
    }
}

#[tokio::test]
async fn the_branch_that_the_one_of_a_worktree_names_by_now_is_not_deleted() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    stage.git(&["switch", "--quiet", "-c", "feature"]);
    stage.write("feature", "of a person");
    let feature = stage.commit("feature");
    stage.git(&["switch", "--quiet", "main"]);
    let full = format!("refs/heads/{}", worktree.branch);
    stage.git_in(&worktree.path, &["checkout", "--quiet", "--detach"]);
    stage.git(&["symbolic-ref", &full, "refs/heads/feature"]);
    stage.worktrees.remove(&worktree, NOW).await.unwrap();
    assert_eq!(stage.git(&["rev-parse", "refs/heads/feature"]), feature);
}

#[tokio::test]
async fn a_pipe_among_the_files_of_git_keeps_nobody_waiting() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    let log = admin(&stage, &worktree).join("logs/HEAD");
    std::fs::remove_file(&log).unwrap();
    make_pipe(&log);
    let looked = stage.worktrees.losses(&worktree);
    let limit = std::time::Duration::from_secs(60);
    let lost = tokio::time::timeout(limit, looked).await.unwrap().unwrap();
    assert!(lost.is_nothing(), "{lost}");
    let file = worktree.path.join(".git");
    std::fs::remove_file(&file).unwrap();
    make_pipe(&file);
    let error = stage.worktrees.losses(&worktree).await.unwrap_err();
    assert!(matches!(error, WorktreeError::Forgotten { .. }), "{error}");
}

fn make_pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

#[tokio::test]
async fn no_program_that_the_repository_names_runs_when_a_worktree_is_looked_at() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    write(&worktree.path.join("readme"), "ours\n");
    stage.commit_in(&worktree.path, "ours");
    stage.write("readme", "theirs\n");
    stage.commit("theirs");
    let ran = stage.root.join("ran");
    let program = format!("touch '{}'; cat", ran.display());
    for (key, value) in [
        (
            "merge.ours.driver",
            &*format!("touch '{}'; true", ran.display()),
        ),
        ("filter.mine.clean", &program),
        ("gpg.program", &program),
        ("log.showSignature", "true"),
    ] {
        stage.git(&["config", key, value]);
    }
    stage.write(".git/info/attributes", "* merge=ours filter=mine\n");
    write(&worktree.path.join("sub/inner"), "changed\n");
    let lost = losses(&stage, &worktree).await;
    // A driver that takes nothing over makes no merge of it.
    assert_eq!(lost.unmerged[0].commits, 1);
    assert_eq!(lost.uncommitted.first, [Path::new("sub/inner")]);
    stage.worktrees.summary(&worktree).await.unwrap();
    let diff = stage.worktrees.diff(&worktree).await.unwrap();
    assert!(diff.contains("+changed"), "{diff}");
    assert!(!ran.exists(), "a program ran");
}

#[tokio::test]
async fn a_commit_without_a_branch_stays_though_its_changes_are_elsewhere() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    stage.git_in(&worktree.path, &["switch", "--quiet", "--detach"]);
    write(&worktree.path.join("work"), "work\n");
    stage.commit_in(&worktree.path, "work, told at length");
    stage.write("work", "work\n");
    stage.commit("work");
    let lost = losses(&stage, &worktree).await;
    assert!(lost.unmerged[0].on.starts_with("no branch"), "{lost:?}");
}

#[tokio::test]
async fn a_change_that_git_was_told_not_to_see_stays() {
    for hide in ["--assume-unchanged", "--skip-worktree"] {
        let stage = Stage::new();
        let worktree = stage.plain().await;
        stage.git_in(&worktree.path, &["update-index", hide, "readme"]);
        write(&worktree.path.join("readme"), "changed\n");
        let lost = losses(&stage, &worktree).await;
        assert_eq!(lost.hidden.first, [Path::new("readme")], "{hide}");
        assert!(lost.to_string().contains("may hide changes"), "{lost}");
    }
}

#[tokio::test]
async fn the_log_of_a_setup_script_is_not_written_behind_a_link() {
    let stage = Stage::new();
    let private = stage.root.join("private");
    write(&private, "dear diary\n");
    // Somebody is quicker than the script: the checkout's filter.
    let filter = format!(
        "ln -s '{}' \"$GIT_DIR/countersign-setup.log\" || exit 1; cat",
        private.display()
    );
    stage.write(".gitattributes", "readme filter=link\n");
    stage.commit("with a filter");
    stage.git(&["config", "filter.link.smudge", &filter]);
    stage.git(&["config", "filter.link.clean", "cat"]);
    stage.git(&["config", "filter.link.required", "true"]);
    let new = crate::stage::with_setup("echo overwritten");
    let made = stage.make(1, new).await;
    let log = made.setup.unwrap();
    assert!(log.log.is_symlink(), "the link was there first");
    assert_eq!(log.tail, "overwritten");
    assert_eq!(std::fs::read_to_string(&private).unwrap(), "dear diary\n");
    assert_eq!(made.worktree.branch, "countersign/fix-the-login");
    let removed = stage.worktrees.remove(&made.worktree, NOW).await.unwrap();
    assert_eq!(removed.branch, BranchFate::Deleted);
}
