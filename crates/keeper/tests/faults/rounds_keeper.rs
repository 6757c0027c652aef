//! `kill -9` of keeper, guard, both, agent and CLI at random points, then a host that recovers.
//!
//! Owns the rounds in which the process tree dies. After each: the journal can be read and its chain holds, nothing of
//! the tree is left within two seconds, the session goes on with the conversation or begins afresh, and no tool ran more
//! often than it was allowed.

use std::time::{Duration, Instant};

use crate::checks::{Extent, Promise, Violation};
use crate::figures::Figures;
use crate::host::Host;
use crate::orders::{Decide, Leave};
use crate::procs::{self, Process};
use crate::scenes;
use crate::stage::{Cli, Stage, lines};
use crate::task::Message;
use crate::wait::{self, Dice, TWO_SECONDS};

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
}

/// So many rounds are one session; each has two messages.
const SESSION: usize = 4;

fn rounds(name: &'static str, cli: Cli, victim: Victim, most: Duration, count: u32) {
    let mut dice = Dice::of(name);
    let mut figures = Figures::of(name);
    let mut left = count as usize;
    while left > 0 {
        let rounds = left.min(SESSION);
        left -= rounds;
        let Some(stage) = Stage::new(cli, &mut dice) else {
            return;
        };
        let messages = stage.messages(2 * rounds, &mut dice);
        for round in 1..=rounds {
            let before = &messages[..2 * round - 1];
            let tree = one_dies(&stage, victim, most, before, &mut dice, &mut figures);
            stage.assert_kept(Extent::Begun, &format!("{victim:?}, round {round}"));
            assert_chain_holds(&stage);
            goes_on(&stage, &messages[..2 * round], &tree, &mut figures);
            figures.round(!tree.is_empty());
        }
        figures.session(&stage.case());
    }
    figures.tell();
}

/// Starts a host, kills the victim somewhere, and sees that nothing is left. Returns the tree that was hit; nothing if
/// nobody was there yet.
fn one_dies(
    stage: &Stage,
    victim: Victim,
    most: Duration,
    messages: &[Message],
    dice: &mut Dice,
    figures: &mut Figures,
) -> Vec<Process> {
    let mut orders = stage.orders(messages);
    orders.leave = Leave::Never;
    orders.decide = dice.pick(&[Decide::Allow, Decide::Allow, Decide::Hold]);
    let mut host = stage.host(&orders);
    match dice.below(4) {
        0 => {}
        1 => drop(host.until("attached")),
        2 => drop(host.until("question")),
        _ if orders.decide == Decide::Hold => drop(host.until("question")),
        _ => drop(host.until("answered")),
    }
    // Not a wait: the point itself is what is drawn.
    std::thread::sleep(dice.moment(most));
    let tree = stage.processes();
    // The host stands still: one that is still on its way in would begin the next generation at once.
    procs::signal(host.pid(), rustix::process::Signal::STOP);
    let hit = victims(stage, victim, &mut host);
    for pid in &hit {
        procs::kill(*pid);
    }
    let killed = Instant::now();
    if hit.is_empty() {
        host.kill();
        return Vec::new();
    }
    if victim == Victim::Both {
        // With both gone, ending what is left is the next host's part.
        host.kill();
        return tree;
    }
    let wrong = left_running(stage, &tree);
    assert!(
        wrong.is_empty(),
        "{victim:?} {hit:?}: {}\n{}",
        lines(&wrong),
        stage.story()
    );
    figures.recovered(killed.elapsed());
    host.kill();
    tree
}

/// What of the tree, or of anything it started since, still runs after two seconds.
pub(crate) fn left_running(stage: &Stage, tree: &[Process]) -> Vec<Violation> {
    let left = || {
        let mut left = stage.processes();
        left.extend(tree.iter().filter(|process| process.runs()).cloned());
        left
    };
    if wait::within(TWO_SECONDS, || left().is_empty().then_some(())).is_some() {
        return Vec::new();
    }
    let left = left().into_iter();
    let left = left.map(|process| Violation {
        promise: Promise::NothingLeft,
        what: format!("{process:?}"),
    });
    left.collect()
}

