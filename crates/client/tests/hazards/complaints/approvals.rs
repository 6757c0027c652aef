//! Questions about calls: asked at all, answered late, withdrawn, denied without harm to others.

use std::time::Duration;

use countersign_client::wire::hooks::{HookInput, HookOutput};
use countersign_client::{
    AllowAll, Claude, Decision, Hook, HookContext, PermissionRequest, Question, Withdrawn,
};
use serde_json::Value;

use crate::stage::{Stage, in_process, lines, there, within};

#[tokio::test(start_paused = true)]
pub(crate) async fn c13_an_approval_may_wait_for_days() {
    let (peer, cli) = in_process(
        r#"turn
             ask Bash {"command":"make"} gives "made"
             say "It was worth the wait.""#,
    );
    let days = Duration::from_secs(3 * 24 * 3600);
    let handler = move |_: PermissionRequest| async move {
        tokio::time::sleep(days).await;
        Decision::allow()
    };
    let claude = Claude::new().permissions(handler);
    let session = claude.connect_over(peer).await.unwrap();
    let asked = tokio::time::Instant::now();
    let turn = session.send("go").await.unwrap();
    // Meanwhile the control lane works, hour after hour.
    for _ in 0..24 {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        session.mcp_status().await.unwrap();
        assert_eq!(session.open_questions(), 1);
    }
    let result = turn.await.unwrap();
    assert!(asked.elapsed() >= days);
    assert_eq!(result.text(), "It was worth the wait.");
    session.close().await;
    assert_eq!(cli.await.unwrap().unwrap().code, Some(0));
}

#[tokio::test]
pub(crate) async fn c14_whoever_has_a_handler_is_asked() {
    let scenario = "turn\n ask Bash {\"command\":\"ls\"} gives \"ok\"\n say \"Asked.\"";
    let flag = |stage: &Stage| {
        let argv = stage.argv();
        let at = argv
            .iter()
            .position(|word| word == "--permission-prompt-tool");
        at.map(|at| argv[at + 1].clone())
    };
    // A handler and a plain prompt are enough: the flag is set, stdin stays open.
    let stage = Stage::new(scenario);
    let text = stage.claude().permissions(AllowAll).query("go").text();
    assert_eq!(within(text).await.unwrap(), "Asked.");
    assert_eq!(flag(&stage).as_deref(), Some("stdio"));
    assert_eq!(stage.answers()[0]["response"]["behavior"], "allow");

    // Without one the CLI is not told to ask; if it does, it is not left waiting.
    let stage = Stage::new(scenario);
    let text = stage.claude().query("go").text();
    assert_eq!(within(text).await.unwrap(), "Asked.");
    assert_eq!(flag(&stage), None);
    assert_eq!(stage.answers()[0]["response"]["behavior"], "deny");
}

#[tokio::test]
pub(crate) async fn c19_a_denial_leaves_the_other_calls_alone() {
    let stage = Stage::new(
        r#"turn
             ask Bash {"command":"rm"} nowait
             ask Bash {"command":"ls"} gives "a file" nowait
             wait answers
             say "One of two."
           turn
             ask Bash {"command":"stop"}
             say "Never said.""#,
    );
    let handler = |request: PermissionRequest| async move {
        let input: Value = request.input.to().unwrap();
        match input["command"].as_str() {
            Some("rm") => Decision::deny("not that one"),
            Some("stop") => Decision::deny_and_stop("enough"),
            _ => Decision::allow(),
        }
    };
    let mut session = within(stage.claude().permissions(handler).connect())
        .await
        .unwrap();
    let result = within(session.send("go").await.unwrap()).await.unwrap();
    assert_eq!(result.text(), "One of two.");
    let seen = lines(&there(&mut session.events));
    let ran = |line: &&Value| line["tool_use_result"]["stdout"] == "a file";
    assert_eq!(seen.iter().filter(ran).count(), 1);
    let stopped = within(session.send("stop").await.unwrap()).await.unwrap();
    assert_ne!(stopped.text(), "Never said.");
    let answers = stage.answers();
    let of = |behavior: &str, message: &str| {
        let fits = |answer: &&Value| {
            answer["response"]["behavior"] == behavior && answer["response"]["message"] == message
        };
        answers.iter().find(fits).unwrap()["response"].clone()
    };
    assert_eq!(of("deny", "not that one").get("interrupt"), None);
    assert_eq!(of("deny", "enough")["interrupt"], true);
}

