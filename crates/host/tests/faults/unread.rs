//! What was written and not read, and what was begun and not ended, when everything dies.
//!
//! Owns the ways on: a message that no agent has read goes to the next one under the same name, and a turn that was cut off,
//! where that is wanted, or that a limit kept from getting through goes on by itself, once.

use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::accounts::Died;
use crate::evidence::Witness;
use crate::hosted::Hosted;
use crate::orders::{Leave, Person};
use crate::procs;
use crate::scenes;
use crate::stage::Stage;
use crate::wait::{self, Dice};

use rustix::process::Signal;

/// The CLI stands still, so that what is written to it is not read.
fn stop_the_cli(stage: &Stage) {
    let witness = stage.agent().expect("an agent");
    for process in procs::below(witness.pid) {
        procs::signal(process.pid, Signal::STOP);
    }
}

fn heard(stage: &Stage, generation: u32) -> Vec<Value> {
    Witness::read(&stage.root().join("witness"), generation).lines_heard()
}

/// Whether the host has let go of all messages: the keeper has said that it wrote them.
fn has_let_go(stage: &Stage) -> bool {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let counted = Connection::open_with_flags(stage.data().join("host.db"), flags)
        .and_then(|it| it.query_row("SELECT count(*) FROM queue", [], |row| row.get(0)));
    counted.is_ok_and(|count: u64| count == 0)
}

/// A session whose second message was written, let go of, and not read.
fn with_unread(stage: &Stage, commands: &[crate::orders::Ordered]) -> Hosted {
    stage.host(&stage.orders(&commands[..1])).until_at_rest();
    stop_the_cli(stage);
    let mut orders = stage.orders(commands);
    orders.leave = Leave::Never;
    let host = stage.host(&orders);
    let uuid = crate::accounts::wanted(commands).last().map(|it| it.uuid);
    let is_written = || {
        heard(stage, 1)
            .iter()
            .any(|line| line["uuid"].as_str() == uuid.as_deref())
    };
    let unread = || (is_written() && has_let_go(stage)).then_some(());
    wait::found("the message is written", || host.story(), unread);
    host
}

#[test]
fn a_message_that_a_dead_agent_never_read_goes_to_the_next() {
    for host_dies in [true, false] {
        let mut dice = Dice::of("unread");
        let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
        let commands = stage.messages(2, &mut dice);
        let mut host = with_unread(&stage, &commands);
        if host_dies {
            host.kill();
        }
        for process in stage.processes() {
            procs::kill(process.pid);
        }
        if !host_dies {
            let moved = || stage.journal().generations().contains(&2).then_some(());
            wait::found("another agent", || host.story(), moved);
            host.kill();
        }
        stage.note(&host);
        let report = stage.host(&stage.orders(&commands)).until_at_rest();
        stage.assert_kept(&commands, &report, Died::Agents, "unread");
        let mut ran = stage.ran();
        ran.sort();
        assert_eq!(ran, ["m0-a", "m0-r", "m1-a", "m1-r"], "{}", stage.story());
    }
}

#[test]
fn a_turn_that_was_cut_off_goes_on_by_itself_where_that_is_wanted_and_once() {
    let mut dice = Dice::of("goes on by itself");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    let commands = stage.messages(1, &mut dice);
    let mut orders = stage.orders(&commands);
    (orders.person, orders.leave) = (Person::Waits, Leave::Never);
    let mut host = stage.host(&orders);
    host.until("question");
    host.kill();
    for process in stage.processes() {
        procs::kill(process.pid);
    }
    let mut orders = stage.orders(&commands);
    orders.resumes_cut_off = true;
    orders.die = Some(crate::orders::Death {
        point: "start stored".into(),
        nth: 1,
    });
    assert!(!stage.host(&orders).until_ended().success());
    orders.die = None;
    // What goes on by itself has no name that is known before.
    let report = stage.host(&orders).until_at_rest();
    assert_eq!(report["session"]["cut_off"], false, "{report:#}");
    assert_eq!(told_to_go_on(&stage), 1, "{}", stage.story());
}

#[test]
fn a_session_whose_limit_has_ended_is_told_to_go_on_once_though_the_host_dies_behind_it() {
    let mut dice = Dice::of("a limit ends");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let scene = format!(
        r#"
turn always when "Go on"
  say "I go on."
turn
  emit {{"type":"rate_limit_event","rate_limit_info":{{"status":"rejected","resetsAt":{},"rateLimitType":"five_hour"}}}}
  fail 429 "You've hit your session limit"
"#,
        now.as_secs() + 5
    );
    let stage = Stage::scripted(scene.leak(), &mut dice);
    let commands = stage.messages(1, &mut dice);
    let mut orders = stage.orders(&commands);
    orders.leave = Leave::Never;
    orders.die = Some(crate::orders::Death {
        point: "word to go on queued".into(),
        nth: 1,
    });
    assert!(!stage.host(&orders).until_ended().success());
    assert_eq!(told_to_go_on(&stage), 0, "it was only queued");
    stage.host(&stage.orders(&commands)).until_at_rest();
    assert_eq!(told_to_go_on(&stage), 1, "{}", stage.story());
}

/// How often agents were told to go on.
fn told_to_go_on(stage: &Stage) -> usize {
    let generations = stage.journal().generations();
    let told = generations
        .iter()
        .flat_map(|generation| heard(stage, *generation));
    let told = told.filter(|line| line["message"]["content"] == "Go on.");
    told.count()
}
