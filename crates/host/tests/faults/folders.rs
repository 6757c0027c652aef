//! The data folder as a whole: two hosts, a database from an older copy, a session that no database knows, a start that
//! was stored and did not come about.
//!
//! Owns what is not about one answer or one message. Invariant that is shown: journals win over the database.

use std::path::Path;

use countersign_host::control::Command;

use crate::accounts::Died;
use crate::orders::{Death, Leave, Ordered, Person};
use crate::procs;
use crate::scenes;
use crate::stage::Stage;
use crate::wait::{self, Dice};

#[test]
fn the_second_host_on_a_folder_is_refused_and_told_who_is_there() {
    let mut dice = Dice::of("two hosts");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    let commands = stage.messages(1, &mut dice);
    let mut orders = stage.orders(&commands);
    orders.leave = Leave::Never;
    let mut first = stage.host(&orders);
    first.until("open");
    let mut second = stage.host(&stage.orders(&[]));
    let refused = second.until("refused");
    let error = refused["error"].as_str().unwrap_or_default();
    assert!(error.contains(&first.pid().to_string()), "{error}");
    assert!(!second.until_ended().success());
    first.kill();
    let report = stage.host(&stage.orders(&commands)).until_at_rest();
    stage.assert_kept(&commands, &report, Died::Hosts, "after two hosts");
}

/// Hosts that end between what they store and what they start, one after the other.
#[test]
fn a_start_that_was_stored_comes_about_once() {
    for point in ["session stored", "start stored", "agent launched"] {
        let mut dice = Dice::of("starts");
        let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
        let commands = stage.messages(2, &mut dice);
        let mut orders = stage.orders(&commands);
        orders.die = Some(Death {
            point: point.into(),
            nth: 1,
        });
        let mut host = stage.host(&orders);
        assert!(!host.until_ended().success(), "{point}: {}", host.story());
        stage.note(&host);
        let mut next = stage.host(&stage.orders(&commands));
        let report = next.until_at_rest();
        stage.note(&next);
        stage.assert_kept(&commands, &report, Died::Hosts, point);
    }
}

/// A host is killed as soon as a keeper has said who it is: nobody has attached to the agent yet.
#[test]
fn an_agent_that_nobody_attached_to_is_found() {
    let mut dice = Dice::of("started, not attached");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    let commands = stage.messages(2, &mut dice);
    let mut host = stage.host(&stage.orders(&commands));
    wait::found("a keeper", || host.story(), || stage.pid_of("keeper"));
    procs::kill(host.pid());
    host.until_ended();
    stage.note(&host);
    let mut next = stage.host(&stage.orders(&commands));
    let report = next.until_at_rest();
    stage.note(&next);
    stage.assert_kept(&commands, &report, Died::Hosts, "started, not attached");
}

