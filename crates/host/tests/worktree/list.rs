//! What is told of worktrees that are there, were moved, or have gone.
//!
//! Owns each way in which our word, git's and the disk's can differ.

use countersign_host::control::session::NewWorktree;
use countersign_host::worktree::{Standing, Worktree};

use crate::stage::{NOW, Stage};

async fn standings(stage: &Stage, known: &[Worktree]) -> Vec<Standing> {
    let listed = stage.worktrees.list(known).await.unwrap();
    listed.into_iter().map(|one| one.standing).collect()
}

#[tokio::test]
async fn each_worktree_is_told_as_it_stands() {
    let stage = Stage::new();
    let mut known = Vec::new();
    for number in 0..6 {
        let made = stage.make(number, NewWorktree::default()).await;
        known.push(made.worktree);
    }
    let path = |n: usize| known[n].path.to_str().unwrap();
    let there = Standing::There { locked: None };
    assert_eq!(standings(&stage, &known).await, vec![there.clone(); 6]);

    let moved = stage.root.join("moved");
    stage.git(&["worktree", "move", path(1), moved.to_str().unwrap()]);
    std::fs::rename(path(2), stage.root.join("by hand")).unwrap();
    stage.worktrees.remove(&known[3], NOW).await.unwrap();
    stage.git(&["worktree", "lock", path(4)]);
    std::fs::rename(path(5), stage.root.join("kept")).unwrap();
    stage.git(&["worktree", "prune"]);
    std::fs::rename(stage.root.join("kept"), path(5)).unwrap();
    let expected = [
        there,
        Standing::Moved { to: moved },
        // Pruned with the fifth: its folder is elsewhere, and git knows nothing of it.
        Standing::Removed,
        Standing::Removed,
        Standing::There {
            locked: Some(String::new()),
        },
        Standing::Forgotten,
    ];
    assert_eq!(standings(&stage, &known).await, expected);
}

#[tokio::test]
async fn a_folder_that_is_gone_is_told_until_git_forgets_it() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    std::fs::rename(&worktree.path, stage.root.join("by hand")).unwrap();
    let known = [worktree];
    assert_eq!(standings(&stage, &known).await, [Standing::FolderGone]);
    // Moved by hand and repaired: git says where it is.
    let to = stage.root.join("by hand");
    stage.git_in(&to, &["worktree", "repair"]);
    assert_eq!(standings(&stage, &known).await, [Standing::Moved { to }]);
}

#[tokio::test]
async fn a_repository_that_is_gone_is_told() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    std::fs::rename(&stage.repo, stage.root.join("away")).unwrap();
    assert_eq!(
        standings(&stage, &[worktree]).await,
        [Standing::RepositoryGone]
    );
}

#[tokio::test]
async fn folders_that_no_session_has_are_told() {
    let stage = Stage::new();
    let worktree = stage.plain().await;
    let stray = stage.worktrees.folder().join("stray\n");
    std::fs::create_dir(&stray).unwrap();
    let listed = stage.worktrees.list(&[]).await.unwrap();
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|one| one.standing == Standing::Stray));
    let listed = stage.worktrees.list(&[worktree]).await.unwrap();
    assert_eq!(listed[1].path, stray);
    assert_eq!(listed[1].worktree, None);
}
