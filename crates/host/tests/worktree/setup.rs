//! The setup script: what it sees, what is told when it fails, what becomes of what it starts.
//!
//! Owns everything around the script. Waits by conditions, never by time alone.

use std::path::Path;
use std::time::{Duration, Instant};

use countersign_host::control::session::NewWorktree;
use countersign_host::worktree::{SetupEnd, SetupFailed, WorktreeError};

use crate::stage::{Stage, with_setup};

async fn fails(stage: &Stage, script: &str) -> SetupFailed {
    let made = stage.try_make(1, &stage.repo, &with_setup(script)).await;
    match made.unwrap_err() {
        WorktreeError::Setup(failed) => *failed,
        other => panic!("{other}"),
    }
}

/// The number that a script wrote, once it has.
pub(crate) fn pid_in(file: &Path) -> u32 {
    std::fs::read_to_string(file)
        .unwrap()
        .trim()
        .parse()
        .unwrap()
}

/// Whether a process runs. One that waits to be reaped does not.
fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}

/// Waits for the end of a process.
pub(crate) async fn ends(pid: u32) {
    let limit = Instant::now() + Duration::from_secs(30);
    while runs(pid) {
        assert!(Instant::now() < limit, "{pid} lives on");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_script_runs_in_the_session_s_folder_and_sees_where_it_is() {
    let stage = Stage::new();
    let script = r#"
        pwd; echo "$OF_THE_SESSION $COUNTERSIGN_BRANCH $GIT_DIR"
        cat "$COUNTERSIGN_REPOSITORY/readme" >&2
        git branch --show-current
    "#;
    let made = stage
        .try_make(1, &stage.repo.join("sub"), &with_setup(script))
        .await;
    let created = made.unwrap();
    let setup = created.setup.unwrap();
    assert_eq!(setup.end, SetupEnd::Code(0));
    let expected = format!(
        "{}\nyes countersign/fix-the-login \none\ncountersign/fix-the-login",
        created.worktree.cwd.display()
    );
    assert_eq!(setup.tail, expected);
    let kept = std::fs::read_to_string(&setup.log).unwrap();
    assert_eq!(kept.trim_end(), expected);
}

#[tokio::test]
async fn a_script_that_fails_is_told_with_its_last_words_and_leaves_nothing_at_its_place() {
    let stage = Stage::new();
    let failed = fails(&stage, "echo first; echo last words >&2; exit 7").await;
    assert_eq!(failed.end, SetupEnd::Code(7));
    assert_eq!(failed.tail, "first\nlast words");
    assert_eq!(failed.kept, None);
    let said = failed.to_string();
    assert!(
        said.contains("code 7") && said.contains("last words") && said.contains("nothing was left"),
        "{said}"
    );
    assert!(stage.folders().is_empty());
    assert!(!stage.has_branch("countersign/fix-the-login"));
    // What was checked out is in the trash: we delete nothing.
    let entries = stage.trash.list().unwrap().entries;
    assert_eq!(entries.len(), 1);
    assert!(stage.trash.place_of(&entries[0].id).join("readme").exists());
    // The name is free again.
    let worktree = stage.plain().await;
    assert_eq!(worktree.branch, "countersign/fix-the-login");
}

#[tokio::test]
async fn what_a_failed_script_has_made_is_kept() {
    for made in [
        "echo x > new",
        "mkdir target && echo x > target/built",
        "echo more >> readme",
        "git -c user.name=x -c user.email=x commit -q --allow-empty -m x",
    ] {
        let stage = Stage::new();
        let failed = fails(&stage, &format!("{made}; exit 1")).await;
        let kept = failed
            .kept
            .clone()
            .unwrap_or_else(|| panic!("{made}: {failed}"));
        assert!(kept.path.join(".git").exists(), "{made}");
        assert!(stage.has_branch(&kept.branch), "{made}");
        assert!(failed.to_string().contains(kept.path.to_str().unwrap()));
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_script_that_hangs_is_ended_with_all_it_started() {
    let mut stage = Stage::new();
    let limit = Duration::from_millis(1_500);
    stage.worktrees = stage.worktrees.clone().setup_limit(limit);
    let (own, forked, away) = ("own", "forked", "away");
    let at = |name: &str| stage.root.join(name);
    // One child in its group, and one that left it and ignores what it can.
    let script = format!(
        "echo $$ > {}; sleep 1000 & echo $! > {}
         setsid sh -c 'trap \"\" TERM HUP INT; echo $$ > {}; while :; do sleep 1000; done' &
         echo before; wait",
        at(own).display(),
        at(forked).display(),
        at(away).display(),
    );
    let began = Instant::now();
    let failed = fails(&stage, &script).await;
    assert!(matches!(failed.end, SetupEnd::TimedOut(_)), "{failed}");
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!(failed.tail, "before");
    for name in [own, forked, away] {
        assert!(!runs(pid_in(&at(name))), "{name}");
    }
    assert!(stage.folders().is_empty());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_script_leaves_running_is_ended_and_does_not_hold_the_start() {
    let stage = Stage::new();
    let pid = stage.root.join("pid");
    let script = format!("setsid sleep 1000 & echo $! > {}; echo done", pid.display());
    let created = stage.make(1, with_setup(&script)).await;
    let setup = created.setup.unwrap();
    assert_eq!(setup.end, SetupEnd::Code(0));
    assert_eq!(setup.tail, "done");
    // `setsid`, or `sleep` already.
    assert_eq!(setup.ended.len(), 1, "{:?}", setup.ended);
    assert!(!runs(pid_in(&pid)));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_start_that_is_given_up_ends_the_script() {
    let stage = Stage::new();
    let pid = stage.root.join("pid");
    let script = format!(
        "echo $$ > {0}.new; mv {0}.new {0}; sleep 1000",
        pid.display()
    );
    let new: NewWorktree = with_setup(&script);
    {
        let making = stage.try_make(1, &stage.repo, &new);
        tokio::pin!(making);
        let limit = Instant::now() + Duration::from_secs(30);
        while !pid.exists() {
            assert!(Instant::now() < limit, "the script never began");
            let wait = tokio::time::timeout(Duration::from_millis(10), &mut making);
            assert!(wait.await.is_err());
        }
    }
    ends(pid_in(&pid)).await;
}

#[tokio::test]
async fn a_flood_of_output_is_read_and_bounded() {
    let stage = Stage::new();
    let script = "head -c 9000000 /dev/zero | tr '\\0' 'x'; echo; echo the end";
    let created = stage.make(1, with_setup(script)).await;
    let setup = created.setup.unwrap();
    assert_eq!(setup.end, SetupEnd::Code(0));
    assert!(setup.tail.ends_with("\nthe end") && setup.tail.len() <= 8 * 1024);
    let kept = std::fs::metadata(&setup.log).unwrap().len();
    assert_eq!(kept, 4 * 1024 * 1024);
}

#[tokio::test]
async fn an_empty_script_is_none() {
    let stage = Stage::new();
    assert!(stage.make(1, with_setup(" \n")).await.setup.is_none());
}
