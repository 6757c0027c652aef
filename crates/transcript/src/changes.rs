//! What one record changes, and entries as they stand after any number of records.
//!
//! Owns [`Changes`] and [`Entries`]. Invariant: whoever applies all changes in order holds what the fold holds, and the
//! entries it has let go of.

use std::collections::BTreeMap;

use countersign_journal::Cursor;
use serde::{Deserialize, Serialize};

use crate::body::{Said, Stderr, Thought};
use crate::clip::Clip;
use crate::entry::{Body, Entry};
use crate::id::{EntryId, cursor};

/// One change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryChange))]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The entry is new, or is now this.
    Put(Box<Entry>),
    /// The text of an entry goes on. Only of entries that were put before.
    Grow {
        /// Which entry.
        #[cfg_attr(feature = "schema", schema(value_type = String))]
        id: EntryId,
        /// The record it comes from.
        #[serde(with = "cursor")]
        #[cfg_attr(feature = "schema", schema(value_type = String))]
        last: Cursor,
        /// What follows the text; empty where the entry holds no more.
        text: String,
        /// Bytes of the whole text now.
        length: u64,
    },
}

impl Change {
    /// Which entry it changes.
    pub fn id(&self) -> EntryId {
        match self {
            Self::Put(entry) => entry.id,
            Self::Grow { id, .. } => *id,
        }
    }
}

/// What one record changes. They belong together: nobody sees half of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = EntryChanges))]
pub struct Changes {
    /// The record.
    #[serde(with = "cursor")]
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub cursor: Cursor,
    /// What it changes, in order.
    pub entries: Vec<Change>,
    /// The totals are others now.
    pub totals: bool,
}

impl Changes {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && !self.totals
    }
}

/// Entries by name, in the order in which they began.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Entries(BTreeMap<EntryId, Entry>);

impl Entries {
    /// Takes what a record changed.
    pub fn apply(&mut self, changes: Changes) {
        for change in changes.entries {
            match change {
                Change::Put(entry) => {
                    self.0.insert(entry.id, *entry);
                }
                Change::Grow {
                    id,
                    last,
                    text,
                    length,
                } => {
                    if let Some(entry) = self.0.get_mut(&id) {
                        entry.last = last;
                        if let Some(clip) = entry.body.growing() {
                            clip.text.push_str(&text);
                            clip.length = length;
                        }
                    }
                }
            }
        }
    }

    /// The entry of that name.
    pub fn get(&self, id: EntryId) -> Option<&Entry> {
        self.0.get(&id)
    }

    /// All of them, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.0.values()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts an entry, in place of one of that name.
    pub fn put(&mut self, entry: Entry) {
        self.0.insert(entry.id, entry);
    }

    /// Forgets the oldest, until so many are left.
    pub fn keep_newest(&mut self, most: usize) {
        while self.0.len() > most {
            self.0.pop_first();
        }
    }

    /// All of them, oldest first.
    pub fn into_vec(self) -> Vec<Entry> {
        self.0.into_values().collect()
    }
}

impl Body {
    /// The text that may grow by pieces.
    pub(crate) fn growing(&mut self) -> Option<&mut Clip> {
        match self {
            Self::Text(said) => {
                let Said { text, .. } = &mut **said;
                Some(text)
            }
            Self::Thinking(thought) => {
                let Thought { text, .. } = &mut **thought;
                Some(text)
            }
            Self::Stderr(Stderr { text }) => Some(text),
            _ => None,
        }
    }
}
