//! The rows of `measured/*.txt`, each played on the real CLI.
//!
//! Owns what the names of setups and calls mean. One start of the CLI serves all calls of a setup.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use countersign_client::hook::{Answer, PreToolUse};
use countersign_client::options::SettingSource;
use countersign_client::{Claude, Decision, Hook, HookContext, PermissionMode, PermissionRequest};
use countersign_policy::{ASKED_TOOLS, asks_about_everything};
use countersign_testkit::fetch::Installed;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, play, soon};

/// The calls of each setup with what becomes of them on `version`.
fn rows(
    table: &'static str,
    cli: &Installed,
) -> BTreeMap<&'static str, Vec<(&'static str, &'static str)>> {
    let column = match cli.pinned.version {
        "2.0.75" => 4,
        "2.1.62" => 3,
        _ => 2,
    };
    let mut setups: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for line in table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words.len(), 5, "{line}");
        setups
            .entry(words[0])
            .or_default()
            .push((words[1], words[column]));
    }
    setups
}

fn call(name: &str) -> (&'static str, Value) {
    match name {
        "read" => ("Read", json!({"file_path": "${cwd}/in.txt"})),
        "echo" => (
            "Bash",
            json!({"command": "echo hi", "description": "Speak"}),
        ),
        "touch" => (
            "Bash",
            json!({"command": "touch made.txt", "description": "Make"}),
        ),
        "write" => (
            "Write",
            json!({"file_path": "${cwd}/new.txt", "content": "x"}),
        ),
        "mcp" => ("mcp__talk__echo", json!({"value": "hello"})),
        "fetch" => (
            "WebFetch",
            json!({"url": "http://fetched.test/", "prompt": "Read"}),
        ),
        other => panic!("no call {other}"),
    }
}

fn ours() -> Value {
    asks_about_everything(None, &["mcp__talk".to_owned()])
}

fn with(key: &str, value: Value) -> Value {
    let mut settings = ours();
    settings[key] = value;
    settings
}

/// A hook that says yes to everything.
fn yes() -> Value {
    let says = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}});
    let hook = json!({"type": "command", "command": format!("cat > /dev/null; echo '{says}'")});
    json!({"PreToolUse": [{"matcher": "*", "hooks": [hook]}]})
}

fn asks() -> Hook {
    Hook::of(PreToolUse, |_, _: HookContext| async {
        PreToolUse::ask("Every call is asked about.") as Answer<PreToolUse>
    })
}

/// The client for a setup; the files it needs are written.
fn setup(name: &str, stage: &Stage) -> Claude {
    let claude = stage.claude().permission_mode(PermissionMode::Default);
    let person = |settings: Value| stage.settings(stage.sandbox.home(), &settings);
    let everything = json!([
        "Read",
        "Bash",
        "Bash(touch:*)",
        "Write",
        "Edit",
        "mcp__talk"
    ]);
    match name {
        "bare" => claude,
        "others-allow" => {
            person(json!({"permissions": {"allow": everything}}));
            claude.settings(ours()).allowed_tools(["Bash", "mcp__talk"])
        }
        "hook-allows" => {
            person(json!({"hooks": yes()}));
            claude.settings(ours())
        }
        "hook-and-callback" => {
            person(json!({"hooks": yes()}));
            claude.settings(ours()).hook(asks())
        }
        "callback-alone" => claude.hook(asks()),
        "others-deny" => {
            let denied = [
                "Read(//**/in.txt)",
                "Edit(//**/new.txt)",
                "Bash(touch:*)",
                "WebFetch(domain:fetched.test)",
                "mcp__talk__echo",
            ];
            person(json!({"permissions": {"deny": denied}}));
            claude.settings(ours())
        }
        "dont-ask" => claude
            .settings(ours())
            .permission_mode(PermissionMode::DontAsk),
        "dont-ask-in-settings" => {
            person(json!({"permissions": {"defaultMode": "dontAsk"}}));
            claude.settings(ours())
        }
        "wrong-setting" => claude.settings(with("cleanupPeriodDays", json!("many"))),
        "wrong-hook-event" => claude.settings(with("hooks", json!({"NoSuchEvent": []}))),
        "wrong-rule" => {
            let rules: Vec<&str> = ASKED_TOOLS.iter().copied().chain(["small"]).collect();
            claude.settings(with("permissions", json!({"ask": rules})))
        }
        "star-alone" => claude.settings(json!({"permissions": {"ask": ["*"]}})),
        "user-sources" => {
            stage.settings(stage.sandbox.project(), &json!({"hooks": yes()}));
            claude
                .settings(ours())
                .setting_sources([SettingSource::User])
        }
        other => panic!("no setup {other}"),
    }
}

/// What becomes of the calls of a setup.
async fn play_setup(
    cli: &Installed,
    name: &'static str,
    names: &[&'static str],
) -> Vec<&'static str> {
    let wanted: Vec<_> = names.iter().map(|name| call(name)).collect();
    let stage = Stage::new(cli, &calls(&wanted)).await;
    stage.file("in.txt", "inside\n");
    let asked = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&asked);
    let claude = setup(name, &stage).permissions(move |request: PermissionRequest| {
        let id = request.tool_use_id.as_ref().unwrap();
        list.lock().unwrap().push(id.to_string());
        std::future::ready(match request.tool_name.as_str() {
            // Nothing is to be fetched from anywhere.
            "WebFetch" => Decision::deny("not here"),
            _ => Decision::allow(),
        })
    });
    let mut session = soon("the greeting", claude.connect()).await.unwrap();
    let played = play(&mut session, "go").await;
    soon("the end", session.close()).await;
    let asked = asked.lock().unwrap();
    // The calls are told apart by their order, which is that of the stream.
    played
        .order
        .iter()
        .map(|id| match (asked.contains(id), &played.results[id]) {
            (true, _) => "asked",
            (false, None) => "ran",
            (false, Some(_)) => "refused",
        })
        .collect()
}

async fn play_all(cli: &Installed, table: &'static str) {
    let mut wrong = Vec::new();
    for (name, rows) in rows(table, cli) {
        let names: Vec<_> = rows.iter().map(|(call, _)| *call).collect();
        let found = play_setup(cli, name, &names).await;
        assert_eq!(found.len(), rows.len(), "{name}");
        for ((call, expected), found) in rows.iter().zip(found) {
            if *expected != found {
                wrong.push(format!("{name} {call}: {found}, not {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", cli.pinned.version);
}

pub(crate) async fn what_others_have_set_changes_what_was_measured(cli: Installed) {
    play_all(&cli, include_str!("measured/others.txt")).await;
}

pub(crate) async fn what_the_cli_is_started_with_changes_what_was_measured(cli: Installed) {
    play_all(&cli, include_str!("measured/ours.txt")).await;
}
