//! Appending: the journal's writer beside a bare `write` of the same bytes, and beside SQLite.
//!
//! Owns the cases and their order. Each case is one length of line and one size of batch: a record each, or as many as one
//! read of a 64 KiB pipe gives. Nobody syncs, but SQLite at its checkpoints. Invariants: sides take turns within a round; a
//! file is removed before the next begins, so that no side pays for what another left to be written back.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use countersign_journal::{Kind, Limits, Record, Writer};

use super::Size;
use super::agent::Line;
use super::raw::Raw;
use super::sqlite::{Sync, Table};
use super::usage;

/// What one read of a pipe gives at most.
const PIPE: usize = 64 << 10;
/// Some moment; the clock is not what is measured.
const AT: u64 = 1_800_000_000_000_000;

/// How many records go into one write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Batch {
    One,
    PipeRead,
}

#[derive(Debug, Clone, Copy)]
struct Case {
    name: &'static str,
    length: usize,
    batch: Batch,
}

const CASES: [Case; 8] = [
    Case::new("100 B", 100, Batch::One),
    Case::new("100 B", 100, Batch::PipeRead),
    Case::new("300 B", 300, Batch::One),
    Case::new("300 B", 300, Batch::PipeRead),
    Case::new("2 KB", 2_000, Batch::One),
    Case::new("2 KB", 2_000, Batch::PipeRead),
    // A read of the pipe gives no more than one of these, or less.
    Case::new("64 KB", 64_000, Batch::One),
    Case::new("5 MB", 5_000_000, Batch::One),
];

impl Case {
    const fn new(name: &'static str, length: usize, batch: Batch) -> Self {
        Self {
            name,
            length,
            batch,
        }
    }

    fn text(self) -> String {
        match self.batch {
            Batch::One => format!("{}, one a write", self.name),
            Batch::PipeRead => format!("{}, {} a write", self.name, self.together()),
        }
    }

    fn together(self) -> u64 {
        match self.batch {
            Batch::One => 1,
            Batch::PipeRead => (PIPE / self.length) as u64,
        }
    }

    /// How many batches of it make about as many bytes, without taking for ever where they are small.
    fn batches(self, bytes: u64, records: u64) -> u64 {
        let records = records.min(bytes / self.length as u64);
        (records / self.together()).max(2)
    }
}

/// Who appends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Bare,
    Journal,
    Sqlite(Sync),
}

impl Side {
    const ALL: [Self; 4] = [
        Self::Bare,
        Self::Journal,
        Self::Sqlite(Sync::Normal),
        Self::Sqlite(Sync::Off),
    ];

    fn word(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Journal => "journal",
            Self::Sqlite(Sync::Normal) => "sqlite",
            Self::Sqlite(Sync::Off) => "sqlite unsynced",
        }
    }
}

pub(crate) fn measure(dir: &Path, size: &Size) -> anyhow::Result<()> {
    for round in 0..size.append_rounds as usize {
        eprintln!("append: round {} of {}", round + 1, size.append_rounds);
        for case in CASES {
            let line = Line::new(case.length);
            let batches = case.batches(size.append_bytes, size.append_records);
            // Each begins in its turn: who comes behind SQLite finds another disk than who comes before it.
            for turn in 0..Side::ALL.len() {
                let side = Side::ALL[(round + turn) % Side::ALL.len()];
                one(dir, case, side, line.payload(), batches)?;
            }
        }
    }
    Ok(())
}

fn one(dir: &Path, case: Case, side: Side, payload: &[u8], batches: u64) -> anyhow::Result<()> {
    // One transaction a record is slow enough to be timed with fewer of them.
    let batches = match (side, case.batch) {
        (Side::Sqlite(_), Batch::One) => (batches / 4).max(2),
        _ => batches,
    };
    let dir = tempfile::tempdir_in(dir).context("no folder for the run")?;
    let dir = dir.path();
    let took = match side {
        Side::Bare => bare(dir, case, payload, batches),
        Side::Journal => ours(dir, case, payload, batches),
        Side::Sqlite(sync) => sqlite(dir, sync, case, payload, batches),
    };
    tell(case, side.word(), batches, took?)
}

fn tell(case: Case, side: &'static str, batches: u64, took: Took) -> anyhow::Result<()> {
    let records = batches * case.together();
    Raw::new("append", case.text(), side)
        .moved(records, records * case.length as u64, took.wall)
        .with("cpu_seconds", took.cpu.as_secs_f64())
        .tell()
}

/// By the clock, and on a processor: the second does not depend on what else the machine does.
#[derive(Debug, Clone, Copy)]
struct Took {
    wall: Duration,
    cpu: Duration,
}

fn time(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<Took> {
    let (cpu, began) = (usage::own_cpu(), Instant::now());
    work()?;
    Ok(Took {
        wall: began.elapsed(),
        cpu: usage::own_cpu() - cpu,
    })
}

/// The same bytes, made beforehand. A line that no read of a pipe gives whole is in a buffer of its own, which is given back
/// once it is written, on either side.
fn bare(dir: &Path, case: Case, payload: &[u8], batches: u64) -> anyhow::Result<Took> {
    let mut batch = Vec::new();
    for seq in 0..case.together() {
        let record = Record {
            seq: 100_000 + seq,
            at: AT,
            kind: Kind::Agent,
            payload,
        };
        record.append_to(&mut batch);
    }
    let mut file = File::options()
        .create_new(true)
        .append(true)
        .open(dir.join("bare"))?;
    if payload.len() > PIPE {
        let collected = vec![batch; batches as usize];
        return time(|| {
            for line in collected {
                file.write_all(&line)?;
            }
            Ok(())
        });
    }
    time(|| {
        for _ in 0..batches {
            file.write_all(&batch)?;
        }
        Ok(())
    })
}

fn ours(dir: &Path, case: Case, payload: &[u8], batches: u64) -> anyhow::Result<Took> {
    let (mut writer, _) = Writer::open(&dir.join("journal"), "bench", 1, Limits::default())?;
    let together = case.together();
    if payload.len() > PIPE {
        // A keeper has collected such a line, and hands it over.
        let collected = vec![payload.to_vec(); batches as usize];
        return time(|| {
            for (batch, line) in collected.into_iter().enumerate() {
                writer.push_owned(AT + batch as u64, Kind::Agent, line);
                writer.commit()?;
            }
            Ok(())
        });
    }
    time(|| {
        for batch in 0..batches {
            for _ in 0..together {
                writer.push(AT + batch, Kind::Agent, payload);
            }
            writer.commit()?;
        }
        Ok(())
    })
}

fn sqlite(
    dir: &Path,
    sync: Sync,
    case: Case,
    payload: &[u8],
    batches: u64,
) -> anyhow::Result<Took> {
    let mut table = Table::create(&dir.join("records.db"), sync)?;
    let together = case.together();
    time(|| {
        for batch in 0..batches {
            table.append(AT + batch, b'a', payload, together)?;
        }
        Ok(())
    })
}
