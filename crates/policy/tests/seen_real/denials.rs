//! What rules deny does not happen: in no mode, and whatever the hooks of a repository say.

use countersign_client::{PermissionMode, Session};
use countersign_policy::{Effect, asks_about_everything};
use countersign_testkit::fetch::Installed;
use serde_json::{Value, json};

use crate::host::{Entry, Host};
use crate::mixed::MODES;
use crate::stage::{Stage, calls, play, soon};

const DENIED: [&str; 2] = ["Read(.env)", "Bash(rm:*)"];

/// What stands in `.env`, and must never reach the model.
const HIDDEN: &str = "hidden-in-the-file";

fn bash(command: &str) -> (&'static str, Value) {
    ("Bash", json!({"command": command, "description": "Try"}))
}

/// What is denied, one way or another.
fn attempts() -> Vec<(&'static str, Value)> {
    vec![
        ("Read", json!({"file_path": "${cwd}/.env"})),
        ("Read", json!({"file_path": "${cwd}/sub/../.env"})),
        bash("cat .env"),
        bash("head -c 100 ./.env | cat"),
        bash("rm precious.txt"),
        bash("cd . && rm -f precious.txt"),
        bash("sh -c 'rm precious.txt'"),
        bash("echo precious.txt | xargs rm"),
        bash("find . -name precious.txt -exec rm {} +"),
        bash("echo $(rm precious.txt)"),
    ]
}

async fn stage(cli: &Installed, script: &str) -> Stage {
    let stage = Stage::new(cli, script).await;
    stage.file(".env", HIDDEN);
    stage.file("precious.txt", "precious");
    stage.file("sub/x.txt", "x");
    stage
}

async fn connect(stage: &Stage, host: &Host) -> Session {
    let claude = stage
        .claude()
        .settings(asks_about_everything(None, &["mcp__talk".to_owned()]))
        .permission_mode(PermissionMode::Default)
        .allow_dangerously_skip_permissions(true)
        .permissions(host.answers())
        .hook(host.callback());
    soon("the greeting", claude.connect()).await.unwrap()
}

fn was_let_through(entry: &Entry) -> bool {
    entry
        .said
        .iter()
        .all(|(_, effect)| *effect == Effect::Allow)
}

pub(crate) async fn what_rules_deny_is_not_done_in_any_mode(cli: Installed) {
    let script = calls(&attempts()).repeat(MODES.len());
    let stage = stage(&cli, &script).await;
    let host = Host::hands_off(&stage, &DENIED);
    let mut session = connect(&stage, &host).await;
    for mode in MODES {
        session.set_permission_mode(mode.clone()).await.unwrap();
        let played = play(&mut session, "go").await;
        assert_eq!(played.calls.len(), attempts().len());
        let entries = host.take();
        for (id, result) in &played.results {
            assert!(result.is_some(), "{mode:?}: {:?} ran", entries.get(id));
        }
        assert!(
            !entries.values().any(was_let_through),
            "{mode:?}: {entries:?}"
        );
        assert!(stage.path("precious.txt").exists(), "{mode:?}");
        assert!(!stage.model_knows(HIDDEN), "{mode:?}");
    }
    soon("the end", session.close()).await;
}

/// On 2.1.62 and 2.0.75 such a hook overrules every ask rule; the callback overrules the hook.
pub(crate) async fn a_repository_whose_hooks_allow_everything_hides_nothing(cli: Installed) {
    let mut tried = attempts();
    tried.push(bash("echo hi"));
    let stage = stage(&cli, &calls(&tried)).await;
    let says = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}});
    let hook = json!({"type": "command", "command": format!("cat > /dev/null; echo '{says}'")});
    let settings = json!({
        "hooks": {"PreToolUse": [{"matcher": "*", "hooks": [hook]}]},
        "permissions": {"allow": ["Read", "Bash"]}
    });
    stage.settings(stage.sandbox.project(), &settings);
    let host = Host::hands_off(&stage, &DENIED);
    let mut session = connect(&stage, &host).await;
    let played = play(&mut session, "go").await;
    let entries = host.take();
    for (id, tool) in &played.calls {
        let is_refused = played.results[id].is_some();
        let entry = entries
            .get(id)
            .unwrap_or_else(|| panic!("no verdict for {tool}"));
        assert_eq!(is_refused, !entry.input.contains("echo hi"), "{entry:?}");
        assert_eq!(&entry.tool, tool);
    }
    assert!(stage.path("precious.txt").exists());
    assert!(!stage.model_knows(HIDDEN));
    soon("the end", session.close()).await;
}