/// Guard and keeper, by their program and who started whom: they may not have said yet who they are. None as long as the
/// one process that only starts them is alone, or with the guard only.
pub(crate) fn guard_and_keeper(stage: &Stage, host: u32) -> Option<[u32; 2]> {
    let all = stage.processes();
    let kept: Vec<&Process> = all.iter().filter(|one| one.command == "kept").collect();
    let is_launcher = |pid: u32| kept.iter().any(|one| one.pid == pid && one.parent == host);
    let is_kept = |pid: u32| kept.iter().any(|one| one.pid == pid);
    let keeper = kept
        .iter()
        .find(|one| is_kept(one.parent) && !is_launcher(one.parent))?;
    Some([keeper.parent, keeper.pid])
}

fn victims(stage: &Stage, victim: Victim, host: &mut Host) -> Vec<u32> {
    let both = guard_and_keeper(stage, host.pid());
    match victim {
        Victim::Guard => both.iter().map(|[guard, _]| *guard).collect(),
        Victim::Keeper => both.iter().map(|[_, keeper]| *keeper).collect(),
        Victim::Both => {
            // Stopped first: otherwise one may see the other go.
            for pid in both.iter().flatten().rev() {
                procs::signal(*pid, rustix::process::Signal::STOP);
            }
            host.kill();
            both.into_iter().flatten().collect()
        }
        Victim::Agent => stage.agent().iter().map(|agent| agent.pid).collect(),
        Victim::Cli => {
            let witness = stage.agent();
            let children = witness.iter().flat_map(|witness| procs::below(witness.pid));
            let cli = children.filter(|one| Some(one.parent) == stage.agent().map(|one| one.pid));
            cli.map(|one| one.pid).collect()
        }
    }
}

fn assert_chain_holds(stage: &Stage) {
    let wrong = crate::chain::violations(&stage.dir());
    assert!(wrong.is_empty(), "{}", lines(&wrong));
}

/// A new host says one message more, and it is answered. A conversation that the CLI had not stored begins afresh.
fn goes_on(stage: &Stage, messages: &[Message], tree: &[Process], figures: &mut Figures) {
    let mut host = stage.host(&stage.orders(messages));
    let how = host.until("attached");
    let left: Vec<_> = tree.iter().filter(|process| process.runs()).collect();
    assert!(left.is_empty(), "of the generation before: {left:#?}");
    host.until_left();
    stage.assert_kept(Extent::Whole, "after the recovery");
    assert_chain_holds(stage);
    figures.went_on(how["started"].as_str());
}

/// An agent with open questions ends with whoever is killed, whatever it and its children ignore.
fn ends_by_force(victim: Victim) {
    let mut dice = Dice::of("stubborn agent");
    let stage = Stage::scripted(scenes::STUBBORN, &mut dice);
    let messages = stage.messages(1, &mut dice);
    let mut orders = stage.orders(&messages);
    (orders.decide, orders.leave) = (Decide::Hold, Leave::Never);
    let mut host = stage.host(&orders);
    host.until("question");
    let tree = stage.processes();
    let hit = victims(&stage, victim, &mut host);
    assert!(!hit.is_empty(), "{victim:?} is there: {tree:#?}");
    hit.into_iter().for_each(procs::kill);
    let wrong = left_running(&stage, &tree);
    assert!(
        wrong.is_empty(),
        "{victim:?}: {}\n{}",
        lines(&wrong),
        stage.story()
    );
}

