//! A full disk: who runs agents can still say no, interrupt and end, and the daemon begins.
//!
//! Owns the small disk: a tmpfs in a mount namespace of the test's own process, skipped by name where none can be had.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::api;
use super::crash::begin;
use super::http::Browser;
use super::stage::{Stage, until, until_shown};

/// Set in the process that has the namespace.
const INSIDE: &str = "SERVE_DISK_INSIDE";

const SCENARIO: &str = "turn when \"ask\"\n  tool Bash {\"command\":\"echo ran >> ran.log\"}\n  say \"done\"\n\
                        turn when \"wait\"\n  say \"Waiting.\"\n  wait forever\n";

/// Runs the test again in a mount namespace of its own. False: this is that run.
fn elsewhere(name: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return false;
    }
    let mut unshare = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        unshare.args(["--user", "--map-root-user"]);
    }
    unshare.args(["--mount", "--propagation", "private"]);
    let may = Command::new(unshare.get_program())
        .args(unshare.get_args())
        .arg("true")
        .output();
    if !may.is_ok_and(|output| output.status.success()) {
        assert!(
            !countersign_testkit::demand::is_required("mount-namespace"),
            "a mount namespace is required and cannot be had here (`unshare --mount`)"
        );
        eprintln!("skipped: no mount namespace can be had here (`unshare --mount`)");
        return true;
    }
    let output = unshare
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    true
}

/// A stage whose data folder is a small disk.
fn small() -> Stage {
    let stage = Stage::new();
    std::fs::create_dir_all(stage.data()).unwrap();
    let mount = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64m,mode=700", "tmpfs"])
        .arg(stage.data())
        .status();
    assert!(mount.is_ok_and(|status| status.success()));
    stage
}

/// Takes all the room there is.
fn fill(folder: &Path) {
    let mut file = std::fs::File::create(folder.join("filled")).unwrap();
    for size in [1 << 16, 1 << 12] {
        while file.write_all(&vec![1; size]).is_ok() {}
    }
}

/// The state of the only session whose first message was this.
fn state_of(browser: &Browser, id: &str) -> String {
    let view = api::get(browser, &format!("/sessions/{id}"));
    view["state"].as_str().unwrap().to_owned()
}

fn until_state(browser: &Browser, id: &str, wanted: &str) {
    until(wanted, || match state_of(browser, id) {
        state if state == wanted => Ok(()),
        state => Err(state),
    });
}

/// Begins a session, and gives its id.
fn started(stage: &Stage, browser: &Browser, prompt: &str) -> String {
    let folder = stage.project().to_str().unwrap().to_owned();
    let path = begin(browser, prompt, &folder);
    path.rsplit('/').next().unwrap().to_owned()
}

#[test]
fn on_a_full_disk_a_no_and_an_interrupt_reach_the_agent_and_it_says_that_it_is_not_ready() {
    let name = "disk::on_a_full_disk_a_no_and_an_interrupt_reach_the_agent_and_it_says_that_it_is_not_ready";
    if elsewhere(name) {
        return;
    }
    let stage = small();
    let daemon = stage.serve(&["--claude", &stage.playing(SCENARIO)]);
    let browser = daemon.signed_in();
    let asks = started(&stage, &browser, "ask");
    let waits = started(&stage, &browser, "wait");
    let question = api::question(&browser, "echo ran");
    until_shown(&browser, &format!("/plain/sessions/{waits}"), "Waiting.");
    assert_eq!(browser.get("/readyz").status, 200);

    fill(&stage.data());
    let ready = browser.get("/readyz");
    assert_eq!(ready.status, 503, "{ready:?}");
    assert!(ready.body.contains("the disk is full"), "{ready:?}");
    api::deny(&browser, &question);
    until_state(&browser, &asks, "idle");
    let path = format!("/sessions/{waits}/interrupt");
    let answer = api::send(&browser, "POST", &path, &Value::Null);
    assert_eq!(answer.status, 200, "{answer:?}");
    until_state(&browser, &waits, "idle");
    assert!(!stage.project().join("ran.log").exists());
    // The room that was kept is used up: what cannot be stored is not done, and says so. An end needs no room.
    fill_again(&stage.data());
    let answer = api::send(
        &browser,
        "POST",
        &format!("/sessions/{waits}/stop"),
        &Value::Null,
    );
    assert_eq!(answer.status, 200, "{answer:?}");
    // More than can stand in room that the log of the database has already.
    let long = json!({"text": "x".repeat(1 << 20)});
    let path = format!("/sessions/{asks}/messages");
    let answer = api::send(&browser, "POST", &path, &long);
    assert_eq!(answer.status, 507, "{answer:?}");
    let queue = api::get(&browser, &format!("/sessions/{asks}/queue"));
    assert!(!queue.to_string().contains("xxx"), "nothing of it waits");
    assert_eq!(state_of(&browser, &asks), "idle");
}

#[test]
fn on_a_full_disk_the_first_interrupt_is_stored_where_room_is_kept_and_ends_the_turn() {
    let name =
        "disk::on_a_full_disk_the_first_interrupt_is_stored_where_room_is_kept_and_ends_the_turn";
    if elsewhere(name) {
        return;
    }
    let stage = small();
    let daemon = stage.serve(&["--claude", &stage.playing(SCENARIO)]);
    let browser = daemon.signed_in();
    let waits = started(&stage, &browser, "wait");
    until_shown(&browser, &format!("/plain/sessions/{waits}"), "Waiting.");
    let path = format!("/sessions/{waits}/interrupt");
    fill(&stage.data());
    let answer = api::send(&browser, "POST", &path, &Value::Null);
    assert_eq!(answer.status, 200, "{answer:?}");
    until_state(&browser, &waits, "idle");
}

/// Takes what was given back, too.
fn fill_again(folder: &Path) {
    let mut file = std::fs::File::create(folder.join("filled again")).unwrap();
    for size in [1 << 16, 1 << 12] {
        while file.write_all(&vec![1; size]).is_ok() {}
    }
}

#[test]
fn on_a_full_disk_the_daemon_begins_and_agents_can_be_ended() {
    if elsewhere("disk::on_a_full_disk_the_daemon_begins_and_agents_can_be_ended") {
        return;
    }
    let stage = small();
    let claude = stage.playing(SCENARIO);
    let daemon = stage.serve(&["--claude", &claude]);
    let browser = daemon.signed_in();
    let waits = started(&stage, &browser, "wait");
    until_shown(&browser, &format!("/plain/sessions/{waits}"), "Waiting.");
    let address = daemon.address().to_owned();
    fill(&stage.data());
    daemon.signal(Signal::KILL);
    daemon.ended();
    fill_again(&stage.data());

    let _daemon = stage.serve(&["--claude", &claude, "--listen", &address]);
    until_shown(&browser, &format!("/plain/sessions/{waits}"), "Waiting.");
    let answer = api::send(
        &browser,
        "POST",
        &format!("/sessions/{waits}/stop"),
        &Value::Null,
    );
    assert_eq!(answer.status, 200, "{answer:?}");
    until_state(&browser, &waits, "stopped");
}
