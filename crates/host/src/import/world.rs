//! What can be seen of CLIs that run on this machine.
//!
//! Owns the reading of the CLI's own records (`sessions/<pid>.json`, since some version after 2.1.62) and of `/proc`.
//! Whatever cannot be read is left out. Invariants: a record counts only for the process that wrote it, not for one that got
//! its number later; of a foreign environment only one name is looked for.

use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use countersign_process::Marker;
use serde::Deserialize;
use serde_json::Value;

/// Records beyond this many are left out: nobody has so many terminals.
const MOST_RECORDS: usize = 4_096;

/// The largest record that is read. Those of 2.1.325 have less than 1 KiB.
const LARGEST_RECORD: u64 = 64 << 10;

/// A record that a CLI keeps of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    /// Its process.
    pub pid: u32,
    /// The conversation it is at.
    pub conversation: Option<String>,
    /// When the process started, as the system counts.
    pub started: Option<u64>,
    /// Machine and namespace of its number.
    pub domain: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// What it does.
    pub status: Option<String>,
    /// When it last wrote the record: milliseconds of Unix time.
    pub updated_ms: Option<u64>,
}

/// Whether the process of a record runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    Runs,
    Gone,
    /// Its number means nothing here.
    Unknown,
}

/// A CLI that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terminal {
    /// Its process.
    pub pid: u32,
    /// The folder it runs in.
    pub cwd: PathBuf,
    /// Its command.
    pub words: Vec<String>,
    /// A host of ours started it.
    pub is_ours: bool,
}

/// What can be seen of CLIs that run on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct World {
    pub(super) records: Vec<(Record, Life)>,
    pub(super) terminals: Vec<Terminal>,
}

impl World {
    /// Looks around. `config_dir` is the CLI's folder.
    pub fn look(config_dir: &Path) -> Self {
        let domain = own_domain();
        let records = records(&config_dir.join("sessions"));
        let with_life = records.into_iter().map(|record| {
            let life = life(&record, domain.as_deref());
            (record, life)
        });
        Self {
            records: with_life.collect(),
            terminals: terminals(),
        }
    }
}

fn records(folder: &Path) -> Vec<Record> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let files = entries.filter_map(Result::ok).filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let pid = name.strip_suffix(".json");
        pid.is_some_and(|pid| pid.parse::<u32>().is_ok())
    });
    files
        .take(MOST_RECORDS)
        .filter_map(|entry| read_record(&entry.path()))
        .collect()
}

fn read_record(path: &Path) -> Option<Record> {
    // Of the entry itself, not of what a link points to; and nothing that a read could hang on.
    let meta = std::fs::symlink_metadata(path).ok()?;
    if !meta.is_file() || meta.len() > LARGEST_RECORD {
        return None;
    }
    let pid = path.file_stem()?.to_str()?.parse().ok()?;
    parse_record(pid, &std::fs::read(path).ok()?)
}

/// Reads what is there; the CLI calls none of it a promise.
pub(super) fn parse_record(pid: u32, text: &[u8]) -> Option<Record> {
    #[derive(Deserialize)]
    struct Fields(serde_json::Map<String, Value>);
    let Fields(fields) = serde_json::from_slice(text).ok()?;
    let word = |name: &str| fields.get(name)?.as_str().map(str::to_owned);
    Some(Record {
        pid,
        conversation: word("sessionId"),
        started: word("procStart").and_then(|text| text.parse().ok()),
        domain: word("pidDomain"),
        version: word("version"),
        status: word("status"),
        updated_ms: fields.get("updatedAt").and_then(Value::as_u64),
    })
}

pub(super) fn life(record: &Record, own_domain: Option<&str>) -> Life {
    if let (Some(theirs), Some(own)) = (record.domain.as_deref(), own_domain)
        && theirs != own
    {
        return Life::Unknown;
    }
    let started = countersign_process::started(record.pid);
    let runs = match (started, record.started) {
        // A number that was used again is another process. Elsewhere than on Linux the CLI counts otherwise than we do.
        (Some(now), Some(then)) if cfg!(target_os = "linux") => {
            now == then && countersign_process::is_running(record.pid, now) == Some(true)
        }
        (Some(now), _) => countersign_process::is_running(record.pid, now) == Some(true),
        (None, _) => false,
    };
    if runs { Life::Runs } else { Life::Gone }
}

/// Machine and namespace of process numbers, in the words of the CLI.
#[cfg(target_os = "linux")]
fn own_domain() -> Option<String> {
    let machine = std::fs::read_to_string("/etc/machine-id").ok()?;
    let space = std::fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("linux:{}:{}", machine.trim(), space.display()))
}

#[cfg(not(target_os = "linux"))]
fn own_domain() -> Option<String> {
    None
}

/// The CLIs that run, as far as this user may see them.
#[cfg(target_os = "linux")]
fn terminals() -> Vec<Terminal> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(terminal).collect()
}

#[cfg(not(target_os = "linux"))]
fn terminals() -> Vec<Terminal> {
    Vec::new()
}

#[cfg(target_os = "linux")]
fn terminal(pid: u32) -> Option<Terminal> {
    let file = |name: &str| PathBuf::from(format!("/proc/{pid}/{name}"));
    let words = std::fs::read(file("cmdline")).ok()?;
    let words: Vec<String> = words
        .split(|byte| *byte == 0)
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    let comm = std::fs::read_to_string(file("comm")).ok()?;
    if !is_cli(comm.trim_end(), &words) {
        return None;
    }
    let cwd = std::fs::read_link(file("cwd")).ok()?;
    let environ = std::fs::read(file("environ")).unwrap_or_default();
    let name = Marker::NAME.as_bytes();
    let is_ours = environ.split(|byte| *byte == 0).any(|variable| {
        variable
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(b"="))
    });
    Some(Terminal {
        pid,
        cwd,
        words,
        is_ours,
    })
}

/// Whether a process is the CLI: by its own name, or as a script of an interpreter.
#[cfg(any(target_os = "linux", test))]
pub(super) fn is_cli(comm: &str, words: &[String]) -> bool {
    let is_program = |word: &String| {
        let path = Path::new(word);
        let name = path.file_name().unwrap_or_default();
        name == "claude" || (name == "cli.js" && word.contains("claude-code"))
    };
    comm == "claude" || words.iter().take(2).any(is_program)
}