fn copy_database(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for name in ["host.db", "host.db-wal", "host.db-shm"] {
        let _ = std::fs::remove_file(to.join(name));
        if from.join(name).exists() {
            std::fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}

/// The agent lives on meanwhile: the host that comes back with an older database finds it, and reads what it missed.
#[test]
fn a_database_from_an_older_copy_is_brought_up_to_its_journals() {
    let mut dice = Dice::of("older copy");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    let commands = stage.messages(3, &mut dice);
    stage.host(&stage.orders(&commands[..1])).until_at_rest();
    let copy = stage.root().join("copy");
    copy_database(&stage.data(), &copy);
    stage.host(&stage.orders(&commands[..2])).until_at_rest();
    copy_database(&copy, &stage.data());
    let mut next = stage.host(&stage.orders(&commands[2..]));
    let report = next.until_at_rest();
    stage.note(&next);
    stage.assert_kept(&commands, &report, Died::Hosts, "an older copy");
}

/// The database is lost, and with it what the session was called. Its folder is taken up under a name that says so.
#[test]
fn a_session_that_no_database_knows_is_found_by_its_folder() {
    let mut dice = Dice::of("found again");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    let commands = stage.messages(2, &mut dice);
    stage.host(&stage.orders(&commands)).until_at_rest();
    for process in stage.processes() {
        procs::kill(process.pid);
    }
    copy_database(&stage.root().join("nothing"), &stage.data());
    let mut orders = stage.orders(&[]);
    orders.leave = Leave::Off;
    let report = stage.host(&orders).until_at_rest();
    assert_eq!(report["session"]["name"], "found again", "{report:#}");
    let approvals = report["approvals"].as_array().unwrap();
    assert_eq!(approvals.len(), 6, "{approvals:#?}\n{}", stage.story());
    let is_settled = |row: &serde_json::Value| row["life"] == "settled";
    assert!(approvals.iter().all(is_settled), "{approvals:#?}");
    assert!(stage.processes().is_empty(), "nobody asked for an agent");
    let resumed = [stage.resume("resume", &mut dice)];
    let report = stage.host(&stage.orders(&resumed)).until_at_rest();
    assert_eq!(report["session"]["generation"], 2, "{report:#}");
}

/// The database is lost while an agent asks. The next host finds the agent by its folder and has the secret of its keeper: the
/// question is answered, and what was begun comes to its end.
#[test]
fn an_agent_that_no_database_knows_is_taken_up_again_and_its_question_answered() {
    let mut dice = Dice::of("taken up again");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    let commands = stage.messages(1, &mut dice);
    let mut orders = stage.orders(&commands);
    (orders.person, orders.leave) = (Person::Waits, Leave::Never);
    let mut host = stage.host(&orders);
    host.until("question");
    host.kill();
    copy_database(&stage.root().join("nothing"), &stage.data());
    let report = stage.host(&stage.orders(&[])).until_at_rest();
    assert_eq!(report["session"]["name"], "found again", "{report:#}");
    assert_eq!(report["session"]["generation"], 1, "{report:#}");
    let approvals = report["approvals"].as_array().unwrap();
    assert_eq!(approvals.len(), 3, "{approvals:#?}\n{}", stage.story());
    let is_settled = |row: &serde_json::Value| row["life"] == "settled";
    assert!(approvals.iter().all(is_settled), "{approvals:#?}");
    let mut ran = stage.ran();
    ran.sort();
    assert_eq!(ran, ["m0-a", "m0-r"], "{}", stage.story());
}

/// An earlier build drew the secret of a keeper and stored it. Its agents are reached all the same.
#[test]
fn a_keeper_with_a_secret_that_an_earlier_build_drew_is_reached() {
    let mut dice = Dice::of("drawn secret");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    let commands = stage.messages(2, &mut dice);
    stage.host(&stage.orders(&commands[..1])).until_at_rest();
    // What this keeper was given is now what an earlier build would have drawn: no key leads to it.
    let file = stage.data().join("host.key");
    let key = std::fs::read_to_string(&file).unwrap();
    let key = key.trim().rsplit(' ').next().unwrap();
    let key = blake3::Hash::from_hex(key).unwrap();
    let of = format!("keeper token 1 {} 1", stage.id());
    let token = blake3::keyed_hash(key.as_bytes(), of.as_bytes()).to_hex();
    std::fs::remove_file(&file).unwrap();
    let database = rusqlite::Connection::open(stage.data().join("host.db")).unwrap();
    let sql = "UPDATE sessions SET token = ?1";
    database.execute(sql, [token.to_string()]).unwrap();
    drop(database);
    let mut next = stage.host(&stage.orders(&commands));
    let report = next.until_at_rest();
    stage.note(&next);
    assert_eq!(report["session"]["generation"], 1, "{report:#}");
    stage.assert_kept(&commands, &report, Died::Hosts, "a drawn secret");
}

/// A keeper whose folder is removed under it says so and ends its agent. Nobody starts another one before that.
#[test]
fn an_agent_whose_folder_is_removed_is_ended_and_none_is_started_beside_it() {
    let mut dice = Dice::of("removed folder");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    let commands = stage.messages(1, &mut dice);
    stage.host(&stage.orders(&commands)).until_at_rest();
    let first = stage.agent().expect("an agent");
    std::fs::remove_dir_all(stage.dir()).unwrap();
    // The witness of the second agent is not to be taken for that of the first.
    let starts = stage.root().join("witness/g2/starts");
    let mut orders = stage.orders(&[stage.resume("resume", &mut dice)]);
    orders.leave = Leave::AtRest;
    let mut host = stage.host(&orders);
    let gone = || {
        assert!(
            !(first.runs() && starts.exists()),
            "two agents\n{}",
            host.story()
        );
        (!first.runs()).then_some(())
    };
    wait::found("the agent is ended", || stage.story(), gone);
    let report = host.until_at_rest();
    assert_eq!(report["session"]["generation"], 2, "{report:#}");
}

/// A keeper that stands still does not notice that its folder is gone. It is found without its lock: nobody starts another agent
/// beside its own, which can be ended by force.
#[test]
fn a_keeper_that_stands_still_while_its_folder_is_removed_is_met_by_no_second_agent() {
    let mut dice = Dice::of("removed folder, unnoticed");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    let commands = stage.messages(1, &mut dice);
    stage.host(&stage.orders(&commands)).until_at_rest();
    let first = stage.agent().expect("an agent");
    let keeper = stage.pid_of("keeper").expect("a keeper");
    procs::signal(keeper, rustix::process::Signal::STOP);
    std::fs::remove_dir_all(stage.dir()).unwrap();
    let mut orders = stage.orders(&[stage.resume("resume", &mut dice)]);
    orders.leave = Leave::OutOfReach;
    let report = stage.host(&orders).until_at_rest();
    assert_eq!(report["session"]["state"], "unreachable", "{report:#}");
    assert!(first.runs(), "{}", stage.story());
    let second = stage.root().join("witness/g2/starts");
    assert!(!second.exists(), "two agents\n{}", stage.story());
    let session = stage.id();
    let mut orders = stage.orders(&[Ordered {
        key: "end".into(),
        command: Command::ForceEnd { session },
    }]);
    orders.leave = Leave::Off;
    stage.host(&orders).until_at_rest();
    wait::until("its agent is ended", || !first.runs());
    assert!(!second.exists(), "{}", stage.story());
}

/// The same under a host that is attached: it tells why the agent ended.
#[test]
fn why_an_agent_ended_whose_folder_was_removed_is_told() {
    let mut dice = Dice::of("removed folder, told");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    let stage = stage.with_habits(serde_json::json!({"rebind_ms": 200}));
    let commands = stage.messages(1, &mut dice);
    let mut orders = stage.orders(&commands);
    (orders.person, orders.leave) = (Person::Waits, Leave::Off);
    let mut host = stage.host(&orders);
    host.until("question");
    std::fs::remove_dir_all(stage.dir()).unwrap();
    let report = host.until_at_rest();
    assert_eq!(report["session"]["state"], "failed", "{report:#}");
    let reason = report["session"]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("folder was removed"), "{reason}");
    wait::until("nothing is left running", || stage.processes().is_empty());
}

/// Removes the segment that a keeper writes to, and nothing else.
fn remove_newest_segment(stage: &Stage) {
    let entries = std::fs::read_dir(stage.dir().join("journal")).unwrap();
    let segments = entries.flatten().map(|entry| entry.path());
    let is_plain = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "j");
    std::fs::remove_file(segments.filter(is_plain).max().unwrap()).unwrap();
}

