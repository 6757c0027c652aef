//! Plain requests with no scenario, as far as the cases of the SDKs, which are made of them, do not show what they come to.

use countersign_rehearsal::cli::Scenario;
use serde_json::{Value, json};

use super::host::{Host, Turn, allow, deny, files, read};

fn start(flags: &[&str]) -> Host {
    Host::play(Scenario::empty("plain requests"), flags)
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_a_plan_waits_for_its_approval() {
    let request = "plan: 1. Leave a mark, then run `touch mark`";
    let mut host = start(&[]);
    let turn = host.turn(request, allow).await;
    assert_eq!(turn.asked(), ["ExitPlanMode", "Bash"]);
    assert_eq!(
        turn.requests().next().unwrap()["input"]["plan"],
        "1. Leave a mark"
    );
    assert_eq!(files(host.project()), ["mark"]);

    let mut host = start(&["--permission-mode", "plan"]);
    let turn = host.turn(request, deny).await;
    assert_eq!(turn.asked(), ["ExitPlanMode"]);
    assert!(files(host.project()).is_empty());
}

fn answer(turn: &Turn) -> &Value {
    assert!(turn.is_success(), "{}", turn.result());
    &turn.result()["structured_output"]
}

#[tokio::test(start_paused = true)]
async fn an_answer_fits_its_schema() {
    let schema = json!({
        "type": "object",
        "properties": {
            "colour": {"type": "string", "enum": ["red", "green", "blue"]},
            "count": {"type": "integer", "minimum": 1},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 2},
        },
        "required": ["colour", "count", "tags"],
        "additionalProperties": false,
    });
    let mut host = start(&["--json-schema", &schema.to_string()]);
    let turn = host.turn("Describe 3 green boxes", allow).await;
    assert_eq!(turn.called(), ["StructuredOutput"]);
    assert!(turn.asked().is_empty());
    assert_eq!(answer(&turn)["colour"], "green");
    assert_eq!(answer(&turn)["count"], 3);
    assert_eq!(answer(&turn)["tags"].as_array().unwrap().len(), 2);

    // An answer that does not fit is sent back, and the next one fits.
    let turn = host.turn("answer with {\"colour\":\"pink\"}", allow).await;
    assert_eq!(turn.called(), ["StructuredOutput", "StructuredOutput"]);
    assert_eq!(answer(&turn)["colour"], "red");

    let turn = host.turn("write a.txt: x", allow).await;
    assert_eq!(turn.called(), ["Write", "StructuredOutput"]);
    assert_eq!(read(host.project(), "a.txt"), "x");
}
