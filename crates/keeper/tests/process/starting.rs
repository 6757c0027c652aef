//! The start: one agent for a generation, secrets nowhere on the disk, nothing inherited.

use std::process::{Command, Stdio};

use countersign_keeper::protocol::FromKeeper;
use countersign_keeper::{Arg, Found, Habits, StartError, look};

use crate::stage::{ASKS, Stage, lives, os, until};

#[test]
fn an_agent_is_started_and_everything_about_it_is_recorded() {
    let stage = Stage::new(ASKS);
    assert_eq!(look(&stage.session()).unwrap(), Found::Never);
    let started = stage.start();
    assert!(lives(started.guard) && lives(started.keeper));
    let Found::Live(found) = look(&stage.session()).unwrap() else {
        panic!("a keeper");
    };
    assert_eq!((found.guard, found.keeper), (started.guard, started.keeper));
    assert_eq!(found.socket, started.socket);
    let standing = stage.own(1).status();
    let agent = standing.agent.unwrap();
    assert!(lives(agent.pid));
    let journal = stage.journal();
    assert!(journal[0].starts_with(r#"k {"event":"open","generation":1"#));
    assert!(journal[1].starts_with(&format!(r#"k {{"event":"spawned","pid":{}"#, agent.pid)));
    assert_eq!((standing.session.as_str(), standing.generation), ("s1", 1));
}

#[test]
fn a_second_start_of_a_generation_is_refused_while_it_runs_and_after_it() {
    let stage = Stage::new("read line");
    let first = stage.start();
    assert!(matches!(stage.try_start(), Err(StartError::Busy(_))));
    // The command says it with its exit, too.
    let launcher = Command::new(&stage.keeper.program)
        .arg("--dir")
        .arg(stage.session())
        .args(["--generation", "1"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(launcher.status.code(), Some(75));
    crate::stage::kill(first.keeper, rustix::process::Signal::TERM);
    until("the end of the first", || !lives(first.guard));
    assert!(matches!(stage.try_start(), Err(StartError::Generation(1))));
    assert_eq!(
        stage
            .journal()
            .iter()
            .filter(|one| one.contains("spawned"))
            .count(),
        1
    );
}

#[test]
fn the_next_generation_goes_on_with_numbers_and_epoch() {
    let mut stage = Stage::new("read line; read line");
    let first = stage.start();
    let mut host = stage.own(7);
    host.put(
        countersign_keeper::protocol::Ref::N(1),
        &crate::stage::message("a"),
    );
    host.hear_ok();
    crate::stage::kill(first.keeper, rustix::process::Signal::TERM);
    until("the end of the first", || !lives(first.guard));
    stage.order.generation = 2;
    stage.start();
    let standing = stage.own(7).status();
    assert_eq!(
        (standing.generation, standing.last_n, standing.epoch),
        (2, 1, 7)
    );
}

#[test]
fn another_order_for_a_generation_that_has_begun_is_refused_and_changes_nothing() {
    let mut stage = Stage::new("read line");
    let first = stage.start();
    let spec = || std::fs::read(stage.session().join("spec.1")).unwrap();
    let before = spec();
    let mut other = stage.order.clone();
    other.args.push(Arg::Plain("more".into()));
    assert!(matches!(
        countersign_keeper::start(&stage.keeper, &other),
        Err(StartError::Busy(_))
    ));
    crate::stage::kill(first.keeper, rustix::process::Signal::TERM);
    until("the end of the first", || !lives(first.guard));
    assert!(matches!(
        countersign_keeper::start(&stage.keeper, &other),
        Err(StartError::Generation(1))
    ));
    assert_eq!(spec(), before);
    stage.order.generation = 0;
    let Err(StartError::Failed(why)) = stage.try_start() else {
        panic!("no generation 0");
    };
    assert!(why.contains("count from 1"), "{why}");
}

#[test]
fn a_start_that_was_cut_off_is_tried_again_with_another_order() {
    let mut stage = Stage::new("exit 1");
    // The journal cannot begin.
    std::fs::create_dir_all(stage.session()).unwrap();
    std::fs::write(stage.session().join("journal"), "").unwrap();
    assert!(matches!(stage.try_start(), Err(StartError::Failed(_))));
    std::fs::remove_file(stage.session().join("journal")).unwrap();
    assert_eq!(look(&stage.session()).unwrap(), Found::Never);
    // Or the host was killed with the order on the disk, whole or not.
    std::fs::write(stage.session().join("spec.1"), r#"{"session":"s1","argv"#).unwrap();
    let args = vec![
        Arg::Plain("-c".into()),
        Arg::Plain("echo two; read x".into()),
    ];
    stage.order.args = args;
    stage.start();
    stage.until_journalled("a two");
    let spec = std::fs::read_to_string(stage.session().join("spec.1")).unwrap();
    assert!(spec.contains("echo two"), "{spec}");
    assert!(stage.journal()[0].contains("echo two"));
}

#[test]
fn of_two_orders_at_once_one_is_carried_out_whole() {
    for _ in 0..5 {
        let stage = Stage::new("");
        let order = |name: &str| {
            let mut order = stage.order.clone();
            order.args = vec![
                Arg::Plain("-c".into()),
                Arg::Plain("echo \"$0 $WHO\"; read line".into()),
                Arg::Plain(name.into()),
            ];
            order.env.push((os("WHO"), name.into()));
            order
        };
        let orders = [order("one"), order("two")];
        let started: Vec<bool> = std::thread::scope(|scope| {
            let threads = orders
                .each_ref()
                .map(|order| scope.spawn(|| countersign_keeper::start(&stage.keeper, order)));
            threads.map(|thread| thread.join().unwrap().is_ok()).into()
        });
        assert_eq!(started.iter().filter(|is| **is).count(), 1);
        let name = if started[0] { "one" } else { "two" };
        stage.until_journalled(&format!("a {name} {name}"));
        let open = &stage.journal()[0];
        assert!(open.contains(&format!(r#","{name}"]"#)), "{open}");
        let spec = std::fs::read_to_string(stage.session().join("spec.1")).unwrap();
        assert!(spec.contains(&format!("\"{name}\"")), "{spec}");
    }
}

#[test]
fn what_an_earlier_keeper_said_of_itself_is_not_believed() {
    let mut stage = Stage::new("read line");
    let first = stage.start();
    let json = stage.session().join("keeper.json");
    let stale = std::fs::read(&json).unwrap();
    crate::stage::kill(first.keeper, rustix::process::Signal::TERM);
    until("the end of the first", || !lives(first.guard));
    stage.order.generation = 2;
    stage.start();
    let now = std::fs::read(&json).unwrap();
    // As if the second had not written its own yet; it listens at the same place.
    std::fs::write(&json, stale).unwrap();
    assert_eq!(look(&stage.session()).unwrap(), Found::Unreachable(None));
    std::fs::remove_file(&json).unwrap();
    assert_eq!(look(&stage.session()).unwrap(), Found::Unreachable(None));
    std::fs::write(&json, now).unwrap();
    let Found::Live(found) = look(&stage.session()).unwrap() else {
        panic!("a keeper");
    };
    assert_eq!(found.generation, 2);
    assert!(found.started > 0 && found.guard_started > 0 && !found.boot_id.is_empty());
}

#[test]
fn a_start_that_fails_leaves_no_word_of_an_earlier_keeper() {
    let stage = Stage::new("read line");
    let first = stage.start();
    crate::stage::kill(first.keeper, rustix::process::Signal::TERM);
    until("the end of the first", || !lives(first.guard));
    let json = stage.session().join("keeper.json");
    assert!(json.exists());
    assert!(matches!(stage.try_start(), Err(StartError::Generation(1))));
    assert!(!json.exists());
}

#[test]
fn a_program_that_is_not_there_is_told_and_recorded() {
    let mut stage = Stage::new("");
    stage.order.program = os("/nowhere/claude");
    let Err(StartError::Agent(why)) = stage.try_start() else {
        panic!("no agent");
    };
    assert!(why.contains("No such file"), "{why}");
    let found = look(&stage.session()).unwrap();
    let Found::Ended {
        generation: 1,
        exit,
    } = found
    else {
        panic!("{found:?}");
    };
    assert_eq!(exit.error, Some(why));
}

#[test]
fn secrets_reach_the_agent_and_no_file() {
    let secret = concat!("s3", "cr3t-", "value");
    let mut stage = Stage::new(r#"printf '%s %s' "$KEY" "$0" > ../got; read line"#);
    stage
        .order
        .args
        .push(Arg::Secret(format!("arg-{secret}").into()));
    stage
        .order
        .env
        .push((os("KEY"), format!("env-{secret}").into()));
    stage.order.token = format!("token-{secret}");
    let started = stage.start();
    let got = stage.folder().join("got");
    until("the agent", || got.exists());
    until("its words", || {
        std::fs::read_to_string(&got).unwrap() == format!("env-{secret} arg-{secret}")
    });
    let mut files = 0;
    for folder in [stage.session(), stage.session().join("journal")] {
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.is_file() {
                files += 1;
                let bytes = std::fs::read(&path).unwrap();
                assert!(
                    memchr::memmem::find(&bytes, secret.as_bytes()).is_none(),
                    "{path:?}"
                );
            }
        }
    }
    assert!(files >= 5, "{files}");
    for pid in [started.guard, started.keeper] {
        for file in ["cmdline", "environ"] {
            // Other processes of this user may not even look into the keeper; root may.
            let bytes = match std::fs::read(format!("/proc/{pid}/{file}")) {
                Err(error) if (pid, file) == (started.keeper, "environ") => {
                    assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
                    continue;
                }
                read => read.unwrap(),
            };
            let found = memchr::memmem::find(&bytes, secret.as_bytes());
            assert!(found.is_none(), "{file}");
        }
    }
}

#[test]
fn the_agent_inherits_its_streams_and_its_lock_and_nothing_else() {
    let stage =
        Stage::new("ls -l /proc/$$/fd > fds; env > env; umask > umask; echo done; read line");
    stage.start();
    stage.until_journalled("a done");
    let fds = stage.written("fds");
    let targets: Vec<&str> = fds
        .lines()
        .filter_map(|line| line.split_once(" -> "))
        .map(|(_, to)| to)
        .collect();
    let locks: Vec<_> = targets.iter().filter(|to| to.contains(".lock")).collect();
    let sockets = targets.iter().filter(|to| to.starts_with("socket:"));
    // Its stdout is the file for that command alone.
    assert_eq!(sockets.count(), 3, "{fds}");
    assert!(!fds.contains("pipe:"), "{fds}");
    assert_eq!(locks.len(), 1, "{fds}");
    assert!(locks[0].ends_with("agent.lock"), "{fds}");
    assert!(!stage.written("env").contains("COUNTERSIGN_HABITS"));
    let own = std::fs::read_to_string("/proc/self/status").unwrap();
    let own = own
        .lines()
        .find_map(|line| line.strip_prefix("Umask:\t"))
        .unwrap();
    assert_eq!(stage.written("umask").trim(), own);
}

#[test]
fn files_of_a_session_are_for_its_owner_alone() {
    use std::os::unix::fs::MetadataExt as _;
    let stage = Stage::new("read line");
    let started = stage.start();
    let mut paths = vec![stage.session(), started.socket];
    paths.extend(
        std::fs::read_dir(stage.session())
            .unwrap()
            .map(|one| one.unwrap().path()),
    );
    for path in paths {
        let mode = std::fs::symlink_metadata(&path).unwrap().mode();
        assert_eq!(mode & 0o077, 0, "{path:?}");
    }
}

#[test]
fn keeper_and_guard_are_small_at_rest() {
    let stage = Stage::with(
        "head -c 20000000 /dev/zero | tr '\\0' x; echo; echo done; read line",
        &Habits::default(),
    );
    let started = stage.start();
    stage.until_journalled("a done");
    let rss = |pid: u32| -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS:"))
            .unwrap();
        line.split_ascii_whitespace()
            .nth(1)
            .unwrap()
            .parse()
            .unwrap()
    };
    // Unoptimised code is larger; the benchmark measures the shipped one.
    let all = rss(started.keeper) + rss(started.guard);
    assert!(all < 12 << 10, "{all} KiB");
    let FromKeeper::Status(_) = FromKeeper::Status(stage.own(1).status()) else {
        panic!("a standing");
    };
}

#[test]
fn the_process_has_no_runtime_and_no_client_in_it() {
    let src = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = |folder: &std::path::Path| -> Vec<std::path::PathBuf> {
        let all = std::fs::read_dir(folder).unwrap();
        all.map(|entry| entry.unwrap().path()).collect()
    };
    let mut all = files(&src.join("keep"));
    // Beside it there is only what hosts do over a runtime.
    all.extend(files(&src).into_iter().filter(|path| path.is_file()));
    assert!(all.len() > 25, "{all:?}");
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap();
        for word in ["tokio", "countersign_client", "std::thread::spawn"] {
            // Tests may start threads; the process never does.
            let code = text.split("#[cfg(test)]").next().unwrap();
            assert!(!code.contains(word), "{word} in {path:?}");
        }
    }
}

/// Where the open files of a process lead.
#[cfg(target_os = "linux")]
fn open_files(pid: u32) -> Vec<String> {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let links = files.filter_map(|file| std::fs::read_link(file.unwrap().path()).ok());
    links
        .map(|link| link.to_string_lossy().into_owned())
        .collect()
}

#[cfg(target_os = "linux")]
#[test]
fn an_order_and_its_answer_go_where_no_other_process_opens_them() {
    let mut stage = Stage::new("echo ready; read line");
    let seen = stage.work("launcher");
    let program = std::mem::replace(&mut stage.keeper.program, "/bin/sh".into());
    let script = "ls -l /proc/$$/fd > \"$SEEN\"; exec \"$0\" \"$@\"";
    stage.keeper.args = vec!["-c".into(), script.into(), program.into()];
    stage.keeper.env.push(("SEEN".into(), seen.into()));
    stage.start();
    let fds = stage.written("launcher");
    // Its stdout is the file for that command alone, and kept beside.
    assert_eq!(fds.matches("socket:").count(), 2, "{fds}");
}

#[cfg(target_os = "linux")]
#[test]
fn what_the_guard_tells_its_launcher_no_other_process_can_tell_it() {
    let stage = Stage::new("echo ready; read line");
    std::fs::create_dir_all(stage.session()).unwrap();
    let (order, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut launcher = std::process::Command::new(&stage.keeper.program)
        .arg("--dir")
        .arg(stage.session())
        .args(["--generation", "1"])
        .envs(stage.keeper.env.iter().cloned())
        .stdin(std::os::fd::OwnedFd::from(theirs))
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // Beside its stdin it has one end of the way to the guard, which waits for the order.
    let inherited = open_files(std::process::id());
    let is_end = |file: &String| {
        (file.starts_with("socket:") || file.starts_with("pipe:")) && !inherited.contains(file)
    };
    let ends = || {
        let files = open_files(launcher.id()).into_iter();
        files.filter(is_end).collect::<Vec<_>>()
    };
    until("the launcher waits", || ends().len() >= 2);
    let ends = ends();
    assert!(!ends.iter().any(|end| end.starts_with("pipe:")), "{ends:?}");
    // An order that never comes starts nothing.
    drop(order);
    assert!(!launcher.wait().unwrap().success());
}
