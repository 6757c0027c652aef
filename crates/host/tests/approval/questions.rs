//! A line → a question, and the digest of what was shown.

use countersign_host::approval::{Asked, asked, digest};
use countersign_host::control::approval::Kind;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::stage::{RECORDED, ask, plan, questions, recorded, tool};

#[test]
fn every_recorded_question_is_read_and_no_other_line() {
    for version in RECORDED {
        for scenario in [
            "bash-approved",
            "write-edit",
            "sub-agent",
            "plan-mode",
            "ask-user-question",
            "interrupt-approval",
            "hooks",
            "mcp-in-process",
        ] {
            for line in recorded(version, scenario) {
                let is_question =
                    String::from_utf8_lossy(&line).contains("\"subtype\":\"can_use_tool\"");
                assert_eq!(asked(&line).is_some(), is_question, "{version} {scenario}");
            }
        }
    }
}

#[test]
fn a_plan_and_questions_are_kinds_of_their_own_on_every_version() {
    for version in RECORDED {
        let plans = questions(version, "plan-mode");
        assert!(
            plans.iter().any(|asked| asked.kind == Kind::Plan),
            "{version}"
        );
        for asked in plans.iter().filter(|asked| asked.kind == Kind::Plan) {
            assert_eq!(asked.plan_text(), Some("# Plan\n\n1. Write hello.txt\n"));
        }
        let forms = questions(version, "ask-user-question");
        assert_eq!(forms[0].kind, Kind::Questions, "{version}");
        let calls = questions(version, "bash-approved");
        assert_eq!(
            (calls[0].kind, calls[0].tool.as_str()),
            (Kind::Tool, "Bash")
        );
        assert!(calls[0].tool_use_id.is_some());
    }
}

#[test]
fn forms_and_dialogs_are_questions_and_hooks_are_not() {
    let form = ask(
        json!({"subtype": "elicitation", "mcp_server_name": "el", "message": "Your name?", "mode": "form",
        "requested_schema": {"type": "object"}}),
    );
    assert_eq!((form.kind, form.tool.as_str()), (Kind::Elicitation, "el"));
    assert_eq!(form.remark.as_deref(), Some("Your name?"));
    assert_eq!(form.input["requested_schema"], json!({"type": "object"}));
    assert_eq!(form.input.get("subtype"), None);

    let dialog =
        ask(json!({"subtype": "request_user_dialog", "dialog_kind": "k", "payload": {"a": 1}}));
    assert_eq!((dialog.kind, dialog.tool.as_str()), (Kind::Dialog, "k"));
    assert_eq!(dialog.input, json!({"a": 1}));

    for request in [
        json!({"subtype": "hook_callback", "callback_id": "cb", "input": {}}),
        json!({"subtype": "mcp_message", "server_name": "s", "message": {}}),
        json!({"subtype": "something_new"}),
        json!({"subtype": "can_use_tool", "input": {}}),
    ] {
        let line = json!({"type": "control_request", "request_id": "r", "request": request});
        assert_eq!(asked(line.to_string().as_bytes()), None, "{line}");
    }
    assert_eq!(asked(b"{\"type\":\"control_request\""), None);
    assert_eq!(asked(b"noise"), None);
}

#[test]
fn a_question_that_names_no_call_is_a_question() {
    let bare = ask(json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {}}));
    assert_eq!((bare.kind, bare.tool.as_str()), (Kind::Tool, "Bash"));
    assert_eq!(bare.tool_use_id, None);
}

#[test]
fn a_stored_question_is_the_same_question() {
    for version in RECORDED {
        for asked in questions(version, "sub-agent") {
            let text = serde_json::to_string(&asked).unwrap();
            assert_eq!(serde_json::from_str::<Asked>(&text).unwrap(), asked);
        }
    }
}

