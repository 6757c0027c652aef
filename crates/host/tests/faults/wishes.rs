//! Wishes that are on the disk when their host dies.
//!
//! Owns that moment: nobody was told anything, neither the client nor the agent. The next host carries them out by itself.

use countersign_host::control::{Command, Mode};
use countersign_journal::Kind;
use serde_json::Value;

use crate::orders::{Death, Leave, Ordered};
use crate::scenes;
use crate::stage::Stage;
use crate::wait::Dice;

#[test]
fn a_stop_that_is_stored_is_carried_out_by_the_next_host_without_another_word() {
    let mut dice = Dice::of("a stored stop");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    let commands = stage.messages(1, &mut dice);
    stage.host(&stage.orders(&commands)).until_at_rest();
    let session = stage.id();
    left_to_the_next(&stage, "stop", Command::Stop { session });
    assert!(
        stage.agent().is_some(),
        "nobody has told it: {}",
        stage.story()
    );
    let mut orders = stage.orders(&[]);
    orders.leave = Leave::Off;
    let mut next = stage.host(&orders);
    assert!(next.until_ended().success(), "{}", next.story());
    assert!(stage.agent().is_none(), "{}", stage.story());
}

/// Has a host die when it has stored this wish, and another one take its place.
fn left_to_the_next(stage: &Stage, key: &str, wish: Command) {
    let wish = Ordered {
        key: key.to_owned(),
        command: wish,
    };
    let mut orders = stage.orders(&[wish]);
    orders.leave = Leave::Never;
    orders.die = Some(Death {
        point: "wish committed".to_owned(),
        nth: 1,
    });
    assert!(!stage.host(&orders).until_ended().success());
}

/// What the agent was told by requests of this kind.
fn told(stage: &Stage, subtype: &str) -> Vec<Value> {
    let journal = stage.journal();
    let lines = journal.of(1, Kind::Host).map(|entry| entry.json());
    let asked = lines.filter(|line| line["request"]["subtype"] == subtype);
    asked.map(|line| line["request"].clone()).collect()
}

#[test]
fn a_mode_and_a_model_that_are_stored_are_told_by_the_next_host_once() {
    let mut dice = Dice::of("a stored mode");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    let commands = stage.messages(1, &mut dice);
    stage.host(&stage.orders(&commands)).until_at_rest();
    let session = stage.id();
    let modes = told(&stage, "set_permission_mode").len();
    let models = told(&stage, "set_model").len();
    let mode = Mode::Plan;
    left_to_the_next(&stage, "mode", Command::SetMode { session, mode });
    let model = Some("haiku".to_owned());
    left_to_the_next(&stage, "model", Command::SetModel { session, model });
    let more = stage.send("Go on", &mut dice);
    stage.host(&stage.orders(&[more])).until_at_rest();
    let modes = told(&stage, "set_permission_mode").split_off(modes);
    assert_eq!(modes.len(), 1, "{}", stage.story());
    assert_eq!(modes[0]["mode"], "plan");
    let models = told(&stage, "set_model").split_off(models);
    assert_eq!(models.len(), 1, "{}", stage.story());
    assert_eq!(models[0]["model"], "haiku");
}
