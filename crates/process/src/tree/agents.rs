//! Whether a process comes from an agent, any agent.
//!
//! Owns what tells: an agent is started with a lower limit than its host has, which all that it starts inherits and nothing of
//! it can raise again; and the walk up the parents in search of a mark: an agent's process carries its [`Marker`], a keeper says
//! what it is. An agent's orphans go to its keeper, so who clears its environment and leaves its parents is found there. A
//! keeper hides its environment from other processes of its user, so it is known by its command line as well. Invariants: what
//! cannot be seen is not taken for a person; a command line, which every process can make up, counts only against who has it.

use std::io;
use std::sync::OnceLock;

use super::descendants::MOST_PARENTS;
use super::{Entry, system};
use crate::Marker;

/// How often a walk is begun that a death on the way has cut off.
const WALKS: usize = 5;

/// This process and its parents, as they were when somebody first asked, and the marker that it was started with.
#[derive(Debug)]
struct Own {
    line: Vec<(u32, u64)>,
    marker: Option<Vec<u8>>,
    /// The limit that agents have lower.
    limit: Option<u64>,
}

/// Whether `pid` is an agent or comes from one. None if nothing can be said: it is gone, or a parent cannot be seen.
///
/// What this process and its own parents are does not count: a server that an agent has started for itself is the agent's.
///
/// Linux only: elsewhere nothing can be said.
pub fn is_from_agent(pid: u32) -> Option<bool> {
    let own = own();
    (0..WALKS).find_map(|_| walk(pid, own, &System).ok().flatten())
}

/// What the system lets this user see of a process. An error means that nobody can look just now.
trait Sight {
    fn look(&self, pid: u32) -> io::Result<Option<Entry>>;
    /// The variables it was started with. None if it hides them, or is gone.
    fn environ(&self, pid: u32) -> io::Result<Option<Vec<u8>>>;
    /// The arguments it shows, if it is of this user.
    fn arguments(&self, pid: u32) -> io::Result<Option<Vec<u8>>>;
    /// The limit that is lower for agents, if it is of this user.
    fn limit(&self, pid: u32) -> io::Result<Option<u64>>;
    fn is_stopped(&self, pid: u32) -> io::Result<bool>;
}

/// The system itself.
#[derive(Debug, Clone, Copy)]
struct System;

impl Sight for System {
    fn look(&self, pid: u32) -> io::Result<Option<Entry>> {
        system::try_look(pid)
    }

    fn environ(&self, pid: u32) -> io::Result<Option<Vec<u8>>> {
        system::try_environ(pid)
    }

    fn arguments(&self, pid: u32) -> io::Result<Option<Vec<u8>>> {
        system::arguments(pid)
    }

    fn limit(&self, pid: u32) -> io::Result<Option<u64>> {
        system::limit(pid)
    }

    fn is_stopped(&self, pid: u32) -> io::Result<bool> {
        system::is_stopped(pid)
    }
}

/// The running processes, by whose they are.
#[derive(Debug, Default)]
pub(super) struct Census {
    /// Agents and all that comes from them.
    pub(super) agents: Vec<Entry>,
    /// Guards and keepers, which wait and write, and connect to nobody.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "told apart so that nobody asks them")
    )]
    pub(super) keepers: Vec<Entry>,
    /// Everybody else.
    pub(super) others: Vec<Entry>,
}

/// Sorts every running process.
pub(super) fn census() -> io::Result<Census> {
    sort(system::list()?, own(), &System)
}

fn sort(all: Vec<Entry>, own: &Own, sight: &impl Sight) -> io::Result<Census> {
    let mut found = Vec::new();
    let mut others = Vec::new();
    for entry in all {
        let is_ours = own.line.contains(&(entry.pid, entry.started));
        match !is_ours && is_agents_by_itself(entry.pid, own, sight)? {
            true => found.push(entry),
            false => others.push(entry),
        }
    }
    let mut next = 0;
    while let Some(parent) = found.get(next).map(|entry| entry.pid) {
        let is_child = |entry: &Entry| {
            entry.parent == parent && !own.line.contains(&(entry.pid, entry.started))
        };
        let (children, rest) = others.into_iter().partition::<Vec<Entry>, _>(is_child);
        found.extend(children);
        (others, next) = (rest, next + 1);
    }
    let keepers = keepers_among(&found, own, sight)?;
    let (mut keepers, mut agents): (Vec<Entry>, Vec<Entry>) = found
        .into_iter()
        .partition(|entry| keepers.contains(&entry.pid));
    // Not before: one that has ended and is not reaped is still somebody's parent.
    for list in [&mut agents, &mut keepers, &mut others] {
        list.retain(|entry| !entry.ended);
    }
    Ok(Census {
        agents,
        keepers,
        others,
    })
}

