//! `journal verify`: whether a journal is what was written, and if not, where it begins to differ.
//!
//! Owns the words and the exit code; the walk is the journal's own. With a key, no seal at all is a fault, too: whoever
//! changes a journal could take its seals away.

mod ending;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use countersign_journal::seal::{self, VerifyingKey};
use countersign_journal::{Cursor, Fault, ReadError, Verdict, What};
use serde_json::{Value, json};

use self::ending::Ending;
use super::progress::Spinner;
use super::source::{self, Source};
use crate::Outcome;
use crate::show::text;

/// What stands behind `journal verify`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A session's folder, its journal, or one segment
    #[arg(value_name = "FILE|DIR")]
    path: PathBuf,
    /// Check the host's seals against this key: the public half as text, or the host's own key file. More than once where
    /// the host was given another key
    #[arg(long = "key", value_name = "FILE")]
    keys: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn verify(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let path = &arguments.path;
    check_form(path)?;
    if !arguments.keys.is_empty() && path.is_file() {
        bail!("seals stand beside the journal: with --key, give the session's folder");
    }
    let keys = arguments.keys.iter().map(|path| key(path));
    let keys = keys.collect::<anyhow::Result<Vec<VerifyingKey>>>()?;
    let spinner = Spinner::new("verifying");
    let verdict = countersign_journal::verify(path, &keys);
    let report = match verdict {
        Ok(verdict) => Report::new(verdict, !keys.is_empty(), path),
        Err(error) => return unread(error, arguments),
    };
    drop(spinner);
    let mut out = io::stdout().lock();
    match arguments.json {
        true => writeln!(out, "{}", report.as_json())?,
        false => write!(out, "{}", report.as_text(path))?,
    }
    Ok(match report.is_ok() {
        true => Outcome::Fine,
        false => Outcome::Found,
    })
}

/// What cannot be read at all, told once, with the file that it is.
fn unread(error: ReadError, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let words = match damaged_segment(&arguments.path) {
        Some((file, fault)) => format!(
            "{} is damaged: {}; take the other segments from here and this one from a copy",
            file.display(),
            words(&fault)
        ),
        None => error.to_string(),
    };
    if !arguments.json {
        bail!(words);
    }
    let fault = json!({
        "what": "unreadable", "cursor": Value::Null, "before": Value::Null, "text": words,
    });
    writeln!(io::stdout(), "{}", json!({"ok": false, "fault": fault}))?;
    Ok(Outcome::Found)
}

/// The first compressed segment that cannot be decompressed.
fn damaged_segment(path: &Path) -> Option<(PathBuf, Fault)> {
    ending::segments(path).into_iter().find_map(|file| {
        let fault = countersign_journal::verify(&file, &[]).ok()?.fault?;
        matches!(fault.what, What::Unreadable { .. }).then_some((file, fault))
    })
}

/// Only a journal has a chain. A segment whose first line was changed is still one by its name.
fn check_form(path: &Path) -> anyhow::Result<()> {
    let name = path.file_name().and_then(|name| name.to_str());
    if path.is_file() && name.is_some_and(source::is_segment) {
        return Ok(());
    }
    if path == Path::new("-") {
        bail!("standard input is no journal: give a session's folder, its journal, or one segment");
    }
    // What cannot be read as a journal may be one that was damaged.
    let form = match Source::open(path) {
        Ok(source) => source.form(),
        Err(source::SourceError::Journal(_)) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    if !form.is_journal() {
        bail!(
            "{} has no heads ({}): only a journal can be verified; `countersign wire check` looks at lines",
            path.display(),
            form.words()
        );
    }
    Ok(())
}

fn key(path: &Path) -> anyhow::Result<VerifyingKey> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the key {}", path.display()))?;
    if let Some(key) = seal::public_from_text(text.trim()) {
        return Ok(key);
    }
    Ok(seal::load(path)?.verifying_key())
}

/// What is said about a journal.
struct Report {
    verdict: Verdict,
    ending: Ending,
    /// A key was given, and nothing is sealed.
    is_unsealed: bool,
    /// One segment, whose numbers may begin anywhere.
    is_alone: bool,
}

impl Report {
    fn new(verdict: Verdict, has_key: bool, path: &Path) -> Self {
        Self {
            is_unsealed: has_key && verdict.sealed.is_none() && verdict.is_whole(),
            ending: Ending::of(path),
            is_alone: path.is_file(),
            verdict,
        }
    }

    fn is_empty(&self) -> bool {
        self.verdict.is_whole() && self.verdict.records == 0
    }

    fn is_ok(&self) -> bool {
        self.verdict.is_whole() && !self.is_unsealed && !self.is_empty()
    }

    /// Records that no head vouches for yet.
    fn behind_head(&self) -> u64 {
        let vouched = self.verdict.vouched.map_or(0, |vouched| vouched.seq);
        let behind = self.verdict.end.seq.saturating_sub(vouched);
        behind.min(self.verdict.records)
    }

