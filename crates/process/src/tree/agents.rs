//! Whether a process comes from an agent, any agent.
//!
//! Owns the walk up its parents in search of a mark: an agent's process carries its [`Marker`], a keeper says what it is. An
//! agent's orphans go to its keeper, so who clears its environment and leaves its parents is found there. A keeper hides its
//! environment from other processes of its user, so it is known by its command line as well. Invariants: what cannot be seen
//! is not taken for a person; a command line, which every process can make up, counts only against who has it.

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
}

/// Whether `pid` is an agent or comes from one. None if nothing can be said: it is gone, or a parent cannot be seen.
///
/// What this process and its own parents are does not count: a server that an agent has started for itself is the agent's.
///
/// Linux only: elsewhere nothing can be said.
pub fn is_from_agent(pid: u32) -> Option<bool> {
    let own = own();
    (0..WALKS).find_map(|_| walk(pid, own, system::look, system::environ, system::arguments))
}

/// The running processes, by whose they are.
#[derive(Debug, Default)]
pub(super) struct Census {
    /// Agents and all that comes from them.
    pub(super) agents: Vec<Entry>,
    /// Guards and keepers, which wait and write, and connect to nobody.
    pub(super) keepers: Vec<Entry>,
    /// Everybody else.
    pub(super) others: Vec<Entry>,
}

/// Sorts every running process.
pub(super) fn census() -> std::io::Result<Census> {
    let all = system::list()?;
    Ok(sort(all, own(), system::environ, system::arguments))
}

fn sort(
    mut all: Vec<Entry>,
    own: &Own,
    environ: impl Fn(u32) -> Option<Vec<u8>>,
    arguments: impl Fn(u32) -> Option<Vec<u8>>,
) -> Census {
    all.retain(|entry| !entry.ended);
    let (line, rest): (Vec<Entry>, Vec<Entry>) = all
        .into_iter()
        .partition(|entry| own.line.contains(&(entry.pid, entry.started)));
    let is_agent = |entry: &Entry| match environ(entry.pid) {
        Some(environ) => is_marked(&environ, own),
        None => arguments(entry.pid).is_some_and(|it| is_keeper_command(&it)),
    };
    let (mut found, mut others): (Vec<Entry>, Vec<Entry>) = rest.into_iter().partition(is_agent);
    let mut next = 0;
    while let Some(parent) = found.get(next).map(|entry| entry.pid) {
        let (children, rest) = others
            .into_iter()
            .partition::<Vec<Entry>, _>(|entry| entry.parent == parent);
        found.extend(children);
        (others, next) = (rest, next + 1);
    }
    others.extend(line);
    let is_guard = |entry: &Entry| {
        let hides_or_says_so = environ(entry.pid).is_none_or(|it| {
            value(&it, Marker::KEEPER).is_some()
                && value(&it, Marker::NAME).is_none_or(|it| own.marker.as_deref() == Some(it))
        });
        hides_or_says_so && arguments(entry.pid).is_some_and(|it| is_keeper_command(&it))
    };
    let keepers = keepers_among(&found, is_guard, &arguments);
    let (keepers, agents) = found
        .into_iter()
        .partition(|entry| keepers.contains(&entry.pid));
    Census {
        agents,
        keepers,
        others,
    }
}

/// The numbers of guards and keepers. Nothing that an agent starts can pass for one: its parents are among `found`, while a
/// guard's are not, and a keeper is the first child of its guard, older than the agent itself.
fn keepers_among(
    found: &[Entry],
    is_guard: impl Fn(&Entry) -> bool,
    arguments: impl Fn(u32) -> Option<Vec<u8>>,
) -> Vec<u32> {
    let is_top = |entry: &Entry| !found.iter().any(|other| other.pid == entry.parent);
    let first_child = |guard: u32| {
        let children = found.iter().filter(|entry| entry.parent == guard);
        children.min_by_key(|entry| (entry.started, entry.pid))
    };
    let mut keepers = Vec::new();
    for guard in found
        .iter()
        .filter(|entry| is_top(entry) && is_guard(entry))
    {
        keepers.push(guard.pid);
        // A fork of the guard, so both have the same arguments.
        let keeper =
            first_child(guard.pid).filter(|child| arguments(child.pid) == arguments(guard.pid));
        keepers.extend(keeper.map(|keeper| keeper.pid));
    }
    keepers
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
    }
}

