//! A data folder that an earlier build wrote.
//!
//! Owns the sample in `fixtures/data`: what was stored, and what the API said of it then. Invariants: this build says the same of
//! it, to the letter; its journals verify; a conversation in it goes on. So a field that is renamed in the code is not forgotten on
//! the disk. A sample is never written again: a change of what is stored gets a further one, and both are read.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::{Map, Value, json};

use super::api;
use super::http::Browser;
use super::stage::{Daemon, Stage, until};

/// What an agent does in the sample, and when it goes on.
const SCENARIO: &str = r##"
turn always when "print"
  tool Bash {"command":"printf one","description":"Print a word"}
  if refused
    say "It was refused: ${result}"
  else
    say "Printed: ${result}"
  end
turn always when "plan"
  tool Write {"file_path":"${plan_file}","content":"# Two words\n\n1. Print one\n2. Print two\n"}
  tool ExitPlanMode {"allowedPrompts":[{"tool":"Bash","prompt":"print words"}]}
  if refused
    tool Write {"file_path":"${plan_file}","content":"# Two words\n\n1. Print one\n2. Print three\n"}
    tool ExitPlanMode {}
  end
  say "Agreed."
turn always when "choose"
  tool AskUserQuestion {"questions":[{"question":"Which word?","header":"Word","multiSelect":false,"options":[{"label":"One","description":"The first"},{"label":"Two","description":"The second"}]}]}
  say "Chosen."
turn always
  say "You said: ${prompt}"
"##;

/// Where agents of the sample work: a folder that is there on every machine.
const FOLDER: &str = "/";

/// What a daemon makes anew, or what is nobody else's business.
const LEFT_OUT: [&str; 6] = ["auth", "run", "reserve", "host.lock", "trash", "worktrees"];

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/data/v1")
}

/// The conversations of the CLI, below a home.
const CONVERSATIONS: &str = ".claude/projects";

#[test]
fn a_data_folder_of_an_earlier_build_is_read_as_it_was_written() {
    let stage = Stage::new();
    copy(&sample().join("data"), &stage.data());
    let home = stage.root().join("home");
    copy(&sample().join("conversations"), &home.join(CONVERSATIONS));
    let daemon = stage.serve(&["--claude", &stage.playing(SCENARIO)]);
    let browser = daemon.signed_in();

    let text = std::fs::read_to_string(sample().join("answers.json")).unwrap();
    let stored: Map<String, Value> = serde_json::from_str(&text).unwrap();
    for (path, answer) in &stored {
        let said = api::get(&browser, path);
        assert_eq!(&said, answer, "{path}\n{}", stage.logged());
    }
    let sessions = stored["/sessions"]["items"].as_array().unwrap();
    assert_eq!(sessions.len(), 4);

    let sessions_folder = stage.data().join("sessions");
    for session in sessions {
        let folder = sessions_folder.join(session["id"].as_str().unwrap());
        let verified = stage
            .command(&["journal", "verify", folder.to_str().unwrap()])
            .output()
            .unwrap();
        assert!(verified.status.success(), "{verified:?}");
    }

    // The agent of a session is resumed in its conversation.
    let id = sessions[0]["id"].as_str().unwrap();
    post(
        &browser,
        "POST",
        &format!("/sessions/{id}/resume"),
        &json!({}),
    );
    say(&browser, id, "go on");
    until_transcript(&browser, id, "You said: go on");
    until_transcript(&browser, id, "\"is_resumed\":true");
    api::send(
        &browser,
        "POST",
        &format!("/sessions/{id}/stop"),
        &json!({}),
    );
    end(daemon);
}

