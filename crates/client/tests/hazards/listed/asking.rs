//! Questions, many at once, and answers in any order or none.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use countersign_client::{
    AllowAll, Decision, Event, Notice, PermissionRequest, Question, Withdrawn,
};
use serde_json::Value;

use crate::stage::{Stage, there, until, within};

fn command(request: &PermissionRequest) -> String {
    let input: Value = request.input.to().unwrap();
    input["command"].as_str().unwrap().to_owned()
}

#[tokio::test]
pub(crate) async fn a_handler_that_panics_denies() {
    let stage = Stage::new(
        r#"turn
             ask Bash {"command":"panic in the call"} id=a
             ask Bash {"command":"panic in the future"} id=b
             ask Bash {"command":"ls"} id=c gives "ok"
             say "Survived.""#,
    );
    let handler = |request: PermissionRequest| {
        let command = command(&request);
        assert!(command != "panic in the call", "on purpose");
        async move {
            assert!(command != "panic in the future", "on purpose");
            Decision::allow()
        }
    };
    let session = within(stage.claude().permissions(handler).connect())
        .await
        .unwrap();
    let result = within(session.send("go").await.unwrap()).await.unwrap();
    assert_eq!(result.text(), "Survived.");
    let answers = stage.answers();
    let said: Vec<_> = answers
        .iter()
        .map(|answer| {
            (
                answer["request_id"].as_str().unwrap(),
                answer["response"]["behavior"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(said, [("a", "deny"), ("b", "deny"), ("c", "allow")]);
}

#[tokio::test]
pub(crate) async fn one_that_is_never_answered_holds_up_none_of_fifty() {
    let stage = Stage::new(
        r#"turn
             ask Bash {"command":"stuck"} id=stuck nowait
             repeat 50
               ask Bash {"command":"go ${n}"} gives "ok" nowait
             end
             wait answers 50
             say "Fifty."
             wait forever"#,
    );
    let answered = Arc::new(AtomicUsize::new(0));
    let count = answered.clone();
    let handler = move |request: PermissionRequest| {
        let count = count.clone();
        async move {
            if command(&request) == "stuck" {
                return std::future::pending().await;
            }
            count.fetch_add(1, Ordering::Relaxed);
            Decision::allow()
        }
    };
    let mut session = within(stage.claude().permissions(handler).connect())
        .await
        .unwrap();
    let turn = session.send("go").await.unwrap();
    let fifty = |frame: &countersign_client::Frame| {
        String::from_utf8_lossy(frame.line()).contains("Fifty.")
    };
    crate::stage::next_frame(&mut session.events, fifty).await;
    assert_eq!(answered.load(Ordering::Relaxed), 50);
    assert_eq!(session.open_questions(), 1);
    // The one that hangs is let go by an interrupt.
    within(session.interrupt()).await.unwrap();
    assert!(within(turn).await.unwrap().is_interrupted());
    assert_eq!(session.open_questions(), 0);
    let stuck = |answer: &Value| answer["request_id"] == "stuck";
    assert!(!stage.answers().iter().any(stuck));
}

#[tokio::test]
pub(crate) async fn two_approvals_are_answered_in_reverse_order() {
    let stage = Stage::new(
        r#"turn
             ask Bash {"command":"one"} id=one gives "did one" nowait
             ask Write {"file_path":"/a","content":"two"} id=two gives "did two" nowait
             wait answers
             say "Both.""#,
    );
    let mut session = within(stage.claude().questions().connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    let mut cards = Vec::new();
    for _ in 0..2 {
        match within(session.questions.next()).await {
            Some(Question::Permission(card)) => cards.push(card),
            other => panic!("{other:?}"),
        }
    }
    let second = cards.pop().unwrap();
    let first = cards.pop().unwrap();
    assert_eq!((&*first.tool_name, &*second.tool_name), ("Bash", "Write"));
    second.allow().unwrap();
    until("the second answer is there", || stage.answers().len() == 1).await;
    first.deny("not one").unwrap();
    assert_eq!(within(turn).await.unwrap().text(), "Both.");
    let answers = stage.answers();
    assert_eq!(answers[0]["request_id"], "two");
    assert_eq!(
        answers[0]["response"]["updatedInput"]["content"], "two",
        "with its own input"
    );
    assert_eq!(answers[1]["request_id"], "one");
    assert_eq!(answers[1]["response"]["message"], "not one");
}

#[tokio::test]
pub(crate) async fn a_question_that_is_repeated_is_asked_once() {
    let stage = Stage::new(
        r#"turn
             ask Bash {"command":"one"} id=same nowait
             ask Bash {"command":"two"} id=same nowait
             expect control_response {"response":{"request_id":"same"}} within 20s
             say "Done."
             result
             wait forever"#,
    );
    let mut session = within(stage.claude().questions().connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    let Some(Question::Permission(card)) = within(session.questions.next()).await else {
        panic!("no question came");
    };
    let notice = async {
        loop {
            match session.events.next().await {
                Some(Event::Notice(notice)) => return notice,
                Some(_) => {}
                // Nothing but this from then on: without it the loop would never let the deadline have its say.
                None => panic!("the end came before the notice"),
            }
        }
    };
    let repeated = Notice::RepeatedQuestion {
        request_id: "same".to_owned(),
    };
    assert_eq!(within(notice).await, repeated);
    assert_eq!(command(card.request()), "one", "the first of them counts");
    assert!(session.questions.try_next().is_none());
    card.allow().unwrap();
    assert!(within(turn).await.unwrap().is_success());
    assert_eq!(stage.answers().len(), 1);
}

#[tokio::test]
pub(crate) async fn an_interrupt_withdraws_an_open_approval() {
    let stage = Stage::new(
        r#"turn
             ask Bash {"command":"ls"}
             say "Never said."
           turn
             ask Bash {"command":"ls"} id=next gives "ok"
             say "Next.""#,
    );
    let mut session = within(stage.claude().questions().connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    let Some(Question::Permission(card)) = within(session.questions.next()).await else {
        panic!("no question came");
    };
    let interest = card.interest().clone();
    within(session.interrupt()).await.unwrap();
    within(interest.withdrawn()).await;
    let result = within(turn).await.unwrap();
    assert!(result.is_interrupted());
    assert_eq!(card.allow(), Err(Withdrawn));
    // The next turn asks again, and only that is answered.
    let turn = session.send("again").await.unwrap();
    let Some(Question::Permission(card)) = within(session.questions.next()).await else {
        panic!("no question came");
    };
    card.allow().unwrap();
    assert_eq!(within(turn).await.unwrap().text(), "Next.");
    let answers = stage.answers();
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["request_id"], "next");
}

#[tokio::test]
pub(crate) async fn replies_that_are_double_or_misaddressed_are_named() {
    let stage = Stage::new("reply twice mcp_status\nreply misaddressed get_settings");
    let claude = stage.claude().bounds(|bounds| {
        bounds.control_timeout = std::time::Duration::from_millis(300);
    });
    let mut session = within(claude.permissions(AllowAll).connect())
        .await
        .unwrap();
    within(session.mcp_status()).await.unwrap();
    let error = within(session.settings()).await.unwrap_err();
    assert!(
        error.is_timeout(),
        "an answer to somebody else is none: {error}"
    );
    let seen = there(&mut session.events);
    let repeated = |event: &&Event| matches!(event, Event::Notice(Notice::RepeatedReply { .. }));
    assert_eq!(seen.iter().filter(repeated).count(), 1, "{seen:?}");
    within(session.send("still fine").await.unwrap())
        .await
        .unwrap();
}
