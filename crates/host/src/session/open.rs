//! What is open at the moment: running calls, tasks, questions, messages on their way.
//!
//! Owns the bounded lists. Invariant: no list grows beyond its bound; what is let go of is named.

use serde::{Deserialize, Serialize};

use super::{Effect, Kept};
use crate::control::MessageId;

/// The most of each kind that are kept.
pub(super) const MOST: usize = 256;

/// A call of a tool without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tool {
    pub(super) id: String,
    pub(super) name: String,
    /// The call whose sub-agent makes it.
    pub(super) parent: Option<String>,
}

/// A task that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) id: String,
    pub(super) tool_use_id: Option<String>,
    pub(super) is_background: bool,
}

/// A question without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Question {
    pub(super) id: String,
    pub(super) tool: Option<String>,
    /// A person has to decide it.
    pub(super) needs_person: bool,
}

/// A message on its way: taken from the queue and not yet read by the CLI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unread {
    pub(super) id: MessageId,
    /// It stands in the journal.
    pub(super) is_written: bool,
    /// A host that has ended was to write it: perhaps it never did.
    #[serde(default)]
    pub(super) is_doubtful: bool,
    /// A person wants it sent at once, held or not.
    #[serde(default)]
    pub(super) is_at_once: bool,
}

/// Something with a name that can be open.
pub(super) trait Named {
    const KIND: Kept;
    fn is(&self, id: &str) -> bool;
    fn name(&self) -> String;
}

macro_rules! named {
    ($what:ident, $kind:ident) => {
        impl Named for $what {
            const KIND: Kept = Kept::$kind;

            fn is(&self, id: &str) -> bool {
                self.id == id
            }

            fn name(&self) -> String {
                self.id.clone()
            }
        }
    };
}

named!(Tool, Tool);
named!(Task, Task);
named!(Question, Question);

impl Named for Unread {
    const KIND: Kept = Kept::Message;

    fn is(&self, id: &str) -> bool {
        id.parse() == Ok(self.id)
    }

    fn name(&self) -> String {
        self.id.to_string()
    }
}

/// A few things, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Open<T>(Vec<T>);

impl<T> Default for Open<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Open<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.0.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut()
    }

    pub(super) fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        self.0.retain(keep);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl<T: Named> Open<T> {
    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut T> {
        self.0.iter_mut().find(|one| one.is(id))
    }

    pub(super) fn contains(&self, id: &str) -> bool {
        self.0.iter().any(|one| one.is(id))
    }

    /// Opens one. The same name again replaces what was known under it; beyond the bound the oldest is let go.
    pub(super) fn open(&mut self, one: T, out: &mut Vec<Effect>) {
        let name = one.name();
        if let Some(known) = self.get_mut(&name) {
            *known = one;
            return;
        }
        if self.0.len() >= MOST {
            let oldest = self.0.remove(0);
            out.push(Effect::LetGo {
                what: T::KIND,
                id: oldest.name(),
            });
        }
        self.0.push(one);
    }

    /// Closes one, and says whether it was open.
    pub(super) fn close(&mut self, id: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|one| !one.is(id));
        self.0.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(n: usize) -> Question {
        Question {
            id: format!("q{n}"),
            tool: None,
            needs_person: true,
        }
    }

    #[test]
    fn beyond_the_bound_the_oldest_is_let_go_and_named() {
        let mut open = Open::default();
        let mut out = Vec::new();
        for n in 0..MOST {
            open.open(question(n), &mut out);
        }
        assert_eq!(out, []);
        open.open(question(MOST), &mut out);
        let let_go = Effect::LetGo {
            what: Kept::Question,
            id: "q0".into(),
        };
        assert_eq!(out, [let_go]);
        assert_eq!(open.iter().count(), MOST);
        assert!(!open.close("q0"));
        assert!(open.close("q1"));
    }

    #[test]
    fn the_same_name_again_is_one() {
        let mut open = Open::default();
        let mut out = Vec::new();
        open.open(question(1), &mut out);
        open.open(question(1), &mut out);
        assert_eq!(open.iter().count(), 1);
    }
}