/// A keeper of which the newest segment alone is removed says just that and ends its agent. A resume starts one, once.
#[test]
fn an_agent_whose_newest_segment_is_removed_is_ended_and_resumed_once() {
    let mut dice = Dice::of("removed segment");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    let stage = stage.with_habits(serde_json::json!({"rebind_ms": 200}));
    let commands = stage.messages(1, &mut dice);
    let mut orders = stage.orders(&commands);
    (orders.person, orders.leave) = (Person::Waits, Leave::Off);
    let mut host = stage.host(&orders);
    host.until("question");
    let first = stage.agent().expect("an agent");
    remove_newest_segment(&stage);
    let report = host.until_at_rest();
    assert_eq!(report["session"]["state"], "failed", "{report:#}");
    let reason = report["session"]["reason"].as_str().unwrap_or_default();
    assert!(
        reason.contains("newest segment") && !reason.contains("folder was removed"),
        "{reason}"
    );
    wait::until("nothing is left running", || stage.processes().is_empty());
    assert!(!first.runs());
    let resumed = [stage.resume("resume", &mut dice)];
    let report = stage.host(&stage.orders(&resumed)).until_at_rest();
    assert_eq!(report["session"]["generation"], 2, "{report:#}");
    let begun = |generation: u32| {
        let starts = stage.root().join(format!("witness/g{generation}/starts"));
        std::fs::read_to_string(starts).map_or(0, |text| text.lines().count())
    };
    assert_eq!((begun(2), begun(3)), (1, 0), "{}", stage.story());
}

