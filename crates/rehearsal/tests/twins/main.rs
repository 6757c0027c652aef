//! Twins: each scenario played on the newest tested CLI with the scripted model, and on the scripted CLI with the same
//! script. After normalising what one table names, the two logs agree, but for a few lines that race in the real CLI.
//!
//! `recorded::` holds the scripted CLI against what the real one was recorded to say, `live::` against what it says now
//! (needs the CLI: `cargo xtask fetch`). `cargo test -p countersign-rehearsal --test twins -- --ignored --nocapture`
//! prints the differences of all scenarios; with `TWIN_LIVE=1` those to the live CLI, with `TWIN_LIVE=self` those of the live
//! CLI to its own recordings, with `TWIN_ONLY=a,b` of some scenarios only.

//! # Adding a scenario
//!
//! 1. Write `scenarios/<name>.scenario` (the language: docs/recordings.md), and name it in `twins!`.
//! 2. Record it: `TWIN_ONLY=<name> cargo test -p countersign-rehearsal --test twins -- --ignored record_own`.
//! 3. `TWIN_LIVE=self TWIN_ONLY=<name>` and the report, a few times: where the real CLI does not agree with itself, the scenario
//!    needs one more `expect`, or a field a row in `table.rs`.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod compare;
mod mutation;
mod normal;
mod order;
mod stage;
mod table;
mod word;

use std::collections::BTreeSet;

use countersign_testkit::sandbox::RunAs;
use countersign_testkit::{demand, drive};

/// Makes two tests per scenario, and a list of them.
macro_rules! twins {
    ($($test:ident $scenario:literal),* $(,)?) => {
        /// The scripted CLI agrees with what the real one was recorded to say.
        mod recorded {
            $(#[tokio::test]
            async fn $test() {
                super::agrees_with_the_recording($scenario).await;
            })*
        }

        /// The scripted CLI agrees with what the real one says now.
        mod live {
            $(#[tokio::test]
            async fn $test() {
                super::agrees_with_the_real_cli($scenario).await;
            })*
        }

        const TESTED: &[&str] = &[$($scenario),*];
    };
}

twins! {
    api_error_retry "api-error-retry",
    ask_user_question "ask-user-question",
    background_agent "background-agent",
    background_bash "background-bash",
    bash_approved "bash-approved",
    bash_denied "bash-denied",
    budget "budget",
    bypass "bypass",
    compaction "compaction",
    control "control",
    fork "fork",
    hooks "hooks",
    interrupt_approval "interrupt-approval",
    interrupt_streaming "interrupt-streaming",
    large_line "large-line",
    lifecycle "lifecycle",
    max_turns "max-turns",
    mcp_in_process "mcp-in-process",
    mode_change "mode-change",
    plain_turn "plain-turn",
    plan_mode "plan-mode",
    resume "resume",
    rules "rules",
    set_model "set-model",
    streaming "streaming",
    structured_output "structured-output",
    sub_agent "sub-agent",
    thinking "thinking",
    write_edit "write-edit",
    allowed_tools "allowed-tools",
    api_error "api-error",
    ask_denied "ask-denied",
    commands "commands",
    deny_interrupt "deny-interrupt",
    hook_decisions "hook-decisions",
    hook_events "hook-events",
    interrupt_tool "interrupt-tool",
    mcp_errors "mcp-errors",
    modes "modes",
    queued "queued",
    resume_unknown "resume-unknown",
    settings_rules "settings-rules",
    stop_reasons "stop-reasons",
    stop_task "stop-task",
    tool_errors "tool-errors",
    two_agents "two-agents",
    added_folder "added-folder",
    continued "continued",
    custom_agent "custom-agent",
    deny_rule_read "deny-rule-read",
    edit_unread "edit-unread",
    edited_input "edited-input",
    hook_denies "hook-denies",
    interrupt_idle "interrupt-idle",
    mcp_allowed "mcp-allowed",
    outside_write "outside-write",
    picture "picture",
    plan_manual "plan-manual",
    read_only_commands "read-only-commands",
    replace_all "replace-all",
    session_rule "session-rule",
    three_turns "three-turns",
    two_calls "two-calls",
    unicode "unicode",
    unknown_controls "unknown-controls",
    write_over "write-over",
    agent_denied "agent-denied",
    agent_model "agent-model",
    agent_stopped "agent-stopped",
    budget_answer "budget-answer",
    given_input "given-input",
    key_refused "key-refused",
    more_folders "more-folders",
    no_query "no-query",
    plugin "plugin",
    server_process "server-process",
}

