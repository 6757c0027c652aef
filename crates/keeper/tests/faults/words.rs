//! What an agent says on stderr, and that none of it is lost when the agent ends right behind it.
//!
//! Owns these rounds. They stand on the journal: what a host is told of an agent's end is read from there.

use countersign_journal::Kind;

use crate::scenes;
use crate::stage::Stage;
use crate::wait::{self, Dice};

/// The lines of stderr that the journal has of a generation.
fn stderr(stage: &Stage, generation: u32) -> Vec<String> {
    let journal = stage.journal();
    let lines = journal.of(generation, Kind::Stderr);
    lines
        .map(|entry| String::from_utf8_lossy(&entry.payload).into_owned())
        .collect()
}

#[test]
fn what_the_cli_says_on_stderr_is_in_the_journal() {
    let mut dice = Dice::of("stderr of the CLI");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    stage.finish(&stage.messages(1, &mut dice));
    assert_eq!(stderr(&stage, 1), ["between the questions"]);
}

/// The CLI refuses its arguments: one line, and its end at once.
#[test]
fn the_last_words_of_an_agent_that_ends_at_once_are_in_the_journal() {
    let mut dice = Dice::of("last words");
    for round in 0..wait::share(50, 20) {
        let stage = Stage::scripted(scenes::ONE_QUESTION, &mut dice);
        let transcript = stage.transcript(stage.id());
        std::fs::create_dir_all(transcript.parent().unwrap()).unwrap();
        std::fs::write(&transcript, "").unwrap();
        let keeper = stage.keeper();
        countersign_keeper::start(&keeper, &stage.first_order()).unwrap();
        let ended = || (!stage.journal().events("exit").is_empty()).then_some(());
        wait::found("its end", || stage.story(), ended);
        let said = format!("Error: Session ID {} is already in use.", stage.id());
        assert_eq!(
            stderr(&stage, 1),
            [said],
            "round {round}\n{}",
            stage.story()
        );
    }
}