    /// How many records stand before the fault, or in all.
    fn in_order(&self) -> u64 {
        let verdict = &self.verdict;
        let Some(before) = verdict.fault.as_ref().and_then(before) else {
            return verdict.records;
        };
        let first = match self.is_alone {
            true => verdict.end.seq.saturating_sub(verdict.records),
            false => 0,
        };
        before.seq.saturating_sub(first).min(verdict.records)
    }

    fn as_text(&self, path: &Path) -> String {
        let verdict = &self.verdict;
        if let Some(fault) = &verdict.fault {
            return faulty(fault, self.in_order(), path);
        }
        if self.is_empty() {
            return format!("{EMPTY}\n");
        }
        let seen = format!(
            "{} in {} and {}",
            text::count(verdict.records as usize, "record"),
            text::count(verdict.generations as usize, "generation"),
            text::count(verdict.segments as usize, "segment"),
        );
        let mut words = match self.is_unsealed {
            true => format!("not sealed: {UNSEALED}\nthe chain is whole: {seen}"),
            false => format!("ok: {seen}"),
        };
        words.push_str(&format!(
            ", {}",
            text::count(verdict.heads as usize, "head")
        ));
        match verdict.sealed {
            Some(sealed) => words.push_str(&format!(", sealed up to {sealed}")),
            None => words.push_str(", no seals checked"),
        }
        if self.behind_head() > 0 {
            words.push_str(&format!(", {} behind the last head", self.behind_head()));
        }
        if self.ending.name().is_none() {
            words.push_str(", no end");
        }
        words.push('\n');
        words.push_str(&self.open_end());
        words
    }

    /// What the chain says nothing about.
    fn open_end(&self) -> String {
        let mut words = String::new();
        if self.behind_head() > 0 {
            words.push_str(&format!(
                "behind the last head: {}, which the chain says nothing about yet\n",
                text::count(self.behind_head() as usize, "record")
            ));
        }
        if self.verdict.torn > 0 {
            words.push_str(&format!(
                "at the very end: {} bytes of an unfinished record, as a killed writer leaves them; the next one cuts them\n",
                text::grouped(self.verdict.torn)
            ));
        }
        if let Some(ending) = self.ending.words() {
            words.push_str(ending);
            words.push('\n');
        }
        words
    }

    fn as_json(&self) -> Value {
        let verdict = &self.verdict;
        let cursor = |cursor: Option<Cursor>| cursor.map(|cursor| cursor.to_string());
        let other = |what: &str, text: &str| json!({"what": what, "cursor": null, "before": null, "text": text});
        let fault = match &verdict.fault {
            Some(fault) => json!({
                "what": name(fault.what), "cursor": fault.cursor.to_string(), "before": cursor(before(fault)),
                "text": words(fault),
            }),
            None if self.is_empty() => other("empty", EMPTY),
            None if self.is_unsealed => other("unsealed", UNSEALED),
            None => Value::Null,
        };
        let end = verdict.fault.as_ref().and_then(before);
        json!({
            "ok": self.is_ok(), "records": self.in_order(), "generations": verdict.generations,
            "segments": verdict.segments, "heads": verdict.heads, "vouched": cursor(verdict.vouched),
            "behind_head": self.behind_head(), "ended": self.ending.name(),
            "sealed": cursor(verdict.sealed), "end": end.unwrap_or(verdict.end).to_string(),
            "torn_bytes": verdict.torn, "fault": fault,
        })
    }
}

const UNSEALED: &str = "the host has signed nothing of it, or its seals were taken away";
const EMPTY: &str = "nothing to verify: there is no record in it; its writer was stopped at once, or it was emptied";

fn faulty(fault: &Fault, in_order: u64, path: &Path) -> String {
    let mut words = format!(
        "not as it was written: {}\nin order before it: {}\n",
        words(fault),
        text::count(in_order as usize, "record")
    );
    if let Some(before) = before(fault).filter(|before| before.seq > 0) {
        words.push_str(&format!(
            "to keep what stands before it: countersign journal export {} --until {before}\n",
            path.display()
        ));
    }
    words
}

/// The fault, without numbers of records that there are not.
fn words(fault: &Fault) -> String {
    match fault.what {
        What::Between { from } if from.seq == 0 => format!(
            "the first header, or something up to record {}, was changed",
            fault.cursor
        ),
        What::Header { segment } => format!("the header of segment {segment} was changed"),
        _ => fault.to_string(),
    }
}

/// The last record before a fault.
fn before(fault: &Fault) -> Option<Cursor> {
    match fault.what {
        What::Between { from } => Some(from),
        What::BadSeal => None,
        // What is torn stands behind it.
        What::TornTail => Some(fault.cursor),
        _ => {
            let seq = fault.cursor.seq.checked_sub(1)?;
            Some(Cursor::new(fault.cursor.generation, seq))
        }
    }
}

fn name(what: What) -> &'static str {
    match what {
        What::Changed => "changed",
        What::Cut => "cut",
        What::Reordered => "reordered",
        What::Added => "added",
        What::Damaged => "damaged",
        What::Between { .. } => "between",
        What::Header { .. } => "header",
        What::Unreadable { .. } => "unreadable",
        What::BadSeal => "bad_seal",
        What::TornTail => "torn_tail",
        _ => "other",
    }
}