/// An agent that dies before anybody has said something to it has stored no conversation to go on with.
fn begins_afresh(name: &str, cli: Cli) {
    let mut dice = Dice::of(name);
    let Some(stage) = Stage::new(cli, &mut dice) else {
        return;
    };
    let messages = stage.messages(1, &mut dice);
    let mut orders = stage.orders(&[]);
    orders.leave = Leave::Never;
    let mut host = stage.host(&orders);
    host.until("attached");
    for pid in victims(&stage, Victim::Cli, &mut host) {
        procs::kill(pid);
    }
    wait::until("nothing is left running", || stage.processes().is_empty());
    host.kill();
    let mut figures = Figures::of("afresh");
    goes_on(&stage, &messages, &[], &mut figures);
    let journal = stage.journal();
    let begun = journal.events("open");
    let begun: Vec<&str> = begun.iter().map(flag_of).collect();
    assert_eq!(begun, ["--session-id", "--resume", "--session-id"]);
    let sessions = journal.said();
    let sessions = sessions.filter(|(_, line)| line["subtype"] == "init");
    let mut ids = sessions.map(|(_, line)| line["session_id"].clone());
    assert!(ids.all(|id| id == stage.id()), "the same id throughout");
}

/// How an agent was told to begin.
fn flag_of(open: &serde_json::Value) -> &str {
    let argv = open["argv"].as_array().into_iter().flatten();
    let mut flags = argv.filter_map(|arg| arg.as_str());
    let flag = flags.find(|arg| ["--session-id", "--resume"].contains(arg));
    flag.unwrap_or_default()
}

const SOON: Duration = Duration::from_millis(60);
const LATER: Duration = Duration::from_millis(600);

mod scripted {
    use super::*;

    const CLI: Cli = Cli::Scripted(scenes::WITH_CHILDREN);

    #[test]
    fn the_keeper_is_killed() {
        let count = wait::share(5, 4);
        rounds("keeper, scripted", CLI, Victim::Keeper, SOON, count);
    }

    /// It ignores whatever may be ignored, and so do its children.
    #[test]
    fn whoever_is_killed_an_agent_that_does_not_want_to_end_is_ended() {
        for victim in [Victim::Keeper, Victim::Guard, Victim::Agent] {
            ends_by_force(victim);
        }
    }

    #[test]
    fn the_guard_is_killed() {
        let count = wait::share(4, 4);
        rounds("guard, scripted", CLI, Victim::Guard, SOON, count);
    }

    #[test]
    fn both_are_killed() {
        let count = wait::share(4, 4);
        rounds("keeper and guard, scripted", CLI, Victim::Both, SOON, count);
    }

    #[test]
    fn the_agent_is_killed() {
        let count = wait::share(3, 3);
        rounds("agent, scripted", CLI, Victim::Agent, SOON, count);
    }

    #[test]
    fn a_conversation_that_was_not_stored_begins_afresh_under_the_same_id() {
        begins_afresh("afresh, scripted", CLI);
    }

    #[test]
    fn the_cli_is_killed() {
        let count = wait::share(2, 3);
        rounds("CLI, scripted", CLI, Victim::Cli, SOON, count);
    }
}

mod newest {
    use super::*;

    const CLI: Cli = Cli::Real(2 * SESSION);

    #[test]
    fn the_keeper_is_killed() {
        let count = wait::share(3, 2);
        rounds("keeper, newest", CLI, Victim::Keeper, LATER, count);
    }

    #[test]
    fn the_guard_is_killed() {
        let count = wait::share(2, 1);
        rounds("guard, newest", CLI, Victim::Guard, LATER, count);
    }

    #[test]
    fn both_are_killed() {
        let count = wait::share(2, 1);
        rounds("keeper and guard, newest", CLI, Victim::Both, LATER, count);
    }

    #[test]
    fn a_conversation_that_was_not_stored_begins_afresh_under_the_same_id() {
        begins_afresh("afresh, newest", CLI);
    }

    #[test]
    fn the_agent_is_killed() {
        let count = wait::share(2, 2);
        rounds("agent, newest", CLI, Victim::Cli, LATER, count);
    }
}