/// Writes a sample. `SAMPLE_TO` names the folder; it is committed by whoever looked at it.
#[test]
#[ignore = "writes a sample of what is stored into the folder `SAMPLE_TO`"]
fn write_a_sample() {
    let to = PathBuf::from(std::env::var("SAMPLE_TO").expect("`SAMPLE_TO` names a folder"));
    let stage = Stage::new();
    let claude = neutral(&stage, &stage.playing(SCENARIO));
    let daemon = stage.serve(&["--claude", &claude]);
    let browser = daemon.signed_in();
    post(
        &browser,
        "POST",
        "/rules",
        &json!({"effect": "deny", "rule": "Bash(rm -rf:*)", "scope": "always", "note": "Nothing is removed by force."}),
    );
    post(
        &browser,
        "PUT",
        "/templates/printer",
        &json!({"prompt": "print", "mode": {"mode": "ask"}, "effort": "high", "max_turns": 3}),
    );
    post(
        &browser,
        "PATCH",
        "/settings",
        &json!({"max_agents": 5, "retention_days": 3_650}),
    );

    let printed = begin(&browser, "Prints", "print", "ask");
    let asked = api::question(&browser, "printf one");
    decided(
        &browser,
        &asked,
        json!({"decision": "allow", "updated_input": {"command": "printf two", "description": "Print a word"}}),
    );
    until_transcript(&browser, &printed, "Printed: two");
    say(&browser, &printed, "thanks");
    until_transcript(&browser, &printed, "You said: thanks");

    let refused = begin(&browser, "Does not print", "print", "ask");
    let asked = api::question(&browser, "printf one");
    decided(
        &browser,
        &asked,
        json!({"decision": "deny", "message": "Not today."}),
    );
    until_transcript(&browser, &refused, "It was refused");

    let planned = begin(&browser, "Plans", "plan", "plan");
    let asked = api::question(&browser, "Print two");
    let comment = json!([{"line": 4, "text": "Three."}]);
    decided(
        &browser,
        &asked,
        json!({"decision": "plan", "choice": "keep-planning", "compact": false, "comments": comment}),
    );
    let asked = api::question(&browser, "Print three");
    decided(
        &browser,
        &asked,
        json!({"decision": "plan", "choice": "accept-edits", "compact": false, "comments": [], "rules": ["Bash(printf:*)"]}),
    );
    until_transcript(&browser, &planned, "Agreed.");

    let chosen = begin(&browser, "Chooses", "choose", "ask");
    let asked = api::question(&browser, "Which word?");
    decided(
        &browser,
        &asked,
        json!({"decision": "answer", "answers": {"Which word?": "Two"}}),
    );
    until_transcript(&browser, &chosen, "Chosen.");

    for id in [&printed, &refused, &planned, &chosen] {
        post(
            &browser,
            "POST",
            &format!("/sessions/{id}/stop"),
            &json!({}),
        );
        until("it has stopped", || {
            let view = api::get(&browser, &format!("/sessions/{id}"));
            match view["state"] == "stopped" {
                true => Ok(()),
                false => Err(view.to_string()),
            }
        });
    }
    end(daemon);

    // As a daemon says it that reads it from the disk.
    let daemon = stage.serve(&["--claude", &claude]);
    let browser = daemon.signed_in();
    let mut answers = Map::new();
    let mut keep = |path: &str| {
        let answer = api::get(&browser, path);
        answers.insert(path.to_owned(), answer.clone());
        answer
    };
    for path in [
        "/sessions",
        "/approvals?state=settled",
        "/decisions",
        "/rules",
        "/templates",
        "/settings",
        "/search?q=printf",
    ] {
        keep(path);
    }
    for id in [&printed, &refused, &planned, &chosen] {
        for part in ["", "/transcript", "/plans", "/queue", "/tasks"] {
            keep(&format!("/sessions/{id}{part}"));
        }
    }
    end(daemon);
    copy(&stage.data(), &to.join("data"));
    for entry in std::fs::read_dir(to.join("data")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        // A new database is made by steps, and each leaves the one before.
        if LEFT_OUT.contains(&name) || name.starts_with("host.db.before") {
            let _ = std::fs::remove_dir_all(&path);
            let _ = std::fs::remove_file(&path);
        }
    }
    copy(
        &stage.root().join("home").join(CONVERSATIONS),
        &to.join("conversations"),
    );
    let text = serde_json::to_string_pretty(&answers).unwrap();
    std::fs::write(to.join("answers.json"), text + "\n").unwrap();
}

/// A command that says nothing of where this build lies, since it is stored.
fn neutral(stage: &Stage, command: &str) -> String {
    let script = stage.root().join("claude");
    std::fs::write(&script, format!("#!/bin/sh\nexec {command} \"$@\"\n")).unwrap();
    std::fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    script.to_str().unwrap().to_owned()
}

#[track_caller]
fn post(browser: &Browser, method: &str, path: &str, body: &Value) -> Value {
    let answer = api::send(browser, method, path, body);
    assert!((200..300).contains(&answer.status), "{path}: {answer:?}");
    serde_json::from_str(&answer.body).unwrap_or_default()
}

#[track_caller]
fn begin(browser: &Browser, name: &str, prompt: &str, mode: &str) -> String {
    let body = json!({"cwd": FOLDER, "name": name, "prompt": prompt, "mode": mode});
    let receipt = post(browser, "POST", "/sessions", &body);
    receipt["did"]["session"].as_str().unwrap().to_owned()
}

#[track_caller]
fn say(browser: &Browser, session: &str, text: &str) {
    let body = json!({"text": text});
    post(
        browser,
        "POST",
        &format!("/sessions/{session}/messages"),
        &body,
    );
}

#[track_caller]
fn decided(browser: &Browser, asked: &Value, decision: Value) {
    let answer = api::decide(browser, asked, decision);
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[track_caller]
fn until_transcript(browser: &Browser, session: &str, words: &str) {
    until(words, || {
        let page = api::get(browser, &format!("/sessions/{session}/transcript"));
        let view = api::get(browser, &format!("/sessions/{session}"));
        match page.to_string().contains(words) && view["state"] == "idle" {
            true => Ok(()),
            false => Err(format!("{view:#}\n{page:#}")),
        }
    });
}

#[track_caller]
fn end(daemon: Daemon) {
    daemon.signal(Signal::TERM);
    daemon.ended();
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => copy(&entry.path(), &to),
            kind if kind.is_file() => drop(std::fs::copy(entry.path(), to).unwrap()),
            // Sockets.
            _ => {}
        }
    }
}
