//! The queue of follow-ups: one at a time, only when nothing else goes on, held until a person says so.

use serde_json::json;

use countersign_host::session::Input::{
    Admitted, Attached, CaughtUp, Children, Closed, HostBegan, Interrupt, NotSent, ReleaseQueue,
    Resume, SendNow, Stop,
};

use crate::lines::*;
use crate::stage::Do::{A, H, I, K, Wait};
use crate::stage::{Stage, exited, queue, words};

#[test]
fn messages_go_one_at_a_time_each_after_the_result_before() {
    let mut stage = Stage::idle();
    stage.play([
        (I(queue(&[1, 2, 3])), "running", &["send 1"]),
        (I(queue(&[2, 3])), "running", &[]),
        (H(user(1)), "running", &[]),
        (A(init()), "running", &[]),
        (A(replay(1)), "running", &[]),
        (A(result_ok()), "running", &["turn ended well", "send 2"]),
        (I(queue(&[3])), "running", &[]),
        (H(user(2)), "running", &[]),
        (A(init()), "running", &[]),
        (A(replay(2)), "running", &[]),
        (A(result_ok()), "running", &["turn ended well", "send 3"]),
    ]);
}

#[test]
fn a_message_that_was_just_taken_is_not_sent_again_by_an_old_view_of_the_queue() {
    let mut stage = Stage::idle();
    stage.play([
        (I(queue(&[1, 2])), "running", &["send 1"]),
        (I(queue(&[1, 2])), "running", &[]),
        (H(user(1)), "running", &[]),
        (I(queue(&[1, 2])), "running", &[]),
    ]);
}

#[test]
fn an_interrupt_holds_the_queue_until_it_is_released() {
    let mut stage = Stage::running();
    stage.play([
        (I(queue(&[2])), "running", &[]),
        (I(Interrupt), "running", &["interrupt"]),
        (A(result_aborted(true)), "idle", &["turn interrupted"]),
        (Wait(1700), "idle", &[]),
        (I(queue(&[2, 3])), "idle", &[]),
    ]);
    assert!(stage.core.queue_held());
    assert!(stage.core.reason().contains("lets it go on"));
    stage.play([(I(ReleaseQueue), "running", &["send 2"])]);
    assert!(!stage.core.queue_held());
}

#[test]
fn what_is_to_go_at_once_goes_once_the_way_is_there_again() {
    let attached = || Attached {
        generation: 1,
        paused: None,
    };
    let held = || {
        let mut stage = Stage::running();
        stage.play([
            (I(queue(&[2, 3])), "running", &[]),
            (I(Interrupt), "running", &["interrupt"]),
            (A(result_aborted(true)), "idle", &["turn interrupted"]),
            (I(SendNow(message(3))), "running", &["send 3"]),
        ]);
        stage
    };
    // The host ended before it had written it.
    let mut stage = held();
    stage.play([
        (I(HostBegan), "running", &[]),
        (I(attached()), "running", &[]),
        (I(CaughtUp), "running", &[]),
        (I(queue(&[2, 3])), "running", &["send 3"]),
    ]);
    // The way to the agent was gone.
    let mut stage = held();
    let id = message(3);
    stage.play([
        (I(Closed { message: id }), "idle", &[]),
        (I(queue(&[2, 3])), "idle", &[]),
        (I(attached()), "running", &["send 3"]),
    ]);
    // It was written, as the journal says: once.
    let mut stage = held();
    stage.play([
        (H(user(3)), "running", &[]),
        (I(HostBegan), "running", &[]),
        (I(attached()), "running", &[]),
        (I(CaughtUp), "running", &[]),
        (I(queue(&[2])), "running", &[]),
    ]);
}

