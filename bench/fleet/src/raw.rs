//! One measurement as one JSON line.
//!
//! Owns the form that `cargo xtask bench fleet` reads. Figures have names with their unit; which there are depends on the
//! part.

use std::collections::BTreeMap;
use std::io::Write as _;

use anyhow::Context as _;
use serde::Serialize;

/// What was measured with so many agents, and what came out.
#[derive(Debug, Serialize)]
pub(crate) struct Raw {
    agents: usize,
    part: &'static str,
    case: &'static str,
    #[serde(flatten)]
    figures: BTreeMap<&'static str, f64>,
}

impl Raw {
    pub(crate) fn new(agents: usize, part: &'static str, case: &'static str) -> Self {
        Self {
            agents,
            part,
            case,
            figures: BTreeMap::new(),
        }
    }

    pub(crate) fn with(mut self, name: &'static str, figure: f64) -> Self {
        self.figures.insert(name, figure);
        self
    }

    /// Tells it at once, so that a run that is broken off has told what it found.
    pub(crate) fn tell(&self) -> anyhow::Result<()> {
        let line = serde_json::to_string(self).context("a measurement is no JSON")?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}").context("nobody reads the measurements")?;
        Ok(())
    }
}
