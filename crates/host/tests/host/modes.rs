//! Modes of a session and rules that people make by a decision: where they hold, and how long.

use std::time::{SystemTime, UNIX_EPOCH};

use countersign_host::control::approval::{OfferKind, Remember, Scope};
use countersign_host::control::session::Setup;
use countersign_host::control::{
    ApprovalFilter, ApprovalView, Command, Control, ControlError, Decide, Message, Mode,
    NewSession, SessionId, SessionView,
};

use crate::heard::Heard;
use crate::stage::Stage;

/// Runs a command, writes a file, or talks.
const ACTS: &str = r#"
turn always when "talk"
  say "Talked: ${prompt}."
turn always when "write"
  tool Write {"file_path":"${cwd}/${prompt}.txt","content":"x"}
  say "Done: ${prompt}."
turn always
  tool Bash {"command":"touch ${prompt}","description":"Leave a mark"}
  say "Done: ${prompt}."
"#;

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_micros() as u64
}

async fn send(stage: &Stage, session: SessionId, text: &str) {
    let message = Message::text(text);
    stage.execute(Command::Send { session, message }).await;
}

async fn set(stage: &Stage, session: SessionId, mode: Mode) {
    stage.execute(Command::SetMode { session, mode }).await;
    assert_eq!(stage.view(session).await.mode, mode);
}

fn is_done(view: &SessionView) -> bool {
    view.state.name() == "idle" && view.queued == 0 && view.generation > 0
}

async fn done(stage: &Stage, id: SessionId) -> SessionView {
    stage.until_seen(id, "done", is_done).await
}

/// The last approval of a session, whatever became of it.
async fn last(stage: &Stage, id: SessionId) -> ApprovalView {
    let filter = ApprovalFilter {
        session: Some(id),
        ..ApprovalFilter::default()
    };
    let mut all = stage.host().approvals(filter).await.unwrap().items;
    all.sort_by_key(|one| one.asked);
    all.pop().unwrap()
}

