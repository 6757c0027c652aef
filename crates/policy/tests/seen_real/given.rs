//! What a person passes by flag stands beside our rules, and undoes none of them.

use std::sync::{Arc, Mutex};

use countersign_client::{Decision, Error, PermissionHandler, PermissionMode, PermissionRequest};
use countersign_policy::Watch;
use countersign_testkit::fetch::Installed;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, play, soon};

/// The tools that were asked about.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<String>>>);

impl Asked {
    fn allow(&self) -> impl PermissionHandler + use<> {
        let asked = self.clone();
        move |request: PermissionRequest| {
            asked.0.lock().unwrap().push(request.tool_name.clone());
            std::future::ready(Decision::allow())
        }
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

fn reads_and_speaks() -> Vec<(&'static str, Value)> {
    vec![
        ("Read", json!({"file_path": "${cwd}/in.txt"})),
        (
            "Bash",
            json!({"command": "echo $FROM_SETTINGS", "description": "Speak"}),
        ),
    ]
}

/// Everything that is vouched for, and much that some version finds wrong.
fn given() -> Value {
    let hook =
        json!([{"hooks": [{"type": "command", "command": "touch hooked.txt", "timeout": 5}]}]);
    json!({
        "alwaysThinkingEnabled": false, "cleanupPeriodDays": 30, "companyAnnouncements": ["a"],
        "disableAllHooks": false, "disabledMcpjsonServers": ["x"], "enableAllProjectMcpServers": false,
        "enabledMcpjsonServers": ["y"], "env": {"FROM_SETTINGS": "it-was-passed-on", "N": 1},
        "includeCoAuthoredBy": false, "outputStyle": "default", "promptSuggestionEnabled": false,
        "sandbox": {"enabled": false, "excludedCommands": ["git"], "network": {"allowedDomains": ["a.test"]},
            "ignoreViolations": {"x": ["y"]}},
        "skipWebFetchPreflight": true, "spinnerTipsEnabled": false, "syntaxHighlightingDisabled": true,
        "hooks": {"PostToolUse": hook, "NoSuchEvent": hook},
        "permissions": {
            "allow": ["Read", "Bash(*)"], "ask": ["small"], "defaultMode": "dontAsk",
            "deny": ["Bash(rm:*)", "Read(./.env)", "Edit(src/**)", "WebFetch(domain:a.test)", "mcp__other", "small"]
        },
        "statusLine": "wrong", "effortLevel": 7, "forceLoginMethod": "nobody", "useAutoModeDuringPlan": true
    })
}

pub(crate) async fn settings_that_a_person_passes_do_not_silence_the_questions(cli: Installed) {
    let stage = Stage::new(&cli, &calls(&reads_and_speaks()).repeat(2)).await;
    stage.file("in.txt", "inside\n");
    let watch = Watch::new(Some(&given()), &[]);
    let asked = Asked::default();
    let claude = stage
        .claude()
        .settings(watch.settings.clone())
        .permission_mode(PermissionMode::Default)
        .permissions(asked.allow());
    let mut session = soon("the greeting", claude.connect()).await.unwrap();
    play(&mut session, "go").await;
    assert_eq!(asked.take(), ["Read", "Bash"]);
    assert!(
        stage.model_knows("it-was-passed-on"),
        "variables of the person's settings"
    );
    assert!(
        stage.path("hooked.txt").exists(),
        "hooks of the person's settings"
    );
    // What is wrong for this version is refused as a whole or dropped; the rules stay.
    let rest = watch.rest.unwrap();
    let taken = session.apply_flag_settings(rest.into()).await;
    match stage.version() {
        "2.0.75" => assert!(matches!(taken, Err(Error::Unsupported { .. })), "{taken:?}"),
        "2.1.62" => taken.unwrap(),
        _ => assert!(matches!(taken, Err(Error::Refused { .. })), "{taken:?}"),
    }
    play(&mut session, "go").await;
    assert_eq!(asked.take(), ["Read", "Bash"]);
    soon("the end", session.close()).await;
}

/// In bypass mode, where nothing but our rules makes the CLI ask.
pub(crate) async fn a_tool_that_shows_up_later_is_asked_about(cli: Installed) {
    let call = [("mcp__talk__echo", json!({"value": "hello"}))];
    let stage = Stage::new(&cli, &calls(&call).repeat(2)).await;
    let mut watch = Watch::new(None, &[]);
    let asked = Asked::default();
    let claude = stage
        .claude()
        .settings(watch.settings.clone())
        .permission_mode(PermissionMode::BypassPermissions)
        .permissions(asked.allow());
    let mut session = soon("the greeting", claude.connect()).await.unwrap();
    let played = play(&mut session, "go").await;
    // Only those from 2.1.325 on take the rule that means every tool.
    let is_newest = stage.cli.pinned.is_at_least("2.1.325");
    assert_eq!(asked.take().len(), usize::from(is_newest));
    assert_eq!(watch.unwatched(&played.tools), ["mcp__talk"]);
    let more = watch.watch_also(&played.tools).unwrap();
    let taken = session.apply_flag_settings(more.into()).await;
    let is_oldest = stage.version() == "2.0.75";
    assert_eq!(taken.is_err(), is_oldest, "{taken:?}");
    play(&mut session, "go").await;
    assert_eq!(asked.take().len(), usize::from(!is_oldest));
    soon("the end", session.close()).await;
}
