//! The arguments against the real CLIs: one they do not know would end them with exit code 1.

use std::time::Duration;

use countersign_testkit::demand;
use countersign_testkit::fetch::Pinned;
use countersign_testkit::sandbox::{CliStream, Launch, Patience, RunAs, Sandbox};
use tokio::sync::mpsc;

use super::*;

/// What every version from 2.0.75 on takes, with some values too large for the command line.
fn for_all(dir: &std::path::Path) -> Options {
    let long = "x ".repeat(80 * 1024);
    Options::new()
        .model("opus")
        .fallback_model("sonnet")
        .max_turns(3)
        .max_budget_usd(0.5)
        .betas(["context-1m-2025-08-07"])
        .json_schema(json!({"type": "object"}))
        .system_prompt(long.as_str())
        .append_system_prompt(long.as_str())
        .allowed_tools((0..5_000).map(|n| format!("Bash(a-rather-long-command {n}:*)")))
        .disallowed_tools(["WebFetch"])
        .default_tools()
        .add_dir(dir)
        .session_id(UUID)
        .persist_session(false)
        .include_partial_messages(true)
        .enable_auth_status(true)
        .strict_mcp_config(true)
        .mcp_server(
            "m",
            json(json!({"command": "false", "env": {"TOKEN": "t"}})),
        )
        .setting_sources([])
        .sandbox(json!({"enabled": false}))
        .title("Tidy up")
        .agents("critic", json(json!({"description": "d", "prompt": long})))
}

/// Starts the CLI with the plan's arguments and says whether `initialize` was answered, and what stderr said.
async fn greets(
    pinned: &'static Pinned,
    options: Options,
    sandbox: &Sandbox,
) -> Option<(bool, String)> {
    let installed = demand::cli(pinned.version)?;
    let plan = try_plan(options, &asked(), pinned.version.parse().ok()).unwrap();
    let mut request = serde_json::to_value(&plan.initialize).unwrap();
    request["subtype"] = "initialize".into();
    let line = json!({"type": "control_request", "request_id": "r1", "request": request});
    let (said, mut hear) = mpsc::unbounded_channel();
    let words = plan.args.iter().map(|arg| arg.to_str().unwrap().to_owned());
    let start = Launch {
        base_url: "http://127.0.0.1:9".into(),
        flags: words.collect(),
        env: vec![],
    };
    let sink = move |stream, line: Vec<u8>| {
        let _ = said.send((stream, String::from_utf8_lossy(&line).into_owned()));
    };
    let mut cli = sandbox.start(&installed, &start, sink).unwrap();
    cli.write_line(&line.to_string()).await;
    let (mut answered, mut stderr) = (false, String::new());
    let listen = async {
        while let Some((stream, line)) = hear.recv().await {
            match stream {
                CliStream::Stderr => stderr.push_str(&line),
                CliStream::Stdout if line.contains("\"control_response\"") => {
                    answered = line.contains("\"success\"");
                    break;
                }
                CliStream::Stdout => {}
            }
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(60), listen).await;
    cli.end(Patience::default()).await.unwrap();
    Some((answered, stderr))
}

#[tokio::test]
async fn every_measured_cli_takes_the_arguments_of_its_version() {
    for version in ["2.0.75", "2.1.62", "newest"] {
        let sandbox = Sandbox::create(RunAs::Caller).unwrap();
        let mut options = for_all(sandbox.root());
        if version != "2.0.75" {
            options = options.effort(Effort::Low).thinking(Thinking::Adaptive);
            options = options.debug_file(sandbox.tmp().join("debug"));
        }
        if version == "newest" {
            options = options
                .name("n")
                .include_hook_events(true)
                .task_budget(100_000)
                .thinking_display(ThinkingDisplay::Summarized)
                .permission_prompts(PermissionPrompts::Host)
                .session_mirror(true)
                .await_initialize(true)
                .workload("w");
        }
        let Some(pinned) = Pinned::find(version) else {
            continue;
        };
        // A machine without this CLI says so elsewhere.
        if let Some((answered, stderr)) = greets(pinned, options, &sandbox).await {
            assert!(answered, "{version}: {stderr}");
        }
    }
}
