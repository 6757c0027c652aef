//! A full disk: the journal lies on a small file system of its own, and the agent writes more than fits.
//!
//! Owns the small disk (a tmpfs in a mount namespace of the test's own process) and what is seen on it: the agent is
//! held up and loses nothing, grants are refused, a denial still gets through, and all goes on when there is room.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::checks::Extent;
use crate::orders::{Decide, Leave};
use crate::procs;
use crate::raw::{self, Raw};
use crate::rounds_keeper::left_running;
use crate::scenes;
use crate::stage::{Stage, lines};
use crate::wait::{self, Dice};

/// Set in the process that has the namespace.
const INSIDE: &str = "FAULTS_INSIDE";
const SMALL: &str = "size=3m,mode=700";
const LARGE: &str = "remount,size=64m";
const ENOSPC: i64 = 28;

/// Runs the test again in a mount namespace of its own. False: this is that run. A machine that has no namespaces for
/// us skips the test, with a word on stderr.
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
    let test = std::env::current_exe().unwrap();
    let output = unshare
        .arg(test)
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

fn mount(options: &str, at: &Path) {
    let done = Command::new("mount")
        .args(["-t", "tmpfs", "-o", options, "tmpfs"])
        .arg(at)
        .status();
    assert!(done.is_ok_and(|status| status.success()), "mount {options}");
}

#[test]
fn a_full_disk_holds_the_agent_up_and_loses_nothing() {
    if elsewhere("disk::a_full_disk_holds_the_agent_up_and_loses_nothing") {
        return;
    }
    let mut dice = Dice::of("full disk");
    let stage = Stage::scripted(scenes::FLOOD, &mut dice);
    std::fs::create_dir_all(stage.dir()).unwrap();
    mount(SMALL, &stage.dir());
    let order = stage.first_order();
    let keeper = stage.keeper();
    countersign_keeper::start(&keeper, &order).unwrap();
    let (mut host, welcome) = Raw::hello(&stage.socket(), stage.token(), 1, "own");
    assert_eq!(welcome["type"], "welcome", "{welcome}");
    host.put(&json!({"n":1}), &raw::user(&dice.uuid(), "m0"), &json!({}));
    host.until("ok");

    let paused = host.until("paused");
    assert_eq!(paused["errno"], ENOSPC);
    let (_, status) = Raw::hello(&stage.socket(), stage.token(), 0, "watch");
    assert_eq!(status["paused"], ENOSPC, "{status}");
    let (allowed, denied) = (open_question(&status, 0), open_question(&status, 1));

    // No grant while it cannot be noted; a refusal has room kept for it.
    let input = json!({"command": "echo m0-a >> ran.log"});
    let line = raw::answer(&allowed, Some(&input));
    host.put(&json!({ "answer": allowed }), &line, &json!({}));
    assert_eq!(host.until("refused")["why"], "paused");
    host.put(&json!({"n":2}), &raw::user(&dice.uuid(), "m1"), &json!({}));
    assert_eq!(host.until("refused")["why"], "paused");
    let line = raw::answer(&denied, None);
    host.put(
        &json!({ "answer": denied }),
        &line,
        &json!({"reserve": true}),
    );
    assert_eq!(host.until("ok")["ref"]["answer"], denied.as_str());
    wait::until("message and denial are heard, and nothing else", || {
        stage.witness(1).lines_heard().len() == 2
    });
    let shown = stage.journal().entries.len();
    let out = stage.witness(1).out.len();

    mount(LARGE, &stage.dir());
    host.until("resumed");
    let line = raw::answer(&allowed, Some(&input));
    host.put(&json!({ "answer": allowed }), &line, &json!({}));
    host.until("ok");
    wait::until("the turn ends", || {
        let journal = stage.journal();
        journal.said().any(|(_, line)| line["type"] == "result")
    });
    stage.assert_kept(Extent::Whole, "with room again");
    let case = stage.case();
    assert!(case.journal.entries.len() > shown && case.witnesses[&1].out.len() > out);
    assert_eq!(case.ran, ["m0-a"]);
    assert!(!case.journal.events("paused").is_empty());
    assert!(!case.journal.events("resumed").is_empty());
    let wrong = crate::chain::violations(&stage.dir());
    assert!(wrong.is_empty(), "{}", lines(&wrong));
    end_and_unmount(&stage, &mut host);
}

#[test]
fn a_keeper_that_is_killed_on_a_full_disk_is_recovered() {
    if elsewhere("disk::a_keeper_that_is_killed_on_a_full_disk_is_recovered") {
        return;
    }
    let mut dice = Dice::of("killed on a full disk");
    let stage = Stage::scripted(scenes::FLOOD, &mut dice);
    std::fs::create_dir_all(stage.dir()).unwrap();
    mount(SMALL, &stage.dir());
    let messages = stage.messages(2, &mut dice);
    let mut orders = stage.orders(&messages[..1]);
    (orders.decide, orders.leave) = (Decide::Hold, Leave::Never);
    let mut host = stage.host(&orders);
    host.until_so_many("question", 2);
    wait::until("the disk is full", || {
        let (_, status) = Raw::hello(&stage.socket(), stage.token(), 0, "watch");
        status["paused"] == ENOSPC
    });
    let tree = stage.processes();
    procs::kill(stage.pid_of("keeper").unwrap());
    let wrong = left_running(&stage, &tree);
    assert!(wrong.is_empty(), "{}", lines(&wrong));
    host.kill();
    stage.assert_kept(Extent::Begun, "on the full disk");
    let wrong = crate::chain::violations(&stage.dir());
    assert!(wrong.is_empty(), "{}", lines(&wrong));

    // Whether there is room for one more agent is not promised; that it is said, and that nothing breaks, is.
    let mut orders = stage.orders(&messages);
    orders.leave = Leave::Never;
    let mut next = stage.host(&orders);
    let came = wait::within(wait::DEADLINE, || {
        let is_in = !next.events("attached").is_empty();
        (is_in || !next.events("over").is_empty()).then_some(())
    });
    assert!(came.is_some(), "{}", next.story());
    next.kill();
    mount(LARGE, &stage.dir());
    let mut orders = stage.orders(&messages);
    orders.leave = Leave::EndWhenDone;
    let mut last = stage.host(&orders);
    last.until_left();
    wait::until("nothing is left running", || stage.processes().is_empty());
    stage.assert_kept(Extent::Whole, "with room again");
    let wrong = crate::chain::violations(&stage.dir());
    assert!(wrong.is_empty(), "{}", lines(&wrong));
    unmount(&stage);
}

fn open_question(status: &serde_json::Value, index: usize) -> String {
    let id = status["open"][index]["request_id"].as_str();
    id.unwrap_or_else(|| panic!("no question {index}: {status}"))
        .to_owned()
}

fn end_and_unmount(stage: &Stage, host: &mut Raw) {
    host.say(&json!({"type":"end","plan":"kill","why":"the test is over"}));
    host.until("gone");
    wait::until("nothing is left running", || stage.processes().is_empty());
    unmount(stage);
}

fn unmount(stage: &Stage) {
    let done = Command::new("umount").arg(stage.dir()).status();
    assert!(done.is_ok_and(|status| status.success()), "umount");
}
