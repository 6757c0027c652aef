//! Questions about calls, over a connection whose far end the test plays.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};

use countersign_client::wire::Json;
use countersign_client::wire::permission::{PermissionUpdate, RuleBehavior, RuleDestination};
use countersign_client::wire::vocab::PermissionMode;
use countersign_client::{
    AllowAll, AllowTools, Claude, Decision, DenyAll, Events, Notice, PermissionQuestion,
    PermissionRequest, Question, Rule, Session, Update, Withdrawn,
};
use serde_json::{Value, json};

use pair::{can_use_tool, greeted, notice, session, soon};

#[path = "../pair/mod.rs"]
mod pair;
mod subjects;

async fn question(session: &mut Session) -> PermissionQuestion {
    match soon(session.questions.next()).await {
        Some(Question::Permission(question)) => question,
        other => panic!("a permission question: {other:?}"),
    }
}

/// What goes to the CLI for a decision about one call.
async fn on_the_wire(version: &str, ask: Value, decision: Decision) -> (Value, Session) {
    let (mut session, mut far, _) = greeted(Claude::new().questions(), version).await;
    far.ask("q", ask).await;
    question(&mut session).await.answer(decision).unwrap();
    (far.reply("q").await, session)
}

fn touch() -> Value {
    can_use_tool("Bash", json!({"command": "touch ü", "n": 1.5}))
}

#[tokio::test]
async fn a_closure_decides_and_its_answer_is_the_portable_form() {
    let claude = Claude::new().permissions(|request: PermissionRequest| async move {
        match request.tool_name.as_str() {
            "Read" => Decision::allow(),
            other => Decision::deny(format!("no {other}")),
        }
    });
    let (_session, mut far) = session(claude).await;
    far.ask_tool("a", "Read", json!({"file_path": "/x"})).await;
    let answer = far.answer("a").await;
    assert_eq!(
        answer,
        json!({"subtype": "success", "request_id": "a", "response":
            {"behavior": "allow", "updatedInput": {"file_path": "/x"}}})
    );
    far.ask_tool("b", "Bash", json!({})).await;
    assert_eq!(
        far.reply("b").await,
        json!({"behavior": "deny", "message": "no Bash"})
    );
}

/// Looks at the events in the very moment somebody is woken for a question.
struct Looks {
    events: Mutex<Events>,
    found: Mutex<Option<bool>>,
}

impl Wake for Looks {
    fn wake(self: Arc<Self>) {
        let mut found = self.found.lock().unwrap();
        found.get_or_insert_with(|| self.events.lock().unwrap().try_next().is_some());
    }
}

