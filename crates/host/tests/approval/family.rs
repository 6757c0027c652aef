//! Who asks: paths of sub-agents, on recorded lines and on made ones.

use countersign_host::approval::{Asked, Family, asked};
use countersign_host::control::approval::Asker;
use serde_json::{Value, json};

use crate::stage::{RECORDED, recorded, tool};

/// The path of each question, when it is asked.
fn paths(lines: &[Vec<u8>]) -> Vec<(Asked, Vec<Asker>)> {
    let mut family = Family::default();
    let mut paths = Vec::new();
    for line in lines {
        family.note(line);
        if let Some(asked) = asked(line) {
            let path = family.path(&asked);
            paths.push((asked, path));
        }
    }
    paths
}

fn say(family: &mut Family, line: Value) {
    family.note(line.to_string().as_bytes());
}

fn starts(call: &str, parent: Option<&str>, description: &str) -> Value {
    json!({"type": "assistant", "parent_tool_use_id": parent, "message": {"role": "assistant", "content": [
        {"type": "tool_use", "id": call, "name": "Task", "input": {"description": description, "prompt": "p", "subagent_type": "general-purpose"}}]}})
}

fn calls(call: &str, parent: Option<&str>) -> Value {
    json!({"type": "assistant", "parent_tool_use_id": parent, "message": {"role": "assistant", "content": [
        {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "ls"}}]}})
}

fn by(agent: &str, call: &str) -> Asked {
    Asked {
        agent_id: Some(agent.to_owned()),
        tool_use_id: Some(call.to_owned()),
        ..tool("Bash", json!({"command": "ls"}))
    }
}

fn names(path: &[Asker]) -> Vec<&str> {
    path.iter()
        .map(|asker| asker.description.as_deref().unwrap_or("?"))
        .collect()
}

#[test]
fn a_sub_agent_is_named_on_every_version() {
    for version in RECORDED {
        let paths = paths(&recorded(version, "sub-agent"));
        assert_eq!(paths.len(), 1, "{version}");
        let (asked, path) = &paths[0];
        assert!(asked.agent_id.is_some(), "{version}");
        let expected = Asker {
            agent_id: asked.agent_id.clone(),
            tool_use_id: Some("toolu_00000000000000010002".to_owned()),
            kind: Some("general-purpose".to_owned()),
            description: Some("Count files".to_owned()),
        };
        assert_eq!(path, &[expected], "{version}");
    }
}

#[test]
fn the_main_agent_has_no_path() {
    for version in RECORDED {
        for scenario in ["bash-approved", "plan-mode", "write-edit"] {
            for (_, path) in paths(&recorded(version, scenario)) {
                assert_eq!(path, [], "{version} {scenario}");
            }
        }
    }
}

#[test]
fn a_sub_agent_in_the_background_is_named_after_the_result() {
    let paths = paths(&recorded("newest", "background-agent"));
    let below: Vec<_> = paths
        .iter()
        .filter(|(asked, _)| asked.agent_id.is_some())
        .collect();
    assert!(!below.is_empty());
    for (asked, path) in below {
        assert_eq!(path.len(), 1);
        assert_eq!(path[0].agent_id, asked.agent_id);
        assert!(path[0].description.is_some(), "{path:?}");
    }
}

#[test]
fn an_agent_below_an_agent_has_both_in_its_path() {
    let mut family = Family::default();
    say(&mut family, starts("t1", None, "outer"));
    say(
        &mut family,
        json!({"type": "system", "subtype": "task_started", "task_id": "a1", "tool_use_id": "t1", "description": "outer", "task_type": "local_agent"}),
    );
    say(&mut family, starts("t2", Some("t1"), "inner"));
    say(
        &mut family,
        json!({"type": "system", "subtype": "task_started", "task_id": "a2", "tool_use_id": "t2", "description": "inner", "task_type": "local_agent"}),
    );
    say(&mut family, calls("b1", Some("t2")));
    assert_eq!(names(&family.path(&by("a2", "b1"))), ["outer", "inner"]);
    assert_eq!(names(&family.path(&by("a1", "b9"))), ["outer"]);
}

#[test]
fn the_task_above_is_enough_where_no_line_says_below_which_call() {
    let mut family = Family::default();
    for (id, call, above) in [
        ("a1", "t1", None),
        ("a2", "t2", Some("a1")),
        ("a3", "t3", Some("a2")),
    ] {
        say(
            &mut family,
            json!({"type": "system", "subtype": "task_started", "task_id": id, "tool_use_id": call,
            "description": id, "task_type": "local_agent", "parent_task_id": above}),
        );
    }
    assert_eq!(names(&family.path(&by("a3", "b"))), ["a1", "a2", "a3"]);
}

