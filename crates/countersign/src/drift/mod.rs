//! What a CLI can say, compared with what we know: `countersign drift`.
//!
//! [`Surface`] is the list of all message types, control requests, hook events, tools, flags and fields that a source
//! knows. [`scan()`] reads it off an installed CLI, [`declarations`] off type declarations, [`inventory()`] off our own list;
//! [`probe()`] asks a running CLI. [`compare()`] finds what is new, gone and changed, [`report`] writes it down. All but
//! `probe` is pure.

mod compare;
mod declarations;
mod inventory;
mod members;
mod probe;
mod report;
mod scan;
mod stage;

use std::collections::BTreeMap;

use serde::Serialize;

pub(crate) use compare::compare;
pub(crate) use declarations::{read_message_types, read_tool_types};
pub(crate) use inventory::{Inventory, inventory};
pub(crate) use probe::probe;
pub(crate) use report::{DriftReport, Finding, markdown, text};
pub(crate) use scan::{Program, add_contained, find_text, scan};
pub(crate) use stage::Agent;

/// What stands between the older and the newer name of a tool.
const ARROW: &str = " → ";

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    Message,
    ControlRequest,
    HookEvent,
    Tool,
    /// An older name of a tool, as `Task → Agent`.
    ToolAlias,
    Flag,
}

impl Kind {
    pub(crate) const ALL: [Self; 6] = [
        Self::Message,
        Self::ControlRequest,
        Self::HookEvent,
        Self::Tool,
        Self::ToolAlias,
        Self::Flag,
    ];

    /// Returns the heading of a list of such names.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Message => "Messages",
            Self::ControlRequest => "Control requests",
            Self::HookEvent => "Hook events",
            Self::Tool => "Tools",
            Self::ToolAlias => "Names of tools",
            Self::Flag => "Flags",
        }
    }
}

/// Fields of one entry, by name.
pub(crate) type Fields = BTreeMap<String, Field>;

/// What a source says of one field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Field {
    /// Whether it may be absent, where the source says so.
    pub(crate) is_optional: Option<bool>,
    /// Whether it was seen without being declared: a source that lacks it may have it all the same.
    pub(crate) is_undeclared: bool,
    /// Its type, in the grammar of the inventory; `None` where the source does not say it in a form that is read.
    pub(crate) type_text: Option<String>,
}

/// What a source says of one name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    /// `None` where the source names it without saying what it holds.
    pub(crate) fields: Option<Fields>,
    /// Whether there may be fields that the source does not list here.
    pub(crate) is_open: bool,
    /// Where in the file it was found first.
    pub(crate) offset: Option<u64>,
}

/// Everything a source knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Surface {
    entries: BTreeMap<(Kind, String), Entry>,
}

impl Surface {
    /// Adds what was found. A name found twice has the fields of both; one that is optional in either is optional.
    pub(crate) fn add(&mut self, kind: Kind, name: &str, found: Entry) {
        let entry = self.entries.entry((kind, name.to_owned())).or_default();
        entry.is_open |= found.is_open;
        entry.offset = match (entry.offset, found.offset) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let Some(fields) = found.fields else {
            return;
        };
        let known = entry.fields.get_or_insert_default();
        for (name, field) in fields {
            let known = known.entry(name).or_insert_with(|| field.clone());
            known.is_optional = match (known.is_optional, field.is_optional) {
                (Some(one), Some(other)) => Some(one || other),
                (one, other) => one.or(other),
            };
            known.type_text = known.type_text.take().or(field.type_text);
        }
    }

    /// Adds all of another source.
    pub(crate) fn merge(&mut self, other: Surface) {
        for ((kind, name), entry) in other.entries {
            self.add(kind, &name, entry);
        }
    }

    /// Gives tools that are listed by an older name the name they have now.
    pub(crate) fn resolve_aliases(&mut self) {
        let aliases: Vec<String> = self
            .of(Kind::ToolAlias)
            .map(|(name, _)| name.to_owned())
            .collect();
        for (old, new) in aliases.iter().filter_map(|alias| alias.split_once(ARROW)) {
            if let Some(entry) = self.entries.remove(&(Kind::Tool, old.to_owned())) {
                self.add(Kind::Tool, new, entry);
            }
        }
    }

    /// Returns whether a tool has this name, or had it.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        let is_alias = |alias: &str| alias.split_once(ARROW).is_some_and(|(old, _)| old == name);
        self.get(Kind::Tool, name).is_some()
            || self.of(Kind::ToolAlias).any(|(alias, _)| is_alias(alias))
    }

    /// Removes all entries of one kind.
    pub(crate) fn remove(&mut self, kind: Kind) {
        self.entries.retain(|(one, _), _| *one != kind);
    }

    pub(crate) fn get(&self, kind: Kind, name: &str) -> Option<&Entry> {
        self.entries.get(&(kind, name.to_owned()))
    }

    /// Returns the entries of one kind, in the order of their names.
    pub(crate) fn of(&self, kind: Kind) -> impl Iterator<Item = (&str, &Entry)> {
        let entries = self
            .entries
            .iter()
            .filter(move |((one, _), _)| *one == kind);
        entries.map(|((_, name), entry)| (name.as_str(), entry))
    }
}
