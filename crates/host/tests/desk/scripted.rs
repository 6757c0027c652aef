//! Agents of the scripted CLI: what is asked for is in force, and what is not is found and mended.

use std::path::PathBuf;
use std::time::Duration;

use countersign_client::Session;
use countersign_host::control::Mode;
use countersign_host::desk::{
    Conversation, Starting, Unmet, in_force, put_in_force, start, told_by_init,
};
use serde_json::json;

use crate::ground::{Ground, NOW};

const PATIENCE: Duration = Duration::from_secs(60);

/// A program that `cargo test` builds beside the tests.
fn rehearsed() -> String {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    let program: PathBuf = profile.join("examples/hosted_agent");
    let how = "`cargo build -p countersign-host --examples` builds it";
    assert!(program.exists(), "{} is missing; {how}", program.display());
    program.to_string_lossy().into_owned()
}

fn ground(version: &str) -> Ground {
    let mut ground = Ground::new();
    ground.host.claude = vec![rehearsed()];
    let scenario = format!("version {version}\n\nturn\n  say \"Done.\"\n");
    ground
        .host
        .env
        .push(("COUNTERSIGN_SCENARIO_TEXT".into(), scenario.into()));
    std::fs::create_dir_all(ground.path("lib")).unwrap();
    ground.setup.add_dirs = vec![ground.path("lib")];
    ground
}

async fn begin(ground: &Ground, mode: Mode) -> (Starting, Session) {
    let id = uuid::Uuid::new_v4().to_string();
    let desk = ground.desk(mode);
    let conversation = Conversation::New { id };
    let mut starting = start(&desk, &ground.setup, &conversation, &ground.host, NOW)
        .await
        .unwrap();
    let connecting = tokio::time::timeout(PATIENCE, starting.claude.clone().connect());
    let session = connecting.await.unwrap().unwrap();
    starting.watching.settle(&session.handle).await.unwrap();
    (starting, session)
}

#[tokio::test]
async fn a_new_agent_stands_as_it_was_asked_for_before_it_gets_a_message() {
    let ground = ground("2.1.325");
    for mode in [Mode::Plan, Mode::Edits] {
        let (starting, session) = begin(&ground, mode).await;
        assert_eq!(starting.version, session.handle.version());
        let found = in_force(&session.handle, &starting.wanted).await.unwrap();
        assert!(found.holds(), "{:?}", found.unmet);
        assert!(found.unproved.is_empty(), "{:?}", found.unproved);
    }
}

#[tokio::test]
async fn what_does_not_hold_is_named_and_brought_about() {
    let mut ground = ground("2.1.325");
    let (_, session) = begin(&ground, Mode::Plan).await;
    let handle = &session.handle;
    // Since then another mode was chosen, and a server was added.
    let notes = json!({"command": "notes"});
    ground.setup.mcp_servers.insert("notes".to_owned(), notes);
    let id = uuid::Uuid::new_v4().to_string();
    let desk = ground.desk(Mode::Ask);
    let conversation = Conversation::New { id };
    let wanted = start(&desk, &ground.setup, &conversation, &ground.host, NOW).await;
    let wanted = wanted.unwrap().wanted;
    let found = in_force(handle, &wanted).await.unwrap();
    let mode = Unmet::Mode {
        wanted: "default".to_owned(),
        got: "plan".to_owned(),
    };
    assert_eq!(
        found.unmet,
        [mode, Unmet::Rule("ask mcp__notes".to_owned())]
    );
    let found = put_in_force(handle, &wanted).await.unwrap();
    assert!(found.holds(), "{:?}", found.unmet);
    assert_eq!(handle.permission_mode().as_deref(), Some("default"));
}

#[tokio::test]
async fn a_folder_that_is_not_inside_is_named() {
    let ground = ground("2.1.325");
    let (mut starting, session) = begin(&ground, Mode::Ask).await;
    starting.wanted.add_dirs.push(ground.path("other"));
    let found = put_in_force(&session.handle, &starting.wanted)
        .await
        .unwrap();
    assert_eq!(found.unmet, [Unmet::Folder(ground.path("other"))]);
}

