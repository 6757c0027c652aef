//! What was measured of other clients against a misbehaving CLI, one test a scenario.

use std::sync::Arc;
use std::time::Duration;

use countersign_client::wire::CliMessage;
use countersign_client::{AllowAll, Decision, EndedBy, Event, Kind, PermissionRequest, Question};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::stage::{Stage, lines, next_frame, next_kind, there, until, value, within};

#[tokio::test]
pub(crate) async fn unknown_top_level_type_is_delivered() {
    let stage = Stage::new(
        r#"turn
             emit {"type":"brand_new_type","x":[1,{"y":2}]}
             say "Still here.""#,
    );
    let mut session = within(stage.claude().connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    let frame = next_kind(&mut session.events, Kind::Other).await;
    assert_eq!(frame.type_name().as_deref(), Some("brand_new_type"));
    assert_eq!(value(&frame)["x"], json!([1, {"y": 2}]));
    assert!(matches!(frame.message(), Ok(CliMessage::Unknown(_))));
    let said = next_kind(&mut session.events, Kind::Assistant).await;
    assert_eq!(value(&said)["message"]["content"][0]["text"], "Still here.");
    assert!(within(turn).await.unwrap().is_success());
}

#[tokio::test]
pub(crate) async fn unknown_content_block_is_delivered() {
    let stage = Stage::new(
        r#"turn
             block {"type":"hologram","pixels":[1,2,3]}
             say "After it.""#,
    );
    let mut session = within(stage.claude().connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    let frame = next_kind(&mut session.events, Kind::Assistant).await;
    let Ok(CliMessage::Assistant(message)) = frame.message() else {
        panic!("{frame:?}");
    };
    // Typed, and written again: the block is still whole.
    let written = serde_json::to_value(&message.message).unwrap();
    let hologram = json!([{"type": "hologram", "pixels": [1, 2, 3]}]);
    assert_eq!(written["content"], hologram);
    let said = next_kind(&mut session.events, Kind::Assistant).await;
    assert_eq!(value(&said)["message"]["content"][0]["text"], "After it.");
    assert!(within(turn).await.unwrap().is_success());
}

#[tokio::test]
pub(crate) async fn new_fields_on_assistant_and_result_are_kept() {
    let stage = Stage::new(
        r#"turn
             say "Hi." with {"novel":1,"message":{"novel":{"deep":2},"usage":{"novel":3}}}
             result success with {"novel":4,"usage":{"novel":5}}"#,
    );
    let mut session = within(stage.claude().connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    let frame = next_kind(&mut session.events, Kind::Assistant).await;
    let typed = serde_json::to_value(frame.message().unwrap()).unwrap();
    assert_eq!(typed["novel"], 1);
    assert_eq!(typed["message"]["novel"]["deep"], 2);
    assert_eq!(typed["message"]["usage"]["novel"], 3);
    let result = within(turn).await.unwrap();
    let typed = serde_json::to_value(result.message().unwrap()).unwrap();
    assert_eq!(typed["novel"], 4);
    assert_eq!(typed["usage"]["novel"], 5);
}

#[tokio::test]
pub(crate) async fn a_line_of_two_megabytes_arrives() {
    let stage = Stage::new("turn\n big 2M\n say \"After it.\"");
    let mut session = within(stage.claude().connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    let frame = next_kind(&mut session.events, Kind::Assistant).await;
    let text = &value(&frame)["message"]["content"][0]["text"];
    assert_eq!(text.as_str().unwrap().len(), 2 << 20);
    assert!(frame.message().is_ok());
    next_kind(&mut session.events, Kind::Assistant).await;
    assert!(within(turn).await.unwrap().is_success());
}

#[tokio::test]
pub(crate) async fn broken_json_is_one_malformed_event() {
    let stage = Stage::new("turn\n raw {\"type\":\"assistant\", oops\n say \"After it.\"");
    let mut session = within(stage.claude().connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    let fits = |frame: &countersign_client::Frame| frame.line().ends_with(b"oops");
    let broken = next_frame(&mut session.events, fits).await;
    assert_eq!(broken.line(), br#"{"type":"assistant", oops"#);
    assert!(broken.message().is_err(), "it is told, not passed over");
    let said = next_kind(&mut session.events, Kind::Assistant).await;
    assert_eq!(value(&said)["message"]["content"][0]["text"], "After it.");
    assert!(within(turn).await.unwrap().is_success());
}

#[tokio::test]
pub(crate) async fn plain_text_on_stdout_is_one_malformed_event() {
    let stage = Stage::new("turn\n noise \"npm WARN something\"\n say \"After it.\"");
    let mut session = within(stage.claude().connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    let noise = next_kind(&mut session.events, Kind::Malformed).await;
    assert_eq!(noise.line(), b"npm WARN something");
    next_kind(&mut session.events, Kind::Assistant).await;
    assert!(within(turn).await.unwrap().is_success());
}

#[tokio::test]
pub(crate) async fn a_thinking_block_without_signature_is_delivered() {
    let stage = Stage::new(
        r#"turn
             block {"type":"thinking","thinking":"hm"}
             say "Done thinking.""#,
    );
    let mut session = within(stage.claude().connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    let frame = next_kind(&mut session.events, Kind::Assistant).await;
    let typed = serde_json::to_value(frame.message().unwrap()).unwrap();
    let block = json!({"type": "thinking", "thinking": "hm"});
    assert_eq!(typed["message"]["content"][0], block);
    assert!(within(turn).await.unwrap().is_success());
}

#[tokio::test]
pub(crate) async fn a_result_without_duration_ends_the_turn() {
    let stage = Stage::new(
        "turn\n result success with {\"result\":\"42\"} without duration_ms,duration_api_ms,usage,num_turns",
    );
    let session = within(stage.claude().connect()).await.unwrap();
    let result = within(session.send("go").await.unwrap()).await.unwrap();
    assert!(result.is_success());
    assert_eq!(result.text(), "42");
    let line: Value = serde_json::from_slice(result.line()).unwrap();
    assert_eq!(line.get("duration_ms"), None);
}

#[tokio::test]
pub(crate) async fn an_exit_mid_run_carries_the_stderr() {
    let stage = Stage::new("turn\n say \"So far.\"\n stderr \"fatal: the disk is full\"\n exit 7");
    let mut session = within(stage.claude().connect()).await.unwrap();
    let error = within(session.send("go").await.unwrap()).await.unwrap_err();
    assert!(error.is_closed());
    assert_eq!(error.exit_code(), Some(7));
    assert_eq!(error.stderr(), Some("fatal: the disk is full\n"));
    let text = error.to_string();
    assert!(
        text.contains("exit code 7") && text.contains("fatal: the disk is full"),
        "{text}"
    );
    // What it had said before is there, and then the same end.
    next_kind(&mut session.events, Kind::Assistant).await;
    let Some(Event::Closed(closed)) = within(session.events.next()).await else {
        panic!("the end is an event");
    };
    assert_eq!(closed.code, Some(7));
    assert!(!closed.is_clean());
    assert!(within(session.events.next()).await.is_none());
    stage.until_nothing_runs().await;
}

#[tokio::test]
pub(crate) async fn an_exit_fails_a_pending_set_model_at_once() {
    let stage =
        Stage::new("reply never mcp_status\non set_model\n stderr \"no such model\"\n exit 3");
    let session = within(stage.claude().connect()).await.unwrap();
    // By itself either would wait for a minute.
    let both = async { tokio::join!(session.mcp_status(), session.set_model(Some("opus"))) };
    let (status, model) = within(both).await;
    for error in [status.unwrap_err(), model.unwrap_err()] {
        assert_eq!(error.exit_code(), Some(3), "{error}");
        assert_eq!(error.stderr(), Some("no such model\n"));
    }
    let later = within(session.mcp_status()).await.unwrap_err();
    assert_eq!(
        later.exit_code(),
        Some(3),
        "and so does whatever comes later"
    );
}

#[tokio::test]
pub(crate) async fn an_interrupt_with_500_unread_messages_is_answered() {
    let stage =
        Stage::new("turn\n flood 500 200\n ask Bash {\"command\":\"ls\"} nowait\n wait forever");
    let mut session = within(stage.claude().questions().connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    // The question comes although nobody reads the lines before it, and so does the answer to the interrupt.
    let question = within(session.questions.next()).await.unwrap();
    assert!(question.responder().position() >= 500);
    within(session.interrupt()).await.unwrap();
    let result = within(turn).await.unwrap();
    assert!(result.is_interrupted() && !result.is_success());
    let seen = there(&mut session.events);
    let deltas = lines(&seen).into_iter();
    let deltas = deltas.filter(|line| line["type"] == "stream_event").count();
    assert_eq!(deltas, 500, "and none of the unread ones is lost");
}

#[tokio::test]
pub(crate) async fn a_cancelled_approval_is_withdrawn_from_its_handler() {
    let stage = Stage::new(
        r#"turn
             ask Bash {"command":"ls"} as it nowait
             wait control mcp_status
             cancel it
             say "Never mind.""#,
    );
    struct Told(Arc<Notify>);
    impl Drop for Told {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let (called, dropped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (calling, dropping) = (called.clone(), dropped.clone());
    let handler = move |_: PermissionRequest| {
        let told = Told(dropping.clone());
        calling.notify_one();
        async move {
            let _told = told;
            std::future::pending::<Decision>().await
        }
    };
    let session = within(stage.claude().permissions(handler).connect())
        .await
        .unwrap();
    let turn = session.send("go").await.unwrap();
    within(called.notified()).await;
    assert_eq!(session.open_questions(), 1);
    within(session.mcp_status()).await.unwrap();
    within(dropped.notified()).await;
    assert!(within(turn).await.unwrap().is_success());
    assert_eq!(session.open_questions(), 0);
    within(session.close()).await;
    assert_eq!(
        stage.answers(),
        [Value::Null; 0],
        "a withdrawn question gets no answer"
    );
}

#[tokio::test]
pub(crate) async fn an_unknown_control_request_is_answered_with_an_error() {
    let scenario = r#"turn
        control from_the_future {"x":1} id=future
        say "I was answered.""#;
    let stage = Stage::new(scenario);
    let session = within(stage.claude().permissions(AllowAll).connect())
        .await
        .unwrap();
    assert!(
        within(session.send("go").await.unwrap())
            .await
            .unwrap()
            .is_success()
    );
    let answers = stage.answers();
    assert_eq!(answers[0]["subtype"], "error");
    assert_eq!(answers[0]["request_id"], "future");
    let text = answers[0]["error"].as_str().unwrap();
    assert!(text.contains("from_the_future"), "{text}");

    // A host that knows more than this build can answer it.
    let stage = Stage::new(scenario);
    let mut session = within(stage.claude().questions().connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    let Some(Question::Other(question)) = within(session.questions.next()).await else {
        panic!("no such question");
    };
    assert_eq!(question.subtype(), "from_the_future");
    let body: Value = question.body().to().unwrap();
    assert_eq!(body["x"], 1);
    question.into_responder().reply(&json!({"y": 2})).unwrap();
    assert!(within(turn).await.unwrap().is_success());
    assert_eq!(stage.answers()[0]["response"]["y"], 2);
}

#[tokio::test]
pub(crate) async fn an_unsolicited_result_answers_no_prompt() {
    let stage = Stage::new(
        r#"turn
             say "first"
             result
             wait control mcp_status
           unsolicited
             say "by itself"
             wait user
             result
           turn
             say "second""#,
    );
    let mut session = within(stage.claude().connect()).await.unwrap();
    let first = within(session.send("one").await.unwrap()).await.unwrap();
    assert_eq!(first.text(), "first");
    within(session.mcp_status()).await.unwrap();
    let by_itself = |frame: &countersign_client::Frame| {
        value(frame)["message"]["content"][0]["text"] == "by itself"
    };
    next_frame(&mut session.events, by_itself).await;
    // The prompt is open when the result comes that is not its own.
    let second = session.send("two").await.unwrap();
    let of_its_own = |frame: &countersign_client::Frame| {
        frame.kind() == Kind::Result && value(frame)["result"] == "by itself"
    };
    next_frame(&mut session.events, of_its_own).await;
    let second = within(second).await.unwrap();
    assert_eq!(second.text(), "second");
}

#[tokio::test]
pub(crate) async fn a_grandchild_is_gone_after_close() {
    let stage = Stage::new(
        r#"turn
             spawn "echo $$ > near; exec sleep 600"
             spawn detached "echo $$ > far; exec sleep 600"
             say "Two are running.""#,
    );
    let session = within(stage.claude().connect()).await.unwrap();
    within(session.send("go").await.unwrap()).await.unwrap();
    stage.pid_in("near").await;
    stage.pid_in("far").await;
    assert!(stage.running().len() >= 3, "{:?}", stage.running());
    let closed = within(session.close()).await;
    stage.assert_nothing_runs();
    assert_eq!(closed.code, Some(0));
    assert!(closed.swept >= 2, "{closed:?}");
}

#[tokio::test]
pub(crate) async fn a_cli_that_ignores_eof_and_sigterm_is_killed() {
    let stage = Stage::new("ignore eof\nignore sigterm\nturn\n say \"Make me.\"");
    let claude = stage.claude().graces(|graces| {
        graces.close = Duration::from_millis(100);
        graces.term = Duration::from_millis(100);
    });
    let session = within(claude.connect()).await.unwrap();
    within(session.send("go").await.unwrap()).await.unwrap();
    let pid = session.pid().unwrap();
    until("it runs", || stage.running().contains(&pid)).await;
    let closed = within(session.close()).await;
    assert_eq!(closed.ended_by, Some(EndedBy::Kill));
    assert_eq!(closed.signal, Some(9));
    assert!(closed.is_clean(), "it was our hand that ended it");
    stage.assert_nothing_runs();
}
