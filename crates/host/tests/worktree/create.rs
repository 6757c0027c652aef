//! A worktree that is made: where it lies, what it begins from, what it is called.
//!
//! Owns the good ways; what is refused stands in `refusals`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use countersign_host::control::session::NewWorktree;
use countersign_host::worktree::{Worktree, WorktreeError, slug};

use crate::stage::{NOW, Stage, from_base, session, write};

#[tokio::test]
async fn a_worktree_lies_outside_of_the_repository_on_its_own_branch() {
    let stage = Stage::new();
    let base = stage.git(&["rev-parse", "HEAD"]);
    let created = stage.make(1, NewWorktree::default()).await;
    let worktree = created.worktree;
    let name = format!("{}-fix-the-login", slug::short(session(1)));
    assert_eq!(worktree.path, stage.root.join("data/worktrees").join(name));
    assert_eq!(worktree.cwd.as_os_str(), worktree.path.as_os_str());
    assert_eq!(worktree.repo, stage.repo);
    assert_eq!(worktree.branch, "countersign/fix-the-login");
    assert_eq!(worktree.base.commit, base);
    assert_eq!(worktree.base.branch.as_deref(), Some("refs/heads/main"));
    assert_eq!(worktree.created, NOW);
    let on = stage.git_in(&worktree.path, &["branch", "--show-current"]);
    assert_eq!(on, worktree.branch);
    assert_eq!(
        std::fs::read(worktree.path.join("readme")).unwrap(),
        b"one\n"
    );
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
    assert!(created.setup.is_none() && created.notes.is_empty());
    // Nobody else may look into it.
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(&worktree.path)
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o077, 0);
}

#[tokio::test]
async fn a_worktree_is_stored_and_read_again_whatever_its_path() {
    let stage = Stage::new();
    let mut worktree = stage.plain().await;
    worktree.cwd = worktree.path.join(OsStr::from_bytes(b"sub\xff\n"));
    let text = serde_json::to_string(&worktree).unwrap();
    assert_eq!(serde_json::from_str::<Worktree>(&text).unwrap(), worktree);
}

#[tokio::test]
async fn the_session_works_in_the_same_sub_folder() {
    let stage = Stage::new();
    let odd = OsStr::from_bytes(b"sub/o\"d\xff\nd");
    write(&stage.repo.join(odd).join("file"), "x");
    stage.commit("odd");
    let cwd = stage.repo.join(odd);
    let made = stage.try_make(1, &cwd, &NewWorktree::default()).await;
    let worktree = made.unwrap().worktree;
    assert_eq!(worktree.cwd, worktree.path.join(odd));
    assert!(worktree.cwd.join("file").exists());
    // By a link into the repository too.
    let link = stage.root.join("link");
    std::os::unix::fs::symlink(stage.repo.join("sub"), &link).unwrap();
    let made = stage.try_make(2, &link, &NewWorktree::default()).await;
    let worktree = made.unwrap().worktree;
    assert_eq!(worktree.cwd, worktree.path.join("sub"));
}

#[tokio::test]
async fn a_sub_folder_that_the_base_does_not_have_is_made() {
    let stage = Stage::new();
    let cwd = stage.repo.join("not/yet");
    std::fs::create_dir_all(&cwd).unwrap();
    let made = stage.try_make(1, &cwd, &NewWorktree::default()).await;
    let worktree = made.unwrap().worktree;
    assert!(worktree.path.join("not/yet").is_dir());
    let removed = stage.worktrees.remove(&worktree, NOW).await;
    assert!(removed.is_ok(), "an empty folder is no work");
}

#[tokio::test]
async fn any_commit_can_be_the_base_and_is_stored() {
    let stage = Stage::new();
    let first = stage.git(&["rev-parse", "HEAD"]);
    stage.git(&["tag", "v1"]);
    stage.write("readme", "two\n");
    let second = stage.commit("second");
    for (number, base, commit, branch) in [
        (1, "main~1", &first, None),
        (2, "v1", &first, None),
        (3, &first[..10], &first, None),
        (4, "main", &second, Some("refs/heads/main")),
        (5, "@", &second, Some("refs/heads/main")),
    ] {
        let worktree = stage.make(number, from_base(base)).await.worktree;
        assert_eq!(&worktree.base.commit, commit, "{base}");
        assert_eq!(worktree.base.branch.as_deref(), branch, "{base}");
        assert_eq!(worktree.base.named, base);
        let head = stage.git_in(&worktree.path, &["rev-parse", "HEAD"]);
        assert_eq!(&head, commit, "{base}");
    }
}

