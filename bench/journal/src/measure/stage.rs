//! An agent, set up one of three ways, and somebody who follows it.
//!
//! Owns the processes of one run: the agent alone, or guard, keeper and agent. The agent takes its orders over a socket of its
//! own, so that it is the same program whatever its stdout is. Invariant: when a stage has ended, none of its processes is left.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use tempfile::TempDir;

use super::Place;
use super::agent::Order;
use super::follow::{Follow, OverFile, OverJournal, OverPipe, Wake};
use super::kept::Kept;
use super::usage::{self, Memory};

/// Between the agent and whoever follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// A pipe: nothing is kept, and the agent ends with its host.
    Pipe,
    /// Stdout is a file, stdin a FIFO: the least that outlives a host.
    Fifo,
    /// A keeper and its journal.
    Keeper,
}

impl Side {
    pub(crate) const ALL: [Self; 3] = [Self::Pipe, Self::Fifo, Self::Keeper];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Pipe => "pipe",
            Self::Fifo => "fifo",
            Self::Keeper => "keeper",
        }
    }
}

/// Whose child the agent is.
#[derive(Debug)]
enum Parent {
    Us(Child),
    Keeper(Kept),
}

pub(crate) struct Stage {
    parent: Parent,
    orders: BufReader<UnixStream>,
    follower: Box<dyn Follow>,
    /// Removed at the end.
    _folders: [TempDir; 2],
}

impl Stage {
    pub(crate) fn set(side: Side, place: &Place) -> anyhow::Result<Self> {
        let data = tempfile::tempdir_in(&place.data).context("no folder for the run")?;
        // Beside the data its path could be too long for a socket.
        let sockets = tempfile::tempdir().context("no folder for sockets")?;
        let path = sockets.path().join("orders.s");
        let listener = UnixListener::bind(&path)?;
        let mut agent = Command::new(std::env::current_exe()?);
        agent.arg("agent").arg(&path).env_clear();
        let (parent, follower): (Parent, Box<dyn Follow>) = match side {
            Side::Pipe => {
                let mut child = agent.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
                let pipe = child.stdout.take().context("no pipe")?;
                (Parent::Us(child), Box::new(OverPipe::new(pipe.into())))
            }
            Side::Fifo => {
                let (stdin, out) = (data.path().join("in"), data.path().join("out"));
                let stdin = fifo(&stdin)?;
                let file = std::fs::File::options()
                    .create_new(true)
                    .append(true)
                    .open(&out)?;
                let child = agent.stdin(stdin).stdout(file).spawn()?;
                (Parent::Us(child), Box::new(OverFile::open(&out)?))
            }
            Side::Keeper => {
                let mut kept = Kept::start(&place.keeper, &agent, data.path(), sockets.path())?;
                let wake = Wake::Tail(kept.attach()?);
                let follower = OverJournal::open(&kept.dir, wake)?;
                (Parent::Keeper(kept), Box::new(follower))
            }
        };
        let (orders, _) = listener.accept().context("the agent does not ask")?;
        Ok(Self {
            parent,
            orders: BufReader::new(orders),
            follower,
            _folders: [data, sockets],
        })
    }

    pub(crate) fn order(&mut self, order: Order) -> anyhow::Result<()> {
        Ok(self.orders.get_mut().write_all(order.text().as_bytes())?)
    }

    /// Waits until the agent has done what it was told.
    pub(crate) fn done(&mut self) -> anyhow::Result<()> {
        let mut line = String::new();
        self.orders.read_line(&mut line)?;
        ensure!(line == "done\n", "the agent said {line:?}");
        Ok(())
    }

    pub(crate) fn follow(&mut self, lines: u64, each: &mut dyn FnMut(&[u8])) -> anyhow::Result<()> {
        self.follower.follow(lines, each)
    }

    pub(crate) fn kept(&mut self) -> anyhow::Result<&mut Kept> {
        match &mut self.parent {
            Parent::Keeper(kept) => Ok(kept),
            Parent::Us(_) => bail!("this agent has no keeper"),
        }
    }

    /// What the keeper has worked; nothing where there is none.
    pub(crate) fn keeper_cpu(&self) -> anyhow::Result<Duration> {
        match &self.parent {
            Parent::Us(_) => Ok(Duration::ZERO),
            Parent::Keeper(kept) => usage::cpu(kept.keeper),
        }
    }

    /// Guard and keeper.
    pub(crate) fn memory(&self) -> anyhow::Result<[Memory; 2]> {
        match &self.parent {
            Parent::Us(_) => bail!("this agent has no keeper"),
            Parent::Keeper(kept) => Ok([usage::memory(kept.guard)?, usage::memory(kept.keeper)?]),
        }
    }

    /// Ends the agent, and waits until all that was started is gone.
    pub(crate) fn end(self) -> anyhow::Result<()> {
        let Self {
            parent,
            orders,
            follower,
            _folders,
        } = self;
        // No more orders: the agent ends by itself, and its keeper behind it.
        drop(orders);
        match parent {
            Parent::Us(mut child) => {
                drop(child.stdin.take());
                ensure!(child.wait()?.success(), "the agent failed");
            }
            Parent::Keeper(kept) => kept.wait()?,
        }
        drop(follower);
        Ok(())
    }
}

/// A FIFO that is open both ways, so that nobody sees an end while no writer is there.
fn fifo(path: &PathBuf) -> anyhow::Result<std::fs::File> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    let file = std::fs::File::options().read(true).write(true).open(path)?;
    Ok(file)
}
