//! Sessions are found, read, cut and named as the real CLI does.

use serde_json::json;

use super::super::stage::{Block, FORK, SESSION, Stage};
use super::super::{Aside, Denial, Scribe, Who};
use super::*;

fn said(past: &Past) -> Vec<(String, String)> {
    let text = |content: &Value| match content {
        Value::String(text) => text.clone(),
        blocks => blocks[0]["text"]
            .as_str()
            .or(blocks[0]["type"].as_str())
            .unwrap()
            .to_owned(),
    };
    let messages = past.messages.iter();
    messages
        .map(|message| (message.role.clone(), text(&message.content)))
        .collect()
}

fn owned(said: &[(&str, &str)]) -> Vec<(String, String)> {
    said.iter()
        .map(|(role, text)| ((*role).to_owned(), (*text).to_owned()))
        .collect()
}

fn held() -> Stage {
    let mut stage = Stage::new();
    stage.turn("Remember the word heron");
    stage.say("I will.");
    stage.turn("And the number seven");
    stage.say("That too.");
    stage.scribe.set_slug("plan-it-calm-fern");
    stage.use_tool("Task", "t1");
    stage.say("Done.");
    stage.scribe.renamed("Birds");
    stage.end();
    stage
}

#[test]
fn a_session_is_found_with_all_that_the_next_process_needs() {
    let stage = held();
    let past = stage.past();
    let said_then = [
        ("user", "Remember the word heron"),
        ("assistant", "I will."),
        ("user", "And the number seven"),
        ("assistant", "That too."),
        ("assistant", "tool_use"),
        ("user", "tool_result"),
        ("assistant", "Done."),
    ];
    assert_eq!(said(&past), owned(&said_then));
    assert_eq!(past.cwd.as_deref(), stage.places.cwd.to_str());
    assert_eq!(past.title.as_deref(), Some("Birds"));
    assert_eq!(
        (past.turns, past.last_prompt.as_deref()),
        (2, Some("And the number seven"))
    );
    assert_eq!(
        (past.tools.as_slice(), past.slug.as_deref()),
        (&["Agent".to_owned()][..], Some("plan-it-calm-fern"))
    );
    assert_eq!(
        past.last_uuid,
        past.messages.last().map(|message| message.uuid.clone())
    );
    assert_eq!(past.cost.as_ref().unwrap()["totalCostUSD"], 0.0);
    assert!(past.unanswered().is_empty() && !past.awaits_model());
}

#[test]
fn a_session_is_found_from_another_folder_and_continued_only_from_its_own() {
    let stage = held();
    let elsewhere = Places::at(&stage.places.config_dir, stage.places.cwd.parent().unwrap());
    assert_eq!(find(&elsewhere, SESSION), Some(stage.past()));
    assert_eq!(latest(&elsewhere), None);
    assert_eq!(latest(&stage.places), Some(stage.past()));
    assert!(matches!(
        resolve(&elsewhere, "birds"),
        Err(ResumeError::NoTitle(_))
    ));
    assert!(free(&stage.places, SESSION).is_err() && free(&elsewhere, SESSION).is_ok());
    let head = super::super::stage::head(&elsewhere, SESSION);
    let there = Scribe::resumed(&elsewhere, head, &stage.past());
    assert_eq!(there.path(), stage.places.transcript(SESSION));
}

#[test]
fn the_session_written_last_is_continued() {
    let mut stage = held();
    let past = stage.past();
    stage.fork(&past);
    stage.turn("Which?");
    stage.end();
    let later = SystemTime::now() + Duration::from_secs(60);
    let touch = |session: &str| {
        let file = std::fs::File::options()
            .append(true)
            .open(stage.places.transcript(session))
            .unwrap();
        file.set_modified(later).unwrap();
    };
    touch(FORK);
    assert_eq!(latest(&stage.places).unwrap().session_id, FORK);
}

#[test]
fn a_title_names_a_session_whatever_its_case_and_two_of_them_are_refused() {
    let mut stage = held();
    assert_eq!(resolve(&stage.places, "BIRDS").unwrap(), stage.past());
    assert_eq!(resolve(&stage.places, SESSION).unwrap(), stage.past());
    let none = resolve(&stage.places, "Bird").unwrap_err().to_string();
    assert!(
        none.ends_with(
            "Provided value \"Bird\" is not a UUID and does not match any session title."
        ),
        "{none}"
    );
    let unknown = resolve(&stage.places, FORK).unwrap_err().to_string();
    assert_eq!(
        unknown,
        format!("No conversation found with session ID: {FORK}")
    );
    let past = stage.past();
    stage.fork(&past);
    stage.turn("Which?");
    stage.end();
    let several = resolve(&stage.places, "Birds").unwrap_err().to_string();
    let heading = "Error: --resume \"Birds\" matches 2 sessions. Pass one of these session IDs to disambiguate:\n  ";
    assert!(several.starts_with(heading), "{several}");
    assert!(
        several.contains(SESSION) && several.contains(FORK),
        "{several}"
    );
}