#[tokio::test]
async fn what_was_said_before_a_question_is_there_when_it_is_asked() {
    let (session, mut far, _) = greeted(Claude::new().questions(), "2.1.325").await;
    let Session {
        handle: _handle,
        mut events,
        mut questions,
        ..
    } = session;
    while events.try_next().is_some() {}
    let looks = Arc::new(Looks {
        events: Mutex::new(events),
        found: Mutex::default(),
    });
    let waker = Waker::from(Arc::clone(&looks));
    {
        let mut asked = pin!(questions.next());
        let polled = asked.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        // Nobody reads in between: both come with one read.
        far.say(&json!({"type": "assistant", "session_id": "s", "uuid": "u", "parent_tool_use_id": null, "message": {
            "id": "m", "type": "message", "role": "assistant", "model": "x", "usage": {}, "content": [
                {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "true"}}]}}))
            .await;
        far.ask_tool("q", "Bash", json!({"command": "true"})).await;
        soon(async {
            while looks.found.lock().unwrap().is_none() {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
    assert_eq!(*looks.found.lock().unwrap(), Some(true));
}

#[tokio::test]
async fn every_decision_has_its_form_on_the_wire() {
    let original = json!({"command": "touch ü", "n": 1.5});
    let other = Json::from(json!({"command": "true"}));
    let cases = [
        (
            Decision::allow(),
            json!({"behavior": "allow", "updatedInput": original}),
        ),
        (
            Decision::allow().with_input(other.clone()),
            json!({"behavior": "allow", "updatedInput": {"command": "true"}}),
        ),
        (
            Decision::allow().with_mode(PermissionMode::AcceptEdits),
            json!({"behavior": "allow", "updatedInput": original, "updatedPermissions":
                [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]}),
        ),
        (
            Decision::deny("no"),
            json!({"behavior": "deny", "message": "no"}),
        ),
        (
            Decision::deny(""),
            json!({"behavior": "deny", "message": ""}),
        ),
        (
            Decision::deny_and_stop("stop"),
            json!({"behavior": "deny", "message": "stop", "interrupt": true}),
        ),
        (
            Decision::deny("no")
                .with_input(other)
                .with_mode(PermissionMode::Plan),
            json!({"behavior": "deny", "message": "no"}),
        ),
    ];
    for (decision, expected) in cases {
        let (sent, _session) = on_the_wire("2.1.325", touch(), decision).await;
        assert_eq!(sent, expected);
    }
}

#[tokio::test]
async fn an_input_that_is_no_object_denies_instead_of_running_something_else() {
    for broken in [json!(null), json!([1]), json!("text")] {
        let decision = Decision::allow().with_input(broken.into());
        let (sent, _session) = on_the_wire("2.1.325", touch(), decision).await;
        assert_eq!(sent["behavior"], "deny");
    }
}

#[test]
fn every_update_in_every_place_has_its_form() {
    let rules = || [Rule::tool("Bash").content("npm test:*"), Rule::tool("Read")];
    let list = json!([{"toolName": "Bash", "ruleContent": "npm test:*"}, {"toolName": "Read"}]);
    let places = [
        (Update::in_session as fn(Update) -> Update, "session"),
        (Update::in_local_settings, "localSettings"),
        (Update::in_project_settings, "projectSettings"),
        (Update::in_user_settings, "userSettings"),
        (Update::for_cli_arguments, "cliArg"),
    ];
    assert_eq!(places.len(), RuleDestination::KNOWN.len());
    for (place, destination) in places {
        let form = |update: Update| {
            let update: PermissionUpdate = place(update).into();
            serde_json::to_value(update).unwrap()
        };
        for behavior in RuleBehavior::KNOWN {
            for (kind, update) in [
                (
                    "addRules",
                    Update::add(RuleBehavior::from(*behavior), rules()),
                ),
                (
                    "replaceRules",
                    Update::replace(RuleBehavior::from(*behavior), rules()),
                ),
                (
                    "removeRules",
                    Update::remove(RuleBehavior::from(*behavior), rules()),
                ),
            ] {
                assert_eq!(
                    form(update),
                    json!({"type": kind, "rules": list, "behavior": behavior, "destination": destination})
                );
            }
        }
        assert_eq!(
            form(Update::mode(PermissionMode::Plan)),
            json!({"type": "setMode", "mode": "plan", "destination": destination})
        );
        assert_eq!(
            form(Update::add_directories(["/a", "/b"])),
            json!({"type": "addDirectories", "directories": ["/a", "/b"], "destination": destination})
        );
        assert_eq!(
            form(Update::remove_directories(["/a"])),
            json!({"type": "removeDirectories", "directories": ["/a"], "destination": destination})
        );
    }
}

#[test]
fn rules_as_text_say_what_they_do_and_stay_in_the_session() {
    for (update, behavior) in [
        (Update::allow_rule("Bash(ls:*)"), "allow"),
        (Update::deny_rule("Bash(ls:*)"), "deny"),
        (Update::ask_rule("Bash(ls:*)"), "ask"),
    ] {
        let update: PermissionUpdate = update.unwrap().into();
        let form = serde_json::to_value(update).unwrap();
        assert_eq!(form["behavior"], behavior);
        assert_eq!(form["destination"], "session");
        assert_eq!(
            form["rules"],
            json!([{"toolName": "Bash", "ruleContent": "ls:*"}])
        );
    }
    assert!(Update::deny_rule("Bash(ls").is_err());
}

#[tokio::test]
async fn updates_that_a_version_would_choke_on_are_left_out_and_told() {
    let unknown: PermissionUpdate =
        serde_json::from_value(json!({"type": "addMagic", "x": 1})).unwrap();
    let mode = |mode| PermissionUpdate::from(Update::mode(mode));
    let cases = [
        ("2.0.75", mode(PermissionMode::Auto), false),
        ("2.1.62", mode(PermissionMode::Auto), false),
        ("2.1.325", mode(PermissionMode::Auto), true),
        ("2.0.75", mode(PermissionMode::BypassPermissions), true),
        ("2.1.325", mode(PermissionMode::BypassPermissions), false),
        ("2.0.75", unknown.clone(), false),
        ("2.0.75", mode(PermissionMode::AcceptEdits), true),
    ];
    for (version, update, is_sent) in cases {
        let form = serde_json::to_value(&update).unwrap();
        let decision = Decision::allow().with_update(update);
        let (sent, mut session) = on_the_wire(version, touch(), decision).await;
        assert_eq!(sent["behavior"], "allow");
        if is_sent {
            assert_eq!(sent["updatedPermissions"], json!([form]), "{version}");
        } else {
            assert_eq!(sent.get("updatedPermissions"), None, "{version} {form}");
            let told = notice(&mut session.events).await;
            assert!(matches!(told, Notice::UpdatesDropped { .. }), "{told:?}");
        }
    }
}

#[tokio::test]
async fn always_means_the_suggested_rules_and_never_the_mode() {
    let rule = json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch x"}],
        "behavior": "allow", "destination": "localSettings"});
    let mut ask = touch();
    ask["permission_suggestions"] =
        json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}, rule]);
    let claude = Claude::new()
        .permissions(|request: PermissionRequest| async move { Decision::allow_always(&request) });
    let (_session, mut far) = session(claude).await;
    far.ask("a", ask.clone()).await;
    assert_eq!(far.reply("a").await["updatedPermissions"], json!([rule]));
    ask["suppress_always_allow_rule"] = json!(true);
    far.ask("b", ask).await;
    assert_eq!(far.reply("b").await.get("updatedPermissions"), None);
}

