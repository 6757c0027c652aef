//! A mode and a model that a person chose: its agent is told, by the next host if not by this one.

use countersign_host::session::Input::{
    Admitted, Attached, CaughtUp, HostBegan, ModeChosen, ModelChosen, Resume,
};

use crate::lines::*;
use crate::stage::Do::{H, I, K};
use crate::stage::{Stage, exited, opened, queue};

fn attached(generation: u32) -> countersign_host::session::Input {
    Attached {
        generation,
        paused: None,
    }
}

#[test]
fn a_mode_and_a_model_are_told_again_until_they_were_written() {
    let mode = |owed: Option<&str>| ModeChosen {
        owed: owed.map(str::to_owned),
    };
    let model = |owed: Option<&str>| ModelChosen {
        owed: owed.map(str::to_owned),
    };
    let mut stage = Stage::idle();
    stage.play([
        (I(mode(Some("plan"))), "idle", &[]),
        (I(HostBegan), "idle", &[]),
        (I(attached(1)), "idle", &["tell mode"]),
        (I(CaughtUp), "idle", &[]),
        // Something else was written: not yet.
        (H(set_mode("default")), "idle", &[]),
        (I(model(Some(""))), "idle", &[]),
        (I(attached(1)), "idle", &["tell mode and model"]),
        (H(set_mode("plan")), "idle", &[]),
        (H(set_model(None)), "idle", &[]),
        (I(attached(1)), "idle", &[]),
        // It knows by now.
        (I(mode(Some("default"))), "idle", &[]),
        (I(mode(None)), "idle", &[]),
        (I(attached(1)), "idle", &[]),
        // The next one is started with it.
        (I(model(Some("haiku"))), "idle", &[]),
        (K(exited(0)), "idle", &["give up room"]),
        (I(mode(Some("plan"))), "idle", &[]),
        (I(Resume), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 2 NewSameId"]),
        (K(opened(2)), "starting", &[]),
        (I(attached(2)), "idle", &[]),
    ]);
}

#[test]
fn what_is_chosen_while_an_agent_starts_is_told_when_it_is_there() {
    let mut stage = Stage::new();
    let owed = Some("plan".to_owned());
    stage.play([
        (I(Resume), "queued", &["ask for room"]),
        (I(Admitted), "starting", &["spawn 1 New"]),
        (I(ModeChosen { owed }), "starting", &[]),
        (I(queue(&[1])), "starting", &[]),
        (K(opened(1)), "starting", &[]),
        (I(attached(1)), "running", &["tell mode", "send 1"]),
    ]);
}
