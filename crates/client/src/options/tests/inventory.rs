//! The options against the inventory: what an SDK can pass, so can we.

use std::collections::BTreeSet;

use super::*;

/// Everything at once, as far as it goes together.
fn everything() -> Vec<Options> {
    let plugin = |extra: Value| {
        let mut plugin = json!({"type": "local", "path": "/p"});
        plugin
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        json(plugin)
    };
    let most = Options::new()
        .model("a")
        .fallback_model("b")
        .thinking(Thinking::Adaptive)
        .thinking_display(ThinkingDisplay::Omitted)
        .effort(Effort::Max)
        .max_turns(1)
        .max_budget_usd(1.0)
        .task_budget(1)
        .betas(["x"])
        .json_schema(json!({}))
        .system_prompt("s")
        .append_system_prompt("t")
        .permission_prompt_tool("stdio")
        .permission_prompts(PermissionPrompts::Host)
        .allow_dangerously_skip_permissions(true)
        .allowed_tools(["A"])
        .disallowed_tools(["B"])
        .default_tools()
        .add_dir("/a")
        .resume("r")
        .fork_session(true)
        .resume_session_at("u")
        .resume_drops_turn("u")
        .session_id(UUID)
        .persist_session(false)
        .session_mirror(true)
        .include_partial_messages(true)
        .include_hook_events(true)
        .await_initialize(true)
        .debug(true)
        .workload("w")
        .agent("a")
        .mcp_config_file("/m")
        .strict_mcp_config(true)
        .plugin(plugin(json!({})))
        .plugin(plugin(json!({"skipMcpDiscovery": true})))
        .channels(["c"])
        .settings(json!({}))
        .managed_settings(json!({}))
        .setting_sources([])
        .project_config_root("/r")
        .extra_flag("<extra>".trim_matches(['<', '>']));
    vec![
        most,
        Options::new()
            .continue_conversation(true)
            .thinking(Thinking::Budget(1))
            .system_prompt_file("/s")
            .debug_file("/d")
            .managed_settings(json!({}))
            .managed_settings_in_initialize(true),
    ]
}

#[test]
fn every_flag_that_an_sdk_emits_can_be_produced() {
    // `--await-claim`: a process waits for another host to claim it, and there is none here. `--initialize-fields` narrows what
    // the CLI reads of `initialize` at its start; without it, it reads everything.
    let exceptions = ["--await-claim", "--initialize-fields"];
    let inventory: Value =
        serde_json::from_str(include_str!("../../../../wire/inventory.json")).unwrap();
    let produced: BTreeSet<String> = everything()
        .into_iter()
        .flat_map(|options| plan(options).args)
        .filter_map(|arg| arg.into_string().ok())
        .map(|arg| arg.split('=').next().unwrap_or_default().to_owned())
        .collect();
    let emitted = inventory["flags"].as_array().unwrap().iter();
    let missing: Vec<_> = emitted
        .filter(|flag| flag["emitted_by_sdk"] == true)
        .map(|flag| flag["flag"].as_str().unwrap().replace(['<', '>'], ""))
        .filter(|flag| !produced.contains(flag) && !exceptions.contains(&flag.as_str()))
        .collect();
    assert!(missing.is_empty(), "no option produces {missing:?}");
}