#[tokio::test]
async fn an_older_version_leaves_things_unproved_and_tells_them_with_its_turn() {
    let ground = ground("2.1.62");
    let (starting, session) = begin(&ground, Mode::Plan).await;
    assert!(starting.watching.has_hook());
    let found = in_force(&session.handle, &starting.wanted).await.unwrap();
    assert!(found.holds());
    assert_eq!(found.unproved, ["mode", "folders", "rules"]);
    let turn = session.handle.send("go").await.unwrap();
    tokio::time::timeout(PATIENCE, turn).await.unwrap().unwrap();
    let found = in_force(&session.handle, &starting.wanted).await.unwrap();
    assert!(found.holds());
    assert_eq!(found.unproved, ["folders", "rules"]);
}

#[tokio::test]
async fn a_turn_that_begins_otherwise_is_found_out() {
    let mut ground = ground("2.1.62");
    ground.setup.model = Some("claude-opus-5-5".to_owned());
    let (starting, session) = begin(&ground, Mode::Plan).await;
    let init = |mode: &str, model: &str, version: &str| {
        let line = json!({"type": "system", "subtype": "init", "permissionMode": mode, "model": model, "claude_code_version": version});
        told_by_init(
            &starting.wanted,
            line.to_string().as_bytes(),
            session.handle.initialize_reply(),
        )
    };
    assert_eq!(init("plan", "claude-opus-5-5", "2.1.62"), []);
    let amiss = init("default", "haiku", "2.1.62");
    assert!(
        matches!(amiss[..], [Unmet::Mode { .. }, Unmet::Model { .. }]),
        "{amiss:?}"
    );
    assert_eq!(told_by_init(&starting.wanted, b"no JSON", None), []);
}

#[tokio::test]
async fn an_agent_that_is_older_than_it_was_thought_to_be_is_found_out() {
    let ground = ground("2.1.62");
    // Asked, the command names another version than the one that runs then.
    let (starting, session) = {
        let mut newer = Ground::new().with_claude("2.1.325 (Claude Code)");
        newer.setup = ground.setup.clone();
        let desk = newer.desk(Mode::Ask);
        let id = uuid::Uuid::new_v4().to_string();
        let conversation = Conversation::New { id };
        let starting = start(&desk, &newer.setup, &conversation, &newer.host, NOW).await;
        let starting = starting.unwrap();
        let claude = starting
            .claude
            .clone()
            .cli(vec![rehearsed().into()])
            .cwd(ground.path("work"));
        let claude = ground
            .host
            .env
            .iter()
            .fold(claude, |claude, (name, value)| claude.env(name, value));
        let session = tokio::time::timeout(PATIENCE, claude.connect())
            .await
            .unwrap()
            .unwrap();
        (starting, session)
    };
    let turn = session.handle.send("go").await.unwrap();
    tokio::time::timeout(PATIENCE, turn).await.unwrap().unwrap();
    let found = in_force(&session.handle, &starting.wanted).await.unwrap();
    assert!(
        matches!(found.unmet[..], [Unmet::Hook(_)]),
        "{:?}",
        found.unmet
    );
}

#[tokio::test]
async fn a_tool_that_shows_up_later_is_asked_about_from_then_on() {
    let ground = ground("2.1.62");
    let (mut starting, _session) = begin(&ground, Mode::Ask).await;
    let init = |version: &str, tools: &[&str]| {
        let line = json!({"type": "system", "subtype": "init", "tools": tools, "claude_code_version": version});
        line.to_string().into_bytes()
    };
    assert_eq!(starting.watching.learn(&init("2.1.62", &["Bash"])), None);
    let late = init("2.1.62", &["Bash", "mcp__late__do", "NewTool"]);
    let settings = starting.watching.learn(&late).unwrap().to_value().unwrap();
    let asks = settings["permissions"]["ask"].as_array().unwrap();
    for rule in ["Bash", "mcp__late", "NewTool"] {
        assert!(asks.contains(&json!(rule)), "{rule}");
    }
    assert_eq!(starting.watching.learn(&late), None, "once");
    let older = init("2.0.75", &["mcp__later__do"]);
    assert_eq!(
        starting.watching.learn(&older),
        None,
        "it has no such request"
    );
}
