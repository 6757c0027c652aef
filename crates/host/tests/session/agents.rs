//! Agents come and go: room, starts and their traps, ends of every kind, sleep, what a crash leaves behind.

use countersign_host::control::State;
use countersign_host::session::Begin;
use countersign_host::session::Input::{
    Admitted, Attached, CaughtUp, Children, ForceEnd, Gone, HostBegan, Interrupt, Lost, MakeRoom,
    Restart, Resume, SpawnFailed, Stop, Unreachable,
};
use countersign_journal::KeeperEvent;
use serde_json::json;

use crate::lines::*;
use crate::stage::Do::{A, H, I, K, Wait};
use crate::stage::{Stage, exit, exited, queue, words};

fn failed(generation: u32, why: &str, trap: Option<Begin>) -> countersign_host::session::Input {
    SpawnFailed {
        generation,
        why: why.into(),
        fix: None,
        trap,
    }
}

fn attached(generation: u32) -> countersign_host::session::Input {
    Attached {
        generation,
        paused: None,
    }
}

fn gone(generation: u32, code: i32, stderr: &str) -> countersign_host::session::Input {
    Gone {
        generation,
        exit: exit(code),
        stderr: stderr.into(),
    }
}

#[test]
fn a_new_session_waits_for_room_starts_and_sends() {
    let mut stage = Stage::new();
    assert_eq!(stage.state(), "idle");
    stage.play([
        (I(queue(&[1])), "queued", &["ask for room"]),
        (I(queue(&[1])), "queued", &[]),
        (I(Admitted), "starting", &["spawn 1 New"]),
        (I(Admitted), "starting", &[]),
        (K(crate::stage::opened(1)), "starting", &[]),
        (I(attached(1)), "running", &["send 1"]),
        (I(queue(&[])), "running", &[]),
        (H(user(1)), "running", &[]),
        (A(init()), "running", &[]),
        (A(replay(1)), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
    let seen = stage.core.seen();
    assert_eq!(seen.conversation.as_deref(), Some("c-1"));
    assert_eq!(seen.version.as_deref(), Some("2.1.325"));
}

#[test]
fn room_that_is_not_wanted_any_more_is_given_up() {
    let mut stage = Stage::new();
    stage.play([
        (I(queue(&[1])), "queued", &["ask for room"]),
        (I(queue(&[])), "idle", &["give up room"]),
        (I(Admitted), "idle", &["give up room"]),
        (I(Resume), "queued", &["ask for room"]),
        (I(Stop), "stopped", &["give up room"]),
    ]);
}

#[test]
fn a_conversation_that_is_not_found_begins_again_under_the_same_id_then_under_another() {
    let mut stage = Stage::running();
    stage.play([
        (K(exited(1)), "failed", &["give up room"]),
        (I(Resume), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 2 Resume"]),
    ]);
    stage.come_up(2);
    stage.queue(&[2]);
    let missing = json!({"type": "result", "subtype": "error_during_execution", "is_error": true,
        "errors": ["No conversation found with session ID: c-1"]});
    stage.play([
        (A(missing), "running", &[]),
        (
            K(exited(1)),
            "starting",
            &["put back 2", "spawn 3 NewSameId"],
        ),
        (K(crate::stage::opened(3)), "starting", &[]),
    ]);
    stage.stderr("Error: Session ID c-1 is already in use.");
    stage.play([
        (K(exited(1)), "starting", &["spawn 4 NewOtherId"]),
        (I(queue(&[2])), "starting", &[]),
    ]);
    assert_eq!(words(&stage.come_up(4)), ["send 2"]);
}

#[test]
fn a_trap_that_the_shell_has_seen_is_taken_and_traps_do_not_go_on_for_ever() {
    let mut stage = Stage::new();
    stage.play([
        (I(queue(&[1])), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 1 New"]),
        (
            I(failed(1, "in use", Some(Begin::NewOtherId))),
            "starting",
            &["spawn 2 NewOtherId"],
        ),
        // A late word on the first start changes nothing.
        (
            I(failed(1, "in use", Some(Begin::NewOtherId))),
            "starting",
            &[],
        ),
        (I(gone(1, 1, "")), "starting", &[]),
        (
            I(failed(2, "in use", Some(Begin::NewOtherId))),
            "starting",
            &["spawn 3 NewOtherId"],
        ),
        (
            I(failed(3, "in use", Some(Begin::NewOtherId))),
            "starting",
            &["spawn 4 NewOtherId"],
        ),
        (
            I(failed(4, "in use", Some(Begin::NewOtherId))),
            "failed",
            &["give up room"],
        ),
    ]);
}

#[test]
fn a_start_that_failed_says_why_and_what_to_do() {
    let mut stage = Stage::new();
    stage.queue(&[1]);
    stage.give(Admitted);
    let input = SpawnFailed {
        generation: 1,
        why: "no claude was found".into(),
        fix: Some("Install it.".into()),
        trap: None,
    };
    stage.play([(I(input), "failed", &["give up room"])]);
    assert!(
        stage
            .core
            .reason()
            .ends_with("no claude was found Install it.")
    );
    assert!(stage.core.queue_held());
    stage.play([
        (I(Resume), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 2 NewSameId"]),
        (
            I(failed(2, "Not logged in · Please run /login", None)),
            "not_signed_in",
            &["give up room"],
        ),
    ]);
}

#[test]
fn an_agent_that_ends_at_once_without_a_word_is_not_started_for_ever() {
    let mut stage = Stage::new();
    stage.queue(&[1]);
    stage.give(Admitted);
    stage.come_up(1);
    stage.play([(K(exited(0)), "failed", &["put back 1", "give up room"])]);
    let mut stage = Stage::new();
    stage.queue(&[1]);
    stage.give(Admitted);
    stage.come_up(1);
    stage.stderr("error: unknown option '--x'");
    stage.play([(K(exited(1)), "failed", &["put back 1", "give up room"])]);
    let State::Failed { stderr } = stage.core.state() else {
        panic!("{:?}", stage.core.state());
    };
    assert_eq!(stderr, "error: unknown option '--x'");
}

#[test]
fn gone_in_a_running_turn_is_cut_off_and_gone_while_idle_is_not() {
    let mut stage = Stage::running();
    stage.play([(I(gone(1, 137, "killed")), "failed", &["give up room"])]);
    assert!(stage.core.is_cut_off());
    // The record of the exit says it again, and a late one of an older generation says nothing.
    stage.play([
        (K(exited(137)), "failed", &[]),
        (I(gone(0, 1, "")), "failed", &[]),
    ]);

    let mut stage = Stage::running();
    stage.agent(result_ok());
    stage.play([(K(exited(1)), "failed", &["give up room"])]);
    assert!(!stage.core.is_cut_off());

    let mut stage = Stage::running();
    stage.agent(result_ok());
    stage.play([(K(exited(0)), "idle", &["give up room"])]);
}

#[test]
fn lost_in_a_running_turn_is_cut_off_and_lost_while_idle_sleeps() {
    let lost = KeeperEvent::Lost { killed: Vec::new() };
    let mut stage = Stage::running();
    stage.play([(K(lost.clone()), "failed", &["give up room"])]);
    assert!(stage.core.is_cut_off());
    assert!(stage.core.reason().contains("reboot"));
    stage.play([
        (I(Resume), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 2 Resume"]),
    ]);
    stage.come_up(2);
    assert!(stage.core.is_cut_off(), "nobody has gone on yet");
    stage.play([(H(user(2)), "running", &[])]);
    assert!(!stage.core.is_cut_off());

    let mut stage = Stage::running();
    stage.agent(result_ok());
    stage.play([
        (I(Lost { generation: 1 }), "idle", &["give up room"]),
        (I(queue(&[2])), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 2 Resume"]),
    ]);
    // With an open question it was cut off, too.
    let mut stage = Stage::running();
    stage.agent(background_tasks(&["a1"]));
    stage.agent(result_ok());
    stage.agent(ask("r1", "Bash"));
    stage.play([(K(lost), "failed", &["give up room"])]);
    assert!(stage.core.is_cut_off());
    assert_eq!(stage.core.open_questions(), 0);
}

#[test]
fn a_host_that_begins_asks_for_room_again() {
    let mut stage = Stage::new();
    stage.play([
        (I(queue(&[1])), "queued", &["ask for room"]),
        (I(HostBegan), "idle", &[]),
        (I(queue(&[1])), "idle", &[]),
        (I(CaughtUp), "queued", &["ask for room"]),
    ]);
}

#[test]
fn a_resume_that_comes_before_the_journal_is_read_is_not_forgotten() {
    let mut stage = Stage::running();
    stage.play([
        (I(HostBegan), "running", &[]),
        (I(Resume), "running", &[]),
        (I(gone(1, 1, "")), "failed", &["give up room"]),
        (I(CaughtUp), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 2 Resume"]),
    ]);
    // The last word counts.
    let mut stage = Stage::running();
    stage.give(HostBegan);
    stage.give(Resume);
    stage.give(Stop);
    stage.give(gone(1, 1, ""));
    stage.play([(I(CaughtUp), "stopped", &[])]);
}

#[test]
fn a_resume_of_an_agent_that_goes_before_its_turn_ends_is_carried_out_by_the_next_once() {
    // The keeper ends it, and nobody knows yet.
    let ending = KeeperEvent::Ending {
        step: "stdin".into(),
        why: None,
    };
    let mut stage = Stage::running();
    stage.play([
        (I(HostBegan), "running", &[]),
        (I(Resume), "running", &[]),
        (I(attached(1)), "running", &[]),
        (I(CaughtUp), "running", &[]),
        (K(ending), "ending", &[]),
        (K(exited(143)), "starting", &["spawn 2 Resume"]),
    ]);
    stage.come_up(2);
    stage.play([
        (H(user(2)), "running", &[]),
        (A(init()), "running", &[]),
        (A(replay(2)), "running", &[]),
        (K(exited(143)), "failed", &["give up room"]),
    ]);
    // Its keeper is lost altogether.
    let mut stage = Stage::running();
    stage.play([
        (I(Resume), "running", &[]),
        (I(Lost { generation: 1 }), "starting", &["spawn 2 Resume"]),
    ]);
    // The turn ends, or is ended: the wish was for that turn.
    let mut stage = Stage::running();
    stage.play([
        (I(Resume), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
        (K(exited(1)), "failed", &["give up room"]),
    ]);
    let mut stage = Stage::running();
    stage.play([
        (I(Resume), "running", &[]),
        (I(Interrupt), "running", &["interrupt"]),
        (K(exited(1)), "failed", &["give up room"]),
    ]);
}

#[test]
fn an_agent_that_no_row_knows_is_taken_over() {
    let mut stage = Stage::new();
    stage.play([
        (I(HostBegan), "idle", &[]),
        (K(crate::stage::opened(1)), "starting", &[]),
        (H(user(1)), "starting", &[]),
        (A(init()), "starting", &[]),
        (I(attached(1)), "running", &[]),
        (I(CaughtUp), "running", &[]),
        (A(replay(1)), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
    ]);
    assert_eq!(stage.core.generation(), 1);
}

#[test]
fn an_agent_that_no_row_knows_and_that_has_gone_is_not_started_again() {
    let mut stage = Stage::new();
    stage.play([
        (I(HostBegan), "idle", &[]),
        (K(crate::stage::opened(1)), "starting", &[]),
        (H(user(1)), "starting", &[]),
        (A(init()), "starting", &[]),
        (A(replay(1)), "starting", &[]),
        (A(result_ok()), "starting", &["turn ended well"]),
        (I(Lost { generation: 1 }), "idle", &[]),
        (I(CaughtUp), "idle", &[]),
    ]);
    // Killed in the middle of a turn that no host saw begin, it was cut off all the same.
    let mut stage = Stage::new();
    stage.play([
        (I(HostBegan), "idle", &[]),
        (K(crate::stage::opened(1)), "starting", &[]),
        (H(user(1)), "starting", &[]),
        (A(init()), "starting", &[]),
        (A(replay(1)), "starting", &[]),
        (I(Lost { generation: 1 }), "failed", &[]),
        (I(CaughtUp), "failed", &[]),
    ]);
    assert!(stage.core.is_cut_off());
}

#[test]
fn what_an_earlier_agent_left_in_the_journal_does_not_touch_the_next() {
    let mut stage = Stage::running();
    stage.play([
        (I(gone(1, 1, "")), "failed", &["give up room"]),
        (I(Resume), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 2 Resume"]),
        // Still the first journal.
        (A(ask("r1", "Bash")), "starting", &[]),
        (K(exited(1)), "starting", &[]),
        (I(attached(2)), "idle", &[]),
        (A(init()), "idle", &[]),
        (K(crate::stage::opened(2)), "idle", &[]),
        (A(init()), "running", &[]),
    ]);
}

#[test]
fn stop_ends_gently_and_can_be_resumed() {
    let mut stage = Stage::running();
    stage.play([
        (I(Stop), "ending", &["end"]),
        (I(Stop), "ending", &[]),
        (A(result_aborted(true)), "ending", &["turn interrupted"]),
        (K(exited(0)), "stopped", &["give up room"]),
        (I(queue(&[2])), "stopped", &[]),
        (I(Resume), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 2 Resume"]),
    ]);
}

#[test]
fn resume_while_it_ends_starts_another_one_when_it_has() {
    let mut stage = Stage::running();
    stage.play([
        (I(Stop), "ending", &["end"]),
        (I(Resume), "ending", &[]),
        (K(exited(0)), "starting", &["spawn 2 Resume"]),
    ]);
}

#[test]
fn stop_while_it_starts_ends_it_as_soon_as_it_is_there() {
    let mut stage = Stage::new();
    stage.play([
        (I(Resume), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 1 New"]),
        (I(Stop), "ending", &[]),
        (I(attached(1)), "ending", &["end"]),
        (I(gone(1, 0, "")), "stopped", &["give up room"]),
    ]);
}

#[test]
fn force_end_interrupts_waits_five_seconds_and_has_it_ended_whatever_it_takes() {
    let mut stage = Stage::running();
    let begin = stage.now;
    stage.play([
        (I(ForceEnd), "ending", &["interrupt and cancel"]),
        (A(piece()), "ending", &[]),
        (Wait(4), "ending", &[]),
        (Wait(1), "ending", &["end"]),
        (Wait(10), "ending", &[]),
        (Wait(1), "ending", &["kill"]),
    ]);
    assert!(stage.now - begin < 20 * crate::stage::SECOND);
    stage.play([(K(exited(137)), "stopped", &["give up room"])]);
    assert!(!stage.core.is_cut_off());
}

#[test]
fn force_end_goes_on_at_once_when_the_interrupt_helps() {
    let mut stage = Stage::running();
    stage.play([
        (I(ForceEnd), "ending", &["interrupt and cancel"]),
        (
            A(result_aborted(true)),
            "ending",
            &["turn interrupted", "end"],
        ),
    ]);
}

#[test]
fn force_end_twice_kills() {
    for mut stage in [Stage::running(), Stage::idle()] {
        stage.give(ForceEnd);
        stage.play([(I(ForceEnd), "ending", &["kill"])]);
    }
    let mut stage = Stage::running();
    stage.play([
        (I(Stop), "ending", &["end"]),
        (I(ForceEnd), "ending", &["kill"]),
    ]);
}

#[test]
fn a_keeper_that_does_not_even_kill_is_ended_itself() {
    let mut stage = Stage::running();
    stage.give(ForceEnd);
    stage.play([
        (I(ForceEnd), "ending", &["kill"]),
        (Wait(10), "ending", &[]),
        (Wait(1), "ending", &["kill the keeper"]),
        (Wait(3600), "ending", &[]),
        (I(Lost { generation: 1 }), "stopped", &["give up room"]),
    ]);
}

#[test]
fn an_agent_whose_keeper_does_not_answer_is_never_started_beside() {
    let mut stage = Stage::running();
    stage.play([
        (I(Unreachable), "unreachable", &[]),
        (I(Resume), "unreachable", &[]),
        (I(queue(&[2])), "unreachable", &[]),
        (Wait(3600), "unreachable", &[]),
        (I(ForceEnd), "unreachable", &["kill"]),
        (I(Lost { generation: 1 }), "stopped", &["give up room"]),
        (I(Resume), "queued", &["ask for room"]),
    ]);
    let mut stage = Stage::running();
    stage.play([
        (I(Unreachable), "unreachable", &[]),
        (I(attached(1)), "running", &[]),
    ]);
}

#[test]
fn an_idle_agent_sleeps_and_the_next_message_wakes_it() {
    let mut stage = Stage::running();
    stage.play([
        (A(result_ok()), "idle", &["turn ended well"]),
        (Wait(1799), "idle", &[]),
        (Wait(1), "idle", &["look at children"]),
        (I(Children { others: 0 }), "ending", &["end"]),
        (K(exited(0)), "idle", &["give up room"]),
    ]);
    let asleep = State::Idle {
        asleep: true,
        background: 0,
    };
    assert_eq!(stage.core.state(), asleep);
    stage.play([
        (I(queue(&[2])), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 2 Resume"]),
    ]);
    assert_eq!(words(&stage.come_up(2)), ["send 2"]);
}

#[test]
fn a_message_that_comes_while_it_falls_asleep_wakes_it_at_once() {
    let mut stage = Stage::running();
    stage.play([
        (A(result_ok()), "idle", &["turn ended well"]),
        (Wait(1800), "idle", &["look at children"]),
        (I(Children { others: 0 }), "ending", &["end"]),
        (I(queue(&[2])), "ending", &[]),
        (K(exited(0)), "queued", &["give up room", "ask for room"]),
    ]);
    // And before the answer came it does not fall asleep at all.
    let mut stage = Stage::running();
    stage.play([
        (A(result_ok()), "idle", &["turn ended well"]),
        (Wait(1800), "idle", &["look at children"]),
        (I(queue(&[2])), "running", &["send 2"]),
        (I(Children { others: 0 }), "running", &[]),
    ]);
}

#[test]
fn an_idle_agent_makes_room_when_others_wait_but_not_a_busy_one() {
    let mut stage = Stage::running();
    stage.play([
        (I(MakeRoom), "running", &[]),
        (A(ask("r1", "Bash")), "needs_you", &[]),
        (H(allow("r1")), "running", &[]),
        (
            A(result_ok()),
            "idle",
            &["turn ended well", "look at children"],
        ),
        (I(Children { others: 0 }), "ending", &["end"]),
        (K(exited(0)), "idle", &["give up room"]),
    ]);
    let mut stage = Stage::idle();
    stage.play([
        (I(MakeRoom), "idle", &["look at children"]),
        (I(Children { others: 1 }), "idle", &[]),
        (Wait(60), "idle", &[]),
    ]);
}

#[test]
fn another_environment_takes_a_new_agent_at_the_next_idle_moment() {
    let mut stage = Stage::running();
    stage.play([
        (I(queue(&[2])), "running", &[]),
        (I(Restart), "running", &[]),
        (A(result_ok()), "ending", &["turn ended well", "end"]),
        (K(exited(0)), "starting", &["spawn 2 Resume"]),
    ]);
    assert_eq!(words(&stage.come_up(2)), ["send 2"]);
    // Without an agent there is nothing to do: the next one has it.
    let mut stage = Stage::new();
    stage.play([(I(Restart), "idle", &[])]);
    // Work in the background is not ended by it.
    let mut stage = Stage::running();
    stage.play([
        (I(Restart), "running", &[]),
        (A(background_tasks(&["a1"])), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
        (A(background_tasks(&[])), "ending", &["end"]),
    ]);
}
