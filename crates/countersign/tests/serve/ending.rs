//! How it ends: in order, with agents left to their keepers.

use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;

use super::crash::begin;
use super::stage::{Stage, until_shown};

#[test]
fn told_to_end_it_says_how_many_agents_go_on_and_the_next_one_takes_them_up() {
    let stage = Stage::new();
    let claude = stage.playing("turn\n  say \"hello\"\nturn\n  say \"still here\"\n");
    let folder = stage.project().to_str().unwrap().to_owned();
    let daemon = stage.serve(&["--claude", &claude]);
    let browser = daemon.signed_in();
    let session = begin(&browser, "go", &folder);
    until_shown(&browser, &session, "<strong>idle</strong>");
    daemon.signal(Signal::TERM);
    let (status, said) = daemon.ended();
    assert_eq!(status.code(), Some(0), "{said}\n{}", stage.logged());
    let said: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["agents"], 1);
    let daemon = stage.serve(&["--claude", &claude]);
    assert_eq!(daemon.said["taken_up"], 1);
    let browser = daemon.signed_in();
    let page = browser.get(&session);
    let message = page.field("message");
    let fields = [
        ("message", message.as_str()),
        ("text", "on"),
        ("action", "send"),
    ];
    assert_eq!(browser.post_form(&session, &fields).status, 303);
    until_shown(&browser, &session, "still here");
}

#[test]
fn an_interrupt_ends_it_well_and_the_folder_is_free() {
    let stage = Stage::new();
    for signal in [Signal::INT, Signal::HUP, Signal::TERM] {
        let daemon = stage.serve(&["--rehearsal"]);
        daemon.signal(signal);
        let (status, _) = daemon.ended();
        assert_eq!(status.code(), Some(0), "{}", stage.logged());
        assert!(!stage.data().join("run/serve.json").exists());
    }
}

#[test]
fn under_a_manager_that_makes_scopes_every_keeper_gets_one() {
    let stage = Stage::new();
    let (bin, log) = (stage.root().join("bin"), stage.root().join("scopes"));
    std::fs::create_dir(&bin).unwrap();
    let script = format!(
        "#!/bin/sh\necho \"$*\" >> '{}'\nwhile [ \"$1\" != -- ]; do shift; done\nshift\nexec \"$@\"\n",
        log.display()
    );
    let program = bin.join("systemd-run");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let claude = stage.playing("turn\n  say \"hello\"\n");
    let daemon = stage.serve_with(&["--claude", &claude], |command| {
        command
            .env("INVOCATION_ID", "1")
            .env("USER", "nobody-at-all");
        command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    });
    let notes = daemon.said["notes"].to_string();
    assert!(notes.contains("linger is off"), "{notes}");
    let browser = daemon.signed_in();
    let folder = stage.project().to_str().unwrap().to_owned();
    let session = begin(&browser, "go", &folder);
    until_shown(&browser, &session, "<strong>idle</strong>");
    let scopes = std::fs::read_to_string(log).unwrap();
    let keepers = scopes
        .lines()
        .filter(|line| line.contains(" keeper --dir "));
    assert_eq!(keepers.count(), 1, "{scopes}");
    assert!(
        scopes
            .lines()
            .all(|line| line.starts_with("--user --scope ")),
        "{scopes}"
    );
}
