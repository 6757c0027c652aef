//! What hides a turn: a full disk, questions, silence. And what does not.

use countersign_host::control::State;
use countersign_host::control::session::Pause;
use countersign_host::session::Input::{Decided, DiskPaused, DiskResumed};
use countersign_journal::KeeperEvent;

use crate::lines::*;
use crate::stage::Do::{A, H, I, K, Wait};
use crate::stage::{Stage, queue};

#[test]
fn a_full_disk_pauses_everything_until_there_is_room() {
    let mut stage = Stage::running();
    stage.play([
        (K(KeeperEvent::Paused { errno: 28 }), "paused", &[]),
        (I(DiskPaused), "paused", &[]),
        (Wait(3600), "paused", &[]),
        (K(KeeperEvent::Resumed), "running", &[]),
        (I(DiskResumed), "running", &[]),
        (Wait(299), "running", &[]),
        (A(result_ok()), "idle", &["turn ended well"]),
        (I(DiskPaused), "paused", &[]),
        (I(queue(&[2])), "paused", &[]),
        (I(DiskResumed), "running", &["send 2"]),
    ]);
    stage.give(DiskPaused);
    assert_eq!(stage.core.state(), State::Paused { why: Pause::Disk });
}

#[test]
fn a_question_explains_silence_and_the_time_after_it_counts_anew() {
    let mut stage = Stage::running();
    stage.play([
        (A(ask("r1", "Bash")), "needs_you", &[]),
        (Wait(86_400), "needs_you", &[]),
        (H(allow("r1")), "running", &[]),
        (Wait(299), "running", &[]),
        (Wait(1), "stalled", &[]),
    ]);
}

#[test]
fn a_question_that_a_rule_decides_needs_nobody() {
    let mut stage = Stage::running();
    let decided = |id: &str| Decided {
        request_id: id.into(),
    };
    stage.play([
        (A(ask("r1", "Bash")), "needs_you", &[]),
        (I(decided("r1")), "running", &[]),
        (I(decided("unknown")), "running", &[]),
        (H(allow("r1")), "running", &[]),
    ]);
}

#[test]
fn questions_of_every_kind_need_a_person_and_hooks_do_not() {
    let mut stage = Stage::running();
    for (subtype, state) in [
        ("hook_callback", "running"),
        ("mcp_message", "running"),
        ("something_new", "running"),
        ("elicitation", "needs_you"),
    ] {
        let mut line = ask("r1", "x");
        line["request"]["subtype"] = subtype.into();
        stage.play([(A(line), state, &[])]);
    }
    let mut line = ask("r2", "x");
    line["request"]["subtype"] = "request_user_dialog".into();
    stage.play([
        (H(allow("r1")), "running", &[]),
        (A(line), "needs_you", &[]),
    ]);
    assert_eq!(stage.core.open_questions(), 1);
}

#[test]
fn a_running_tool_explains_silence_however_long_it_takes() {
    let mut stage = Stage::running();
    stage.play([
        (A(tool("t1", "Bash")), "running", &[]),
        (Wait(86_400), "running", &[]),
    ]);
    assert_eq!(stage.core.reason(), "Bash runs.");
}

#[test]
fn a_call_in_the_background_does_not_explain_the_silence_of_a_turn() {
    let mut stage = Stage::running();
    stage.play([
        (A(tool("t1", "Task")), "running", &[]),
        (A(task_started("a1", "t1", Some(true))), "running", &[]),
        (A(tool_result("t1")), "running", &[]),
        (A(tool_below("t2", "Bash", Some("t1"))), "running", &[]),
        (Wait(300), "stalled", &[]),
    ]);
}

#[test]
fn an_agent_that_was_idle_for_long_has_not_stalled_when_a_message_goes() {
    let mut stage = Stage::idle();
    stage.play([
        (Wait(1000), "idle", &[]),
        (I(queue(&[1])), "running", &["send 1"]),
        (I(queue(&[])), "running", &[]),
        (Wait(299), "running", &[]),
        (Wait(1), "stalled", &[]),
    ]);
}

#[test]
fn the_state_says_since_when_and_a_new_reason_is_no_new_state() {
    let mut stage = Stage::running();
    let since = stage.core.since();
    stage.wait(10);
    stage.agent(tool("t1", "Bash"));
    assert_eq!(stage.core.since(), since);
    stage.agent(ask("r1", "Bash"));
    assert_eq!(stage.core.since(), stage.now);
}
