//! Sessions that are begun over the API: what is refused, and how a folder may be named.

use serde_json::{Value, json};

use super::api;
use super::stage::{Stage, until};

#[test]
fn an_empty_prompt_makes_no_session() {
    let stage = Stage::new();
    let daemon = stage.serve(&["--rehearsal"]);
    let browser = daemon.signed_in();
    let folder = stage.project();
    for prompt in ["", "  \n"] {
        let body = json!({"prompt": prompt, "cwd": folder});
        let answer = api::send(&browser, "POST", "/sessions", &body);
        assert_eq!(answer.status, 422, "{answer:?}");
        assert!(answer.body.contains("the prompt is empty"), "{answer:?}");
    }
    let all = api::get(&browser, "/sessions");
    assert_eq!(all["items"], json!([]), "{all:#}");
}

#[test]
fn a_folder_can_be_named_from_home() {
    let stage = Stage::new();
    let home = stage.root().join("home");
    std::fs::create_dir(home.join("work")).unwrap();
    let daemon = stage.serve(&["--rehearsal"]);
    let browser = daemon.signed_in();
    for (named, meant) in [("~", home.clone()), ("~/work", home.join("work"))] {
        let body = json!({"prompt": "hi", "cwd": named});
        let answer = api::send(&browser, "POST", "/sessions", &body);
        assert!(answer.status < 300, "{answer:?}");
        let all = api::get(&browser, "/sessions");
        let is_it = |one: &serde_json::Value| one["cwd"] == json!(meant);
        assert!(
            all["items"].as_array().unwrap().iter().any(is_it),
            "{all:#}"
        );
    }
    let shown = api::get(&browser, "/folders?path=~");
    assert!(shown["folders"].to_string().contains("work"), "{shown:#}");
}

#[test]
fn a_login_link_that_no_longer_works_says_so_and_what_to_do() {
    let stage = Stage::new();
    let daemon = stage.serve(&["--rehearsal"]);
    let page = daemon.stranger().get("/login?code=used");
    assert_eq!(page.status, 401, "{page:?}");
    let sentence = "This sign-in link no longer works. Run <code>countersign</code> for a new one.";
    assert!(page.body.contains(sentence), "{page:?}");
    assert!(page.body.contains("href=\"/login.css\""), "{page:?}");
}

#[test]
fn hooks_and_sub_agents_of_a_session_reach_the_cli() {
    let stage = Stage::new();
    let (flags, lines) = (stage.root().join("argv"), stage.root().join("lines"));
    let claude = stage.playing("turn always\n  say \"Hello.\"\n");
    let claude = format!(
        "/usr/bin/env 'COUNTERSIGN_SCENARIO_ARGV={}' 'COUNTERSIGN_SCENARIO_LOG={}' {claude}",
        flags.display(),
        lines.display()
    );
    let daemon = stage.serve(&["--claude", &claude]);
    let browser = daemon.signed_in();
    let hook = json!([{"matcher": "Edit", "hooks": [{"type": "command", "command": "true"}]}]);
    let agents = json!({"looker": {"description": "Looks", "prompt": "Look around."}});
    let body = json!({
        "prompt": "hi", "cwd": stage.project().to_str().unwrap(),
        "hooks": {"PostToolUse": hook}, "agents": agents,
    });
    let began = api::send(&browser, "POST", "/sessions", &body);
    assert_eq!(began.status, 201, "{began:?}");
    // Whichever way a version takes its sub-agents.
    until("the sub-agent is told", || {
        let said = [&flags, &lines].map(|file| std::fs::read_to_string(file).unwrap_or_default());
        match said.iter().any(|text| text.contains("Look around.")) {
            true => Ok(()),
            false => Err(format!("{said:?}")),
        }
    });
    let note: Value = serde_json::from_str(&std::fs::read_to_string(&flags).unwrap()).unwrap();
    let words: Vec<String> = serde_json::from_value(note["argv"].clone()).unwrap();
    let at = words.iter().position(|word| word == "--settings").unwrap();
    // A long value goes as a file, a short one as it is.
    let text = std::fs::read_to_string(&words[at + 1]).unwrap_or_else(|_| words[at + 1].clone());
    let settings: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(settings["hooks"]["PostToolUse"], hook, "{settings:#}");
}
