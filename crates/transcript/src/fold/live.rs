//! The entries that may still change.
//!
//! Owns their bounds and what is told of them after each record. Invariants: an entry is told once a record, as it is
//! behind it; one that is final is told and forgotten.

use std::collections::BTreeMap;

use countersign_journal::Cursor;
use serde::{Deserialize, Serialize};

use crate::body::{Standing, Tool};
use crate::bounds;
use crate::changes::Change;
use crate::clip::{Clip, Shown};
use crate::entry::{Body, Entry, Life};
use crate::id::EntryId;

/// Whose an entry is.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    pub(super) speaker: Option<String>,
    pub(super) parent: Option<EntryId>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Live {
    entries: BTreeMap<EntryId, Entry>,
    #[serde(skip)]
    step: Step,
}

/// What is known of the record that is being folded.
#[derive(Debug, Clone, Default)]
struct Step {
    here: Cursor,
    at: u64,
    born: u16,
    touched: Vec<EntryId>,
    grown: Vec<Change>,
}

impl Live {
    pub(super) fn begin(&mut self, here: Cursor, at: u64) {
        self.step = Step {
            here,
            at,
            ..Step::default()
        };
    }

    pub(super) fn here(&self) -> Cursor {
        self.step.here
    }

    pub(super) fn at(&self) -> u64 {
        self.step.at
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// An entry that may change.
    pub(super) fn open(&mut self, place: Place, body: Body) -> EntryId {
        let id = EntryId::new(self.step.here, self.step.born);
        self.step.born = self.step.born.saturating_add(1);
        let entry = Entry {
            id,
            parent: place.parent,
            speaker: place.speaker,
            first: self.step.here,
            last: self.step.here,
            at: self.step.at,
            life: Life::Open,
            body,
        };
        self.entries.insert(id, entry);
        self.touch(id);
        id
    }

    /// An entry that is final at once.
    pub(super) fn put(&mut self, place: Place, body: Body) -> EntryId {
        let id = self.open(place, body);
        self.close(id);
        id
    }

    pub(super) fn get(&self, id: EntryId) -> Option<&Entry> {
        self.entries.get(&id)
    }

    /// The entry, which the record changes.
    pub(super) fn change(&mut self, id: EntryId) -> Option<&mut Entry> {
        if !self.entries.contains_key(&id) {
            return None;
        }
        self.touch(id);
        self.entries.get_mut(&id)
    }

    pub(super) fn tool(&mut self, id: EntryId) -> Option<&mut Tool> {
        match &mut self.change(id)?.body {
            Body::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// The text of an entry goes on.
    pub(super) fn grow(&mut self, id: EntryId, piece: &str) {
        let last = self.step.here;
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        entry.last = last;
        let Some(clip) = entry.body.growing() else {
            return;
        };
        let text = clip.grow(piece).to_owned();
        let length = clip.length;
        self.step.grown.push(Change::Grow {
            id,
            last,
            text,
            length,
        });
    }

    /// Nothing more will happen to it.
    pub(super) fn close(&mut self, id: EntryId) {
        if let Some(entry) = self.change(id) {
            entry.life = Life::Final;
        }
    }

    pub(super) fn ids(&self) -> Vec<EntryId> {
        self.entries.keys().copied().collect()
    }

    fn touch(&mut self, id: EntryId) {
        let here = self.step.here;
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.last = here;
        }
        if !self.step.touched.contains(&id) {
            self.step.touched.push(id);
        }
    }

    /// Lets go of an entry where there are too many: the oldest, if possible one that no person is asked about.
    pub(super) fn let_go(&mut self) -> Option<EntryId> {
        let open = || {
            let entries = self.entries.values();
            entries.filter(|entry| entry.life == Life::Open)
        };
        if open().count() <= bounds::OPEN {
            return None;
        }
        let oldest = open().find(|entry| !is_asked(&entry.body));
        let id = oldest.or_else(|| open().next())?.id;
        if let Some(entry) = self.change(id) {
            entry.life = Life::LetGo;
        }
        Some(id)
    }

    /// What is to be told of the record. Entries that are final with it are forgotten.
    pub(super) fn finish(&mut self) -> Vec<Change> {
        let mut changes = std::mem::take(&mut self.step.grown);
        let touched = std::mem::take(&mut self.step.touched);
        // What is told whole needs no piece.
        changes.retain(|change| !touched.contains(&change.id()));
        for id in &touched {
            match self.entries.get(id) {
                Some(entry) if entry.life == Life::Open => {
                    changes.push(Change::Put(Box::new(entry.clone())));
                }
                _ => {
                    if let Some(entry) = self.entries.remove(id) {
                        changes.push(Change::Put(Box::new(entry)));
                    }
                }
            }
        }
        if !touched.is_empty() {
            self.shorten();
        }
        changes
    }

    /// Keeps the texts of open entries together within their bound.
    fn shorten(&mut self) {
        let mut weight: usize = self.entries.values_mut().map(weigh).sum();
        for entry in self.entries.values_mut() {
            if weight <= bounds::OPEN_BYTES {
                return;
            }
            let before = weigh(entry);
            let whole = entry.last;
            parts(entry, &mut |part| match part {
                Part::Clip(clip) => clip.shorten(whole),
                Part::Shown(shown) => shown.shorten(whole),
            });
            weight = weight - before + weigh(entry);
        }
    }
}

fn is_asked(body: &Body) -> bool {
    let approval = match body {
        Body::Tool(tool) => tool.approval.as_deref(),
        Body::Ask(ask) => Some(&ask.approval),
        _ => None,
    };
    approval.is_some_and(|approval| approval.standing == Standing::Open)
}

/// A part of an entry that can be long.
enum Part<'a> {
    Clip(&'a mut Clip),
    Shown(&'a mut Shown),
}

fn weigh(entry: &mut Entry) -> usize {
    let mut sum = 0;
    parts(entry, &mut |part| {
        sum += match part {
            Part::Clip(clip) => clip.text.len(),
            Part::Shown(shown) => shown.json.as_str().len(),
        };
    });
    sum
}

/// Every part of an open entry that can be long.
fn parts(entry: &mut Entry, visit: &mut dyn FnMut(Part<'_>)) {
    match &mut entry.body {
        Body::Prompt(prompt) => visit(Part::Clip(&mut prompt.text)),
        Body::Text(said) => visit(Part::Clip(&mut said.text)),
        Body::Thinking(thought) => visit(Part::Clip(&mut thought.text)),
        Body::Stderr(stderr) => visit(Part::Clip(&mut stderr.text)),
        Body::Tool(tool) => {
            tool.input
                .iter_mut()
                .for_each(|part| visit(Part::Shown(part)));
            if let Some(result) = &mut tool.result {
                visit(Part::Clip(&mut result.text));
                let structured = result.structured.iter_mut();
                structured.for_each(|part| visit(Part::Shown(part)));
            }
            if let Some(approval) = &mut tool.approval {
                approval_parts(approval, visit);
            }
            let summary = tool.agent.iter_mut().flat_map(|agent| &mut agent.summary);
            summary.for_each(|part| visit(Part::Clip(part)));
        }
        Body::Ask(ask) => {
            ask.message
                .iter_mut()
                .for_each(|part| visit(Part::Clip(part)));
            ask.form
                .iter_mut()
                .for_each(|part| visit(Part::Shown(part)));
            approval_parts(&mut ask.approval, visit);
        }
        Body::Task(task) => task
            .summary
            .iter_mut()
            .for_each(|part| visit(Part::Clip(part))),
        Body::Hook(hook) => hook
            .output
            .iter_mut()
            .for_each(|part| visit(Part::Clip(part))),
        Body::Compaction(compaction) => {
            let summary = compaction.summary.iter_mut();
            summary.for_each(|part| visit(Part::Clip(part)));
        }
        _ => {}
    }
}

fn approval_parts(approval: &mut crate::body::Approval, visit: &mut dyn FnMut(Part<'_>)) {
    approval
        .input
        .iter_mut()
        .for_each(|part| visit(Part::Shown(part)));
    approval
        .suggestions
        .iter_mut()
        .for_each(|part| visit(Part::Shown(part)));
    if let Some(answer) = &mut approval.answer {
        answer
            .message
            .iter_mut()
            .for_each(|part| visit(Part::Clip(part)));
        answer
            .input
            .iter_mut()
            .for_each(|part| visit(Part::Shown(part)));
        answer
            .updates
            .iter_mut()
            .for_each(|part| visit(Part::Shown(part)));
    }
}