/// One walk. None if a process is gone, its number was given to another, or the first one hides what it was started with.
fn walk(
    pid: u32,
    own: &Own,
    look: impl Fn(u32) -> Option<Entry>,
    environ: impl Fn(u32) -> Option<Vec<u8>>,
    arguments: impl Fn(u32) -> Option<Vec<u8>>,
) -> Option<bool> {
    let (mut now, mut child_started) = (pid, u64::MAX);
    for _ in 0..MOST_PARENTS {
        let entry = look(now)?;
        if entry.started > child_started {
            return None;
        }
        if own.line.contains(&(now, entry.started)) {
            return Some(false);
        }
        match environ(now) {
            Some(environ) if is_marked(&environ, own) => return Some(true),
            None if now == pid => return None,
            None if arguments(now).is_some_and(|it| is_keeper_command(&it)) => return Some(true),
            // A parent of another user, `sudo` or the first process of all, is passed over; so is one that hides.
            _ => {}
        }
        if entry.parent == 0 {
            return Some(false);
        }
        (now, child_started) = (entry.parent, entry.started);
    }
    None
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

    /// `pid`, its parent, what it was started with (None: it hides that). All started at 10 times their number.
    type One = (u32, u32, Option<&'static [u8]>);

    fn ask(all: &[One], pid: u32, own: &Own) -> Option<bool> {
        let one = |pid: u32| all.iter().find(|(one, ..)| *one == pid);
        let look = |pid| {
            one(pid).map(|(pid, parent, _)| Entry {
                pid: *pid,
                parent: *parent,
                group: *pid,
                session: *pid,
                started: u64::from(*pid) * 10,
                ended: false,
                command: "x".into(),
            })
        };
        walk(
            pid,
            own,
            look,
            |pid| one(pid)?.2.map(<[u8]>::to_vec),
            |_| None,
        )
    }

    fn own(marker: Option<&[u8]>, line: &[(u32, u64)]) -> Own {
        Own {
            line: line.to_vec(),
            marker: marker.map(<[u8]>::to_vec),
        }
    }

    #[test]
    fn who_comes_from_an_agent_or_its_keeper_is_known_by_any_parent() {
        let all: [One; 8] = [
            (1, 0, None),
            (2, 1, Some(KEEPER)),
            (3, 2, Some(AGENT)),
            (4, 3, Some(b"")),
            (5, 4, None),
            (6, 5, Some(b"A=1\0")),
            (7, 2, Some(b"")),
            (8, 1, Some(b"XCOUNTERSIGN_AGENT=0\0COUNTERSIGN_AGENTS=0\0")),
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
        let all: [One; 2] = [(5, 4, Some(b"")), (6, 5, Some(b""))];
        assert_eq!(ask(&all, 6, &own(None, &[])), None);
    }

    #[test]
    fn what_this_process_comes_from_does_not_count() {
        let all: [One; 5] = [
            (1, 0, None),
            (2, 1, Some(AGENT)),
            (3, 2, Some(AGENT)),
            (4, 3, Some(AGENT)),
            (5, 2, Some(b"COUNTERSIGN_AGENT=ff\0")),
        ];
        let own = own(Some(b"00"), &[(3, 30), (2, 20), (1, 10)]);
        assert_eq!(ask(&all, 4, &own), Some(false));
        assert_eq!(ask(&all, 5, &own), Some(true));
        // Another process has a number of the line.
        let other = Own {
            line: vec![(3, 31)],
            marker: None,
        };
        assert_eq!(ask(&all, 4, &other), Some(true));
    }

    const KEEPS: &[u8] = b"/bin/x\0keeper\0--dir\0/s\0--generation\x002\0";

    /// Everybody, as they hide and show what they were started with.
    fn sorted(all: &[(One, &'static [u8])]) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let one = |pid: u32| all.iter().find(|((one, ..), _)| *one == pid).unwrap();
        let entry = |((pid, parent, _), _): &(One, &[u8])| Entry {
            pid: *pid,
            parent: *parent,
            group: *pid,
            session: *pid,
            started: u64::from(*pid) * 10,
            ended: false,
            command: "x".into(),
        };
        let found = sort(
            all.iter().map(entry).collect(),
            &own(None, &[]),
            |pid| one(pid).0.2.map(<[u8]>::to_vec),
            |pid| Some(one(pid).1.to_vec()),
        );
        let pids = |all: Vec<Entry>| {
            let mut pids: Vec<u32> = all.iter().map(|it| it.pid).collect();
            pids.sort_unstable();
            pids
        };
        (pids(found.agents), pids(found.keepers), pids(found.others))
    }

    #[test]
    fn guard_and_keeper_are_told_from_what_their_agent_starts() {
        let found = sorted(&[
            ((1, 0, None), b"init\0"),
            ((2, 1, Some(KEEPER)), KEEPS),
            // The keeper hides its environment.
            ((3, 2, None), KEEPS),
            ((4, 3, Some(AGENT)), b"claude\0"),
            // These call themselves keepers.
            ((5, 4, Some(KEEPER)), KEEPS),
            ((6, 3, None), KEEPS),
            ((7, 2, None), KEEPS),
            ((8, 1, Some(b"")), b"sh\0"),
        ]);
        assert_eq!(found, (vec![4, 5, 6, 7], vec![2, 3], vec![1, 8]));
    }

    #[test]
    fn a_keeper_without_its_guard_is_known_by_its_command_line() {
        let all: [(One, &'static [u8]); 4] = [
            ((1, 0, None), b"init\0"),
            ((3, 1, None), KEEPS),
            ((4, 3, Some(b"")), b"sh\0"),
            ((5, 1, Some(AGENT)), KEEPS),
        ];
        assert_eq!(sorted(&all), (vec![4, 5], vec![3], vec![1]));
        let one = |pid: u32| all.iter().find(|((one, ..), _)| *one == pid);
        let look = |pid| {
            one(pid).map(|((pid, parent, _), _)| Entry {
                pid: *pid,
                parent: *parent,
                group: *pid,
                session: *pid,
                started: u64::from(*pid),
                ended: false,
                command: "x".into(),
            })
        };
        let environ = |pid| one(pid)?.0.2.map(<[u8]>::to_vec);
        let arguments = |pid| one(pid).map(|it| it.1.to_vec());
        let from_agent = walk(4, &own(None, &[]), look, environ, arguments);
        assert_eq!(from_agent, Some(true));
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
