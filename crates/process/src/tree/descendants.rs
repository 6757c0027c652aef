//! Everything that descends from a process, and the end of all that descends from this one.
//!
//! Differs from a [`Tree`](super::Tree): no marker and no group, descent alone, which nobody can leave below a
//! subreaper. Invariants: this process is never signalled; a signal reaches only the process that was listed.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use super::{Entry, FREEZING_PASSES, Process, Signal, Swept, deliver, swept, system};

/// The longest pause between two looks at processes that were killed.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// How many parents are walked before the list is taken for a circle.
pub(super) const MOST_PARENTS: usize = 4096;

/// How often a walk is begun that a death on the way has cut off.
const WALKS: usize = 5;

/// What runs and descends from `pid`, without it.
pub fn descendants_of(pid: u32) -> Vec<Process> {
    let all = system::list().unwrap_or_default();
    let running = below(all, pid).into_iter().filter(|one| !one.ended);
    running.map(Process::from).collect()
}

/// Whether `pid` is one of `of` or descends from one of them. None if a process on the way cannot be seen, so that
/// nothing can be said.
///
/// A process that started before all of `of` descends from none of them, so its parents need not be seen. A parent that
/// ends during the walk hands its child to another: the walk begins again, a few times.
pub fn descends_from(pid: u32, of: &[u32]) -> Option<bool> {
    walks(pid, of, system::look)
}

fn walks(pid: u32, of: &[u32], look: impl Fn(u32) -> Option<Entry>) -> Option<bool> {
    (0..WALKS).find_map(|_| walk(pid, of, &look))
}

/// One walk up the parents. None if a process is gone, or its number was given to another meanwhile.
fn walk(pid: u32, of: &[u32], look: impl Fn(u32) -> Option<Entry>) -> Option<bool> {
    let oldest = of
        .iter()
        .map(|one| look(*one).map(|entry| entry.started))
        .try_fold(u64::MAX, |oldest, started| Some(oldest.min(started?)));
    let (mut now, mut child_started) = (pid, u64::MAX);
    for _ in 0..MOST_PARENTS {
        if of.contains(&now) {
            return Some(true);
        }
        let entry = look(now)?;
        // Younger than its child: the parent has ended, and this is somebody else.
        if entry.started > child_started {
            return None;
        }
        if entry.parent == 0 || oldest.is_some_and(|oldest| entry.started < oldest) {
            return Some(false);
        }
        (now, child_started) = (entry.parent, entry.started);
    }
    None
}

/// When that process started, in a unit of the system's; only compared. None if there is none.
pub fn started(pid: u32) -> Option<u64> {
    system::look(pid).map(|entry| entry.started)
}

/// Whether the process of that number and start runs, one that has ended and is not reaped not counted. None if it cannot
/// be seen: it is gone, or hidden from this user.
pub fn is_running(pid: u32, started: u64) -> Option<bool> {
    let entry = system::look(pid)?;
    Some(entry.started == started && !entry.ended)
}

/// Signals the process of that number and start, and no other. `false` if it is gone or not ours.
pub fn signal(pid: u32, started: u64, signal: Signal) -> bool {
    deliver(pid, started, signal) == super::Delivery::Sent
}

/// Makes this process the parent of its descendants' orphans.
///
/// # Errors
/// When the system has no such thing: then only children, not orphans, are known to descend from it.
#[cfg(unix)]
pub fn become_subreaper() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    return Ok(rustix::process::set_child_subreaper(Some(
        rustix::process::getpid(),
    ))?);
    #[cfg(not(target_os = "linux"))]
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Kills everything that descends from this process and reaps it, until there is no child left or `deadline` has
/// passed; tries once even if it has.
///
/// For a subreaper, which gets every orphan: no child left means nobody left. All are stopped first, so that a tree
/// that forks does not run away. Takes the exit of every child: reap those whose exit is wanted before.
#[cfg(unix)]
pub fn end_descendants(deadline: Instant) -> Swept {
    let own = std::process::id();
    let mut seen = BTreeMap::new();
    let mut freezing = 0;
    let mut pause = Duration::from_micros(200);
    loop {
        if !reap() {
            return swept(seen, Vec::new());
        }
        let mut found = below(system::list().unwrap_or_default(), own);
        found.retain(|one| !one.ended);
        let mut anybody_new = false;
        for one in &found {
            if seen.insert((one.pid, one.started), one.clone()).is_none() {
                deliver(one.pid, one.started, Signal::Stop);
                anybody_new = true;
            }
        }
        let late = Instant::now() >= deadline;
        if anybody_new && freezing < FREEZING_PASSES && !late {
            freezing += 1;
            continue;
        }
        for one in &found {
            deliver(one.pid, one.started, Signal::Kill);
        }
        if late {
            return swept(seen, found);
        }
        // Only children can be waited for, and who is a child changes with every death.
        std::thread::sleep(pause);
        pause = (pause * 2).min(BETWEEN_LOOKS);
    }
}