#[test]
fn the_call_is_enough_where_no_line_tells_the_agents_id() {
    let mut family = Family::default();
    say(&mut family, starts("t1", None, "outer"));
    say(&mut family, starts("t2", Some("t1"), "inner"));
    say(&mut family, calls("b1", Some("t2")));
    let path = family.path(&by("never-told", "b1"));
    assert_eq!(names(&path), ["outer", "inner"]);
    assert_eq!(path[1].agent_id.as_deref(), Some("never-told"));
    assert_eq!(path[0].agent_id, None);
}

#[test]
fn a_sub_agent_of_which_nothing_is_known_is_still_told_from_the_main_agent() {
    let path = Family::default().path(&by("a7", "b1"));
    assert_eq!(path.len(), 1);
    assert_eq!(path[0].agent_id.as_deref(), Some("a7"));
}

#[test]
fn a_shell_in_the_background_is_no_agent() {
    let mut family = Family::default();
    say(
        &mut family,
        json!({"type": "system", "subtype": "task_started", "task_id": "b1", "tool_use_id": "t1", "description": "sleep", "task_type": "local_bash"}),
    );
    assert_eq!(family, Family::default());
}

#[test]
fn what_is_remembered_is_bounded_and_the_newest_stay() {
    let mut family = Family::default();
    for number in 0..5_000 {
        say(
            &mut family,
            starts(&format!("t{number}"), None, &"x".repeat(1_000)),
        );
        say(
            &mut family,
            calls(&format!("b{number}"), Some(&format!("t{number}"))),
        );
    }
    let size = serde_json::to_string(&family).unwrap().len();
    assert!(size < 200_000, "{size}");
    let path = family.path(&by("a", "b4999"));
    assert_eq!(path[0].description.as_deref().map(str::len), Some(200));
    assert_eq!(family.path(&by("a", "b0"))[0].tool_use_id, None);
}

#[test]
fn agents_that_claim_to_be_below_each_other_do_not_lead_round_and_round() {
    let mut family = Family::default();
    say(&mut family, starts("t1", Some("t2"), "one"));
    say(&mut family, starts("t2", Some("t1"), "two"));
    say(&mut family, calls("b1", Some("t2")));
    assert!(family.path(&by("a", "b1")).len() <= 16);
    say(&mut family, starts("t3", Some("t3"), "itself"));
    say(&mut family, calls("b3", Some("t3")));
    assert_eq!(names(&family.path(&by("a", "b3"))), ["itself"]);
}

#[test]
fn it_is_stored_and_goes_on_where_it_was() {
    for version in RECORDED {
        let mut family = Family::default();
        for line in recorded(version, "sub-agent") {
            family.note(&line);
            let text = serde_json::to_string(&family).unwrap();
            family = serde_json::from_str(&text).unwrap();
            if let Some(asked) = asked(&line) {
                assert_eq!(names(&family.path(&asked)), ["Count files"], "{version}");
            }
        }
    }
}

#[test]
fn lines_that_cannot_be_read_teach_nothing() {
    let mut family = Family::default();
    for line in [
        "",
        "{",
        "null",
        r#"{"type":"assistant"}"#,
        r#"{"type":"assistant","parent_tool_use_id":"t","message":{"content":"\"tool_use\""}}"#,
        r#"{"type":"system","subtype":"task_started","task_id":5,"tool_use_id":"t"}"#,
        r#"{"type":"user","parent_tool_use_id":"t","agent_id":7,"message":null}"#,
    ] {
        family.note(line.as_bytes());
    }
    assert_eq!(family, Family::default());
}

/// As 2.1.325 told it: of the inner agent no line is passed on but that its task was started.
#[test]
fn an_agent_below_an_agent_is_named_though_nothing_of_it_is_passed_on() {
    let mut family = Family::default();
    say(&mut family, starts("toolu_10002", None, "Count files"));
    say(
        &mut family,
        json!({"type": "system", "subtype": "task_started", "task_id": "a2", "run_id": "3", "tool_use_id": "toolu_10002",
            "description": "Count files", "subagent_type": "general-purpose", "is_backgrounded": false, "spawn_depth": 1,
            "task_type": "local_agent", "prompt": "Please count the files here"}),
    );
    say(
        &mut family,
        json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "Please count the files here"}]},
            "parent_tool_use_id": "toolu_10002", "agent_id": "a2", "subagent_type": "general-purpose", "task_description": "Count files"}),
    );
    say(
        &mut family,
        starts("toolu_40001", Some("toolu_10002"), "Count deeper"),
    );
    say(
        &mut family,
        json!({"type": "system", "subtype": "task_started", "task_id": "a5", "run_id": "6", "tool_use_id": "toolu_40001",
            "description": "Count deeper", "subagent_type": "general-purpose", "is_backgrounded": false, "spawn_depth": 2,
            "parent_task_id": "a2", "task_type": "local_agent", "prompt": "Go down and look"}),
    );
    let path = family.path(&by("a5", "toolu_never_seen"));
    assert_eq!(names(&path), ["Count files", "Count deeper"]);
    assert_eq!(path[0].agent_id.as_deref(), Some("a2"));
    assert_eq!(path[1].agent_id.as_deref(), Some("a5"));
}
