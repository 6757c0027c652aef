//! A full disk: the agent waits, nothing is lost, and it goes on by itself.

use std::path::Path;
use std::process::Command;

use countersign_keeper::protocol::{FromKeeper, Ref, Refusal, ToKeeper};

use crate::stage::{Stage, answer, message, until};

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
    loop {
        match host.hear() {
            FromKeeper::Paused { errno } => {
                assert_eq!(errno, 28);
                break;
            }
            other => panic!("{other:?}"),
        }
    }
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
    assert!(
        journal
            .iter()
            .any(|one| one.starts_with(r#"k {"event":"paused","errno":28}"#))
    );
    assert!(journal.contains(&r#"k {"event":"resumed"}"#.to_owned()));
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
    until("the end", || !crate::stage::lives(started.guard));
    let journal = stage.journal();
    assert!(
        journal
            .iter()
            .any(|one| one.starts_with(r#"k {"event":"exit","code":5"#)),
        "{journal:?}"
    );
}
