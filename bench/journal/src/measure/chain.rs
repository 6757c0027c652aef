//! Throughput from one process to another: a reader behind a writer, and the whole chain from an agent to whoever follows it.
//!
//! Owns two parts. *Follow*: a process that writes a journal as fast as it can, another that reads behind it, and what reading
//! costs once it is written. *Chain*: an agent that floods, through each of the sides of [`Side`]. Invariant: the clock stops
//! when the last line was read, not when it was written.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use countersign_journal::{Kind, Limits, Reader, Writer};

use super::agent::{Line, Order};
use super::follow::{self, Follow as _, OverJournal, Wake};
use super::raw::Raw;
use super::stage::{Side, Stage};
use super::usage;
use super::{Place, Size};

/// A length of line, and how many of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) name: &'static str,
    pub(crate) lines: u64,
    pub(crate) length: usize,
}

impl Load {
    fn bytes(self) -> u64 {
        self.lines * self.length as u64
    }
}

pub(crate) fn measure(place: &Place, size: &Size) -> anyhow::Result<()> {
    for round in 1..=size.rounds {
        for load in &size.chain {
            eprintln!("chain: {}, round {round} of {}", load.name, size.rounds);
            for side in Side::ALL {
                let mut stage = Stage::set(side, place)?;
                let before = stage.keeper_cpu()?;
                let began = Instant::now();
                stage.order(Order::Flood {
                    lines: load.lines,
                    length: load.length,
                })?;
                stage.follow(load.lines, &mut |line| {
                    std::hint::black_box(line);
                })?;
                let took = began.elapsed();
                stage.done()?;
                let keeper = stage.keeper_cpu()? - before;
                stage.end()?;
                Raw::new("chain", load.name, side.word())
                    .moved(load.lines, load.bytes(), took)
                    .with("keeper_cpu_seconds", keeper.as_secs_f64())
                    .tell()?;
            }
        }
    }
    Ok(())
}

/// A reader behind a writer in another process, then the same journal read again.
pub(crate) fn measure_follow(dir: &Path, size: &Size) -> anyhow::Result<()> {
    for round in 1..=size.rounds {
        for load in &size.follow {
            eprintln!("follow: {}, round {round} of {}", load.name, size.rounds);
            let dir = tempfile::tempdir_in(dir)?;
            let journal = dir.path().join("journal");
            let tell = |side, took, cpu: Duration| {
                Raw::new("follow", load.name, side)
                    .moved(load.lines, load.bytes(), took)
                    .with("cpu_seconds", cpu.as_secs_f64())
                    .tell()
            };
            let mut each = |line: &[u8]| {
                std::hint::black_box(line);
            };
            let mut scribe = Scribe::start(&journal, *load)?;
            let mut follower = OverJournal::open(&journal, Wake::Poll(Duration::from_millis(1)))?;
            let (cpu, began) = (usage::own_cpu(), Instant::now());
            scribe.go()?;
            follower.follow(load.lines, &mut each)?;
            tell("behind a writer", began.elapsed(), usage::own_cpu() - cpu)?;
            tell("the writer alone", scribe.finish()?, Duration::ZERO)?;

            let (cpu, began) = (usage::own_cpu(), Instant::now());
            let mut reader = Reader::open(&journal)?;
            let lines = follow::drain(&mut reader, &mut each)?;
            tell("catching up", began.elapsed(), usage::own_cpu() - cpu)?;
            ensure!(lines == load.lines, "{lines} of {} lines", load.lines);

            let (cpu, began) = (usage::own_cpu(), Instant::now());
            bare_read(&journal)?;
            tell("bare read", began.elapsed(), usage::own_cpu() - cpu)?;
        }
    }
    Ok(())
}

/// Reads every file there and finds the ends of its lines.
fn bare_read(dir: &Path) -> anyhow::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    for entry in std::fs::read_dir(dir)? {
        let mut file = std::fs::File::open(entry?.path())?;
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            std::hint::black_box(memchr::memchr_iter(b'\n', &buffer[..read]).count());
        }
    }
    Ok(())
}

/// The process that writes a journal.
#[derive(Debug)]
struct Scribe {
    child: Child,
    go: ChildStdin,
    told: BufReader<ChildStdout>,
}

impl Scribe {
    fn start(journal: &Path, load: Load) -> anyhow::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("write")
            .arg(journal)
            .args([load.lines.to_string(), load.length.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let go = child.stdin.take().context("no pipe")?;
        let told = BufReader::new(child.stdout.take().context("no pipe")?);
        let mut scribe = Self { child, go, told };
        ensure!(scribe.line()? == "ready", "the writer did not start");
        Ok(scribe)
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        self.told.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    fn go(&mut self) -> anyhow::Result<()> {
        Ok(self.go.write_all(b"go\n")?)
    }

    /// How long it wrote.
    fn finish(mut self) -> anyhow::Result<Duration> {
        let nanos = self.line()?.parse().context("the writer did not finish")?;
        ensure!(self.child.wait()?.success(), "the writer failed");
        Ok(Duration::from_nanos(nanos))
    }
}

/// The writer's side: `write <journal> <lines> <length>`.
pub(crate) fn write_main(journal: &Path, lines: u64, length: usize) -> anyhow::Result<()> {
    let line = Line::new(length);
    let mut writer = open(journal)?;
    say("ready")?;
    std::io::stdin().read_line(&mut String::new())?;
    let began = Instant::now();
    fill(&mut writer, line.payload(), lines, length)?;
    say(&began.elapsed().as_nanos().to_string())
}

fn say(line: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

/// One segment for all: what closing one costs is for the whole chain to show.
pub(crate) fn open(journal: &Path) -> anyhow::Result<Writer> {
    let limits = Limits {
        segment: u64::MAX,
        ..Limits::default()
    };
    Ok(Writer::open(journal, "bench", 1, limits)?.0)
}

/// Appends so many records, as many at once as a read of a pipe gives.
pub(crate) fn fill(
    writer: &mut Writer,
    payload: &[u8],
    lines: u64,
    length: usize,
) -> anyhow::Result<()> {
    let together = ((64 << 10) / length).max(1) as u64;
    let mut left = lines;
    let mut at = 1_800_000_000_000_000;
    while left > 0 {
        let count = left.min(together);
        for _ in 0..count {
            writer.push(at, Kind::Agent, payload);
        }
        at += 1;
        writer.commit()?;
        left -= count;
    }
    Ok(())
}
