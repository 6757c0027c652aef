//! Who is told outside of this machine: a receiver on loopback hears when a session needs somebody, has finished, has failed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use countersign_host::control::{Command, Decide, Message};
use countersign_host::notify::{Kind, Secret, Shape, Target, To};
use serde_json::Value;

use crate::stage::{DEADLINE, Stage};

/// One question, a failure, a talk.
const SCENES: &str = r#"
turn always when "ask"
  tool Bash {"command":"echo masked-by-nobody","description":"Leave a mark"}
  say "Done."
turn always when "fail"
  fail 529 "Overloaded"
turn always
  say "Talked."
"#;

/// The lines of a head, and a body.
type Post = (Vec<String>, Value);

/// A receiver of POSTs.
struct Receiver {
    url: String,
    heard: Arc<Mutex<Vec<Post>>>,
}

impl Receiver {
    fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard: Arc<Mutex<Vec<Post>>> = Arc::default();
        let shared = Arc::clone(&heard);
        // Ends with the process: it waits for callers until then.
        std::thread::spawn(move || {
            for caller in listener.incoming().flatten() {
                let mut reader = BufReader::new(caller);
                let mut head = Vec::new();
                loop {
                    let mut line = String::new();
                    match reader.read_line(&mut line) {
                        Ok(1..) if !line.trim().is_empty() => head.push(line.trim().to_owned()),
                        _ => break,
                    }
                }
                let length = head.iter().find_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    name.eq_ignore_ascii_case("content-length")
                        .then(|| value.trim().parse().ok())?
                });
                let mut body = vec![0; length.unwrap_or(0)];
                if reader.read_exact(&mut body).is_ok() {
                    let body = serde_json::from_slice(&body).unwrap_or_default();
                    shared.lock().unwrap().push((head, body));
                }
                let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                let _ = reader.get_mut().write_all(answer.as_bytes());
            }
        });
        Self {
            url: format!("http://127.0.0.1:{port}/hook"),
            heard,
        }
    }

    fn target(&self) -> Target {
        Target {
            name: "hook".to_owned(),
            on: vec![Kind::NeedsYou, Kind::Finished, Kind::Failed],
            to: To::Webhook {
                url: Secret::new(&self.url),
                secret: Some(Secret::new("a secret of the test, not of anybody")),
                headers: Default::default(),
                shape: Shape::Full,
            },
        }
    }

    /// The events so far, once there are so many.
    async fn events(&self, count: usize) -> Vec<Value> {
        let begun = Instant::now();
        loop {
            let heard: Vec<Value> = {
                let heard = self.heard.lock().unwrap();
                heard.iter().map(|(_, body)| body.clone()).collect()
            };
            if heard.len() >= count {
                return heard;
            }
            assert!(
                begun.elapsed() < DEADLINE,
                "not {count} were told: {heard:#?}"
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_is_told_what_a_person_wants_to_know() {
    let receiver = Receiver::start();
    let target = receiver.target();
    let stage = Stage::with(SCENES, |settings| {
        settings.targets = vec![target];
        settings.link_base = Some("https://host.example".to_owned());
    })
    .await;
    let session = stage.start("ask").await;
    let open = stage.open_approvals(session, 1).await;
    let told = receiver.events(1).await;
    assert_eq!(told[0]["event"], "needs_you");
    assert_eq!(told[0]["session"]["id"], session.to_string());
    assert_eq!(told[0]["approval"]["id"], open[0].id.to_string());
    let link = format!("https://host.example/inbox/{}", open[0].id);
    assert_eq!(told[0]["link"], link);
    assert!(told[0].get("input").is_none(), "{}", told[0]);
    stage.decide(&open[0], Decide::allow()).await;
    let told = receiver.events(2).await;
    assert_eq!(told[1]["event"], "finished");
    let message = Message::text("fail");
    stage.execute(Command::Send { session, message }).await;
    let told = receiver.events(3).await;
    assert_eq!(told[2]["event"], "failed");
    let reason = told[2]["session"]["reason"].as_str().unwrap();
    assert!(reason.contains("Overloaded"), "{reason}");
    let heard = receiver.heard.lock().unwrap();
    let signed = |(head, _): &Post| {
        head.iter()
            .any(|line| line.to_ascii_lowercase().contains("signature"))
    };
    assert!(heard.iter().all(signed), "{heard:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_told_twice_because_a_host_began_anew() {
    let receiver = Receiver::start();
    let target = receiver.target();
    let mut stage = Stage::with(SCENES, |settings| settings.targets = vec![target]).await;
    let session = stage.start("ask").await;
    let open = stage.open_approvals(session, 1).await;
    receiver.events(1).await;
    stage.restart().await;
    stage.decide(&open[0], Decide::allow()).await;
    stage.until(session, "idle").await;
    let told = receiver.events(2).await;
    let kinds: Vec<_> = told.iter().map(|one| one["event"].clone()).collect();
    assert_eq!(kinds, ["needs_you", "finished"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_told_again_of_a_question_that_is_decided() {
    let folder = tempfile::tempdir().unwrap();
    let (script, log) = (folder.path().join("tell"), folder.path().join("log"));
    // It asks to be run again later, as a receiver that is down for a moment does.
    let text = "cat >> \"$1\"; echo >> \"$1\"; test \"$(wc -l < \"$1\")\" -gt 1 || exit 75\n";
    std::fs::write(&script, text).unwrap();
    let word = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let target = Target {
        name: "program".to_owned(),
        on: vec![Kind::NeedsYou, Kind::Finished],
        to: To::Program {
            argv: vec!["sh".to_owned(), word(&script), word(&log)],
            cwd: None,
            env: Vec::new(),
        },
    };
    let stage = Stage::with(SCENES, |settings| settings.targets = vec![target]).await;
    let session = stage.start("ask").await;
    let open = stage.open_approvals(session, 1).await;
    let told = async |count: usize| {
        let begun = Instant::now();
        loop {
            let text = std::fs::read_to_string(&log).unwrap_or_default();
            let kinds = text.lines().map(|line| {
                let body: Value = serde_json::from_str(line).unwrap_or_default();
                body["event"].as_str().unwrap_or_default().to_owned()
            });
            let kinds: Vec<String> = kinds.collect();
            if kinds.len() >= count {
                return kinds;
            }
            assert!(begun.elapsed() < DEADLINE, "not {count} told: {kinds:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    told(1).await;
    stage.decide(&open[0], Decide::allow()).await;
    assert_eq!(told(2).await, ["needs_you", "finished"]);
}

/// Why nothing of an edited call need be shown there: a decision is no event, and what follows it quotes no call.
#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_is_told_nothing_of_a_decision_nor_of_the_call_as_it_was_before_it_was_edited() {
    let receiver = Receiver::start();
    let target = receiver.target();
    let stage = Stage::with(SCENES, |settings| settings.targets = vec![target]).await;
    let session = stage.start("ask").await;
    let open = stage.open_approvals(session, 1).await;
    receiver.events(1).await;
    let edited = Decide::Allow {
        updated_input: Some(serde_json::json!({"command": "echo edited"})),
        remember: None,
        mode: None,
        add_dirs: Vec::new(),
    };
    stage.decide(&open[0], edited).await;
    stage.until(session, "idle").await;
    let told = receiver.events(2).await;
    let kinds: Vec<_> = told.iter().map(|one| one["event"].clone()).collect();
    assert_eq!(kinds, ["needs_you", "finished"]);
    assert!(told[0].to_string().contains("masked-by-nobody"), "as asked");
    let after = told[1].to_string();
    assert!(
        !after.contains("masked-by-nobody") && !after.contains("echo edited"),
        "{after}"
    );
}
