//! Calls that are really something else: plans to approve, questions to a person.

use countersign_client::{Claude, Decision, FormError, PermissionQuestion, Plan, Session, Subject};
use serde_json::{Value, json};

use crate::pair::{Far, session};
use crate::question;

/// Asks about a tool and gives what it is about.
async fn subject(tool: &str, input: Value) -> (Subject, PermissionQuestion, Far, Session) {
    let (mut session, mut far) = session(Claude::new().questions()).await;
    far.ask_tool("q", tool, input).await;
    let asked = question(&mut session).await;
    (asked.subject(), asked, far, session)
}

#[tokio::test]
async fn a_plan_can_be_approved_edited_and_sent_back() {
    let input = json!({"plan": "# Do", "planFilePath": "/p/a.md",
        "allowedPrompts": [{"tool": "Bash", "prompt": "run tests"}], "later": 1});
    type Answer = fn(&Plan) -> Decision;
    let cases: [(Answer, Value); 4] = [
        (
            |plan| plan.approve(),
            json!({"behavior": "allow", "updatedInput": input}),
        ),
        (
            |plan| plan.approve_accepting_edits(),
            json!({"behavior": "allow", "updatedInput": input, "updatedPermissions":
                [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]}),
        ),
        (
            |plan| plan.approve_edited("# Do less"),
            json!({"behavior": "allow", "updatedInput": {"plan": "# Do less", "planFilePath": "/p/a.md",
                "allowedPrompts": [{"tool": "Bash", "prompt": "run tests"}], "later": 1}}),
        ),
        (
            |plan| plan.keep_planning("think again"),
            json!({"behavior": "deny", "message": "think again"}),
        ),
    ];
    for (answer, expected) in cases {
        let (about, asked, mut far, _session) = subject("ExitPlanMode", input.clone()).await;
        let Subject::Plan(plan) = about else {
            panic!("a plan: {about:?}");
        };
        assert_eq!(plan.text(), Some("# Do"));
        assert_eq!(plan.file(), Some(std::path::Path::new("/p/a.md")));
        assert_eq!(plan.allowed_prompts()[0].prompt, "run tests");
        asked.answer(answer(&plan)).unwrap();
        assert_eq!(far.reply("q").await, expected);
    }
}

#[tokio::test]
async fn a_plan_without_a_file_has_no_text() {
    let (about, ..) = subject("ExitPlanMode", json!({})).await;
    let Subject::Plan(plan) = about else {
        panic!("a plan");
    };
    assert_eq!((plan.text(), plan.file()), (None, None));
}

#[tokio::test]
async fn entering_plan_mode_and_plain_calls_are_told_apart() {
    assert_eq!(
        subject("EnterPlanMode", json!({})).await.0,
        Subject::EnterPlanMode
    );
    assert_eq!(
        subject("Bash", json!({"command": "x"})).await.0,
        Subject::Call
    );
    assert_eq!(
        subject("mcp__a__ExitPlanMode", json!({})).await.0,
        Subject::Call
    );
    assert_eq!(
        subject("AskUserQuestion", json!({"questions": 1})).await.0,
        Subject::Call
    );
}

fn questions() -> Value {
    let options = json!([{"label": "A", "description": "a"}, {"label": "B", "description": "b"}]);
    json!({"questions": [
        {"question": "One?", "header": "1", "options": options, "multiSelect": false},
        {"question": "Many?", "header": "2", "options": options, "multiSelect": true, "later": 1},
        {"question": "Words?", "header": "3", "options": options, "multiSelect": false}]})
}

#[tokio::test]
async fn answers_to_questions_go_back_by_the_text_of_the_question() {
    let (about, asked, mut far, _session) = subject("AskUserQuestion", questions()).await;
    let Subject::Questions(mut form) = about else {
        panic!("a form: {about:?}");
    };
    assert_eq!(form.questions().len(), 3);
    form.choose("One?", "A").unwrap();
    form.choose_many("Many?", ["A", "B"]).unwrap();
    assert_eq!(form.unanswered().count(), 1);
    form.write("Words?", "neither").unwrap();
    asked.answer(form.submit()).unwrap();
    let mut filled = questions();
    filled["answers"] = json!({"One?": "A", "Many?": "A, B", "Words?": "neither"});
    assert_eq!(
        far.reply("q").await,
        json!({"behavior": "allow", "updatedInput": filled})
    );
}

#[tokio::test]
async fn answers_that_do_not_fit_the_form_are_refused() {
    let (about, asked, mut far, _session) = subject("AskUserQuestion", questions()).await;
    let Subject::Questions(mut form) = about else {
        panic!("a form");
    };
    let not_asked =
        |result: Result<_, FormError>| matches!(result, Err(FormError::NotAsked { .. }));
    assert!(not_asked(form.choose("Two?", "A").map(drop)));
    assert!(not_asked(form.write("one?", "A").map(drop)));
    assert!(not_asked(form.choose_many("", ["A"]).map(drop)));
    assert!(matches!(
        form.choose("One?", "C"),
        Err(FormError::NoSuchOption { .. })
    ));
    assert!(matches!(
        form.choose_many("One?", ["A", "B"]),
        Err(FormError::OneOnly { .. })
    ));
    assert_eq!(form.unanswered().count(), 3);
    asked.answer(form.decline("not now")).unwrap();
    assert_eq!(
        far.reply("q").await,
        json!({"behavior": "deny", "message": "not now"})
    );
}
