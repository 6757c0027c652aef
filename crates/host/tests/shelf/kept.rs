//! Webhooks and preferences: kept over a restart, in force at once, secrets never shown.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use countersign_host::control::{
    Command, Control as _, ControlError, Keep, PatchPreferences, PutWebhook, Shelf as _,
};
use countersign_host::notify::{Kind, Secret, Shape, Target, To};

use crate::stage::{DEADLINE, Stage};

const TALKS: &str = "turn always\n  say \"Talked.\"\n";

const PATH: &str = "a-path-that-is-a-secret";

fn to(port: u16) -> To {
    To::Webhook {
        url: Secret::new(format!("http://127.0.0.1:{port}/{PATH}")),
        secret: Some(Secret::new("words that only this test knows")),
        headers: Default::default(),
        shape: Shape::Full,
    }
}

fn put(name: &str, on: Option<Vec<Kind>>, to: Option<To>) -> Command {
    Command::Keep(Keep::PutWebhook {
        name: name.to_owned(),
        webhook: PutWebhook { on, to },
    })
}

/// What the next caller says, as text.
fn heard(listener: &TcpListener) -> String {
    listener.set_nonblocking(true).unwrap();
    let start = std::time::Instant::now();
    let mut caller = loop {
        match listener.accept() {
            Ok((caller, _)) => break caller,
            Err(_) => assert!(start.elapsed() < DEADLINE, "nobody called"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    caller.set_nonblocking(false).unwrap();
    caller.set_read_timeout(Some(DEADLINE)).unwrap();
    let (mut text, mut part) = (String::new(), [0; 4096]);
    while !text.contains("\r\n\r\n") || !text.ends_with('}') {
        let read = caller.read(&mut part).unwrap();
        assert!(read > 0, "it ended early: {text}");
        text += &String::from_utf8_lossy(&part[..read]);
    }
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    caller.write_all(answer).unwrap();
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_that_was_put_is_told_also_by_the_next_host() {
    let mut stage = Stage::new(TALKS).await;
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    stage
        .execute(put("hook", Some(vec![Kind::Finished]), Some(to(port))))
        .await;
    let all = stage.host().webhooks().await.unwrap();
    assert_eq!(
        (all.len(), all[0].is_signed, all[0].is_fixed),
        (1, true, false)
    );
    let shown = serde_json::to_string(&all).unwrap();
    assert!(
        !shown.contains(PATH) && !shown.contains("words that only"),
        "{shown}"
    );

    let test = Command::Keep(Keep::TestWebhook {
        name: "hook".to_owned(),
    });
    stage.execute(test.clone()).await;
    assert!(
        heard(&listener)
            .to_lowercase()
            .contains("countersign-event: test")
    );
    let id = stage.start("one").await;
    stage.until(id, "idle").await;
    assert!(heard(&listener).contains("finished"));

    stage.restart().await;
    // What it is told about changes, how it is reached stays.
    stage
        .execute(put("hook", Some(vec![Kind::Failed]), None))
        .await;
    let all = stage.host().webhooks().await.unwrap();
    assert_eq!(all[0].on, [Kind::Failed]);
    stage.execute(test.clone()).await;
    assert!(heard(&listener).contains(PATH));
    stage
        .execute(Command::Keep(Keep::RemoveWebhook {
            name: "hook".to_owned(),
        }))
        .await;
    assert!(stage.host().webhooks().await.unwrap().is_empty());
    let error = stage.host().execute(Stage::cmd(), test).await.unwrap_err();
    assert!(matches!(error, ControlError::NotFound { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_given_at_the_start_is_not_changed_here_and_what_is_unsound_is_refused() {
    let fixed = Target {
        name: "fixed".to_owned(),
        on: Target::usual(),
        to: to(9),
    };
    let stage = Stage::with(TALKS, |settings| settings.targets = vec![fixed]).await;
    let refused = |command: Command| async {
        stage
            .host()
            .execute(Stage::cmd(), command)
            .await
            .unwrap_err()
    };
    let error = refused(put("fixed", None, Some(to(9)))).await;
    assert!(matches!(error, ControlError::NotNow { .. }), "{error}");
    let remove = Command::Keep(Keep::RemoveWebhook {
        name: "fixed".to_owned(),
    });
    let error = refused(remove).await;
    assert!(matches!(error, ControlError::NotNow { .. }), "{error}");
    let error = refused(put("new", None, None)).await;
    assert!(matches!(error, ControlError::Invalid { .. }), "{error}");
    let unsigned = To::Webhook {
        url: Secret::new(format!("http://127.0.0.1:9/{PATH}")),
        secret: None,
        headers: Default::default(),
        shape: Shape::Full,
    };
    let error = refused(put("new", None, Some(unsigned))).await.to_string();
    assert!(error.contains("secret") && !error.contains(PATH), "{error}");
    assert_eq!(stage.host().webhooks().await.unwrap().len(), 1);
}

fn prefer(text: &str) -> Command {
    let change: PatchPreferences = serde_json::from_str(text).unwrap();
    Command::Keep(Keep::Prefer { change })
}

#[tokio::test(flavor = "multi_thread")]
async fn preferences_hold_at_once_for_agents_that_live_and_after_a_restart() {
    let mut stage = Stage::new(TALKS).await;
    let id = stage.start("one").await;
    let view = stage.until(id, "idle").await;
    assert_eq!(view.generation, 1);
    stage
        .execute(prefer(r#"{"sleep_after":1000000,"max_agents":3}"#))
        .await;
    stage
        .until_seen(id, "asleep", |view| {
            matches!(
                view.state,
                countersign_host::control::State::Idle { asleep: true, .. }
            )
        })
        .await;
    stage.restart().await;
    let held = stage.host().preferences().await.unwrap();
    assert_eq!((held.max_agents, held.sleep_after), (3, Some(1_000_000)));
    stage.execute(prefer(r#"{"sleep_after":null}"#)).await;
    assert_eq!(stage.host().preferences().await.unwrap().sleep_after, None);
    for bad in [
        r#"{}"#,
        r#"{"max_agents":0}"#,
        r#"{"expiry":5}"#,
        r#"{"expiry":18446744073709551615}"#,
        r#"{"sleep_after":31622400000001}"#,
    ] {
        let error = stage
            .host()
            .execute(Stage::cmd(), prefer(bad))
            .await
            .unwrap_err();
        assert!(
            matches!(error, ControlError::Invalid { .. }),
            "{bad}: {error}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_higher_cap_lets_in_who_waits_and_a_question_expires_as_preferred() {
    let asks = "turn always\n  tool Bash {\"command\":\"echo hi\",\"description\":\"Greet\"}\n  say \"Done.\"\n";
    let stage = Stage::with(asks, |settings| settings.most_agents = 1).await;
    let first = stage.start("one").await;
    stage.open_approvals(first, 1).await;
    let second = stage.start("two").await;
    stage.until(second, "queued").await;
    stage
        .execute(prefer(r#"{"max_agents":2,"expiry":1000000}"#))
        .await;
    let open = stage.open_approvals(second, 1).await;
    assert!(open[0].expires.is_some());
    let settled = stage.until_life(&open[0], "settled").await;
    assert_eq!(settled.decided.unwrap().by, "expired");
    let still = stage.open_approvals(first, 1).await;
    assert_eq!(still[0].expires, None, "it was asked before");
}
