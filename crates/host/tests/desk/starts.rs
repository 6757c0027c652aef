//! What an agent is started with, looked at as arguments, environment and files.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use countersign_client::Prepared;
use countersign_host::control::Mode;
use countersign_host::desk::{Conversation, DeskError, Starting, start};
use countersign_policy::{ASKED_TOOLS, Effect};
use serde_json::{Value, json};

use crate::ground::{Ground, MINUTE, NOW, kept};

const ID: &str = "6a2f0e0c-3c52-4f6e-9a53-2b1d1c2f9a10";
const OTHER: &str = "0d9f6a3e-77c1-4c5e-8f63-5a4be1f0c7d2";

fn new() -> Conversation {
    Conversation::New { id: ID.to_owned() }
}

/// A program that only says which version it is, and counts how often it was asked.
pub(crate) fn claude_of(ground: &Ground, version: &str) -> PathBuf {
    let path = ground.path("claude");
    let asked = ground.path("asked");
    let text = format!(
        "#!/bin/sh\necho x >> '{}'\necho '{version}'\n",
        asked.display()
    );
    ground.write("claude", &text);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

impl Ground {
    pub(crate) fn with_claude(mut self, version: &str) -> Self {
        let path = claude_of(&self, version);
        self.host.claude = vec![path.to_string_lossy().into_owned()];
        self
    }

    async fn try_start(
        &self,
        mode: Mode,
        conversation: &Conversation,
    ) -> Result<Starting, DeskError> {
        let desk = self.desk(mode);
        start(&desk, &self.setup, conversation, &self.host, NOW).await
    }

    pub(crate) async fn start(&self, mode: Mode) -> Starting {
        self.try_start(mode, &new()).await.unwrap()
    }

    async fn prepare(&self, mode: Mode) -> Prepared {
        prepare(self, &self.start(mode).await).await
    }

    fn times_asked(&self) -> usize {
        let asked = std::fs::read_to_string(self.path("asked")).unwrap_or_default();
        asked.lines().count()
    }
}

async fn prepare(ground: &Ground, starting: &Starting) -> Prepared {
    let files = ground.path("files");
    std::fs::create_dir_all(&files).unwrap();
    starting.claude.prepare(&files).await.unwrap()
}

/// The word behind a flag, or behind its `=`.
fn value<'a>(prepared: &'a Prepared, flag: &str) -> Option<&'a str> {
    let words: Vec<&str> = prepared
        .args
        .iter()
        .filter_map(|arg| arg.to_str())
        .collect();
    let joined = words
        .iter()
        .find_map(|word| word.strip_prefix(flag)?.strip_prefix('='));
    joined.or_else(|| {
        words
            .iter()
            .skip_while(|word| **word != flag)
            .nth(1)
            .copied()
    })
}

fn has(prepared: &Prepared, flag: &str) -> bool {
    prepared.args.iter().any(|arg| arg == flag)
}

fn variable<'a>(prepared: &'a Prepared, name: &str) -> Option<&'a OsString> {
    let found = prepared.env.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value)
}