#[tokio::test]
async fn a_handler_that_panics_denies() {
    let claude = Claude::new().permissions(|request: PermissionRequest| async move {
        match request.tool_name.as_str() {
            "Bash" => panic!("on purpose"),
            _ => Decision::allow(),
        }
    });
    let (_session, mut far) = session(claude).await;
    far.ask_tool("a", "Bash", json!({})).await;
    assert_eq!(far.reply("a").await["behavior"], "deny");
    far.ask_tool("b", "Read", json!({})).await;
    assert_eq!(far.reply("b").await["behavior"], "allow");
}

#[tokio::test]
async fn a_question_that_is_dropped_is_denied() {
    let (mut session, mut far) = session(Claude::new().questions()).await;
    far.ask("a", touch()).await;
    drop(question(&mut session).await);
    assert_eq!(far.reply("a").await["behavior"], "deny");
    far.ask("b", touch()).await;
    drop(session.questions);
    assert_eq!(far.reply("b").await["behavior"], "deny");
}

#[tokio::test]
async fn without_anybody_to_ask_calls_are_denied() {
    let (_session, mut far) = session(Claude::new()).await;
    far.ask("a", touch()).await;
    assert_eq!(far.reply("a").await["behavior"], "deny");
}

#[tokio::test]
async fn the_ready_handlers_do_what_they_say() {
    for (claude, read, write) in [
        (Claude::new().permissions(AllowAll), "allow", "allow"),
        (
            Claude::new().permissions(DenyAll::default()),
            "deny",
            "deny",
        ),
        (
            Claude::new().permissions(AllowTools::new(["Read"])),
            "allow",
            "deny",
        ),
    ] {
        let (_session, mut far) = session(claude).await;
        far.ask_tool("r", "Read", json!({})).await;
        assert_eq!(far.reply("r").await["behavior"], read);
        far.ask_tool("w", "Write", json!({})).await;
        assert_eq!(far.reply("w").await["behavior"], write);
    }
    let listed = Claude::new().permissions(AllowTools::new(["ExitPlanMode"]));
    let (_session, mut far) = session(listed).await;
    let mut ask = can_use_tool("ExitPlanMode", json!({}));
    ask["requires_user_interaction"] = json!(true);
    far.ask("p", ask).await;
    assert_eq!(far.reply("p").await["behavior"], "deny");
}

