//! An agent that ends in the middle of a turn by itself: told once, so that it can be asked again.

use countersign_host::session::Input::{Admitted, AskAgain, ForceEnd, Gone, Interrupt, Stop};
use countersign_journal::Exit;

use crate::lines::*;
use crate::stage::Stage;

#[test]
fn a_crash_in_the_middle_of_a_turn_is_told_once_and_not_for_a_turn_that_was_asked_again() {
    let mut stage = Stage::running();
    let killed = |generation| Gone {
        generation,
        exit: Exit {
            signal: Some(9),
            ..Exit::default()
        },
        stderr: String::new(),
    };
    stage.give(killed(1));
    assert_eq!(stage.core.take_crash(), Some(1));
    assert_eq!(stage.core.take_crash(), None);
    stage.queue(&[2]);
    stage.give(AskAgain);
    stage.give(Admitted);
    stage.come_up(2);
    stage.queue(&[]);
    stage.host(user(2));
    stage.agent(init());
    stage.agent(replay(2));
    assert_eq!(stage.state(), "running");
    stage.give(killed(2));
    assert_eq!((stage.state(), stage.core.take_crash()), ("failed", None));
}

#[test]
fn an_agent_that_somebody_ends_has_not_crashed() {
    let killed = Exit {
        signal: Some(9),
        ..Exit::default()
    };
    let by_keeper = Exit {
        step: Some("kill".into()),
        ..killed.clone()
    };
    for (wish, exit) in [
        (Some(Stop), killed.clone()),
        (Some(ForceEnd), killed.clone()),
        (Some(Interrupt), killed),
        (None, by_keeper),
    ] {
        let mut stage = Stage::running();
        if let Some(wish) = wish.clone() {
            stage.give(wish);
        }
        stage.give(Gone {
            generation: 1,
            exit,
            stderr: String::new(),
        });
        assert_eq!(stage.core.take_crash(), None, "{wish:?}");
    }
}
