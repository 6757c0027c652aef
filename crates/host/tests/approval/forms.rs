//! Questions to the person, forms of MCP servers, dialogs.

use countersign_host::approval::{Answer, Asked, DIALOG_KINDS, choices, decide};
use countersign_host::control::Decide;
use countersign_host::control::approval::Effect;
use serde_json::{Value, json};

use crate::stage::{NEW, RECORDED, ask, invalid, known, questions, tool};

fn answer(answers: Value) -> Decide {
    Decide::Answer { answers }
}

fn two_questions() -> Asked {
    tool(
        "AskUserQuestion",
        json!({"questions": [
            {"question": "Which?", "header": "W", "multiSelect": false, "options": [
                {"label": "A", "description": "a"}, {"label": "B", "description": "b"}]},
            {"question": "Where?", "header": "P", "multiSelect": true, "options": [
                {"label": "Linux", "description": ""}, {"label": "macOS", "description": ""}]}],
            "metadata": {"source": "x"}}),
    )
}

fn filled(asked: &Asked, answers: Value) -> Value {
    match decide(asked, &answer(answers), &known(NEW)).unwrap().answer {
        Some(Answer::Allow {
            input: Some(input),
            updates,
        }) => {
            assert_eq!(updates, []);
            input
        }
        other => panic!("no input: {other:?}"),
    }
}

#[test]
fn answers_go_back_with_the_whole_input() {
    let asked = two_questions();
    let input = filled(&asked, json!({"Which?": "B", "Where?": ["Linux", "macOS"]}));
    assert_eq!(
        input["answers"],
        json!({"Which?": "B", "Where?": "Linux, macOS"})
    );
    assert_eq!(input["questions"], asked.input["questions"]);
    assert_eq!(input["metadata"], json!({"source": "x"}));
}

#[test]
fn recorded_questions_can_be_answered_on_every_version() {
    for version in RECORDED {
        let asked = &questions(version, "ask-user-question")[0];
        let text = asked.input["questions"][0]["question"].as_str().unwrap();
        let input = filled(asked, json!({text: "my own words"}));
        assert_eq!(input["answers"][text], "my own words", "{version}");
    }
}

#[test]
fn what_does_not_fit_the_questions_is_refused() {
    let asked = two_questions();
    for answers in [
        json!({}),
        json!(null),
        json!("B"),
        json!({"What?": "B"}),
        json!({"Which?": ["A", "B"]}),
        json!({"Which?": 5}),
        json!({"Which?": ""}),
        json!({"Where?": [1]}),
        json!({"Where?": []}),
    ] {
        invalid(decide(&asked, &answer(answers), &known(NEW)));
    }
    invalid(decide(&asked, &Decide::allow(), &known(NEW)));
    let broken = tool("AskUserQuestion", json!({"questions": 5}));
    invalid(decide(&broken, &answer(json!({"a": "b"})), &known(NEW)));
    assert!(decide(&broken, &Decide::Decline { message: None }, &known(NEW)).is_ok());
}

#[test]
fn one_who_does_not_want_to_answer_says_so() {
    let message = |decision| match decide(&two_questions(), &decision, &known(NEW))
        .unwrap()
        .answer
    {
        Some(Answer::Deny {
            message,
            stop: false,
        }) => message,
        other => panic!("{other:?}"),
    };
    let decline = |message: Option<&str>| Decide::Decline {
        message: message.map(str::to_owned),
    };
    assert_eq!(
        message(decline(None)),
        "The person does not want to answer this now."
    );
    assert_eq!(
        message(decline(Some(" "))),
        "The person does not want to answer this now."
    );
    assert_eq!(message(decline(Some("guess"))), "guess");
    assert_eq!(message(Decide::deny("guess")), "guess");
}

fn form(schema: Value) -> Asked {
    ask(
        json!({"subtype": "elicitation", "mcp_server_name": "el", "message": "Who?", "mode": "form", "requested_schema": schema}),
    )
}

