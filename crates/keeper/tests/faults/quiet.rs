//! A host that goes with five open questions says nothing: no byte reaches any agent, whichever way it went.
//!
//! Owns the ways of going: SIGTERM, a panic, returning from `main`, SIGKILL. The next host finds the questions open,
//! answers them, and each tool runs once.

use rustix::process::Signal;

use crate::checks::Extent;
use crate::host::Host;
use crate::orders::{Decide, Leave};
use crate::procs;
use crate::scenes;
use crate::stage::{Cli, Stage};
use crate::wait::Dice;

const OPEN: usize = 5;

fn goes(name: &str, cli: Cli, leave: Leave, how: impl FnOnce(&Host)) {
    let mut dice = Dice::of(name);
    let Some(stage) = Stage::new(cli, &mut dice) else {
        return;
    };
    let messages = stage.messages(1, &mut dice);
    let mut orders = stage.orders(&messages);
    orders.decide = Decide::Hold;
    orders.leave = leave;
    let mut host = stage.host(&orders);
    host.until_so_many("question", OPEN);
    let before = stage.witness(1).heard;
    how(&host);
    host.until_ended();
    let keeper = stage.pid_of("keeper").expect("a keeper");
    // The keeper has taken note of it, so whatever it was to pass on it would have passed on.
    crate::wait::until("the keeper sees it go", || {
        !stage.journal().events("detached").is_empty()
    });
    let heard = stage.witness(1).heard;
    assert_eq!(
        String::from_utf8_lossy(&heard),
        String::from_utf8_lossy(&before),
        "something was written as the host went"
    );
    assert!(procs::Process::of(keeper).is_some(), "the keeper lives on");

    let mut next = stage.host(&stage.orders(&messages));
    let attached = next.until("attached");
    assert_eq!(attached["open"].as_array().map(Vec::len), Some(OPEN));
    next.until_left();
    stage.assert_kept(Extent::Whole, name);
    assert_eq!(stage.ran().len(), OPEN);
}

mod scripted {
    use super::*;

    const CLI: Cli = Cli::Scripted(scenes::FIVE_QUESTIONS);

    #[test]
    fn by_sigterm() {
        goes("quiet, SIGTERM", CLI, Leave::Never, |host| {
            procs::signal(host.pid(), Signal::TERM);
        });
    }

    #[test]
    fn by_a_panic() {
        goes("quiet, panic", CLI, Leave::PanicAt(OPEN), |_| {});
    }

    #[test]
    fn by_returning_from_main() {
        goes("quiet, exit", CLI, Leave::ReturnAt(OPEN), |_| {});
    }

    #[test]
    fn by_sigkill() {
        goes("quiet, SIGKILL", CLI, Leave::Never, |host| {
            procs::kill(host.pid());
        });
    }
}

mod newest {
    use super::*;

    #[test]
    fn by_sigterm() {
        goes("quiet, SIGTERM", Cli::RealWithFive, Leave::Never, |host| {
            procs::signal(host.pid(), Signal::TERM);
        });
    }

    #[test]
    fn by_a_panic() {
        let leave = Leave::PanicAt(OPEN);
        goes("quiet, panic", Cli::RealWithFive, leave, |_| {});
    }
}
