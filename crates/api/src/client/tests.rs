//! The client against a server of a few lines: what it sends, when it sends it again, when it gives up.

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;
use crate::bodies::MessageBody;
use crate::control::SessionId;
use crate::{Code, Problem};

const DONE: &str = r#"{"key":"k","at":1,"did":{"did":"done"}}"#;

/// What a request was: its first line, its headers in lower case, its body.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    line: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Asked {
    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Answers one connection after the other so; nothing: the connection ends without a word.
async fn serving(answers: Vec<Option<String>>) -> (String, JoinHandle<Vec<Asked>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let mut all = Vec::new();
        for answer in answers {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = BufReader::new(stream);
            all.push(read(&mut stream).await);
            if let Some(answer) = answer {
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        }
        all
    });
    (address, serving)
}

async fn read(stream: &mut BufReader<tokio::net::TcpStream>) -> Asked {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let mut lines = lines.into_iter();
    let line = lines.next().unwrap();
    let headers: Vec<(String, String)> = lines
        .map(|line| {
            let (name, value) = line.split_once(':').unwrap();
            (name.to_lowercase(), value.trim().to_owned())
        })
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, length)| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    Asked {
        line,
        headers,
        body: String::from_utf8(body).unwrap(),
    }
}

fn answer(status: &str, body: &str) -> Option<String> {
    let length = body.len();
    Some(format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n{body}"
    ))
}

fn client(address: &str) -> Client {
    let token = Some("a-token".to_owned());
    Client::at(address, token, Vec::new())
        .unwrap()
        .named("test")
}

fn message() -> MessageBody {
    MessageBody {
        text: "hello".to_owned(),
        ..MessageBody::default()
    }
}

#[tokio::test]
async fn a_write_whose_connection_breaks_is_sent_once_more_with_the_same_key() {
    let (address, serving) = serving(vec![None, answer("200 OK", DONE)]).await;
    let id = SessionId::new(5_000, 7);
    let receipt = client(&address).send(id, &message()).await.unwrap();
    assert_eq!(receipt.key, "k");
    let asked = serving.await.unwrap();
    assert_eq!(asked[0], asked[1]);
    let first = &asked[0];
    assert_eq!(
        first.line,
        format!("POST /api/v1/sessions/{id}/messages HTTP/1.1")
    );
    assert_eq!(first.header(crate::IDEMPOTENCY_KEY).unwrap().len(), 32);
    assert_eq!(first.header("authorization"), Some("Bearer a-token"));
    assert_eq!(first.header(crate::CLIENT), Some("test"));
    assert_eq!(first.body, r#"{"text":"hello"}"#);
}

#[tokio::test]
async fn a_connection_that_breaks_twice_says_that_nothing_is_known() {
    let (address, serving) = serving(vec![None, None]).await;
    let failed = client(&address).interrupt(SessionId::new(5_000, 7)).await;
    let error = failed.unwrap_err();
    assert!(matches!(error, ClientError::Lost { .. }), "{error:?}");
    assert!(error.to_string().contains("not known"), "{error}");
    assert_eq!(serving.await.unwrap().len(), 2);
}

#[tokio::test]
async fn two_writes_have_two_keys_unless_one_is_chosen() {
    let answers = (0..4).map(|_| answer("200 OK", DONE)).collect();
    let (address, serving) = serving(answers).await;
    let id = SessionId::new(5_000, 7);
    let chosen = client(&address).keyed("mine");
    for client in [client(&address), client(&address), chosen.clone(), chosen] {
        client.stop(id).await.unwrap();
    }
    let asked = serving.await.unwrap();
    let key = |at: usize| asked[at].header(crate::IDEMPOTENCY_KEY).unwrap();
    assert_ne!(key(0), key(1));
    assert_eq!((key(2), key(3)), ("mine", "mine"));
}

#[tokio::test]
async fn what_the_server_refuses_comes_as_its_problem() {
    let problem = Problem::new(Code::Stale, "look again");
    let body = serde_json::to_string(&problem).unwrap();
    let (address, serving) = serving(vec![answer("409 Conflict", &body)]).await;
    let error = client(&address).tokens().await.unwrap_err();
    assert_eq!(error.problem(), Some(&problem));
    serving.await.unwrap();
}

#[tokio::test]
async fn an_answer_of_somebody_else_is_told_as_such() {
    let (address, serving) = serving(vec![answer("502 Bad Gateway", "<html>")]).await;
    let error = client(&address).tokens().await.unwrap_err();
    let is_strange = matches!(error, ClientError::Strange { status: 502, .. });
    assert!(is_strange, "{error:?}");
    serving.await.unwrap();
}

#[tokio::test]
async fn where_nobody_listens_nobody_is_there() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = client(&address).tokens().await.unwrap_err();
    assert!(matches!(error, ClientError::NotThere { .. }), "{error:?}");
}

#[tokio::test]
async fn a_stream_that_breaks_goes_on_behind_the_last_event_that_was_given_out() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nretry: 1\n\n";
    let first =
        format!("{head}id: 1-1\nevent: record\ndata: a\n\nid: 1-2\ndata: b\n\nid: 1-3\ndata: ha");
    let second = format!("{head}id: 1-3\ndata: half\n\n");
    let (address, serving) = serving(vec![Some(first), None, Some(second)]).await;
    let which = Which {
        after: Some("1-0".to_owned()),
        max_inline: Some(9),
    };
    let id = SessionId::new(5_000, 7);
    let mut events = client(&address).records(id, &which).await.unwrap();
    let mut told = Vec::new();
    for _ in 0..3 {
        let event = events.next().await.unwrap();
        told.push((event.name, event.data));
    }
    let pair = |name: &str, data: &str| (name.to_owned(), data.to_owned());
    assert_eq!(
        told,
        [
            pair("record", "a"),
            pair("message", "b"),
            pair("message", "half")
        ]
    );
    let asked = serving.await.unwrap();
    let line = format!("GET /api/v1/sessions/{id}/events?after=1-0&max_inline=9 HTTP/1.1");
    assert_eq!(asked[0].line, line);
    assert_eq!(asked[0].header("last-event-id"), None);
    assert_eq!(asked[1].header("last-event-id"), Some("1-2"));
    assert_eq!(asked[2].header("last-event-id"), Some("1-2"));
}

#[tokio::test]
async fn a_stream_that_is_refused_says_why_and_is_not_asked_for_again() {
    let body = serde_json::to_string(&Problem::new(Code::NotFound, "no session")).unwrap();
    let (address, serving) = serving(vec![answer("404 Not Found", &body)]).await;
    let error = client(&address).events().await.unwrap_err();
    assert_eq!(error.problem().unwrap().code, Code::NotFound);
    serving.await.unwrap();
}

#[tokio::test]
async fn a_stream_that_ends_for_good_says_why_and_one_that_may_pass_is_tried_so_often() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nretry: 1\n\n";
    let with = |code| {
        let problem = serde_json::to_string(&Problem::new(code, "it is so")).unwrap();
        Some(format!("{head}event: problem\ndata: {problem}\n\n"))
    };
    for (code, times) in [(Code::NotSignedIn, 1), (Code::Unavailable, 11)] {
        let (address, serving) = serving(vec![with(code); times]).await;
        let mut events = client(&address).events().await.unwrap();
        let error = events.next().await.unwrap_err();
        assert_eq!(error.problem().unwrap().code, code);
        assert_eq!(serving.await.unwrap().len(), times);
    }
}

#[test]
fn a_client_that_is_printed_shows_no_token() {
    let shown = format!("{:?}", client("http://127.0.0.1:1"));
    assert!(!shown.contains("a-token"), "{shown}");
}