/// Whether a process shows that it is an agent's, whoever its parents are.
fn is_agents_by_itself(pid: u32, own: &Own, sight: &impl Sight) -> io::Result<bool> {
    if is_lowered(pid, own, sight)? {
        return Ok(true);
    }
    Ok(match sight.environ(pid)? {
        Some(environ) => is_marked(&environ, own),
        None => sight
            .arguments(pid)?
            .is_some_and(|it| is_keeper_command(&it)),
    })
}

/// Whether it has the limit of an agent's process: lower than that of this one.
fn is_lowered(pid: u32, own: &Own, sight: &impl Sight) -> io::Result<bool> {
    let limit = sight.limit(pid)?;
    Ok(limit.is_some_and(|limit| own.limit.is_some_and(|own| limit < own)))
}

/// Whether a process of any user has the limit of an agent's: in a user namespace an agent may have several users.
pub(super) fn is_lowered_in_any_user(pid: u32) -> io::Result<bool> {
    let limit = system::limit_of_anyone(pid)?;
    Ok(limit.is_some_and(|limit| own().limit.is_some_and(|own| limit < own)))
}

/// The numbers of guards and keepers. Nothing that an agent starts can pass for one: its limit is lower, its parents are among
/// `found`, while a guard's are not, and a keeper is the first child of its guard and older than the agent itself. A guard that
/// was stopped ends nobody, so what it has as a child need not be its keeper.
fn keepers_among(found: &[Entry], own: &Own, sight: &impl Sight) -> io::Result<Vec<u32>> {
    let command = |pid: u32| -> io::Result<Option<Vec<u8>>> {
        let arguments = sight.arguments(pid)?.filter(|it| is_keeper_command(it));
        Ok(match is_lowered(pid, own, sight)? {
            true => None,
            false => arguments,
        })
    };
    let mut keepers = Vec::new();
    let is_top = |entry: &&Entry| !found.iter().any(|other| other.pid == entry.parent);
    for guard in found.iter().filter(is_top) {
        let says_otherwise = sight.environ(guard.pid)?.is_some_and(|it| {
            let marker = value(&it, Marker::NAME);
            value(&it, Marker::KEEPER).is_none()
                || (marker.is_some() && marker != own.marker.as_deref())
        });
        let Some(arguments) = command(guard.pid)?.filter(|_| !says_otherwise) else {
            continue;
        };
        keepers.push(guard.pid);
        let children = found.iter().filter(|entry| entry.parent == guard.pid);
        let first = children.min_by_key(|entry| (entry.started, entry.pid));
        // A fork of the guard, so both have the same arguments.
        if let Some(first) = first
            && !sight.is_stopped(guard.pid)?
            && command(first.pid)?.as_ref() == Some(&arguments)
        {
            keepers.push(first.pid);
        }
    }
    Ok(keepers)
}

/// Whether these arguments, each ended by NUL, are a keeper's: `… --dir DIR --generation G`.
fn is_keeper_command(arguments: &[u8]) -> bool {
    let mut words = arguments.split(|byte| *byte == 0).skip(1);
    words.any(|word| word == b"--dir") && words.any(|word| word == b"--generation")
}

fn own() -> &'static Own {
    static OWN: OnceLock<Own> = OnceLock::new();
    OWN.get_or_init(find_own)
}

fn find_own() -> Own {
    let mut line = Vec::new();
    let mut next = std::process::id();
    while let Some(entry) = system::look(next).filter(|_| line.len() < MOST_PARENTS) {
        line.push((entry.pid, entry.started));
        next = entry.parent;
    }
    let environ = system::environ(std::process::id()).unwrap_or_default();
    Own {
        line,
        marker: value(&environ, Marker::NAME).map(<[u8]>::to_vec),
        limit: system::own_limit(),
    }
}

/// One walk. None if a process is gone, its number was given to another, or the first one hides what it was started with.
fn walk(pid: u32, own: &Own, sight: &impl Sight) -> io::Result<Option<bool>> {
    let (mut now, mut child_started) = (pid, u64::MAX);
    for _ in 0..MOST_PARENTS {
        let Some(entry) = sight.look(now)? else {
            return Ok(None);
        };
        if entry.started > child_started {
            return Ok(None);
        }
        if own.line.contains(&(now, entry.started)) {
            return Ok(Some(false));
        }
        // A parent of another user, `sudo` or the first process of all, is passed over; so is one that hides.
        if is_agents_by_itself(now, own, sight)? {
            return Ok(Some(true));
        }
        if now == pid && sight.environ(now)?.is_none() {
            return Ok(None);
        }
        if entry.parent == 0 {
            return Ok(Some(false));
        }
        (now, child_started) = (entry.parent, entry.started);
    }
    Ok(None)
}

