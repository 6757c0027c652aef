//! Many readers at once: none is in the way of another, and none loses anything.

use std::time::Duration;

use countersign_api::control::{Command, Message, SessionId};
use countersign_server::{Limits, Streams};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};

use crate::common::sse::{Event, Events};
use crate::common::{Client, DEADLINE, Served};

/// One short turn, then one that floods.
fn busy(count: usize, bytes: usize) -> String {
    format!("turn\n  say \"ready\"\nturn always\n  flood {count} {bytes}\n  say \"over\"\n")
}

async fn served(script: &str) -> Served {
    let limits = Limits {
        each: 400,
        all: 500,
        ..Limits::default()
    };
    Served::with(script, |app| app.streams = Streams::new(limits)).await
}

async fn ready(served: &Served) -> SessionId {
    let id = served.stage.start("begin").await;
    served.stage.until_said(id, "ready").await;
    served.stage.until(id, "idle").await;
    id
}

async fn flood(served: &Served, session: SessionId) {
    let message = Message::text("go");
    served
        .stage
        .execute(Command::Send { session, message })
        .await;
}

fn path(id: SessionId) -> String {
    format!("/sessions/{id}/events")
}

/// Whether a turn ends with this record.
fn is_result(event: &Event) -> bool {
    event.data.contains(r#""line":{"#) && event.json()["line"]["type"] == "result"
}

/// Takes records as they come and fails if one is missing, out of order or there twice.
struct Witness {
    next: usize,
    results: usize,
}

impl Witness {
    fn new() -> Self {
        Self {
            next: 1,
            results: 0,
        }
    }

    fn take(&mut self, event: &Event) {
        match event.name.as_str() {
            "record" | "large" => {
                assert_eq!(event.id, Some(format!("1-{}", self.next)));
                self.next += 1;
                self.results += usize::from(is_result(event));
            }
            "caught-up" => {}
            other => panic!("{other}: {event:?}"),
        }
    }

    /// Reads until so many turns have ended. Gives how many records that were.
    async fn read(mut self, events: &mut Events, turns: usize) -> usize {
        while self.results < turns {
            let event = events.next().await.expect("it goes on");
            self.take(&event);
        }
        self.next - 1
    }
}

/// A connection on which a stream was asked for, and nothing is read. Little waits in the system, so the server feels it.
async fn silent(client: &Client, path: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(32 << 10).unwrap();
    let mut stream = socket.connect(client.address).await.unwrap();
    let path = format!("{}{path}", countersign_api::BASE);
    let request = client.request("GET", &path, &[], b"");
    stream.write_all(&request).await.unwrap();
    stream
}

async fn until_open(served: &Served, count: usize) {
    let waiting = async {
        while served.app.streams.open() != count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(DEADLINE, waiting).await;
    waited.unwrap_or_else(|_| panic!("{} are open, not {count}", served.app.streams.open()));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_readers_and_one_that_never_reads() {
    const READERS: usize = 199;
    let served = served(&busy(1_000, 100)).await;
    let client = served.client();
    let id = ready(&served).await;
    let silent = silent(&client, &path(id)).await;
    let mut readers = tokio::task::JoinSet::new();
    for _ in 0..READERS {
        let (client, path) = (client.clone(), path(id));
        readers.spawn(async move {
            let mut events = client.events(&path).await;
            Witness::new().read(&mut events, 2).await
        });
    }
    until_open(&served, READERS + 1).await;
    flood(&served, id).await;
    let counts = readers.join_all().await;
    assert_eq!(counts.len(), READERS);
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    assert!(counts[0] > 1_000, "{}", counts[0]);
    // The one that never read has lost nothing either.
    let mut late = Events::begin(silent).await.unwrap();
    assert_eq!(Witness::new().read(&mut late, 2).await, counts[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_storm_of_connections_loses_nothing() {
    let served = served(&busy(1_500, 50)).await;
    let client = served.client();
    let id = ready(&served).await;
    let mut readers = tokio::task::JoinSet::new();
    for reader in 0..24_usize {
        let (client, path) = (client.clone(), path(id));
        readers.spawn(async move { stormy(&client, &path, reader).await });
    }
    flood(&served, id).await;
    let counts = readers.join_all().await;
    let records: Vec<usize> = counts.iter().map(|(records, _)| *records).collect();
    assert!(
        records.iter().all(|count| *count == records[0]),
        "{counts:?}"
    );
    let connections: usize = counts.iter().map(|(_, connections)| connections).sum();
    assert!(connections > 100, "no storm: {connections}");
    until_open(&served, 0).await;
}

/// Reads two turns over many connections, each of which breaks after some events. Gives records and connections.
async fn stormy(client: &Client, path: &str, reader: usize) -> (usize, usize) {
    let mut witness = Witness::new();
    let mut last: Option<String> = None;
    let mut connections = 0;
    while witness.results < 2 {
        let headers: Vec<_> = last
            .iter()
            .map(|last| ("last-event-id", last.as_str()))
            .collect();
        let mut events = client.events_with(path, &headers).await;
        connections += 1;
        for _ in 0..=(reader * 7 + connections * 13) % 200 {
            let event = events.next().await.expect("it goes on");
            witness.take(&event);
            if witness.results == 2 {
                break;
            }
        }
        last = events.last.clone();
    }
    (witness.next - 1, connections)
}

/// Bytes of this process that are in memory.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or_default() * 4096
}

/// How many records were handed to readers.
async fn sent(client: &Client) -> u64 {
    let text = client.ask("GET", "/metrics", &[], b"").await.text();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("countersign_stream_records_total "));
    line.unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn readers_that_never_read_cost_a_bounded_amount() {
    const READERS: usize = 40;
    const EACH: u64 = 512 << 10;
    let served = served(&busy(250, 40_000)).await;
    let client = served.client();
    let id = ready(&served).await;
    flood(&served, id).await;
    served.stage.until_said(id, "over").await;
    served.stage.until(id, "idle").await;
    // What one reader takes, read to its end, is more than all buffers on the way.
    let mut events = client.events(&path(id)).await;
    let all = Witness::new().read(&mut events, 2).await as u64;
    drop(events);
    let (before, told) = (resident(), sent(&client).await);
    let mut held = Vec::new();
    for _ in 0..READERS {
        held.push(silent(&client, &path(id)).await);
    }
    until_open(&served, READERS).await;
    // They have what fits on the way once nothing more is taken.
    let mut last = 0;
    loop {
        let now = sent(&client).await - told;
        if now == last && now > 0 {
            break;
        }
        last = now;
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    assert!(
        last < all * READERS as u64,
        "nobody was held back: {last} of {all} each"
    );
    let grown = resident().saturating_sub(before);
    assert!(
        grown < EACH * READERS as u64,
        "{grown} bytes for {READERS} readers"
    );
    // And everything else goes on.
    assert_eq!(client.get(&format!("/sessions/{id}")).await.status, 200);
    drop(held);
    until_open(&served, 0).await;
}
