//! One measurement as one JSON line.
//!
//! Owns the form that `cargo xtask bench server` reads. Figures have names with their unit; which there are depends on the
//! part.

use std::collections::BTreeMap;
use std::io::Write as _;

use anyhow::Context as _;
use serde::Serialize;

use crate::samples::Samples;
use crate::usage::Done;

/// What was measured, on which side of the comparison, and what came out.
#[derive(Debug, Serialize)]
pub(crate) struct Raw {
    part: &'static str,
    case: String,
    #[serde(flatten)]
    figures: BTreeMap<String, f64>,
}

impl Raw {
    pub(crate) fn new(part: &'static str, case: impl Into<String>) -> Self {
        Self {
            part,
            case: case.into(),
            figures: BTreeMap::new(),
        }
    }

    pub(crate) fn with(mut self, name: impl Into<String>, figure: f64) -> Self {
        self.figures.insert(name.into(), figure);
        self
    }

    /// How long it took, in microseconds.
    pub(crate) fn took(self, samples: &Samples) -> Self {
        self.with("samples", samples.len() as f64)
            .with("p50_us", samples.at(0.5))
            .with("p90_us", samples.at(0.9))
            .with("p99_us", samples.at(0.99))
            .with("most_us", samples.at(1.0))
    }

    /// What a process did for it.
    pub(crate) fn did(self, who: &str, done: Done) -> Self {
        self.with(format!("{who}_reads"), done.reads as f64)
            .with(format!("{who}_writes"), done.writes as f64)
            .with(format!("{who}_sleeps"), done.sleeps as f64)
            .with(format!("{who}_preempted"), done.preempted as f64)
            .with(format!("{who}_cpu_us"), done.cpu_us as f64)
    }

    /// Tells it at once, so that a run that is broken off has told what it found.
    pub(crate) fn tell(&self) -> anyhow::Result<()> {
        let line = serde_json::to_string(self).context("a measurement is no JSON")?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}").context("nobody reads the measurements")?;
        Ok(())
    }
}
