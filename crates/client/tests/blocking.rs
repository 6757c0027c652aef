//! The blocking API: the test's main thread blocks, another one plays the CLI.

#![cfg(feature = "blocking")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::mpsc;
use std::thread;

use countersign_client::blocking::{self, BlockingError};
use countersign_client::wire::Json;
use countersign_client::wire::vocab::PermissionMode;
use countersign_client::{Claude, Decision, Error, Event, Kind, Peer, Question};
use serde_json::{Value, json};

use pair::{DEADLINE, Far, greeting};

mod pair;

/// Plays the CLI on a thread of its own: greets, then does what `play` does, then says no more.
fn playing<F>(play: F) -> (Peer, thread::JoinHandle<()>)
where
    F: AsyncFnOnce(&mut Far) + Send + 'static,
{
    let (peer, stream) = Peer::pair();
    let cli = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(async {
            let mut far = Far::new(stream);
            far.accept(greeting("2.1.325")).await;
            play(&mut far).await;
        });
    });
    (peer, cli)
}

fn result(text: &str, user: &Value) -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "result": text, "num_turns": 1,
        "duration_ms": 1, "duration_api_ms": 1, "total_cost_usd": 0.0, "session_id": "s", "uuid": "r",
        "user_message_uuid": user["uuid"]})
}

fn init() -> Value {
    json!({"type": "system", "subtype": "init", "session_id": "s", "model": "m", "cwd": "/", "tools": [],
        "mcp_servers": [], "permissionMode": "default", "apiKeySource": "none", "uuid": "i",
        "claude_code_version": "2.1.325"})
}

/// The CLI runs a turn that answers the next message with `text`.
async fn turn(far: &mut Far, text: &str) {
    let user = far.hear().await;
    assert_eq!(user["type"], "user", "{user}");
    far.say(&init()).await;
    far.say(&result(text, &user)).await;
}

#[test]
fn a_message_is_sent_and_its_result_waited_for() {
    let (peer, cli) = playing(async |far| {
        turn(far, "one").await;
        turn(far, "two").await;
    });
    let session = blocking::Session::connect_over(Claude::new(), peer).unwrap();
    assert_eq!(session.send("first").unwrap().text(), "one");
    let second = session.start("second").unwrap();
    assert!(!second.uuid().is_empty());
    assert_eq!(second.wait().unwrap().text(), "two");
    assert_eq!(session.handle().session_id().as_deref(), Some("s"));
    cli.join().unwrap();
    session.closed().unwrap();
    assert!(matches!(session.send("third"), Err(Error::Closed(_))));
}

#[test]
fn events_come_by_an_iterator_that_ends() {
    let (peer, cli) = playing(async |far| turn(far, "one").await);
    let session = blocking::Session::connect_over(Claude::new(), peer).unwrap();
    let mut stream = session.stream("first").unwrap();
    let kinds: Vec<Kind> = stream
        .by_ref()
        .filter_map(|event| event.frame().map(countersign_client::Frame::kind))
        .collect();
    assert_eq!(kinds, [Kind::System, Kind::Result]);
    assert_eq!(stream.finish().unwrap().text(), "one");
    cli.join().unwrap();
    let last = session.events.last();
    assert!(matches!(last, Some(Event::Closed(_))), "{last:?}");
}

