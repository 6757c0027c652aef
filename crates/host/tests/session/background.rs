//! Ground truth §15: sub-agents and work in the background. One table a row.

use serde_json::json;

use countersign_host::control::State;
use countersign_host::session::Input::{Children, Interrupt, SendNow};

use crate::lines::*;
use crate::stage::Do::{A, H, I, Wait};
use crate::stage::{Stage, queue};

fn background(stage: &Stage) -> u32 {
    match stage.core.state() {
        State::Idle { background, .. } => background,
        state => panic!("{state:?}"),
    }
}

#[test]
fn lines_of_a_subagent_carry_its_call_and_explain_silence() {
    let mut stage = Stage::running();
    stage.play([
        (A(tool("t1", "Task")), "running", &[]),
        (A(tool_below("t2", "Bash", Some("t1"))), "running", &[]),
        (A(tool_result("t2")), "running", &[]),
        // The sub-agent itself runs on in silence: its text is not forwarded.
        (Wait(3600), "running", &[]),
        (A(tool_result("t1")), "running", &[]),
        // Now nothing explains it any more.
        (Wait(299), "running", &[]),
        (Wait(1), "stalled", &[]),
        (A(piece()), "running", &[]),
    ]);
}

#[test]
fn can_use_tool_of_a_subagent_needs_a_person_like_any_other() {
    let mut stage = Stage::running();
    let mut question = ask("r1", "Bash");
    question["request"]["agent_id"] = json!("a1");
    stage.play([
        (A(tool("t1", "Task")), "running", &[]),
        (A(question), "needs_you", &[]),
        (H(allow("r1")), "running", &[]),
    ]);
}

