//! Loss of power: everything dies at once, and of the journal only what was synced is left.
//!
//! Owns the simulation. A keeper with the habit `synced_log` writes down how far each sync went; the journal is cut back to
//! that. Every grant that the witness saw reach the agent must be in what is left.

use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use crate::checks::Violation;
use crate::evidence::{answer, segments};
use crate::figures::Figures;
use crate::orders::Leave;
use crate::procs;
use crate::rounds_keeper::guard_and_keeper;
use crate::scenes;
use crate::stage::{Stage, lines};
use crate::wait::{self, Dice};

/// Kills a session as its agent is given a grant, cuts its journal, and says what is wrong.
pub(crate) fn violations_after_power_loss(
    stage: &Stage,
    most_grants: u64,
    dice: &mut Dice,
) -> Vec<Violation> {
    let messages = stage.messages(3, dice);
    let mut host = stage.host(&stage.orders(&messages));
    let wanted = 1 + dice.below(most_grants) as usize;
    let granted = || {
        let heard = stage.witness(1).lines_heard();
        let grants = heard.iter().filter_map(answer);
        let grants = grants.filter(|(_, allows)| *allows);
        (grants.count() >= wanted).then_some(())
    };
    wait::found("grants", || host.story(), granted);
    // Nobody does anything after the power has gone: they stand still, the keeper first, and then they are dead.
    let both = guard_and_keeper(stage, host.pid()).expect("guard and keeper");
    for pid in both.into_iter().rev() {
        procs::signal(pid, Signal::STOP);
    }
    wait::until("all is dead", || {
        let left = stage.processes();
        left.iter().for_each(|one| procs::kill(one.pid));
        left.is_empty()
    });
    host.kill();
    cut_to_what_was_synced(&stage.dir(), &stage.root().join("synced"));
    stage.case().grants()
}

/// Each line of the log is `segment offset`, written after the sync had returned.
fn cut_to_what_was_synced(session: &Path, log: &Path) {
    let log = std::fs::read_to_string(log).unwrap_or_default();
    let mut whole = log
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    let last = whole.next_back().unwrap_or("0 0\n");
    let (segment, length) = last.trim().split_once(' ').expect("segment and offset");
    let (segment, length): (u32, u64) = (segment.parse().unwrap(), length.parse().unwrap());
    for path in segments(session) {
        let number: u32 = path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
        if number > segment {
            std::fs::remove_file(&path).unwrap();
        } else if number == segment {
            let file = std::fs::File::options().write(true).open(&path).unwrap();
            let is_shorter = file.metadata().unwrap().len() >= length;
            assert!(is_shorter, "what was synced was written");
            file.set_len(length).unwrap();
        }
    }
}

/// A stage whose keeper tells how far it synced.
pub(crate) fn stage(scenario: &'static str, mut habits: Value, dice: &mut Dice) -> Stage {
    let stage = Stage::scripted(scenario, dice);
    habits["synced_log"] = stage.root().join("synced").to_str().unwrap().into();
    stage.with_habits(habits)
}

#[test]
fn every_grant_that_reached_an_agent_is_on_the_disk() {
    let name = "power loss, scripted";
    let mut dice = Dice::of(name);
    let mut figures = Figures::of(name);
    for _ in 0..wait::share(5, 4) {
        // In one of them nothing follows the grant, so nothing but its own sync can have brought it to the disk.
        let one = (scenes::SLOW_TOOL, 1);
        let (scenario, grants) = dice.pick(&[(scenes::THREE_QUESTIONS, 9), one]);
        let stage = stage(scenario, serde_json::json!({}), &mut dice);
        let wrong = violations_after_power_loss(&stage, grants, &mut dice);
        assert!(wrong.is_empty(), "{}\n{}", lines(&wrong), stage.story());
        let wrong = crate::chain::violations(&stage.dir());
        assert!(wrong.is_empty(), "{}", lines(&wrong));
        figures.round(true);
        // The machine is up again: another host goes on from what is left.
        let messages = stage.messages(1, &mut dice);
        let mut orders = stage.orders(&messages);
        orders.leave = Leave::Never;
        let mut next = stage.host(&orders);
        next.until("question");
        next.kill();
        figures.session(&stage.case());
    }
    figures.tell();
}