#[test]
fn control_calls_wait_for_their_answers() {
    let (asked, hears) = mpsc::channel();
    let (peer, cli) = playing(async move |far| {
        for reply in [
            json!({}),
            json!({"mode": "plan"}),
            json!({}),
            json!({"x": 1}),
        ] {
            let request = far.accept(reply).await;
            if request["subtype"] == "set_permission_mode" {
                far.say(
                    &json!({"type": "system", "subtype": "status", "permissionMode": "plan",
                    "status": null, "session_id": "s", "uuid": "u"}),
                )
                .await;
            }
            asked.send(request).unwrap();
        }
    });
    let session = blocking::Session::connect_over(Claude::new(), peer).unwrap();
    session.interrupt().unwrap();
    session.set_permission_mode(PermissionMode::Plan).unwrap();
    session.set_model(Some("opus")).unwrap();
    let reply = session
        .control("odd", &Json::from(json!({"a": 1})))
        .unwrap();
    assert_eq!(reply.to_value().unwrap(), json!({"x": 1}));
    let asked: Vec<Value> = hears.iter().collect();
    assert_eq!(asked[0]["subtype"], "interrupt");
    assert_eq!(
        asked[1],
        json!({"subtype": "set_permission_mode", "mode": "plan"})
    );
    assert_eq!(asked[2], json!({"subtype": "set_model", "model": "opus"}));
    assert_eq!(asked[3], json!({"subtype": "odd", "a": 1}));
    cli.join().unwrap();
}

#[test]
fn plain_closures_decide_and_may_block() {
    let (release, released) = mpsc::channel::<()>();
    let released = std::sync::Mutex::new(released);
    let (peer, cli) = playing(async move |far| {
        far.ask_tool("slow", "Bash", json!({})).await;
        far.ask_tool("panic", "Write", json!({})).await;
        assert_eq!(far.reply("panic").await["behavior"], "deny");
        far.ask_tool("quick", "Read", json!({})).await;
        assert_eq!(far.reply("quick").await["behavior"], "allow");
        release.send(()).unwrap();
        assert_eq!(far.reply("slow").await["message"], "at last");
    });
    let handler = blocking::handler(move |request| match request.tool_name.as_str() {
        "Bash" => {
            let waited = released.lock().unwrap().recv_timeout(DEADLINE);
            waited.map_or(Decision::allow(), |()| Decision::deny("at last"))
        }
        "Write" => panic!("on purpose"),
        _ => Decision::allow(),
    });
    let session = blocking::Session::connect_over(Claude::new().permissions(handler), peer);
    let session = session.unwrap();
    cli.join().unwrap();
    session.closed().unwrap();
}

#[test]
fn questions_come_by_an_iterator_and_are_answered_on_another_thread() {
    let (peer, cli) = playing(async |far| {
        far.ask_tool("a", "Read", json!({"n": 1})).await;
        far.ask_tool("b", "Read", json!({"n": 2})).await;
        assert_eq!(far.reply("b").await["behavior"], "deny");
        assert_eq!(far.reply("a").await["behavior"], "allow");
    });
    let session = blocking::Session::connect_over(Claude::new().questions(), peer).unwrap();
    let mut questions = session.questions;
    let (Some(Question::Permission(first)), Some(Question::Permission(second))) =
        (questions.next(), questions.next())
    else {
        panic!("two questions");
    };
    thread::spawn(move || second.deny("no").unwrap())
        .join()
        .unwrap();
    first.allow().unwrap();
    cli.join().unwrap();
    assert!(questions.next().is_none());
}

#[test]
fn a_plain_closure_may_use_the_session_it_decides_for() {
    let (peer, cli) = playing(async |far| {
        far.ask_tool("a", "Read", json!({})).await;
        assert_eq!(far.accept(json!({})).await["subtype"], "interrupt");
        assert_eq!(far.reply("a").await["message"], "interrupted");
    });
    let (give, take) = mpsc::channel::<blocking::Handle>();
    let take = std::sync::Mutex::new(take);
    let handler = blocking::handler(move |_| {
        let session = take.lock().unwrap().recv_timeout(DEADLINE).unwrap();
        session.interrupt().unwrap();
        Decision::deny("interrupted")
    });
    let claude = Claude::new().permissions(handler);
    let session = blocking::Session::connect_over(claude, peer).unwrap();
    give.send(session.handle.clone()).unwrap();
    cli.join().unwrap();
}