#[test]
fn task_started_for_a_foreground_bash_is_no_background_work() {
    let mut stage = Stage::running();
    stage.play([
        (A(tool("t1", "Bash")), "running", &[]),
        (A(task_started("b1", "t1", Some(false))), "running", &[]),
        (A(tool_result("t1")), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
    assert_eq!(background(&stage), 0);
}

#[test]
fn task_started_without_a_word_on_the_background_ends_with_its_call() {
    // 2.1.62 sends no notification for a sub-agent in the foreground.
    let mut stage = Stage::running();
    stage.play([
        (A(tool("t1", "Task")), "running", &[]),
        (A(task_started("a1", "t1", None)), "running", &[]),
        (A(tool_result("t1")), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
    assert_eq!(background(&stage), 0);
}

#[test]
fn background_work_outlives_the_result_and_starts_a_turn_by_itself() {
    let mut stage = Stage::running();
    let launched = tool_result_async("t1", json!({"isAsync": true, "status": "async_launched"}));
    stage.play([
        (A(tool("t1", "Task")), "running", &[]),
        (A(background_tasks(&["a1"])), "running", &[]),
        (A(task_started("a1", "t1", Some(true))), "running", &[]),
        (A(launched), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
    assert_eq!(background(&stage), 1);
    stage.play([
        // No sleep with work in the background, however long it takes.
        (Wait(7200), "idle", &[]),
        (A(task_updated("a1", "completed")), "idle", &[]),
        (A(task_over("a1")), "idle", &[]),
        (A(background_tasks(&[])), "idle", &[]),
        (A(init()), "running", &[]),
        (A(text("It is done.")), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
    assert_eq!(background(&stage), 0);
}

#[test]
fn background_bash_of_2_1_62_is_known_by_its_structured_result() {
    let mut stage = Stage::running();
    let launched = tool_result_async("t1", json!({"stdout": "", "backgroundTaskId": "b1"}));
    stage.play([
        (A(tool("t1", "Bash")), "running", &[]),
        (A(task_started("b1", "t1", None)), "running", &[]),
        (A(launched), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
    assert_eq!(background(&stage), 1);
    stage.play([
        (A(task_over("b1")), "idle", &[]),
        (A(init()), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
}

#[test]
fn background_work_of_2_0_75_tells_nothing_and_is_found_among_the_children() {
    let mut stage = Stage::running();
    stage.play([
        (A(tool("t1", "Bash")), "running", &[]),
        (A(tool_result("t1")), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
        (Wait(1800), "idle", &["look at children"]),
        (I(Children { others: 1 }), "idle", &[]),
        (Wait(1799), "idle", &[]),
        (Wait(1), "idle", &["look at children"]),
        (I(Children { others: 0 }), "ending", &["end"]),
    ]);
}

#[test]
fn a_background_subagent_of_2_1_62_withholds_the_result_two_inits_one_result() {
    let mut stage = Stage::running();
    stage.play([
        (A(tool("t1", "Task")), "running", &[]),
        (A(init()), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
}

#[test]
fn can_use_tool_can_arrive_after_the_result() {
    let mut stage = Stage::running();
    stage.play([
        (A(tool("t1", "Task")), "running", &[]),
        (A(task_started("a1", "t1", Some(true))), "running", &[]),
        (A(tool_result("t1")), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
        (Wait(2), "idle", &[]),
        (A(tool_below("t2", "Bash", Some("t1"))), "idle", &[]),
        (A(ask("r1", "Bash")), "needs_you", &[]),
        // Nothing is sent in between by itself, but a person may want it.
        (I(queue(&[2, 3])), "needs_you", &[]),
        (I(SendNow(message(3))), "needs_you", &["send 3"]),
        (I(queue(&[2])), "needs_you", &[]),
        (H(user(3)), "needs_you", &[]),
        (A(init()), "needs_you", &[]),
        (A(replay(3)), "needs_you", &[]),
        (A(result_ok()), "needs_you", &["turn ended well"]),
        (H(allow("r1")), "running", &["send 2"]),
    ]);
}

#[test]
fn the_answer_after_the_result_works_and_a_self_started_turn_follows() {
    let mut stage = Stage::running();
    stage.play([
        (A(background_tasks(&["a1"])), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
        (A(ask("r1", "Bash")), "needs_you", &[]),
        (H(allow("r1")), "idle", &[]),
        (A(background_tasks(&[])), "idle", &[]),
        (A(init()), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
}

#[test]
fn interrupt_while_idle_with_a_background_subagent_alive_kills_it_on_new_clis() {
    let mut stage = Stage::running();
    stage.play([
        (A(background_tasks(&["a1"])), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
        (I(Interrupt), "idle", &["interrupt"]),
        (A(interrupt_taken(true)), "idle", &[]),
        (A(task_updated("a1", "killed")), "idle", &[]),
    ]);
    assert_eq!(background(&stage), 0);
}

#[test]
fn interrupt_while_idle_with_a_background_subagent_alive_does_nothing_on_old_clis() {
    let mut stage = Stage::running();
    stage.play([
        (A(tool("t1", "Task")), "running", &[]),
        (A(task_started("a1", "t1", None)), "running", &[]),
        (
            A(tool_result_async("t1", json!({"isAsync": true}))),
            "running",
            &[],
        ),
        (A(result_ok()), "idle", &["turn ended well"]),
        (I(Interrupt), "idle", &["interrupt"]),
        (A(interrupt_taken(false)), "idle", &[]),
        (Wait(60), "idle", &[]),
    ]);
    assert_eq!(background(&stage), 1);
}

#[test]
fn a_message_sent_while_a_turn_starts_by_itself_keeps_its_own_turn() {
    let mut stage = Stage::idle();
    stage.play([
        (I(queue(&[1])), "running", &["send 1"]),
        (I(queue(&[])), "running", &[]),
        // The CLI's own turn was faster; the message runs after it.
        (A(init()), "running", &[]),
        (H(user(1)), "running", &[]),
        (A(result_ok()), "running", &["turn ended well"]),
        (A(init()), "running", &[]),
        (A(replay(1)), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
}

#[test]
fn a_foreground_task_that_goes_to_the_background_counts() {
    let mut stage = Stage::running();
    let moved = json!({"type": "system", "subtype": "task_updated", "task_id": "b1",
        "patch": {"is_backgrounded": true}});
    stage.play([
        (A(tool("t1", "Bash")), "running", &[]),
        (A(task_started("b1", "t1", Some(false))), "running", &[]),
        (A(moved), "running", &[]),
        (A(tool_result("t1")), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
    assert_eq!(background(&stage), 1);
}
