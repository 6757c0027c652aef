//! The records of a played session have the shapes of measured ones.

use std::time::Duration;

use serde_json::json;

use super::events::synthetic_message;
use super::shapes::{MEASURED, check};
use super::*;
use crate::cli::disk::stage::{Block, FORK, MODEL, SESSION, Stage};

const DONE: Option<Denial> = None;

#[test]
fn a_plain_conversation() {
    check("plain-turn", |stage| {
        for (prompt, answer) in [
            ("Good morning", "Hello."),
            ("And once more", "A second turn."),
        ] {
            stage.turn(prompt);
            stage.say(answer);
            stage.scribe.turn_ended();
        }
    });
}

#[test]
fn tools_that_run() {
    check("bash-approved", |stage| {
        stage.turn("Make a file");
        stage.answer(
            Who::Main,
            &[Block::Text("I will."), Block::Call("Bash", "t1")],
        );
        stage.result(Who::Main, "Bash", "t1", DONE);
        stage.say("The file is there.");
    });
    check("write-edit", |stage| {
        stage.turn("Write and edit");
        for (tool, id) in [
            ("Write", "t1"),
            ("Read", "t2"),
            ("Edit", "t3"),
            ("Edit", "t4"),
        ] {
            stage.use_tool(tool, id);
        }
        stage.say("Written and edited.");
    });
    check("mcp-in-process", |stage| {
        stage.turn("Add two and three");
        stage.use_tool("mcp__calc__add", "t1");
        stage.use_tool("mcp__calc__echo", "t2");
        stage.say("Five, and hello.");
    });
}

#[test]
fn tools_that_do_not_run() {
    check("bash-denied", |stage| {
        stage.turn("Make a file");
        stage.answer(Who::Main, &[Block::Call("Bash", "t1")]);
        stage.result(Who::Main, "Bash", "t1", Some(Denial::Host));
        stage.say("I did not.");
        stage.turn("Try again");
        stage.answer(Who::Main, &[Block::Call("Bash", "t2")]);
        stage.result(Who::Main, "Bash", "t2", Some(Denial::Interrupted));
        stage.aside(
            Who::Main,
            "[Request interrupted by user for tool use]",
            Aside::Plain,
        );
    });
}

const HELPER: &str = "a3571acfcbda5fccf";

pub(super) fn sub_agent(stage: &mut Stage) {
    let note = AgentNote {
        kind: "general-purpose".to_owned(),
        built_in: true,
        description: "Count files".to_owned(),
        tool_use_id: "t1".to_owned(),
        depth: 1,
        background: false,
        model: MODEL.to_owned(),
    };
    stage.scribe.agent_started(HELPER, note);
    let who = Who::Agent(HELPER);
    stage.aside(who, "Please count the files here", Aside::Plain);
    stage.answer(
        who,
        &[Block::Text("Counting now."), Block::Call("Bash", "t2")],
    );
    stage.result(who, "Bash", "t2", DONE);
    stage.answer(who, &[Block::Text("There is one file.")]);
    stage.scribe.agent_finished(HELPER);
    stage.result(Who::Main, "Task", "t1", DONE);
}

#[test]
fn a_sub_agent_has_a_file_of_its_own() {
    check("sub-agent", |stage| {
        stage.turn("How many files are there?");
        stage.answer(
            Who::Main,
            &[
                Block::Text("I will send someone."),
                Block::Call("Task", "t1"),
            ],
        );
        sub_agent(stage);
        stage.say("They found one file.");
    });
}

#[test]
fn parallel_calls_and_a_fork_of_them() {
    check("parallel-and-fork", |stage| {
        stage.turn("How many files are there?");
        let blocks = [
            Block::Think("hm"),
            Block::Text("I will send someone."),
            Block::Call("Task", "t1"),
        ];
        stage.answer(Who::Main, &blocks);
        sub_agent(stage);
        stage.answer(
            Who::Main,
            &[Block::Call("Bash", "t3"), Block::Call("Bash", "t4")],
        );
        stage.result(Who::Main, "Bash", "t3", DONE);
        stage.result(Who::Main, "Bash", "t4", DONE);
        stage.say("They found one file.");
        stage.scribe.renamed("Birds and numbers");
        stage.end();
        let past = stage.past();
        stage.fork(&past);
        stage.turn("Which?");
        stage.say("Again.");
    });
}

