//! Approvals: asked, decided once, delivered once.

use std::time::{Duration, Instant};

use countersign_host::control::approval::{Life, Outcome};
use countersign_host::control::{
    ApprovalFilter, ApprovalView, Command, Control, ControlError, Decide, Digest, Message,
};

use crate::stage::{DEADLINE, Stage};

/// One question in each turn.
const ASKS: &str = r#"
turn always
  tool Bash {"command":"echo ${prompt} >> ran.log","description":"Leave a mark"}
  say "Done: ${prompt}."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_allowed_runs_once_and_is_settled() {
    let stage = Stage::new(ASKS).await;
    let id = stage.start("one").await;
    let open = stage.open_approvals(id, 1).await;
    let view = stage.until(id, "needs_you").await;
    assert_eq!(view.open_approvals, 1);
    assert_eq!(open[0].tool, "Bash");
    assert!(!open[0].reason.is_empty(), "{:?}", open[0]);
    stage.decide(&open[0], Decide::allow()).await;
    let settled = stage.until_life(&open[0], "settled").await;
    let decided = settled.decided.unwrap();
    assert_eq!(
        (decided.by.as_str(), decided.client.as_str()),
        ("the suite", "test")
    );
    stage.until(id, "idle").await;
    assert_eq!(stage.ran(), ["one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_denied_does_not_run() {
    let stage = Stage::new(ASKS).await;
    let id = stage.start("one").await;
    let open = stage.open_approvals(id, 1).await;
    stage.decide(&open[0], Decide::deny("Not today.")).await;
    stage.until_life(&open[0], "settled").await;
    stage.until(id, "idle").await;
    assert!(stage.ran().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_decision_holds_and_must_name_what_was_seen() {
    let stage = Stage::new(ASKS).await;
    let id = stage.start("one").await;
    let open = stage.open_approvals(id, 1).await;
    let decide = |saw: Digest, decide: Decide| Command::Decide {
        approval: open[0].id,
        saw,
        decide,
    };
    let host = stage.host();
    let stale = decide(Digest::of(b"something else"), Decide::allow());
    let stale = host.execute(Stage::cmd(), stale).await;
    assert!(
        matches!(stale, Err(ControlError::Stale { .. })),
        "{stale:?}"
    );
    let saw = open[0].digest.clone();
    let cmd = Stage::cmd().key("once");
    let first = host
        .execute(cmd.clone(), decide(saw.clone(), Decide::deny("No.")))
        .await;
    let first = first.unwrap();
    let again = host
        .execute(cmd.clone(), decide(saw.clone(), Decide::deny("No.")))
        .await;
    assert_eq!(again, Ok(first), "the same key gives the same receipt");
    let other = host
        .execute(cmd, decide(saw.clone(), Decide::allow()))
        .await;
    assert!(
        matches!(other, Err(ControlError::KeyReused { .. })),
        "{other:?}"
    );
    let second = host
        .execute(Stage::cmd(), decide(saw, Decide::allow()))
        .await;
    assert!(
        matches!(second, Err(ControlError::Conflict { .. })),
        "{second:?}"
    );
    stage.until(id, "idle").await;
    assert!(stage.ran().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_reaches_the_agent_though_the_way_to_it_breaks() {
    let stage = Stage::new(ASKS).await;
    let session = stage.start("0").await;
    let rounds: Vec<String> = (0..16).map(|round| round.to_string()).collect();
    for next in 1..=rounds.len() {
        let open = stage.open_approvals(session, 1).await;
        // Each time a little later: before the decision is stored, while it is, behind it.
        let later = async {
            tokio::time::sleep(Duration::from_micros(400 * next as u64)).await;
            stage.break_connections()
        };
        let (_, broken) = tokio::join!(stage.decide(&open[0], Decide::allow()), later);
        // The one before may not be closed yet: whoever held it ends in its own time.
        assert!((1..=2).contains(&broken), "{broken}");
        let settled = stage.until_life(&open[0], "settled").await;
        let outcome = Outcome::Ran;
        assert_eq!(settled.life, Life::Settled { outcome });
        stage.until(session, "idle").await;
        if let Some(next) = rounds.get(next) {
            let message = Message::text(next);
            stage.execute(Command::Send { session, message }).await;
        }
    }
    assert_eq!(stage.ran(), rounds, "each ran once");
}

/// Calls that nobody is asked about, one behind the other.
const READS: &str = r#"
turn always
  tool Read {"file_path":"${cwd}/notes.txt"}
  tool Read {"file_path":"${cwd}/notes.txt"}
  tool Read {"file_path":"${cwd}/notes.txt"}
  tool Read {"file_path":"${cwd}/notes.txt"}
  tool Read {"file_path":"${cwd}/notes.txt"}
  tool Read {"file_path":"${cwd}/notes.txt"}
  tool Read {"file_path":"${cwd}/notes.txt"}
  tool Read {"file_path":"${cwd}/notes.txt"}
  say "Read."
"#;

#[tokio::test(flavor = "multi_thread")]
async fn what_rules_decide_is_stored_together_and_none_of_it_is_missing() {
    let stage = Stage::new(READS).await;
    std::fs::write(stage.project().join("notes.txt"), "one\n").unwrap();
    let id = stage.start("one").await;
    stage.until(id, "idle").await;
    let before = stage.host().written().transactions;
    let start = Instant::now();
    stage
        .execute(Command::Send {
            session: id,
            message: Message::text("two"),
        })
        .await;
    let all = |session| ApprovalFilter {
        session: Some(session),
        most: 100,
        ..ApprovalFilter::default()
    };
    let settled = |one: &ApprovalView| matches!(one.life, Life::Settled { .. });
    let items = loop {
        let page = stage.host().approvals(all(id)).await.unwrap();
        if page.items.len() == 16 && page.items.iter().all(settled) {
            break page.items;
        }
        assert!(start.elapsed() < DEADLINE, "{:#?}", page.items);
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    let deciders = items.iter().filter_map(|one| one.decided.as_ref());
    assert!(deciders.clone().all(|decided| decided.by == "rule"));
    assert_eq!(deciders.count(), 16);
    // Each of the eight would be asked, written and settled in a transaction of its own. Now there is one every tenth of a
    // second, and those of the message and of the turn.
    let transactions = stage.host().written().transactions - before;
    let most = 10 + start.elapsed().as_millis() as u64 / 100;
    assert!(transactions <= most, "{transactions} of {most}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_rules_decided_right_before_a_host_ends_is_there_with_its_reason() {
    // The turn goes on, so nothing else has the rows stored.
    let mut stage = Stage::new(&READS.replace("say \"Read.\"", "wait forever")).await;
    std::fs::write(stage.project().join("notes.txt"), "one\n").unwrap();
    let id = stage.start("one").await;
    let start = Instant::now();
    while stage.story(id).matches("\"tool_result\"").count() < 8 {
        assert!(start.elapsed() < DEADLINE, "{}", stage.story(id));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    stage.restart().await;
    let filter = ApprovalFilter {
        session: Some(id),
        most: 100,
        ..ApprovalFilter::default()
    };
    let items = stage.host().approvals(filter).await.unwrap().items;
    assert_eq!(items.len(), 8, "{items:#?}");
    assert!(items.iter().all(|one| !one.reason.is_empty()), "{items:#?}");
}
