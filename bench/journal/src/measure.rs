//! What is measured, in which order and how much of it; and the other things this program can be told to be.
//!
//! Owns the arguments. `run` measures; `agent`, `write` and `crowd` are the processes it starts of itself.

mod agent;
mod append;
mod chain;
mod crowd;
mod follow;
mod kept;
mod latency;
mod memory;
mod raw;
mod sqlite;
mod stage;
mod usage;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use countersign_keeper::KeeperCommand;

use self::chain::Load;

/// How much of everything.
#[derive(Debug)]
pub(crate) struct Size {
    pub(crate) rounds: u32,
    pub(crate) append_rounds: u32,
    pub(crate) append_bytes: u64,
    pub(crate) append_records: u64,
    pub(crate) follow: [Load; 2],
    pub(crate) chain: [Load; 3],
    pub(crate) memory_records: u64,
    pub(crate) crowd: [(&'static str, u64); 2],
    pub(crate) crowd_lines: u64,
    pub(crate) latency_samples: u64,
    pub(crate) latency_parts: u64,
}

const fn load(name: &'static str, lines: u64, length: usize) -> Load {
    Load {
        name,
        lines,
        length,
    }
}

const FULL: Size = Size {
    rounds: 5,
    append_rounds: 9,
    append_bytes: 48 << 20,
    append_records: 150_000,
    follow: [load("300 B", 300_000, 300), load("64 KB", 2_000, 64_000)],
    chain: [
        load("150,000 lines of 300 B", 150_000, 300),
        load("1,000,000 lines of 300 B", 1_000_000, 300),
        load("700 lines of 64 KB", 700, 64_000),
    ],
    memory_records: 1_000_000,
    crowd: [("2,000 records", 2_000), ("200,000 records", 200_000)],
    crowd_lines: 1_000,
    latency_samples: 10_000,
    latency_parts: 5,
};

const QUICK: Size = Size {
    rounds: 2,
    append_rounds: 3,
    append_bytes: 16 << 20,
    append_records: 30_000,
    follow: [load("300 B", 60_000, 300), load("64 KB", 400, 64_000)],
    chain: [
        load("150,000 lines of 300 B", 150_000, 300),
        load("300,000 lines of 300 B", 300_000, 300),
        load("700 lines of 64 KB", 700, 64_000),
    ],
    memory_records: 100_000,
    crowd: [("2,000 records", 2_000), ("50,000 records", 50_000)],
    crowd_lines: 300,
    latency_samples: 2_000,
    latency_parts: 2,
};

/// Where things are.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// On the disk that is measured.
    pub(crate) data: PathBuf,
    /// The binary's own keeper.
    pub(crate) keeper: KeeperCommand,
    /// The least program that runs the same keeper.
    small: KeeperCommand,
}

impl Place {
    /// Each program that can be a keeper, by name.
    pub(crate) fn keepers(&self) -> [(&'static str, Self); 2] {
        let small = Self {
            keeper: self.small.clone(),
            ..self.clone()
        };
        [
            ("countersign keeper", self.clone()),
            ("keeper alone", small),
        ]
    }
}

pub(crate) fn main(args: Vec<OsString>) -> anyhow::Result<()> {
    let mut args = args.into_iter();
    let role = args
        .next()
        .context("usage: run [--quick] [--only PART] DATA BINARY SMALL")?;
    let rest: Vec<OsString> = args.collect();
    match (role.to_str(), &rest[..]) {
        (Some("run"), rest) => run(rest),
        (Some("agent"), [orders]) => agent::main(Path::new(orders)),
        (Some("write"), [journal, lines, length]) => {
            chain::write_main(Path::new(journal), number(lines)?, number(length)? as usize)
        }
        (Some("crowd"), [case, journal]) => {
            crowd::main(&case.to_string_lossy(), Path::new(journal))
        }
        _ => bail!("{} is nothing this program can be told", role.display()),
    }
}

fn number(text: &OsString) -> anyhow::Result<u64> {
    text.to_str()
        .and_then(|text| text.parse().ok())
        .with_context(|| format!("{} is no number", text.display()))
}

fn run(args: &[OsString]) -> anyhow::Result<()> {
    let mut size = &FULL;
    let mut only = Vec::new();
    let mut paths = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.to_str() {
            Some("--quick") => size = &QUICK,
            Some("--only") => {
                let part = args.next().context("--only needs a part")?;
                only.push(part.to_string_lossy().into_owned());
            }
            _ => paths.push(PathBuf::from(arg)),
        }
    }
    let [data, binary, small] = <[PathBuf; 3]>::try_from(paths)
        .map_err(|_| anyhow::anyhow!("needs the folder, the binary and the small keeper"))?;
    std::fs::create_dir_all(&data).with_context(|| format!("no folder {}", data.display()))?;
    let place = Place {
        data,
        keeper: command(binary, &["keeper"]),
        small: command(small, &[]),
    };
    parts(&place, size, &only)
}

/// A program that becomes a keeper, with nothing in its environment.
fn command(program: PathBuf, args: &[&str]) -> KeeperCommand {
    KeeperCommand {
        program,
        args: args.iter().map(OsString::from).collect(),
        env: Vec::new(),
    }
}

fn parts(place: &Place, size: &Size, only: &[String]) -> anyhow::Result<()> {
    let is_wanted = |part: &str| only.is_empty() || only.iter().any(|one| one == part);
    // Latency first: it is the one that what others leave to be written back would disturb.
    if is_wanted("latency") {
        latency::measure(place, size)?;
    }
    if is_wanted("append") {
        append::measure(&place.data, size)?;
    }
    if is_wanted("follow") {
        chain::measure_follow(&place.data, size)?;
    }
    if is_wanted("chain") {
        chain::measure(place, size)?;
    }
    if is_wanted("memory") {
        memory::measure(place, size)?;
    }
    if is_wanted("followers") {
        crowd::measure(place, size)?;
    }
    Ok(())
}
