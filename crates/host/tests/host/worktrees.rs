//! Sessions in a worktree of their own: the folder, the branch, the difference, and what is not thrown away.

use std::path::Path;

use countersign_host::control::session::{NewWorktree, Setup};
use countersign_host::control::{
    Command, Control, ControlError, Decide, ForkWorktree, Message, NewSession, SessionId,
};

use crate::stage::{DEADLINE, Stage};

/// Writes a file in its folder, and says where it is.
const WRITES: &str = r#"
turn always
  tool Write {"file_path":"${cwd}/${prompt}.txt","content":"made here\n"}
  say "I am in ${cwd}."
"#;

/// A repository with one commit.
fn repository(stage: &Stage) {
    let project = stage.project();
    std::fs::write(project.join("readme"), "one\n").unwrap();
    for words in [
        &["init", "-q", "-b", "main"][..],
        &["add", "."],
        &[
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@example.org",
            "commit",
            "-qm",
            "first",
        ],
    ] {
        git(&project, stage.root(), words);
    }
}

fn git(folder: &Path, root: &Path, words: &[&str]) -> String {
    let done = std::process::Command::new("git")
        .args(words)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", root.join("home"))
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{words:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
    String::from_utf8(done.stdout).unwrap()
}

fn new(stage: &Stage, worktree: NewWorktree) -> NewSession {
    NewSession {
        id: SessionId::fresh(),
        prompt: Some(Message::text("added")),
        cwd: stage.project(),
        setup: Setup::default(),
        worktree: Some(worktree),
    }
}

async fn worked(stage: &Stage, worktree: NewWorktree) -> SessionId {
    let new = new(stage, worktree);
    let id = new.id;
    stage.execute(Command::Start(Box::new(new))).await;
    let open = stage.open_approvals(id, 1).await;
    stage.decide(&open[0], Decide::allow()).await;
    stage.until(id, "idle").await;
    id
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_works_in_its_own_folder_on_its_own_branch() {
    let stage = Stage::new(WRITES).await;
    repository(&stage);
    let worktree = NewWorktree {
        slug: Some("try-it".to_owned()),
        setup: Some("echo ready > prepared".to_owned()),
        ..NewWorktree::default()
    };
    let id = worked(&stage, worktree).await;
    let view = stage.view(id).await;
    assert_eq!(view.branch.as_deref(), Some("countersign/try-it"));
    assert!(!view.cwd.starts_with(stage.project()), "{:?}", view.cwd);
    assert!(view.cwd.join("added.txt").exists() && view.cwd.join("prepared").exists());
    assert!(!stage.project().join("added.txt").exists());
    stage
        .until_said(id, &format!("I am in {}.", view.cwd.display()))
        .await;
    let branch = git(&view.cwd, stage.root(), &["branch", "--show-current"]);
    assert_eq!(branch.trim(), "countersign/try-it");
    let diff = stage.host().diff(id).await.unwrap();
    assert!(
        diff.contains("added.txt") && diff.contains("+made here"),
        "{diff}"
    );
    assert!(!diff.contains("readme"), "{diff}");
    // Its next agent is in the same place.
    stage.execute(Command::Stop { session: id }).await;
    stage.until(id, "stopped").await;
    let message = Some(Message::text("second"));
    stage
        .execute(Command::Resume {
            session: id,
            message,
        })
        .await;
    let open = stage.open_approvals(id, 1).await;
    stage.decide(&open[0], Decide::allow()).await;
    stage.until(id, "idle").await;
    assert!(view.cwd.join("second.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_whose_client_hangs_up_is_one_session_with_one_worktree() {
    let stage = Stage::new(WRITES).await;
    repository(&stage);
    let (begun, goes_on) = (stage.root().join("begun"), stage.root().join("goes-on"));
    let script = format!(
        "touch {}; while [ ! -e {} ]; do sleep 0.05; done",
        begun.display(),
        goes_on.display()
    );
    let new = new(
        &stage,
        NewWorktree {
            slug: Some("try-it".to_owned()),
            setup: Some(script),
            ..NewWorktree::default()
        },
    );
    let (id, start) = (new.id, Command::Start(Box::new(new)));
    let cmd = Stage::cmd().key("once");
    let client = tokio::spawn({
        let (host, cmd, start) = (stage.host().clone(), cmd.clone(), start.clone());
        async move { host.execute(cmd, start).await }
    });
    let began = std::time::Instant::now();
    while !begun.exists() {
        assert!(began.elapsed() < DEADLINE, "the script does not begin");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    client.abort();
    assert!(client.await.is_err(), "it hung up before it was answered");
    std::fs::write(&goes_on, "").unwrap();
    stage.host().execute(cmd, start).await.unwrap();
    stage.open_approvals(id, 1).await;
    let view = stage.view(id).await;
    assert_eq!(view.branch.as_deref(), Some("countersign/try-it"));
    let list = ["branch", "--list", "countersign/*"];
    let branches = git(&stage.project(), stage.root(), &list);
    assert_eq!(branches.lines().count(), 1, "{branches}");
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_is_nowhere_else_outlives_the_trash() {
    let stage = Stage::new(WRITES).await;
    repository(&stage);
    let id = worked(&stage, NewWorktree::default()).await;
    let cwd = stage.view(id).await.cwd;
    stage.execute(Command::Trash { session: id }).await;
    assert!(cwd.join("added.txt").exists());
    stage.execute(Command::Restore { session: id }).await;
    assert!(stage.host().diff(id).await.unwrap().contains("added.txt"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_made_is_refused_before_a_session_is_there() {
    let stage = Stage::new(WRITES).await;
    let start = async |worktree: NewWorktree| {
        let new = new(&stage, worktree);
        let id = new.id;
        let done = stage
            .host()
            .execute(Stage::cmd(), Command::Start(Box::new(new)))
            .await;
        let there = stage.host().session(id).await;
        assert!(
            matches!(there, Err(ControlError::NotFound { .. })),
            "{there:?}"
        );
        done
    };
    let no_repository = start(NewWorktree::default()).await;
    assert!(
        matches!(no_repository, Err(ControlError::Invalid { .. })),
        "{no_repository:?}"
    );
    repository(&stage);
    let base = Some("no-such-branch".to_owned());
    let no_base = start(NewWorktree {
        base,
        ..NewWorktree::default()
    })
    .await;
    assert!(
        matches!(no_base, Err(ControlError::Invalid { .. })),
        "{no_base:?}"
    );
    let plain = stage.start("plain").await;
    let open = stage.open_approvals(plain, 1).await;
    stage.decide(&open[0], Decide::deny("No.")).await;
    let diff = stage.host().diff(plain).await;
    assert!(matches!(diff, Err(ControlError::NotNow { .. })), "{diff:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_of_the_repository_holds_in_its_worktrees() {
    use countersign_host::control::approval::{Remember, Scope};
    let scenario = r#"
turn always
  tool Bash {"command":"touch ${prompt}","description":"Leave a mark"}
  say "Done."
"#;
    let stage = Stage::new(scenario).await;
    repository(&stage);
    let plain = stage.start("one").await;
    let open = stage.open_approvals(plain, 1).await;
    let remember = Remember {
        rules: vec!["Bash(touch *)".to_owned()],
        scope: Scope::Repository,
        expires: None,
        also_cli: false,
    };
    let decide = Decide::Allow {
        updated_input: None,
        remember: Some(remember),
        mode: None,
        add_dirs: Vec::new(),
    };
    stage.decide(&open[0], decide).await;
    stage.until(plain, "idle").await;
    let new = new(&stage, NewWorktree::default());
    let id = new.id;
    stage.execute(Command::Start(Box::new(new))).await;
    let done = |view: &countersign_host::control::SessionView| {
        view.state.name() == "idle" && view.generation == 1 && view.queued == 0
    };
    let view = stage.until_seen(id, "done without a question", done).await;
    assert!(view.cwd.join("added").exists());
}

/// A session in a worktree, with what it wrote committed there.
async fn committed(stage: &Stage) -> (SessionId, std::path::PathBuf) {
    repository(stage);
    let id = worked(stage, NewWorktree::default()).await;
    let cwd = stage.view(id).await.cwd;
    git(&cwd, stage.root(), &["add", "--all"]);
    commit(&cwd, stage, "what was added");
    (id, cwd)
}

fn commit(cwd: &Path, stage: &Stage, message: &str) {
    let who = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
    let words = [&who[..], &["commit", "-qm", message]].concat();
    git(cwd, stage.root(), &words);
}

async fn fork(stage: &Stage, session: SessionId, worktree: ForkWorktree) -> SessionId {
    let id = SessionId::fresh();
    let message = Some(Message::text("second"));
    let fork = Command::Fork {
        session,
        id,
        message,
        worktree,
    };
    stage.execute(fork).await;
    let open = stage.open_approvals(id, 1).await;
    stage.decide(&open[0], Decide::allow()).await;
    stage.until(id, "idle").await;
    id
}

async fn remove(stage: &Stage, session: SessionId) -> Result<(), ControlError> {
    let command = Command::RemoveWorktree { session };
    let done = stage.host().execute(Stage::cmd(), command).await;
    done.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_of_a_worktree_session_gets_its_own_worktree_and_branch() {
    let stage = Stage::new(WRITES).await;
    let (id, cwd) = committed(&stage).await;
    let old = stage.view(id).await;
    let new = fork(&stage, id, ForkWorktree::Own).await;
    let view = stage.view(new).await;
    assert_ne!(view.cwd, old.cwd);
    assert_ne!(view.branch, old.branch);
    assert_eq!(
        view.repository,
        Some(stage.project().canonicalize().unwrap())
    );
    assert_eq!(view.repository, old.repository);
    // What was committed is there, and what it writes is its own.
    assert!(view.cwd.join("added.txt").exists() && view.cwd.join("second.txt").exists());
    assert!(!cwd.join("second.txt").exists());
    stage
        .until_said(new, &format!("I am in {}.", view.cwd.display()))
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_shares_the_worktree_only_when_it_is_asked_to() {
    let stage = Stage::new(WRITES).await;
    let (id, cwd) = committed(&stage).await;
    let new = fork(&stage, id, ForkWorktree::Shared).await;
    assert_eq!(stage.view(new).await.cwd, cwd);
    assert!(cwd.join("second.txt").exists());
    // As long as one of them works in it, the other one's removal leaves it there.
    git(&cwd, stage.root(), &["add", "--all"]);
    commit(&cwd, &stage, "the second one");
    let branch = stage.view(id).await.branch.unwrap();
    git(&stage.project(), stage.root(), &["merge", "-q", &branch]);
    stage.execute(Command::Trash { session: new }).await;
    let why = stage.host().worktree(new).await.unwrap().kept_because;
    assert!(why.unwrap().contains("works in it, too"));
    assert!(remove(&stage, new).await.is_err());
    stage.execute(Command::Trash { session: id }).await;
    remove(&stage, id).await.unwrap();
    assert!(!cwd.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_goes_with_its_session_once_it_is_clean_and_merged_and_comes_back_with_it() {
    let stage = Stage::new(WRITES).await;
    repository(&stage);
    let id = worked(&stage, NewWorktree::default()).await;
    let cwd = stage.view(id).await.cwd;
    // New files, then commits that are nowhere else, then a session that is in use.
    let found = stage.host().worktree(id).await.unwrap();
    assert_eq!(found.uncommitted, 1, "{found:?}");
    assert!(found.kept_because.unwrap().contains("added.txt"));
    git(&cwd, stage.root(), &["add", "--all"]);
    commit(&cwd, &stage, "what was added");
    let why = stage.host().worktree(id).await.unwrap().kept_because;
    assert!(why.unwrap().contains("in no other branch"));
    let branch = stage.view(id).await.branch.unwrap();
    git(&stage.project(), stage.root(), &["merge", "-q", &branch]);
    let found = stage.host().worktree(id).await.unwrap();
    assert_eq!(found.kept_because, None);
    let early = remove(&stage, id).await.unwrap_err();
    assert!(early.to_string().contains("not in the trash"), "{early}");

    stage.execute(Command::Trash { session: id }).await;
    remove(&stage, id).await.unwrap();
    assert!(!cwd.exists());
    let branches = git(
        &stage.project(),
        stage.root(),
        &["branch", "--list", &branch],
    );
    assert_eq!(branches, "");

    stage.execute(Command::Restore { session: id }).await;
    assert!(cwd.join("added.txt").exists());
    let message = Some(Message::text("again"));
    let session = id;
    stage.execute(Command::Resume { session, message }).await;
    let open = stage.open_approvals(id, 1).await;
    stage.decide(&open[0], Decide::allow()).await;
    stage.until(id, "idle").await;
    assert!(cwd.join("again.txt").exists());
    let now = git(&cwd, stage.root(), &["branch", "--show-current"]);
    assert_eq!(now.trim(), branch);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_tells_the_repository_that_its_folder_lies_in() {
    let stage = Stage::new(WRITES).await;
    let outside = stage.start("one").await;
    let open = stage.open_approvals(outside, 1).await;
    stage.decide(&open[0], Decide::deny("No.")).await;
    assert_eq!(stage.view(outside).await.repository, None);
    repository(&stage);
    assert_eq!(stage.view(outside).await.repository, Some(stage.project()));
}

/// A session that has ended, and whose worktree is clean and merged.
async fn merged(stage: &Stage) -> (SessionId, std::path::PathBuf) {
    let (id, cwd) = committed(stage).await;
    let branch = stage.view(id).await.branch.unwrap();
    git(&stage.project(), stage.root(), &["merge", "-q", &branch]);
    (id, cwd)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worktree_stays_while_a_session_of_another_kind_works_below_it() {
    let stage = Stage::new(WRITES).await;
    let (id, cwd) = merged(&stage).await;
    stage.execute(Command::Trash { session: id }).await;
    // One in a folder of it, by a link, and one to which it was added.
    let link = stage.root().join("link");
    std::os::unix::fs::symlink(&cwd, &link).unwrap();
    let below = stage.start_in("below", link).await;
    let open = stage.open_approvals(below, 1).await;
    let why = stage.host().worktree(id).await.unwrap().kept_because;
    assert!(why.unwrap().contains("works in it, too"));
    let refused = remove(&stage, id).await.unwrap_err();
    assert!(
        refused.to_string().contains("works in it, too"),
        "{refused}"
    );
    stage.decide(&open[0], Decide::deny("No.")).await;
    stage.until(below, "idle").await;
    stage.execute(Command::Trash { session: below }).await;
    // The folders of worktrees are open to a session that works in one of them.
    let other = stage
        .view(worked(&stage, NewWorktree::default()).await)
        .await;
    let mut new = new(&stage, NewWorktree::default());
    (new.cwd, new.worktree) = (other.cwd, None);
    new.setup.add_dirs = vec![cwd.clone()];
    let added = new.id;
    stage.execute(Command::Start(Box::new(new))).await;
    let open = stage.open_approvals(added, 1).await;
    assert!(remove(&stage, id).await.is_err());
    assert!(cwd.exists());
    stage.decide(&open[0], Decide::deny("No.")).await;
    stage.until(added, "idle").await;
    stage.execute(Command::Trash { session: added }).await;
    remove(&stage, id).await.unwrap();
    assert!(!cwd.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_not_started_behind_a_link_that_took_the_place_of_its_worktree() {
    let stage = Stage::new(WRITES).await;
    let (id, cwd) = merged(&stage).await;
    let private = stage.root().join("private");
    std::fs::create_dir(&private).unwrap();
    std::fs::write(private.join("diary"), "dear diary").unwrap();
    stage.execute(Command::Trash { session: id }).await;
    remove(&stage, id).await.unwrap();
    std::os::unix::fs::symlink(&private, &cwd).unwrap();
    stage.execute(Command::Restore { session: id }).await;
    let message = Some(Message::text("again"));
    let session = id;
    stage.execute(Command::Resume { session, message }).await;
    let view = stage.until(id, "failed").await;
    assert!(view.reason.contains("is not there any more"), "{view:?}");
    assert_eq!(std::fs::read_dir(&private).unwrap().count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_of_a_session_whose_folder_is_another_repository_by_now_is_refused() {
    let stage = Stage::new(WRITES).await;
    let (id, cwd) = committed(&stage).await;
    stage.execute(Command::Stop { session: id }).await;
    stage.until(id, "stopped").await;
    let private = stage.root().join("private");
    std::fs::rename(&cwd, stage.root().join("away")).unwrap();
    let words = ["clone", "-q", ".", private.to_str().unwrap()];
    git(&stage.project(), stage.root(), &words);
    std::os::unix::fs::symlink(&private, &cwd).unwrap();
    let fork = Command::Fork {
        session: id,
        id: SessionId::fresh(),
        message: Some(Message::text("second")),
        worktree: ForkWorktree::Own,
    };
    let refused = stage.host().execute(Stage::cmd(), fork).await.unwrap_err();
    assert!(
        refused.to_string().contains("is not there any more"),
        "{refused}"
    );
    let branches = git(
        &private,
        stage.root(),
        &["branch", "--list", "countersign/*"],
    );
    assert_eq!(branches, "", "nothing was made there");
}