#[test]
fn a_conversation_is_cut_at_a_message_and_not_at_one_it_does_not_have() {
    let past = held().past();
    let first_answer = past.messages[1].uuid.clone();
    let cut = past.clone().cut_at(&first_answer, None).unwrap();
    assert_eq!(
        said(&cut),
        owned(&[
            ("user", "Remember the word heron"),
            ("assistant", "I will.")
        ])
    );
    assert_eq!(
        (cut.last_uuid.as_deref(), cut.turns),
        (Some(&*first_answer), 1)
    );
    let refused = past.cut_at("x", None).unwrap_err().to_string();
    assert_eq!(refused, "No message found with message.uuid of: x");
}

#[test]
fn what_was_cut_off_is_not_part_of_the_conversation_any_more() {
    let mut stage = Stage::new();
    stage.turn("Say one");
    let first = stage.say("One.");
    stage.turn("Say two");
    stage.say("Two.");
    stage.end();
    let past = stage.past().cut_at(&first, None).unwrap();
    stage.resume(&past);
    stage.turn("Say three");
    stage.say("Three.");
    stage.end();
    let expected = [
        ("user", "Say one"),
        ("assistant", "One."),
        ("user", "Say three"),
        ("assistant", "Three."),
    ];
    assert_eq!(said(&stage.past()), owned(&expected));
}

#[test]
fn parallel_calls_are_all_part_of_the_conversation() {
    let mut stage = Stage::new();
    stage.turn("Two at once");
    stage.answer(
        Who::Main,
        &[
            Block::Call("Bash", "t1"),
            Block::Call("Bash", "t2"),
            Block::Call("Bash", "t3"),
        ],
    );
    for id in ["t2", "t1", "t3"] {
        stage.result(Who::Main, "Bash", id, None);
    }
    stage.say("Done.");
    stage.end();
    let past = stage.past();
    assert_eq!(past.messages.len(), 8);
    assert!(past.unanswered().is_empty());
}

#[test]
fn a_compaction_begins_the_conversation_anew() {
    let mut stage = Stage::new();
    stage.turn("Remember");
    stage.say("I will.");
    stage.with(|scribe, moment| scribe.compacted(moment, &json!({"trigger": "manual"})));
    stage.aside(Who::Main, "The summary", Aside::Summary);
    stage.turn("What?");
    stage.say("That.");
    stage.end();
    let expected = [
        ("user", "The summary"),
        ("user", "What?"),
        ("assistant", "That."),
    ];
    assert_eq!(said(&stage.past()), owned(&expected));
}

#[test]
fn an_unfinished_session_knows_what_is_missing() {
    let mut stage = Stage::new();
    stage.turn("Make a file");
    let call = stage.answer(
        Who::Main,
        &[Block::Call("Bash", "t1"), Block::Call("Bash", "t2")],
    );
    stage.result(Who::Main, "Bash", "t2", Some(Denial::Host));
    stage.flush();
    let past = stage.past();
    assert_eq!(past.unanswered(), [("t1".to_owned(), call[0].clone())]);
    assert!(past.awaits_model());
}

#[test]
fn files_with_nothing_said_and_names_that_are_no_ids_are_passed_over() {
    let stage = Stage::new();
    let folder = stage.places.project();
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("notes.jsonl"), "{}").unwrap();
    let empty = json!({"type": "queue-operation", "operation": "enqueue", "sessionId": SESSION});
    std::fs::write(
        stage.places.transcript(SESSION),
        format!("{empty}\nnot json\n"),
    )
    .unwrap();
    assert_eq!(
        (find(&stage.places, SESSION), latest(&stage.places)),
        (None, None)
    );
    assert_eq!(find(&stage.places, "../../etc/passwd"), None);
    assert!(
        free(&stage.places, SESSION).is_err(),
        "an empty session has its id all the same"
    );
}

#[test]
fn broken_lines_and_circles_do_not_end_the_reading() {
    let mut stage = held();
    stage.flush();
    let path = stage.places.transcript(SESSION);
    let first = &stage.lines(SESSION)[2];
    let circle = stage.text(SESSION).replacen(
        r#""parentUuid":null"#,
        &format!(r#""parentUuid":{}"#, first["uuid"]),
        1,
    );
    std::fs::write(
        &path,
        format!("{{torn\n\n[1]\n{circle}{{\"type\":\"user\",\"uu"),
    )
    .unwrap();
    assert_eq!(stage.past().messages.len(), 7);
}