#[test]
fn the_digest_is_of_what_is_meant_not_of_how_it_is_written() {
    let digest_of = |input: &str| {
        let line = format!(
            r#"{{"type":"control_request","request_id":"r","request":{{"subtype":"can_use_tool","tool_name":"T","input":{input},"tool_use_id":"t"}}}}"#
        );
        digest(&asked(line.as_bytes()).unwrap())
    };
    assert_eq!(
        digest_of(r#"{"a":1,"b":{"c":[1.0,2e0],"d":"é"}}"#),
        digest_of(r#"{ "b": {"d":"\u00e9", "c": [1, 2]}, "a": 1.0 }"#)
    );
    assert_ne!(digest_of(r#"{"a":1}"#), digest_of(r#"{"a":"1"}"#));
    assert_ne!(digest_of(r#"{"a":[1,2]}"#), digest_of(r#"{"a":[2,1]}"#));
}

#[test]
fn the_digest_covers_tool_kind_and_the_text_that_was_read_for_a_plan() {
    let one = tool("Bash", json!({"command": "ls"}));
    assert_eq!(digest(&one).as_str().len(), 32);
    assert_ne!(
        digest(&one),
        digest(&tool("Read", json!({"command": "ls"})))
    );
    // Another request for the same call is the same thing to look at.
    let again = Asked {
        request_id: "other".to_owned(),
        tool_use_id: Some("toolu_9".to_owned()),
        ..one.clone()
    };
    assert_eq!(digest(&one), digest(&again));
    let bare = tool("ExitPlanMode", json!({}));
    let read = bare.clone().with_plan(Some("# Plan".to_owned()));
    assert_ne!(digest(&bare), digest(&read));
    assert_ne!(
        digest(&read),
        digest(&bare.with_plan(Some("# Other".to_owned())))
    );
}

#[test]
fn the_text_of_a_plan_is_what_came_with_it_else_what_the_file_held() {
    assert_eq!(
        plan("# A").with_plan(Some("# B".to_owned())).plan_text(),
        Some("# A")
    );
    let bare = tool("ExitPlanMode", json!({}));
    assert_eq!(bare.plan_text(), None);
    let blank = plan(" ").with_plan(Some("# B".to_owned()));
    assert_eq!(blank.plan_text(), Some("# B"));
    assert_eq!(
        bare.clone().with_plan(Some("# B".to_owned())).plan_text(),
        Some("# B")
    );
    assert_eq!(bare.with_plan(Some(" \n".to_owned())).plan_text(), None);
    // Only a plan has one.
    assert_eq!(tool("Write", json!({"plan": "x"})).plan_text(), None);
}

/// Any JSON that an input may hold.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(".{0,4}", inner, 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// The same JSON, written otherwise: keys the other way round, white space, numbers with a fraction, escaped letters.
fn otherwise(value: &Value) -> String {
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(whole) if whole.unsigned_abs() < 1 << 53 => format!("{whole}.0e0"),
            _ => number.to_string(),
        },
        Value::String(text) => {
            let units: Vec<String> = text
                .encode_utf16()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect();
            format!("\"{}\"", units.join(""))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(otherwise).collect();
            format!("[ {} ]", items.join(" , "))
        }
        Value::Object(fields) => {
            let fields = fields.iter().rev();
            let fields: Vec<String> = fields
                .map(|(name, value)| {
                    format!(
                        "{} : {}",
                        otherwise(&Value::from(name.as_str())),
                        otherwise(value)
                    )
                })
                .collect();
            format!("{{ {} }}", fields.join(" , "))
        }
        other => other.to_string(),
    }
}

fn of_input(input: &str) -> Asked {
    let line = format!(
        r#"{{"type":"control_request","request_id":"r","request":{{"subtype":"can_use_tool","tool_name":"T","input":{input},"tool_use_id":"t"}}}}"#
    );
    asked(line.as_bytes()).unwrap()
}

proptest! {
    #[test]
    fn however_an_input_is_written_its_digest_is_one(value in any_json()) {
        let (one, other) = (of_input(&value.to_string()), of_input(&otherwise(&value)));
        prop_assert_eq!(digest(&one), digest(&other));
    }

    #[test]
    fn another_input_has_another_digest(one in any_json(), other in any_json()) {
        prop_assume!(one != other);
        let (first, second) = (of_input(&one.to_string()), of_input(&other.to_string()));
        let is_same_number = matches!((&one, &other), (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64());
        prop_assert!(is_same_number || digest(&first) != digest(&second));
    }
}
