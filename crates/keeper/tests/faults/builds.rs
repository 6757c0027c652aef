//! Builds that do not know each other: a keeper of another build under this host, and the bytes of version 1 as they were written down.
//!
//! Owns the go-between that makes a keeper say more than this build knows, and the recordings in `protocol-v1/`. They are
//! what was released: a later build adds a folder beside it and changes none.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use countersign_keeper::attach::{Attachment, Counting, Credentials, Over, PutOutcome};
use countersign_keeper::protocol::{Refusal, Role};
use serde_json::{Value, json};

use crate::checks::Extent;
use crate::orders::{Decide, Leave};
use crate::raw::Raw;
use crate::scenes;
use crate::stage::Stage;
use crate::wait::{self, Dice};

fn written_down(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/protocol-v1");
    std::fs::read(path.join(name)).unwrap()
}

#[test]
fn a_keeper_of_another_build_serves_this_host() {
    let mut dice = Dice::of("another build");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    let stage = stage.with_habits(json!({"build": "0.0.1 (previous)"}));
    let messages = stage.messages(3, &mut dice);
    let mut orders = stage.orders(&messages[..1]);
    (orders.decide, orders.leave) = (Decide::Hold, Leave::Never);
    let mut first = stage.host(&orders);
    let attached = first.until("attached");
    assert_eq!(attached["build"], "0.0.1 (previous)");
    first.until("question");
    first.kill();

    let between = stage.root().join("run/between.s");
    stand_between(stage.socket(), &between);
    let mut json = stage.keeper_json().unwrap();
    json["socket"] = between.to_str().unwrap().into();
    json["weather"] = json!("a field of another build");
    std::fs::write(stage.dir().join("keeper.json"), json.to_string()).unwrap();
    stage.finish(&messages);
    stage.assert_kept(Extent::Whole, "by way of a keeper that says more");
}

/// Passes bytes on to a keeper, and its words back with fields and messages that nobody knows.
fn stand_between(keeper: PathBuf, at: &Path) {
    let listener = UnixListener::bind(at).unwrap();
    std::thread::spawn(move || {
        for host in listener.incoming().flatten() {
            let Ok(keeper) = UnixStream::connect(&keeper) else {
                continue;
            };
            let (mut from, mut to) = (host.try_clone().unwrap(), keeper.try_clone().unwrap());
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut to);
                let _ = to.shutdown(std::net::Shutdown::Both);
            });
            std::thread::spawn(move || say_more(keeper, host));
        }
    });
}

fn say_more(keeper: UnixStream, mut host: UnixStream) {
    for line in BufReader::new(keeper).lines().map_while(Result::ok) {
        let mut message: Value = serde_json::from_str(&line).unwrap_or_default();
        message["mood"] = json!({"of": ["another", "build"]});
        let text = format!("{}\n{message}\n", json!({"type":"weather","sun":true}));
        if host.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
    let _ = host.shutdown(std::net::Shutdown::Both);
}

/// What a keeper of version 1 said, word for word, to a host that put a message, an answer and a line it had put before.
#[tokio::test]
async fn a_host_understands_what_a_keeper_of_version_1_said() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("v1.s");
    let listener = UnixListener::bind(&socket).unwrap();
    let keeper = std::thread::spawn(move || {
        let (mut host, _) = listener.accept().unwrap();
        let said = written_down("keeper.ndjson");
        let said = said.split_inclusive(|byte| *byte == b'\n');
        let mut puts = BufReader::new(host.try_clone().unwrap());
        for line in said {
            // `>` stands for a message of the host, and what follows it.
            if line == b">\n" {
                hear_one(&mut puts);
            } else {
                host.write_all(line).unwrap();
            }
        }
        let mut rest = Vec::new();
        let _ = puts.read_to_end(&mut rest);
    });
    let who = Credentials {
        epoch: 7,
        token: "of version 1".to_owned(),
        role: Role::Own,
    };
    let outbox = |standing: &countersign_keeper::protocol::Standing| {
        Box::new(Counting::after(standing.last_n)) as Box<_>
    };
    let attachment = Attachment::connect(&socket, &who, outbox).await.unwrap();
    let standing = attachment.standing();
    assert_eq!(
        (standing.proto, standing.generation, standing.last_n),
        (1, 2, 3)
    );
    assert_eq!(standing.open[0].request_id, "q-1");
    assert_eq!(standing.agent.map(|agent| agent.pid), Some(4711));
    let written = attachment.put(4, b"{\"type\":\"user\"}\n", None).await;
    assert_eq!(written.unwrap(), PutOutcome::Written { seq: 44 });
    let answer = b"{\"type\":\"control_response\"}\n";
    let answered = attachment.answer("q-1", answer, None, false).await;
    assert_eq!(answered.unwrap(), PutOutcome::Written { seq: 46 });
    let again = attachment.answer("q-1", answer, None, false).await;
    assert_eq!(again.unwrap(), PutOutcome::Refused(Refusal::NotOpen));
    let before = attachment.put(3, b"{\"type\":\"user\"}\n", None).await;
    assert_eq!(before.unwrap(), PutOutcome::Before { seq: Some(12) });
    assert_eq!(attachment.status().await.unwrap().synced, 47);
    assert_eq!(attachment.sync().await.unwrap(), 47);
    let Over::Gone(exit) = attachment.ended().await else {
        panic!("{:?}", attachment.over());
    };
    assert_eq!((exit.code, exit.unwritten), (Some(0), vec![45]));
    drop(attachment);
    keeper.join().unwrap();
}

