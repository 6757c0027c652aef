//! What happens in all sessions: by number, without a gap that is not told.

use countersign_api::control::{Command, Control};

use crate::common::Served;
use crate::common::sse::Event;

const TALK: &str = "turn always\n  say \"Yes.\"\n";

fn number(event: &Event) -> u64 {
    event.id.as_ref().unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_named_and_numbered_and_go_on_from_any_of_them() {
    let served = Served::new(TALK).await;
    let client = served.client();
    let mut live = client.events("/events").await;
    let first = live.next().await.unwrap();
    assert_eq!((&first.name[..], number(&first)), ("caught-up", 0));
    let id = served.stage.start("one").await;
    let mut seen = Vec::new();
    while !seen.iter().any(|event: &Event| event.name == "turn") {
        let event = live.next().await.unwrap();
        assert_eq!(event.json()["number"], number(&event));
        assert_eq!(event.json()["event"], event.name);
        assert_eq!(event.json()["session"], id.to_string());
        seen.push(event);
    }
    let numbers: Vec<u64> = seen.iter().map(number).collect();
    assert_eq!(numbers, (1..=seen.len() as u64).collect::<Vec<_>>());
    for (at, event) in seen.iter().enumerate() {
        let last = number(event).to_string();
        let headers = [("last-event-id", last.as_str())];
        let mut rest = client.events_with("/events?after=0", &headers).await;
        for expected in &seen[at + 1..] {
            assert_eq!(&rest.next().await.unwrap(), expected);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_of_another_time_is_a_gap_and_then_it_goes_on() {
    let served = Served::new(TALK).await;
    let client = served.client();
    let id = served.stage.start("one").await;
    served.stage.until_said(id, "Yes.").await;
    served.stage.until(id, "idle").await;
    let last = served.stage.host().last_event().await.unwrap();
    let mut events = client.events("/events?after=99999999").await;
    let gap = events.next().await.unwrap();
    assert_eq!(gap.name, "gap");
    assert!(number(&gap) >= last);
    let end = events.until("caught-up").await;
    assert!(number(&end) >= number(&gap));
    let rename = Command::Rename {
        session: id,
        name: "x".to_owned(),
    };
    served.stage.execute(rename).await;
    let message = countersign_api::control::Message::text("two");
    let send = Command::Send {
        session: id,
        message,
    };
    served.stage.execute(send).await;
    assert!(number(&events.next().await.unwrap()) > number(&end));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_between_two_connections_is_not_lost() {
    let served = Served::new(TALK).await;
    let client = served.client();
    let mut live = client.events("/events").await;
    // The connection breaks before anything has happened.
    live.until("caught-up").await;
    let last = live.last.clone().expect("a number to go on from");
    drop(live);
    let id = served.stage.start("one").await;
    served.stage.until_said(id, "Yes.").await;
    let headers = [("last-event-id", last.as_str())];
    let mut again = client.events_with("/events", &headers).await;
    let first = again.next().await.unwrap();
    assert_eq!((number(&first), &first.name[..]), (1, "session"));
    again.until("turn").await;
}
