//! The end of an agent: every step of the plan, what it leaves, and what is told.

use std::time::{Duration, Instant};

use countersign_keeper::protocol::{EndPlan, FromKeeper, Ref, Refusal, ToKeeper};
use countersign_keeper::{Found, look};

use crate::stage::{Host, Stage, kill, lives, message, until};

fn end(host: &mut Host, plan: EndPlan) {
    host.say(&ToKeeper::End {
        plan,
        why: "a test".into(),
    });
}

fn hear_gone(host: &mut Host) -> countersign_journal::Exit {
    loop {
        if let FromKeeper::Gone { exit } = host.hear() {
            return exit;
        }
    }
}

fn steps(stage: &Stage) -> Vec<String> {
    let journal = stage.journal();
    let steps = journal
        .iter()
        .filter_map(|one| one.strip_prefix(r#"k {"event":"ending","step":""#));
    steps
        .map(|rest| rest.split('"').next().unwrap().to_owned())
        .collect()
}

#[test]
fn an_idle_agent_ends_when_its_stdin_does() {
    let stage = Stage::new("cat > /dev/null; exit 3");
    let started = stage.start();
    let mut host = stage.own(1);
    end(&mut host, EndPlan::Gentle);
    let exit = hear_gone(&mut host);
    assert_eq!((exit.code, exit.step.as_deref()), (Some(3), Some("stdin")));
    assert!(host.try_hear().is_none());
    until("keeper and guard", || {
        !lives(started.keeper) && !lives(started.guard)
    });
    assert_eq!(steps(&stage), ["stdin"]);
    let found = look(&stage.session()).unwrap();
    assert_eq!(
        found,
        Found::Ended {
            generation: 1,
            exit
        }
    );
    assert!(!started.socket.exists());
}

#[test]
fn an_agent_within_a_turn_is_interrupted_and_its_result_waited_for() {
    let stage = Stage::new(
        r#"while IFS= read -r line; do
             printf '%s\n' "$line" >> seen
             case $line in *interrupt*) echo '{"type":"result","subtype":"error"}';; esac
           done"#,
    );
    stage.start();
    let mut host = stage.own(1);
    host.put(Ref::N(1), &message("work"));
    host.hear_ok();
    let begun = Instant::now();
    end(&mut host, EndPlan::Gentle);
    host.put(Ref::N(2), &message("too late"));
    assert_eq!(host.hear_refusal(), Refusal::Ending);
    let exit = hear_gone(&mut host);
    assert_eq!((exit.code, exit.step.as_deref()), (Some(0), Some("stdin")));
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(steps(&stage), ["interrupt", "stdin"]);
    let seen = stage.written("seen");
    assert!(
        seen.lines()
            .nth(1)
            .unwrap()
            .contains(r#""subtype":"interrupt""#),
        "{seen}"
    );
    assert!(
        stage
            .journal()
            .iter()
            .any(|one| one.starts_with("h ") && one.contains("keeper-end-1"))
    );
}

#[test]
fn one_that_minds_nothing_is_killed_with_all_it_started() {
    let stage = Stage::new(
        r#"trap '' TERM; (setsid sh -c 'trap "" TERM; sleep 300 & wait' &)
           echo '{"type":"assistant"}'; while :; do sleep 300; done"#,
    );
    let started = stage.start();
    stage.until_journalled("a ");
    until("five processes", || stage.agents_processes() >= 4);
    let mut host = stage.own(1);
    assert!(
        host.status()
            .children
            .iter()
            .any(|one| one.command == "sleep")
    );
    end(&mut host, EndPlan::Gentle);
    let exit = hear_gone(&mut host);
    assert_eq!((exit.signal, exit.step.as_deref()), (Some(9), Some("kill")));
    assert!(
        exit.killed.iter().any(|one| one.command == "sleep"),
        "{exit:?}"
    );
    assert_eq!(stage.agents_processes(), 0);
    assert_eq!(steps(&stage), ["interrupt", "stdin", "terminate", "kill"]);
    until("the keeper", || !lives(started.guard));
}

#[test]
fn one_that_must_not_lose_its_stdin_is_killed_instead() {
    let mut stage = Stage::new("echo '{\"type\":\"assistant\"}'; cat > /dev/null");
    stage.order.kill_first = true;
    stage.start();
    stage.until_journalled("a ");
    let mut host = stage.own(1);
    end(&mut host, EndPlan::Gentle);
    assert_eq!(hear_gone(&mut host).signal, Some(9));
    assert_eq!(steps(&stage), ["interrupt", "kill"]);
}

#[test]
fn a_signal_to_the_keeper_ends_the_agent_gently() {
    let stage = Stage::new("cat > /dev/null; echo bye");
    let started = stage.start();
    kill(started.keeper, rustix::process::Signal::TERM);
    until("the end", || !lives(started.guard));
    let journal = stage.journal();
    assert!(
        journal
            .iter()
            .any(|one| one.contains(r#""step":"stdin","why":"signal""#))
    );
    assert!(journal.contains(&"a bye".to_owned()));
}

#[test]
fn an_agent_that_ends_by_itself_is_recorded_with_what_it_left() {
    let stage =
        Stage::new("(setsid sleep 300 &) ; (setsid sleep 300 > /dev/null &); echo last; exit 7");
    let started = stage.start();
    until("the end", || !lives(started.guard));
    let Found::Ended { exit, .. } = look(&stage.session()).unwrap() else {
        panic!("ended");
    };
    assert_eq!((exit.code, exit.step), (Some(7), None));
    assert_eq!(exit.killed.len(), 2);
    assert_eq!(stage.agents_processes(), 0);
    let journal = stage.journal();
    assert!(journal.last().unwrap().starts_with(r#"k {"event":"head""#));
    assert!(journal.contains(&"a last".to_owned()));
}

#[test]
fn nothing_is_recorded_behind_the_exit_even_if_a_host_leaves_then() {
    let stage = Stage::new("sleep 300");
    let started = stage.start();
    let mut host = stage.own(1);
    // So many refusals that are not read fill the socket: the keeper waits a moment to say good-bye.
    for _ in 0..6_000 {
        host.put(Ref::N(9), "{}");
    }
    end(&mut host, EndPlan::Kill);
    stage.until_journalled(r#"k {"event":"exit""#);
    drop(host);
    until("the end", || !lives(started.guard));
    let journal = stage.journal();
    assert!(journal.last().unwrap().starts_with(r#"k {"event":"head""#));
}

#[test]
fn what_did_not_reach_the_agent_is_listed_in_its_exit() {
    let stage = Stage::new("sleep 300");
    stage.start();
    let mut host = stage.own(1);
    host.put(Ref::N(1), &message(&"x".repeat(1 << 20)));
    host.put(Ref::N(2), &message("behind it"));
    until("both journalled", || {
        stage
            .journal()
            .iter()
            .filter(|one| one.starts_with("h "))
            .count()
            == 2
    });
    end(&mut host, EndPlan::Kill);
    let exit = hear_gone(&mut host);
    assert_eq!(exit.unwritten.len(), 2);
    for seq in exit.unwritten {
        let record = &stage.journal()[usize::try_from(seq).unwrap() - 1];
        assert!(record.starts_with("h "));
    }
}

/// Two messages, of which the first has its result: the second begins a turn any moment.
#[test]
fn one_that_must_not_lose_its_stdin_is_killed_while_a_message_waits() {
    let mut stage = Stage::new(
        r#"read -r one; read -r two; echo '{"type":"result"}'; echo '{"type":"done"}'; cat > /dev/null"#,
    );
    stage.order.kill_first = true;
    stage.start();
    let mut host = stage.own(1);
    for n in 1..=2 {
        host.put(Ref::N(n), &message("work"));
        host.hear_ok();
    }
    stage.until_journalled(r#"a {"type":"done"}"#);
    end(&mut host, EndPlan::Gentle);
    assert_eq!(hear_gone(&mut host).signal, Some(9));
    assert_eq!(steps(&stage), ["interrupt", "kill"]);
}

#[test]
fn a_turn_that_begins_by_itself_counts_from_its_first_line() {
    let mut stage =
        Stage::new(r#"echo '{"type":"system","subtype":"init","tools":[]}'; cat > /dev/null"#);
    stage.order.kill_first = true;
    stage.start();
    stage.until_journalled("a ");
    let mut host = stage.own(1);
    end(&mut host, EndPlan::Gentle);
    assert_eq!(hear_gone(&mut host).signal, Some(9));
    assert_eq!(steps(&stage), ["interrupt", "kill"]);
}

#[test]
fn a_turn_that_begins_right_behind_a_result_is_not_over() {
    let mut stage = Stage::new(
        r#"echo '{"type":"assistant"}'
           read -r interrupt
           printf '{"type":"result"}\n{"type":"system","subtype":"init"}\n'
           cat > /dev/null"#,
    );
    stage.order.kill_first = true;
    stage.start();
    stage.until_journalled("a ");
    let mut host = stage.own(1);
    end(&mut host, EndPlan::Gentle);
    assert_eq!(hear_gone(&mut host).signal, Some(9));
    assert_eq!(steps(&stage), ["interrupt", "kill"]);
}