/// One message of a host and the bytes that belong to it.
fn hear_one(from: &mut BufReader<UnixStream>) {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    let message: Value = serde_json::from_str(&line).unwrap();
    let length = message["len"].as_u64().unwrap_or_default();
    let mut bytes = vec![0; usize::try_from(length).unwrap()];
    from.read_exact(&mut bytes).unwrap();
}

/// What a host of version 1 said, byte for byte, to a keeper of this build.
#[test]
fn a_keeper_understands_what_a_host_of_version_1_said() {
    let mut dice = Dice::of("host of version 1");
    let stage = Stage::scripted(scenes::ONE_QUESTION, &mut dice).with_token("of version 1");
    let order = stage.first_order();
    let keeper = stage.keeper();
    countersign_keeper::start(&keeper, &order).unwrap();
    let mut host = Raw::connect(&stage.socket()).unwrap();
    host.write(&written_down("host-opens.bin"));
    let welcome = host.next().unwrap();
    assert_eq!(welcome["type"], "welcome", "{welcome}");
    for field in [
        "proto",
        "build",
        "session",
        "generation",
        "tail",
        "synced",
        "last_n",
        "epoch",
        "open",
    ] {
        assert!(!welcome[field].is_null(), "{field} is missing: {welcome}");
    }
    assert_eq!(host.until("ok")["ref"], json!({"n": 1}));
    wait::until("it asks", || !stage.case().fates().is_empty());
    let (id, ..) = stage.case().fates().remove(0);
    let template = String::from_utf8(written_down("host-answers.bin")).unwrap();
    host.write(fill(&template, &id).as_bytes());
    assert_eq!(host.until("ok")["ref"], json!({"answer": id}));
    wait::until("the turn ends", || {
        let journal = stage.journal();
        journal.said().any(|(_, line)| line["type"] == "result")
    });
    host.write(&written_down("host-closes.bin"));
    assert!(host.until("status")["tail"]["seq"].as_u64().is_some());
    assert!(host.until("synced")["seq"].as_u64().is_some());
    let gone = host.until("gone");
    assert!(gone["exit"].is_object(), "{gone}");
    stage.assert_kept(Extent::Whole, "a whole session of version 1");
}

/// An answer names its question, so what was written down is filled with the id of this run: `LEN` and `ID`.
fn fill(template: &str, id: &str) -> String {
    let (head, line) = template.split_once('\n').unwrap();
    let line = line.replace("ID", id);
    let head = head.replace("\"LEN\"", &line.len().to_string());
    format!("{}\n{line}", head.replace("ID", id))
}
