//! Ground truth §9: interrupts, withdrawn questions, messages during a turn. One table a row.

use serde_json::json;

use countersign_host::session::Input::{
    Attached, CaughtUp, HostBegan, Interrupt, ReleaseQueue, SendNow,
};

use crate::lines::*;
use crate::stage::Do::{A, H, I, Wait};
use crate::stage::{Stage, queue};

#[test]
fn interrupt_while_idle_is_answered_and_no_result_follows() {
    for mut stage in [Stage::idle(), {
        let mut stage = Stage::running();
        stage.agent(result_ok());
        stage
    }] {
        stage.play([
            (I(Interrupt), "idle", &[]),
            (H(interrupt()), "idle", &[]),
            (A(interrupt_taken(true)), "idle", &[]),
            (Wait(60), "idle", &[]),
        ]);
    }
}

#[test]
fn interrupt_while_text_streams() {
    for is_new in [true, false] {
        let mut stage = Stage::running();
        stage.play([
            (A(piece()), "running", &[]),
            (I(Interrupt), "running", &["interrupt"]),
            (H(interrupt()), "running", &[]),
            (A(interrupt_taken(is_new)), "running", &[]),
            (A(marker("[Request interrupted by user]")), "running", &[]),
            (A(result_aborted(is_new)), "idle", &["turn interrupted"]),
        ]);
        assert!(stage.core.reason().contains("interrupted"));
        assert!(!stage.core.is_cut_off());
    }
}

#[test]
fn interrupt_while_bash_runs() {
    for is_new in [true, false] {
        let mut stage = Stage::running();
        stage.play([
            (A(tool("t1", "Bash")), "running", &[]),
            (I(Interrupt), "running", &["interrupt"]),
            (H(interrupt()), "running", &[]),
            (A(interrupt_taken(is_new)), "running", &[]),
            (A(tool_result("t1")), "running", &[]),
            (
                A(marker("[Request interrupted by user for tool use]")),
                "running",
                &[],
            ),
            (A(result_aborted(is_new)), "idle", &["turn interrupted"]),
        ]);
    }
}

#[test]
fn interrupt_while_can_use_tool_is_pending() {
    for is_new in [true, false] {
        let mut stage = Stage::running();
        stage.play([
            (A(tool("t1", "Bash")), "running", &[]),
            (A(ask("r1", "Bash")), "needs_you", &[]),
            (I(Interrupt), "needs_you", &["interrupt"]),
            (H(interrupt()), "needs_you", &[]),
            (A(cancel("r1")), "running", &[]),
            (A(interrupt_taken(is_new)), "running", &[]),
            (A(tool_result("t1")), "running", &[]),
            (A(result_aborted(is_new)), "idle", &["turn interrupted"]),
            // A late answer to a withdrawn question is ignored.
            (H(allow("r1")), "idle", &[]),
        ]);
    }
}

#[test]
fn interrupt_while_two_subagents_are_pending() {
    let mut stage = Stage::running();
    stage.play([
        (A(tool("t1", "Task")), "running", &[]),
        (A(tool("t2", "Task")), "running", &[]),
        (A(task_started("a1", "t1", Some(false))), "running", &[]),
        (A(task_started("a2", "t2", Some(false))), "running", &[]),
        (A(ask("r1", "Bash")), "needs_you", &[]),
        (A(ask("r2", "Bash")), "needs_you", &[]),
    ]);
    assert_eq!(stage.core.open_questions(), 2);
    stage.play([
        (I(Interrupt), "needs_you", &["interrupt"]),
        (H(interrupt()), "needs_you", &[]),
        (A(cancel("r1")), "needs_you", &[]),
        (A(cancel("r2")), "running", &[]),
        (A(interrupt_taken(true)), "running", &[]),
        (A(task_updated("a1", "killed")), "running", &[]),
        (A(task_updated("a2", "killed")), "running", &[]),
        (A(result_aborted(true)), "idle", &["turn interrupted"]),
    ]);
}