fn remembered(rule: &str, scope: Scope, expires: Option<u64>) -> Decide {
    Decide::Allow {
        updated_input: None,
        remember: Some(Remember {
            rules: vec![rule.to_owned()],
            scope,
            expires,
            also_cli: false,
        }),
        mode: None,
        add_dirs: Vec::new(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_transcript_says_which_of_our_modes_is_in_force() {
    let stage = Stage::new(ACTS).await;
    let id = stage.start("talk one").await;
    done(&stage, id).await;
    set(&stage, id, Mode::Edits).await;
    let until = now() + 3_600_000_000;
    set(&stage, id, Mode::HandsOff { until }).await;
    set(&stage, id, Mode::Plan).await;
    set(&stage, id, Mode::RulesOnly).await;
    let all = ["edits", "hands-off", "plan", "rules-only"];
    stage.until_divided(id, &all).await;
    // Whoever comes next and says nothing new changes nothing.
    send(&stage, id, "talk two").await;
    stage.until_said(id, "Talked: talk two.").await;
    set(&stage, id, Mode::Ask).await;
    stage
        .until_divided(id, &[&all[..], &["ask"]].concat())
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_mode_is_set_and_left_on_a_living_agent() {
    let stage = Stage::new(ACTS).await;
    let id = stage.start("talk one").await;
    done(&stage, id).await;
    for (mode, text) in [(Mode::Plan, "talk two"), (Mode::Ask, "talk three")] {
        set(&stage, id, mode).await;
        send(&stage, id, text).await;
        done(&stage, id).await;
    }
    let heard = Heard::of(&stage, id).await;
    let modes: Vec<_> = heard
        .inits(1)
        .iter()
        .map(|init| init["permissionMode"].clone())
        .collect();
    assert_eq!(modes, ["default", "plan", "default"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_while_it_plans() {
    let stage = Stage::new(ACTS).await;
    let setup = Setup {
        mode: Mode::Plan,
        ..Setup::default()
    };
    let id = stage.start_with("write", setup).await;
    let open = stage.open_approvals(id, 1).await;
    assert!(open[0].reason.contains("plan"), "{}", open[0].reason);
    stage.decide(&open[0], Decide::deny("Plan first.")).await;
    done(&stage, id).await;
    assert!(!stage.project().join("write.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_are_allowed_inside_and_commands_are_asked() {
    let stage = Stage::new(ACTS).await;
    let id = stage.start("write").await;
    let open = stage.open_approvals(id, 1).await;
    let offer = open[0]
        .offers
        .iter()
        .find(|offer| offer.kind == OfferKind::Mode);
    let mode = offer.expect("another mode is offered").mode;
    assert_eq!(mode, Some(Mode::Edits));
    let decide = Decide::Allow {
        updated_input: None,
        remember: None,
        mode,
        add_dirs: Vec::new(),
    };
    stage.decide(&open[0], decide).await;
    assert_eq!(done(&stage, id).await.mode, Mode::Edits);
    send(&stage, id, "write-two").await;
    done(&stage, id).await;
    assert!(stage.project().join("write-two.txt").exists());
    assert_eq!(last(&stage, id).await.decided.unwrap().by, "rule");
    send(&stage, id, "three").await;
    stage.open_approvals(id, 1).await;
    assert!(!stage.project().join("three").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn hands_off_ends_by_itself() {
    let stage = Stage::new(ACTS).await;
    let id = stage.start("talk").await;
    done(&stage, id).await;
    let over = Command::SetMode {
        session: id,
        mode: Mode::HandsOff { until: now() },
    };
    let over = stage.host().execute(Stage::cmd(), over).await;
    assert!(
        matches!(over, Err(ControlError::Invalid { .. })),
        "{over:?}"
    );
    let until = now() + 4_000_000;
    set(&stage, id, Mode::HandsOff { until }).await;
    send(&stage, id, "one").await;
    done(&stage, id).await;
    let ran_by = now();
    if ran_by < until {
        assert!(stage.project().join("one").exists());
    }
    let view = stage
        .until_seen(id, "hands-off is over", |view| view.mode == Mode::Ask)
        .await;
    assert!(now() >= until, "{view:?}");
    send(&stage, id, "two").await;
    stage.open_approvals(id, 1).await;
    assert!(!stage.project().join("two").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_begins_hands_off_and_its_next_agent_asks() {
    let stage = Stage::new(ACTS).await;
    let until = now() + 3_600_000_000;
    let setup = |mode| Setup {
        mode,
        ..Setup::default()
    };
    for bad in [0, now(), u64::MAX] {
        let new = NewSession {
            id: SessionId::fresh(),
            prompt: Some(Message::text("one")),
            cwd: stage.project(),
            setup: setup(Mode::HandsOff { until: bad }),
            worktree: None,
        };
        let start = Command::Start(Box::new(new));
        let refused = stage.host().execute(Stage::cmd(), start).await;
        assert!(
            matches!(refused, Err(ControlError::Invalid { .. })),
            "{bad}: {refused:?}"
        );
    }
    let mode = Mode::HandsOff { until };
    let id = stage.start_with("one", setup(mode)).await;
    let view = done(&stage, id).await;
    assert_eq!(view.mode, mode);
    assert!(stage.project().join("one").exists());
    stage.execute(Command::Stop { session: id }).await;
    let stopped = |view: &SessionView| view.state.name() == "stopped";
    let view = stage.until_seen(id, "stopped", stopped).await;
    assert_eq!(view.mode, Mode::Ask);
    let message = Some(Message::text("two"));
    stage
        .execute(Command::Resume {
            session: id,
            message,
        })
        .await;
    stage.open_approvals(id, 1).await;
    assert!(!stage.project().join("two").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_rule_allows_is_refused_where_nobody_is_asked() {
    let stage = Stage::new(ACTS).await;
    let setup = Setup {
        mode: Mode::RulesOnly,
        ..Setup::default()
    };
    let id = stage.start_with("one", setup).await;
    done(&stage, id).await;
    let refused = last(&stage, id).await;
    let decided = refused.decided.unwrap();
    assert_eq!(decided.by, "rule");
    assert!(!stage.project().join("one").exists());
    set(&stage, id, Mode::Ask).await;
    send(&stage, id, "two").await;
    stage.open_approvals(id, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_of_a_session_holds_in_it_alone() {
    let stage = Stage::new(ACTS).await;
    let one = stage.start("one").await;
    let open = stage.open_approvals(one, 1).await;
    stage
        .decide(&open[0], remembered("Bash(touch *)", Scope::Session, None))
        .await;
    done(&stage, one).await;
    send(&stage, one, "two").await;
    done(&stage, one).await;
    assert!(stage.project().join("two").exists());
    let decided = last(&stage, one).await.decided.unwrap();
    assert_eq!(decided.by, "rule");
    assert!(decided.why.contains("touch"), "{}", decided.why);
    let other = stage.start("three").await;
    stage.open_approvals(other, 1).await;
}

/// The number by which the last decision of a session names its rule, and the rule's words.
async fn rule_of_last(stage: &Stage, id: SessionId) -> (u64, String) {
    let decided = last(stage, id).await.decided.unwrap();
    assert_eq!(decided.by, "rule", "{decided:?}");
    let number = decided.decision["number"].as_u64();
    let number = number.unwrap_or_else(|| panic!("no number: {decided:?}"));
    (
        number,
        decided.decision["rule"].as_str().unwrap().to_owned(),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_of_two_repositories_with_the_same_words_are_told_apart_by_their_numbers() {
    let stage = Stage::new(ACTS).await;
    let elsewhere = stage.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut named = Vec::new();
    for folder in [stage.project(), elsewhere] {
        let id = stage.start_in("one", folder).await;
        let open = stage.open_approvals(id, 1).await;
        let decide = remembered("Bash(touch *)", Scope::Repository, None);
        stage.decide(&open[0], decide).await;
        done(&stage, id).await;
        // At once, and by whoever comes later.
        send(&stage, id, "two").await;
        done(&stage, id).await;
        let first = rule_of_last(&stage, id).await;
        stage.execute(Command::Stop { session: id }).await;
        stage.until(id, "stopped").await;
        let message = Some(Message::text("three"));
        let session = id;
        stage.execute(Command::Resume { session, message }).await;
        let is_next = |view: &SessionView| view.generation == 2 && is_done(view);
        stage
            .until_seen(id, "the next agent is done", is_next)
            .await;
        assert_eq!(rule_of_last(&stage, id).await, first);
        named.push(first);
    }
    assert_eq!(named[0].1, named[1].1, "the same words");
    assert_ne!(named[0].0, named[1].0, "two rules");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_session_in_the_repository_has_its_rules_at_once() {
    let stage = Stage::new(ACTS).await;
    let (one, other) = (stage.start("one").await, stage.start("talk").await);
    done(&stage, other).await;
    let open = stage.open_approvals(one, 1).await;
    stage
        .decide(
            &open[0],
            remembered("Bash(touch *)", Scope::Repository, None),
        )
        .await;
    // The other one has an agent, and is not started anew.
    send(&stage, other, "two").await;
    let view = done(&stage, other).await;
    assert_eq!(view.generation, 1);
    assert!(stage.project().join("two").exists());
    let elsewhere = stage.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let third = stage.start_in("three", elsewhere).await;
    stage.open_approvals(third, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_that_always_holds_does_so_in_every_folder_and_after_a_restart() {
    let mut stage = Stage::new(ACTS).await;
    let one = stage.start("one").await;
    let open = stage.open_approvals(one, 1).await;
    stage
        .decide(&open[0], remembered("Bash(touch *)", Scope::Always, None))
        .await;
    done(&stage, one).await;
    stage.restart().await;
    let elsewhere = stage.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let other = stage.start_in("two", elsewhere.clone()).await;
    done(&stage, other).await;
    assert!(elsewhere.join("two").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_ends_when_it_was_said_to() {
    let stage = Stage::new(ACTS).await;
    let id = stage.start("one").await;
    let open = stage.open_approvals(id, 1).await;
    let past = remembered("Bash(touch *)", Scope::Session, Some(now()));
    let decide = Command::Decide {
        approval: open[0].id,
        saw: open[0].digest.clone(),
        decide: past,
    };
    let past = stage.host().execute(Stage::cmd(), decide).await;
    assert!(
        matches!(past, Err(ControlError::Invalid { .. })),
        "{past:?}"
    );
    let end = now() + 3_000_000;
    stage
        .decide(
            &open[0],
            remembered("Bash(touch *)", Scope::Session, Some(end)),
        )
        .await;
    done(&stage, id).await;
    // Whether it is asked depends on the time alone.
    loop {
        let begun = now();
        send(&stage, id, "again").await;
        let stands = |view: &SessionView| is_done(view) || view.state.name() == "needs_you";
        let view = stage.until_seen(id, "done or asked", stands).await;
        match view.state.name() {
            "idle" => assert!(begun < end + 500_000, "it should have ended"),
            _ => break,
        }
    }
    assert!(now() >= end);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_that_would_not_allow_the_call_decides_nothing() {
    let stage = Stage::new(ACTS).await;
    let id = stage.start("one").await;
    let open = stage.open_approvals(id, 1).await;
    let decide = Command::Decide {
        approval: open[0].id,
        saw: open[0].digest.clone(),
        decide: remembered("Bash(ls *)", Scope::Always, None),
    };
    let wrong = stage.host().execute(Stage::cmd(), decide).await;
    assert!(
        matches!(wrong, Err(ControlError::Invalid { .. })),
        "{wrong:?}"
    );
    assert_eq!(stage.open_approvals(id, 1).await[0].id, open[0].id);
}
