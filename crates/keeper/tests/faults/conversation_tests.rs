//! Which conversation an agent is told of, after agents that were refused theirs.
//!
//! Owns the choice of the test host, held against rows of agents. Needs no process.

use crate::conversation::{BEGIN, Begin, Conversations, RESUME};

const LOST: &str = "No conversation found with session ID: one";
const TAKEN: &str = "Error: Session ID one is already in use.";

/// What follows agents that were started like this and said that.
fn after(agents: &[(&str, &str, &str)]) -> Begin {
    let mut conversations = Conversations::default();
    for (flag, id, words) in agents {
        let argv = ["claude", flag, id].map(str::to_owned);
        conversations.opened(&argv);
        conversations.said(words);
    }
    conversations.next("one", || "new".to_owned())
}

#[test]
fn an_agent_goes_on_with_the_conversation_of_the_one_before() {
    assert_eq!(after(&[(BEGIN, "one", "")]), Begin::resume("one"));
    let agents = [(BEGIN, "one", ""), (BEGIN, "two", "")];
    assert_eq!(after(&agents), Begin::resume("two"));
}

#[test]
fn a_conversation_that_is_not_found_begins_under_its_id() {
    let agents = [(BEGIN, "one", ""), (RESUME, "one", LOST)];
    assert_eq!(after(&agents), Begin::new("one"));
}

#[test]
fn a_conversation_that_is_neither_found_nor_begun_is_given_up_for_a_new_one() {
    let agents = [(RESUME, "one", LOST), (BEGIN, "one", TAKEN)];
    assert_eq!(after(&agents), Begin::new("new"));
    let agents = [(BEGIN, "one", TAKEN), (RESUME, "one", LOST)];
    assert_eq!(after(&agents), Begin::new("new"));
}

#[test]
fn one_that_is_only_taken_is_gone_on_with() {
    assert_eq!(after(&[(BEGIN, "one", TAKEN)]), Begin::resume("one"));
}

#[test]
fn one_that_came_up_in_between_is_not_given_up() {
    let agents = [(RESUME, "one", LOST), (BEGIN, "one", "")];
    assert_eq!(after(&agents), Begin::resume("one"));
    let agents = [
        (RESUME, "one", LOST),
        (BEGIN, "one", ""),
        (BEGIN, "one", TAKEN),
    ];
    assert_eq!(after(&agents), Begin::resume("one"));
}

#[test]
fn what_another_conversation_was_refused_does_not_count() {
    let agents = [
        (RESUME, "two", "No conversation found with session ID: two"),
        (BEGIN, "one", TAKEN),
    ];
    assert_eq!(after(&agents), Begin::resume("one"));
}

#[test]
fn what_is_said_of_something_else_does_not_count() {
    let other = "Error: Session ID three is already in use.";
    let agents = [(RESUME, "one", LOST), (BEGIN, "one", other)];
    assert_eq!(after(&agents), Begin::resume("one"));
}
