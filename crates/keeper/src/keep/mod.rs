//! The keeper: one thread, one loop, between an agent, its journal and whatever host is there.
//!
//! Owns the loop and what it knows. `opening` brings it about; `output` is the agent's side of it, `hosts` and `puts` the
//! other, `ending` its end. Invariants: nothing is passed on before it is journalled; nothing is waited for but `poll`.

mod agent;
mod book;
mod client;
mod ending;
mod hosts;
mod line;
mod numbers;
mod opening;
mod output;
mod peer;
mod pipe;
mod plan;
mod puts;
mod questions;
mod signals;
mod stdin;
mod turn;

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use countersign_journal::{Exit, KeeperEvent};
use countersign_process::return_memory;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::Mode;

use crate::clock;
use crate::folder::Folder;
use crate::guard::{Report, Reporter};
use crate::habits::Habits;
use crate::lock;
use crate::protocol::FromKeeper;
use crate::socket::Listening;
use agent::Agent;
use book::{Book, FOLDER_REMOVED, Trouble};
use client::Client;
use numbers::Numbers;
use pipe::Pipe;
use plan::Plan;
use questions::Questions;
use signals::Signals;
use stdin::Stdin;
use turn::Turn;

/// How often a full disk is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// How long buffers are kept after they were used. Longer than a line takes to follow another one.
const KEEP_BUFFERS: Duration = Duration::from_secs(1);

/// How long a system that cannot even be waited on is left alone.
const SHORT: Duration = Duration::from_millis(20);

/// What a keeper begins with.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) folder: Folder,
    pub(crate) generation: u32,
    /// The guard, if there is one.
    pub(crate) guard: Option<u32>,
    pub(crate) habits: Habits,
    /// The mask of file modes that the agent is to have.
    pub(crate) umask: Mode,
    /// `keeper.lock`.
    pub(crate) lock: File,
}

/// What does not change.
#[derive(Debug)]
struct Facts {
    session: String,
    generation: u32,
    guard: Option<u32>,
    run: PathBuf,
    token: String,
}

#[derive(Debug)]
enum Phase {
    Live,
    /// The agent has ended; what is left in its pipes is taken until then.
    Draining {
        exit: Exit,
        until: Duration,
    },
    /// Its exit is recorded. Nothing comes behind that.
    Gone,
}

/// Nothing can be written.
#[derive(Debug, Clone, Copy)]
struct Pause {
    errno: i32,
    retry: Duration,
}

struct Keeper {
    facts: Facts,
    habits: Habits,
    folder: Folder,
    /// Held until the end: who has it, lives.
    lock: File,
    book: Book,
    agent: Agent,
    stdin: Stdin,
    stdout: Pipe,
    stderr: Pipe,
    questions: Questions,
    numbers: Numbers,
    plan: Plan,
    why_end: Option<String>,
    phase: Phase,
    epoch: u64,
    clients: Vec<Client>,
    next_client: u64,
    listening: Listening,
    look_at_socket: Duration,
    signals: Signals,
    turn: Turn,
    paused: Option<Pause>,
    /// Hosts came or went while nothing could be written.
    missed_hosts: bool,
    /// Nobody is let in until then.
    deaf_until: Option<Duration>,
    /// When the buffers are given back, if they may have been used.
    shrink_due: Option<Duration>,
    refused_at: Option<Duration>,
    /// Why nothing is written any more, if so.
    broken: Option<String>,
}

/// What has something for us.
#[derive(Debug, Clone, Copy)]
enum Ready {
    Signals,
    Listener,
    Stdout,
    Stderr,
    Stdin,
    Client(u64),
}

/// Starts the agent, keeps it to its end, and returns when nothing of it is left.
pub(crate) fn run(start: Start, reporter: Reporter) -> ExitCode {
    let keeper = match opening::open(start) {
        Ok(keeper) => keeper,
        Err(refused) => return reporter.refuse(refused.why, refused.text),
    };
    let told = keeper.facts.keeper_json(&keeper.listening, &keeper.habits);
    reporter.report(&Report::Ready {
        socket: told.socket,
        guard: told.guard,
        keeper: told.keeper,
    });
    keeper.serve()
}

impl Keeper {
    fn serve(mut self) -> ExitCode {
        loop {
            self.on_time(clock::boot());
            if self.is_drained(clock::boot()) {
                return self.finish();
            }
            let ready = self.wait();
            if let Some(jump) = self.book.look_at_clock() {
                self.record(&KeeperEvent::Clock { jump });
            }
            if !ready.is_empty() {
                let due = || clock::boot() + KEEP_BUFFERS;
                self.shrink_due.get_or_insert_with(due);
            }
            for one in ready {
                self.on_ready(one);
            }
            self.write_to_hosts();
        }
    }

