//! Sessions as the terminal lists, shows, puts away and names them.

use super::stage::{Stage, end};

const HELLO: &str = "turn always\n  stream \"Hello from the script.\"\n";

#[test]
fn a_session_is_started_listed_and_shown_by_the_end_of_its_id() {
    let stage = Stage::playing(HELLO);
    let out = stage.ok(&["start", "Say hello.", "--name", "greeter"]);
    let short = out.split_whitespace().last().unwrap();
    let short = short.trim_matches(['`', '.']).to_owned();
    assert_eq!(short.len(), 6, "{out}");
    assert!(out.starts_with(&format!("Started {short}. ")), "{out}");
    stage.until_state(&short, "idle");
    let list = stage.ok(&["sessions"]);
    assert!(list.contains(&short) && list.contains("greeter"), "{list}");
    let shown = stage.ok(&["show", &short]);
    assert!(
        shown.contains("greeter") && shown.contains("/project"),
        "{shown}"
    );
    let log = stage.ok(&["logs", &short]);
    assert!(log.contains("› Say hello."), "{log}");
    assert!(log.contains("  Hello from the script."), "{log}");
}

#[test]
fn sessions_are_filtered_by_their_state() {
    let stage = Stage::playing(HELLO);
    let id = stage.start("Say hello.");
    stage.until_state(&id, "idle");
    let idle = stage.json(&["sessions", "--state", "idle"]);
    assert_eq!(idle[0]["id"], id.as_str());
    assert_eq!(
        stage.json(&["sessions", "--state", "needs-you"]),
        serde_json::json!([])
    );
    assert!(
        stage
            .ok(&["sessions", "--state", "failed"])
            .contains("No session")
    );
    assert_eq!(stage.run(&["sessions", "--state", "busy"]).code, Some(2));
}

#[test]
fn the_trash_gives_back_what_went_into_it() {
    let stage = Stage::playing(HELLO);
    let id = stage.start("Say hello.");
    stage.until_state(&id, "idle");
    stage.ok(&["stop", &id]);
    stage.until_state(&id, "stopped");
    stage.ok(&["rm", &end(&id)]);
    assert_eq!(stage.json(&["sessions", "--all"]), serde_json::json!([]));
    assert_eq!(stage.json(&["sessions", "--trash"])[0]["id"], id.as_str());
    stage.ok(&["rm", "--restore", &end(&id)]);
    assert_eq!(stage.json(&["sessions"])[0]["id"], id.as_str());
}

#[test]
fn a_beginning_that_fits_several_is_listed_and_not_guessed() {
    let stage = Stage::playing(HELLO);
    let (one, two) = (stage.start("One."), stage.start("Two."));
    let same = one
        .bytes()
        .zip(two.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let ran = stage.run(&["interrupt", &one[..same.min(4)]]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert!(
        ran.err.contains(&one) && ran.err.contains(&two),
        "{}",
        ran.err
    );
    let ran = stage.run(&["show", "zzzzzz"]);
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert!(ran.err.contains("countersign sessions"), "{}", ran.err);
}

#[test]
fn the_document_of_the_api_needs_no_daemon() {
    let stage = Stage::alone();
    let document: serde_json::Value = serde_json::from_str(&stage.ok(&["openapi"])).unwrap();
    assert!(
        document["paths"]["/api/v1/sessions"].is_object(),
        "{}",
        document["paths"]
    );
}

#[test]
fn a_session_over_its_budget_goes_on_when_it_is_raised() {
    let stage = Stage::playing(
        "turn always\n  usage input=1000 output=100 cost=0.5\n  stream \"Done with ${prompt}.\"\n",
    );
    for amount in ["nan", "inf", "1e400", "0", "-1"] {
        let ran = stage.run(&["start", "one", "--budget", amount]);
        assert_eq!(ran.code, Some(2), "{amount} {ran:?}");
        assert!(ran.err.contains("above 0"), "{amount} {ran:?}");
    }
    let receipt = stage.json(&["start", "one", "--budget", "0.4"]);
    let id = receipt["did"]["session"].as_str().unwrap();
    super::stage::until("it has cost too much", || {
        let list = stage.ok(&["sessions", "--state", "paused: budget"]);
        match list.contains(&end(id)) {
            true => Ok(()),
            false => Err(list),
        }
    });
    for words in [
        &["resume", id][..],
        &["resume", id, "two"],
        &["resume", id, "--budget", "0.45"],
    ] {
        let ran = stage.run(words);
        assert_eq!(ran.code, Some(6), "{words:?} {ran:?}");
        assert!(ran.err.contains("--budget USD"), "{words:?} {ran:?}");
    }
    let said = stage.ok(&["resume", id, "two", "--budget", "5"]);
    assert!(said.contains("resumed, up to $5.00"), "{said}");
    stage.until_said(id, "Done with two.");
    let shown = stage.until_state(id, "idle");
    assert_eq!(shown["session"]["budget_usd"], 5.0, "{shown:#}");
}

#[test]
fn those_that_sleep_are_found_by_the_word_of_the_list() {
    let stage = Stage::playing(HELLO);
    let id = stage.start("Say hello.");
    stage.until_state(&id, "idle");
    // It is awake.
    let asleep = stage.json(&["sessions", "--state", "asleep"]);
    assert_eq!(asleep, serde_json::json!([]));
    let both = stage.json(&["sessions", "--state", "asleep", "--state", "idle"]);
    assert_eq!(both[0]["id"], id.as_str());
}