/// What `--settings` holds, inline or as a file.
fn settings(prepared: &Prepared) -> Value {
    let text = value(prepared, "--settings").unwrap();
    let text = match text.starts_with('{') {
        true => text.to_owned(),
        false => std::fs::read_to_string(text).unwrap(),
    };
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn each_kind_of_beginning_names_its_conversation() {
    let ground = Ground::new().with_claude("2.1.325 (Claude Code)");
    let resume = Conversation::Resume { id: ID.to_owned() };
    let fork = Conversation::Fork {
        from: ID.to_owned(),
        id: OTHER.to_owned(),
    };
    for (conversation, id, resumed, forks) in [
        (new(), Some(ID), None, false),
        (resume, None, Some(ID), false),
        (fork, Some(OTHER), Some(ID), true),
    ] {
        let starting = ground.try_start(Mode::Ask, &conversation).await.unwrap();
        let prepared = prepare(&ground, &starting).await;
        assert_eq!(value(&prepared, "--session-id"), id, "{conversation:?}");
        assert_eq!(value(&prepared, "--resume"), resumed, "{conversation:?}");
        assert_eq!(has(&prepared, "--fork-session"), forks, "{conversation:?}");
        assert_eq!(prepared.cwd, ground.path("work"));
    }
}

#[tokio::test]
async fn the_cli_is_never_in_a_mode_that_lets_calls_pass() {
    let ground = Ground::new().with_claude("2.1.325 (Claude Code)");
    let until = NOW + MINUTE;
    for (mode, wanted) in [
        (Mode::Plan, "plan"),
        (Mode::Ask, "default"),
        (Mode::Edits, "default"),
        (Mode::HandsOff { until }, "default"),
        (Mode::RulesOnly, "default"),
    ] {
        let prepared = ground.prepare(mode).await;
        assert_eq!(
            value(&prepared, "--permission-mode"),
            Some(wanted),
            "{mode}"
        );
        assert_eq!(value(&prepared, "--permission-prompt-tool"), Some("stdio"));
        for flag in [
            "--dangerously-skip-permissions",
            "--allow-dangerously-skip-permissions",
            "--allowedTools",
        ] {
            assert!(!has(&prepared, flag), "{mode}: {flag}");
        }
    }
}

#[tokio::test]
async fn every_tool_is_asked_about_and_what_is_ours_is_closed_a_second_time() {
    let mut ground = Ground::new().with_claude("2.0.75 (Claude Code)");
    ground
        .setup
        .mcp_servers
        .insert("my notes.v2".into(), json!({"command": "notes"}));
    let desk = ground.desk_with(vec![kept(Effect::Allow, "mcp__git__log")], Mode::Ask);
    let starting = start(&desk, &ground.setup, &new(), &ground.host, NOW)
        .await
        .unwrap();
    let settings = settings(&prepare(&ground, &starting).await);
    let asks = settings["permissions"]["ask"].as_array().unwrap();
    let servers = ["mcp__git", "mcp__my_notes_v2", "*"];
    for tool in ASKED_TOOLS.iter().chain(&servers) {
        assert!(asks.contains(&json!(tool)), "{tool}");
    }
    let data = ground.path("data");
    let locks = ["Read", "Edit"].map(|tool| format!("{tool}(/{}/**)", data.display()));
    assert_eq!(settings["permissions"]["deny"], json!(locks));
    assert_eq!(settings["useAutoModeDuringPlan"], false);
}

#[tokio::test]
async fn what_was_chosen_stands_on_the_command_line() {
    let mut ground = Ground::new().with_claude("2.1.325 (Claude Code)");
    std::fs::create_dir_all(ground.path("lib")).unwrap();
    ground.setup.model = Some("sonnet".into());
    ground.setup.budget_usd = Some(2.5);
    ground.setup.append_system_prompt = Some("Be brief.".into());
    ground.setup.add_dirs = vec!["../lib".into()];
    let prepared = ground.prepare(Mode::Ask).await;
    assert_eq!(value(&prepared, "--model"), Some("sonnet"));
    // Twice the budget: the host is to be first.
    assert_eq!(value(&prepared, "--max-budget-usd"), Some("5"));
    assert_eq!(
        value(&prepared, "--append-system-prompt"),
        Some("Be brief.")
    );
    let lib = ground.path("work/../lib");
    assert_eq!(value(&prepared, "--add-dir"), lib.to_str());
    for flag in ["--include-partial-messages", "--replay-user-messages"] {
        assert!(has(&prepared, flag), "{flag}");
    }
    let checkpoints = variable(&prepared, "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING");
    assert_eq!(checkpoints, Some(&"1".into()));
}

#[tokio::test]
async fn servers_with_secrets_go_by_a_file_for_this_user_alone() {
    let mut ground = Ground::new().with_claude("2.1.325 (Claude Code)");
    let secret = concat!("not", "-to-be", "-seen");
    let server = json!({"command": "notes", "env": {"TOKEN": secret}});
    ground.setup.mcp_servers.insert("notes".into(), server);
    let prepared = ground.prepare(Mode::Ask).await;
    let file = Path::new(value(&prepared, "--mcp-config").unwrap());
    assert!(file.starts_with(ground.path("files")));
    assert!(std::fs::read_to_string(file).unwrap().contains(secret));
    assert_eq!(
        std::fs::metadata(file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let shown = |arg: &OsString| arg.to_string_lossy().contains(secret);
    assert!(!prepared.args.iter().any(shown));
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_before_anything_is_started() {
    let ground = || Ground::new().with_claude("2.1.325 (Claude Code)");
    for budget in [0.0, -1.0, f64::NAN] {
        let mut ground = ground();
        ground.setup.budget_usd = Some(budget);
        let refused = ground.try_start(Mode::Ask, &new()).await;
        assert!(matches!(refused, Err(DeskError::BadBudget(_))), "{budget}");
    }
    for server in [
        json!("notes"),
        json!({"type": "sdk", "name": "x"}),
        json!({"args": []}),
    ] {
        let mut ground = ground();
        ground.setup.mcp_servers.insert("notes".into(), server);
        let refused = ground.try_start(Mode::Ask, &new()).await;
        assert!(
            matches!(refused, Err(DeskError::BadServer { .. })),
            "{refused:?}"
        );
    }
    for (name, value) in [("", "x"), ("A=B", "x"), ("A", "x\0y")] {
        let mut ground = ground();
        ground.setup.env.insert(name.into(), value.into());
        let refused = ground.try_start(Mode::Ask, &new()).await;
        assert!(matches!(refused, Err(DeskError::BadVariable(_))), "{name}");
    }
    let mut ground = ground();
    ground.setup.claude = vec![ground.path("nowhere").to_string_lossy().into_owned()];
    let refused = ground.try_start(Mode::Ask, &new()).await;
    assert!(matches!(refused, Err(DeskError::NoCli(_))), "{refused:?}");
}

#[tokio::test]
async fn in_a_folder_that_nobody_trusts_only_the_persons_settings_are_read() {
    let ground = Ground::new().with_claude("2.1.325 (Claude Code)");
    let prepared = ground.prepare(Mode::Ask).await;
    assert_eq!(value(&prepared, "--setting-sources"), None);
    ground.write(
        "work/.mcp.json",
        r#"{"mcpServers": {"x": {"command": "./x"}}}"#,
    );
    let prepared = ground.prepare(Mode::Ask).await;
    assert_eq!(value(&prepared, "--setting-sources"), Some("user"));
    ground.desk(Mode::Ask).trust(NOW).unwrap();
    let prepared = ground.prepare(Mode::Ask).await;
    assert_eq!(value(&prepared, "--setting-sources"), None);
}

#[tokio::test]
async fn only_versions_that_need_the_hook_have_it() {
    for (version, has_hook) in [
        ("2.0.75 (Claude Code)", true),
        ("2.1.62 (Claude Code)", true),
        ("2.1.324 (Claude Code)", true),
        ("2.1.325 (Claude Code)", false),
        ("2.2.0 (Claude Code)", false),
        ("something else", true),
    ] {
        let ground = Ground::new().with_claude(version);
        let starting = ground.start(Mode::Ask).await;
        assert_eq!(starting.watching.has_hook(), has_hook, "{version}");
        let hooks = format!("{:?}", starting.claude);
        assert_eq!(hooks.contains("PreToolUse"), has_hook, "{version}");
        assert_eq!(
            hooks.contains("timeout: Some(86400s)"),
            has_hook,
            "{version}"
        );
    }
}

#[tokio::test]
async fn a_cli_is_asked_its_version_once_until_it_is_replaced() {
    let ground = Ground::new().with_claude("2.1.325 (Claude Code)");
    let begin = || ground.start(Mode::Ask);
    let started = tokio::join!(begin(), begin(), begin(), begin());
    assert!(!started.0.watching.has_hook() && !started.3.watching.has_hook());
    assert_eq!(ground.times_asked(), 1);
    let ground = ground.with_claude("2.1.62 (Claude Code), older");
    assert!(ground.start(Mode::Ask).await.watching.has_hook());
    assert_eq!(ground.times_asked(), 2);
    // Behind a wrapper another CLI may run every time.
    let mut ground = ground;
    ground.host.claude.insert(0, "env".into());
    ground.host.claude.remove(1);
    ground.host.claude.extend(["echo".into(), "2.1.325".into()]);
    for _ in 0..2 {
        assert!(!ground.start(Mode::Ask).await.watching.has_hook());
    }
}

#[tokio::test]
async fn variables_of_the_session_stand_over_those_of_the_host() {
    let mut ground = Ground::new().with_claude("2.1.325 (Claude Code)");
    ground.host.env.push(("A".into(), "host".into()));
    ground.host.env.push(("B".into(), "host".into()));
    ground
        .host
        .env
        .push(("CLAUDE_CONFIG_DIR".into(), "/host".into()));
    ground.setup.env.insert("B".into(), "session".into());
    ground
        .setup
        .env
        .insert("COUNTERSIGN_SCENARIO".into(), "a rehearsal".into());
    ground.setup.config_dir = Some(ground.path("cli"));
    let prepared = ground.prepare(Mode::Ask).await;
    for (name, wanted) in [
        ("A", "host".into()),
        ("B", "session".into()),
        ("COUNTERSIGN_SCENARIO", "a rehearsal".into()),
        ("CLAUDE_CONFIG_DIR", ground.path("cli").into_os_string()),
    ] {
        assert_eq!(variable(&prepared, name), Some(&wanted), "{name}");
    }
    // Nothing of this process.
    assert_eq!(variable(&prepared, "CARGO_MANIFEST_DIR"), None);
}

const CHILD: &str = "COUNTERSIGN_DESK_CHILD";

/// What is inherited is that of a whole process, so the test is one of its own.
#[tokio::test]
async fn agents_inherit_the_hosts_environment_without_what_is_ours() {
    if std::env::var_os(CHILD).is_some() {
        let mut ground = Ground::new().with_claude("2.1.325 (Claude Code)");
        ground.host.inherits = true;
        let prepared = ground.prepare(Mode::Ask).await;
        assert_eq!(variable(&prepared, "THEIRS"), Some(&"kept".into()));
        let is_ours = |name: &&OsString| name.to_string_lossy().starts_with("COUNTERSIGN_");
        let ours: Vec<&OsString> = prepared
            .env
            .iter()
            .map(|(name, _)| name)
            .filter(is_ours)
            .collect();
        // By it the processes of an agent are found.
        assert_eq!(ours, ["COUNTERSIGN_AGENT"]);
        return;
    }
    let test = "starts::agents_inherit_the_hosts_environment_without_what_is_ours";
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("THEIRS", "kept")
        .env("COUNTERSIGN_TOKEN", "ours")
        .env(CHILD, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

#[tokio::test]
async fn a_cli_that_is_older_than_all_that_were_measured_is_refused() {
    for (version, is_taken) in [("1.0.127", false), ("1.0.128", true), ("2.0.42", true)] {
        let ground = Ground::new().with_claude(&format!("{version} (Claude Code)"));
        let started = ground.try_start(Mode::Ask, &new()).await;
        assert_eq!(started.is_ok(), is_taken, "{version}");
        if let Err(error) = started {
            let told = error.to_string();
            assert!(told.contains(version) && told.contains("1.0.128"), "{told}");
        }
    }
}
