//! Who may speak to a keeper, and what becomes of a host that is slow, late or strange.

use std::io::Write as _;
use std::time::Instant;

use countersign_keeper::Habits;
use countersign_keeper::protocol::{EndPlan, FromKeeper, Ref, Refusal, Role, ToKeeper};

use crate::stage::{ASKS, PATIENCE, Stage, TOKEN, message, until};

#[test]
fn only_the_token_opens_the_door() {
    let stage = Stage::new(ASKS);
    stage.start();
    for token in ["", "open sesamE", "open sesame "] {
        let mut host = stage.connect();
        host.hello(token, 1, Role::Own);
        assert_eq!(host.hear_refusal(), Refusal::Token);
        assert!(host.try_hear().is_none(), "cut");
    }
    stage.until_journalled(r#"k {"event":"refused","why":"token""#);
    stage.own(1);
}

#[test]
fn without_a_hello_nothing_is_done() {
    let stage = Stage::new(ASKS);
    stage.start();
    for message in [
        ToKeeper::Status,
        ToKeeper::Sync,
        ToKeeper::End {
            plan: EndPlan::Kill,
            why: "please".into(),
        },
    ] {
        let mut host = stage.connect();
        host.say(&message);
        assert_eq!(host.hear_refusal(), Refusal::Protocol);
        assert!(host.try_hear().is_none());
    }
    let mut host = stage.connect();
    host.put(Ref::N(1), &crate::stage::message("x"));
    assert_eq!(host.hear_refusal(), Refusal::Role);
    assert!(stage.own(1).status().agent.is_some());
}

#[test]
fn what_the_agent_started_is_turned_away_even_with_the_token() {
    // Python if there is one; it is the only common tool that speaks to a Unix socket.
    if std::process::Command::new("python3")
        .arg("--version")
        .output()
        .is_err()
    {
        return;
    }
    let script = format!(
        r#"while ! [ -e socket ]; do sleep 0.01; done
        setsid python3 -c '
import socket
s = socket.socket(socket.AF_UNIX)
s.connect(open("socket").read())
s.sendall(b"{{\"type\":\"hello\",\"proto\":1,\"epoch\":99,\"token\":\"{TOKEN}\",\"role\":\"own\"}}\n")
print("GOT", s.recv(1000).decode().strip(), flush=True)
'
        read line"#
    );
    let stage = Stage::new(&script);
    let started = stage.start();
    std::fs::write(stage.work("socket.new"), started.socket.to_str().unwrap()).unwrap();
    std::fs::rename(stage.work("socket.new"), stage.work("socket")).unwrap();
    let got = stage.until_journalled("a GOT");
    assert_eq!(got, r#"a GOT {"type":"refused","why":"peer"}"#);
    stage.until_journalled(r#"k {"event":"refused","why":"peer","pid":"#);
    assert_eq!(stage.own(1).status().epoch, 1);
}

#[test]
fn a_later_host_takes_over_and_an_earlier_one_cannot() {
    let stage = Stage::new(ASKS);
    stage.start();
    let mut first = stage.own(3);
    let mut same = stage.connect();
    same.hello(TOKEN, 3, Role::Own);
    assert_eq!(same.hear_refusal(), Refusal::Epoch);
    let mut second = stage.own(4);
    assert_eq!(first.hear(), FromKeeper::Superseded);
    assert!(first.try_hear().is_none());
    let mut late = stage.connect();
    late.hello(TOKEN, 3, Role::Own);
    assert_eq!(late.hear_refusal(), Refusal::Epoch);
    assert_eq!(second.status().epoch, 4);
    // Its connection broke: the same host comes back.
    drop(second);
    stage.until_journalled(r#"k {"event":"detached","epoch":4}"#);
    assert_eq!(stage.own(4).status().epoch, 4);
}

#[test]
fn a_watcher_sees_and_does_nothing() {
    let stage = Stage::new(ASKS);
    stage.start();
    let mut owner = stage.own(1);
    let mut watcher = stage.connect();
    watcher.hello(TOKEN, 0, Role::Watch);
    assert!(matches!(watcher.hear(), FromKeeper::Welcome(_)));
    watcher.say(&ToKeeper::Sync);
    assert_eq!(watcher.hear_refusal(), Refusal::Role);
    watcher.say(&ToKeeper::End {
        plan: EndPlan::Kill,
        why: String::new(),
    });
    assert_eq!(watcher.hear_refusal(), Refusal::Role);
    assert_eq!(watcher.status().epoch, 1);
    watcher.put(Ref::N(1), &message("x"));
    assert_eq!(watcher.hear_refusal(), Refusal::Role);
    assert!(watcher.try_hear().is_none());
    assert_eq!(owner.status().last_n, 0);
}

#[test]
fn a_host_that_never_reads_is_cut_and_the_next_one_goes_on() {
    let stage = Stage::new(ASKS);
    stage.start();
    let mut host = stage.own(1);
    let deadline = Instant::now() + PATIENCE;
    // Each is refused, and the refusals are not read.
    let line = message("x") + "\n";
    let asked = ToKeeper::Put {
        reference: Ref::N(9),
        len: line.len(),
        d: None,
        masked_len: None,
        reserve: false,
    };
    let asked = serde_json::to_string(&asked).unwrap() + "\n" + &line;
    let asked = asked.repeat(100);
    while host.stream.write_all(asked.as_bytes()).is_ok() {
        assert!(Instant::now() < deadline, "never cut");
    }
    stage.until_journalled(r#"k {"event":"detached","epoch":1}"#);
    let mut host = stage.own(2);
    host.put(Ref::N(1), &message("goes on"));
    host.hear_ok();
}

#[test]
fn a_socket_that_was_removed_is_bound_anew() {
    let habits = Habits {
        rebind_ms: 20,
        ..Habits::default()
    };
    let stage = Stage::with(ASKS, &habits);
    let started = stage.start();
    let mut before = stage.own(1);
    std::fs::remove_dir_all(&stage.order.run).unwrap();
    until("a new socket", || {
        std::os::unix::net::UnixStream::connect(&started.socket).is_ok()
    });
    // Who was connected stays so.
    assert_eq!(before.status().epoch, 1);
    stage.own(2);
    assert_eq!(before.hear(), FromKeeper::Superseded);
}

#[test]
fn the_tail_is_told_after_the_record_is_there() {
    let stage = Stage::new("while read line; do echo \"$line\"; done");
    stage.start();
    let mut host = stage.own(1);
    for n in 1..=50 {
        host.put(Ref::N(n), &message("x"));
        let (_, seq) = host.hear_ok();
        let records = stage.journal().len() as u64;
        assert!(records >= seq, "{records} < {seq}");
    }
}

#[test]
fn what_the_agent_has_let_go_of_is_still_told() {
    let stage = Stage::new("(setsid sleep 300 &); echo done; read line");
    stage.start();
    stage.until_journalled("a done");
    let mut host = stage.own(1);
    let mut children = Vec::new();
    until("the orphan", || {
        children = host.status().children;
        children.iter().any(|one| one.command == "sleep")
    });
    let agent = host.status().agent.unwrap();
    assert!(
        children.iter().all(|one| one.pid != agent.pid),
        "{children:?}"
    );
}

fn memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let mut lines = status.lines();
    let line = lines.find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_ascii_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
fn a_watcher_that_only_asks_holds_up_nobody_and_is_cut() {
    // So many open questions that it takes 100 KB to tell of them.
    let stage = Stage::new(
        r#"seq -f '{"type":"control_request","request_id":"q%040.0f","request":{"subtype":"can_use_tool"}}' 1 1000
           echo done; while read -r line; do :; done"#,
    );
    let started = stage.start();
    stage.until_journalled("a done");
    let mut owner = stage.own(1);
    let before = memory(started.keeper);
    let mut watcher = stage.connect();
    watcher.hello(TOKEN, 0, Role::Watch);
    assert!(matches!(watcher.hear(), FromKeeper::Welcome(_)));
    let mut asking = watcher.stream.try_clone().unwrap();
    let is_cut = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Never reads an answer. 64 KiB of questions lie in the keeper at a time.
        scope.spawn(|| {
            let asked = "{\"type\":\"status\"}\n".repeat(5_000);
            while asking.write_all(asked.as_bytes()).is_ok() {}
            is_cut.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let mut n = 0;
        until("the end of the watcher", || {
            n += 1;
            let asked = Instant::now();
            owner.put(Ref::N(n), &message("meanwhile"));
            owner.hear_ok();
            let took = asked.elapsed();
            assert!(took.as_secs() < 5, "{took:?}");
            is_cut.load(std::sync::atomic::Ordering::Relaxed)
        });
    });
    let grown = memory(started.keeper) - before;
    assert!(grown < 12 << 10, "{grown} KiB");
}

#[test]
fn without_room_for_another_connection_the_keeper_waits_a_moment() {
    use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
    let stage = Stage::new(ASKS);
    let started = stage.start();
    let keeper = Pid::from_raw(started.keeper.try_into().unwrap());
    let limit = |current| {
        let maximum = getrlimit(Resource::Nofile).maximum;
        prlimit(keeper, Resource::Nofile, Rlimit { current, maximum }).unwrap()
    };
    // Few enough that it is soon reached, and enough for the keeper to wait for those it has.
    let before = limit(Some(16));
    let complaints = || {
        let log = std::fs::read_to_string(stage.session().join("keeper.log")).unwrap();
        log.matches("cannot let anybody in").count()
    };
    let _waiting: Vec<_> = (0..16).map(|_| stage.connect()).collect();
    let mut host = stage.connect();
    until("a word on it", || complaints() > 0);
    let first = Instant::now();
    until("two more", || complaints() > 2);
    assert!(first.elapsed().as_millis() > 500, "it spins");
    prlimit(keeper, Resource::Nofile, before).unwrap();
    host.hello(TOKEN, 1, Role::Own);
    assert!(matches!(host.hear(), FromKeeper::Welcome(_)));
}
