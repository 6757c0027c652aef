//! `kill -9` of keeper, guard, both, agent, CLI and of everything at once, while questions are open, decided and written.
//!
//! Owns the rounds in which agents die. First the host must show what happened: the turn was cut off, what was asked is
//! withdrawn, what was allowed and not heard of is unknown, and nothing else is. Then the session goes on, and what waited
//! is done.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::accounts::{Died, life_of};
use crate::figures::Figures;
use crate::hosted::Hosted;
use crate::orders::{Death, Leave, Ordered, Person};
use crate::procs;
use crate::scenes;
use crate::stage::{Cli, Stage, lines};
use crate::wait::{self, Dice};

/// Who dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Keeper,
    Guard,
    Both,
    /// What the keeper started.
    Agent,
    /// The CLI behind the witness.
    Cli,
    /// The machine: hosts, too.
    Everything,
}

/// How far a question is when that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Open,
    /// Decided and committed, by a host that died of it.
    Decided,
    /// Allowed, and the tool runs.
    Written,
    /// So long after the start, at most.
    Anywhere(Duration),
}

fn rounds(name: &'static str, cli: Cli, victims: &[Victim], when: When, count: u32) {
    let mut dice = Dice::of(name);
    let mut figures = Figures::of(name);
    for round in 0..count as usize {
        let victim = victims[round % victims.len()];
        let Some(stage) = Stage::new(cli, &mut dice) else {
            return;
        };
        let mut commands = stage.messages(2, &mut dice);
        let told = one_dies(&stage, victim, when, &commands, &mut dice);
        let name = format!("{name}, {victim:?} {when:?}");
        if !matches!(when, When::Anywhere(_)) {
            let report = told.unwrap_or_else(|| shown_by_the_next(&stage, victim));
            assert_shown(&stage, &report, victim, when, &name);
        }
        commands.push(stage.resume("resume", &mut dice));
        let started = Instant::now();
        let mut host = stage.host(&stage.orders(&commands));
        let report = host.until_at_rest();
        stage.note(&host);
        figures.recovered(started.elapsed());
        stage.assert_kept(&commands, &report, Died::Agents, &name);
        let how = stage.journal().events("open");
        figures.went_on(how.last().and_then(flag_of));
        figures.round(true);
        figures.session(&stage.case());
    }
    figures.tell();
}

/// Brings a session to the point, and kills. Gives what the host showed, if it outlived the victim.
fn one_dies(
    stage: &Stage,
    victim: Victim,
    when: When,
    commands: &[Ordered],
    dice: &mut Dice,
) -> Option<Value> {
    let mut orders = stage.orders(commands);
    orders.leave = Leave::Off;
    match when {
        When::Open => orders.person = Person::Waits,
        When::Decided => {
            orders.die = Some(Death {
                point: "decision committed".into(),
                nth: 1,
            });
        }
        When::Written | When::Anywhere(_) => {}
    }
    let mut host = stage.host(&orders);
    match when {
        When::Open => drop(host.until("question")),
        When::Decided => drop(host.until_ended()),
        When::Written => {
            wait::found("the tool runs", || host.story(), || stage.ran().pop());
        }
        When::Anywhere(most) => {
            let agent = || stage.agent();
            wait::found("an agent", || host.story(), agent);
            // Not a wait: the point itself is what is drawn.
            std::thread::sleep(dice.moment(most));
        }
    }
    // Killed anywhere, it may be before the message was written: then a host that lives just goes on.
    let is_known = matches!(when, When::Open | When::Written);
    let outlives = is_known && victim != Victim::Everything && dice.below(2) == 0;
    if !outlives {
        procs::signal(host.pid(), Signal::STOP);
    }
    kill(stage, victim);
    let shown = outlives.then(|| host.until_at_rest());
    if shown.is_none() {
        end(&mut host);
    }
    stage.note(&host);
    shown
}

fn end(host: &mut Hosted) {
    match host.ended() {
        Some(_) => drop(host.until_ended()),
        None => host.kill(),
    }
}

fn kill(stage: &Stage, victim: Victim) {
    let named = |who: &str| stage.pid_of(who).into_iter().collect::<Vec<u32>>();
    let hit: Vec<u32> = match victim {
        Victim::Keeper => named("keeper"),
        Victim::Guard => named("guard"),
        Victim::Both => [named("keeper"), named("guard")].concat(),
        Victim::Agent => stage.agent().iter().map(|agent| agent.pid).collect(),
        Victim::Cli => {
            let witness = stage.agent();
            let below = witness.iter().flat_map(|witness| {
                let below = procs::below(witness.pid).into_iter();
                below.filter(|one| one.parent == witness.pid)
            });
            below.map(|one| one.pid).collect()
        }
        Victim::Everything => stage.processes().iter().map(|one| one.pid).collect(),
    };
    if hit.is_empty() && victim == Victim::Cli {
        // The witness has not started it yet.
        return kill(stage, Victim::Agent);
    }
    assert!(!hit.is_empty(), "{victim:?} is there\n{}", stage.story());
    // Stopped first: otherwise one may see the other go.
    for pid in &hit {
        procs::signal(*pid, Signal::STOP);
    }
    if victim == Victim::Everything {
        // A shell may have begun another program since they were listed. Those who stand still begin nothing.
        let began = stage.processes().into_iter().map(|one| one.pid);
        if began.into_iter().any(|pid| !hit.contains(&pid)) {
            return kill(stage, victim);
        }
    }
    hit.into_iter().for_each(procs::kill);
}

