//! Transcripts: pages backwards, and what changes from a page on.

use countersign_api::control::{Command, Control, Message, SessionId};
use countersign_transcript::{Changes, Entries, Entry};

use crate::common::sse::Event;
use crate::common::{Client, Served};

/// A turn with a text that comes in pieces, a tool and an answer.
const TALK: &str = r#"
turn always
  stream "A text that is told ${prompt} by piece."
  say "You said ${prompt}."
"#;

async fn played(served: &Served, prompts: &[&str]) -> SessionId {
    let id = served.stage.start(prompts[0]).await;
    served
        .stage
        .until_said(id, &format!("You said {}.", prompts[0]))
        .await;
    for prompt in &prompts[1..] {
        send(served, id, prompt).await;
    }
    served.stage.until(id, "idle").await;
    id
}

async fn send(served: &Served, session: SessionId, prompt: &str) {
    let message = Message::text(prompt);
    served
        .stage
        .execute(Command::Send { session, message })
        .await;
    served
        .stage
        .until_said(session, &format!("You said {prompt}."))
        .await;
}

struct Page {
    items: Vec<Entry>,
    more: bool,
    cursor: String,
}

async fn page(client: &Client, id: SessionId, query: &str) -> Page {
    let answer = client
        .get(&format!("/sessions/{id}/transcript{query}"))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let told = answer.json();
    Page {
        items: serde_json::from_value(told["items"].clone()).unwrap(),
        more: told["more"].as_bool().unwrap(),
        cursor: told["cursor"].as_str().unwrap().to_owned(),
    }
}

fn held(items: Vec<Entry>) -> Entries {
    let mut entries = Entries::default();
    items.into_iter().for_each(|entry| entries.put(entry));
    entries
}

fn changes(event: &Event) -> Changes {
    let changes: Changes = serde_json::from_str(&event.data).unwrap();
    assert_eq!(
        event.id,
        Some(changes.cursor.to_string()),
        "the record's id"
    );
    changes
}

/// Everything that is told behind a record, up to the end of history.
async fn told(client: &Client, id: SessionId, after: Option<&str>) -> Vec<Event> {
    let headers: Vec<_> = after
        .map(|after| ("last-event-id", after))
        .into_iter()
        .collect();
    let path = format!("/sessions/{id}/transcript/stream");
    let mut stream = client.events_with(&path, &headers).await;
    let mut all = Vec::new();
    loop {
        let event = stream.next().await.unwrap();
        if event.name == "caught-up" {
            return all;
        }
        all.push(event);
    }
}

fn apply(entries: &mut Entries, events: &[Event]) {
    for event in events.iter().filter(|event| event.name == "entries") {
        entries.apply(changes(event));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_put_together_are_the_whole() {
    let served = Served::new(TALK).await;
    let client = served.client();
    let id = played(&served, &["one", "two", "three"]).await;
    let whole = page(&client, id, "?most=500").await;
    assert!(
        !whole.more && whole.items.len() > 6,
        "{:?}",
        whole.items.len()
    );
    let mut joined: Vec<Entry> = Vec::new();
    let mut query = "?most=2".to_owned();
    loop {
        let part = page(&client, id, &query).await;
        assert!(part.items.len() <= 2);
        let first = part.items[0].id;
        joined.splice(0..0, part.items);
        if !part.more {
            break;
        }
        query = format!("?most=2&before={first}");
    }
    assert_eq!(joined, whole.items);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_and_what_is_told_behind_it_are_the_transcript() {
    let served = Served::new(TALK).await;
    let client = served.client();
    let id = played(&served, &["one"]).await;
    let begun = page(&client, id, "?most=500").await;
    let path = format!("/sessions/{id}/transcript/stream?after={}", begun.cursor);
    let mut live = client.events(&path).await;
    let mut entries = held(begun.items);
    send(&served, id, "two").await;
    served.stage.until(id, "idle").await;
    let whole = page(&client, id, "?most=500").await;
    while entries != held(whole.items.clone()) {
        let event = live.next().await.unwrap();
        match event.name.as_str() {
            "entries" => entries.apply(changes(&event)),
            "totals" => assert!(event.id.is_none() && event.json()["prompts"].is_u64()),
            "caught-up" => {}
            other => panic!("{other}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_of_changes_goes_on_behind_any_record() {
    let served = Served::new(TALK).await;
    let client = served.client();
    let id = played(&served, &["one", "two"]).await;
    let whole = held(page(&client, id, "?most=500").await.items);
    let all = told(&client, id, None).await;
    let mut entries = Entries::default();
    apply(&mut entries, &all);
    assert_eq!(entries, whole);
    let totals = all.last().expect("totals come before the end of history");
    assert_eq!(
        (&totals.name[..], &totals.json()["prompts"]),
        ("totals", &2.into())
    );
    let by_record: Vec<&Event> = all.iter().filter(|event| event.name == "entries").collect();
    assert!(by_record.len() > 6, "{by_record:#?}");
    let mut seen = Entries::default();
    for event in by_record {
        seen.apply(changes(event));
        let mut entries = seen.clone();
        let rest = told(&client, id, event.id.as_deref()).await;
        apply(&mut entries, &rest);
        assert_eq!(entries, whole, "behind {:?}", event.id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_behind_a_record_that_is_gone_are_told_as_such() {
    let served = Served::new(TALK).await;
    let client = served.client();
    let id = played(&served, &["one"]).await;
    let events = told(&client, id, Some("1-99999")).await;
    assert_eq!(events[0].name, "rewound");
    let to = page(&client, id, "").await.cursor;
    assert_eq!(events[0].json()["to"], to);
    // It goes on as if it had been there.
    let path = format!("/sessions/{id}/transcript/stream?after=9-9");
    let mut live = client.events(&path).await;
    live.until("caught-up").await;
    let mut entries = held(page(&client, id, "?most=500").await.items);
    send(&served, id, "two").await;
    let is_whole =
        async |entries: &Entries| *entries == held(page(&client, id, "?most=500").await.items);
    while !is_whole(&entries).await {
        let event = live.next().await.unwrap();
        apply(&mut entries, &[event]);
    }
    let totals = served.stage.host().totals(id).await.unwrap();
    assert_eq!(totals.prompts, 2);
}
