//! What an agent is told from the terminal: messages, interrupts, ends, modes, models, forks.

use super::stage::{Stage, end};

const TALKS: &str = "turn always\n  stream \"You said: ${prompt}.\"\n";

const SLOW: &str = "\
turn
  stream \"I begin.\"
  wait 300s
turn always
  stream \"And again.\"
";

#[test]
fn a_message_reaches_the_agent_from_an_argument_and_from_stdin() {
    let stage = Stage::playing(TALKS);
    let id = stage.start("first");
    stage.until_said(&id, "You said: first.");
    stage.ok(&["send", &end(&id), "second"]);
    stage.until_said(&id, "You said: second.");
    let ran = stage.run_with(&["send", &end(&id), "-"], "third\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    stage.until_said(&id, "You said: third.");
    let ran = stage.run_with(&["send", &id, "-"], "\n");
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

#[test]
fn a_turn_is_interrupted_and_an_agent_stopped_and_resumed() {
    let stage = Stage::playing(SLOW);
    let id = stage.start("go");
    stage.until_state(&id, "running");
    stage.ok(&["interrupt", &id]);
    stage.until_state(&id, "idle");
    stage.ok(&["stop", &id]);
    stage.until_state(&id, "stopped");
    stage.ok(&["resume", &id, "go on"]);
    stage.until_said(&id, "› go on");
    stage.ok(&["stop", "--force", &id]);
    stage.until_state(&id, "stopped");
}

#[test]
fn a_mode_and_a_model_are_chosen() {
    let stage = Stage::playing(TALKS);
    let id = stage.start("hello");
    stage.until_state(&id, "idle");
    stage.ok(&["mode", &id, "edits"]);
    let mode = |stage: &Stage| stage.json(&["show", &id])["session"]["mode"].clone();
    assert_eq!(mode(&stage)["mode"], "edits");
    let out = stage.ok(&["mode", &id, "hands-off", "--for", "20m"]);
    assert!(
        out.contains("hands-off for 19m") || out.contains("hands-off for 20m"),
        "{out}"
    );
    assert!(mode(&stage)["until"].is_u64());
    assert_eq!(
        stage.run(&["mode", &id, "plan", "--for", "20m"]).code,
        Some(2)
    );
    assert_eq!(stage.run(&["mode", &id, "bypass"]).code, Some(2));
    stage.ok(&["model", &id, "opus"]);
    stage.ok(&["model", &id, "default"]);
}

#[test]
fn a_fork_is_a_session_of_its_own() {
    let stage = Stage::playing(TALKS);
    let id = stage.start("hello");
    stage.until_said(&id, "You said: hello.");
    stage.until_state(&id, "idle");
    let receipt = stage.json(&["fork", &id, "elsewhere"]);
    let fork = receipt["did"]["session"].as_str().unwrap().to_owned();
    assert_ne!(fork, id);
    stage.until_said(&fork, "You said: elsewhere.");
    let shown = stage.ok(&["show", &fork]);
    let earlier = shown.find("Earlier conversation").map(|at| &shown[at..]);
    let earlier = earlier.unwrap_or_else(|| panic!("{shown}"));
    assert!(earlier.contains("forked from hello, until "), "{shown}");
    assert!(
        earlier.contains("not part of this session's cost"),
        "{shown}"
    );
    assert!(shown.contains(&end(&id)), "{shown}");
}

#[test]
fn effort_and_limits_are_taken_and_what_is_unknown_is_refused_with_what_is_known() {
    let stage = Stage::playing(TALKS);
    let began = stage.json(&[
        "start",
        "hello",
        "--effort",
        "high",
        "--thinking-tokens",
        "2048",
        "--max-turns",
        "7",
        "--model",
        "opus",
    ]);
    let id = began["did"]["session"].as_str().unwrap().to_owned();
    stage.until_said(&id, "You said: hello.");
    let flags = stage.flags();
    for pair in [
        ["--effort", "high"],
        ["--max-thinking-tokens", "2048"],
        ["--max-turns", "7"],
        ["--model", "opus"],
    ] {
        assert!(flags.windows(2).any(|two| two == pair), "{flags:?}");
    }
    let effort = stage.run(&["start", "hello", "--effort", "huge"]);
    assert_eq!(effort.code, Some(1), "{effort:?}");
    assert!(
        effort.err.contains("low, medium, high, xhigh or max"),
        "{effort:?}"
    );
    let model = stage.run(&["start", "hello", "--model", "opsu"]);
    assert_eq!(model.code, Some(1), "{model:?}");
    assert!(
        model.err.contains("Known: ") && model.err.contains("sonnet"),
        "{model:?}"
    );
    let model = stage.run(&["model", &id, "opsu"]);
    assert!(
        model.code == Some(1) && model.err.contains("Known: "),
        "{model:?}"
    );
    assert_eq!(stage.json(&["sessions"]).as_array().unwrap().len(), 1);
}

#[test]
fn messages_are_listed_for_a_rewind_under_the_ids_that_it_takes() {
    let stage = Stage::playing(TALKS);
    let id = stage.start("first");
    stage.until_said(&id, "You said: first.");
    let sent = stage.json(&["rewind", &id]);
    assert_eq!(
        (sent.as_array().unwrap().len(), &sent[0]["text"]),
        (1, &"first".into())
    );
    let listed = stage.ok(&["rewind", &id]);
    let message = end(sent[0]["message"].as_str().unwrap());
    assert!(
        listed.contains(&message) && listed.contains("first"),
        "{listed}"
    );
    for name in [
        &message,
        sent[0]["uuid"].as_str().unwrap(),
        sent[0]["entry"].as_str().unwrap(),
    ] {
        // Whether files can be put back is for the agent to say; the message was found.
        let ran = stage.run(&["rewind", &id, name, "--dry-run"]);
        assert!(
            matches!(ran.code, Some(0 | 1)) && !ran.err.contains("there is no message"),
            "{ran:?}"
        );
    }
    assert_eq!(stage.run(&["rewind", &id, "zzzzzz"]).code, Some(5));
}

#[test]
fn servers_the_disk_and_conversations_of_terminals_are_shown() {
    let stage = Stage::playing(TALKS);
    let id = stage.start("first");
    stage.until_said(&id, "You said: first.");
    assert!(stage.json(&["mcp", &id]).is_array());
    let disk = stage.json(&["disk"]);
    assert_eq!(disk["sessions"][0]["session"], id.as_str());
    let shown = stage.ok(&["disk"]);
    assert!(
        shown.contains(" in all") && shown.contains(&end(&id)),
        "{shown}"
    );
    assert!(stage.json(&["import"]).is_array());
    assert_eq!(stage.run(&["import", "nothing"]).code, Some(5));
}

/// A turn that fills some of the context, and then a plan.
const FILLS: &str = "\
turn
  usage input=50000 output=100
  stream \"Filled.\"
turn always
  usage input=50000 output=100
  ask ExitPlanMode {\"plan\":\"# A plan\\n\"} gives \"ok\"
  stream \"And on.\"
";

#[test]
fn how_full_the_context_is_stands_in_show_and_in_plan() {
    let stage = Stage::playing(FILLS);
    let began = stage.json(&["start", "fill", "--mode", "plan"]);
    let id = began["did"]["session"].as_str().unwrap().to_owned();
    stage.until_said(&id, "Filled.");
    let view = stage.until_state(&id, "idle");
    let full = view["session"]["context_percent"].as_f64().unwrap();
    assert!(full > 1.0, "{view:#}");
    let shown = stage.ok(&["show", &id]);
    let words = format!("{} %", view["session"]["context_percent"]);
    assert!(
        shown.contains("context") && shown.contains(&words),
        "{shown}"
    );
    stage.ok(&["send", &id, "plan it"]);
    let question = stage.question();
    let plan = question["id"].as_str().unwrap();
    let full = question["plan"]["context_percent"].as_f64().unwrap();
    let words = format!("the context is {full:.0} % full");
    let shown = stage.ok(&["show", plan]);
    assert!(full > 1.0 && shown.contains(&words), "{shown}");
    let reviewed = stage.run(&["plan", plan]);
    assert!(
        reviewed.out.contains(&words) || reviewed.err.contains(&words),
        "{reviewed:?}"
    );
}

#[test]
fn a_conversation_of_a_terminal_is_listed_imported_and_shown() {
    let stage = Stage::playing(TALKS);
    let scenario = stage.root().join("scenario");
    let conversation = "0b6a1b0e-3c5d-4a1e-9a53-5f0f8a5e2c11";
    let talked = stage.run(&[
        "rehearse",
        "cli",
        "--scenario",
        scenario.to_str().unwrap(),
        "-p",
        "from the terminal",
        "--session-id",
        conversation,
    ]);
    assert_eq!(talked.code, Some(0), "{talked:?}");
    let listed = stage.ok(&["import", "--programmatic"]);
    let short = &conversation[conversation.len() - 6..];
    assert!(
        listed.contains(short) && listed.contains("from the terminal"),
        "{listed}"
    );
    let receipt = stage.json(&["import", "--programmatic", short, "--yes"]);
    let id = receipt["did"]["session"].as_str().unwrap().to_owned();
    let shown = stage.ok(&["show", &id]);
    assert!(
        shown.contains("Earlier conversation  from a terminal, until ")
            && shown.contains("You said: from the terminal."),
        "{shown}"
    );
    stage.ok(&["send", &id, "and on"]);
    stage.until_said(&id, "You said: and on.");
}

/// An agent that tells of two MCP servers, and whether one was switched.
const SERVED: &str = "\
turn always
  stream \"You said: ${prompt}.\"
on mcp_status
  answer with {\"mcpServers\":[{\"name\":\"notes\",\"status\":\"connected\",\"scope\":\"project\",\"tools\":[{\"name\":\"add_note\"}]},{\"name\":\"broken\",\"status\":\"failed\",\"error\":\"no such program\"}]}
";

#[test]
fn mcp_servers_are_told_with_how_they_stand_and_why_one_failed() {
    let stage = Stage::playing(SERVED);
    let id = stage.start("first");
    stage.until_said(&id, "You said: first.");
    let servers = stage.json(&["mcp", &id]);
    let told = |at: usize| (&servers[at]["name"], &servers[at]["status"]);
    assert_eq!(
        told(0),
        (&"notes".into(), &"connected".into()),
        "{servers:#}"
    );
    assert_eq!(told(1), (&"broken".into(), &"failed".into()), "{servers:#}");
    let shown = stage.ok(&["mcp", &id]);
    let rows: Vec<&str> = shown.lines().map(str::trim_end).collect();
    assert_eq!(
        rows,
        [
            "notes  connected  1 tool  from the project settings",
            "broken  failed",
            "  no such program",
        ]
    );
}