/// Counts how many of it were dropped.
struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A handler that never answers about Bash, and allows the rest. Counts what it was asked and let go of.
fn stuck_on_bash() -> (Claude, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let (asked, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (begun, let_go) = (Arc::clone(&asked), Arc::clone(&dropped));
    let claude = Claude::new().permissions(move |request: PermissionRequest| {
        let guard = Guard(Arc::clone(&let_go));
        begun.fetch_add(1, Ordering::SeqCst);
        async move {
            if request.tool_name == "Bash" {
                std::future::pending::<()>().await;
            }
            std::mem::forget(guard);
            Decision::allow()
        }
    });
    (claude, asked, dropped)
}

async fn until(holds: impl Fn() -> bool) {
    soon(async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_question_that_is_withdrawn_drops_the_handler_and_gets_no_answer() {
    let (claude, asked, dropped) = stuck_on_bash();
    let (session, mut far) = session(claude).await;
    far.ask("a", touch()).await;
    until(|| asked.load(Ordering::SeqCst) == 1).await;
    assert_eq!(session.open_questions(), 1);
    far.cancel("a").await;
    until(|| dropped.load(Ordering::SeqCst) == 1).await;
    assert_eq!(session.open_questions(), 0);
    far.ask_tool("b", "Read", json!({})).await;
    assert_eq!(
        far.reply("b").await["behavior"],
        "allow",
        "and nothing before it"
    );
}

#[tokio::test]
async fn fifty_questions_are_answered_while_one_never_is() {
    let (claude, ..) = stuck_on_bash();
    let (session, mut far) = session(claude).await;
    far.ask("stuck", touch()).await;
    let ids: Vec<String> = (0..50).map(|n| format!("q{n}")).collect();
    for id in &ids {
        far.ask_tool(id, "Read", json!({"file_path": id})).await;
    }
    let mut answered = Vec::new();
    for _ in &ids {
        let line = far.hear().await;
        let response = &line["response"]["response"];
        assert_eq!(
            response["updatedInput"]["file_path"],
            line["response"]["request_id"]
        );
        answered.push(line["response"]["request_id"].as_str().unwrap().to_owned());
    }
    answered.sort();
    let mut ids = ids;
    ids.sort();
    assert_eq!(answered, ids);
    assert_eq!(session.open_questions(), 1);
}

#[tokio::test]
async fn two_approvals_can_be_answered_in_reverse_order() {
    let (mut session, mut far) = session(Claude::new().questions()).await;
    far.ask_tool("first", "Read", json!({"n": 1})).await;
    far.ask_tool("second", "Read", json!({"n": 2})).await;
    let first = question(&mut session).await;
    let second = question(&mut session).await;
    second.allow().unwrap();
    first.deny("late").unwrap();
    assert_eq!(
        far.reply("second").await,
        json!({"behavior": "allow", "updatedInput": {"n": 2}})
    );
    assert_eq!(
        far.reply("first").await,
        json!({"behavior": "deny", "message": "late"})
    );
}

#[tokio::test]
async fn an_answer_after_the_question_was_taken_back_is_an_error() {
    let (mut session, mut far) = session(Claude::new().questions()).await;
    far.ask("a", touch()).await;
    let asked = question(&mut session).await;
    assert!(!asked.interest().is_withdrawn());
    far.cancel("a").await;
    soon(asked.interest().withdrawn()).await;
    assert_eq!(asked.allow(), Err(Withdrawn));
}

#[tokio::test]
async fn when_the_agent_is_gone_its_questions_are_withdrawn() {
    let (mut session, mut far) = session(Claude::new().questions()).await;
    far.ask("a", touch()).await;
    let asked = question(&mut session).await;
    drop(far);
    soon(asked.interest().withdrawn()).await;
    assert_eq!(asked.deny("no"), Err(Withdrawn));
    assert!(soon(session.questions.next()).await.is_none());
}

#[tokio::test]
async fn a_question_asked_twice_is_passed_on_once() {
    let (mut session, mut far) = session(Claude::new().questions()).await;
    far.ask("a", touch()).await;
    far.ask("a", touch()).await;
    let told = notice(&mut session.events).await;
    let request_id = "a".to_owned();
    assert_eq!(told, Notice::RepeatedQuestion { request_id });
    question(&mut session).await.allow().unwrap();
    assert_eq!(far.reply("a").await["behavior"], "allow");
    assert!(session.questions.try_next().is_none());
}

#[tokio::test]
async fn a_question_that_cannot_be_read_is_denied_and_told() {
    for missing in ["tool_name", "input"] {
        let (mut session, mut far) = session(Claude::new().permissions(AllowAll)).await;
        let mut ask = touch();
        ask.as_object_mut().unwrap().remove(missing);
        far.ask("a", ask).await;
        let sent = far.reply("a").await;
        assert_eq!(sent["behavior"], "deny", "without {missing}");
        assert!(sent["message"].is_string());
        let told = notice(&mut session.events).await;
        assert!(
            matches!(&told, Notice::BrokenQuestion { subtype, .. } if subtype == "can_use_tool"),
            "{told:?}"
        );
    }
}

#[tokio::test]
async fn a_question_that_names_no_call_is_asked_like_any_other() {
    let (mut session, mut far) = session(Claude::new().questions()).await;
    for (id, answer) in [("a", "allow"), ("b", "deny")] {
        let mut ask = touch();
        ask.as_object_mut().unwrap().remove("tool_use_id");
        far.ask(id, ask).await;
        let asked = question(&mut session).await;
        assert_eq!(asked.tool_use_id, None);
        match answer {
            "allow" => asked.allow().unwrap(),
            _ => asked.deny("no").unwrap(),
        }
        assert_eq!(far.reply(id).await["behavior"], answer);
    }
}

#[tokio::test]
async fn a_request_nobody_knows_gets_an_error_and_not_silence() {
    let (_session, mut far) = session(Claude::new()).await;
    far.ask("a", json!({"subtype": "fly_to_the_moon"})).await;
    assert_eq!(
        far.answer("a").await,
        json!({"subtype": "error", "request_id": "a",
            "error": "Unsupported control request subtype: fly_to_the_moon"})
    );
}

#[tokio::test]
async fn a_request_nobody_knows_can_be_answered_by_hand() {
    let (mut session, mut far) = session(Claude::new().questions()).await;
    far.ask("a", json!({"subtype": "fly", "to": "the moon"}))
        .await;
    let Some(Question::Other(asked)) = soon(session.questions.next()).await else {
        panic!("another question");
    };
    assert_eq!(asked.subtype(), "fly");
    assert_eq!(asked.body().to_value().unwrap()["to"], "the moon");
    asked.into_responder().reply(&json!({"ok": true})).unwrap();
    assert_eq!(far.reply("a").await, json!({"ok": true}));
}
