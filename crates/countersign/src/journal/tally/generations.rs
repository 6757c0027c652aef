//! The runs of the agent: when each began, how many records it has, how it ended.

use std::collections::BTreeMap;

use countersign_journal::{Exit, KeeperEvent};
use serde::Serialize;

/// How a generation ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "end")]
pub(crate) enum End {
    /// The agent ended.
    Exit(Exit),
    /// Its keeper ended without a word.
    Lost,
    /// The record of an end is not there: it runs, or is not in this file.
    NotRecorded,
}

impl End {
    pub(crate) fn words(&self) -> String {
        let exit = match self {
            End::Exit(exit) => exit,
            End::Lost => return "lost: its keeper died".to_owned(),
            End::NotRecorded => return "no end recorded".to_owned(),
        };
        let mut words = match (&exit.error, exit.code, exit.signal) {
            (Some(error), _, _) => format!("not started: {error}"),
            (None, Some(code), _) => format!("exit {code}"),
            (None, None, Some(signal)) => format!("signal {signal}"),
            (None, None, None) => "ended".to_owned(),
        };
        if let Some(step) = &exit.step {
            words.push_str(&format!(", by the end plan ({step})"));
        }
        if !exit.unwritten.is_empty() {
            words.push_str(&format!(", {} host lines unwritten", exit.unwritten.len()));
        }
        if !exit.killed.is_empty() {
            words.push_str(&format!(", {} processes killed", exit.killed.len()));
        }
        words
    }
}

/// What is said of a generation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct GenerationReport {
    pub(crate) generation: u32,
    pub(crate) records: u64,
    /// Microseconds of Unix time; of a recording since its beginning.
    pub(crate) first_at: u64,
    pub(crate) last_at: u64,
    /// How often a host took the agent over.
    pub(crate) attached: u64,
    #[serde(flatten)]
    pub(crate) end: End,
}

#[derive(Debug, Default)]
pub(crate) struct Generations(BTreeMap<u32, GenerationReport>);

impl Generations {
    fn entry(&mut self, generation: u32, at: u64) -> &mut GenerationReport {
        let empty = GenerationReport {
            generation,
            records: 0,
            first_at: at,
            last_at: at,
            attached: 0,
            end: End::NotRecorded,
        };
        self.0.entry(generation).or_insert(empty)
    }

    pub(crate) fn record(&mut self, generation: u32, at: u64) {
        let entry = self.entry(generation, at);
        entry.records += 1;
        entry.last_at = entry.last_at.max(at);
    }

    pub(crate) fn event(&mut self, generation: u32, event: &KeeperEvent) {
        let entry = self.entry(generation, 0);
        match event {
            KeeperEvent::Exit(exit) => entry.end = End::Exit(exit.clone()),
            KeeperEvent::Lost { .. } => entry.end = End::Lost,
            KeeperEvent::Attached { .. } => entry.attached += 1,
            _ => {}
        }
    }

    pub(crate) fn report(&self) -> Vec<GenerationReport> {
        self.0.values().cloned().collect()
    }
}