/// Database and key are lost, and with them the secret of the keeper: the agent is shown as out of reach, nothing is started
/// beside it, and it can be ended by force.
#[test]
fn an_agent_whose_secret_is_lost_is_out_of_reach_until_it_is_ended() {
    let mut dice = Dice::of("out of reach");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    let commands = stage.messages(1, &mut dice);
    stage.host(&stage.orders(&commands)).until_at_rest();
    copy_database(&stage.root().join("nothing"), &stage.data());
    std::fs::remove_file(stage.data().join("host.key")).unwrap();
    let mut orders = stage.orders(&[]);
    orders.leave = Leave::OutOfReach;
    let report = stage.host(&orders).until_at_rest();
    assert_eq!(report["session"]["state"], "unreachable", "{report:#}");
    assert_eq!(stage.case().witnesses.len(), 1, "{}", stage.story());
    let mut orders = stage.orders(&[Ordered {
        key: "end".into(),
        command: Command::ForceEnd {
            session: stage.id(),
        },
    }]);
    orders.leave = Leave::Off;
    stage.host(&orders).until_at_rest();
    wait::until("nothing is left running", || stage.processes().is_empty());
    let resumed = [stage.resume("resume", &mut dice)];
    let report = stage.host(&stage.orders(&resumed)).until_at_rest();
    assert_eq!(report["session"]["generation"], 2, "{report:#}");
}

/// The older copy says that the session is stopped. Its agent runs, and has asked something since.
#[test]
fn an_agent_that_came_after_the_copy_is_looked_after() {
    let mut dice = Dice::of("came after the copy");
    let stage = Stage::scripted(scenes::THREE_QUESTIONS, &mut dice);
    let mut commands = stage.messages(1, &mut dice);
    commands.push(Ordered {
        key: "stop".into(),
        command: Command::Stop {
            session: stage.id(),
        },
    });
    let mut orders = stage.orders(&commands[..1]);
    stage.host(&orders).until_at_rest();
    orders.commands = commands.clone();
    orders.leave = Leave::Off;
    stage.host(&orders).until_at_rest();
    let copy = stage.root().join("copy");
    copy_database(&stage.data(), &copy);
    let mut orders = stage.orders(&[
        stage.resume("resume", &mut dice),
        stage.send("m1", &mut dice),
    ]);
    (orders.person, orders.leave) = (Person::Waits, Leave::Never);
    let mut host = stage.host(&orders);
    host.until("question");
    host.kill();
    copy_database(&copy, &stage.data());
    let mut next = orders.clone();
    next.commands.clear();
    (next.person, next.leave) = (Person::Decides, Leave::AtRest);
    let report = stage.host(&next).until_at_rest();
    let approvals = report["approvals"].as_array().unwrap();
    assert_eq!(approvals.len(), 6, "{approvals:#?}\n{}", stage.story());
    assert_eq!(stage.ran().len(), 4, "{:?}", stage.ran());
}
