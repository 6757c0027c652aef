//! Many worktrees of one name at once.
//!
//! Owns the race for a name: nobody gets another's, and nobody fails for it.

use std::collections::BTreeSet;

use countersign_host::control::session::NewWorktree;

use crate::stage::Stage;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_of_many_at_once_gets_a_name_of_its_own() {
    let stage = std::sync::Arc::new(Stage::new());
    let mut all = tokio::task::JoinSet::new();
    for number in 0..12 {
        let stage = stage.clone();
        all.spawn(async move {
            // Two orders of one session are a race for the folder, too.
            let session = number / 2;
            let new = NewWorktree::default();
            stage.try_make(session, &stage.repo, &new).await.unwrap()
        });
    }
    let (mut branches, mut paths) = (BTreeSet::new(), BTreeSet::new());
    while let Some(created) = all.join_next().await {
        let worktree = created.unwrap().worktree;
        let on = stage.git_in(&worktree.path, &["branch", "--show-current"]);
        assert_eq!(on, worktree.branch);
        branches.insert(worktree.branch);
        paths.insert(worktree.path);
    }
    assert_eq!((branches.len(), paths.len()), (12, 12));
    let records = stage.git(&["worktree", "list", "--porcelain"]);
    assert_eq!(records.matches("worktree ").count(), 13, "{records}");
    assert_eq!(stage.folders().len(), 12);
}
