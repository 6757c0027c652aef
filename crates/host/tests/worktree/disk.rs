//! What is measured on the disk, and what a limit leads to.
//!
//! Owns the figures: whose they are, what a second look costs, and that a proposal moves nothing by itself.

use std::os::unix::fs::symlink;

use countersign_host::trash::disk::{Disk, GOOD_FOR, Measure, Use};
use countersign_host::trash::retention::{Candidate, propose};
use countersign_host::trash::{Reason, Word};

use crate::stage::{NOW, Stage, session, write};

const BIG: usize = 1 << 20;

fn big() -> Vec<u8> {
    (0..BIG).map(|n| (n * 31 % 251) as u8).collect()
}

/// Within the few blocks that folders and names take.
fn about(bytes: u64, megabytes: u64) -> bool {
    let exact = megabytes * BIG as u64;
    (exact - 8_192..exact + 300_000).contains(&bytes)
}

fn journal(stage: &Stage, number: u128, megabytes: usize) {
    let folder = stage
        .root
        .join("data/sessions")
        .join(session(number).to_string());
    for n in 0..megabytes {
        write(&folder.join(format!("journal/{n:06}.j")), big());
    }
    write(&folder.join("keeper.lock"), "");
}

#[tokio::test]
async fn each_session_has_its_journal_its_worktree_and_its_trash() {
    let stage = Stage::new();
    let data = stage.root.join("data");
    journal(&stage, 1, 2);
    journal(&stage, 2, 1);
    let worktree = stage.plain().await;
    write(&worktree.path.join("target/built"), big());
    std::fs::hard_link(
        worktree.path.join("target/built"),
        worktree.path.join("target/same"),
    )
    .unwrap();
    let outside = stage.root.join("outside");
    write(&outside.join("huge"), big());
    symlink(&outside, worktree.path.join("link")).unwrap();
    for (name, reason) in [("a", Reason::of(session(2), "x")), ("b", Reason::from("x"))] {
        let thing = stage.root.join(name);
        write(&thing.join("file"), big());
        stage.trash.put(&thing, reason, NOW).unwrap();
    }
    let disk = Measure::default().use_of(&data, NOW).unwrap();
    let (one, two) = (disk.sessions[&session(1)], disk.sessions[&session(2)]);
    assert!(
        about(one.journal, 2) && about(one.worktree, 1) && one.trash == 0,
        "{one:?}"
    );
    assert!(
        about(two.journal, 1) && two.worktree == 0 && about(two.trash, 1),
        "{two:?}"
    );
    assert!(about(disk.nobody.trash, 1), "{:?}", disk.nobody);
    assert_eq!(disk.unread, 0);
    assert_eq!(
        disk.total(),
        one.total() + two.total() + disk.nobody.total()
    );
}

#[test]
fn a_data_folder_that_is_not_there_holds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Measure::default().use_of(&folder.path().join("none"), NOW);
    assert_eq!(disk.unwrap(), Disk::default());
}

#[test]
fn a_second_look_reads_no_folder_that_has_not_changed() {
    let stage = Stage::new();
    let data = stage.root.join("data");
    let worktree = data.join("worktrees/someone-else");
    for n in 0..200 {
        write(&worktree.join(format!("many/{n}")), "x");
    }
    let mut measure = Measure::default();
    let first = measure.use_of(&data, NOW).unwrap();
    let cost = measure.looked();
    assert!(cost >= 200);
    assert_eq!(measure.use_of(&data, NOW + 1).unwrap(), first);
    let second = measure.looked() - cost;
    assert!(second <= 4, "{second} files were looked at again");
    // A new file shows at once, one that grew when the memory is old.
    write(&worktree.join("many/new"), big());
    let third = measure.use_of(&data, NOW + 2).unwrap();
    assert!(about(third.total() - first.total(), 1));
    write(&worktree.join("many/0"), big());
    let later = measure.use_of(&data, NOW + 3 + GOOD_FOR).unwrap();
    assert!(about(later.total() - third.total(), 1));
    // A clock that was set back makes nothing last longer.
    let cost = measure.looked();
    measure.use_of(&data, 5).unwrap();
    assert!(measure.looked() - cost >= 200);
}

#[test]
fn a_journal_that_grows_shows_at_once() {
    let stage = Stage::new();
    journal(&stage, 1, 1);
    let mut measure = Measure::default();
    let data = stage.root.join("data");
    let before: Use = measure.use_of(&data, NOW).unwrap().sessions[&session(1)];
    let file = data
        .join("sessions")
        .join(session(1).to_string())
        .join("journal/000000.j");
    let grown = [big(), big()].concat();
    std::fs::write(file, grown).unwrap();
    let after = measure.use_of(&data, NOW + 1).unwrap().sessions[&session(1)];
    assert!(about(after.journal - before.journal, 1));
}

#[test]
fn a_limit_proposes_and_only_a_word_moves_and_only_to_the_trash() {
    let stage = Stage::new();
    let data = stage.root.join("data");
    for number in 1..=3 {
        journal(&stage, number, 1);
    }
    let disk = Measure::default().use_of(&data, NOW).unwrap();
    let candidates: Vec<_> = disk
        .sessions
        .iter()
        .map(|(session, used)| Candidate {
            session: *session,
            closed: *session != crate::stage::session(1),
            last_activity: session.bits() as u64,
            journal: used.journal,
        })
        .collect();
    let limit = disk.total() - BIG as u64;
    let proposal = propose(disk.total(), limit, 0, &candidates).unwrap();
    assert_eq!(proposal.journals.len(), 1);
    assert_eq!(proposal.journals[0].session, session(2));
    let sessions = data.join("sessions");
    assert_eq!(std::fs::read_dir(&sessions).unwrap().count(), 3);

    let word = Word::of("a person").unwrap();
    let gone = proposal
        .put_away(&sessions, &stage.trash, &word, NOW)
        .unwrap();
    assert_eq!(gone.len(), 1);
    assert!(!sessions.join(session(2).to_string()).exists());
    stage.trash.restore(&gone[0].1).unwrap();
    assert!(
        sessions
            .join(session(2).to_string())
            .join("journal/000000.j")
            .exists()
    );
}
