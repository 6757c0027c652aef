//! From an order to a running agent, each step only after the one before it holds.
//!
//! Owns the order of the start: locks, generation, `open` on the disk, socket, agent, `spawned`. Invariant: there is no
//! agent before its generation is on the disk, so there is never a second one of the same number.

use std::io::{self, Read as _};
use std::time::Duration;

use countersign_journal::{Exit, KeeperEvent, Limits, OpenError, SpawnedAgent, Writer};
use countersign_process::{become_subreaper, return_memory, started};

use super::agent::{Agent, Pipes};
use super::book::{Book, Trouble};
use super::numbers::Numbers;
use super::pipe::Pipe;
use super::plan::Plan;
use super::questions::Questions;
use super::signals::Signals;
use super::stdin::Stdin;
use super::turn::Turn;
use super::{Facts, KEEP_BUFFERS, Keeper, Phase, Start};
use crate::folder::{KeeperJson, boot_id};
use crate::guard::{Why, null};
use crate::protocol::PROTO;
use crate::socket::Listening;
use crate::spec::{Parcel, Secrets, Spec};
use crate::{clock, lock};

/// Why there is no agent.
#[derive(Debug)]
pub(super) struct NotOpened {
    pub(super) why: Why,
    pub(super) text: String,
}

impl NotOpened {
    fn new(why: Why, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { why, text }
    }
}

fn failed(what: &'static str) -> impl FnOnce(io::Error) -> NotOpened {
    move |error| NotOpened::new(Why::Failed, format!("{what}: {error}"))
}

impl From<Trouble> for NotOpened {
    fn from(trouble: Trouble) -> Self {
        let text = match trouble {
            Trouble::Full(errno) => io::Error::from_raw_os_error(errno).to_string(),
            Trouble::Broken(text) => text,
        };
        Self::new(Why::Failed, format!("the journal: {text}"))
    }
}

pub(super) fn open(start: Start) -> Result<Keeper, NotOpened> {
    let signals = Signals::listen().map_err(failed("signals"))?;
    become_subreaper().map_err(failed("subreaper"))?;
    #[cfg(target_os = "linux")]
    if let Some(guard) = start.guard {
        countersign_process::hear_of_parents_death(guard).map_err(failed("the guard"))?;
    }
    hide_memory();
    let Parcel { spec, secrets } = read_order(&start).map_err(failed("the order"))?;
    let agent_lock = lock::take(&start.folder.agent_lock())
        .map_err(failed("agent.lock"))?
        .ok_or_else(|| NotOpened::new(Why::Busy, "an agent of an earlier start still runs"))?;

    let (mut book, last_n, epoch) = open_journal(&start, &spec)?;
    let (listening, facts) = listen(&start, &spec, &secrets)?;
    let (agent, pipes) = match Agent::spawn(&secrets, &spec.marker, start.umask, agent_lock) {
        Ok(spawned) => spawned,
        Err(error) => return Err(cannot_spawn(book, error)),
    };
    let SpawnedAgent { pid, started } = agent.name;
    book.push_event(&KeeperEvent::Spawned { pid, started });
    book.commit(true)?;
    drop(secrets);
    return_memory();
    let Pipes {
        stdin,
        stdout,
        stderr,
    } = pipes;
    Ok(Keeper {
        look_at_socket: clock::boot() + Duration::from_millis(start.habits.rebind_ms),
        plan: Plan::new(spec.graces, spec.kill_first),
        numbers: Numbers::after(last_n),
        questions: Questions::default(),
        stdin: Stdin::new(stdin),
        stdout: Pipe::new(stdout),
        stderr: Pipe::new(stderr),
        clients: Vec::new(),
        next_client: 0,
        turn: Turn::default(),
        paused: None,
        missed_hosts: false,
        deaf_until: None,
        // What the start took is given back, too, once hosts have come.
        shrink_due: Some(clock::boot() + KEEP_BUFFERS),
        refused_at: None,
        broken: None,
        why_end: None,
        phase: Phase::Live,
        habits: start.habits,
        folder: start.folder,
        lock: start.lock,
        facts,
        book,
        agent,
        epoch,
        listening,
        signals,
    })
}