#[test]
fn a_session_that_is_resumed() {
    check("resume", |stage| {
        stage.turn("Remember the word heron");
        stage.say("I will.");
        stage.end();
        let past = stage.past();
        stage.resume(&past);
        stage.turn("Which word?");
        stage.say("The word was heron.");
    });
    check("resume-at", |stage| {
        stage.turn("Say one");
        let first = stage.say("One.");
        stage.turn("Say two");
        stage.say("Two.");
        stage.end();
        let past = stage.past().cut_at(&first, None).unwrap();
        stage.resume(&past);
        stage.turn("Say three");
        stage.say("Three.");
    });
}

#[test]
fn a_session_that_was_cut_off_is_rounded_off() {
    check("cut-off", |stage| {
        stage.prompt("Make a file", Origin::Host { named: false });
        stage.answer(
            Who::Main,
            &[Block::Text("I will."), Block::Call("Bash", "t1")],
        );
        stage.flush();
        // The measured file began without this note.
        let kept: String = stage
            .text(SESSION)
            .lines()
            .filter(|line| !line.contains("tools-used"))
            .fold(String::new(), |text, line| text + line + "\n");
        std::fs::write(stage.places.transcript(SESSION), kept).unwrap();
        let past = stage.past();
        stage.resume(&past);
        stage.turn("go on");
        stage.say("Two.");
    });
}

#[test]
fn interrupts() {
    check("interrupt-streaming", |stage| {
        stage.turn("Tell me a long story");
        let message = json!({"content": [{"type": "text", "text": "and so on"}], "id": "msg_1", "model": MODEL});
        stage.with(|scribe, moment| {
            let said = Said {
                moment,
                message: &message,
                index: 0,
                request: "r",
                effort: Some("medium"),
                aborted: true,
            };
            scribe.said(Who::Main, &[said]);
        });
        stage.aside(Who::Main, "[Request interrupted by user]", Aside::Plain);
        stage.turn("Are you there?");
        stage.say("Ready again.");
    });
    check("interrupt-approval", |stage| {
        stage.turn("Make a file");
        stage.answer(Who::Main, &[Block::Call("Bash", "t1")]);
        stage.result(Who::Main, "Bash", "t1", Some(Denial::Interrupted));
        stage.aside(
            Who::Main,
            "[Request interrupted by user for tool use]",
            Aside::Plain,
        );
        stage.turn("Are you there?");
        stage.say("Ready again.");
    });
}

fn local_command(stage: &mut Stage, name: &str) {
    stage.aside(
        Who::Main,
        "<local-command-caveat>…</local-command-caveat>",
        Aside::Meta,
    );
    stage.aside(
        Who::Main,
        &format!("<command-name>/{name}</command-name>"),
        Aside::Plain,
    );
}

#[test]
fn a_compaction() {
    check("compaction", |stage| {
        stage.turn("Remember the word heron");
        stage.say("The word is heron.");
        stage.receive("/compact");
        let id = stage.uuid();
        stage.scribe.carries_out(&id);
        stage.scribe.set_slug("sunny-drifting-fern");
        let metadata = json!({"trigger": "manual", "preTokens": 105});
        stage.with(|scribe, moment| scribe.compacted(moment, &metadata));
        stage.aside(Who::Main, "The summary: a heron.", Aside::Summary);
        local_command(stage, "compact");
        stage.aside(
            Who::Main,
            "<local-command-stdout>Compacted </local-command-stdout>",
            Aside::Plain,
        );
        stage.turn("What did we speak of?");
        stage.say("We spoke of a heron.");
    });
}

