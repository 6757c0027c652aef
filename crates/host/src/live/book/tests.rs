//! Which lines of a journal settle a question, and which leave it alone.

use super::*;
use crate::control::approval::Withdrawal;

fn ask(seq: u64, command: &str) -> (u64, String) {
    let line = serde_json::json!({"type": "control_request", "request_id": "again", "request":
        {"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "t", "input": {"command": command}}});
    (seq, line.to_string())
}

fn taken(book: &mut Book, (seq, line): &(u64, String)) -> Vec<Move> {
    let record = Record {
        seq: *seq,
        at: 1,
        kind: Kind::Agent,
        payload: line.as_bytes(),
    };
    book.take(1, &record)
}

/// A line of the agent about the call `t`, and of the host.
fn line(seq: u64, line: serde_json::Value) -> (u64, String) {
    (seq, line.to_string())
}

fn lives(moves: &[Move]) -> Vec<Life> {
    let lives = moves.iter().filter_map(|step| match step {
        Move::Life { life, .. } => Some(life.clone()),
        Move::Asked(_) => None,
    });
    lives.collect()
}

/// A book in which a question was asked and allowed.
fn allowed(ask: &(u64, String)) -> Book {
    let mut book = Book::new(SessionId::new(1, 1), 1, []);
    let call = serde_json::json!({"type": "assistant", "parent_tool_use_id": null, "message": {"role": "assistant", "model": "m",
        "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]}});
    assert!(taken(&mut book, &line(4, call)).is_empty());
    assert_eq!(taken(&mut book, ask).len(), 1);
    let answer = serde_json::json!({"type": "control_response", "response": {"subtype": "success", "request_id": "again",
        "response": {"behavior": "allow", "updatedInput": {"command": "ls"}}}});
    let record = Record {
        seq: 6,
        at: 1,
        kind: Kind::Host,
        payload: &serde_json::to_vec(&answer).unwrap(),
    };
    assert_eq!(lives(&book.take(1, &record)), [Life::Written]);
    book
}

#[test]
fn a_question_that_names_no_call_is_settled_by_the_result_of_the_call_it_is_about() {
    let ask = serde_json::json!({"type": "control_request", "request_id": "again", "request":
        {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}}});
    let mut book = allowed(&line(5, ask));
    let result = serde_json::json!({"type": "user", "parent_tool_use_id": null, "message": {"role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t", "content": "a.txt"}]}});
    let outcome = crate::control::approval::Outcome::Ran;
    assert_eq!(
        lives(&taken(&mut book, &line(7, result))),
        [Life::Settled { outcome }]
    );
}

#[test]
fn a_question_that_is_read_again_is_given_no_other_call_of_the_same_input() {
    let ask = serde_json::json!({"type": "control_request", "request_id": "again", "request":
        {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}}});
    let ask = line(5, ask);
    let mut book = allowed(&ask);
    let other = serde_json::json!({"type": "assistant", "parent_tool_use_id": null, "message": {"role": "assistant", "model": "m",
        "content": [{"type": "tool_use", "id": "u", "name": "Bash", "input": {"command": "ls"}}]}});
    taken(&mut book, &line(7, other));
    book.cut(Cursor::new(1, 4));
    taken(&mut book, &ask);
    assert_eq!(book.get("again").unwrap().tool_use_id, None);
}

#[test]
fn a_result_ends_the_question_that_nobody_answered() {
    let result = |is_error: bool| {
        let result = serde_json::json!({"type": "user", "parent_tool_use_id": null, "message": {"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": "x", "is_error": is_error}]}});
        line(7, result)
    };
    let interrupt = serde_json::json!({"type": "control_request", "request_id": "i", "request": {"subtype": "interrupt"}});
    let interrupt = Record {
        seq: 6,
        at: 1,
        kind: Kind::Host,
        payload: &serde_json::to_vec(&interrupt).unwrap(),
    };
    let ran = Life::Settled {
        outcome: crate::control::approval::Outcome::Ran,
    };
    let withdrawn = |why| Life::Withdrawn { why };
    for (is_error, is_interrupted, over) in [
        (false, false, ran.clone()),
        (true, false, withdrawn(Withdrawal::Cancelled)),
        (false, true, ran),
        (true, true, withdrawn(Withdrawal::Interrupted)),
    ] {
        let mut book = Book::new(SessionId::new(1, 1), 1, []);
        taken(&mut book, &ask(5, "ls"));
        if is_interrupted {
            assert!(book.take(1, &interrupt).is_empty());
        }
        assert_eq!(lives(&taken(&mut book, &result(is_error))), [over]);
        assert!(book.get("again").is_none());
    }
    // Another call is not meant.
    let mut book = Book::new(SessionId::new(1, 1), 1, []);
    let other = serde_json::json!({"type": "control_request", "request_id": "again", "request":
        {"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "u", "input": {"command": "ls"}}});
    taken(&mut book, &line(5, other));
    assert!(taken(&mut book, &result(false)).is_empty());
}

#[test]
fn a_call_that_was_allowed_too_late_did_not_run() {
    let mut book = allowed(&ask(5, "ls"));
    let late = serde_json::json!({"type": "system", "subtype": "late_allow_not_run", "request_id": "x",
        "tool_use_id": "t", "reason": "expired"});
    let outcome = crate::control::approval::Outcome::Unused;
    assert_eq!(
        lives(&taken(&mut book, &line(7, late.clone()))),
        [Life::Settled { outcome }]
    );
    // A question about the call that is still open is not meant.
    let mut book = Book::new(SessionId::new(1, 1), 1, []);
    taken(&mut book, &ask(5, "ls"));
    assert!(taken(&mut book, &line(6, late)).is_empty());
}

#[test]
fn a_question_is_of_the_agent_that_asked_it_whatever_is_read_with_it() {
    let mut book = Book::new(SessionId::new(1, 1), 1, []);
    let mut moves = taken(&mut book, &ask(5, "ls"));
    let (seq, line) = ask(6, "pwd");
    let later = Record {
        seq,
        at: 1,
        kind: Kind::Agent,
        payload: line.as_bytes(),
    };
    moves.extend(book.take(2, &later));
    let asked = moves.iter().filter_map(|step| match step {
        Move::Asked(new) => Some((new.generation, new.id)),
        Move::Life { .. } => None,
    });
    let id = |generation, seq| ApprovalId::of(SessionId::new(1, 1), generation, seq, 1);
    assert!(asked.eq([(1, id(1, 5)), (2, id(2, 6))]));
}

#[test]
fn a_name_that_is_used_again_is_another_question_and_the_first_is_over() {
    let mut book = Book::new(SessionId::new(1, 1), 1, []);
    let first = ask(5, "ls");
    taken(&mut book, &first);
    let id = book.get("again").unwrap().id;
    // Read again, it is the same one.
    let moves = taken(&mut book, &first);
    assert!(matches!(moves[..], [Move::Asked(_)]), "{moves:?}");
    let moves = taken(&mut book, &ask(6, "rm -r src"));
    let [Move::Life { id: over, life, .. }, Move::Asked(_)] = &moves[..] else {
        panic!("{moves:?}");
    };
    let why = Withdrawal::Cancelled;
    assert_eq!((*over, life), (id, &Life::Withdrawn { why }));
    assert_ne!(book.get("again").unwrap().id, id);
}
