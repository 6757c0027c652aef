//! Sleep, waking, resumes, forks, another environment.
//!
//! What an agent stands in is read from the CLI: the line its turn begins with, its list of rules and folders where it has
//! one, what it tells the model, and whether a call is asked about.

use std::collections::BTreeMap;

use countersign_host::control::approval::{Remember, Scope};
use countersign_host::control::session::Setup;
use countersign_host::control::{Command, Decide, ForkWorktree, Message, Mode, SessionId, State};
use countersign_testkit::fetch::Installed;
use serde_json::{Value, json};

use crate::heard::Heard;
use crate::real::Real;

/// Soon, in microseconds.
const SOON: u64 = 300_000;

/// To a message with this word the model runs a command.
fn runs(word: &str, command: &str) -> String {
    let input = json!({"command": command, "description": "Leave a mark"});
    format!("reply when \"{word}\"\n  tool Bash {input}\n")
}

/// To everything else it talks.
const TALKS: &str = "reply always\n  say \"Done.\"\n";

/// What the first turn of an agent began with.
async fn init(stage: &Real, id: SessionId, generation: u32) -> Value {
    let heard = Heard::of(stage, id).await;
    let inits = heard.inits(generation);
    let init = inits.last().expect("a turn has begun");
    (*init).clone()
}

/// The agent is where and what the first one was; its mode is this one.
async fn stands(stage: &Real, first: &Value, id: SessionId, generation: u32, mode: &str) {
    let init = init(stage, id, generation).await;
    for field in ["cwd", "model", "tools"] {
        assert_eq!(init[field], first[field], "{field}");
    }
    assert_eq!(init["permissionMode"], mode);
    let heard = Heard::of(stage, id).await;
    if let Some(answer) = heard.answer(generation, "list_permission_rules") {
        let state = &answer["state"];
        let more = stage.root().join("more");
        let folders = state["workspaceDirectories"].as_array().unwrap();
        let is_more = |folder: &Value| folder["path"] == more.to_str().unwrap();
        assert!(folders.iter().any(is_more), "{folders:?}");
        let rules = state["rules"].as_array().unwrap().iter();
        let mut asks = rules.filter(|rule| rule["behavior"] == "ask");
        assert!(asks.any(|rule| rule["rule"] == "Bash"), "{state}");
    }
}

pub(crate) async fn an_agent_that_is_woken_resumed_or_forked_stands_as_before(cli: Installed) {
    let script = runs("alpha", "touch first")
        + &runs("bravo", "touch second")
        + &runs("charlie", "touch third")
        + TALKS;
    let stage = Real::new(&cli, &script, |settings| {
        settings.timing.sleep_after = Some(SOON);
    })
    .await;
    let more = stage.root().join("more");
    std::fs::create_dir(&more).unwrap();
    let setup = Setup {
        model: Some("haiku".to_owned()),
        add_dirs: vec![more.clone()],
        ..Setup::default()
    };
    let id = stage.start_with("alpha", setup).await;
    let open = stage.open_approvals(id, 1).await;
    let remember = Remember {
        rules: vec!["Bash(touch *)".to_owned()],
        scope: Scope::Session,
        expires: None,
        also_cli: false,
    };
    let decide = Decide::Allow {
        updated_input: None,
        remember: Some(remember),
        mode: None,
        add_dirs: Vec::new(),
    };
    stage.decide(&open[0], decide).await;
    let before = stage.sleeps(id, 1).await;
    assert_eq!(before.version.as_deref(), Some(cli.pinned.version));
    let first = init(&stage, id, 1).await;
    assert!(
        first["model"].as_str().unwrap().contains("haiku"),
        "{first}"
    );
    stands(&stage, &first, id, 1, "default").await;

    stage.send(id, "bravo").await;
    let woken = stage.sleeps(id, 2).await;
    assert_eq!(woken.conversation, before.conversation);
    assert!(
        stage.project().join("second").exists(),
        "nobody was asked again"
    );
    stands(&stage, &first, id, 2, "default").await;

    let fork = SessionId::fresh();
    let message = Some(Message::text("charlie"));
    stage
        .execute(Command::Fork {
            session: id,
            id: fork,
            message,
            worktree: ForkWorktree::Own,
        })
        .await;
    if cli.pinned.numbers() < FIRST_TO_FORK {
        let view = stage.until_seen(fork, "failed", |view| {
            matches!(view.state, State::Failed { .. })
        });
        let reason = view.await.reason;
        assert!(reason.contains("cannot fork a conversation"), "{reason}");
        assert!(reason.contains("install 2.0.73 or a newer one"), "{reason}");
        return;
    }
    let mode = Mode::Plan;
    stage.execute(Command::SetMode { session: id, mode }).await;
    stage.send(id, "delta").await;
    let forked = stage.sleeps(fork, 1).await;
    assert_ne!(forked.conversation, before.conversation);
    assert!(
        stage.project().join("third").exists(),
        "the rule holds in the fork"
    );
    stands(&stage, &first, fork, 1, "default").await;
    assert!(
        stage.was_told("charlie", "alpha"),
        "the fork knows what was said before"
    );

    assert_eq!(stage.sleeps(id, 3).await.mode, Mode::Plan);
    stands(&stage, &first, id, 3, "plan").await;
    for word in ["alpha", "bravo", "charlie", "delta"] {
        assert!(stage.was_told(word, more.to_str().unwrap()), "{word}");
    }
}

/// The first version that forks into a conversation of a given id.
const FIRST_TO_FORK: [u32; 3] = [2, 0, 73];

/// A server of tools that has none.
const SERVER: &str = r#"
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"idle","version":"1"}}}' ;;
    *'"id"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{}}' ;;
  esac
done
"#;

pub(crate) async fn an_agent_with_a_server_sleeps_and_wakes_in_another_environment(cli: Installed) {
    let script = runs("bravo", "echo $WORD >> ran.log") + TALKS;
    let stage = Real::new(&cli, &script, |settings| {
        settings.timing.sleep_after = Some(SOON);
    })
    .await;
    let file = stage.root().join("server.sh");
    std::fs::write(&file, SERVER).unwrap();
    let server = json!({"type": "stdio", "command": "/bin/sh", "args": [file]});
    let setup = Setup {
        mcp_servers: BTreeMap::from([("idle".to_owned(), server)]),
        ..Setup::default()
    };
    let id = stage.start_with("alpha", setup).await;
    // Its server is no work.
    stage.sleeps(id, 1).await;
    let first = init(&stage, id, 1).await;
    assert_eq!(first["mcp_servers"][0]["name"], "idle", "{first}");
    let env = BTreeMap::from([("WORD".to_owned(), "another".to_owned())]);
    stage.execute(Command::SetEnv { session: id, env }).await;
    stage.send(id, "bravo").await;
    let open = stage.open_approvals(id, 1).await;
    // On an agent that is at work; the next message follows at once.
    let mode = Mode::Plan;
    stage.execute(Command::SetMode { session: id, mode }).await;
    stage.send(id, "charlie").await;
    stage.decide(&open[0], Decide::allow()).await;
    stage.sleeps(id, 2).await;
    assert_eq!(stage.ran(), ["another"]);
    let heard = Heard::of(&stage, id).await;
    let inits = heard.inits(2);
    let modes: Vec<_> = inits
        .iter()
        .map(|init| init["permissionMode"].clone())
        .collect();
    assert_eq!(modes, ["default", "plan"]);
}
