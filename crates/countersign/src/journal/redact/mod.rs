//! Secrets taken out of what leaves: records in, records without secrets out, in the same order.
//!
//! Owns which records are held back and when they go on: a text that comes in pieces is looked at as a whole, since a
//! secret may stand in two of them. What is a secret is decided in `countersign_api::redact`. The journal itself is never changed.
//! Invariant: what is held is bounded; beyond it the pieces go on, masked as far as they are known.

mod held;

use std::borrow::Cow;
use std::collections::BTreeSet;

use countersign_api::redact::{MASKED, Wanted, apply};
use countersign_client::LineMask;
use countersign_journal::{Kind, Record};
use regex::Regex;

use self::held::Held;
use super::source::Owned;

/// So many values are remembered; what is more is found by its looks only.
const MOST_LEARNED: usize = 4_096;

/// What was masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Masked {
    pub(crate) secrets: usize,
    pub(crate) records: usize,
}

/// Takes secrets out of records.
#[derive(Debug)]
pub(crate) struct Redactor {
    wanted: Wanted,
    learned: BTreeSet<String>,
    stderr: LineMask,
    held: Held,
    masked: Masked,
}

impl Redactor {
    /// With the person's own patterns beside what looks like a secret.
    pub(crate) fn new(patterns: Vec<Regex>) -> Self {
        Self {
            wanted: Wanted {
                patterns,
                known: None,
            },
            learned: BTreeSet::new(),
            stderr: LineMask::by_looks(),
            held: Held::default(),
            masked: Masked::default(),
        }
    }

    /// The first of two passes: which values are secret, so that they are masked where nothing gives them away.
    pub(crate) fn learn(&mut self, record: &Record<'_>) {
        self.learn_text(&String::from_utf8_lossy(record.payload));
    }

    /// As [`Self::learn`], from what stands before all records.
    pub(crate) fn learn_text(&mut self, text: &str) {
        let learned = &mut self.learned;
        self.wanted.learn(text, &mut |value| {
            if learned.len() < MOST_LEARNED {
                learned.insert(value.to_owned());
            }
        });
    }

    /// The first pass is over.
    ///
    /// # Errors
    /// When the values are too many to be looked for.
    pub(crate) fn learned(&mut self) -> Result<(), regex::Error> {
        let mut values: Vec<String> = std::mem::take(&mut self.learned).into_iter().collect();
        if values.is_empty() {
            return Ok(());
        }
        // The longest first, so that none hides a part of another.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        let all: Vec<String> = values.iter().map(|value| regex::escape(value)).collect();
        let known = regex::RegexBuilder::new(&all.join("|"));
        self.wanted.known = Some({ known }.size_limit(256 << 20).build()?);
        Ok(())
    }

    /// Takes a record, and gives on those that nothing holds back any more.
    pub(crate) fn push(&mut self, record: Owned, pass_on: &mut Vec<Owned>) {
        match held::piece(&record) {
            Some(piece) => self.held.piece(record, piece),
            None => {
                let is_end = held::ends(&record);
                let record = self.whole(record);
                self.held.whole(record, is_end);
            }
        }
        let masked = self.held.release(&self.wanted, pass_on);
        self.count(masked);
    }

    /// A text that stands before all records.
    pub(crate) fn text(&mut self, text: String) -> String {
        let Some((text, secrets)) = apply(&text, &self.wanted.edits(&text)) else {
            return text;
        };
        self.masked.secrets += secrets;
        text
    }

    /// Nothing more will come.
    pub(crate) fn finish(&mut self, pass_on: &mut Vec<Owned>) {
        self.held.end_all();
        let masked = self.held.release(&self.wanted, pass_on);
        self.count(masked);
    }

    pub(crate) fn masked(&self) -> Masked {
        self.masked
    }

    fn count(&mut self, masked: Masked) {
        self.masked.secrets += masked.secrets;
        self.masked.records += masked.records;
    }

    /// A record that stands for itself.
    fn whole(&mut self, mut record: Owned) -> Owned {
        let text = String::from_utf8_lossy(&record.payload);
        let (text, by_line) = match record.kind {
            Kind::Stderr | Kind::StderrPiece => {
                let masked = self.stderr.line(&text);
                let count = times(&masked).saturating_sub(times(&text));
                (Cow::Owned(masked), count)
            }
            _ => (text, 0),
        };
        let changed = apply(&text, &self.wanted.edits(&text));
        let secrets = by_line + changed.as_ref().map_or(0, |(_, secrets)| *secrets);
        if secrets > 0 {
            let text = changed.map_or_else(|| text.into_owned(), |(text, _)| text);
            record.payload = text.into_bytes();
            self.count(Masked {
                secrets,
                records: 1,
            });
        }
        record
    }
}

/// How often something stands masked in a text.
fn times(text: &str) -> usize {
    let begins = &MASKED[..MASKED.len() - 1];
    text.matches(begins).count()
}

#[cfg(test)]
mod tests;
