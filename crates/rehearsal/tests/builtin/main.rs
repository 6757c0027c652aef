//! The scenarios that come with the program, each played to its end by a host that answers. They run `sh`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod host;
mod pipe;
mod plain;
mod tour;
mod volume;

use std::collections::BTreeSet;

use countersign_rehearsal::cli::{Scenario, builtin};
use host::{Host, allow, deny, files, read};
use serde_json::{Value, json};

#[test]
fn every_scenario_has_a_name_a_summary_and_no_mistake() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios");
    let names: BTreeSet<String> = builtin::names()
        .map(|(name, _)| format!("{name}.scenario"))
        .collect();
    assert_eq!(names, files(folder.as_ref()).into_iter().collect());
    for (name, summary) in builtin::names() {
        assert!(
            summary.ends_with('.') && summary.len() > 30,
            "{name}: {summary}"
        );
        let text = builtin::get(name).unwrap();
        Scenario::parse(text, name).unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(builtin::get("nothing").is_none());
}

fn send_back_once(request: &Value) -> Value {
    let plan = request["input"]["plan"].as_str().unwrap_or_default();
    if request["tool_name"] == "ExitPlanMode" && !plan.contains("What was said") {
        json!({"behavior": "deny", "message": "make it shorter"})
    } else {
        allow(request)
    }
}

#[tokio::test(start_paused = true)]
async fn a_plan_is_carried_out_changed_or_left_alone_as_the_answers_say() {
    let mut host = Host::start("plan");
    let turn = host.turn("Go", allow).await;
    assert!(turn.is_success(), "{}", turn.result());
    assert_eq!(turn.asked(), ["ExitPlanMode", "Write", "Edit", "Bash"]);
    assert!(read(host.project(), "greet.sh").contains("Bonjour"));
    assert!(turn.text().contains("Hello\nBonjour"), "{}", turn.text());
    assert_eq!(host.end().await.code, Some(0));

    let mut host = Host::start("plan");
    let turn = host.turn("Go", send_back_once).await;
    let second = turn.requests().nth(1).unwrap();
    let plan = second["input"]["plan"].as_str().unwrap();
    assert!(plan.contains("make it shorter"), "{plan}");
    assert_eq!(turn.denials(), ["ExitPlanMode"]);
    assert_eq!(files(host.project()), ["greet.sh"]);

    let mut host = Host::start_with("plan", &["--permission-mode", "plan"]);
    let turn = host.turn("Go", deny).await;
    assert_eq!(turn.asked(), ["ExitPlanMode", "ExitPlanMode"]);
    assert!(!turn.called().contains(&"EnterPlanMode"));
    assert!(files(host.project()).is_empty());
}

const APPROVALS: &str = "Bash Bash Write Edit Bash Read Write Write WebFetch WebSearch mcp__tracker__create_issue Read Read \
                         Bash Write";

#[tokio::test(start_paused = true)]
async fn every_kind_of_approval_is_asked_for() {
    let mut host = Host::start("approvals");
    let turn = host.turn("Go", allow).await;
    assert!(turn.is_success(), "{}", turn.result());
    assert_eq!(turn.asked().join(" "), APPROVALS);
    assert!(turn.denials().is_empty());
    let notes = host.project().join("notes");
    assert_eq!(
        files(&notes),
        ["a.txt", "b.txt", "batch.md", "batch.txt", "list.txt"]
    );
    assert_eq!(read(&notes, "list.txt"), "one\n2\nthree\n");
    // Asked about and never done.
    assert_eq!(files(host.project()), ["notes"]);
    assert!(!std::path::Path::new("/srv/elsewhere").exists());
}

#[tokio::test(start_paused = true)]
async fn what_is_denied_is_not_done_and_the_rest_goes_on() {
    let mut host = Host::start("approvals");
    let turn = host.turn("Go", deny).await;
    assert!(turn.is_success(), "{}", turn.result());
    assert!(turn.text().contains("Well decided."));
    assert!(!turn.asked().contains(&"Edit"), "there is nothing to edit");
    assert_eq!(turn.denials(), turn.asked());
    assert!(files(host.project()).is_empty());
}

fn in_own_words(request: &Value) -> Value {
    let mut input = request["input"].clone();
    input["answers"] = json!({});
    for question in request["input"]["questions"].as_array().unwrap() {
        input["answers"][question["question"].as_str().unwrap()] = "Something else".into();
    }
    json!({"behavior": "allow", "updatedInput": input})
}

#[tokio::test(start_paused = true)]
async fn questions_are_answered_in_own_words_or_not_at_all() {
    let table: [(host::Decide, &str); 3] = [
        (
            allow,
            "Blue it is.|Title, Picture|Everyone|Spelling, Links|Home, sweet home.",
        ),
        (in_own_words, "Not blue.|Something else"),
        (
            deny,
            "No colour, then: rather not|Then it stays empty.|too many|no name yet",
        ),
    ];
    for (decide, parts) in table {
        let mut host = Host::start("questions");
        let turn = host.turn("Go", decide).await;
        assert!(turn.is_success(), "{}", turn.result());
        let text = turn.text();
        for part in parts.split('|') {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn two_sub_agents_ask_at_the_same_time_and_a_third_later() {
    let mut host = Host::start("subagents");
    host.say("Go").await;
    let mut asked = Vec::new();
    while asked.len() < 2 {
        let line = host.next().await;
        if line["request"]["subtype"] == "can_use_tool" {
            asked.push(line);
        }
    }
    let agents: BTreeSet<&str> = asked
        .iter()
        .map(|line| line["request"]["agent_id"].as_str().unwrap())
        .collect();
    assert_eq!(agents.len(), 2);
    for request in asked.iter().rev() {
        host.answer(request, allow(&request["request"])).await;
    }
    let turn = host.until_result(allow).await;
    assert!(turn.is_success());
    assert!(
        turn.asked().is_empty(),
        "the one in the background takes its time"
    );
    assert_eq!(read(host.project(), "first.txt"), "first half\n");

    // Nobody sends anything: the question, and then a turn, come by themselves.
    let own = host.until_result(allow).await;
    assert_eq!(own.asked(), ["Bash"]);
    assert!(own.requests().next().unwrap()["agent_id"].is_string());
    assert!(own.text().contains("whole.txt"), "{}", own.text());
    assert_eq!(
        read(host.project(), "whole.txt"),
        "first half\nsecond half\n"
    );
    assert_eq!(host.end().await.code, Some(0));
}

#[tokio::test(start_paused = true)]
async fn sub_agents_that_are_refused_say_so() {
    let mut host = Host::start("subagents");
    let turn = host.turn("Go", deny).await;
    assert!(turn.is_success());
    assert_eq!(turn.asked(), ["Write", "Write"]);
    let own = host.until_result(deny).await;
    assert!(
        own.text().contains("They were not put together."),
        "{}",
        own.text()
    );
    assert!(files(host.project()).is_empty());
}
