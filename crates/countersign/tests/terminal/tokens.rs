//! Tokens: made, used over the network, scoped, revoked.

use super::stage::Stage;

const HELLO: &str = "turn always\n  tool Bash {\"command\":\"touch made.txt\"}\n";

/// Puts a token into a file.
fn kept(stage: &Stage, name: &str, token: &str) -> String {
    let file = stage.root().join(name);
    std::fs::write(&file, token).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn a_token_speaks_over_the_network_within_its_scope_until_it_is_revoked() {
    let stage = Stage::playing(HELLO);
    let session = stage.start("go");
    let question = stage.question();
    let token = stage.ok(&["token", "create", "watcher"]);
    assert!(
        token.starts_with("cs_") && token.lines().count() == 1,
        "it is alone on stdout"
    );
    let file = kept(&stage, "watcher", &token);
    let far = ["--server", stage.url(), "--token-file", &file];
    let ask = |words: &[&str]| stage.run(&[words, &far].concat());
    let seen = ask(&["sessions", "--json"]);
    assert!(seen.out.contains(&session), "{seen:?}");
    // It may look, and nothing else.
    let id = question["id"].as_str().unwrap();
    for words in [
        &["approve", "-y", id][..],
        &["send", &session, "hi"],
        &["token", "list"],
    ] {
        let ran = ask(words);
        assert_eq!(ran.code, Some(7), "{words:?} {ran:?}");
        assert!(!ran.err.contains(token.trim()), "a token is never shown");
    }
    let list = stage.json(&["token", "list"]);
    let names: Vec<&str> = list
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert!(names.contains(&"watcher"), "{names:?}");
    assert!(!list.to_string().contains(token.trim()));
    stage.ok(&["token", "revoke", "watcher"]);
    assert_eq!(ask(&["sessions"]).code, Some(7));
    assert_eq!(stage.run(&["token", "revoke", "watcher"]).code, Some(5));
}

#[test]
fn a_token_without_a_name_is_not_made_and_the_sentence_says_what_is_missing() {
    let stage = Stage::playing(HELLO);
    let count = || stage.json(&["token", "list"]).as_array().unwrap().len();
    let before = count();
    for words in [&["token", "create"][..], &["token", "create", "  "]] {
        let ran = stage.run(words);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        let says = "Give the token a name, such as the program or device that uses it.";
        assert!(ran.err.contains(says) && ran.out.is_empty(), "{ran:?}");
    }
    assert_eq!(count(), before);
}

#[test]
fn an_answer_token_decides_and_is_named_on_the_record() {
    let stage = Stage::playing(HELLO);
    let session = stage.start("go");
    let question = stage.question();
    let id = question["id"].as_str().unwrap();
    let made = stage.json(&[
        "token", "create", "phone", "--scope", "answer", "--for", "1d",
    ]);
    assert!(made["expires"].is_u64(), "it ends");
    let file = kept(&stage, "phone", made["token"].as_str().unwrap());
    let far = ["--server", stage.url(), "--token-file", &file];
    let ran = stage.run(&[&["approve", "-y", id][..], &far].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let decided = stage.json(&["show", id]);
    assert_eq!(decided["decided"]["by"], "phone", "{decided:#}");
    let ran = stage.run(&[&["stop", &session][..], &far].concat());
    assert_eq!(ran.code, Some(7), "{ran:?}");
}

#[test]
fn a_token_may_come_from_the_environment() {
    let stage = Stage::playing(HELLO);
    let token = stage.ok(&["token", "create", "script"]);
    let out = stage
        .command(&["sessions", "--json"])
        .env("COUNTERSIGN_SERVER", stage.url())
        .env("COUNTERSIGN_TOKEN", token.trim())
        .output()
        .unwrap();
    assert!(out.status.success(), "{out:?}");
}

#[test]
fn the_owners_token_ends_after_a_yes_and_a_second_start_says_why_there_is_no_link() {
    let stage = Stage::playing(HELLO);
    let ran = stage.run(&["token", "revoke", "owner"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(
        ran.err.contains("login link") && ran.err.contains("--yes"),
        "{ran:?}"
    );
    stage.ok(&["token", "revoke", "owner", "--yes"]);
    let ran = stage.run(&["serve", "--no-open"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("it gives no login link"), "{ran:?}");
    // What the daemon said, and not that it said nothing.
    assert!(!ran.err.contains("20 seconds"), "{ran:?}");
}

#[test]
fn a_time_is_told_as_it_was_given() {
    let stage = Stage::playing(HELLO);
    stage.ok(&["token", "create", "laptop", "--for", "30d"]);
    let list = stage.ok(&["token", "list"]);
    assert!(list.contains("in 30d"), "{list}");
    let session = stage.start("go");
    // Hands-off is for an agent that runs.
    stage.question();
    let said = stage.ok(&["mode", &session, "hands-off", "--for", "2h"]);
    assert!(said.contains("hands-off for 2h"), "{said}");
}
