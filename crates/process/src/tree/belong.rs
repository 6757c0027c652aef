//! Who of all processes belongs to a tree. Pure: the list and the question for the marker come in.
//!
//! Invariants: this process is never among them and nobody belongs through it; nor do processes older than the
//! root.

use std::collections::HashMap;

use super::Entry;

/// The process a tree grows from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Root {
    pub(super) pid: u32,
    /// None if it was gone before we looked: then only the marker finds anybody.
    pub(super) started: Option<u64>,
}

impl Root {
    /// Whether `entry` is this process and not another with its number.
    pub(super) fn is(&self, entry: &Entry) -> bool {
        entry.pid == self.pid && self.started == Some(entry.started)
    }

    /// Whether `entry` can come from this process.
    fn can_be_before(&self, entry: &Entry) -> bool {
        self.started.is_none_or(|started| entry.started >= started)
    }
}

/// The members of the tree that run. `bears` tells whether a process carries the marker; it is not asked about
/// processes older than the root.
pub(super) fn members(
    all: Vec<Entry>,
    root: Root,
    own: u32,
    mut bears: impl FnMut(u32) -> bool,
) -> Vec<Entry> {
    let may_belong = |entry: &Entry| entry.pid != own && root.can_be_before(entry);
    let mut all: Vec<Option<Entry>> = all.into_iter().filter(may_belong).map(Some).collect();

    // Whom each process leads: its children, its group, its session.
    let mut led: HashMap<u32, Vec<usize>> = HashMap::new();
    for (at, entry) in all.iter().enumerate() {
        let Some(entry) = entry else { continue };
        for leader in [entry.parent, entry.group, entry.session] {
            led.entry(leader).or_default().push(at);
        }
    }

    let mut waiting: Vec<usize> = Vec::new();
    let mut members = Vec::new();
    let mut take = |at: usize, all: &mut Vec<Option<Entry>>, waiting: &mut Vec<usize>| {
        if let Some(entry) = all.get_mut(at).and_then(Option::take) {
            waiting.extend(led.remove(&entry.pid).into_iter().flatten());
            if !entry.ended {
                members.push(entry);
            }
        }
    };
    // By descent first: whoever is found so need not be asked for its environment.
    if let Some(at) = all
        .iter()
        .position(|one| one.as_ref().is_some_and(|one| root.is(one)))
    {
        waiting.push(at);
    }
    let mut next = 0;
    loop {
        if let Some(at) = waiting.pop() {
            take(at, &mut all, &mut waiting);
        } else if next < all.len() {
            let asked = all.get(next).and_then(Option::as_ref);
            if asked.is_some_and(|entry| !entry.ended && bears(entry.pid)) {
                waiting.push(next);
            }
            next += 1;
        } else {
            return members;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: u32 = 10;
    const ROOT: Root = Root {
        pid: 100,
        started: Some(50),
    };

    fn entry(pid: u32, parent: u32) -> Entry {
        Entry {
            pid,
            parent,
            group: pid,
            session: pid,
            started: 50 + u64::from(pid),
            ended: false,
            command: "x".into(),
        }
    }

    fn root() -> Entry {
        Entry {
            started: 50,
            ..entry(100, OWN)
        }
    }

    fn pids(all: Vec<Entry>, bearers: &[u32]) -> Vec<u32> {
        let found = members(all, ROOT, OWN, |pid| bearers.contains(&pid));
        let mut pids: Vec<u32> = found.iter().map(|entry| entry.pid).collect();
        pids.sort_unstable();
        pids
    }

    #[test]
    fn descendants_belong_whatever_the_order_of_the_list() {
        let all = vec![
            entry(103, 102),
            entry(102, 101),
            entry(101, 100),
            root(),
            entry(200, 1),
        ];
        assert_eq!(pids(all.clone(), &[]), [100, 101, 102, 103]);
        let reversed = all.into_iter().rev().collect();
        assert_eq!(pids(reversed, &[]), [100, 101, 102, 103]);
    }

    #[test]
    fn an_orphan_belongs_by_its_marker_and_so_do_its_children() {
        let all = vec![root(), entry(201, 1), entry(202, 201), entry(203, 1)];
        assert_eq!(pids(all, &[201]), [100, 201, 202]);
    }

    #[test]
    fn an_orphan_without_marker_belongs_by_the_group_or_session_of_a_member() {
        let in_group = Entry {
            group: 101,
            session: 7,
            ..entry(201, 1)
        };
        let in_session = Entry {
            group: 202,
            session: 101,
            ..entry(202, 1)
        };
        let elsewhere = Entry {
            group: 7,
            session: 7,
            ..entry(203, 1)
        };
        let all = vec![in_group, in_session, elsewhere, root(), entry(101, 100)];
        assert_eq!(pids(all, &[]), [100, 101, 201, 202]);
    }

    #[test]
    fn this_process_never_belongs_nor_does_anybody_through_it() {
        let own = Entry {
            started: 60,
            ..entry(OWN, 100)
        };
        assert_eq!(pids(vec![root(), own, entry(300, OWN)], &[OWN]), [100]);
    }

    #[test]
    fn another_process_with_the_roots_number_is_not_the_root() {
        let reused = Entry {
            started: 51,
            ..entry(100, 1)
        };
        assert_eq!(pids(vec![reused, entry(101, 100)], &[]), [0u32; 0]);
    }

    #[test]
    fn who_is_older_than_the_root_is_not_even_asked() {
        let older = Entry {
            started: 49,
            ..entry(201, 1)
        };
        let found = members(vec![older], ROOT, OWN, |pid| panic!("asked about {pid}"));
        assert!(found.is_empty());
    }

    #[test]
    fn the_ended_are_left_out_but_lead_to_their_children() {
        let ended = Entry {
            ended: true,
            ..entry(101, 100)
        };
        assert_eq!(pids(vec![root(), ended, entry(102, 101)], &[]), [100, 102]);
    }

    #[test]
    fn with_a_root_never_seen_only_the_marker_finds() {
        let unseen = Root {
            pid: 100,
            started: None,
        };
        let all = vec![entry(100, 1), entry(101, 100), entry(102, 1)];
        let found = members(all, unseen, OWN, |pid| pid == 102);
        assert_eq!(found.iter().map(|one| one.pid).collect::<Vec<_>>(), [102]);
    }
}