fn person() -> Asked {
    form(
        json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "age": {"type": "integer"}, "weight": {"type": "number"},
        "member": {"type": "boolean"}, "colour": {"type": "string", "enum": ["red", "blue"]}}}),
    )
}

#[test]
fn a_form_goes_back_as_it_was_filled_in() {
    let values = json!({"name": "x", "age": 3, "weight": 1.5, "member": true, "colour": "red"});
    let come = decide(&person(), &answer(values.clone()), &known(NEW)).unwrap();
    assert_eq!(
        come.answer,
        Some(Answer::Accept {
            content: Some(values)
        })
    );
    assert_eq!(come.effect, Effect::Allow);
}

#[test]
fn a_form_that_is_filled_in_wrongly_stays_open() {
    for values in [
        json!({}),
        json!({"name": null}),
        json!({"name": 5}),
        json!({"name": "x", "age": 1.5}),
        json!({"name": "x", "age": "3"}),
        json!({"name": "x", "member": "yes"}),
        json!({"name": "x", "colour": "green"}),
        json!({"name": "x", "other": 1}),
        json!("x"),
    ] {
        invalid(decide(&person(), &answer(values), &known(NEW)));
    }
    // A form without fields takes what it is given.
    assert!(decide(&form(json!({})), &answer(json!({"a": 1})), &known(NEW)).is_ok());
}

#[test]
fn a_web_page_that_was_visited_has_no_values() {
    let page = ask(
        json!({"subtype": "elicitation", "mcp_server_name": "el", "message": "Sign in", "mode": "url", "url": "https://example.org"}),
    );
    let come = decide(&page, &answer(json!(null)), &known(NEW)).unwrap();
    assert_eq!(come.answer, Some(Answer::Accept { content: None }));
}

#[test]
fn a_form_is_declined_and_ends_no_turn() {
    for decision in [Decide::Decline { message: None }, Decide::deny("no")] {
        let come = decide(&person(), &decision, &known(NEW)).unwrap();
        assert_eq!(
            (come.answer, come.effect),
            (Some(Answer::Decline), Effect::Deny)
        );
    }
    let stop = Decide::Deny {
        message: None,
        interrupt: true,
    };
    invalid(decide(&person(), &stop, &known(NEW)));
    invalid(decide(&person(), &Decide::allow(), &known(NEW)));
}

fn dialog(kind: &str) -> Asked {
    ask(
        json!({"subtype": "request_user_dialog", "dialog_kind": kind, "payload": {"originalModel": "a", "fallbackModel": "b"}}),
    )
}

#[test]
fn every_declared_dialog_can_be_answered_with_each_of_its_choices() {
    for kind in DIALOG_KINDS {
        assert!(!choices(kind).is_empty(), "{kind}");
        for (word, _) in choices(kind) {
            for answers in [json!(word), json!({"choice": word})] {
                let come = decide(&dialog(kind), &answer(answers), &known(NEW)).unwrap();
                assert_eq!(
                    come.answer,
                    Some(Answer::Complete {
                        result: json!(word)
                    })
                );
            }
        }
        invalid(decide(
            &dialog(kind),
            &answer(json!("something else")),
            &known(NEW),
        ));
        invalid(decide(&dialog(kind), &answer(json!({})), &known(NEW)));
        invalid(decide(&dialog(kind), &Decide::allow(), &known(NEW)));
    }
}

#[test]
fn a_dialog_that_cannot_be_shown_can_only_be_closed() {
    let asked = dialog("something_new");
    invalid(decide(&asked, &answer(json!("yes")), &known(NEW)));
    for decision in [Decide::Decline { message: None }, Decide::deny("no")] {
        let come = decide(&asked, &decision, &known(NEW)).unwrap();
        assert_eq!(
            (come.answer, come.effect),
            (Some(Answer::Dismiss), Effect::Deny)
        );
    }
}
