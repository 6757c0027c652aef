//! What is refused before anything starts, what is only said, and what is never shown.

use super::*;

#[test]
fn options_that_exclude_each_other_are_refused() {
    let texts: Vec<String> = [
        Options::new().model("opus").fallback_model("opus"),
        Options::new().continue_conversation(true).resume("x"),
        Options::new().resume(" "),
        Options::new().resume("x").session_id(UUID),
        Options::new().continue_conversation(true).session_id(UUID),
        Options::new().resume_session_at("u"),
        Options::new().session_id("7"),
        Options::new().session_id(UUID.replace('-', "")),
        Options::new().max_turns(0),
        Options::new().max_budget_usd(0.0),
        Options::new().max_budget_usd(f64::NAN),
        Options::new().json_schema(json!(true)),
        Options::new().settings(json!([])),
        Options::new().mcp_server("x", json(json!({"type": "sdk", "name": "x"}))),
        Options::new().cwd("/nowhere/at/all"),
    ]
    .into_iter()
    .map(|options| refused(options).to_string())
    .collect();
    insta::assert_snapshot!(texts.join("\n"), @r#"
    fallback_model "opus" is the model itself: name another one, or leave it out
    continue_conversation and resume exclude each other: choose one
    resume is empty: give the id of a session, or use continue_conversation
    session_id with resume or continue_conversation needs fork_session(true)
    session_id with resume or continue_conversation needs fork_session(true)
    resume_session_at needs resume: say which session
    session_id "7" is not a UUID such as 4f1c2a9e-8a52-4c9b-9a57-2a8f0c1d3e4b
    session_id "4f1c2a9e8a524c9b9a572a8f0c1d3e4b" is not a UUID such as 4f1c2a9e-8a52-4c9b-9a57-2a8f0c1d3e4b
    max_turns is 0: give at least 1, or leave it out for no limit
    max_budget_usd is 0: give more than 0, or leave it out for no limit
    max_budget_usd is NaN: give more than 0, or leave it out for no limit
    json_schema must be a JSON object
    settings must be a JSON object
    MCP server "x" is of type sdk, but no server of that name is mounted: mount it, or drop it
    there is no folder at /nowhere/at/all: create it, or choose another working directory
    "#);
}

#[test]
fn a_prompt_tool_beside_a_handler_is_refused() {
    let options = || Options::new().permission_prompt_tool("mcp__x__ask");
    let both = try_plan(options(), &asked(), NEW).unwrap_err();
    assert!(matches!(both, OptionError::PromptToolWithHandler(_)));
    assert_eq!(added(options()), "--permission-prompt-tool mcp__x__ask");
}

#[test]
fn servers_in_process_and_as_a_process_may_not_share_a_name() {
    let needs = Needs {
        sdk_servers: vec!["x".into()],
        ..Needs::default()
    };
    let clash = Options::new().mcp_server("x", json(json!({"command": "c"})));
    let clash = try_plan(clash, &needs, NEW).unwrap_err();
    assert!(matches!(clash, OptionError::DuplicateServer(_)));
    let same = Options::new().mcp_server("x", json(json!({"type": "sdk", "name": "x"})));
    let plan = try_plan(same, &needs, NEW).unwrap();
    assert!(!lines(&plan).contains("--mcp-config"));
    assert_eq!(plan.initialize.sdk_mcp_servers, Some(vec!["x".to_owned()]));
}

#[test]
fn extra_arguments_are_passed_but_not_those_that_are_ours_or_nobodys() {
    let options = Options::new()
        .extra_flag("brief")
        .extra_arg("--advisor", "-x")
        .extra_arg("ref", "v");
    assert_eq!(added(options), "--brief\n--advisor=-x\n--ref v");
    let text = |flag: &str| refused(Options::new().extra_flag(flag)).to_string();
    assert_eq!(text("cwd"), "no claude CLI has --cwd: use the option cwd");
    assert!(text("--additional-directories").ends_with("use the option add_dir"));
    assert!(text("--enable-file-checkpointing").ends_with("use the option file_checkpointing"));
    assert!(text("--output-format").contains("is set by this library"));
    assert!(text("a b").contains("is no flag"));
    assert!(text("--").contains("is no flag"));
}

#[test]
fn a_flag_that_the_version_lacks_is_refused_before_anything_starts() {
    let old = Some(Version::new(2, 0, 75));
    let error = try_plan(Options::new().effort(Effort::Low), &Needs::default(), old).unwrap_err();
    insta::assert_snapshot!(
        error,
        @"option effort needs --effort, which starts with 2.1.62; this CLI is 2.0.75: update it, or drop the option"
    );
    let between = Some(Version::new(2, 1, 100));
    let plan = try_plan(Options::new().name("n"), &Needs::default(), between).unwrap();
    let warning = plan.warnings[0].to_string();
    assert_eq!(
        warning,
        "--name may be unknown to CLI 2.1.100, which would end"
    );
    let quiet = try_plan(Options::new().title("t"), &Needs::default(), old).unwrap();
    assert_eq!(
        quiet.warnings[0].to_string(),
        "CLI 2.0.75 ignores title of initialize: update it"
    );
}

#[test]
fn the_version_is_needed_only_for_options_that_depend_on_it() {
    assert!(!Options::new().needs_version());
    assert!(
        !Options::new()
            .model("opus")
            .system_prompt("x")
            .resume("y")
            .needs_version()
    );
    assert!(Options::new().effort(Effort::Low).needs_version());
    assert!(Options::new().include_hook_events(true).needs_version());
}

#[test]
fn what_keeps_the_handler_from_being_asked_is_said() {
    let warnings = |options| try_plan(options, &asked(), NEW).unwrap().warnings;
    let mode = |mode: &str| Warning::ModeNeverAsks { mode: mode.into() };
    let bypass = Options::new().permission_mode(PermissionMode::BypassPermissions);
    assert_eq!(warnings(bypass.clone()), [mode("bypassPermissions")]);
    assert_eq!(
        warnings(Options::new().permission_mode(PermissionMode::DontAsk)),
        [mode("dontAsk")]
    );
    let skip = mode("--dangerously-skip-permissions");
    assert_eq!(
        warnings(Options::new().dangerously_skip_permissions(true)),
        std::slice::from_ref(&skip)
    );
    assert_eq!(
        warnings(Options::new().extra_flag("dangerously-skip-permissions")),
        [skip]
    );
    let none = Options::new().permission_prompts(PermissionPrompts::None);
    assert_eq!(warnings(none), [Warning::PromptsNone]);
    let rules = [
        "Bash",
        "Edit(*)",
        "Read(./a)",
        "mcp__x__y",
        "Bash(:*)",
        "Bash(ls:*)",
    ];
    let whole = ["Bash", "Edit(*)", "mcp__x__y", "Bash(:*)"]
        .map(str::to_owned)
        .to_vec();
    assert_eq!(
        warnings(Options::new().allowed_tools(rules)),
        [Warning::RulesNeverAsk { rules: whole }]
    );
    assert_eq!(warnings(Options::new()), []);
    assert_eq!(plan(bypass).warnings, [], "nobody waits to be asked");
}

#[test]
fn root_may_not_bypass_unless_in_a_sandbox() {
    let root = Surroundings {
        root: true,
        ..Surroundings::default()
    };
    let warnings = |options: Options| {
        launch(&options, &Needs::default(), &located(), NEW, &root, None)
            .unwrap()
            .warnings
    };
    let options = || Options::new().allow_dangerously_skip_permissions(true);
    assert_eq!(warnings(options()), [Warning::BypassAsRoot]);
    assert_eq!(warnings(options().env("IS_SANDBOX", "1")), []);
    assert_eq!(warnings(Options::new()), []);
}

#[test]
fn smaller_oddities_are_said() {
    let twice = plan(Options::new().debug(true).debug_file("/d"));
    assert_eq!(twice.warnings, [Warning::DebugTwice]);
    assert!(!lines(&twice).contains("--debug\n"));
    assert_eq!(
        plan(Options::new().fork_session(true)).warnings,
        [Warning::ForkWithoutResume]
    );
    let hooks = Needs {
        hooks: true,
        ..Needs::default()
    };
    let edits = || Options::new().permission_mode(PermissionMode::AcceptEdits);
    let unknown = try_plan(edits(), &hooks, None).unwrap();
    assert!(matches!(
        unknown.warnings[..],
        [Warning::HooksFailOpen { .. }]
    ));
    assert_eq!(try_plan(edits(), &hooks, NEW).unwrap().warnings, []);
}

#[test]
fn debug_shows_no_secrets() {
    let options = Options::new()
        .env("ANTHROPIC_API_KEY", "sk-secret")
        .settings(json!({"apiKeyHelper": "sk-secret"}))
        .managed_settings(json!({"x": "sk-secret"}))
        .mcp_server("m", json(json!({"command": "c", "args": ["sk-secret"]})))
        .agents(
            "a",
            json(json!({"description": "d", "prompt": "sk-secret"})),
        )
        .agent("a")
        .extra_arg("token", "sk-secret")
        .extra_arg("dashed", "-sk-secret")
        .append_system_prompt("sk-secret");
    assert!(!format!("{options:?}").contains("sk-secret"), "{options:?}");
    let plan = plan(options);
    assert!(lines(&plan).contains("sk-secret"));
    assert!(!format!("{plan:?}").contains("sk-secret"), "{plan:?}");
}

#[test]
fn the_environment_and_the_folder_are_those_of_the_options() {
    let dir = tempfile::tempdir().unwrap();
    let needs = Needs {
        marker: Some("m1".into()),
        ..Needs::default()
    };
    let options = Options::new().cwd(dir.path()).file_checkpointing(true);
    let plan = try_plan(options, &needs, NEW).unwrap();
    assert_eq!(plan.cwd.as_deref(), Some(dir.path()));
    assert_eq!(plan.env.get("PWD"), Some(dir.path().as_os_str()));
    assert_eq!(plan.env.get(MARKER).unwrap(), "m1");
    assert_eq!(
        plan.env
            .get("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING")
            .unwrap(),
        "1"
    );
}
