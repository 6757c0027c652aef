//! Ctrl-C and the other ways to be told to end.

use rustix::process::Signal;

use crate::stage::{Going, Stage, Which, until};

const WAIT: &str = r#"
reply
  tool Bash {"command":"echo started > began; sleep 300","description":"Wait","timeout":600000}
reply
  say "Over."
"#;

#[track_caller]
fn waiting(args: &[&str]) -> (Stage, Going) {
    let stage = Stage::new(Which::Scripted, WAIT).unwrap();
    let going = stage.start(&[args, &["--yes", "Wait"]].concat());
    stage.line_in("began");
    (stage, going)
}

#[test]
fn an_interrupt_ends_the_turn_and_is_exit_code_130() {
    let (stage, going) = waiting(&[]);
    going.signal(Signal::INT);
    going.ended().is(130).says("! interrupted");
    stage.until_nothing_runs();
}

#[test]
fn an_interrupt_is_told_in_the_last_line() {
    let (stage, going) = waiting(&["--json"]);
    going.signal(Signal::INT);
    let ran = going.ended().is(130);
    assert_eq!(ran.lines().pop().unwrap()["outcome"], "interrupted");
    assert_eq!(ran.typed("result").len(), 1);
    stage.until_nothing_runs();
}

/// A CLI that neither answers an interrupt nor ends by itself; what it started is in a session of its own.
const DEAF: &str = r#"default interrupt off
reply never interrupt
ignore sigint
ignore eof
turn
  spawn detached "echo started > began; sleep 300"
  wait forever
"#;

#[test]
fn a_second_interrupt_ends_an_agent_that_does_not_hear_the_first() {
    let heard = ("COUNTERSIGN_SCENARIO_LOG", "heard");
    let stage = Stage::with(Which::Scenario, DEAF, &[heard]).unwrap();
    let going = stage.start(&["--json", "Go"]);
    stage.line_in("began");
    going.signal(Signal::INT);
    until("the interrupt is passed on", || {
        let heard = stage.read("heard").unwrap_or_default();
        heard.contains(r#""subtype":"interrupt""#)
    });
    going.signal(Signal::INT);
    let ran = going.ended().is(130);
    assert_eq!(ran.lines().pop().unwrap()["outcome"], "interrupted");
    stage.until_nothing_runs();
}

#[test]
fn being_told_to_end_is_exit_code_143_and_leaves_nothing_running() {
    for signal in [Signal::TERM, Signal::HUP] {
        let (stage, going) = waiting(&[]);
        going.signal(signal);
        going.ended().is(143);
        stage.until_nothing_runs();
    }
}

#[test]
fn an_agent_that_does_not_want_to_end_is_ended() {
    let deaf = format!("ignore sigterm\n{DEAF}");
    let stage = Stage::new(Which::Scenario, &deaf).unwrap();
    let going = stage.start(&["--json", "Go"]);
    stage.line_in("began");
    going.signal(Signal::TERM);
    let ran = going.ended().is(143);
    let end = ran.lines().pop().unwrap();
    assert_eq!(
        (&end["outcome"], &end["signal"]),
        (&"terminated".into(), &9.into())
    );
    stage.until_nothing_runs();
}

#[test]
fn a_signal_while_the_agent_starts_ends_it() {
    let scenario =
        "reply never initialize\nignore eof\nstart\n  spawn \"echo started > began; sleep 300\"\n";
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let stage = Stage::new(Which::Scenario, scenario).unwrap();
        let going = stage.start(&["--json", "Go"]);
        stage.line_in("began");
        going.signal(signal);
        going.ended().is(code);
        stage.until_nothing_runs();
    }
}