#[tokio::test]
pub(crate) async fn c20_a_cancelled_approval_takes_its_card_away() {
    let stage = Stage::new(
        r#"turn
             ask Bash {"command":"ls"} as it nowait
             wait control mcp_status
             cancel it
             say "Never mind.""#,
    );
    let mut session = within(stage.claude().questions().connect()).await.unwrap();
    let turn = session.send("go").await.unwrap();
    let Some(Question::Permission(card)) = within(session.questions.next()).await else {
        panic!("no question came");
    };
    let interest = card.interest().clone();
    assert!(!interest.is_withdrawn());
    within(session.mcp_status()).await.unwrap();
    within(interest.withdrawn()).await;
    assert!(interest.is_withdrawn());
    assert_eq!(session.open_questions(), 0);
    // Somebody clicked a moment too late: an error, and nothing on the wire.
    assert_eq!(card.allow(), Err(Withdrawn));
    assert!(within(turn).await.unwrap().is_success());
    within(session.close()).await;
    assert_eq!(stage.answers(), [Value::Null; 0]);
}

#[tokio::test]
pub(crate) async fn c29_hooks_are_registered_before_anything_runs() {
    // A resumed CLI asks before it has answered the greeting.
    let stage = Stage::new(
        r#"start
             ask Bash {"command":"deferred"} id=early gives "ok"
           on initialize
             wait answers
             answer
           turn
             hook PreToolUse {"tool_name":"Bash","tool_input":{"command":"ls"}}
             say "Guarded.""#,
    );
    let hook = |_: HookInput, _: HookContext| async { Ok(HookOutput::default()) };
    let claude = stage
        .claude()
        .permissions(AllowAll)
        .hook(Hook::on("PreToolUse", hook));
    let claude = claude.resume("11111111-1111-4111-8111-111111111111");
    let session = within(claude.connect()).await.unwrap();
    within(session.send("go").await.unwrap()).await.unwrap();
    let heard = stage.heard();
    assert_eq!(heard[0]["request"]["subtype"], "initialize");
    assert!(heard[0]["request"]["hooks"]["PreToolUse"][0]["hookCallbackIds"][0].is_string());
    let answers = stage.answers();
    assert_eq!(answers[0]["request_id"], "early");
    assert_eq!(answers[0]["response"]["behavior"], "allow");
    assert_eq!(answers.len(), 2, "the hook was called, too");
}

#[tokio::test]
pub(crate) async fn c32_a_session_hook_that_is_called_is_answered() {
    // No CLI that was measured calls them over the wire; one that does finds stdin open and a callback.
    let stage = Stage::new(
        r#"turn
             hook SessionStart {"source":"startup"}
             say "Hello."
             hook SessionEnd {"reason":"other"}"#,
    );
    let hook = |_: HookInput, _: HookContext| async { Ok(HookOutput::default()) };
    let claude = stage
        .claude()
        .hook(Hook::on("SessionStart", hook))
        .hook(Hook::on("SessionEnd", hook));
    let outcome = within(claude.query("go").finish()).await.unwrap();
    assert_eq!(outcome.result.text(), "Hello.");
    let answers = stage.answers();
    assert_eq!(answers.len(), 2);
    assert!(
        answers.iter().all(|answer| answer["subtype"] == "success"),
        "{answers:?}"
    );
}
