//! SIGKILL between an allow and the tool's result: the outcome is unknown, and said to be.
//!
//! Owns these rounds. The tool ran once or not at all; nothing of it is left; the next agent has no such question open, and
//! when it wants the like it asks again: the earlier yes was for once.

use std::time::Duration;

use crate::checks::{Extent, Fate};
use crate::evidence::answer;
use crate::figures::Figures;
use crate::orders::Leave;
use crate::procs;
use crate::rounds_keeper::left_running;
use crate::scenes;
use crate::stage::{Cli, Stage, lines};
use crate::wait::{self, Dice};

fn rounds(name: &'static str, cli: Cli, count: u32) {
    let mut dice = Dice::of(name);
    let mut figures = Figures::of(name);
    for _ in 0..count {
        let Some(stage) = Stage::new(cli, &mut dice) else {
            return;
        };
        let messages = stage.messages(2, &mut dice);
        let mut orders = stage.orders(&messages[..1]);
        orders.leave = Leave::Never;
        let mut host = stage.host(&orders);
        let granted = || {
            let heard = stage.witness(1).lines_heard();
            let mut answers = heard.iter().filter_map(answer);
            answers.any(|(_, allows)| allows).then_some(())
        };
        wait::found("the allow", || host.story(), granted);
        // Not a wait: the point itself is what is drawn.
        std::thread::sleep(dice.moment(Duration::from_millis(40)));
        let tree = stage.processes();
        let agent = stage.agent().expect("an agent");
        let cli = procs::below(agent.pid);
        let direct = cli.iter().filter(|process| process.parent == agent.pid);
        direct.for_each(|process| procs::kill(process.pid));
        let wrong = left_running(&stage, &tree);
        assert!(wrong.is_empty(), "{}\n{}", lines(&wrong), stage.story());
        host.kill();
        stage.assert_kept(Extent::Begun, name);

        let case = stage.case();
        let (_, _, fate) = case.fates().remove(0);
        // If the result came before the kill, this round shows nothing, and is not counted as a hit.
        figures.round(fate == Fate::Unknown);
        assert!(matches!(fate, Fate::Unknown | Fate::Ran), "{fate:?}");
        assert!(stage.ran().len() <= 1, "{:?}", stage.ran());
        let exit = case.journal.events("exit").pop().expect("an exit");
        assert_eq!(exit["signal"], 9, "{exit}");
        figures.session(&case);
        asks_again(&stage, &messages, &mut figures);
    }
    figures.tell();
}

/// The next agent is asked nothing of the old, and asks about the like anew.
fn asks_again(stage: &Stage, messages: &[crate::task::Message], figures: &mut Figures) {
    let before = stage.case().fates().len();
    let mut orders = stage.orders(messages);
    orders.leave = Leave::Never;
    let mut host = stage.host(&orders);
    let attached = host.until("attached");
    assert_eq!(attached["open"].as_array().map(Vec::len), Some(0));
    figures.went_on(attached["started"].as_str());
    host.until("question");
    host.kill();
    assert!(stage.case().fates().len() > before);
}

#[test]
fn scripted() {
    let cli = Cli::Scripted(scenes::SLOW_TOOL);
    rounds("allow, then SIGKILL, scripted", cli, wait::share(2, 3));
}

mod newest {
    use super::*;

    #[test]
    fn real() {
        rounds(
            "allow, then SIGKILL, newest",
            Cli::Real(2),
            wait::share(2, 2),
        );
    }
}
