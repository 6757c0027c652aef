//! An agent under a keeper, from the host's side, with the raw protocol.
//!
//! Owns the start and the end of one. The token is none that anything depends on.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use countersign_journal::Tail;
use countersign_keeper::protocol::{FromKeeper, PROTO, Role, ToKeeper};
use countersign_keeper::{Arg, Graces, KeeperCommand, Order};
use countersign_process::Marker;

use super::usage;

const TOKEN: &str = "bench";
const SESSION: &str = "bench";

#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) dir: PathBuf,
    pub(crate) guard: u32,
    pub(crate) keeper: u32,
    socket: PathBuf,
    epoch: u64,
}

impl Kept {
    pub(crate) fn start(
        keeper: &KeeperCommand,
        agent: &Command,
        dir: &Path,
        run: &Path,
    ) -> anyhow::Result<Self> {
        let order = Order {
            session: SESSION.to_owned(),
            generation: 1,
            dir: dir.to_owned(),
            run: run.to_owned(),
            program: agent.get_program().to_owned(),
            args: agent
                .get_args()
                .map(|arg| Arg::Plain(arg.to_owned()))
                .collect(),
            cwd: dir.to_owned(),
            env: Vec::new(),
            token: TOKEN.to_owned(),
            marker: Marker::of(u128::from(usage::now()) << 64 | u128::from(std::process::id())),
            graces: Graces::default(),
            kill_first: false,
        };
        let started = countersign_keeper::start(keeper, &order)?;
        Ok(Self {
            dir: dir.to_owned(),
            guard: started.guard,
            keeper: started.keeper,
            socket: started.socket,
            epoch: 0,
        })
    }

    /// Attaches as the owner.
    pub(crate) fn attach(&mut self) -> anyhow::Result<Connection> {
        self.epoch += 1;
        self.connect(Role::Own)
    }

    /// Connects, and is told from then on whenever the journal has grown.
    pub(crate) fn connect(&self, role: Role) -> anyhow::Result<Connection> {
        let mut socket = UnixStream::connect(&self.socket).context("no keeper listens")?;
        let hello = ToKeeper::Hello {
            proto: PROTO,
            epoch: self.epoch,
            token: TOKEN.to_owned(),
            role,
        };
        let mut text = serde_json::to_vec(&hello)?;
        text.push(b'\n');
        socket.write_all(&text)?;
        let mut connection = Connection {
            socket,
            text: Vec::new(),
            tail: None,
        };
        while connection.tail.is_none() {
            connection.read()?;
        }
        Ok(connection)
    }

    /// Waits until guard and keeper have ended. Their agent has been told to.
    pub(crate) fn wait(self) -> anyhow::Result<()> {
        let deadline = Instant::now() + Duration::from_secs(20);
        for pid in [self.keeper, self.guard] {
            while is_running(pid) {
                ensure!(Instant::now() < deadline, "process {pid} does not end");
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        Ok(())
    }
}

/// A host's end of the socket.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) socket: UnixStream,
    /// What is no whole message yet.
    text: Vec<u8>,
    tail: Option<Tail>,
}

impl Connection {
    /// How far the journal goes, as far as was told.
    pub(crate) fn tail(&self) -> Option<Tail> {
        self.tail
    }

    /// Reads once. Of several tails the last counts.
    pub(crate) fn read(&mut self) -> anyhow::Result<()> {
        let mut piece = [0; 4096];
        let read = self.socket.read(&mut piece)?;
        ensure!(read > 0, "the keeper has gone");
        self.text.extend_from_slice(&piece[..read]);
        while let Some(end) = memchr::memchr(b'\n', &self.text) {
            match serde_json::from_slice(&self.text[..end])? {
                FromKeeper::Welcome(standing) => self.tail = Some(standing.tail),
                FromKeeper::Tail(tail) => self.tail = Some(tail),
                FromKeeper::Refused { why, .. } => bail!("the keeper refused: {why:?}"),
                _ => {}
            }
            self.text.drain(..=end);
        }
        Ok(())
    }
}

/// Whether it runs; one that has ended and waits to be collected does not.
fn is_running(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.as_bytes()[0]);
    !matches!(state, None | Some(b'Z' | b'X'))
}
