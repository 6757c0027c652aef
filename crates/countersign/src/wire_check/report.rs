//! What a check found: the JSON shape that scripts rely on, and the table people read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

/// The most malformed lines that the table lists; the JSON has them all.
const LISTED: usize = 20;

/// What a check found. Every key is always there.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// Lines that carry a message; blank ones and notes of a recording do not count.
    pub(crate) lines: u64,
    /// How many of each `type/subtype`, malformed ones left out.
    pub(crate) types: BTreeMap<String, u64>,
    /// Types and subtypes that have no name here.
    pub(crate) unknown: BTreeSet<String>,
    /// By `type/subtype`: fields nobody declared, as paths; a new word or kind of block as `path=word`.
    pub(crate) unknown_fields: BTreeMap<String, BTreeSet<String>>,
    /// Lines that are no message, or a broken one.
    pub(crate) malformed: Vec<Malformed>,
    /// Whether every message, written again, gives the JSON that was read.
    pub(crate) lossless: bool,
}

/// A line that is no message, or a broken one.
#[derive(Debug, Serialize)]
pub(crate) struct Malformed {
    /// Counted from 1, as an editor does.
    line: u64,
    reason: String,
}

impl Default for Report {
    fn default() -> Self {
        Self {
            lines: 0,
            types: BTreeMap::new(),
            unknown: BTreeSet::new(),
            unknown_fields: BTreeMap::new(),
            malformed: Vec::new(),
            lossless: true,
        }
    }
}

impl Report {
    pub(crate) fn malformed(&mut self, line: u64, reason: String) {
        self.malformed.push(Malformed { line, reason });
    }

    pub(crate) fn unknown_field(&mut self, name: &str, field: String) {
        self.unknown_fields
            .entry(name.to_owned())
            .or_default()
            .insert(field);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut types: Vec<_> = self.types.iter().collect();
        types.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), name.as_str()));
        let width = types
            .iter()
            .map(|(_, count)| count.to_string().len())
            .max()
            .unwrap_or(0);
        for (name, count) in types {
            writeln!(f, "{count:>width$}  {name}")?;
        }
        if !self.types.is_empty() {
            writeln!(f)?;
        }
        for name in &self.unknown {
            writeln!(f, "unknown type   {name}")?;
        }
        for (name, fields) in &self.unknown_fields {
            for field in fields {
                writeln!(f, "unknown field  {name}: {field}")?;
            }
        }
        for Malformed { line, reason } in self.malformed.iter().take(LISTED) {
            writeln!(f, "malformed      line {line}: {reason}")?;
        }
        if self.malformed.len() > LISTED {
            writeln!(
                f,
                "malformed      … and {} more; --json lists them all",
                self.malformed.len() - LISTED
            )?;
        }
        let unknown = self.unknown.len()
            + self
                .unknown_fields
                .values()
                .map(BTreeSet::len)
                .sum::<usize>();
        let lossless = if self.lossless {
            "lossless"
        } else {
            "NOT lossless"
        };
        writeln!(
            f,
            "{} lines, {unknown} unknown, {} malformed, round trip {lossless}",
            self.lines,
            self.malformed.len()
        )
    }
}
