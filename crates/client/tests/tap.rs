//! What a listener on the wire hears, over a connection whose far end the test plays.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};

use countersign_client::wire::recording::{self, Direction};
use countersign_client::{Claude, Decision, PermissionRequest, Recorder};
use serde_json::{Value, json};

use pair::{session, soon};

#[path = "pair/mod.rs"]
mod pair;

#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<Line>>>);

/// A line and where it went.
type Line = (Direction, Vec<u8>);

impl Heard {
    fn on(&self, claude: Claude) -> Claude {
        let heard = self.clone();
        claude.tap(move |direction, line| heard.0.lock().unwrap().push((direction, line.to_vec())))
    }

    fn take(&self) -> Vec<(Direction, Value)> {
        let heard = std::mem::take(&mut *self.0.lock().unwrap());
        let json = |(direction, line): (Direction, Vec<u8>)| {
            assert!(!line.contains(&b'\n'));
            (direction, serde_json::from_slice(&line).unwrap())
        };
        heard.into_iter().map(json).collect()
    }
}

#[tokio::test]
async fn every_line_is_heard_both_ways_in_the_order_of_the_wire() {
    let heard = Heard::default();
    let claude = Claude::new().permissions(|_: PermissionRequest| async { Decision::allow() });
    let (session, mut far) = session(heard.on(claude)).await;
    let greeting = heard.take();
    let kinds: Vec<_> = greeting
        .iter()
        .map(|(direction, line)| (*direction, line["type"].as_str()))
        .collect();
    assert_eq!(
        kinds,
        [
            (Direction::In, Some("control_request")),
            (Direction::Out, Some("control_response"))
        ]
    );

    // A question and its answer are heard, though neither is an event; so is a line of no known type.
    let strange = json!({"type": "strange", "text": "ü"});
    far.say(&strange).await;
    far.ask_tool("q", "Bash", json!({"command": "ls"})).await;
    far.reply("q").await;
    let rest = heard.take();
    assert_eq!(rest[0], (Direction::Out, strange));
    assert_eq!(
        (rest[1].0, &rest[1].1["request_id"]),
        (Direction::Out, &json!("q"))
    );
    assert_eq!(
        (rest[2].0, &rest[2].1["response"]["request_id"]),
        (Direction::In, &json!("q"))
    );
    assert_eq!(rest.len(), 3);
    drop(far);
    soon(session.close()).await;
}

#[tokio::test]
async fn a_line_that_is_not_taken_is_not_heard() {
    let heard = Heard::default();
    let (session, far) = session(heard.on(Claude::new())).await;
    drop(far);
    soon(session.handle.closed()).await;
    heard.take();
    assert!(session.send("too late").await.is_err());
    assert_eq!(heard.take(), []);
}

#[tokio::test]
async fn a_recording_is_read_back_as_it_was_said() {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::create(folder.path().join("r.ndjson"), "2.1.325", "a pair").unwrap();
    let (session, mut far) = session(Claude::new().record(&recorder)).await;
    let line = json!({"type": "system", "subtype": "status", "note": {"$repeat": ["x", 3]}});
    far.say(&line).await;
    drop(far);
    soon(session.close()).await;
    recorder.check().unwrap();
    let text = std::fs::read_to_string(recorder.path()).unwrap();
    let entries: Vec<_> = text
        .lines()
        .skip(1)
        .map(|line| recording::entry(line.as_bytes()).unwrap())
        .collect();
    let last = entries.last().unwrap();
    assert_eq!(
        (
            last.direction,
            serde_json::from_slice::<Value>(&last.line).unwrap()
        ),
        (Direction::Out, line)
    );
}
