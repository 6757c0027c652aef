//! Records of one session: each once, in order, from anywhere on.

use std::time::Duration;

use countersign_api::Scope;
use countersign_api::control::{Command, Message, SessionId};

use crate::common::sse::{Event, Events};
use crate::common::{Client, Served};

/// A few records, among them one that is no JSON and one that is no text.
const ODD: &str = r#"
turn always
  noise "Warning: no JSON"
  rawbytes "\xff\xfe\n"
  stderr "on the side"
  say "You said ${prompt}."
"#;

/// One long record among short ones.
const LONG: &str = r#"
turn
  big 300K
  say "Done."
"#;

async fn played(served: &Served) -> SessionId {
    let id = served.stage.start("one").await;
    served.stage.until_said(id, "You said one.").await;
    served.stage.until(id, "idle").await;
    id
}

/// The events up to the end of history.
async fn history(events: &mut Events) -> Vec<Event> {
    let mut all = Vec::new();
    loop {
        let event = events.next().await.unwrap();
        if event.name == "caught-up" {
            assert_eq!(
                event.id,
                all.last().and_then(|last: &Event| last.id.clone())
            );
            return all;
        }
        all.push(event);
    }
}

fn ids(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .map(|event| event.id.clone().unwrap())
        .collect()
}

fn of(id: SessionId) -> String {
    format!("/sessions/{id}/events")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_record_comes_once_and_in_order_and_then_new_ones() {
    let served = Served::new(ODD).await;
    let client = served.client_as("reader", Scope::Read);
    let id = played(&served).await;
    let mut events = client.events(&of(id)).await;
    assert_eq!(events.header("content-type"), Some("text/event-stream"));
    assert_eq!(events.header("cache-control"), Some("no-store"));
    let all = history(&mut events).await;
    assert_eq!(events.retry, Some(1_000));
    let expected: Vec<String> = (1..=all.len()).map(|seq| format!("1-{seq}")).collect();
    assert_eq!(ids(&all), expected);
    assert!(all.iter().all(|event| event.name == "record"));
    let told: Vec<_> = all.iter().map(Event::json).collect();
    let find = |field: &str, text: &str| told.iter().any(|it| it[field] == text);
    assert!(find("text", "Warning: no JSON"), "{told:#?}");
    assert!(
        find("text", "on the side") && find("b64", "//4="),
        "{told:#?}"
    );
    let said = |it: &&serde_json::Value| it["kind"] == "a" && it["line"]["type"] == "result";
    let result = told.iter().find(said).expect("a result");
    assert!(result["at"].as_u64().unwrap() > 1_500_000_000_000_000);
    // Then what is new, at once.
    assert!(events.is_quiet(Duration::from_millis(50)).await);
    let message = Message::text("two");
    let send = Command::Send {
        session: id,
        message,
    };
    served.stage.execute(send).await;
    let next = events.next().await.unwrap();
    assert_eq!(next.id, Some(format!("1-{}", all.len() + 1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_goes_on_behind_any_record_and_the_header_wins() {
    let served = Served::new(ODD).await;
    let client = served.client();
    let id = played(&served).await;
    let all = ids(&history(&mut client.events(&of(id)).await).await);
    for (at, last) in all.iter().enumerate() {
        let headers = [("last-event-id", last.as_str())];
        let path = format!("{}?after=1-1", of(id));
        let mut events = client.events_with(&path, &headers).await;
        let first = events.next().await.unwrap();
        match all.get(at + 1) {
            Some(next) => assert_eq!(first.id.as_ref(), Some(next)),
            None => assert_eq!(
                (&first.name[..], first.id.as_ref()),
                ("caught-up", Some(last))
            ),
        }
    }
    let path = format!("{}?after={}", of(id), all[2]);
    let mut events = client.events(&path).await;
    assert_eq!(ids(&history(&mut events).await), all[3..]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_that_is_gone_is_told_and_it_goes_on() {
    let served = Served::new(ODD).await;
    let client = served.client();
    let id = played(&served).await;
    let all = ids(&history(&mut client.events(&of(id)).await).await);
    let last = all.last().unwrap();
    for gone in ["1-99999", "7-3"] {
        let headers = [("last-event-id", gone)];
        let mut events = client.events_with(&of(id), &headers).await;
        let rewound = events.next().await.unwrap();
        assert_eq!(rewound.name, "rewound", "{rewound:?}");
        assert_eq!(rewound.json()["to"], **last);
        assert_eq!(rewound.id.as_ref(), Some(last), "to go on from");
        assert_eq!(events.next().await.unwrap().name, "caught-up");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn long_records_come_by_name_and_are_read_in_parts() {
    let served = Served::new(LONG).await;
    let client = served.client();
    let id = served.stage.start("go").await;
    served.stage.until_said(id, "Done.").await;
    let mut events = client.events(&of(id)).await;
    let large = events.until("large").await;
    let told = large.json();
    let (cursor, len) = (
        told["cursor"].as_str().unwrap(),
        told["len"].as_u64().unwrap(),
    );
    assert_eq!(large.id.as_deref(), Some(cursor));
    assert!(len > 300 << 10, "{told}");
    let path = format!("/sessions/{id}/records/{cursor}");
    let whole = client.get(&path).await;
    assert_eq!(whole.status, 200);
    assert_eq!(whole.header("content-type"), Some("application/json"));
    assert_eq!(whole.header("accept-ranges"), Some("bytes"));
    assert_eq!(whole.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(whole.body.len() as u64, len);
    assert_eq!(whole.json()["type"], "assistant");
    parts(&client, &path, &whole.body, whole.header("etag").unwrap()).await;
    // Inline for who takes as much.
    let mut events = client
        .events(&format!("{}?max_inline=1048576", of(id)))
        .await;
    let all = history(&mut events).await;
    assert!(all.iter().all(|event| event.name == "record"));
    let by_name = all.iter().find(|event| event.id.as_deref() == Some(cursor));
    assert_eq!(by_name.unwrap().json()["line"], whole.json());
}

async fn parts(client: &Client, path: &str, whole: &[u8], tag: &str) {
    let mut joined = Vec::new();
    for begin in (0..whole.len()).step_by(100_000) {
        let range = format!("bytes={begin}-{}", begin + 99_999);
        let headers = [("range", range.as_str()), ("if-range", tag)];
        let part = client.get_with(path, &headers).await;
        assert_eq!(part.status, 206);
        let end = (begin + 99_999).min(whole.len() - 1);
        let place = format!("bytes {begin}-{end}/{}", whole.len());
        assert_eq!(part.header("content-range"), Some(&place[..]));
        joined.extend(part.body);
    }
    assert!(joined == whole, "the parts are the whole");
    let beyond = client.get_with(path, &[("range", "bytes=99999999-")]).await;
    assert_eq!(beyond.status, 416);
    let length = format!("bytes */{}", whole.len());
    assert_eq!(beyond.header("content-range"), Some(&length[..]));
    assert_eq!(beyond.json()["code"], "no_such_range");
    let other = [("range", "bytes=0-1"), ("if-range", "\"other\"")];
    assert_eq!(
        client.get_with(path, &other).await.status,
        200,
        "it has changed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_a_problem() {
    let served = Served::new(ODD).await;
    let client = served.client();
    let id = played(&served).await;
    let nobody = SessionId::fresh();
    let cases = [
        (of(nobody), 404, "not_found"),
        (format!("{}?after=nonsense", of(id)), 422, "invalid"),
        (format!("{}?max_inline=x", of(id)), 400, "bad_request"),
        (format!("/sessions/{id}/records/1-99999"), 404, "not_found"),
        (format!("/sessions/{id}/records/x"), 422, "invalid"),
        (format!("/sessions/{nobody}/records/1-1"), 404, "not_found"),
        (
            format!("/sessions/{id}/transcript/stream?after=x"),
            422,
            "invalid",
        ),
        (
            format!("/sessions/{nobody}/transcript/stream"),
            404,
            "not_found",
        ),
        (
            format!("/sessions/{id}/transcript?before=x"),
            422,
            "invalid",
        ),
        ("/events?after=x".to_owned(), 422, "invalid"),
    ];
    for (path, status, code) in cases {
        let answer = client.get(&path).await;
        assert_eq!(
            (answer.status, answer.json()["code"].as_str()),
            (status, Some(code)),
            "{path}"
        );
        assert_eq!(
            answer.header("content-type"),
            Some("application/problem+json")
        );
    }
    let stranger = served.stranger();
    for path in [
        of(id),
        "/events".to_owned(),
        format!("/sessions/{id}/transcript/stream"),
    ] {
        assert_eq!(stranger.get(&path).await.status, 401, "{path}");
    }
    assert_eq!(served.app.streams.open(), 0, "a refusal keeps no place");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_that_an_agent_prints_does_not_leave() {
    let secret = concat!("correct-horse-", "battery-staple");
    let script = format!("turn\n  noise \"it is {secret}\"\n  say \"{secret}, she said.\"\n");
    let served = Served::new(&script).await;
    served.app.redactor.learn([secret.to_owned()]);
    let client = served.client();
    let id = served.stage.start("go").await;
    served.stage.until_said(id, "she said.").await;
    let all = history(&mut client.events(&of(id)).await).await;
    let texts: Vec<&str> = all.iter().map(|event| event.data.as_str()).collect();
    assert!(texts.iter().any(|text| text.contains("she said.")));
    let page = client
        .get(&format!("/sessions/{id}/transcript"))
        .await
        .text();
    assert!(page.contains("she said."), "{page}");
    for text in texts.into_iter().chain([&page[..]]) {
        assert!(!text.contains(secret), "{text}");
    }
    for event in &all {
        let path = format!("/sessions/{id}/records/{}", event.id.as_ref().unwrap());
        assert!(!client.get(&path).await.text().contains(secret));
    }
}
