//! Lines beside the conversation, files that are not made, and what a fork takes along.

use std::collections::BTreeSet;

use serde_json::Value;

use super::shapes::{NOTES, keys, kind, measured};
use super::tests::sub_agent;
use super::*;
use crate::cli::disk::stage::{Block, FORK, SESSION, Stage, head};

#[test]
fn notes_have_the_measured_keys_and_stand_at_the_end_of_a_turn() {
    let mut stage = Stage::new();
    stage.turn("line one\nline two  with   blanks");
    stage.say("One.");
    stage.scribe.renamed("  Two\nLines ");
    stage.end();
    let past = stage.past();
    stage.resume(&past);
    stage.turn("Second");
    let leaf = stage.say("Two.");
    stage.end();
    let text = stage.text(SESSION);
    let lines: Vec<Node> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let notes: Vec<&Node> = lines
        .iter()
        .filter(|line| NOTES.contains(&&*kind(line)))
        .collect();
    let shapes: BTreeSet<String> = notes
        .iter()
        .map(|note| format!("{} {}", kind(note), keys(note)))
        .collect();
    assert_eq!(shapes, measured("notes").into_iter().collect());
    let kinds: Vec<String> = notes.iter().map(|note| kind(note)).collect();
    let title = ["custom-title", "agent-name"];
    let [first, last]: [&[&str]; 2] = [&["last-prompt"], &["mode", "cost-state"]];
    let expected = [&title, first, &title, &["cost-state"], first, &title, last].concat();
    assert_eq!(kinds, expected);
    assert_eq!(notes[0].text("customTitle"), Some("Two Lines"));
    assert_eq!(
        notes[2].text("lastPrompt"),
        Some("line one line two  with   blanks")
    );
    let second = notes[6];
    assert_eq!(
        (second.text("lastPrompt"), second.text("leafUuid")),
        (Some("Second"), Some(&*leaf))
    );
}

#[test]
fn a_session_without_a_message_and_one_that_is_not_kept_leave_nothing() {
    let mut stage = Stage::new();
    stage.scribe.renamed("Early");
    stage.end();
    assert_eq!(stage.transcripts(), Vec::<PathBuf>::new());
    stage.turn("one");
    stage.end();
    assert_eq!(stage.lines(SESSION)[0]["customTitle"], "Early");

    let mut stage = Stage::new();
    stage.scribe = Scribe::new(&stage.places, head(&stage.places, SESSION), None).unkept();
    stage.turn("one");
    stage.answer(Who::Main, &[Block::Call("Task", "t1")]);
    sub_agent(&mut stage);
    stage.scribe.renamed("Never");
    stage.scribe.turn_ended();
    assert_eq!(stage.scribe.take(), []);
}

#[test]
fn a_fork_takes_the_conversation_along_under_its_own_name() {
    let mut stage = Stage::new();
    stage.turn("Remember");
    stage.say("I will.");
    stage.end();
    let original = stage.text(SESSION);
    let past = stage.past();
    stage.fork(&past);
    stage.turn("Which?");
    stage.end();
    assert_eq!(stage.text(SESSION), original, "the original is as it was");
    let lines = stage.lines(FORK);
    assert!(lines.iter().all(|line| line["sessionId"] == FORK));
    let prompts: Vec<&Value> = lines.iter().filter(|line| line["type"] == "user").collect();
    assert_eq!(prompts.len(), 2);
    assert_eq!(prompts[0]["promptId"], prompts[1]["promptId"]);
    assert_eq!(prompts[1]["turnPosition"]["turnIndex"], 2);
}

#[test]
fn long_prompts_are_shortened_in_notes() {
    let long = "word ".repeat(100);
    let short = notes::shortened(&long);
    assert_eq!(
        short.chars().count(),
        200,
        "the blank before the end is cut off, too"
    );
    assert!(short.ends_with("word\u{2026}"), "{short}");
}
