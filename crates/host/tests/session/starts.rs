//! Starts that came to nothing: whose end it was, and how often one is made again.

use countersign_host::session::Input::{Admitted, CaughtUp, HostBegan, Lost, NeverBegan, Resume};

use crate::stage::Do::I;
use crate::stage::{Stage, queue};

#[test]
fn a_start_that_is_lost_is_made_again_but_not_for_ever() {
    let mut stage = Stage::new();
    stage.play([
        (I(queue(&[1])), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 1 New"]),
        (I(HostBegan), "starting", &[]),
        (I(Lost { generation: 1 }), "idle", &["give up room"]),
        (I(CaughtUp), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 2 NewSameId"]),
        (
            I(Lost { generation: 2 }),
            "queued",
            &["give up room", "ask for room"],
        ),
        (I(Admitted), "starting", &["spawn 3 NewSameId"]),
        (I(Lost { generation: 3 }), "failed", &["give up room"]),
        (I(Resume), "queued", &["ask for room"]),
    ]);
}

#[test]
fn a_host_that_ends_while_it_starts_an_agent_is_not_held_against_the_agent() {
    let mut stage = Stage::new();
    stage.play([
        (I(queue(&[1])), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 1 New"]),
    ]);
    for generation in 1..=11 {
        stage.play([(I(HostBegan), "starting", &[])]);
        stage.play([(I(NeverBegan { generation }), "idle", &["give up room"])]);
        stage.play([(I(CaughtUp), "queued", &["ask for room"])]);
        stage.give(Admitted);
        let next = (stage.state(), stage.core.generation());
        assert_eq!(next, ("starting", generation + 1));
    }
    // Should it be the start that ends the host, the others are not to be without one for ever.
    stage.play([
        (I(HostBegan), "starting", &[]),
        (
            I(NeverBegan { generation: 12 }),
            "failed",
            &["give up room"],
        ),
    ]);
    let reason = stage.core.reason();
    assert!(reason.contains("the daemon ended"), "{reason}");
    stage.play([
        (I(CaughtUp), "failed", &[]),
        (I(Resume), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 13 NewSameId"]),
        (I(HostBegan), "starting", &[]),
        (
            I(NeverBegan { generation: 13 }),
            "failed",
            &["give up room"],
        ),
        (I(CaughtUp), "queued", &["ask for room"]),
    ]);
}