fn is_marked(environ: &[u8], own: &Own) -> bool {
    let marker = value(environ, Marker::NAME);
    (marker.is_some() && marker != own.marker.as_deref())
        || value(environ, Marker::KEEPER).is_some()
}

fn value<'a>(environ: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut variables = environ.split(|byte| *byte == 0);
    variables.find_map(|variable| variable.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENT: &[u8] = b"A=1\0COUNTERSIGN_AGENT=00\0";
    const KEEPER: &[u8] = b"COUNTERSIGN_KEEPER=1\0";

    const KEEPS: &[u8] = b"/bin/x\0keeper\0--dir\0/s\0--generation\x002\0";
    const NOTHING: Option<&[u8]> = Some(b"");

    /// A process, started at 10 times its number.
    #[derive(Clone, Copy)]
    struct One {
        pid: u32,
        parent: u32,
        /// None: it hides it.
        environ: Option<&'static [u8]>,
        arguments: &'static [u8],
        limit: u64,
        has_ended: bool,
        is_stopped: bool,
    }

    fn one(pid: u32, parent: u32, environ: Option<&'static [u8]>) -> One {
        One {
            pid,
            parent,
            environ,
            arguments: b"x\0",
            limit: 100,
            has_ended: false,
            is_stopped: false,
        }
    }

    fn keeper(pid: u32, parent: u32, environ: Option<&'static [u8]>) -> One {
        One {
            arguments: KEEPS,
            ..one(pid, parent, environ)
        }
    }

    impl One {
        fn entry(&self) -> Entry {
            Entry {
                pid: self.pid,
                parent: self.parent,
                group: self.pid,
                session: self.pid,
                started: u64::from(self.pid) * 10,
                ended: self.has_ended,
                command: "x".into(),
            }
        }
    }

    impl Sight for &[One] {
        fn look(&self, pid: u32) -> io::Result<Option<Entry>> {
            Ok(self.iter().find(|it| it.pid == pid).map(One::entry))
        }

        fn environ(&self, pid: u32) -> io::Result<Option<Vec<u8>>> {
            let found = self.iter().find(|it| it.pid == pid);
            Ok(found.and_then(|it| it.environ).map(<[u8]>::to_vec))
        }

        fn arguments(&self, pid: u32) -> io::Result<Option<Vec<u8>>> {
            let found = self.iter().find(|it| it.pid == pid);
            Ok(found.map(|it| it.arguments.to_vec()))
        }

        fn limit(&self, pid: u32) -> io::Result<Option<u64>> {
            Ok(self.iter().find(|it| it.pid == pid).map(|it| it.limit))
        }

        fn is_stopped(&self, pid: u32) -> io::Result<bool> {
            Ok(self.iter().any(|it| it.pid == pid && it.is_stopped))
        }
    }

    fn own(marker: Option<&[u8]>, line: &[(u32, u64)]) -> Own {
        Own {
            line: line.to_vec(),
            marker: marker.map(<[u8]>::to_vec),
            limit: Some(100),
        }
    }

    fn ask(all: &[One], pid: u32, own: &Own) -> Option<bool> {
        walk(pid, own, &all).unwrap()
    }

    /// The agents', the keepers and the others.
    fn sorted(all: &[One]) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let entries = all.iter().map(One::entry).collect();
        let found = sort(entries, &own(None, &[]), &all).unwrap();
        let pids = |all: Vec<Entry>| {
            let mut pids: Vec<u32> = all.iter().map(|it| it.pid).collect();
            pids.sort_unstable();
            pids
        };
        (pids(found.agents), pids(found.keepers), pids(found.others))
    }

    #[test]
    fn who_comes_from_an_agent_or_its_keeper_is_known_by_any_parent() {
        let all = [
            one(1, 0, None),
            one(2, 1, Some(KEEPER)),
            one(3, 2, Some(AGENT)),
            one(4, 3, NOTHING),
            one(5, 4, None),
            one(6, 5, Some(b"A=1\0")),
            one(7, 2, NOTHING),
            one(8, 1, Some(b"XCOUNTERSIGN_AGENT=0\0COUNTERSIGN_AGENTS=0\0")),
        ];
        let own = own(None, &[]);
        for agents in [2, 3, 4, 6, 7] {
            assert_eq!(ask(&all, agents, &own), Some(true), "{agents}");
        }
        assert_eq!(ask(&all, 8, &own), Some(false));
        // It hides itself, or is not there at all.
        assert_eq!(ask(&all, 5, &own), None);
        assert_eq!(ask(&all, 9, &own), None);
    }

    #[test]
    fn a_parent_that_cannot_be_seen_leaves_it_open() {
        let all = [one(5, 4, NOTHING), one(6, 5, NOTHING)];
        assert_eq!(ask(&all, 6, &own(None, &[])), None);
    }

    #[test]
    fn what_this_process_comes_from_does_not_count() {
        let all = [
            one(1, 0, None),
            one(2, 1, Some(AGENT)),
            one(3, 2, Some(AGENT)),
            one(4, 3, Some(AGENT)),
            one(5, 2, Some(b"COUNTERSIGN_AGENT=ff\0")),
        ];
        let line = own(Some(b"00"), &[(3, 30), (2, 20), (1, 10)]);
        assert_eq!(ask(&all, 4, &line), Some(false));
        assert_eq!(ask(&all, 5, &line), Some(true));
        // Another process has a number of the line.
        assert_eq!(ask(&all, 4, &own(None, &[(3, 31)])), Some(true));
    }

    #[test]
    fn guard_and_keeper_are_told_from_what_their_agent_starts() {
        let found = sorted(&[
            one(1, 0, None),
            keeper(2, 1, Some(KEEPER)),
            // The keeper hides its environment.
            keeper(3, 2, None),
            one(4, 3, Some(AGENT)),
            // These call themselves keepers.
            keeper(5, 4, Some(KEEPER)),
            keeper(6, 3, None),
            keeper(7, 2, None),
            one(8, 1, NOTHING),
        ]);
        assert_eq!(found, (vec![4, 5, 6, 7], vec![2, 3], vec![1, 8]));
    }

    #[test]
    fn a_keeper_without_its_guard_is_known_by_its_command_line() {
        let all = [
            one(1, 0, None),
            keeper(3, 1, None),
            one(4, 3, NOTHING),
            keeper(5, 1, Some(AGENT)),
        ];
        assert_eq!(sorted(&all), (vec![4, 5], vec![3], vec![1]));
        assert_eq!(ask(&all, 4, &own(None, &[])), Some(true));
    }

    #[test]
    fn an_orphan_whose_keeper_and_guard_were_killed_is_known_by_its_limit() {
        let orphan = One {
            limit: 99,
            ..one(4, 1, NOTHING)
        };
        let hiding = One {
            limit: 99,
            ..keeper(5, 1, None)
        };
        let all = [one(1, 0, None), orphan, hiding, one(6, 1, NOTHING)];
        assert_eq!(sorted(&all), (vec![4, 5], vec![], vec![1, 6]));
        assert_eq!(ask(&all, 4, &own(None, &[])), Some(true));
        assert_eq!(ask(&all, 6, &own(None, &[])), Some(false));
    }

    #[test]
    fn what_takes_the_place_of_a_killed_keeper_is_no_keeper() {
        let stopped = One {
            is_stopped: true,
            ..keeper(2, 1, Some(KEEPER))
        };
        let all = [one(1, 0, None), stopped, keeper(5, 2, None)];
        assert_eq!(sorted(&all), (vec![5], vec![2], vec![1]));
        let lowered = One {
            limit: 99,
            ..keeper(5, 2, None)
        };
        let all = [one(1, 0, None), keeper(2, 1, Some(KEEPER)), lowered];
        assert_eq!(sorted(&all), (vec![5], vec![2], vec![1]));
    }

    #[test]
    fn a_parent_that_has_ended_and_is_not_reaped_still_tells_whose_its_child_is() {
        let ended = One {
            has_ended: true,
            ..one(4, 3, Some(AGENT))
        };
        let all = [one(1, 0, None), ended, one(2, 4, NOTHING)];
        assert_eq!(sorted(&all), (vec![2], vec![], vec![1]));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_is_an_agents_if_it_was_started_as_one() {
        use std::process::{Command, Stdio};
        let start = |name: Option<&str>| {
            let mut command = Command::new("cat");
            command.stdin(Stdio::piped()).env_clear();
            if let Some(name) = name {
                command.env(name, "ffffffffffffffff");
            }
            command.spawn().unwrap()
        };
        for (name, is_agents) in [
            (None, Some(false)),
            (Some(Marker::NAME), Some(true)),
            (Some(Marker::KEEPER), Some(true)),
        ] {
            let mut child = start(name);
            assert_eq!(is_from_agent(child.id()), is_agents, "{name:?}");
            drop(child.stdin.take());
            child.wait().unwrap();
            assert_eq!(is_from_agent(child.id()), None);
        }
    }
}
