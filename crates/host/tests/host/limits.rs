//! Money, limits of the account, a sign-in that is missing: what stops a session, and what lets it go on.

use std::time::{SystemTime, UNIX_EPOCH};

use countersign_host::control::session::{Pause, Setup};
use countersign_host::control::{
    Command, Control, ControlError, Message, SessionId, SessionView, State,
};

use crate::heard::Heard;
use crate::stage::{DEADLINE, Stage};

fn seconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

/// Reaches a limit of the account that ends then.
fn limited(until: u64) -> String {
    format!(
        r#"
turn when "one"
  emit {{"type":"rate_limit_event","rate_limit_info":{{"status":"rejected","resetsAt":{until},"rateLimitType":"five_hour"}}}}
  fail 429 "You've hit your session limit"
turn always
  say "Hello: ${{prompt}}."
"#
    )
}

fn is_done(view: &SessionView) -> bool {
    view.state.name() == "idle" && view.queued == 0
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_of_the_account_pauses_until_it_ends_or_somebody_tries_again() {
    let until = seconds() + 3_600;
    let stage = Stage::new(&limited(until)).await;
    let session = stage.start("one").await;
    let view = stage.until(session, "paused").await;
    let why = Pause::UsageLimit {
        until: Some(until * 1_000_000),
    };
    assert_eq!(view.state, State::Paused { why });
    let message = Message::text("two");
    stage.execute(Command::Send { session, message }).await;
    let waits = |view: &SessionView| view.state.name() == "paused" && view.queued == 1;
    stage
        .until_seen(session, "paused, with a message", waits)
        .await;
    stage.execute(Command::TryAgain { session }).await;
    stage.until_seen(session, "done", is_done).await;
    assert_eq!(Heard::of(&stage, session).await.sent(), ["one", "two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_by_itself_when_a_limit_ends() {
    let stage = Stage::new(&limited(seconds() + 5)).await;
    let session = stage.start("one").await;
    stage.until(session, "paused").await;
    stage.until_said(session, "Hello: ").await;
    stage.until_seen(session, "done", is_done).await;
    let sent = Heard::of(&stage, session).await.sent();
    assert_eq!(sent.len(), 2, "it was told to go on: {sent:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_not_signed_in_is_told_how_and_tries_again() {
    let scenario = r#"
turn when "one"
  fail 401 "Invalid API key · Please run /login"
turn always
  say "Hello: ${prompt}."
"#;
    let stage = Stage::new(scenario).await;
    let session = stage.start("one").await;
    let view = stage.until(session, "not_signed_in").await;
    let State::NotSignedIn { fix } = &view.state else {
        panic!("{view:?}");
    };
    assert!(fix.contains("/login"), "{fix}");
    stage.execute(Command::TryAgain { session }).await;
    let renewed = |view: &SessionView| view.generation == 2 && view.state.name() == "idle";
    stage
        .until_seen(session, "an agent that read the sign-in anew", renewed)
        .await;
    let message = Message::text("two");
    stage.execute(Command::Send { session, message }).await;
    stage.until_said(session, "Hello: two.").await;
}

/// Each turn costs half a dollar.
const COSTS: &str = r#"
turn always
  usage input=1000 output=100 cost=0.5
  say "Hello: ${prompt}."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_session_over_its_budget_waits_until_it_is_raised() {
    let stage = Stage::new(COSTS).await;
    let setup = Setup {
        budget_usd: Some(0.8),
        ..Setup::default()
    };
    let session = stage.start_with("one", setup).await;
    for text in ["two", "three"] {
        let message = Message::text(text);
        stage.execute(Command::Send { session, message }).await;
    }
    let paused = |view: &SessionView| view.state.name() == "paused";
    let view = stage.until_seen(session, "paused", paused).await;
    let State::Paused {
        why: Pause::Budget { spent, budget },
    } = view.state
    else {
        panic!("{view:?}");
    };
    assert!(
        (spent - 1.0).abs() < 1e-6 && (budget - 0.8).abs() < 1e-6,
        "{spent} {budget}"
    );
    assert!((view.cost_usd - 1.0).abs() < 1e-6);
    assert_eq!(view.queued, 1, "the third waits");
    assert_eq!(Heard::of(&stage, session).await.sent(), ["one", "two"]);
    let bad = Command::SetBudget {
        session,
        budget_usd: Some(-1.0),
    };
    let bad = stage.host().execute(Stage::cmd(), bad).await;
    assert!(matches!(bad, Err(ControlError::Invalid { .. })), "{bad:?}");
    let budget_usd = Some(5.0);
    stage
        .execute(Command::SetBudget {
            session,
            budget_usd,
        })
        .await;
    let view = stage.until_seen(session, "done", is_done).await;
    assert_eq!(
        Heard::of(&stage, session).await.sent(),
        ["one", "two", "three"]
    );
    let view = match (view.cost_usd - 1.5).abs() < 1e-6 {
        true => view,
        false => {
            stage
                .until_seen(session, "counted", |view| view.cost_usd > 1.4)
                .await
        }
    };
    assert_eq!(view.budget_usd, Some(5.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_that_begins_by_itself_over_the_budget_is_interrupted() {
    let scenario = r#"
turn
  usage input=1000 output=100 cost=0.5
  say "It is expensive."
unsolicited after 300ms
  say "And I go on."
  wait forever
"#;
    let stage = Stage::new(scenario).await;
    let setup = Setup {
        budget_usd: Some(0.4),
        ..Setup::default()
    };
    let session = stage.start_with("one", setup).await;
    stage.until_said(session, "And I go on.").await;
    stage.until(session, "paused").await;
    // It was paused before that turn, too: the interrupt itself is waited for.
    let start = std::time::Instant::now();
    let interrupts = loop {
        let heard = Heard::of(&stage, session).await;
        let asked = heard.0.iter().map(|line| &line.said["request"]["subtype"]);
        match asked.filter(|subtype| *subtype == "interrupt").count() {
            0 => assert!(start.elapsed() < DEADLINE, "{}", stage.story(session)),
            interrupts => break interrupts,
        }
    };
    assert_eq!(interrupts, 1);
}

/// The first turn alone costs more than twice a budget of 0.8, which is where the CLI stops the agent itself.
const DEAR: &str = r#"
turn when "one"
  usage input=1000 output=100 cost=2
  say "First part."
  tool Read {"file_path":"${cwd}/notes.txt"}
  say "Second part."
turn always
  usage input=1000 output=100 cost=0.1
  say "Hello: ${prompt}."
"#;

/// What a page would send.
async fn allow(stage: &Stage, session: SessionId, budget_usd: Option<f64>) {
    let command = Command::SetBudget {
        session,
        budget_usd,
    };
    stage.execute(command).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_that_is_raised_lets_a_session_go_on_that_the_cli_itself_has_stopped() {
    let stage = Stage::new(DEAR).await;
    let setup = Setup {
        budget_usd: Some(0.8),
        ..Setup::default()
    };
    let session = stage.start_with("one", setup).await;
    let view = stage.until(session, "paused").await;
    assert!(view.cost_usd > 1.9, "{view:?}");
    let ended = Heard::of(&stage, session).await;
    let capped = |line: &crate::heard::Line| line.said["subtype"] == "error_max_budget_usd";
    assert!(ended.0.iter().any(capped), "the CLI stopped it: {ended:?}");
    allow(&stage, session, Some(8.0)).await;
    let renewed = |view: &SessionView| view.generation == 2 && is_done(view);
    stage
        .until_seen(session, "another agent that has gone on", renewed)
        .await;
    let message = Message::text("two");
    stage.execute(Command::Send { session, message }).await;
    stage.until_said(session, "Hello: two.").await;
    let heard = Heard::of(&stage, session).await;
    assert_eq!(heard.0.iter().filter(|line| capped(line)).count(), 1);
    let sent = heard.sent();
    assert_eq!(sent.len(), 3, "it was told to go on, once: {sent:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_that_is_lifted_lets_a_message_run_that_waited_behind_the_clis_own_limit() {
    let stage = Stage::new(DEAR).await;
    let setup = Setup {
        budget_usd: Some(0.8),
        ..Setup::default()
    };
    let session = stage.start_with("one", setup).await;
    stage.until(session, "paused").await;
    let message = Message::text("two");
    stage.execute(Command::Send { session, message }).await;
    allow(&stage, session, None).await;
    stage.until_said(session, "Hello: two.").await;
    assert_eq!(Heard::of(&stage, session).await.sent(), ["one", "two"]);
}
