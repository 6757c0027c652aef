//! Sessions on kept agents, end to end: keeper, journal, socket and client, with the scripted CLI as the agent.
//!
//! Owns what a host sees when it comes, goes and comes again. What a kill does is the matter of the fault suite.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod example;
mod stage;

use std::time::Duration;

use countersign_client::{Claude, Decision, Graces, Question};
use countersign_journal::{Kind, Note};
use countersign_keeper::attach::Over;

use stage::{Stage, within};

const ASKS: &str = r#"
turn
  say "Let me look."
  ask Bash {"command":"ls","description":"Look around"} gives "README.md"
  say "There is a README."
"#;

#[tokio::test]
async fn a_session_on_a_new_agent_is_like_any_other() {
    let stage = Stage::new(ASKS);
    // It ends by itself, however slow the machine is.
    let unhurried = countersign_keeper::Graces {
        stdin_ms: 30_000,
        ..Default::default()
    };
    let claude = Claude::new().questions();
    let mut kept = stage.launch_with(claude, unhurried).await;
    let turn = within(kept.session.send("go")).await.unwrap();
    let Some(Question::Permission(mut question)) = within(kept.session.questions.next()).await
    else {
        panic!("a question");
    };
    question.note(r#"{"by":"a test","why":"it may"}"#.parse().unwrap());
    question.allow().unwrap();
    let result = within(turn).await.unwrap();
    assert!(result.text().contains("README"));
    let closed = within(kept.session.handle.close()).await;
    assert_eq!(closed.code, Some(0), "{closed:?}");
    assert_eq!(closed.transport, None);

    let notes: Vec<Note> = stage
        .records(Kind::Note)
        .iter()
        .map(|note| serde_json::from_slice(note).unwrap())
        .collect();
    let numbers: Vec<_> = notes.iter().filter_map(|note| note.n).collect();
    assert_eq!(numbers, [1, 2], "initialize and the message");
    let answer = notes.iter().find(|note| note.answer.is_some()).unwrap();
    assert_eq!(answer.by.as_deref(), Some("a test"));
    assert_eq!(answer.why.as_deref(), Some("it may"));
    assert_eq!(stage.records(Kind::Host), stage.heard());
}

#[tokio::test]
async fn a_question_is_still_open_for_the_next_host() {
    let stage = Stage::new(ASKS);
    let mut kept = stage.launch(Claude::new().questions()).await;
    let turn = within(kept.session.send("go")).await.unwrap();
    let question = within(kept.session.questions.next()).await.unwrap();
    let id = question.responder().request_id().to_owned();
    let heard = stage.heard();
    drop((question, turn, kept));

    let mut kept = stage.attach(Claude::new().questions()).await;
    let session = &kept.session;
    assert_eq!(stage.heard(), heard, "coming and going says nothing");
    assert!(session.session_id().is_some() && session.initialize_reply().is_some());
    assert!(!session.is_idle());
    let Some(Question::Permission(question)) = within(kept.session.questions.next()).await else {
        panic!("the question");
    };
    assert_eq!(question.responder().request_id(), id);
    question.allow().unwrap();
    within(kept.session.idle()).await.unwrap();
    let answers = stage
        .heard()
        .iter()
        .filter(|line| stage::contains(line, "control_response"))
        .count();
    assert_eq!(answers, 1);
    // And it goes on from there.
    drop(kept);
    let kept = stage.attach(Claude::new()).await;
    assert!(kept.session.is_idle());
    assert_eq!(stage.asked("initialize"), 1);
}

#[tokio::test]
async fn callbacks_are_asked_again_about_what_is_open() {
    let stage = Stage::new(ASKS);
    let waits = |_| std::future::pending::<Decision>();
    let kept = stage.launch(Claude::new().permissions(waits)).await;
    let turn = within(kept.session.send("go")).await.unwrap();
    stage::until("the question is open", || stage.said("can_use_tool") == 1).await;
    drop((turn, kept));
    let allows = |_| async { Decision::allow() };
    let kept = stage.attach(Claude::new().permissions(allows)).await;
    within(kept.session.idle()).await.unwrap();
    assert_eq!(stage.said("can_use_tool"), 1);
}

#[tokio::test]
async fn the_reply_to_the_host_before_is_matched_by_the_next() {
    let stage = Stage::new("reply late 300ms mcp_status\nturn\n  say \"x\"\n");
    let kept = stage.launch(Claude::new()).await;
    let handle = kept.session.handle.clone();
    let asking = tokio::spawn(async move { handle.mcp_status().await.is_ok() });
    stage::until("it was asked", || stage.asked("mcp_status") == 1).await;
    asking.abort();
    let _ = asking.await;
    drop(kept);
    let kept = stage.attach(Claude::new()).await;
    let mut earlier = kept.earlier.into_iter();
    match earlier.next() {
        Some(request) => {
            assert_eq!(request.subtype(), "mcp_status");
            within(request.reply(Duration::from_secs(20)))
                .await
                .unwrap();
        }
        // The reply was there before the second host: nothing to wait for.
        None => assert_eq!(stage.said("control_response"), 2),
    }
    assert!(earlier.next().is_none());
}

#[tokio::test]
async fn a_host_that_was_replaced_learns_it_and_can_do_nothing_more() {
    let stage = Stage::new(ASKS);
    let first = stage.launch(Claude::new().questions()).await;
    let second = stage.attach(Claude::new().questions()).await;
    assert_eq!(within(first.attachment.ended()).await, Over::Superseded);
    let closed = within(first.session.handle.closed()).await;
    assert!(
        closed.transport.as_ref().unwrap().contains("another host"),
        "{closed:?}"
    );
    assert!(first.session.send("too late").await.is_err());
    let turn = within(second.session.send("go")).await.unwrap();
    stage::until("it runs", || stage.said("can_use_tool") == 1).await;
    drop(turn);
    assert_eq!(
        stage
            .heard()
            .iter()
            .filter(|line| stage::contains(line, "too late"))
            .count(),
        0
    );
}

#[tokio::test]
async fn the_end_of_an_agent_is_told_with_its_last_words() {
    let stage = Stage::new("turn\n  say \"x\"\n  stderr \"it hurts\"\n  exit 3\n");
    let kept = stage.launch(Claude::new()).await;
    let turn = within(kept.session.send("go")).await.unwrap();
    let error = within(turn).await.unwrap_err();
    assert_eq!(error.exit_code(), Some(3), "{error}");
    assert!(error.stderr().unwrap().contains("it hurts"), "{error:?}");
}

#[tokio::test]
async fn an_end_without_patience_kills() {
    let stage = Stage::new("ignore eof\nignore sigterm\nturn\n  say \"x\"\n");
    let kept = stage.launch(Claude::new()).await;
    let closed = within(kept.session.handle.close_with(Graces::at_once())).await;
    assert_eq!(closed.signal, Some(9), "{closed:?}");
}

#[tokio::test]
async fn how_things_stand_can_be_asked_and_the_journal_synced() {
    let stage = Stage::new(ASKS);
    let mut kept = stage.launch(Claude::new().questions()).await;
    let turn = within(kept.session.send("go")).await.unwrap();
    let question = within(kept.session.questions.next()).await.unwrap();
    let standing = within(kept.attachment.status()).await.unwrap();
    assert_eq!(standing.last_n, 2);
    assert_eq!(standing.open.len(), 1);
    assert_eq!(
        standing.open[0].request_id,
        question.responder().request_id()
    );
    assert_eq!(
        standing.agent.map(|agent| agent.pid),
        kept.session.handle.pid()
    );
    let synced = within(kept.attachment.sync()).await.unwrap();
    assert!(synced >= standing.tail.seq);
    drop((question, turn));
}

#[test]
fn attaching_can_be_done_in_a_task_of_its_own() {
    fn is_send<T: Send>(_: impl FnOnce() -> T) {}
    is_send(|| countersign_keeper::attach::attach(Claude::new(), "x".as_ref(), never(), None));
    fn never() -> countersign_keeper::attach::Attachment {
        unreachable!("only the type is looked at")
    }
}

#[tokio::test]
async fn secrets_of_servers_reach_the_agent_and_not_the_journal() {
    let stage = Stage::new("turn\n  say \"x\"\n");
    let kept = stage.launch(Claude::new()).await;
    let secret = concat!("hush-", "a1b2c3d4e5");
    let servers = format!(
        r#"{{"servers":{{"s":{{"type":"http","url":"http://127.0.0.1:9","headers":{{"Authorization":"{secret}"}}}}}}}}"#
    );
    let servers = servers.parse().unwrap();
    let asking = kept.session.handle.control("mcp_set_servers", &servers);
    let _ = within(asking).await;
    let heard = stage.heard();
    assert!(heard.iter().any(|line| stage::contains(line, secret)));
    let written = stage.records(Kind::Host);
    assert!(!written.iter().any(|line| stage::contains(line, secret)));
    let notes = stage.records(Kind::Note);
    let note: Note = serde_json::from_slice(notes.last().unwrap()).unwrap();
    assert_eq!(note.masked, ["/request/servers/s/headers/Authorization"]);
}

#[tokio::test]
async fn files_for_an_agent_are_gone_when_it_cannot_be_started() {
    let stage = Stage::new("turn\n  say \"x\"\n");
    let long = "word ".repeat(60_000);
    let claude = Claude::new().append_system_prompt(long);
    let kept = stage.launch(claude.clone()).await;
    let kept_files = stage.files();
    assert_eq!(kept_files, 1, "too long for a command line");
    // The same generation again: refused, and nothing of it is left.
    assert!(stage.try_launch(claude).await.is_err());
    assert_eq!(stage.files(), kept_files);
    drop(kept);
}

#[tokio::test]
async fn an_agent_that_ends_at_once_is_told_in_its_own_words() {
    let stage = Stage::new("start\n  stderr \"no such flag\"\n  exit 4\n");
    let error = match stage.try_launch(Claude::new()).await {
        Ok(_) => panic!("it has ended"),
        Err(error) => error.to_string(),
    };
    assert!(error.contains("no such flag"), "{error}");
    assert!(error.contains('4'), "{error}");
    // And so it is for whoever comes later.
    let error = stage.try_attach(Claude::new()).await.unwrap_err();
    let error = error.to_string();
    assert!(error.contains("no such flag"), "{error}");
    assert!(error.contains("exit code 4"), "{error}");
}

#[tokio::test]
async fn a_wrong_token_is_told_in_words() {
    let stage = Stage::new(ASKS);
    let _kept = stage.launch(Claude::new()).await;
    let error = stage.try_connect("another").await.unwrap_err().to_string();
    assert!(error.contains("not that of this session"), "{error}");
}