/// A host that only looks, once everybody has gone. With keeper and guard gone at once, ending the rest is its part.
fn shown_by_the_next(stage: &Stage, victim: Victim) -> Value {
    if victim != Victim::Both {
        let left = || format!("{victim:?}: {:#?}\n{}", stage.processes(), stage.story());
        let gone = || stage.processes().is_empty().then_some(());
        wait::found("nothing is left running", left, gone);
    }
    let mut orders = stage.orders(&[]);
    orders.leave = Leave::Off;
    let mut host = stage.host(&orders);
    let report = host.until_at_rest();
    stage.note(&host);
    report
}

/// The cut is shown, nothing runs any more, and each approval has come to what it must.
fn assert_shown(stage: &Stage, report: &Value, victim: Victim, when: When, name: &str) {
    let session = &report["session"];
    // The keeper ends an agent in steps when its guard has gone. Its tool may end by that before it does, and the turn then
    // comes to its result.
    let has_result = || {
        let journal = stage.journal();
        journal.said().any(|(_, line)| line["type"] == "result")
    };
    let is_cut_off = victim != Victim::Guard || !has_result();
    assert_eq!(
        session["cut_off"],
        is_cut_off,
        "{name}: {session}\n{}",
        stage.story()
    );
    let gone = wait::within(wait::TWO_SECONDS, || {
        stage.processes().is_empty().then_some(())
    });
    assert!(gone.is_some(), "{name}: {:#?}", stage.processes());
    let wrong = stage.wrong_rows(report);
    assert!(
        wrong.is_empty(),
        "{name}: {}\n{}",
        lines(&wrong),
        stage.story()
    );
    let approvals = report["approvals"].as_array().unwrap();
    assert!(
        !approvals.is_empty(),
        "{name}: nothing was asked\n{}",
        stage.story()
    );
    let expected = match when {
        When::Open | When::Decided => "withdrawn agent_gone",
        // There is time for a word.
        When::Written if victim == Victim::Guard => return,
        When::Written => "settled unknown",
        When::Anywhere(_) => return,
    };
    for approval in approvals {
        let life = life_of(approval);
        assert_eq!(life, expected, "{name}: {approval}\n{}", stage.story());
    }
    if when == When::Decided {
        let by = &approvals[0]["decided"]["by"];
        assert_eq!(by, "the person", "{name}: the decision is on record");
    }
}

/// How an agent was told to begin.
fn flag_of(open: &Value) -> Option<&str> {
    let argv = open["argv"].as_array().into_iter().flatten();
    let mut flags = argv.filter_map(|arg| arg.as_str()?.split('=').next());
    flags.find(|arg| ["--session-id", "--resume"].contains(arg))
}

const ALL: [Victim; 6] = [
    Victim::Keeper,
    Victim::Agent,
    Victim::Everything,
    Victim::Guard,
    Victim::Both,
    Victim::Cli,
];

mod scripted {
    use super::*;

    const CLI: Cli = Cli::Scripted(scenes::WITH_CHILDREN);

    #[test]
    fn killed_while_a_question_is_open() {
        let count = wait::share(6, 6);
        rounds(
            "whole host, agent, question open, scripted",
            CLI,
            &ALL,
            When::Open,
            count,
        );
    }

    #[test]
    fn killed_when_a_decision_is_committed_and_not_delivered() {
        let count = wait::share(6, 3);
        rounds(
            "whole host, agent, decided, scripted",
            CLI,
            &ALL,
            When::Decided,
            count,
        );
    }

    #[test]
    fn killed_while_an_allowed_tool_runs() {
        let slow = Cli::Scripted(scenes::SLOW_TOOL);
        let count = wait::share(6, 6);
        rounds(
            "whole host, agent, written, scripted",
            slow,
            &ALL,
            When::Written,
            count,
        );
    }

    #[test]
    fn killed_anywhere() {
        let count = wait::share(12, 4);
        let when = When::Anywhere(Duration::from_millis(300));
        rounds(
            "whole host, agent, anywhere, scripted",
            CLI,
            &ALL,
            when,
            count,
        );
    }
}

mod newest {
    use super::*;

    const CLI: Cli = Cli::Real(2);

    #[test]
    fn killed_while_a_question_is_open() {
        let count = wait::share(3, 1);
        rounds(
            "whole host, agent, question open, newest",
            CLI,
            &ALL,
            When::Open,
            count,
        );
    }

    #[test]
    fn killed_anywhere() {
        let count = wait::share(4, 1);
        let when = When::Anywhere(Duration::from_millis(2000));
        rounds(
            "whole host, agent, anywhere, newest",
            CLI,
            &ALL,
            when,
            count,
        );
    }
}