#[test]
fn a_new_title_between_turns() {
    check("rename", |stage| {
        stage.turn("Remember the word heron");
        stage.say("One.");
        stage.scribe.renamed("Birds and numbers");
        stage.turn("And now?");
        stage.say("Two.");
    });
}

#[test]
fn a_message_that_is_folded_into_the_running_turn() {
    check("folded", |stage| {
        stage.turn("Say one");
        stage.answer(Who::Main, &[Block::Call("Bash", "t1")]);
        stage.scribe.enqueued(Duration::ZERO, Some("folded"));
        stage.result(Who::Main, "Bash", "t1", Some(Denial::Host));
        stage
            .scribe
            .absorbed(Duration::ZERO, "folded", Some("u"), "d");
        stage.attach("queued_command", Some("The user sent a new message"));
        stage.scribe.enqueued(Duration::ZERO, Some("later"));
        stage.say("Two.");
        stage.scribe.dequeued(Duration::ZERO);
        stage.prompt("later", Origin::Host { named: true });
        stage.say("Three.");
    });
}

#[test]
fn a_turn_that_a_task_begins() {
    check("background-bash", |stage| {
        stage.turn("Work in the back");
        stage.use_tool("Bash", "t1");
        stage.say("It runs in the background.");
        stage.receive("<task-notification>");
        stage.prompt("<task-notification>", Origin::Task { run: "r" });
        stage.say("It is finished.");
    });
}

#[test]
fn what_hooks_and_limits_leave() {
    check("hooks", |stage| {
        stage.turn("Say one");
        stage.attach("hook_additional_context", Some("it rains"));
        stage.answer(Who::Main, &[Block::Call("Bash", "t1")]);
        stage.attach("hook_system_message", None);
        stage.attach("hook_additional_context", Some("it snows"));
        stage.result(Who::Main, "Bash", "t1", DONE);
        stage.say("Two.");
        stage.with(|scribe, moment| scribe.stop_hooks(moment, 1, &[], "h"));
    });
    check("structured-output", |stage| {
        stage.turn("Fill it in");
        stage.answer(Who::Main, &[Block::Call("StructuredOutput", "t1")]);
        let block =
            json!({"type": "tool_result", "content": "no", "is_error": true, "tool_use_id": "t1"});
        let message = json!({"role": "user", "content": [block]});
        let (structured, decision) = (
            json!("Error: no"),
            json!({"decision": "accept", "source": "config"}),
        );
        stage.with(|scribe, moment| {
            let reported = Reported {
                tool: "StructuredOutput",
                tool_use_id: "t1",
                message: &message,
                structured: Some(&structured),
                denial: None,
                decision: Some(&decision),
            };
            scribe.reported(Who::Main, moment, &reported);
        });
        stage.answer(Who::Main, &[Block::Call("StructuredOutput", "t2")]);
        stage.attach("structured_output", None);
        stage.result(Who::Main, "StructuredOutput", "t2", DONE);
    });
    check("max-turns", |stage| {
        stage.turn("Loop");
        stage.use_tool("Bash", "t1");
        stage.use_tool("Bash", "t2");
        stage.attach("max_turns_reached", None);
        stage.turn("Are you there?");
        stage.say("Still here.");
    });
}

#[test]
fn errors_of_the_service() {
    check("api-error", |stage| {
        stage.turn("Are you there?");
        let (level, error, number, source) = (
            json!("error"),
            json!({"status": 529}),
            json!(1),
            json!("request_retry"),
        );
        for _ in 0..2 {
            let before = [
                ("level", &level),
                ("error", &error),
                ("retryInMs", &number),
                ("retryAttempt", &number),
                ("maxRetries", &number),
                ("source", &source),
            ];
            stage.with(|scribe, moment| scribe.system(moment, "api_error", &before, &[]));
        }
        stage.say("Sorry for the delay.");
        stage.turn("Once more");
        let message = synthetic_message("m", "API Error: 400 No.");
        let value = json!(null);
        let fields = [
            "requestId",
            "error",
            "isApiErrorMessage",
            "apiErrorStatus",
            "apiErrorType",
            "perTurnEffort",
            "failedResponseHadNoToolCall",
        ];
        let fields = fields.map(|key| (key, &value));
        stage.with(|scribe, moment| scribe.failed(moment, &message, &fields));
    });
}

