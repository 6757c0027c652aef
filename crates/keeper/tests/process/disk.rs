//! A disk that is full: the agent waits, nothing is lost, and it goes on by itself. One that fails: the agent is ended.

use std::path::Path;
use std::process::Command;

use countersign_keeper::Habits;
use countersign_keeper::protocol::{FromKeeper, Ref, Refusal, ToKeeper};

use crate::stage::{ASKS, Stage, answer, lives, message, until};

/// A small file system of its own under the session's folder. None where this user may not mount.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    fn mount(at: &'a Path) -> Option<Self> {
        std::fs::create_dir_all(at).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=6m,mode=700", "tmpfs"])
            .arg(at)
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then_some(Self(at))
    }

    fn fill(&self) {
        let filler = self.0.join("filler");
        let mut file = std::fs::File::create(filler).unwrap();
        while std::io::Write::write(&mut file, &[0; 4096]).is_ok() {}
    }

    fn free(&self) {
        std::fs::remove_file(self.0.join("filler")).unwrap();
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).output();
    }
}

#[test]
fn a_full_disk_pauses_the_agent_and_loses_nothing() {
    let stage = Stage::new(
        r#"echo '{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool"}}'
           echo '{"type":"control_request","request_id":"q2","request":{"subtype":"can_use_tool"}}'
           while ! [ -e go ]; do sleep 0.01; done
           seq -f '%.0f xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' 1 30000
           head -c 2000000 /dev/zero | tr '\0' y; echo
           echo done; while IFS= read -r line; do printf '%s\n' "$line" >> seen; done"#,
    );
    let session = stage.session();
    let Some(disk) = SmallDisk::mount(&session) else {
        return;
    };
    stage.start();
    stage.until_journalled(r#"a {"type":"control_request","request_id":"q2""#);
    let mut host = stage.own(1);
    disk.fill();
    std::fs::write(stage.work("go"), "").unwrap();
    assert_eq!(host.hear(), FromKeeper::Paused { errno: 28 });
    assert_eq!(host.status().paused, Some(28));
    // A message and an answer are refused and take nothing; a refusal may use the room that is kept.
    host.put(Ref::N(1), &message("x"));
    assert_eq!(host.hear_refusal(), Refusal::Paused);
    host.answer("q1");
    assert_eq!(host.hear_refusal(), Refusal::Paused);
    let line = answer("q2") + "\n";
    host.say(&ToKeeper::Put {
        reference: Ref::Answer("q2".into()),
        len: line.len(),
        d: None,
        masked_len: None,
        reserve: true,
    });
    std::io::Write::write_all(&mut host.stream, line.as_bytes()).unwrap();
    assert_eq!(host.hear_ok().0, Ref::Answer("q2".into()));
    assert!(!stage.journal().contains(&"a done".to_owned()));
    disk.free();
    assert_eq!(host.hear(), FromKeeper::Resumed);
    stage.until_journalled("a done");
    host.answer("q1");
    host.hear_ok();
    until("both answers", || {
        stage.written("seen").lines().count() == 2
    });
    let journal = stage.journal();
    let mut numbers = journal.iter().filter_map(|one| {
        one.strip_prefix("a ")?
            .strip_suffix("xxxx")?
            .split(' ')
            .next()?
            .parse::<u32>()
            .ok()
    });
    assert!((1..=30000).all(|n| numbers.next() == Some(n)));
    let long = journal.iter().filter(|one| one.starts_with("a yyyy"));
    assert_eq!(long.map(String::len).collect::<Vec<_>>(), [2 + 2_000_000]);
    assert!(
        journal
            .iter()
            .any(|one| one.starts_with(r#"k {"event":"paused","errno":28}"#))
    );
    assert!(journal.contains(&r#"k {"event":"resumed"}"#.to_owned()));
}

/// Needs no mount: a limit on the length of files makes a write short in the middle of a record.
#[test]
fn a_write_that_is_cut_short_is_taken_back_and_done_again() {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let stage = Stage::new(
        r#"while ! [ -e go ]; do sleep 0.01; done
           seq -f '%.0f xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' 1 5000
           echo done; read line"#,
    );
    let started = stage.start();
    let keeper = Pid::from_raw(started.keeper.try_into().unwrap());
    let limit = |current| {
        let maximum = None;
        prlimit(keeper, Resource::Fsize, Rlimit { current, maximum }).unwrap()
    };
    let mut host = stage.own(1);
    limit(Some(100_001));
    std::fs::write(stage.work("go"), "").unwrap();
    // 27 is EFBIG.
    assert_eq!(host.hear(), FromKeeper::Paused { errno: 27 });
    let length = std::fs::metadata(stage.session().join("journal/000001.j")).unwrap();
    assert!(length.len() <= 100_001);
    limit(None);
    assert_eq!(host.hear(), FromKeeper::Resumed);
    stage.until_journalled("a done");
    let journal = stage.journal();
    let lines: Vec<_> = journal
        .iter()
        .filter_map(|one| one.strip_prefix("a ")?.strip_suffix("xxxx"))
        .collect();
    assert_eq!(lines.len(), 5_000);
    for (n, line) in lines.iter().enumerate() {
        assert!(line.starts_with(&format!("{} ", n + 1)), "{n}: {line}");
    }
}

#[test]
fn an_agent_that_ends_on_a_full_disk_has_its_exit_recorded() {
    let stage = Stage::new("while ! [ -e go ]; do sleep 0.01; done; exit 5");
    let session = stage.session();
    let Some(disk) = SmallDisk::mount(&session) else {
        return;
    };
    let started = stage.start();
    disk.fill();
    std::fs::write(stage.work("go"), "").unwrap();
    until("the end", || !lives(started.guard));
    let journal = stage.journal();
    assert!(
        journal
            .iter()
            .any(|one| one.starts_with(r#"k {"event":"exit","code":5"#)),
        "{journal:?}"
    );
}

#[test]
fn an_agent_that_talks_to_its_end_on_a_full_disk_loses_little_and_has_its_exit() {
    let stage = Stage::new(
        "while ! [ -e go ]; do sleep 0.01; done; seq -f '%.0f xxxxxxxxxxxxxxxxxxxxxxxxxxxxx' 1 100000; exit 6",
    );
    let session = stage.session();
    let Some(disk) = SmallDisk::mount(&session) else {
        return;
    };
    let started = stage.start();
    let mut host = stage.own(1);
    disk.fill();
    std::fs::write(stage.work("go"), "").unwrap();
    assert!(matches!(host.hear(), FromKeeper::Paused { .. }));
    crate::stage::kill(started.keeper, rustix::process::Signal::TERM);
    until("the end", || !lives(started.guard));
    let journal = stage.journal();
    assert!(
        journal
            .iter()
            .any(|one| one.starts_with(r#"k {"event":"exit""#))
    );
    // What was in the pipe when it ended is there, to the last whole or broken line.
    let lines: Vec<&str> = journal
        .iter()
        .filter_map(|one| one.strip_prefix("a "))
        .collect();
    for (n, line) in lines.iter().enumerate() {
        assert!(line.starts_with(&format!("{} ", n + 1)), "{n}: {line}");
    }
    assert!(lines.len() > 10_000, "{}", lines.len());
}

#[test]
fn a_sync_that_fails_ends_the_agent_and_no_grant_reaches_it() {
    let broken = tempfile::NamedTempFile::new().unwrap();
    let path = broken.path().to_owned();
    let habits = Habits {
        sync_fails: Some(path.clone()),
        ..Habits::default()
    };
    broken.close().unwrap();
    let stage = Stage::with(ASKS, &habits);
    let started = stage.start();
    stage.until_journalled(r#"a {"type":"control_request""#);
    let mut host = stage.own(1);
    std::fs::write(&path, "").unwrap();
    host.answer("q1");
    assert_eq!(host.hear_refusal(), Refusal::Sync);
    loop {
        if let FromKeeper::Gone { exit } = host.hear() {
            assert_eq!(exit.signal, Some(9));
            break;
        }
    }
    std::fs::remove_file(&path).unwrap();
    until("the end", || !lives(started.guard));
    assert_eq!(stage.written("seen"), "");
    let log = std::fs::read_to_string(stage.session().join("keeper.log")).unwrap();
    assert!(log.contains("no sync works"), "{log}");
}

#[test]
fn a_clock_that_is_set_back_is_recorded_and_no_time_falls() {
    let shift = tempfile::NamedTempFile::new().unwrap();
    let habits = Habits {
        clock: Some(shift.path().to_owned()),
        ..Habits::default()
    };
    let stage = Stage::with(ASKS, &habits);
    stage.start();
    let mut host = stage.own(1);
    std::fs::write(shift.path(), "-3600000000").unwrap();
    host.put(Ref::N(1), &message("after"));
    host.hear_ok();
    stage.until_journalled(r#"a {"type":"heard"}"#);
    let jump = stage.until_journalled(r#"k {"event":"clock""#);
    let jump: serde_json::Value = serde_json::from_str(&jump[2..]).unwrap();
    let jump = jump["jump"].as_i64().unwrap();
    assert!((-3_601_000_000..=-3_599_000_000).contains(&jump), "{jump}");
    let text = std::fs::read_to_string(stage.session().join("journal/000001.j")).unwrap();
    let times: Vec<u64> = text
        .lines()
        .skip(1)
        .map(|line| line.split(' ').nth(1).unwrap().parse().unwrap())
        .collect();
    assert!(times.is_sorted(), "{times:?}");
}

#[test]
fn a_long_line_that_does_not_fit_is_there_when_there_is_room() {
    let stage = Stage::new(
        "while ! [ -e go ]; do sleep 0.01; done; head -c 3000000 /dev/zero | tr '\\0' y; echo; echo done; read line",
    );
    let session = stage.session();
    let Some(disk) = SmallDisk::mount(&session) else {
        return;
    };
    stage.start();
    let mut host = stage.own(1);
    disk.fill();
    std::fs::write(stage.work("go"), "").unwrap();
    assert_eq!(host.hear(), FromKeeper::Paused { errno: 28 });
    disk.free();
    assert_eq!(host.hear(), FromKeeper::Resumed);
    stage.until_journalled("a done");
    let journal = stage.journal();
    let long = journal.iter().filter(|one| one.starts_with("a yyyy"));
    assert_eq!(long.map(String::len).collect::<Vec<_>>(), [2 + 3_000_000]);
}

/// What is kept for the end is not for hosts that come and go.
#[test]
fn hosts_that_come_and_go_on_a_full_disk_are_recorded_later() {
    let stage = Stage::new(
        r#"while ! [ -e go ]; do sleep 0.01; done
           seq -f '%.0f xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' 1 30000
           echo done; read line"#,
    );
    let session = stage.session();
    let Some(disk) = SmallDisk::mount(&session) else {
        return;
    };
    stage.start();
    let mut host = stage.own(1);
    disk.fill();
    std::fs::write(stage.work("go"), "").unwrap();
    assert_eq!(host.hear(), FromKeeper::Paused { errno: 28 });
    let records = stage.journal().len();
    for epoch in 2..=50 {
        stage.own(epoch);
        let mut stranger = stage.connect();
        stranger.hello("guessed", epoch, countersign_keeper::protocol::Role::Own);
        assert_eq!(stranger.hear_refusal(), Refusal::Token);
    }
    let mut last = stage.own(51);
    assert_eq!(stage.journal().len(), records);
    disk.free();
    assert_eq!(last.hear(), FromKeeper::Resumed);
    stage.until_journalled(r#"k {"event":"attached","epoch":51}"#);
    stage.until_journalled("a done");
    let attached = |one: &&String| one.starts_with(r#"k {"event":"attached""#);
    assert_eq!(stage.journal().iter().filter(attached).count(), 2);
}
