//! What a host keeps: its lock, its epoch, its outboxes, its decisions. Every line is synced before it counts.
//!
//! Owns the host's folder; a host of more than a test has a database here. It counts and stores and decides nothing.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use countersign_keeper::attach::{Outbox, PutOutcome};
use countersign_keeper::protocol::{Ref, Standing};
use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};

use super::seam::{At, Seam};

/// The folder of a host.
pub(crate) struct Store {
    dir: PathBuf,
    writing: Mutex<()>,
    /// Locked as long as this host lives.
    _lock: File,
}

/// Appends one line, and it is on the disk.
fn append(path: &Path, line: &Value) -> io::Result<()> {
    let mut file = File::options().create(true).append(true).open(path)?;
    file.write_all(format!("{line}\n").as_bytes())?;
    file.sync_data()
}

/// Whole lines; one that was cut by a crash does not count.
fn read(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines = text.split_inclusive('\n');
    let whole = lines.filter(|line| line.ends_with('\n'));
    whole
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

impl Store {
    /// The folder, if no other host holds it, or if that is not to matter.
    pub(crate) fn take(dir: &Path, past_the_lock: bool) -> Option<Self> {
        std::fs::create_dir_all(dir).ok()?;
        let path = dir.join("host.lock");
        let lock = File::options().create(true).append(true).open(path).ok()?;
        let is_free = flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
        (is_free || past_the_lock).then(|| Self {
            dir: dir.to_owned(),
            writing: Mutex::new(()),
            _lock: lock,
        })
    }

    /// A number that no host before has had.
    pub(crate) fn next_epoch(&self) -> u64 {
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.dir.join("epochs");
        let epoch = 1 + read(&path).len() as u64;
        append(&path, &json!(epoch)).expect("the epoch is stored");
        epoch
    }

    /// The decision about a question: the first one, whoever made it.
    pub(crate) fn decide(&self, id: &str, allows: bool) -> bool {
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.dir.join("decisions");
        if let Some(first) = read(&path).iter().find(|first| first["id"] == id) {
            return first["allows"] == true;
        }
        append(&path, &json!({"id": id, "allows": allows})).expect("the decision is stored");
        allows
    }

    /// The outbox of one generation of a session. It counts on from what it holds and from what the keeper has: lines of
    /// earlier generations do not count, since a loss of power may have taken their numbers back.
    pub(crate) fn outbox(
        &self,
        session: &str,
        standing: &Standing,
        seam: &Arc<dyn Seam>,
    ) -> Box<dyn Outbox> {
        let path = self.lines_of(session, standing.generation);
        let numbers = read(&path);
        let numbers = numbers.iter().filter_map(|line| line["n"].as_u64());
        let last = numbers.max().unwrap_or_default().max(standing.last_n);
        Box::new(Lines {
            path,
            last: Mutex::new(last),
            seam: Arc::clone(seam),
        })
    }

    /// What was entered for this agent and never settled, by number.
    pub(crate) fn unsettled(&self, session: &str, generation: u32) -> Vec<(u64, Vec<u8>)> {
        let lines = read(&self.lines_of(session, generation));
        let settled = lines.iter().filter_map(|line| line["settled"].as_u64());
        let settled: BTreeSet<u64> = settled.collect();
        let entered = lines.iter().filter_map(|line| {
            let (n, text) = (line["n"].as_u64()?, line["line"].as_str()?);
            (!settled.contains(&n)).then(|| (n, format!("{text}\n").into_bytes()))
        });
        entered.collect()
    }

    fn lines_of(&self, session: &str, generation: u32) -> PathBuf {
        self.dir.join(format!("{session}.{generation}.out"))
    }
}

/// The lines of one session: on the disk, each with its number, before they go.
struct Lines {
    path: PathBuf,
    last: Mutex<u64>,
    seam: Arc<dyn Seam>,
}

impl Outbox for Lines {
    fn enter(&self, line: &[u8]) -> io::Result<u64> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let n = *last + 1;
        let line = std::str::from_utf8(line).map_err(io::Error::other)?;
        append(&self.path, &json!({"n": n, "line": line}))?;
        *last = n;
        Ok(n)
    }

    fn settled(&self, what: &Ref, outcome: &PutOutcome) {
        match what {
            Ref::N(n) => {
                let _one = self.last.lock().unwrap_or_else(PoisonError::into_inner);
                append(&self.path, &json!({"settled": n})).expect("the outbox can be written");
            }
            Ref::Answer(id) => self.seam.at(At::Answered(id, outcome)),
        }
    }
}
