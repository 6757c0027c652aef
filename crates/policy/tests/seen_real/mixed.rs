//! A mixed turn in every mode: reads, commands that the CLI lets run by itself, edits, MCP, a sub-agent with calls inside.

use std::sync::{Arc, Mutex};

use countersign_client::{Claude, Decision, PermissionMode, PermissionRequest, Session};
use countersign_policy::asks_about_everything;
use countersign_testkit::fetch::{Installed, Pinned};
use serde_json::{Value, json};

use crate::host::Host;
use crate::stage::{DONE, Played, Stage, play, reply, soon};

/// The modes in which the CLI would let much of this pass. `dontAsk` is not among them: it refuses whatever is asked about.
pub(crate) const MODES: [PermissionMode; 4] = [
    PermissionMode::Default,
    PermissionMode::Plan,
    PermissionMode::AcceptEdits,
    PermissionMode::BypassPermissions,
];

const PROMPT_OF_THE_AGENT: &str = "Please look inside";

fn mixed(cli: &Pinned) -> Vec<(&'static str, Value)> {
    let mut calls = vec![
        ("Read", json!({"file_path": "${cwd}/in.txt"})),
        ("Read", json!({"file_path": "${cwd}/../out.txt"})),
        (
            "Bash",
            json!({"command": "echo hi", "description": "Speak"}),
        ),
        (
            "Bash",
            json!({"command": "touch made.txt", "description": "Make"}),
        ),
        (
            "Write",
            json!({"file_path": "${cwd}/new.txt", "content": "one"}),
        ),
        (
            "Edit",
            json!({"file_path": "${cwd}/new.txt", "old_string": "one", "new_string": "two"}),
        ),
        ("mcp__talk__echo", json!({"value": "hello"})),
    ];
    if !cli.is_at_least("2.1.325") {
        calls.push(("Glob", json!({"pattern": "*.txt"})));
        calls.push(("Grep", json!({"pattern": "inside"})));
        let todo = json!({"content": "a", "status": "pending", "activeForm": "a"});
        calls.push(("TodoWrite", json!({"todos": [todo]})));
    }
    let task = json!({"description": "Look", "prompt": PROMPT_OF_THE_AGENT, "subagent_type": "general-purpose",
        "run_in_background": false});
    calls.push(("Task", task));
    calls
}

/// One turn for each mode. The sub-agent reads and runs a command.
fn script(cli: &Pinned) -> String {
    let turn = mixed(cli)
        .iter()
        .map(|(tool, input)| reply(tool, input))
        .collect::<String>()
        + DONE;
    let read = json!({"file_path": "${cwd}/in.txt"});
    let agent = format!(
        "reply when {prompt:?}\n  tool Read {read}\nreply in {prompt:?}\n  tool Bash {bash}\nreply in {prompt:?}\n  say \"Well.\"\n",
        prompt = PROMPT_OF_THE_AGENT,
        bash = json!({"command": "echo inside", "description": "Speak"}),
    );
    format!("{turn}{agent}").repeat(MODES.len())
}

async fn stage(cli: &Installed) -> Stage {
    let stage = Stage::new(cli, &script(cli.pinned)).await;
    stage.file("in.txt", "inside\n");
    std::fs::write(stage.path("../out.txt"), "outside\n").unwrap();
    stage
}

/// Plays the turn in each mode, and shows what was played to `look`.
async fn in_every_mode(
    stage: &Stage,
    claude: Claude,
    mut look: impl FnMut(&PermissionMode, Played),
) {
    let claude = claude
        .settings(asks_about_everything(None, &["mcp__talk".to_owned()]))
        .permission_mode(PermissionMode::Default)
        .allow_dangerously_skip_permissions(true);
    let mut session: Session = soon("the greeting", claude.connect()).await.unwrap();
    // The two of the sub-agent come on top.
    let expected = mixed(stage.cli.pinned).len() + 2;
    for mode in MODES {
        session.set_permission_mode(mode.clone()).await.unwrap();
        let played = play(&mut session, "go").await;
        assert_eq!(played.calls.len(), expected, "{mode:?}: {played:?}");
        look(&mode, played);
    }
    soon("the end", session.close()).await;
}

/// By the settings alone, without a callback.
pub(crate) async fn every_call_is_asked_about_in_every_mode(cli: Installed) {
    let stage = stage(&cli).await;
    let asked = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&asked);
    let claude = stage
        .claude()
        .permissions(move |request: PermissionRequest| {
            let id = request.tool_use_id.as_ref().unwrap();
            list.lock().unwrap().push(id.to_string());
            std::future::ready(Decision::allow())
        });
    in_every_mode(&stage, claude, |mode, played| {
        let mut asked = std::mem::take(&mut *asked.lock().unwrap());
        asked.sort_unstable();
        let called: Vec<&String> = played.calls.keys().collect();
        assert_eq!(
            asked.iter().collect::<Vec<_>>(),
            called,
            "{mode:?}: {played:?}"
        );
        assert!(
            played.results.values().all(Option::is_none),
            "{mode:?}: {played:?}"
        );
    })
    .await;
}

/// By a host as it should be: settings, callback, questions, and policy behind both.
pub(crate) async fn every_call_has_a_verdict_on_record(cli: Installed) {
    let stage = stage(&cli).await;
    let host = Host::hands_off(&stage, &[]);
    let claude = stage
        .claude()
        .permissions(host.answers())
        .hook(host.callback());
    in_every_mode(&stage, claude, |mode, played| {
        let entries = host.take();
        for (id, tool) in &played.calls {
            let entry = entries.get(id);
            assert!(
                entry.is_some_and(|entry| !entry.said.is_empty()),
                "{mode:?}: {tool} in {entries:?}"
            );
        }
    })
    .await;
    assert!(
        stage.path("made.txt").exists(),
        "what policy allows was done"
    );
}
