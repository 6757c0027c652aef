//! A transcript without a message in it, as an agent leaves it that is killed in its first turn: the CLI neither finds the
//! conversation nor begins it.
//!
//! Owns the rounds that put such a file where the killed agent would have left it, so that what is otherwise a matter of
//! milliseconds happens each time. The session goes on, under its own id, with a conversation of another one.

use crate::checks::Extent;
use crate::conversation::{BEGIN, RESUME};
use crate::orders::Leave;
use crate::procs;
use crate::scenes;
use crate::stage::{Cli, Stage};
use crate::task::Message;
use crate::wait::{self, Dice};

/// What may be in such a file.
const EMPTY: &str = "";
const CUT: &str = r#"{"parentUuid":null,"type":"user","mess"#;
const QUEUED: &str = concat!(
    r#"{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-01T00:00:00.000Z"}"#,
    "\n"
);

/// An agent begins and is killed, its transcript has this text, and the next host brings the session on.
fn goes_on_under_a_new_id(name: &str, cli: Cli, left: &str) {
    let mut dice = Dice::of(name);
    let Some(stage) = Stage::new(cli, &mut dice) else {
        return;
    };
    let messages = stage.messages(2, &mut dice);
    begins_and_is_killed(&stage, &[]);
    let transcript = stage.transcript(stage.id());
    std::fs::create_dir_all(transcript.parent().unwrap()).unwrap();
    std::fs::write(&transcript, left).unwrap();

    stage.finish(&messages[..1]);
    stage.assert_kept(Extent::Whole, "after the recovery");
    let begun = conversations(&stage);
    let [first, lost, taken, new] = begun.as_slice() else {
        panic!("{begun:?}\n{}", stage.story());
    };
    let old = |flag: &str| (flag.to_owned(), stage.id().to_owned());
    assert_eq!(
        [first, lost, taken],
        [&old(BEGIN), &old(RESUME), &old(BEGIN)]
    );
    assert!(new.0 == BEGIN && new.1 != stage.id(), "{new:?}");

    // The agent after that goes on with the new conversation, once there is something of it to go on with.
    let stored = || {
        let text = std::fs::read_to_string(stage.transcript(&new.1)).unwrap_or_default();
        (text.contains(&messages[0].text) && text.contains("\"assistant\"")).then_some(())
    };
    wait::found("the conversation is stored", || stage.story(), stored);
    begins_and_is_killed(&stage, &messages[..1]);
    stage.finish(&messages);
    stage.assert_kept(Extent::Whole, "after another kill");
    let resumed = (RESUME.to_owned(), new.1.clone());
    assert_eq!(conversations(&stage)[4..], [resumed]);
}

/// A host comes in, and the agent is killed.
fn begins_and_is_killed(stage: &Stage, messages: &[Message]) {
    let mut orders = stage.orders(messages);
    orders.leave = Leave::Never;
    let mut host = stage.host(&orders);
    host.until("attached");
    let agent = stage.agent().expect("an agent");
    procs::kill(agent.pid);
    wait::until("nothing is left running", || stage.processes().is_empty());
    host.kill();
}

/// With which flag and id each agent began.
fn conversations(stage: &Stage) -> Vec<(String, String)> {
    let begun = stage.journal().events("open");
    let begun = begun.iter().map(|open| {
        let argv = open["argv"].as_array().expect("a command").iter();
        let argv: Vec<&str> = argv.filter_map(|arg| arg.as_str()).collect();
        let pair = argv
            .windows(2)
            .find(|pair| [BEGIN, RESUME].contains(&pair[0]));
        let pair = pair.expect("a conversation");
        (pair[0].to_owned(), pair[1].to_owned())
    });
    begun.collect()
}

#[test]
fn scripted() {
    let cli = Cli::Scripted(scenes::ONE_QUESTION);
    for left in [EMPTY, CUT, QUEUED] {
        goes_on_under_a_new_id("barred, scripted", cli, left);
    }
}

mod newest {
    use super::*;

    #[test]
    fn an_empty_transcript() {
        goes_on_under_a_new_id("empty transcript", Cli::Real(2), EMPTY);
    }

    #[test]
    fn a_transcript_without_a_message() {
        for left in [CUT, QUEUED] {
            goes_on_under_a_new_id("no message", Cli::Real(2), left);
        }
    }
}
