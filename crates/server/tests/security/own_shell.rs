//! An agent's shell that tries to decide a question, its own or that of another agent: under real keepers, by the server's
//! socket, by HTTP and by the keepers' sockets, with every secret that its user can read.

use std::path::Path;
use std::sync::Arc;

use countersign_api::control::SessionId;
use countersign_api::control::{Command, Control as _, Decide};
use countersign_server::{listen, router};
use serde_json::{Value, json};

use super::common::{Served, Stage};
use super::speaker;
use super::talk::{Answer, Request};

/// A command that a person allows, and a second one that nobody has allowed.
const TWO: &str = r#"
turn always
  tool Bash {"command":"sh ./try.sh","description":"Look around"}
  tool Bash {"command":"echo no >> ran.log","description":"Do harm"}
  say "Done."
"#;

/// Speaks from where nothing of the agent is left but its descent: no environment, no parent, a session of its own.
fn script(folder: &Path, tries: &[(&str, &str, Vec<u8>)]) {
    let program = std::env::current_exe().unwrap();
    let mut text = String::new();
    for (name, to, bytes) in tries {
        std::fs::write(folder.join(format!("{name}.request")), bytes).unwrap();
        let words = speaker::command(&program, to);
        let words: Vec<&str> = words
            .get_args()
            .map(|word| word.to_str().unwrap())
            .collect();
        text.push_str(&format!(
            "(setsid env -i COUNTERSIGN_SPEAK_TO={to} {} {} < {name}.request > {name}.new && mv {name}.new {name}.heard) &\n",
            program.display(),
            words.join(" ")
        ));
    }
    // The shell ends, and what it started goes to the keeper.
    std::fs::write(folder.join("try.sh"), text).unwrap();
}

/// The bytes of a request.
fn asks(request: Request) -> Vec<u8> {
    request.host_if_none("localhost").bytes()
}

async fn heard(folder: &Path, name: &str) -> String {
    let file = folder.join(format!("{name}.heard"));
    let until = std::time::Instant::now() + super::talk::DEADLINE;
    loop {
        if let Ok(text) = std::fs::read_to_string(&file) {
            return text;
        }
        assert!(std::time::Instant::now() < until, "{name}: it never spoke");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agents_own_shell_cannot_decide_its_question() {
    let served = Served::new(TWO).await;
    let (stage, app) = (&served.stage, Arc::clone(&served.app));
    let socket = stage.root().join("run-server").join("s");
    let unix = listen::unix(&socket).unwrap();
    let also = tokio::spawn(listen::serve_on(
        vec![unix],
        router(Arc::clone(&app)),
        std::future::pending(),
    ));

    let token = std::fs::read_to_string(app.auth.token_file()).unwrap();
    let id = stage.start("go").await;
    let first = stage.open_approvals(id, 1).await.remove(0);
    let read = || Request::get("/api/v1/approvals?state=open");
    let address = served.address.to_string();
    let folder = stage.project();
    script(
        &folder,
        &[
            ("socket", socket.to_str().unwrap(), asks(read())),
            (
                "socket-token",
                socket.to_str().unwrap(),
                asks(read().bearer(token.trim())),
            ),
            ("http", &address, asks(read().bearer(token.trim()))),
        ],
    );
    let allow = Decide::allow();
    stage.decide(&first, allow).await;
    for name in ["socket", "socket-token", "http"] {
        let answer: Answer = speaker::answer_in(&heard(&folder, name).await);
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "not_allowed"),
            "{name}"
        );
    }
    // Its second question is still open.
    let second = stage.open_approvals(id, 1).await.remove(0);
    assert_ne!(second.id, first.id);
    assert!(stage.ran().is_empty());
    let stop = Command::Stop { session: id };
    stage
        .host()
        .execute(super::common::Stage::cmd(), stop)
        .await
        .unwrap();
    also.abort();
}

/// What a shell of this user can find out about a keeper: its socket, and the secret by which it knows its host.
fn keeper_of(stage: &Stage, id: SessionId) -> (String, String) {
    let data = &stage.settings.agents.data;
    let file = data
        .join("sessions")
        .join(id.to_string())
        .join("keeper.json");
    let told: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let database = rusqlite::Connection::open(data.join("host.db")).unwrap();
    let sql = "SELECT token FROM sessions WHERE id = ?1";
    let token = database.query_row(sql, [id.to_string()], |row| row.get(0));
    (told["socket"].as_str().unwrap().to_owned(), token.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agents_shell_cannot_answer_at_a_keeper_its_own_or_another_agents() {
    let served = Served::new(TWO).await;
    let stage = &served.stage;
    let (one, other) = (stage.start("go").await, stage.start("go").await);
    let question = stage.open_approvals(one, 1).await.remove(0);
    stage.open_approvals(other, 1).await;
    let tries: Vec<(&str, String, Vec<u8>)> = [("own", one), ("other", other)]
        .into_iter()
        .map(|(name, id)| {
            let (socket, token) = keeper_of(stage, id);
            // The highest of all hosts, which would take the place of ours.
            let hello = json!({"type": "hello", "proto": 1, "epoch": u32::MAX, "token": token, "role": "own"});
            (name, socket, format!("{hello}\n").into_bytes())
        })
        .collect();
    let given: Vec<(&str, &str, Vec<u8>)> = tries
        .iter()
        .map(|(name, to, bytes)| (*name, to.as_str(), bytes.clone()))
        .collect();
    script(&stage.project(), &given);
    stage.decide(&question, Decide::allow()).await;
    for name in ["own", "other"] {
        let text = heard(&stage.project(), name).await;
        assert!(
            text.contains("\"refused\"") && text.contains("\"peer\""),
            "{name}: {text}"
        );
    }
    // Nobody was put out of place: this host still decides.
    let left = stage.open_approvals(other, 1).await.remove(0);
    stage.decide(&left, Decide::deny("no")).await;
    stage.until_life(&left, "settled").await;
    for session in [one, other] {
        stage.execute(Command::ForceEnd { session }).await;
    }
}