#[test]
fn error_during_execution_that_nobody_asked_for_is_a_failure() {
    for is_error in [true, false] {
        let mut stage = Stage::running();
        let result =
            json!({"type": "result", "subtype": "error_during_execution", "is_error": is_error});
        stage.play([(A(result), "failed", &["turn failed"])]);
    }
}

#[test]
fn terminal_reason_aborted_is_an_interrupt_whoever_made_it() {
    let mut stage = Stage::running();
    stage.play([(A(result_aborted(true)), "idle", &["turn interrupted"])]);
}

#[test]
fn control_cancel_request_of_the_cli_withdraws_a_question() {
    let mut stage = Stage::running();
    stage.play([
        (A(ask("r1", "Bash")), "needs_you", &[]),
        (A(cancel("r1")), "running", &[]),
    ]);
}

#[test]
fn control_cancel_request_of_the_host_leaves_a_question_open() {
    let mut stage = Stage::running();
    stage.play([
        (A(ask("r1", "Bash")), "needs_you", &[]),
        (H(cancel("r1")), "needs_you", &[]),
        (H(allow("r1")), "running", &[]),
    ]);
}

#[test]
fn a_message_while_the_last_text_streams_is_a_turn_of_its_own() {
    let mut stage = Stage::running();
    stage.play([
        (A(piece()), "running", &[]),
        (I(queue(&[2])), "running", &[]),
        (I(SendNow(message(2))), "running", &["send 2"]),
        (I(queue(&[])), "running", &[]),
        (H(user(2)), "running", &[]),
        // The result of the first turn: the second message has not been read.
        (A(result_ok()), "running", &["turn ended well"]),
        (A(init()), "running", &[]),
        (A(replay(2)), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
}

#[test]
fn a_message_while_a_tool_runs_is_folded_into_the_turn_and_shares_its_result() {
    let mut stage = Stage::running();
    stage.play([
        (A(tool("t1", "Bash")), "running", &[]),
        (I(queue(&[2])), "running", &[]),
        (I(SendNow(message(2))), "running", &["send 2"]),
        (I(queue(&[])), "running", &[]),
        (H(user(2)), "running", &[]),
        (A(tool_result("t1")), "running", &[]),
        (A(replay(2)), "running", &[]),
        (A(text("Both.")), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
}

#[test]
fn a_message_while_an_approval_is_pending_is_folded_too() {
    let mut stage = Stage::running();
    stage.play([
        (A(ask("r1", "Bash")), "needs_you", &[]),
        (I(queue(&[2])), "needs_you", &[]),
        (I(SendNow(message(2))), "needs_you", &["send 2"]),
        (I(queue(&[])), "needs_you", &[]),
        (H(user(2)), "needs_you", &[]),
        (H(allow("r1")), "running", &[]),
        (A(lifecycle(2, "started")), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
        (A(lifecycle(2, "completed")), "idle", &[]),
    ]);
}

#[test]
fn a_folded_message_that_is_never_given_back_keeps_nothing_waiting() {
    // An older CLI without replays: one result for both, and no word on the second message.
    let mut stage = Stage::running();
    stage.play([
        (I(queue(&[2])), "running", &[]),
        (I(SendNow(message(2))), "running", &["send 2"]),
        (I(queue(&[])), "running", &[]),
        (H(user(2)), "running", &[]),
        (A(result_ok()), "running", &["turn ended well"]),
        (Wait(6), "idle", &[]),
    ]);
}

#[test]
fn an_interrupt_does_not_drop_what_the_cli_has_queued() {
    let mut stage = Stage::running();
    stage.play([
        (I(queue(&[2, 3])), "running", &[]),
        (I(SendNow(message(2))), "running", &["send 2"]),
        (I(queue(&[3])), "running", &[]),
        (H(user(2)), "running", &[]),
        (I(Interrupt), "running", &["interrupt and cancel"]),
        (H(interrupt()), "running", &[]),
        (A(interrupt_taken(false)), "running", &[]),
        // An older CLI does not know `cancel_queued`: the message starts at once.
        (A(result_aborted(false)), "running", &["turn interrupted"]),
        (A(init()), "running", &[]),
        (A(replay(2)), "running", &[]),
        // Our own queue stays where it is.
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
    assert!(stage.core.queue_held());
    stage.play([(I(ReleaseQueue), "running", &["send 3"])]);
}

#[test]
fn an_interrupt_with_cancel_queued_gives_the_messages_back() {
    let mut stage = Stage::running();
    stage.play([
        (I(queue(&[2])), "running", &[]),
        (I(SendNow(message(2))), "running", &["send 2"]),
        (I(queue(&[])), "running", &[]),
        (H(user(2)), "running", &[]),
        (A(lifecycle(2, "queued")), "running", &[]),
        (I(Interrupt), "running", &["interrupt and cancel"]),
        (A(lifecycle(2, "cancelled")), "running", &["given back 2"]),
        (I(queue(&[2])), "running", &[]),
        (A(interrupt_taken(true)), "running", &[]),
        (A(result_aborted(true)), "idle", &["turn interrupted"]),
        (Wait(60), "idle", &[]),
    ]);
    assert!(stage.core.queue_held());
}

#[test]
fn two_messages_back_to_back_are_two_turns_and_two_results() {
    let mut stage = Stage::idle();
    stage.play([
        (H(user(1)), "running", &[]),
        (H(user(2)), "running", &[]),
        (A(init()), "running", &[]),
        (A(replay(1)), "running", &[]),
        (A(result_ok()), "running", &["turn ended well"]),
        (A(init()), "running", &[]),
        (A(replay(2)), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
}

#[test]
fn an_interrupt_that_is_not_heeded_is_said() {
    let mut stage = Stage::running();
    stage.play([
        (I(Interrupt), "running", &["interrupt"]),
        (A(piece()), "running", &[]),
        (Wait(4), "running", &[]),
        (Wait(1), "stalled", &[]),
        (A(text("and on")), "stalled", &[]),
        // It can be tried again, and it can help.
        (I(Interrupt), "running", &["interrupt"]),
        (A(result_aborted(true)), "idle", &["turn interrupted"]),
    ]);
}

#[test]
fn an_interrupt_before_the_turn_begins_is_made_again_when_it_does() {
    let mut stage = Stage::idle();
    stage.play([
        (I(queue(&[1])), "running", &["send 1"]),
        (I(queue(&[])), "running", &[]),
        (I(Interrupt), "running", &["interrupt and cancel"]),
        (A(interrupt_taken(false)), "running", &[]),
        (A(init()), "running", &["interrupt and cancel"]),
        (A(replay(1)), "running", &[]),
        (A(result_aborted(false)), "idle", &["turn interrupted"]),
    ]);
}

#[test]
fn an_interrupt_that_never_reached_the_agent_goes_again_if_its_turn_still_runs() {
    let attached = || Attached {
        generation: 1,
        paused: None,
    };
    let mut stage = Stage::running();
    stage.play([
        (I(Interrupt), "running", &["interrupt"]),
        (I(HostBegan), "running", &[]),
        (I(attached()), "running", &["interrupt"]),
        (I(CaughtUp), "running", &[]),
        (H(interrupt()), "running", &[]),
        (I(HostBegan), "running", &[]),
        (I(attached()), "running", &[]),
        (I(CaughtUp), "running", &[]),
        (A(result_aborted(true)), "idle", &["turn interrupted"]),
    ]);
    // Its turn has ended: it would hit the next one.
    let mut stage = Stage::running();
    stage.play([
        (I(Interrupt), "running", &["interrupt"]),
        (I(HostBegan), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
        (I(attached()), "idle", &[]),
        (I(CaughtUp), "idle", &[]),
    ]);
}
