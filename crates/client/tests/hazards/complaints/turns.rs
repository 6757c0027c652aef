//! Which result answers what, how a turn is cut off, and when a run is over.

use std::future::IntoFuture as _;
use std::time::Duration;

use countersign_client::mcp::{Server, schemars, schemars::JsonSchema};
use countersign_client::wire::hooks::{HookInput, HookOutput};
use countersign_client::{AllowAll, EndedBy, Hook, HookContext, Kind};
use countersign_testkit::fetch::newest;
use serde_json::Value;

use crate::stage::{Stage, next_frame, unhurried, until, value, within};

#[derive(serde::Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[tokio::test]
pub(crate) async fn c02_the_first_result_does_not_close_stdin() {
    let stage = Stage::new(
        r#"turn
             emit {"type":"system","subtype":"task_started","task_id":"t1","description":"a build"}
             say "It runs in the background."
           unsolicited after 200ms
             hook PreToolUse {"tool_name":"Bash","tool_input":{"command":"ls"}} as hook
             ask Bash {"command":"ls"} gives "a file"
             mcp calc {"method":"tools/call","params":{"name":"add","arguments":{"a":40,"b":2}}}
             emit {"type":"system","subtype":"task_notification","task_id":"t1","status":"completed"}
             say "Now it is done.""#,
    );
    let hook = |_: HookInput, _: HookContext| async { Ok(HookOutput::default()) };
    let calc = Server::new("calc").tool("add", "Adds", |add: Add| async move { add.a + add.b });
    let claude = stage
        .claude()
        .graces(unhurried)
        .permissions(AllowAll)
        .hook(Hook::on("PreToolUse", hook))
        .mcp(calc);
    let mut run = within(claude.query("go").start()).await.unwrap();
    let mut texts = Vec::new();
    while let Some(event) = within(run.next()).await {
        let event = event.unwrap();
        let Some(frame) = event.frame().filter(|frame| frame.kind() == Kind::Result) else {
            continue;
        };
        texts.push(value(frame)["result"].as_str().unwrap().to_owned());
    }
    assert_eq!(texts, ["It runs in the background.", "Now it is done."]);
    let outcome = within(run.finish()).await.unwrap();
    assert_eq!(outcome.result.text(), "It runs in the background.");
    assert_eq!(
        (outcome.closed.code, outcome.closed.ended_by),
        (Some(0), Some(EndedBy::Eof))
    );
    let answers = stage.answers();
    assert!(
        answers.iter().all(|answer| answer["subtype"] == "success"),
        "{answers:?}"
    );
    let allowed = |answer: &Value| answer["response"]["behavior"] == "allow";
    let sum = |answer: &Value| answer.to_string().contains("\"text\":\"42\"");
    assert!(
        answers.iter().any(allowed) && answers.iter().any(sum),
        "{answers:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
pub(crate) async fn c06_a_session_wanders_between_tasks_and_threads() {
    let stage = Stage::new("turn always\n say \"${prompt}\"");
    let claude = stage.claude();
    let session = tokio::spawn(async move { claude.connect().await.unwrap() });
    let session = within(session).await.unwrap();
    let (handle, mut events) = session.split();
    let speaker = handle.clone();
    let turn = tokio::spawn(async move { speaker.send("hello").await.unwrap().await.unwrap() });
    let listener = tokio::spawn(async move {
        next_frame(&mut events, |frame| frame.kind() == Kind::Result).await;
        events
    });
    assert_eq!(within(turn).await.unwrap().text(), "hello");
    let events = within(listener).await.unwrap();
    // Dropped on threads that have no runtime at all.
    std::thread::spawn(move || drop(events)).join().unwrap();
    std::thread::spawn(move || drop(handle)).join().unwrap();
    stage.until_nothing_runs().await;
}

#[tokio::test]
pub(crate) async fn c15_an_interrupted_turn_is_a_result_and_no_error() {
    let stage = Stage::new(
        r#"turn
             ask Bash {"command":"sleep 100"} as it nowait
             wait answers
             wait forever
           turn
             say "Still here.""#,
    );
    let mut session = within(stage.claude().permissions(AllowAll).connect())
        .await
        .unwrap();
    let turn = session.send("go").await.unwrap();
    let is_tool_result = |frame: &countersign_client::Frame| frame.kind() == Kind::User;
    next_frame(&mut session.events, is_tool_result).await;
    within(session.interrupt()).await.unwrap();
    let result = within(turn).await.unwrap();
    assert!(result.is_interrupted());
    assert_eq!(result.subtype(), "error_during_execution");
    let text = result.ok().unwrap_err().to_string();
    assert_eq!(text, "the turn failed: it was interrupted");
    let next = within(session.send("again").await.unwrap()).await.unwrap();
    assert_eq!(next.text(), "Still here.");
}

#[tokio::test]
pub(crate) async fn c16_the_end_of_an_interrupted_turn_can_be_waited_for() {
    let stage = Stage::new("turn\n say \"Working.\"\n wait forever");
    let mut session = within(stage.claude().connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    next_frame(&mut session.events, |frame| frame.kind() == Kind::Assistant).await;
    assert!(!session.is_idle());
    within(session.interrupt()).await.unwrap();
    assert!(within(turn).await.unwrap().is_interrupted());
    within(session.idle()).await.unwrap();
    assert!(session.is_idle());

    // A CLI that does not heed it is told by a timeout, not by silence.
    let stage = Stage::new("reply never interrupt\ndefault interrupt off\nturn\n wait forever");
    let claude = stage
        .claude()
        .bounds(|bounds| bounds.control_timeout = Duration::from_millis(200));
    let claude = claude.graces(|graces| graces.interrupt = Duration::from_millis(200));
    let session = within(claude.connect()).await.unwrap();
    let _turn = session.send("go").await.unwrap();
    let error = within(session.interrupt()).await.unwrap_err();
    assert!(
        error.is_timeout() && error.to_string().contains("interrupt"),
        "{error}"
    );
}

#[tokio::test]
pub(crate) async fn c17_the_receipt_of_an_interrupt_names_what_it_touched() {
    let stage = Stage::new(
        r#"turn
             say "Working."
             wait forever
           turn
             say "The second.""#,
    );
    let mut session = within(stage.claude().connect()).await.unwrap();
    let first = session.send("one").await.unwrap();
    next_frame(&mut session.events, |frame| frame.kind() == Kind::Assistant).await;
    let second = session.send("two").await.unwrap();
    let receipt = within(session.interrupt()).await.unwrap();
    assert_eq!(receipt.still_queued, [second.uuid()]);
    assert_eq!(receipt.cancelled, [""; 0]);
    assert!(within(first).await.unwrap().is_interrupted());
    assert_eq!(within(second).await.unwrap().text(), "The second.");

    let stage = Stage::new("turn\n say \"Working.\"\n wait forever");
    let mut session = within(stage.claude().connect()).await.unwrap();
    let first = session.send("one").await.unwrap();
    next_frame(&mut session.events, |frame| frame.kind() == Kind::Assistant).await;
    let second = session.send("two").await.unwrap();
    let receipt = within(session.interrupt_all()).await.unwrap();
    assert_eq!(receipt.cancelled, [second.uuid()]);
    assert!(within(first).await.unwrap().is_interrupted());
    let error = within(second).await.unwrap_err();
    assert!(error.to_string().contains("taken back"), "{error}");
}

#[tokio::test]
pub(crate) async fn c18_leftover_results_are_nobodys_answer() {
    for version in [newest().version, "2.1.62", "2.0.75"] {
        let stage = Stage::new(&format!(
            r#"version {version}
               turn
                 say "one"
                 result
                 wait user
               unsolicited
                 say "a leftover"
               turn
                 say "two"
                 wait user
                 fold
                 say "two and three""#
        ));
        let claude = stage.claude().replay_user_messages(true);
        let mut session = within(claude.connect()).await.unwrap();
        let first = within(session.send("1").await.unwrap()).await.unwrap();
        assert_eq!(first.text(), "one", "{version}");
        // It is written while the turn before it still goes on, and waits through a turn that nobody asked for.
        let second = session.send("2").await.unwrap();
        let is_two = |frame: &countersign_client::Frame| {
            value(frame)["message"]["content"][0]["text"] == "two"
        };
        next_frame(&mut session.events, is_two).await;
        let third = session.send("3").await.unwrap();
        let (second, third) =
            within(async { tokio::join!(second.into_future(), third.into_future()) }).await;
        assert_eq!(second.unwrap().text(), "two and three", "{version}");
        assert_eq!(third.unwrap().text(), "two and three", "{version}");
    }
}

#[tokio::test]
pub(crate) async fn c31_an_interrupt_is_no_signal() {
    let stage = Stage::new(
        r#"turn
             say "Working."
             wait forever
           turn
             say "Same process."
           on sigint
             exit 9"#,
    );
    let mut session = within(stage.claude().connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    next_frame(&mut session.events, |frame| frame.kind() == Kind::Assistant).await;
    within(session.interrupt()).await.unwrap();
    assert!(within(turn).await.unwrap().is_interrupted());
    let next = within(session.send("go on").await.unwrap()).await.unwrap();
    assert_eq!(next.text(), "Same process.");
    assert_eq!(stage.asked("interrupt").len(), 1, "it went in band");
    until("one process", || {
        stage.running() == [session.pid().unwrap()]
    })
    .await;
}
