//! What a check found: the JSON shape that scripts rely on, and the table people read.
//!
//! Names come from the file: the table escapes what a terminal would act on.

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
    /// The lines for which it does not.
    #[serde(skip)]
    pub(crate) lossy: Vec<u64>,
}

/// A line that is no message, or a broken one.
#[derive(Debug, Serialize)]
pub(crate) struct Malformed {
    /// Counted from 1, as an editor does.
    line: u64,
    pub(crate) reason: String,
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
            lossy: Vec::new(),
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
            writeln!(f, "{count:>width$}  {}", name.escape_debug())?;
        }
        if !self.types.is_empty() {
            writeln!(f)?;
        }
        for name in &self.unknown {
            writeln!(f, "unknown type   {}", name.escape_debug())?;
        }
        for (name, fields) in &self.unknown_fields {
            for field in fields {
                writeln!(
                    f,
                    "unknown field  {}: {}",
                    name.escape_debug(),
                    field.escape_debug()
                )?;
            }
        }
        for Malformed { line, reason } in self.malformed.iter().take(LISTED) {
            writeln!(f, "malformed      line {line}: {}", reason.escape_debug())?;
        }
        if self.malformed.len() > LISTED {
            writeln!(
                f,
                "malformed      … and {} more; --json lists them all",
                self.malformed.len() - LISTED
            )?;
        }
        if !self.lossy.is_empty() {
            let lines: Vec<_> = self.lossy.iter().take(LISTED).map(u64::to_string).collect();
            let more = if self.lossy.len() > LISTED {
                ", …"
            } else {
                ""
            };
            writeln!(f, "not lossless   line {}{more}", lines.join(", "))?;
        }
        let unknown = self.unknown.len()
            + self
                .unknown_fields
                .values()
                .map(BTreeSet::len)
                .sum::<usize>();
        let lossless = if self.types.is_empty() {
            "not tried"
        } else if self.lossless {
            "lossless"
        } else {
            "NOT lossless"
        };
        writeln!(
            f,
            "{} {}, {unknown} unknown, {} malformed, round trip {lossless}",
            self.lines,
            if self.lines == 1 { "line" } else { "lines" },
            self.malformed.len()
        )
    }
}