async fn agrees_with_the_recording(name: &str) {
    let twin = stage::twin(&stage::load(name), &stage::recorded(name)).await;
    assert!(twin.agrees(), "{}", twin.text());
}

async fn agrees_with_the_real_cli(name: &str) {
    let Some(installed) = demand::cli(countersign_testkit::fetch::NEWEST) else {
        return;
    };
    let scenario = stage::load(name);
    let real = stage::real(&scenario, &installed).await;
    let twin = stage::twin(&scenario, &real).await;
    assert!(twin.agrees(), "{}", twin.text());
}

#[test]
fn every_scenario_has_its_twins() {
    let names: BTreeSet<String> = names().into_iter().collect();
    let tested = TESTED.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(names, tested);
    assert!(names.len() >= 20, "{} twins are too few", names.len());
}

fn names() -> Vec<String> {
    let files = stage::scenarios();
    let names = files.iter().map(|file| file.file_stem().unwrap());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}

/// Writes down what the real CLI says in the scenarios of these tests alone, beside them.
#[tokio::test]
#[ignore = "writes recordings; `TWIN_ONLY=a,b` names the scenarios"]
async fn record_own_scenarios() {
    let installed = demand::cli(countersign_testkit::fetch::NEWEST).expect("the real CLI");
    for name in names().into_iter().filter(|name| is_wanted(name)) {
        let file = stage::recording_file(&name);
        if !file.with_extension("scenario").exists() {
            continue;
        }
        let played = drive::play(&stage::load(&name), &installed, RunAs::Caller).await;
        let played = played.unwrap_or_else(|error| panic!("{error}"));
        played.recording().write(&file).unwrap();
        eprintln!("{name}: {} entries", played.entries.len());
    }
}

fn is_wanted(name: &str) -> bool {
    let only = std::env::var("TWIN_ONLY").unwrap_or_default();
    only.is_empty() || only.split(',').any(|wanted| wanted == name)
}

/// The work list: all differences of all scenarios.
#[tokio::test]
#[ignore = "prints a report; the tests of each scenario are above"]
async fn report_of_all_twins() {
    let mode = std::env::var("TWIN_LIVE").unwrap_or_default();
    let live = match &*mode {
        "" => None,
        _ => demand::cli(countersign_testkit::fetch::NEWEST),
    };
    let mut twins = Vec::new();
    for name in names().into_iter().filter(|name| is_wanted(name)) {
        let scenario = stage::load(&name);
        twins.push(match &live {
            Some(installed) if mode == "self" => {
                let real = stage::real(&scenario, installed).await;
                stage::laid_beside(&name, &stage::recorded(&name), &real, None)
            }
            Some(installed) => {
                let real = stage::real(&scenario, installed).await;
                stage::twin(&scenario, &real).await
            }
            None => stage::twin(&scenario, &stage::recorded(&name)).await,
        });
    }
    let differing = twins.iter().filter(|twin| !twin.agrees());
    let texts: String = differing.clone().map(|twin| twin.text() + "\n").collect();
    let agreeing = twins.len() - differing.count();
    let text = format!("{texts}{agreeing} of {} agree\n", twins.len());
    if let Some(file) = std::env::var_os("TWIN_REPORT") {
        std::fs::write(file, &text).unwrap();
    }
    eprintln!("{text}");
}
