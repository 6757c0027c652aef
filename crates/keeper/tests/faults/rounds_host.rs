//! `kill -9` of the host at each step of an answer and anywhere, then a new host.
//!
//! Owns the rounds in which only hosts die. After each: every frame is in the journal once, every question got its
//! answer, each answer and message reached stdin once, each tool ran once.

use std::time::{Duration, Instant};

use crate::checks::Extent;
use crate::figures::Figures;
use crate::host::Host;
use crate::orders::{Leave, Step};
use crate::procs::{self, Process};
use crate::scenes;
use crate::stage::{Cli, Stage};
use crate::task::Message;
use crate::wait::{self, Dice};

/// Where a host dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Death {
    /// By its own hand, at a step it knows of.
    At(Step),
    /// While the keeper stands still at this step.
    While(&'static str),
    /// So long after its start, at most.
    Anywhere(Duration),
}

/// So many rounds are one session.
const SESSION: usize = 8;

fn rounds(name: &'static str, cli: Cli, death: Death, count: u32) {
    let mut dice = Dice::of(name);
    let mut figures = Figures::of(name);
    let mut left = count as usize;
    while left > 0 {
        let rounds = left.min(SESSION);
        left -= rounds;
        let Some(stage) = Stage::new(cli, &mut dice) else {
            return;
        };
        let stage = match death {
            Death::While(step) => stage.with_habits(serde_json::json!({ "stop_at": step })),
            _ => stage,
        };
        session(&stage, death, rounds, &mut dice, &mut figures);
    }
    figures.tell();
}

fn session(stage: &Stage, death: Death, rounds: usize, dice: &mut Dice, figures: &mut Figures) {
    let messages = stage.messages(rounds, dice);
    for round in 1..=rounds {
        let messages = &messages[..round];
        let killed = one_host_dies(stage, messages, death, dice);
        let is_drawn = matches!(death, Death::Anywhere(_));
        assert!(killed || is_drawn, "no host came to {death:?}");
        let started = Instant::now();
        let mut next = stage.host(&stage.orders(messages));
        carry_on(stage, &mut next);
        figures.recovered(started.elapsed());
        stage.assert_kept(Extent::Whole, &format!("{death:?}, round {round}"));
        figures.round(killed);
    }
    let mut orders = stage.orders(&messages);
    orders.leave = Leave::EndWhenDone;
    let mut last = stage.host(&orders);
    carry_on(stage, &mut last);
    wait::until("nothing is left running", || stage.processes().is_empty());
    stage.assert_kept(Extent::Whole, "at the end");
    figures.session(&stage.case());
}

/// Starts a host and sees it die; whether it did before it was done.
fn one_host_dies(stage: &Stage, messages: &[Message], death: Death, dice: &mut Dice) -> bool {
    let mut orders = stage.orders(messages);
    if let Death::At(step) = death {
        orders.die = Some(step);
    }
    let mut host = stage.host(&orders);
    match death {
        Death::At(_) => {}
        Death::While(_) => {
            let stopped = || stopped_keeper(stage);
            wait::found("the keeper stands still", || host.story(), stopped);
            procs::kill(host.pid());
            host.until_ended();
            go_on(stage);
            return true;
        }
        Death::Anywhere(most) => {
            // Not a wait: the point itself is what is drawn.
            std::thread::sleep(dice.moment(most));
            procs::kill(host.pid());
        }
    }
    !host.until_ended().success()
}

/// Lets a host do what it was told; a keeper that stands still goes on.
fn carry_on(stage: &Stage, host: &mut Host) {
    let left = wait::within(wait::DEADLINE, || {
        go_on(stage);
        host.ended()
    });
    let left = left.is_some_and(|status| status.success());
    assert!(left, "{}", host.story());
}

fn stopped_keeper(stage: &Stage) -> Option<u32> {
    let keeper = stage.pid_of("keeper")?;
    Process::is_stopped(keeper).then_some(keeper)
}

fn go_on(stage: &Stage) {
    if let Some(keeper) = stopped_keeper(stage) {
        procs::signal(keeper, rustix::process::Signal::CONT);
    }
}

/// A turn of the scripted CLI takes so long, about.
const SOON: Duration = Duration::from_millis(120);
/// A turn of the real one, its start included.
const LATER: Duration = Duration::from_millis(1500);

mod scripted {
    use super::*;

    const CLI: Cli = Cli::Scripted(scenes::THREE_QUESTIONS);

    #[test]
    fn killed_when_a_question_is_asked() {
        let count = wait::share(8, 3);
        let death = Death::At(Step::Asked);
        rounds("host, question asked, scripted", CLI, death, count);
    }

    #[test]
    fn killed_when_the_decision_is_committed() {
        let count = wait::share(8, 3);
        let death = Death::At(Step::Decided);
        rounds("host, decision committed, scripted", CLI, death, count);
    }

    #[test]
    fn killed_when_the_answer_is_journalled() {
        let count = wait::share(8, 3);
        let death = Death::While("journalled");
        rounds("host, answer journalled, scripted", CLI, death, count);
    }

    #[test]
    fn killed_when_the_answer_is_written() {
        let count = wait::share(8, 3);
        let death = Death::While("written");
        rounds("host, answer written, scripted", CLI, death, count);
    }

    #[test]
    fn killed_when_the_keeper_has_said_so() {
        let count = wait::share(4, 2);
        let death = Death::At(Step::Written);
        rounds("host, answer confirmed, scripted", CLI, death, count);
    }

    #[test]
    fn killed_anywhere() {
        let count = wait::share(18, 6);
        let death = Death::Anywhere(SOON);
        rounds("host, anywhere, scripted", CLI, death, count);
    }
}

mod newest {
    use super::*;

    const CLI: Cli = Cli::Real(SESSION);

    #[test]
    fn killed_when_a_question_is_asked() {
        let count = wait::share(3, 1);
        rounds(
            "host, question asked, newest",
            CLI,
            Death::At(Step::Asked),
            count,
        );
    }

    #[test]
    fn killed_when_the_decision_is_committed() {
        let count = wait::share(3, 1);
        let death = Death::At(Step::Decided);
        rounds("host, decision committed, newest", CLI, death, count);
    }

    #[test]
    fn killed_when_the_answer_is_journalled() {
        let count = wait::share(3, 1);
        let death = Death::While("journalled");
        rounds("host, answer journalled, newest", CLI, death, count);
    }

    #[test]
    fn killed_when_the_answer_is_written() {
        let count = wait::share(3, 1);
        let death = Death::While("written");
        rounds("host, answer written, newest", CLI, death, count);
    }

    #[test]
    fn killed_anywhere() {
        let count = wait::share(8, 3);
        let death = Death::Anywhere(LATER);
        rounds("host, anywhere, newest", CLI, death, count);
    }
}
