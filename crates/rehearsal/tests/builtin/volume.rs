//! The scenarios about volume and time.

use super::host::{Host, allow};
use serde_json::Value;

/// Reads up to the result: how many events, how long the longest line was, and the other lines.
async fn volume(host: &mut Host) -> (usize, usize, Vec<Value>) {
    let (mut events, mut longest, mut others) = (0, 0, Vec::new());
    loop {
        let line = host.line().await;
        assert!(!line.is_empty(), "the end came first");
        longest = longest.max(line.len());
        if line.starts_with("{\"type\":\"stream_event\"") {
            events += 1;
        } else if line.len() < 100_000 {
            let line: Value = serde_json::from_str(&line).unwrap();
            let done = line["type"] == "result";
            others.push(line);
            if done {
                return (events, longest, others);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_hundred_thousand_events_come_for_every_message() {
    let mut host = Host::start("long");
    for _ in 0..2 {
        host.say("Go").await;
        let (events, _, others) = volume(&mut host).await;
        assert_eq!(events, 100_000);
        assert_eq!(others.last().unwrap()["subtype"], "success");
    }
    assert_eq!(host.end().await.code, Some(0));
}

#[tokio::test(start_paused = true)]
async fn a_lot_of_everything_comes_whole() {
    let mut host = Host::start("flood");
    host.say("Go").await;
    let (events, longest, others) = volume(&mut host).await;
    assert_eq!(events, 62_000);
    assert!(longest > 8 * 1024 * 1024, "{longest}");
    assert_eq!(others.last().unwrap()["result"], "That was a lot.");
    let ended = host.end().await;
    assert!(ended.stderr.starts_with("a warning between the lines\n"));
    assert!(ended.stderr.len() > 1_000_000);
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_takes_its_time() {
    let mut host = Host::start("slow");
    let before = tokio::time::Instant::now();
    let turn = host.turn("Go", allow).await;
    let seconds = before.elapsed().as_secs();
    assert!((15..60).contains(&seconds), "{seconds}");
    assert!(turn.text().contains("the end of the slow answer"));
}
