//! Hooks that settings define, which git 2.54 and later have beside the folder of hooks.
//!
//! Owns what git is told of them. An older git runs none, and is told the same.

use crate::deceived::with_git;
use crate::stage::{NOW, Stage};

#[tokio::test]
async fn no_hook_of_the_settings_runs_when_a_worktree_is_made_and_removed() {
    let mut stage = Stage::new();
    let (ran, calls) = (stage.root.join("ran"), stage.root.join("calls"));
    for (name, event) in [("a.b", "post-checkout"), ("two", "reference-transaction")] {
        let command = format!("touch '{}'", ran.display());
        stage.git(&["config", &format!("hook.{name}.command"), &command]);
        stage.git(&["config", &format!("hook.{name}.event"), event]);
    }
    let _ = std::fs::remove_file(&ran);
    let set = "$GIT_CONFIG_COUNT $GIT_CONFIG_KEY_0=$GIT_CONFIG_VALUE_0 $GIT_CONFIG_KEY_1=$GIT_CONFIG_VALUE_1";
    let line = format!(
        "case \" $* \" in *' update-ref '*|*' read-tree '*|*' worktree add '*) echo \"{set}\" >>'{}';; esac",
        calls.display()
    );
    stage.worktrees = with_git(&stage, &line);
    let worktree = stage.plain().await;
    stage.worktrees.remove(&worktree, NOW).await.unwrap();
    assert!(!ran.exists());
    let calls = std::fs::read_to_string(&calls).unwrap();
    assert!(calls.lines().count() > 3, "{calls}");
    for call in calls.lines() {
        assert_eq!(call, "2 hook.a.b.enabled=false hook.two.enabled=false");
    }
}