/// Takes the exit of all children that have ended. `false` if there is no child any more.
#[cfg(unix)]
fn reap() -> bool {
    use rustix::process::{WaitOptions, wait};
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// The entries below `root`, in no order.
fn below(all: Vec<Entry>, root: u32) -> Vec<Entry> {
    let mut children: HashMap<u32, Vec<Entry>> = HashMap::new();
    for entry in all {
        children.entry(entry.parent).or_default().push(entry);
    }
    let mut found = children.remove(&root).unwrap_or_default();
    let mut next = 0;
    while let Some(pid) = found.get(next).map(|entry| entry.pid) {
        found.extend(children.remove(&pid).unwrap_or_default());
        next += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(pid: u32, parent: u32) -> Entry {
        Entry {
            pid,
            parent,
            group: pid,
            session: pid,
            started: 1,
            ended: false,
            command: "x".into(),
        }
    }

    #[test]
    fn all_generations_are_below_and_nobody_else() {
        let all = vec![
            entry(5, 4),
            entry(4, 3),
            entry(9, 1),
            entry(3, 2),
            entry(2, 1),
        ];
        let mut pids: Vec<u32> = below(all, 2).iter().map(|one| one.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [3, 4, 5]);
    }

    #[test]
    fn a_process_that_is_its_own_parent_is_met_once() {
        assert_eq!(below(vec![entry(0, 0), entry(1, 0)], 0).len(), 2);
    }

    /// `pid`, its parent, when it started.
    fn walk_in(all: &[(u32, u32, u64)], pid: u32, of: &[u32]) -> Option<bool> {
        walk(pid, of, |pid| {
            let (_, parent, started) = all.iter().find(|(one, ..)| *one == pid)?;
            Some(Entry {
                started: *started,
                ..entry(pid, *parent)
            })
        })
    }

    #[test]
    fn descent_is_told_by_parents_and_by_age() {
        let all = [(1, 0, 1), (2, 1, 50), (3, 2, 60), (7, 9, 40), (8, 9, 55)];
        assert_eq!(walk_in(&all, 3, &[2]), Some(true));
        assert_eq!(walk_in(&all, 2, &[3]), Some(false));
        // Nobody sees number 9. A process that is older than number 2 cannot come from it, another one might.
        assert_eq!(walk_in(&all, 7, &[2]), Some(false));
        assert_eq!(walk_in(&all, 8, &[2]), None);
        // As old as it is not older.
        assert_eq!(walk_in(&[(2, 1, 50), (8, 9, 50)], 8, &[2]), None);
        // Without the age of all of them nothing follows from an age.
        assert_eq!(walk_in(&all, 7, &[2, 99]), None);
    }

    #[test]
    fn a_number_that_was_given_to_another_is_not_taken_for_the_parent() {
        let all = [(1, 0, 1), (2, 1, 50), (5, 1, 90), (6, 5, 70)];
        assert_eq!(walk_in(&all, 6, &[2]), None);
        assert_eq!(walk_in(&all, 5, &[2]), Some(false));
    }

    #[test]
    fn a_parent_that_ends_during_the_walk_makes_it_begin_again() {
        use std::cell::Cell;
        let looks = Cell::new(0);
        let look = |pid| {
            looks.set(looks.get() + 1);
            match pid {
                6 if looks.get() < 4 => Some(entry(6, 5)),
                6 => Some(entry(6, 1)),
                1 => Some(entry(1, 0)),
                2 => Some(entry(2, 1)),
                _ => None,
            }
        };
        assert_eq!(walks(6, &[2], look), Some(false));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_descends_from_us_and_we_do_not_descend_from_it() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let own = std::process::id();
        assert_eq!(descends_from(child.id(), &[own]), Some(true));
        assert_eq!(descends_from(own, &[child.id()]), Some(false));
        assert!(descendants_of(own).iter().any(|one| one.pid == child.id()));
        let start = started(child.id()).unwrap();
        assert_eq!(is_running(child.id(), start), Some(true));
        assert_eq!(is_running(child.id(), start + 1), Some(false));
        drop(child.stdin.take());
        while is_running(child.id(), start) == Some(true) {
            std::thread::yield_now();
        }
        // Ended and not reaped.
        assert_eq!(is_running(child.id(), start), Some(false));
        child.wait().unwrap();
        assert_eq!(is_running(child.id(), start), None);
        assert_eq!(descends_from(child.id(), &[own]), None);
    }
}
