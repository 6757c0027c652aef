//! Scenarios played over a pipe inside the test, on a clock that does not wait.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use countersign_rehearsal::cli::{Ended, PlayError, Scenario, play};
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

struct Host {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    cli: JoinHandle<Result<Ended, PlayError>>,
}

fn host(text: &str) -> Host {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let scenario = Scenario::parse(text, "test").unwrap_or_else(|error| panic!("{error}"));
    let (reader, writer) = tokio::io::split(theirs);
    let cli = tokio::spawn(play(scenario, reader, writer));
    let (reader, writer) = tokio::io::split(ours);
    Host {
        reader: BufReader::new(reader),
        writer,
        cli,
    }
}

impl Host {
    async fn send(&mut self, line: &str) {
        self.writer.write_all(line.as_bytes()).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    async fn user(&mut self) {
        self.send(r#"{"type":"user","message":{"role":"user","content":"hi"}}"#)
            .await;
    }

    /// The next line, without its newline; empty at the end.
    async fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line);
        tokio::time::timeout(Duration::from_secs(3600), read)
            .await
            .unwrap()
            .unwrap();
        line.trim_end().to_owned()
    }

    async fn until(&mut self, part: &str) -> String {
        loop {
            let line = self.line().await;
            if line.contains(part) {
                return line;
            }
            assert!(!line.is_empty(), "the end came before {part}");
        }
    }

    /// Closes stdin, reads what is left and waits for the end.
    async fn end(mut self) -> (Ended, Vec<u8>) {
        self.writer.shutdown().await.unwrap();
        let mut rest = Vec::new();
        self.reader.read_to_end(&mut rest).await.unwrap();
        (self.cli.await.unwrap().unwrap(), rest)
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_played_and_the_end_of_input_ends_it() {
    let mut host = host("turn\n  say \"Hello.\"");
    host.user().await;
    host.until("Hello.").await;
    host.until("\"result\"").await;
    let (ended, rest) = host.end().await;
    assert_eq!(ended.code, Some(0));
    assert!(rest.is_empty());
}

#[tokio::test(start_paused = true)]
async fn waits_take_their_time_on_the_runtimes_clock() {
    let mut host = host("turn\n  wait 90s\n  say \"late\"");
    let before = tokio::time::Instant::now();
    host.user().await;
    host.until("late").await;
    assert!(before.elapsed() >= Duration::from_secs(90));
}

#[tokio::test(start_paused = true)]
async fn noise_and_broken_bytes_arrive_as_they_are() {
    let mut host = host(
        "default init off\nturn\n  noise \"no json\"\n  raw {\"type\": oops # x\n  rawbytes \"\\xff\\x00\"\n  exit 7",
    );
    host.user().await;
    let (ended, rest) = host.end().await;
    assert_eq!(rest, b"no json\n{\"type\": oops # x\n\xff\x00");
    assert_eq!(ended.code, Some(7));
}

#[tokio::test(start_paused = true)]
async fn a_big_line_has_its_size() {
    let mut host = host("default init off\ndefault result off\nturn\n  big 20M");
    host.user().await;
    let line = host.line().await;
    assert!(
        line.len() > 20 * 1024 * 1024 && line.len() < 21 * 1024 * 1024,
        "{}",
        line.len()
    );
    assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_read_is_still_heard() {
    let mut host = host("turn\n  flood 5000\n  expect interrupt\n  exit 9");
    host.user().await;
    // More than the pipe holds is on its way and nobody reads; writing must not hang either.
    for id in 0..500 {
        host.send(&format!(r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"mcp_status"}}}}"#)).await;
    }
    host.send(
        r#"{"type":"control_request","request_id":"x","request":{"subtype":"rename_session"}}"#,
    )
    .await;
    host.until("\"text\":\"1\"").await;
    let (ended, rest) = host.end().await;
    assert_eq!(
        ended.code,
        Some(97),
        "the interrupt did not come: {}",
        ended.stderr
    );
    let text = String::from_utf8(rest).unwrap();
    assert_eq!(text.matches("text_delta").count(), 4999);
}

#[tokio::test(start_paused = true)]
async fn stdin_that_is_not_read_fills_up() {
    let mut host = host("turn\n  stop reading\n  say \"deaf\"\n  wait 10s\n  exit 0");
    host.user().await;
    host.until("deaf").await;
    let big = vec![b'x'; 1024 * 1024];
    let write = host.writer.write_all(&big);
    assert!(
        tokio::time::timeout(Duration::from_secs(5), write)
            .await
            .is_err()
    );
}

#[tokio::test(start_paused = true)]
async fn a_closed_stdout_is_an_end_for_the_host_and_not_for_the_cli() {
    let mut host =
        host("default interrupt off\nturn\n  close stdout\n  wait control interrupt\n  exit 4");
    host.user().await;
    host.until("init").await;
    assert_eq!(host.line().await, "");
    host.send(r#"{"type":"control_request","request_id":"1","request":{"subtype":"interrupt"}}"#)
        .await;
    let (ended, _) = host.end().await;
    assert_eq!(ended.code, Some(4), "{ended:?}");
}

#[tokio::test]
async fn a_child_needs_a_process() {
    let mut host = host("turn\n  spawn \"true\"");
    host.user().await;
    let error = host.cli.await.unwrap().unwrap_err();
    assert!(matches!(error, PlayError::NeedsProcess(command) if command == "true"));
}
