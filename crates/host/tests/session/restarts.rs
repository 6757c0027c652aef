//! A host begins anew while an agent ends, starts, or does not answer: what it finds settles how the session stands.

use countersign_host::session::Input::{
    Admitted, Attached, CaughtUp, ForceEnd, Gone, HostBegan, NeverBegan, Resume, Stop, Unreachable,
};

use crate::lines::*;
use crate::stage::Do::{H, I, K, Wait};
use crate::stage::{Stage, exit, opened, queue};

fn attached(generation: u32) -> countersign_host::session::Input {
    Attached {
        generation,
        paused: None,
    }
}

fn gone(generation: u32) -> countersign_host::session::Input {
    Gone {
        generation,
        exit: exit(0),
        stderr: String::new(),
    }
}

#[test]
fn a_start_that_follows_from_what_a_new_host_finds_is_not_taken_for_one_that_never_was() {
    let mut stage = Stage::idle();
    stage.play([
        (I(Stop), "ending", &["end"]),
        (I(queue(&[1])), "ending", &[]),
        (I(Resume), "ending", &[]),
        (I(HostBegan), "ending", &[]),
        (I(gone(1)), "starting", &["spawn 2 NewSameId"]),
        (I(NeverBegan { generation: 2 }), "starting", &[]),
        (I(CaughtUp), "starting", &[]),
        (K(opened(2)), "starting", &[]),
        (I(attached(2)), "running", &["send 1"]),
    ]);
}

#[test]
fn a_start_that_an_earlier_host_stored_and_no_keeper_came_of_is_made_again() {
    let mut stage = Stage::new();
    stage.play([
        (I(Resume), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 1 New"]),
        (I(HostBegan), "starting", &[]),
        (I(NeverBegan { generation: 1 }), "idle", &["give up room"]),
        (I(CaughtUp), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 2 NewSameId"]),
    ]);
}

#[test]
fn a_keeper_of_an_earlier_start_that_comes_up_late_is_taken_for_what_it_is() {
    let mut stage = Stage::new();
    stage.play([
        (I(Resume), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 1 New"]),
        (I(HostBegan), "starting", &[]),
        (I(NeverBegan { generation: 1 }), "idle", &["give up room"]),
        (I(CaughtUp), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 2 NewSameId"]),
        // It has the session, so the second one was refused.
        (I(Unreachable), "unreachable", &[]),
        (K(opened(1)), "unreachable", &[]),
        (I(attached(1)), "idle", &[]),
        (I(queue(&[1])), "running", &["send 1"]),
        (H(user(1)), "running", &[]),
        (I(Stop), "ending", &["end"]),
        (I(gone(1)), "stopped", &["put back 1", "give up room"]),
        (I(Resume), "queued", &["ask for room"]),
        // No number is given twice.
        (I(Admitted), "starting", &["spawn 3 NewSameId"]),
    ]);
}

#[test]
fn what_was_wanted_of_a_start_is_wanted_of_the_keeper_that_is_there() {
    let mut stage = Stage::new();
    stage.play([
        (I(Resume), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 1 New"]),
        (I(HostBegan), "starting", &[]),
        (I(NeverBegan { generation: 1 }), "idle", &["give up room"]),
        (I(CaughtUp), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 2 NewSameId"]),
        (I(Stop), "ending", &[]),
        (I(attached(1)), "ending", &["end"]),
        (I(gone(1)), "stopped", &["give up room"]),
    ]);
}

#[test]
fn an_agent_whose_end_is_recorded_is_not_taken_for_living_because_it_is_connected() {
    let mut stage = Stage::idle();
    stage.play([
        (I(Stop), "ending", &["end"]),
        (K(crate::stage::exited(0)), "stopped", &["give up room"]),
        (I(attached(1)), "stopped", &[]),
    ]);
}

#[test]
fn a_stop_ends_a_keeper_that_does_not_answer() {
    let mut stage = Stage::idle();
    stage.play([
        (I(Unreachable), "unreachable", &[]),
        (I(Stop), "unreachable", &[]),
        (Wait(11), "unreachable", &["kill"]),
        (Wait(11), "unreachable", &["kill the keeper"]),
        (I(gone(1)), "stopped", &["give up room"]),
    ]);
}

#[test]
fn a_keeper_that_never_was_and_is_ended_leaves_a_session_that_is_stopped() {
    let mut stage = Stage::new();
    stage.play([
        (I(Resume), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 1 New"]),
        (I(Unreachable), "unreachable", &[]),
        (I(ForceEnd), "unreachable", &["kill"]),
        (I(HostBegan), "unreachable", &[]),
        (
            I(NeverBegan { generation: 1 }),
            "stopped",
            &["give up room"],
        ),
        (I(CaughtUp), "stopped", &[]),
        (I(Resume), "queued", &["ask for room"]),
    ]);
}