#[test]
fn an_agent_sleeps_over_a_held_queue_and_a_word_wakes_it() {
    let mut stage = Stage::running();
    stage.play([
        (I(queue(&[2])), "running", &[]),
        (I(Interrupt), "running", &["interrupt"]),
        (A(result_aborted(true)), "idle", &["turn interrupted"]),
        (Wait(1800), "idle", &["look at children"]),
        (I(Children { others: 0 }), "ending", &["end"]),
        (K(exited(0)), "idle", &["give up room"]),
        (Wait(3600), "idle", &[]),
    ]);
    assert!(stage.core.queue_held());
    stage.play([
        (I(ReleaseQueue), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 2 Resume"]),
    ]);
    assert_eq!(words(&stage.come_up(2)), ["send 2"]);
}

#[test]
fn a_message_after_an_interrupt_with_an_empty_queue_goes_at_once() {
    let mut stage = Stage::running();
    stage.play([
        (I(Interrupt), "running", &["interrupt"]),
        (A(result_aborted(true)), "idle", &["turn interrupted"]),
        (I(queue(&[2])), "running", &["send 2"]),
    ]);
}

#[test]
fn a_held_queue_that_is_emptied_holds_nothing_any_more() {
    let mut stage = Stage::running();
    stage.play([
        (I(queue(&[2])), "running", &[]),
        (I(Interrupt), "running", &["interrupt"]),
        (A(result_aborted(true)), "idle", &["turn interrupted"]),
        (I(queue(&[])), "idle", &[]),
        (I(queue(&[3])), "running", &["send 3"]),
    ]);
}

#[test]
fn a_failed_turn_holds_the_queue() {
    let mut stage = Stage::running();
    let failed = json!({"type": "result", "subtype": "success", "is_error": true, "result": "API Error: 500"});
    stage.play([
        (I(queue(&[2])), "running", &[]),
        (A(failed), "failed", &["turn failed"]),
    ]);
    assert!(stage.core.queue_held());
    stage.play([(I(ReleaseQueue), "running", &["send 2"])]);
}

#[test]
fn a_refusal_that_ends_the_turn_holds_the_queue_unless_it_was_let_go_on_before() {
    let deny = json!({"behavior": "deny", "message": "no", "interrupt": true});
    for is_released in [false, true] {
        let mut stage = Stage::running();
        stage.play([
            (I(queue(&[2])), "running", &[]),
            (A(ask("r1", "ExitPlanMode")), "needs_you", &[]),
        ]);
        if is_released {
            stage.play([(I(ReleaseQueue), "needs_you", &[])]);
        }
        stage.play([(H(answer("r1", deny.clone())), "running", &[])]);
        match is_released {
            true => stage.play([(
                A(result_aborted(true)),
                "running",
                &["turn interrupted", "send 2"],
            )]),
            false => stage.play([(A(result_aborted(true)), "idle", &["turn interrupted"])]),
        }
        assert_eq!(stage.core.queue_held(), !is_released);
    }
}

#[test]
fn a_queue_that_was_let_go_on_is_held_again_by_the_next_failure_only() {
    let failed = json!({"type": "result", "subtype": "success", "is_error": true, "result": "API Error: 500"});
    let mut stage = Stage::running();
    stage.play([
        (I(queue(&[2, 3])), "running", &[]),
        (I(Interrupt), "running", &["interrupt"]),
        (I(ReleaseQueue), "running", &[]),
        (
            A(failed.clone()),
            "running",
            &["turn interrupted", "send 2"],
        ),
        (I(queue(&[3])), "running", &[]),
        (A(init()), "running", &[]),
        (A(replay(2)), "running", &[]),
        (A(failed), "failed", &["turn failed"]),
    ]);
    assert!(stage.core.queue_held());
}

#[test]
fn send_now_passes_a_held_queue_and_leaves_the_rest_held() {
    let mut stage = Stage::running();
    stage.play([
        (I(queue(&[2, 3])), "running", &[]),
        (I(Interrupt), "running", &["interrupt"]),
        (A(result_aborted(true)), "idle", &["turn interrupted"]),
        (I(SendNow(message(3))), "running", &["send 3"]),
        (I(queue(&[2])), "running", &[]),
        (H(user(3)), "running", &[]),
        (A(init()), "running", &[]),
        (A(replay(3)), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
    assert!(stage.core.queue_held());
}

#[test]
fn send_now_of_a_message_that_was_removed_does_nothing_later() {
    let mut stage = Stage::new();
    stage.play([
        (I(queue(&[1, 2])), "queued", &["ask for room"]),
        (I(SendNow(message(2))), "queued", &[]),
        (I(queue(&[1])), "queued", &[]),
        (I(Admitted), "starting", &["spawn 1 New"]),
    ]);
    let effects = stage.come_up(1);
    assert_eq!(crate::stage::words(&effects), ["send 1"]);
}

#[test]
fn send_now_wakes_a_stopped_session() {
    let mut stage = Stage::idle();
    stage.play([
        (I(Stop), "ending", &["end"]),
        (K(exited(0)), "stopped", &["give up room"]),
        (I(queue(&[1])), "stopped", &[]),
        (I(SendNow(message(1))), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 2 NewSameId"]),
    ]);
}

#[test]
fn a_message_that_could_not_be_sent_holds_the_queue_and_is_not_lost() {
    let mut stage = Stage::idle();
    stage.play([
        (I(queue(&[1])), "running", &["send 1"]),
        (
            I(NotSent {
                message: message(1),
            }),
            "idle",
            &[],
        ),
        (I(queue(&[1])), "idle", &[]),
        (Wait(60), "idle", &[]),
    ]);
    assert!(stage.core.queue_held());
    stage.play([(I(ReleaseQueue), "running", &["send 1"])]);
}

#[test]
fn a_message_to_an_agent_that_has_gone_waits_for_the_next_without_a_word() {
    let found_closed = || {
        let mut stage = Stage::idle();
        stage.play([
            (I(queue(&[1])), "running", &["send 1"]),
            (I(closed(1)), "idle", &[]),
            (I(queue(&[1])), "idle", &[]),
            (Wait(60), "idle", &[]),
        ]);
        assert!(!stage.core.queue_held());
        stage
    };
    // Only the way to it was closed.
    let attached = Attached {
        generation: 1,
        paused: None,
    };
    let mut stage = found_closed();
    stage.play([(I(attached), "running", &["send 1"])]);
    // It has gone, and that was its right.
    let mut stage = found_closed();
    stage.play([
        (K(exited(0)), "queued", &["give up room", "ask for room"]),
        (I(Admitted), "starting", &["spawn 2 NewSameId"]),
    ]);
    assert_eq!(words(&stage.come_up(2)), ["send 1"]);
}

fn closed(id: u64) -> countersign_host::session::Input {
    Closed {
        message: message(id),
    }
}

#[test]
fn a_message_the_cli_knows_from_before_runs_nothing_and_says_so() {
    // New CLIs say so.
    let mut stage = Stage::idle();
    stage.play([
        (I(queue(&[1])), "running", &["send 1"]),
        (I(queue(&[])), "running", &[]),
        (H(user(1)), "running", &[]),
        (A(lifecycle(1, "completed")), "idle", &[]),
    ]);
    assert!(stage.core.reason().contains("knew the last message"));
    // Older ones only give it back, and then nothing comes.
    let mut stage = Stage::idle();
    stage.play([
        (I(queue(&[1])), "running", &["send 1"]),
        (I(queue(&[])), "running", &[]),
        (H(user(1)), "running", &[]),
        (A(replay(1)), "running", &[]),
        (Wait(4), "running", &[]),
        (Wait(1), "idle", &[]),
    ]);
    assert!(stage.core.reason().contains("knew the last message"));
}

#[test]
fn an_agent_whose_awaited_turn_never_came_is_idle_from_then_on_and_no_earlier() {
    let mut stage = Stage::idle();
    stage.wait(1000);
    stage.play([
        (H(user(1)), "running", &[]),
        (A(replay(1)), "running", &[]),
        (Wait(1795), "idle", &[]),
        (Wait(10), "idle", &["look at children"]),
    ]);
}

#[test]
fn the_cli_s_own_word_that_it_is_idle_ends_a_turn_that_it_began() {
    let mut stage = Stage::idle();
    stage.play([
        (I(queue(&[1])), "running", &["send 1"]),
        (I(queue(&[])), "running", &[]),
        (H(user(1)), "running", &[]),
        // Of the turn before: it came late.
        (A(session_state("idle")), "running", &[]),
        (A(session_state("running")), "running", &[]),
        (A(replay(1)), "running", &[]),
        (A(session_state("requires_action")), "running", &[]),
        (A(session_state("idle")), "idle", &[]),
    ]);
}

#[test]
fn after_a_crash_of_the_host_nothing_moves_before_the_journal_is_read() {
    let mut stage = Stage::running();
    stage.play([
        (I(queue(&[2])), "running", &[]),
        (I(HostBegan), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
        (I(queue(&[2])), "idle", &[]),
        // A turn started by itself while nobody listened.
        (A(init()), "running", &[]),
        (
            I(countersign_host::session::Input::CaughtUp),
            "running",
            &[],
        ),
        (A(result_ok()), "running", &["turn ended well", "send 2"]),
    ]);
}

#[test]
fn after_a_crash_of_the_host_a_message_that_was_not_taken_is_sent_again_and_one_that_was_is_not() {
    for was_taken in [true, false] {
        let mut stage = Stage::idle();
        stage.play([
            (I(queue(&[1])), "running", &["send 1"]),
            (I(HostBegan), "running", &[]),
        ]);
        let attached = countersign_host::session::Input::Attached {
            generation: 1,
            paused: None,
        };
        let caught_up = countersign_host::session::Input::CaughtUp;
        match was_taken {
            true => stage.play([
                (I(queue(&[])), "running", &[]),
                (I(attached), "running", &[]),
                (I(caught_up), "running", &[]),
                (H(user(1)), "running", &[]),
            ]),
            // The queue may be told at any time.
            false => stage.play([
                (I(attached), "running", &[]),
                (I(caught_up), "running", &[]),
                (I(queue(&[1])), "running", &["send 1"]),
                (I(queue(&[1])), "running", &[]),
            ]),
        }
    }
}

#[test]
fn what_an_agent_had_not_read_when_it_ended_goes_back_to_the_queue() {
    let mut stage = Stage::running();
    stage.play([
        (I(queue(&[2, 3])), "running", &[]),
        (I(SendNow(message(2))), "running", &["send 2"]),
        (I(queue(&[3])), "running", &[]),
        (H(user(2)), "running", &[]),
        (K(exited(1)), "failed", &["put back 2", "give up room"]),
        (I(queue(&[2, 3])), "failed", &[]),
        (I(Resume), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 2 Resume"]),
    ]);
    assert!(stage.core.is_cut_off());
    let effects = stage.come_up(2);
    assert_eq!(crate::stage::words(&effects), ["send 2"]);
    assert!(!stage.core.is_cut_off());
}
