//! What one more follower costs: the process that follows, and the keeper that wakes it.
//!
//! Owns two measurements. A process of its own opens 1 and then 100 readers of a short and of a long journal and reads each to
//! its end: what memory the 99 took must not depend on the length. And 1 or 50 watchers of a live keeper, each with its
//! reader, for a stream of single lines: what that costs either side a line.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use countersign_journal::Reader;
use countersign_keeper::protocol::Role;
use rustix::event::{PollFd, PollFlags, poll};

use super::agent::{Line, Order};
use super::kept::Connection;
use super::raw::Raw;
use super::stage::{Side, Stage};
use super::{Place, Size};
use super::{chain, follow, usage};

/// Readers in one process.
const CROWD: usize = 100;
/// Connections to one keeper, which takes 64.
const WATCHERS: usize = 50;

pub(crate) fn measure(place: &Place, size: &Size) -> anyhow::Result<()> {
    for (case, records) in size.crowd {
        eprintln!("followers: {case}");
        readers(&place.data, case, records)?;
    }
    for watchers in [1, WATCHERS] {
        eprintln!("followers: {watchers} on a keeper");
        live(place, watchers, size.crowd_lines)?;
    }
    Ok(())
}

/// Starts `crowd` on a journal of that many records.
fn readers(dir: &Path, case: &str, records: u64) -> anyhow::Result<()> {
    let dir = tempfile::tempdir_in(dir)?;
    let journal = dir.path().join("journal");
    let mut writer = chain::open(&journal)?;
    chain::fill(&mut writer, Line::new(300).payload(), records, 300)?;
    let ran = Command::new(std::env::current_exe()?)
        .args(["crowd", case])
        .arg(&journal)
        .stderr(Stdio::inherit())
        .stdout(Stdio::inherit())
        .status()?;
    ensure!(ran.success(), "the followers failed");
    Ok(())
}

/// The followers' side: `crowd <case> <journal>`.
pub(crate) fn main(case: &str, journal: &Path) -> anyhow::Result<()> {
    let us = std::process::id();
    let mut readers = Vec::with_capacity(CROWD);
    let read = |readers: &mut Vec<Reader>| -> anyhow::Result<u64> {
        let mut reader = Reader::open(journal)?;
        let lines = follow::drain(&mut reader, &mut |_| ())?;
        readers.push(reader);
        Ok(lines)
    };
    let lines = read(&mut readers)?;
    let (one, cpu) = (usage::memory(us)?, usage::own_cpu());
    while readers.len() < CROWD {
        ensure!(read(&mut readers)? == lines, "a follower missed a line");
    }
    let (all, cpu) = (usage::memory(us)?, usage::own_cpu() - cpu);
    let more = (CROWD - 1) as f64;
    Raw::new("readers", case, "one more")
        .with("records", lines as f64)
        .with("own_kib", (all.own as f64 - one.own as f64) / more)
        .with("rss_kib", (all.rss as f64 - one.rss as f64) / more)
        .with(
            "cpu_us_a_record",
            cpu.as_secs_f64() * 1e6 / more / lines as f64,
        )
        .tell()
}

/// A watcher: where it is woken, and where it reads.
#[derive(Debug)]
struct Watcher {
    connection: Connection,
    reader: Reader,
    seen: u64,
}

impl Watcher {
    fn look(&mut self) -> anyhow::Result<()> {
        self.connection.read()?;
        self.reader.set_limit(self.connection.tail());
        self.seen += follow::drain(&mut self.reader, &mut |_| ())?;
        Ok(())
    }
}

fn live(place: &Place, count: usize, lines: u64) -> anyhow::Result<()> {
    let mut stage = Stage::set(Side::Keeper, place)?;
    let mut watchers = Vec::with_capacity(count);
    for _ in 0..count {
        let kept = stage.kept()?;
        watchers.push(Watcher {
            connection: kept.connect(Role::Watch)?,
            reader: Reader::open(&kept.dir)?,
            seen: 0,
        });
    }
    let (keeper, us) = (stage.keeper_cpu()?, usage::own_cpu());
    stage.order(Order::Paced {
        lines,
        length: 300,
        pause: Duration::from_millis(3),
    })?;
    while watchers.iter().any(|watcher| watcher.seen < lines) {
        let woken = wait(&watchers)?;
        for (watcher, is_woken) in watchers.iter_mut().zip(woken) {
            if is_woken {
                watcher.look()?;
            }
        }
    }
    let us = usage::own_cpu() - us;
    // Its own time is only known while it does not run.
    std::thread::sleep(Duration::from_millis(20));
    let keeper = stage.keeper_cpu()? - keeper;
    let [_, memory] = stage.memory()?;
    stage.done()?;
    drop(watchers);
    stage.end()?;
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / lines as f64;
    Raw::new("watchers", count.to_string(), "keeper")
        .with("keeper_us_a_line", micros(keeper))
        .with("follower_us_a_line", micros(us))
        .with("keeper_own_kib", memory.own as f64)
        .tell()
}

/// Which of them have something to read.
fn wait(watchers: &[Watcher]) -> anyhow::Result<Vec<bool>> {
    let mut sockets: Vec<PollFd<'_>> = watchers
        .iter()
        .map(|watcher| PollFd::new(&watcher.connection.socket, PollFlags::IN))
        .collect();
    let limit = rustix::time::Timespec {
        tv_sec: 10,
        tv_nsec: 0,
    };
    let ready = poll(&mut sockets, Some(&limit)).context("cannot wait")?;
    ensure!(ready > 0, "no watcher was woken within ten seconds");
    Ok(sockets
        .iter()
        .map(|one| !one.revents().is_empty())
        .collect())
}