#[test]
fn commands_and_a_conversation_that_is_cleared() {
    check("clear", |stage| {
        stage.turn("Say one");
        stage.say("One.");
        stage.receive("/hello bob");
        stage.prompt(
            "<command-name>/hello</command-name>",
            Origin::Command { name: "hello" },
        );
        let message =
            json!({"role": "user", "content": [{"type": "text", "text": "Say hello to bob\n"}]});
        stage.with(|scribe, moment| scribe.aside(Who::Main, moment, &message, Aside::Companion));
        stage.attach("command_permissions", None);
        stage.say("Two.");
        stage.receive("/cost");
        let id = stage.uuid();
        stage.scribe.carries_out(&id);
        local_command(stage, "usage");
        stage.with(|scribe, moment| scribe.local_command(moment, "usage", "", "$0"));
        stage.receive("/clear");
        stage.scribe.cleared(FORK);
        local_command(stage, "clear");
        stage.with(|scribe, moment| scribe.local_command(moment, "clear", "", ""));
        stage.receive("Say three");
        stage.scribe.set_slug("say-three-tidy-brook");
        stage.prompt("Say three", Origin::Host { named: false });
        stage.attach("plan_mode", Some("Plan mode is active."));
        stage.say("Three.");
    });
}

#[test]
fn plan_mode() {
    check("plan-mode", |stage| {
        stage.scribe.set_slug("plan-a-greeting-calm-otter");
        stage.turn("Plan a greeting");
        stage.attach("plan_mode", Some("Plan mode is active."));
        stage.answer(
            Who::Main,
            &[Block::Text("I plan first."), Block::Call("Write", "t1")],
        );
        stage.result(Who::Main, "Write", "t1", DONE);
        stage.answer(Who::Main, &[Block::Call("ExitPlanMode", "t2")]);
        stage.result(Who::Main, "ExitPlanMode", "t2", Some(Denial::Host));
        stage.use_tool("ExitPlanMode", "t3");
        stage.attach("plan_mode_exit", Some("Exited."));
        stage.use_tool("Write", "t4");
        stage.say("Done as planned.");
    });
}

#[test]
fn files_that_are_remembered() {
    check("checkpoint", |stage| {
        let backup = json!({"backupFileName": null, "version": 1});
        let named = Origin::Host { named: true };
        stage.receive("go");
        let message = stage.prompt("go", named);
        let remember = |stage: &mut Stage, message: &str| {
            stage.scribe.remembered(message, Duration::ZERO, &json!({}));
        };
        remember(stage, &message);
        stage.use_tool("Read", "t1");
        for (tool, id) in [("Edit", "t2"), ("Write", "t3")] {
            let call = stage.answer(Who::Main, &[Block::Call(tool, id)]).remove(0);
            let caller = Moment {
                uuid: &call,
                at: Duration::ZERO,
            };
            stage
                .scribe
                .remembered_file(caller, &message, "a.txt", &backup);
            stage.result(Who::Main, tool, id, DONE);
        }
        stage.say("Two.");
        stage.receive("more");
        let message = stage.prompt("more", named);
        stage.say("Three.");
        remember(stage, &message);
    });
}

#[test]
fn every_measured_scenario_is_played_here() {
    let headings = MEASURED
        .lines()
        .filter_map(|line| line.strip_prefix('[')?.strip_suffix(']'));
    let source = include_str!("tests.rs");
    for heading in headings.filter(|heading| *heading != "notes") {
        assert!(source.contains(&format!("\"{heading}\"")), "{heading}");
    }
}
