//! Plain requests with no scenario: what they do in a real folder, and what is said about it.

use countersign_rehearsal::cli::Scenario;
use serde_json::{Value, json};

use super::host::{Host, Turn, allow, deny, files, read};

fn start(flags: &[&str]) -> Host {
    Host::play(Scenario::empty("plain requests"), flags)
}

fn said(turn: &Turn) -> &str {
    assert!(turn.is_success(), "{}", turn.result());
    turn.result()["result"].as_str().unwrap()
}

#[tokio::test(start_paused = true)]
async fn files_are_written_changed_and_read_back() {
    let mut host = start(&[]);
    let turn = host.turn("write notes/a.txt: one\\ntwo\\n", allow).await;
    assert_eq!(turn.asked(), ["Write"]);
    assert_eq!(read(host.project(), "notes/a.txt"), "one\ntwo\n");
    let turn = host
        .turn(
            "Please edit `notes/a.txt`: replace `two` with `three`.",
            allow,
        )
        .await;
    assert_eq!(turn.called(), ["Read", "Edit"]);
    assert_eq!(read(host.project(), "notes/a.txt"), "one\nthree\n");
    let turn = host.turn("read notes/a.txt", allow).await;
    assert!(turn.asked().is_empty());
    assert!(
        said(&turn).contains("one") && said(&turn).contains("three"),
        "{}",
        said(&turn)
    );
}

#[tokio::test(start_paused = true)]
async fn a_command_runs_and_what_it_prints_is_said() {
    let mut host = start(&[]);
    let turn = host
        .turn("run `word=four; echo ${#word} > n.txt; cat n.txt`", allow)
        .await;
    assert_eq!(turn.asked(), ["Bash"]);
    assert_eq!(read(host.project(), "n.txt"), "4\n");
    assert_eq!(said(&turn), "4");
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_is_said() {
    let mut host = start(&[]);
    let turn = host.turn("write a.txt: x\nwrite b.txt: y", deny).await;
    assert_eq!(turn.denials(), ["Write", "Write"]);
    assert_eq!(said(&turn), "It was refused: rather not");
    assert!(files(host.project()).is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_agent_follows_its_prompt_and_asks_for_itself() {
    let mut host = start(&[]);
    let turn = host
        .turn(
            "use the agent general-purpose to write a.txt: by an agent",
            allow,
        )
        .await;
    assert_eq!(turn.called(), ["Task", "Write"]);
    assert!(turn.requests().next().unwrap()["agent_id"].is_string());
    assert_eq!(read(host.project(), "a.txt"), "by an agent");
    assert!(said(&turn).contains("a.txt"));
}

#[tokio::test(start_paused = true)]
async fn an_agent_in_the_background_reports_in_a_turn_of_its_own() {
    let mut host = start(&[]);
    let turn = host
        .turn(
            "use the agent general-purpose in the background to `wait 5s, then say I am done`",
            allow,
        )
        .await;
    assert!(turn.is_success());
    let own = host.until_result(allow).await;
    assert!(said(&own).contains("I am done"), "{}", said(&own));
}

#[tokio::test(start_paused = true)]
async fn a_question_is_asked_and_its_answer_said() {
    let mut host = start(&[]);
    let turn = host.turn("ask me which colour: red or blue", allow).await;
    assert_eq!(turn.asked(), ["AskUserQuestion"]);
    assert!(
        said(&turn).contains("\"Which colour?\"=\"red\""),
        "{}",
        said(&turn)
    );
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

#[tokio::test(start_paused = true)]
async fn the_model_can_be_told_to_fail() {
    let mut host = start(&[]);
    let turn = host.turn("fail with 529", allow).await;
    assert_eq!(turn.result()["is_error"], true);
    assert_eq!(turn.result()["api_error_status"], 529);
    assert!(host.turn("say back again", allow).await.is_success());
}

#[tokio::test(start_paused = true)]
async fn a_slow_count_can_be_interrupted() {
    let mut host = start(&["--include-partial-messages"]);
    host.say("count to 1000 slowly").await;
    while host.next().await["event"]["delta"]["type"] != "text_delta" {}
    host.send(&json!({
        "type": "control_request", "request_id": "stop", "request": {"subtype": "interrupt"},
    }))
    .await;
    let turn = host.until_result(allow).await;
    assert_eq!(turn.result()["subtype"], "error_during_execution");
    assert!(!turn.text().contains("1000"));
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
