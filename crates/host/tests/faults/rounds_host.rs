//! `kill -9` of hosts at each point they pass and anywhere, then a new host.
//!
//! Owns the rounds in which only hosts die. After each: every frame is in the journal once, every question got its
//! answer, each message and answer reached stdin once, each tool ran once, every row says what the journal says, and
//! receipts are the same whoever is asked.

use std::time::{Duration, Instant};

use crate::accounts::Died;
use crate::figures::Figures;
use crate::hosted::Hosted;
use crate::orders::{Death, Ordered, Orders};
use crate::procs::{self, Process};
use crate::scenes;
use crate::stage::{Cli, Stage};
use crate::wait::{self, Dice};

/// Where a host dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// By its own hand, at a point it passes; the how-manieth time is drawn below this.
    At(&'static str, u32),
    /// While the keeper stands still at this step of an answer.
    While(&'static str),
    /// So long after its start, at most.
    Anywhere(Duration),
}

/// Rounds of one kind.
struct Rounds {
    name: &'static str,
    cli: Cli,
    /// One host after the other dies like this in each round.
    ends: &'static [End],
    /// So many rounds are one session.
    session: usize,
}

impl Rounds {
    fn run(&self, count: u32) {
        let mut dice = Dice::of(self.name);
        let mut figures = Figures::of(self.name);
        let mut left = count as usize;
        while left > 0 {
            let rounds = left.min(self.session);
            left -= rounds;
            let Some(stage) = Stage::new(self.cli, &mut dice) else {
                return;
            };
            let stops = self.ends.iter().find_map(|end| match end {
                End::While(step) => Some(serde_json::json!({ "stop_at": step })),
                _ => None,
            });
            let stage = match stops {
                Some(habits) => stage.with_habits(habits),
                None => stage,
            };
            self.one_session(&stage, rounds, &mut dice, &mut figures);
        }
        figures.tell();
    }

    fn one_session(&self, stage: &Stage, rounds: usize, dice: &mut Dice, figures: &mut Figures) {
        let all = stage.messages(rounds, dice);
        for round in 1..=rounds {
            let commands = &all[..round];
            let mut is_hit = false;
            for end in self.ends {
                is_hit |= one_host_dies(stage, commands, *end, dice);
            }
            let started = Instant::now();
            let mut next = stage.host(&again(stage, commands, dice));
            let report = carry_on(stage, &mut next);
            figures.recovered(started.elapsed());
            let when = format!("{}, round {round}", self.name);
            stage.assert_kept(commands, &report, Died::Hosts, &when);
            figures.round(is_hit);
        }
        figures.session(&stage.case());
    }
}

/// What a client says to the next host: everything once more, or only what it has no receipt for.
fn again(stage: &Stage, commands: &[Ordered], dice: &mut Dice) -> Orders {
    let mut orders = stage.orders(commands);
    if dice.below(2) == 0 {
        orders.commands = stage.not_acknowledged(commands);
    }
    orders
}

/// Starts a host and sees it die; whether it did before all was at rest.
fn one_host_dies(stage: &Stage, commands: &[Ordered], end: End, dice: &mut Dice) -> bool {
    let mut orders = again(stage, commands, dice);
    if let End::At(point, most) = end {
        orders.die = Some(Death {
            point: point.to_owned(),
            nth: 1 + dice.below(u64::from(most)) as u32,
        });
    }
    let mut host = stage.host(&orders);
    match end {
        End::At(..) => {}
        End::While(_) => {
            let stopped = || stopped_keeper(stage);
            wait::found("the keeper stands still", || host.story(), stopped);
            procs::kill(host.pid());
            host.until_ended();
            go_on(stage);
        }
        End::Anywhere(most) => {
            // Not a wait: the point itself is what is drawn.
            std::thread::sleep(dice.moment(most));
            procs::kill(host.pid());
        }
    }
    let is_hit = !host.until_ended().success();
    stage.note(&host);
    is_hit
}

/// Lets a host do what it was told; a keeper that stands still goes on.
fn carry_on(stage: &Stage, host: &mut Hosted) -> serde_json::Value {
    wait::within(wait::DEADLINE, || {
        go_on(stage);
        host.ended()
    });
    let report = host.until_at_rest();
    stage.note(host);
    report
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
const SOON: Duration = Duration::from_millis(400);
/// A turn of the real one, its start included.
const LATER: Duration = Duration::from_millis(2500);

macro_rules! rounds {
    ($cli:expr, $kind:literal: $($test:ident $of:literal $ends:expr, $hundredths:literal, $least:literal;)*) => {$(
        #[test]
        fn $test() {
            Rounds {
                name: concat!("whole host, ", $of, ", ", $kind),
                cli: $cli,
                ends: $ends,
                session: 6,
            }
            .run(wait::share($hundredths, $least));
        }
    )*};
}

mod scripted {
    use super::*;

    rounds! { Cli::Scripted(scenes::THREE_QUESTIONS), "scripted":
        killed_when_a_question_is_stored "question stored" &[End::At("question stored", 2)], 5, 2;
        killed_when_a_decision_is_committed "decision committed" &[End::At("decision committed", 2)], 5, 2;
        killed_when_an_answer_is_handed_in "answer handed in" &[End::At("answer handed in", 3)], 5, 2;
        killed_when_an_answer_is_seen_in_the_journal "answer seen" &[End::At("answer in the journal", 3)], 5, 2;
        killed_when_the_keeper_has_journalled_an_answer "answer journalled" &[End::While("journalled")], 4, 1;
        killed_when_the_keeper_has_written_an_answer "answer written" &[End::While("written")], 4, 1;
        killed_when_a_line_is_entered "line entered" &[End::At("line entered", 1)], 5, 3;
        killed_when_a_message_is_handed_in "message handed in" &[End::At("message handed in", 1)], 5, 3;
        killed_when_the_projection_is_stored "projection stored" &[End::At("projection stored", 12)], 6, 3;
        killed_anywhere "anywhere" &[End::Anywhere(SOON)], 20, 4;
        killed_in_the_middle_of_a_recovery "recovery"
            &[End::At("question stored", 1), End::At("session recovered", 1), End::At("agent found", 1), End::At("outbox settled", 1)], 5, 1;
        killed_each_time_an_agent_is_about_to_start "about to start"
            &[End::At("start stored", 1), End::At("start stored", 1), End::At("start stored", 1), End::At("start stored", 1)], 1, 1;
        killed_again_and_again "again and again"
            &[End::Anywhere(SOON), End::Anywhere(SOON), End::Anywhere(SOON)], 10, 1;
    }
}

mod newest {
    use super::*;

    rounds! { Cli::Real(6), "newest":
        killed_when_a_decision_is_committed "decision committed" &[End::At("decision committed", 2)], 3, 1;
        killed_when_an_answer_is_handed_in "answer handed in" &[End::At("answer handed in", 2)], 3, 1;
        killed_anywhere "anywhere" &[End::Anywhere(LATER), End::Anywhere(LATER)], 6, 1;
    }
}
