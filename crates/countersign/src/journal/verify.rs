//! `journal verify`: whether a journal is what was written, and if not, where it begins to differ.
//!
//! Owns the words and the exit code; the walk is the journal's own. With a key, no seal at all is a fault, too: whoever
//! changes a journal could take its seals away.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use countersign_journal::seal::{self, VerifyingKey};
use countersign_journal::{Cursor, Fault, Verdict, What};
use serde_json::{Value, json};

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
    /// Check the host's seals against this key: the public half as text, or the host's own key file
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn verify(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let path = &arguments.path;
    check_form(path)?;
    if arguments.key.is_some() && path.is_file() {
        bail!("seals stand beside the journal: with --key, give the session's folder");
    }
    let key = arguments.key.as_deref().map(key).transpose()?;
    let spinner = Spinner::new("verifying");
    let verdict = countersign_journal::verify(path, key.as_ref())?;
    drop(spinner);
    let is_unsealed = key.is_some() && verdict.sealed.is_none() && verdict.is_whole();
    let mut out = io::stdout().lock();
    match arguments.json {
        true => writeln!(out, "{}", as_json(&verdict, is_unsealed))?,
        false => write!(out, "{}", as_text(&verdict, is_unsealed, path))?,
    }
    Ok(match verdict.is_whole() && !is_unsealed {
        true => Outcome::Fine,
        false => Outcome::Found,
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
            "{} has no chain of hashes ({}): only a journal can be verified; `countersign wire check` looks at lines",
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

fn as_text(verdict: &Verdict, is_unsealed: bool, path: &Path) -> String {
    let seen = format!(
        "{} in {} and {}",
        text::count(verdict.records as usize, "record"),
        text::count(verdict.generations as usize, "generation"),
        text::count(verdict.segments as usize, "segment"),
    );
    if let Some(fault) = &verdict.fault {
        let before = before(fault);
        let mut words = format!("not as it was written: {fault}\nin order before it: {seen}\n");
        if let Some(before) = before.filter(|before| *before > Cursor::START) {
            words.push_str(&format!(
                "to keep what stands before it: countersign journal export {} --until {before}\n",
                path.display()
            ));
        }
        return words;
    }
    let mut words = match is_unsealed {
        true => format!(
            "not sealed: the host has signed nothing of it, or its seals were taken away\nthe chain is whole: {seen}"
        ),
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
    words.push('\n');
    words.push_str(&behind(verdict));
    words
}

/// What the chain says nothing about yet.
fn behind(verdict: &Verdict) -> String {
    let mut words = String::new();
    let vouched = verdict.vouched.map_or(0, |vouched| vouched.seq);
    let open = verdict.end.seq.saturating_sub(vouched);
    if open > 0 {
        words.push_str(&format!(
            "behind the last head: {}, which the chain says nothing about yet\n",
            text::count(open as usize, "record")
        ));
    }
    if verdict.torn > 0 {
        words.push_str(&format!(
            "at the very end: {} bytes of an unfinished record, as a killed writer leaves them; the next one cuts them\n",
            text::grouped(verdict.torn)
        ));
    }
    words
}

/// The last record before a fault.
fn before(fault: &Fault) -> Option<Cursor> {
    match fault.what {
        What::Between { from } => Some(from),
        What::BadSeal => None,
        _ => {
            let seq = fault.cursor.seq.checked_sub(1)?;
            Some(Cursor::new(fault.cursor.generation, seq))
        }
    }
}

fn as_json(verdict: &Verdict, is_unsealed: bool) -> Value {
    let cursor = |cursor: Option<Cursor>| cursor.map(|cursor| cursor.to_string());
    let fault = verdict.fault.as_ref().map(|fault| {
        json!({
            "what": name(fault.what), "cursor": fault.cursor.to_string(), "before": cursor(before(fault)),
            "text": fault.to_string(),
        })
    });
    let unsealed = is_unsealed.then(|| {
        json!({
            "what": "unsealed", "cursor": Value::Null, "before": Value::Null,
            "text": "the host has signed nothing of it, or its seals were taken away",
        })
    });
    json!({
        "ok": verdict.is_whole() && !is_unsealed, "records": verdict.records, "generations": verdict.generations,
        "segments": verdict.segments, "heads": verdict.heads, "vouched": cursor(verdict.vouched),
        "sealed": cursor(verdict.sealed), "end": verdict.end.to_string(), "torn_bytes": verdict.torn,
        "fault": fault.or(unsealed),
    })
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
