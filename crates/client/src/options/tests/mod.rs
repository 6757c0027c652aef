//! Options → plan: arguments, introduction, files, warnings and refusals.

mod inventory;
#[cfg(target_os = "linux")]
mod real;
mod refusals;

use countersign_wire::vocab::{Effort, PermissionMode};
use serde_json::{Value, json};

use super::*;
use crate::launch::{LaunchPlan, launch};

const NEW: Option<Version> = Some(Version::new(2, 1, 325));
const UUID: &str = "4f1c2a9e-8a52-4c9b-9a57-2a8f0c1d3e4b";

fn located() -> Located {
    Located {
        program: "/bin/claude".into(),
        args: vec![],
    }
}

fn asked() -> Needs {
    Needs {
        answers_permissions: true,
        ..Needs::default()
    }
}

fn try_plan(
    options: Options,
    needs: &Needs,
    version: Option<Version>,
) -> Result<LaunchPlan, OptionError> {
    launch(
        &options,
        needs,
        &located(),
        version,
        &Surroundings::default(),
        None,
    )
}

fn plan(options: Options) -> LaunchPlan {
    try_plan(options, &Needs::default(), NEW).unwrap()
}

fn refused(options: Options) -> OptionError {
    try_plan(options, &Needs::default(), NEW).unwrap_err()
}

/// One flag with its value a line.
fn lines(plan: &LaunchPlan) -> String {
    let mut text = String::new();
    for arg in &plan.args {
        let arg = arg.to_str().unwrap();
        text.push(if arg.starts_with("--") { '\n' } else { ' ' });
        text.push_str(arg);
    }
    text.trim_start().to_owned()
}

/// What options add to the arguments that are always there.
fn added(options: Options) -> String {
    let always = lines(&plan(Options::new()));
    let all = lines(&plan(options));
    let added: Vec<_> = all
        .lines()
        .filter(|line| !always.lines().any(|a| a == *line))
        .collect();
    added.join("\n")
}

fn json<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