#[tokio::test]
async fn names_that_exist_get_a_number() {
    let stage = Stage::new();
    stage.git(&["branch", "countersign/fix-the-login"]);
    stage.git(&["branch", "countersign/fix-the-login-2/below"]);
    let worktree = stage.plain().await;
    assert_eq!(worktree.branch, "countersign/fix-the-login-3");
    assert!(worktree.path.to_str().unwrap().ends_with("fix-the-login-3"));
    // A folder without a branch counts too.
    let other = stage.root.join("data/worktrees");
    let other = other.join(format!("{}-mine", slug::short(session(2))));
    std::fs::create_dir(&other).unwrap();
    let new = NewWorktree {
        slug: Some("Mine!".into()),
        ..NewWorktree::default()
    };
    let worktree = stage.make(2, new).await.worktree;
    assert_eq!(worktree.branch, "countersign/mine-2");
    assert!(!stage.has_branch("countersign/mine"));
}

#[tokio::test]
async fn a_name_that_another_worktree_is_still_on_is_not_used_again() {
    let stage = Stage::new();
    let first = stage.plain().await;
    // The branch is gone, the worktree is still on it.
    stage.git(&["update-ref", "-d", "refs/heads/countersign/fix-the-login"]);
    let second = stage.make(2, NewWorktree::default()).await.worktree;
    assert_eq!(second.branch, "countersign/fix-the-login-2");
    assert!(first.path.join(".git").exists());
}

#[tokio::test]
async fn a_worktree_begins_from_a_worktree() {
    let stage = Stage::new();
    let first = stage.plain().await;
    write(&first.path.join("new"), "new");
    let commit = stage.commit_in(&first.path, "in the first");
    let made = stage
        .try_make(2, &first.path, &NewWorktree::default())
        .await;
    let second = made.unwrap().worktree;
    assert_eq!(second.base.commit, commit);
    assert_eq!(
        second.base.branch.as_deref(),
        Some("refs/heads/countersign/fix-the-login")
    );
    assert_eq!(second.git_dir, first.git_dir);
}

#[tokio::test]
async fn a_bare_repository_with_worktrees_is_a_repository() {
    let stage = Stage::new();
    let bare = stage.root.join("bare.git");
    stage.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    let checked_out = stage.root.join("checked-out");
    let args = [
        "worktree",
        "add",
        "--quiet",
        checked_out.to_str().unwrap(),
        "main",
    ];
    stage.git_in(&bare, &args);
    let made = stage
        .try_make(1, &checked_out, &NewWorktree::default())
        .await;
    let worktree = made.unwrap().worktree;
    assert_eq!(worktree.git_dir, bare);
    stage.worktrees.remove(&worktree, NOW).await.unwrap();
}

#[tokio::test]
async fn hooks_of_the_repository_do_not_run() {
    let stage = Stage::new();
    let hook = stage.repo.join(".git/hooks/post-checkout");
    let ran = stage.root.join("ran");
    write(
        &hook,
        format!("#!/bin/sh\ntouch {}\nexit 1\n", ran.display()),
    );
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    stage.plain().await;
    assert!(!ran.exists());
}

#[tokio::test]
async fn submodules_are_told() {
    let stage = Stage::new();
    let inner = stage.root.join("inner");
    stage.git(&["clone", "--quiet", ".", inner.to_str().unwrap()]);
    let args = [
        "submodule",
        "--quiet",
        "add",
        inner.to_str().unwrap(),
        "module",
    ];
    stage.git(&args);
    stage.commit("with a submodule");
    let created = stage.make(1, NewWorktree::default()).await;
    assert!(created.notes[0].contains("git submodule update --init"));
    // A start from inside of it is refused, and says where to start.
    let module = stage.repo.join("module");
    let error = stage.try_make(2, &module, &NewWorktree::default()).await;
    let error = error.unwrap_err();
    assert!(matches!(&error, WorktreeError::Submodule { of, .. } if *of == stage.repo));
}
