//! Wishes that are on the disk when their host dies.
//!
//! Owns that moment: nobody was told anything, neither the client nor the agent. The next host carries them out by itself.

use countersign_host::control::Command;

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
    let stop = Ordered {
        key: "stop".to_owned(),
        command: Command::Stop {
            session: stage.id(),
        },
    };
    let mut orders = stage.orders(&[stop]);
    orders.leave = Leave::Never;
    orders.die = Some(Death {
        point: "wish committed".to_owned(),
        nth: 1,
    });
    assert!(!stage.host(&orders).until_ended().success());
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
