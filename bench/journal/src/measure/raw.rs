//! One measurement as one JSON line.
//!
//! Owns the form that `cargo xtask bench journal` reads. Figures have names with their unit; which there are depends on the
//! part.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::time::Duration;

use anyhow::Context as _;
use serde::Serialize;

/// What was measured, on which side of the comparison, and what came out.
#[derive(Debug, Serialize)]
pub(crate) struct Raw {
    part: &'static str,
    case: String,
    side: &'static str,
    #[serde(flatten)]
    figures: BTreeMap<&'static str, f64>,
}

impl Raw {
    pub(crate) fn new(part: &'static str, case: impl Into<String>, side: &'static str) -> Self {
        Self {
            part,
            case: case.into(),
            side,
            figures: BTreeMap::new(),
        }
    }

    pub(crate) fn with(mut self, name: &'static str, figure: f64) -> Self {
        self.figures.insert(name, figure);
        self
    }

    /// How much was moved, and how long it took.
    pub(crate) fn moved(self, records: u64, bytes: u64, took: Duration) -> Self {
        self.with("records", records as f64)
            .with("bytes", bytes as f64)
            .with("seconds", took.as_secs_f64())
    }

    /// Tells it at once, so that a run that is broken off has told what it found.
    pub(crate) fn tell(&self) -> anyhow::Result<()> {
        let line = serde_json::to_string(self).context("a measurement is no JSON")?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}").context("nobody reads the measurements")?;
        Ok(())
    }
}