    fn on_ready(&mut self, ready: Ready) {
        match ready {
            Ready::Signals => self.on_signals(),
            Ready::Listener => self.on_connection(),
            Ready::Stdout => self.on_stdout(),
            Ready::Stderr => self.on_stderr(),
            Ready::Stdin => self.write_to_agent(),
            Ready::Client(id) => self.on_client(id),
        }
    }

    /// Waits until something is ready or due.
    fn wait(&self) -> Vec<Ready> {
        let mut who = Vec::with_capacity(5 + self.clients.len());
        let mut fds = Vec::with_capacity(5 + self.clients.len());
        let mut add = |ready, fd| {
            who.push(ready);
            fds.push(fd);
        };
        add(
            Ready::Signals,
            PollFd::new(&self.signals.pipe, PollFlags::IN),
        );
        if self.deaf_until.is_none() {
            add(
                Ready::Listener,
                PollFd::new(&self.listening.listener, PollFlags::IN),
            );
        }
        // While nothing can be written nothing is read: the agent waits at its full pipe, and nothing is lost. One that
        // has ended waits for nobody; what is left in its pipes is little.
        if self.paused.is_none() || matches!(self.phase, Phase::Draining { .. }) {
            if let Some(file) = self.stdout.file() {
                add(Ready::Stdout, PollFd::new(file, PollFlags::IN));
            }
            if let Some(file) = self.stderr.file() {
                add(Ready::Stderr, PollFd::new(file, PollFlags::IN));
            }
        }
        if let Some(pipe) = self.stdin.wanting() {
            add(Ready::Stdin, PollFd::new(pipe, PollFlags::OUT));
        }
        for client in &self.clients {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, !client.is_leaving() && !client.has_more());
            flags.set(PollFlags::OUT, client.has_to_say());
            add(Ready::Client(client.id), PollFd::new(&client.stream, flags));
        }
        match poll(&mut fds, self.patience().as_ref()) {
            Ok(_) => {}
            // By a signal, whose byte is in the pipe by now.
            Err(rustix::io::Errno::INTR) => return Vec::new(),
            // The system is short of something. Asking again at once would not help it.
            Err(_) => {
                std::thread::sleep(SHORT);
                return Vec::new();
            }
        }
        let is_ready = fds.iter().map(|fd| !fd.revents().is_empty());
        who.into_iter()
            .zip(is_ready)
            .filter(|(who, is_ready)| *is_ready || self.has_more(*who))
            .map(|(who, _)| who)
            .collect()
    }

    /// How long nothing has to be done.
    fn patience(&self) -> Option<Timespec> {
        let is_busy = self.clients.iter().any(Client::has_more);
        let due = if is_busy {
            Some(Duration::ZERO)
        } else {
            self.next_due()
        };
        due.map(|due| due.saturating_sub(clock::boot()))
            .and_then(|left| Timespec::try_from(left).ok())
    }

    fn has_more(&self, who: Ready) -> bool {
        let Ready::Client(id) = who else {
            return false;
        };
        let mut clients = self.clients.iter();
        clients.any(|client| client.id == id && client.has_more())
    }

    fn next_due(&self) -> Option<Duration> {
        let draining = match &self.phase {
            Phase::Draining { until, .. } => Some(*until),
            Phase::Live | Phase::Gone => None,
        };
        let clients = self.clients.iter().filter_map(Client::until);
        [
            self.book.sync_due(),
            self.plan.until(),
            self.paused.map(|pause| pause.retry),
            Some(self.look_at_socket),
            self.deaf_until,
            self.shrink_due,
            draining,
        ]
        .into_iter()
        .flatten()
        .chain(clients)
        .min()
    }

    fn on_time(&mut self, now: Duration) {
        if self.book.sync_due().is_some_and(|due| due <= now) {
            self.sync();
        }
        if let Some(step) = self.plan.tick(now) {
            self.take(step);
        }
        if self.paused.is_some_and(|pause| pause.retry <= now) {
            self.try_to_resume(now);
        }
        if self.look_at_socket <= now {
            self.look_at_socket = now + Duration::from_millis(self.habits.rebind_ms);
            match self.what_was_removed() {
                None => self.bind_anew_if_gone(),
                // Whoever comes next would find no lock, or no journal, and start another agent.
                Some(what) => self.fail(what),
            }
        }
        self.deaf_until = self.deaf_until.filter(|until| *until > now);
        self.cut_late(now);
        if self.shrink_due.is_some_and(|due| due <= now) {
            self.shrink_due = None;
            self.shrink();
        }
    }

    /// Says what was removed, where others would no longer meet our lock or find what we write.
    fn what_was_removed(&self) -> Option<&'static str> {
        if !lock::is_at(&self.lock, &self.folder.keeper_lock()) {
            return Some(FOLDER_REMOVED);
        }
        (!self.book.has_name()).then(|| self.book.what_was_removed())
    }

    /// Gives the memory of all buffers back to the system. Most of the time an agent waits for somebody, and so do many.
    fn shrink(&mut self) {
        self.book.shrink();
        self.stdout.shrink();
        self.stderr.shrink();
        for client in &mut self.clients {
            client.shrink();
        }
        return_memory();
    }

    /// Brings the journal to the disk. `false` if that failed: then the agent is being ended.
    fn sync(&mut self) -> bool {
        let synced = self.book.sync();
        synced.map_err(|trouble| self.on_trouble(&trouble)).is_ok()
    }

    /// Records something that happened. On a full disk the end takes of the room that is kept; hosts that come and go, or
    /// are turned away, do not: as often as they like they could use it up.
    fn record(&mut self, event: &KeeperEvent) {
        if matches!(self.phase, Phase::Gone) {
            return;
        }
        let mut tried = Err(Trouble::Full(0));
        if self.paused.is_none() {
            self.book.push_event(event);
            tried = self.book.commit(false);
            if let Err(trouble) = &tried {
                self.on_trouble(trouble);
            }
        }
        let may_use_reserve = matches!(
            event,
            KeeperEvent::Exit(_) | KeeperEvent::Ending { .. } | KeeperEvent::Paused { .. }
        );
        if tried.is_err() && may_use_reserve && self.broken.is_none() {
            self.book.push_event(event);
            tried = self.book.commit(true);
        }
        self.missed_hosts |= tried.is_err()
            && matches!(
                event,
                KeeperEvent::Attached { .. } | KeeperEvent::Detached { .. }
            );
        match tried {
            Ok(()) => self.tell_tail(),
            Err(trouble) => self.log(&format!("not recorded ({trouble:?}): {event:?}")),
        }
    }

    /// Who owns the agent now, if that was not recorded when it came about.
    fn push_missed(&mut self) {
        if self.missed_hosts {
            let epoch = self.epoch;
            self.book.push_event(&KeeperEvent::Attached { epoch });
            if self.owner().is_none() {
                self.book.push_event(&KeeperEvent::Detached { epoch });
            }
        }
    }

    fn on_trouble(&mut self, trouble: &Trouble) {
        match trouble {
            Trouble::Full(errno) => self.pause(*errno),
            Trouble::Broken(why) => self.fail(why),
        }
    }

    fn pause(&mut self, errno: i32) {
        let retry = clock::boot() + RETRY;
        let was_paused = self.paused.replace(Pause { errno, retry }).is_some();
        if !was_paused {
            let why = std::io::Error::from_raw_os_error(errno);
            self.log(&format!(
                "nothing can be written, so the agent waits: {why}"
            ));
            self.record(&KeeperEvent::Paused { errno });
            self.say_to_all(&FromKeeper::Paused { errno });
        }
    }

    fn try_to_resume(&mut self, now: Duration) {
        if let Some(pause) = &mut self.paused {
            pause.retry = now + RETRY;
        }
        if !self.journal_stdout() || !self.journal_stderr() {
            return;
        }
        self.book.push_event(&KeeperEvent::Resumed);
        self.push_missed();
        match self.book.commit(false) {
            Ok(()) => {
                self.paused = None;
                self.missed_hosts = false;
                self.tell_tail();
                self.say_to_all(&FromKeeper::Resumed);
            }
            Err(trouble) => self.on_trouble(&trouble),
        }
    }

    /// Nothing can be journalled any more, so nothing may happen any more.
    fn fail(&mut self, why: &str) {
        if self.broken.is_some() {
            return;
        }
        self.broken = Some(why.to_owned());
        self.log(why);
        self.end(crate::protocol::EndPlan::Kill, why);
    }

    /// A line in `keeper.log`.
    fn log(&self, text: &str) {
        // Nothing is left to report to if it is gone, too.
        let _ = writeln!(std::io::stderr(), "keeper: {text}");
    }
}