#[test]
fn nothing_set_sends_what_is_always_sent_and_no_prompt() {
    insta::assert_snapshot!(lines(&plan(Options::new())), @r"
    --input-format stream-json
    --output-format stream-json
    --verbose
    --replay-user-messages
    --permission-mode default
    ");
    assert_eq!(plan(Options::new()).initialize, Default::default());
    assert_eq!(plan(Options::new()).warnings, []);
}

#[test]
fn a_handler_gets_the_questions_also_those_of_plan_mode() {
    let plan = try_plan(Options::new(), &asked(), NEW).unwrap();
    insta::assert_snapshot!(lines(&plan), @r#"
    --input-format stream-json
    --output-format stream-json
    --verbose
    --replay-user-messages
    --permission-mode default
    --permission-prompt-tool stdio
    --settings {"useAutoModeDuringPlan":false}
    "#);
}

#[test]
fn rule_10_bash_in_plan_mode_is_asked_unless_the_caller_says_otherwise() {
    let settings = |options, version| {
        let plan = try_plan(options, &asked(), version).unwrap();
        lines(&plan)
            .lines()
            .find_map(|l| l.strip_prefix("--settings ").map(str::to_owned))
    };
    let own = json!({"useAutoModeDuringPlan": true});
    assert_eq!(
        settings(Options::new().settings(own.clone()), NEW),
        Some(own.to_string())
    );
    assert_eq!(
        settings(Options::new().auto_mode_during_plan(true), NEW),
        None
    );
    assert_eq!(settings(Options::new(), Some(Version::new(2, 1, 62))), None);
    assert!(settings(Options::new(), None).is_some());
}

#[test]
fn model_and_limits() {
    let options = Options::new()
        .model("opus")
        .fallback_model("sonnet")
        .fallback_model("haiku")
        .thinking(Thinking::Adaptive)
        .thinking_display(ThinkingDisplay::Summarized)
        .effort(Effort::High)
        .max_turns(3)
        .max_budget_usd(0.5)
        .task_budget(1000)
        .betas(["a", "b"])
        .json_schema(json!({"type": "object"}));
    insta::assert_snapshot!(added(options), @r#"
    --model opus
    --fallback-model sonnet,haiku
    --thinking adaptive
    --thinking-display summarized
    --effort high
    --max-turns 3
    --max-budget-usd 0.5
    --task-budget 1000
    --betas a,b
    --json-schema {"type":"object"}
    "#);
}

#[test]
fn thinking_by_budget_or_not_at_all() {
    let display = |thinking| {
        added(
            Options::new()
                .thinking(thinking)
                .thinking_display(ThinkingDisplay::Omitted),
        )
    };
    assert_eq!(
        display(Thinking::Budget(2048)),
        "--max-thinking-tokens 2048\n--thinking-display omitted"
    );
    assert_eq!(display(Thinking::Budget(0)), "--thinking disabled");
    assert_eq!(display(Thinking::Disabled), "--thinking disabled");
}

#[test]
fn sessions_use_one_word_for_flag_and_value() {
    let options = Options::new()
        .resume("-odd title")
        .fork_session(true)
        .session_id(UUID)
        .resume_session_at("u1")
        .resume_drops_turn("")
        .persist_session(false)
        .session_mirror(true)
        .name("tidy")
        .setting_sources([]);
    insta::assert_snapshot!(added(options), @r"
    --resume=-odd title
    --fork-session
    --resume-session-at=u1
    --resume-drops-turn=
    --session-id=4f1c2a9e-8a52-4c9b-9a57-2a8f0c1d3e4b
    --no-session-persistence
    --session-mirror
    --name tidy
    --setting-sources 
    ");
}

#[test]
fn a_value_that_leads_with_a_dash_is_no_flag() {
    let options = Options::new()
        .append_system_prompt("- be brief")
        .add_dir("-dir");
    insta::assert_snapshot!(added(options), @r"
    --append-system-prompt=- be brief
    --add-dir=-dir
    ");
}

#[test]
fn permissions_and_tools() {
    let options = Options::new()
        .permission_mode(PermissionMode::Plan)
        .permission_prompts(PermissionPrompts::Host)
        .allow_dangerously_skip_permissions(true)
        .allowed_tools(["Bash(git log:*)", "Read(./src/**)"])
        .skills(Skills::Only(vec!["pdf".into()]))
        .disallowed_tools(["WebFetch"])
        .tools([] as [&str; 0])
        .add_dir("/a")
        .add_dir("/b")
        .bare(true)
        .safe_mode(true)
        .restricted(true);
    assert!(plan(options.clone()).may_bypass);
    insta::assert_snapshot!(added(options), @r"
    --permission-mode plan
    --permission-prompts host
    --allow-dangerously-skip-permissions
    --allowedTools Bash(git log:*),Read(./src/**),Skill(pdf)
    --disallowedTools WebFetch
    --tools 
    --add-dir /a
    --add-dir /b
    --bare
    --safe-mode
    --restricted
    ");
}

#[test]
fn what_initialize_can_carry_travels_there() {
    let options = Options::new()
        .title("Tidy up")
        .skills(Skills::Only(vec!["pdf".into()]))
        .plan_mode_instructions("draw it")
        .tool_alias("Bash", "mcp__x__sh")
        .supported_dialog_kinds(["form"])
        .prompt_suggestions(true)
        .agent_progress_summaries(true)
        .forward_subagent_text(true)
        .per_task_stop_affordance(true)
        .exclude_dynamic_sections(true)
        .system_prompt_snapshot(false)
        .agents("critic", json(json!({"description": "d", "prompt": "p"})));
    let needs = Needs {
        sdk_servers: vec!["calc".into()],
        ..Needs::default()
    };
    let plan = try_plan(options, &needs, NEW).unwrap();
    let initialize: Value = serde_json::to_value(&plan.initialize).unwrap();
    assert_eq!(
        initialize,
        json!({
            "sdkMcpServers": ["calc"], "title": "Tidy up", "skills": ["pdf"],
            "planModeInstructions": "draw it", "toolAliases": {"Bash": "mcp__x__sh"},
            "supportedDialogKinds": ["form"], "promptSuggestions": true,
            "agentProgressSummaries": true, "forwardSubagentText": true,
            "perTaskStopAffordance": true, "excludeDynamicSections": true,
            "systemPromptSnapshot": false,
            "agents": {"critic": {"description": "d", "prompt": "p"}},
        })
    );
    assert!(!lines(&plan).contains("calc"));
}

#[test]
fn an_agent_that_runs_the_session_is_defined_by_flag() {
    let critic = || json(json!({"description": "d", "prompt": "p"}));
    let own = plan(Options::new().agent("critic").agents("critic", critic()));
    assert!(
        lines(&own).contains("--agent critic\n--agents {\"critic\":"),
        "{}",
        lines(&own)
    );
    assert_eq!(own.initialize.agents, None);
    let other = plan(Options::new().agent("reviewer").agents("critic", critic()));
    assert!(other.initialize.agents.is_some());
}

#[test]
fn servers_plugins_and_settings() {
    let options = Options::new()
        .mcp_server("files", json(json!({"command": "srv", "args": ["-x"]})))
        .mcp_config_file("/m.json")
        .strict_mcp_config(true)
        .plugin(json(json!({"type": "local", "path": "/p"})))
        .plugin(json(
            json!({"type": "local", "path": "/q", "skipMcpDiscovery": true}),
        ))
        .disable_slash_commands(true)
        .channels(["c"])
        .settings(json!({"model": "opus"}))
        .sandbox(json!({"enabled": true}))
        .setting_sources([SettingSource::User, SettingSource::Local])
        .managed_settings(json!({"a": 1}))
        .project_config_root("/r");
    insta::assert_snapshot!(added(options), @r#"
    --mcp-config {"mcpServers":{"files":{"command":"srv","args":["-x"]}}}
    --mcp-config /m.json
    --strict-mcp-config
    --plugin-dir /p
    --plugin-dir-no-mcp /q
    --disable-slash-commands
    --channels c
    --setting-sources user,local
    --settings {"model":"opus","sandbox":{"enabled":true}}
    --managed-settings {"a":1}
    --project-config-root /r
    "#);
}

#[test]
fn managed_settings_and_plugins_in_initialize_make_it_the_first_line() {
    let plan = plan(
        Options::new()
            .plugin(json(json!({"type": "local", "path": "/p"})))
            .plugins_in_initialize(true)
            .managed_settings(json!({"a": 1}))
            .managed_settings_in_initialize(true),
    );
    assert_eq!(lines(&plan).matches("--await-initialize").count(), 1);
    assert!(lines(&plan).contains("--managed-settings-in-initialize"));
    assert_eq!(plan.initialize.plugins.unwrap().len(), 1);
    assert_eq!(
        plan.initialize
            .extra
            .get("managedSettings")
            .unwrap()
            .as_str(),
        r#"{"a":1}"#
    );
}

#[test]
fn a_settings_file_is_passed_by_path_or_read_when_something_is_merged() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("s.json");
    let options = || Options::new().settings(file.clone());
    assert_eq!(added(options()), format!("--settings {}", file.display()));
    let sandboxed = || options().sandbox(json!({"enabled": true}));
    assert!(matches!(
        refused(sandboxed()),
        OptionError::SettingsFile { .. }
    ));
    std::fs::write(&file, "[").unwrap();
    assert!(matches!(
        refused(sandboxed()),
        OptionError::SettingsSyntax { .. }
    ));
    std::fs::write(&file, r#"{"model":"opus"}"#).unwrap();
    assert_eq!(
        added(sandboxed()),
        r#"--settings {"model":"opus","sandbox":{"enabled":true}}"#
    );
}

#[test]
fn large_values_leave_the_command_line() {
    let long = "x".repeat(200 * 1024);
    let options = Options::new()
        .system_prompt(long.as_str())
        .append_system_prompt(long.as_str())
        .settings(json!({ "k": long }))
        .mcp_server("m", json(json!({ "command": long })))
        .agent("a")
        .agents("a", json(json!({"description": "d", "prompt": long})))
        .managed_settings(json!({ "k": long }))
        .json_schema(json!({ "description": long }))
        .allowed_tools((0..20_000).map(|n| format!("Bash(command {n}:*)")));
    let plan = plan(options);
    assert!(plan.args.iter().all(|arg| arg.len() <= 100 * 1024));
    assert!(plan.initialize.json_schema.is_some());
    assert!(plan.initialize.extra.get("managedSettings").is_some());
    let flags = "--system-prompt-file --append-system-prompt-file --settings --mcp-config --agents";
    assert_eq!(plan.files.len(), flags.split(' ').count());
    for flag in flags.split(' ') {
        let at = plan.args.iter().position(|arg| arg == flag).unwrap();
        let held = std::fs::read_to_string(&plan.args[at + 1]).unwrap();
        assert!(held.contains(&long), "{flag}");
    }
    let values = |at: usize| plan.args[at + 1].to_str().unwrap();
    let rules: Vec<_> = (0..plan.args.len())
        .filter(|at| plan.args[*at] == "--allowedTools")
        .flat_map(|at| values(at).split(','))
        .collect();
    assert_eq!(rules.len(), 20_000);
    assert_eq!(rules[19_999], "Bash(command 19999:*)");
}

#[test]
#[cfg(unix)]
fn files_are_private_and_go_with_the_plan() {
    use std::os::unix::fs::PermissionsExt as _;
    let secret = json!({"url": "https://x", "type": "http", "headers": {"Authorization": "t0ken"}});
    let plan = plan(Options::new().mcp_server("m", json(secret)));
    assert!(
        !lines(&plan).contains("t0ken"),
        "any user can read arguments"
    );
    let path = plan.files[0].to_path_buf();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    drop(plan);
    assert!(!path.exists());
}

#[test]
fn a_value_that_fits_nowhere_is_refused() {
    let long = "x".repeat(200 * 1024);
    assert!(matches!(
        refused(Options::new().model(long)),
        OptionError::ValueTooLong { .. }
    ));
    let many = Options::new().allowed_tools((0..200_000).map(|n| format!("Bash(c{n})")));
    assert!(matches!(
        refused(many),
        OptionError::ArgumentsTooLong { .. }
    ));
    assert!(matches!(
        refused(Options::new().model("a\0b")),
        OptionError::Nul(_)
    ));
}