/// Keeps other processes of this user, the agent's shells among them, from reading the token in this process's memory.
fn hide_memory() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // One more hurdle; where it is not there, the others are.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// The order comes through stdin, which is then let go of.
fn read_order(start: &Start) -> io::Result<Parcel> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    rustix::stdio::dup2_stdin(null()?)?;
    let parcel: Parcel = serde_json::from_slice(&bytes)?;
    if parcel.spec.generation != start.generation {
        return Err(io::Error::other("it is for another generation"));
    }
    Ok(parcel)
}

/// Begins the generation, on the disk: its order, then its first record. Also returns the last number and the last epoch.
fn open_journal(start: &Start, spec: &Spec) -> Result<(Book, u64, u64), NotOpened> {
    let opened = Writer::open(
        &start.folder.journal(),
        &spec.session,
        start.generation,
        Limits::default(),
    );
    let (writer, carried) = opened.map_err(|error| {
        let why = match error {
            OpenError::Generation { .. } => Why::Generation,
            _ => Why::Failed,
        };
        NotOpened::new(why, error.to_string())
    })?;
    // The generation was not there, so an order of it that lies here came to nothing.
    let stored = spec.store(&start.folder);
    stored.map_err(failed("the order's file"))?;
    let mut book = Book::new(writer, &start.habits);
    book.push_event(&KeeperEvent::Open {
        generation: start.generation,
        boot_id: boot_id(),
        build: start.habits.build.clone(),
        proto: PROTO,
        argv: spec.argv.clone(),
        cwd: spec.cwd.clone(),
        env: spec.env.clone(),
        last_n: carried.last_n,
        epoch: carried.epoch,
    });
    book.commit(true)?;
    book.sync()?;
    start
        .folder
        .sync()
        .map_err(failed("the session's folder"))?;
    Ok((book, carried.last_n, carried.epoch))
}

/// Binds the socket and says in the folder where it is.
fn listen(start: &Start, spec: &Spec, secrets: &Secrets) -> Result<(Listening, Facts), NotOpened> {
    let folder = &start.folder;
    let listening = Listening::bind(&spec.run, folder.path()).map_err(failed("the socket"))?;
    let facts = Facts {
        session: spec.session.clone(),
        generation: start.generation,
        guard: start.guard,
        run: spec.run.clone(),
        token: secrets.token.clone(),
    };
    let told = folder.write_keeper_json(&facts.keeper_json(&listening, &start.habits));
    told.map_err(failed("keeper.json"))?;
    Ok((listening, facts))
}

fn cannot_spawn(mut book: Book, error: io::Error) -> NotOpened {
    let exit = Exit {
        error: Some(error.to_string()),
        ..Exit::default()
    };
    book.push_event(&KeeperEvent::Exit(exit));
    book.push_head();
    let recorded = book.commit(true).and_then(|()| book.sync());
    book.finish();
    match recorded {
        Ok(()) => NotOpened::new(Why::Agent, error.to_string()),
        Err(trouble) => trouble.into(),
    }
}

impl Facts {
    pub(super) fn keeper_json(&self, listening: &Listening, habits: &crate::Habits) -> KeeperJson {
        let keeper = std::process::id();
        let guard = self.guard.unwrap_or(keeper);
        KeeperJson {
            socket: listening.path.clone(),
            guard,
            keeper,
            started: started(keeper).unwrap_or_default(),
            guard_started: started(guard).unwrap_or_default(),
            boot_id: boot_id(),
            session: self.session.clone(),
            generation: self.generation,
            build: habits.build.clone(),
            proto: PROTO,
        }
    }
}
