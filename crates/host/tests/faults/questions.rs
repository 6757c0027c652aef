//! The questions of a journal, with all it tells of each of them.
//!
//! Owns the fold from the raw records to what an approval must have come to. Written apart from the host's own fold, from
//! the specification: two that agree are worth more than one.

use std::collections::BTreeMap;

use countersign_journal::Kind;
use serde_json::Value;

use crate::checks::Case;
use crate::evidence::{Entry, answer, question, tool_results};

/// A question as the journal tells of it.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) id: String,
    pub(crate) mark: String,
    /// Whether the answer in the journal allows.
    allowed: Option<bool>,
    /// Who the journal says decided.
    pub(crate) by: Option<String>,
    /// Whether the call failed, if a result came.
    failed: Option<bool>,
    is_cancelled: bool,
    /// Its agent has ended.
    is_dead: bool,
}

impl Asked {
    /// Where its approval may be.
    pub(crate) fn lives(&self) -> &'static [&'static str] {
        match (self.allowed, self.failed) {
            (None, _) if self.is_cancelled => &["withdrawn cancelled", "withdrawn interrupted"],
            (None, _) if self.is_dead => &["withdrawn agent_gone"],
            (None, _) => &["open", "decided"],
            (Some(true), Some(false)) => &["settled ran"],
            (Some(true), Some(true)) => &["settled failed"],
            (Some(false), Some(_)) => &["settled refused"],
            (Some(_), None) if self.is_cancelled => &["settled unused"],
            (Some(true), None) if self.is_dead => &["settled unknown"],
            (Some(false), None) if self.is_dead => &["settled refused"],
            (Some(_), None) => &["written"],
        }
    }
}

/// The questions of a journal, by record.
pub(crate) fn asked(case: &Case) -> BTreeMap<String, Asked> {
    let mut reading = Reading::default();
    for entry in &case.journal.entries {
        reading.take(entry);
    }
    let newest = case.journal.generations().last().copied();
    for one in reading.asked.values_mut() {
        one.1.is_dead |= Some(one.0) < newest;
    }
    let asked = reading.asked.into_iter();
    asked.map(|(record, (_, one))| (record, one)).collect()
}

#[derive(Debug, Default)]
struct Reading {
    asked: BTreeMap<String, (u32, Asked)>,
    /// By generation and the name of the question or of the call.
    records: BTreeMap<(u32, String), String>,
    note: Value,
}

impl Reading {
    fn take(&mut self, entry: &Entry) {
        let (generation, line) = (entry.generation, entry.json());
        match entry.kind {
            Kind::Agent => self.said(entry, &line),
            Kind::Note => self.note = line,
            Kind::Host => {
                let by = self.note["by"].as_str().map(str::to_owned);
                if let Some((id, allows)) = answer(&line)
                    && let Some(one) = self.find(generation, id)
                {
                    (one.allowed, one.by) = (Some(allows), by);
                }
            }
            Kind::Keeper if entry.is_event("exit") || entry.is_event("lost") => {
                let all = self.asked.values_mut();
                for (_, one) in all.filter(|(of, _)| *of == generation) {
                    one.is_dead = true;
                }
            }
            _ => {}
        }
    }

    fn said(&mut self, entry: &Entry, line: &Value) {
        let generation = entry.generation;
        if let Some((id, call, mark)) = question(line) {
            let record = format!("{generation}-{}", entry.seq);
            for name in [id, call] {
                self.records
                    .insert((generation, name.to_owned()), record.clone());
            }
            let one = Asked {
                id: id.to_owned(),
                mark: mark.to_owned(),
                allowed: None,
                by: None,
                failed: None,
                is_cancelled: false,
                is_dead: false,
            };
            self.asked.insert(record, (generation, one));
        }
        if line["type"] == "control_cancel_request"
            && let Some(one) =
                self.find(generation, line["request_id"].as_str().unwrap_or_default())
        {
            one.is_cancelled = true;
        }
        for (call, failed) in tool_results(line) {
            if let Some(one) = self.find(generation, &call) {
                one.failed = Some(failed);
            }
        }
    }

    fn find(&mut self, generation: u32, name: &str) -> Option<&mut Asked> {
        let record = self.records.get(&(generation, name.to_owned()))?;
        self.asked.get_mut(record).map(|(_, one)| one)
    }
}