#[test]
fn letting_go_of_the_session_ends_the_connection_before_it_returns() {
    let (ended, hears) = mpsc::channel();
    let (peer, cli) = playing(async move |far| {
        let said = far.end().await;
        ended.send(said).unwrap();
    });
    let session = blocking::Session::connect_over(Claude::new(), peer).unwrap();
    let other = session.handle.clone();
    drop(session);
    assert!(hears.try_recv().is_err(), "one handle is left");
    drop(other);
    assert_eq!(hears.try_recv(), Ok(None));
    cli.join().unwrap();
}

/// A `claude` of a few lines: greets, answers one message, and waits for the end of its input.
#[cfg(unix)]
fn small_cli(folder: &std::path::Path) -> countersign_client::options::Cli {
    let script = folder.join("claude.sh");
    let text = r#"
        field() { printf '%s' "$line" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }
        read -r line
        printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{}}}\n' "$(field request_id)"
        read -r line
        printf '{"type":"system","subtype":"init","session_id":"s"}\n'
        printf '{"type":"result","subtype":"success","is_error":false,"result":"four","session_id":"s","structured_output":{"n":4},"user_message_uuid":"%s"}\n' "$(field uuid)"
        cat > /dev/null
    "#;
    std::fs::write(&script, text).unwrap();
    countersign_client::options::Cli::Command(vec!["sh".into(), script.into()])
}

#[cfg(unix)]
#[test]
fn a_query_runs_to_its_text_its_outcome_and_its_events() {
    let folder = tempfile::tempdir().unwrap();
    let query = || blocking::query("2 + 2").cli(small_cli(folder.path()));
    assert_eq!(query().text().unwrap(), "four");
    let outcome = query().finish().unwrap();
    assert_eq!(outcome.closed.code, Some(0), "{:?}", outcome.closed);
    let run = query().start().unwrap();
    let handle = run.handle();
    let kinds: Vec<Kind> = run
        .filter_map(|event| Some(event.unwrap().frame()?.kind()))
        .collect();
    assert!(kinds.contains(&Kind::Result), "{kinds:?}");
    assert!(handle.handle().is_closed());
}

#[cfg(all(unix, feature = "mcp"))]
#[test]
fn a_query_gives_a_value_of_the_callers_type() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Sum {
        n: u32,
    }
    let folder = tempfile::tempdir().unwrap();
    let query = blocking::query("2 + 2").cli(small_cli(folder.path()));
    assert_eq!(query.json::<Sum>().unwrap().n, 4);
}

/// The agent must outlive the thread that opened the session.
#[cfg(unix)]
#[test]
fn a_session_opened_on_a_thread_that_ends_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let claude = Claude::new().cli(small_cli(folder.path()));
    let opening = thread::spawn(move || blocking::Session::connect(claude).unwrap());
    let session = opening.join().unwrap();
    assert_eq!(session.send("2 + 2").unwrap().text(), "four");
    assert_eq!(session.close().unwrap().code, Some(0));
}

#[tokio::test]
async fn inside_an_async_runtime_it_is_an_error_and_no_panic() {
    let is_refused = |error: Error| matches!(error, Error::Blocking(BlockingError::InRuntime));
    assert!(is_refused(blocking::query("hi").text().unwrap_err()));
    let (peer, _far) = Peer::pair();
    let session = blocking::Session::connect_over(Claude::new(), peer);
    assert!(is_refused(session.unwrap_err()));
    let (peer, cli) = playing(async |far| turn(far, "one").await);
    let opening = move || blocking::Session::connect_over(Claude::new(), peer).unwrap();
    let session = thread::spawn(opening).join().unwrap();
    assert!(is_refused(session.send("x").unwrap_err()));
    assert!(is_refused(session.close().unwrap_err()));
    let mut session = session;
    assert!(session.events.next().is_none());
    let sending = move || session.send("x").unwrap().text().to_owned();
    assert_eq!(thread::spawn(sending).join().unwrap(), "one");
    cli.join().unwrap();
}
