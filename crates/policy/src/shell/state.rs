//! What a command stands in, and what flows from one to the next.
//!
//! Owns the two records that [`super::reader`] carries along: the folder and the doubts that earlier commands leave behind, and
//! the wrappers and variables around one command. Invariant: a doubt stays once it is there; the first says why.

use std::sync::Arc;

use super::vars::{self, Reach};
use super::{Folder, Outer, Word};

/// What flows from one command to the next.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    pub(super) folder: Folder,
    /// Where a `cd` leads, if it succeeds.
    pub(super) moved: Option<Folder>,
    pub(super) obstacle: Option<String>,
    pub(super) hides: Option<String>,
}

impl State {
    /// A variable of the shell has been set.
    pub(super) fn set(&mut self, name: &str, value: &Word) {
        self.obstacle = self
            .obstacle
            .take()
            .or_else(|| vars::obstacle_of(name, value, Reach::Shell));
        self.hides = self.hides.take().or_else(|| vars::hides(name));
    }
}

/// What a command stands in.
#[derive(Debug, Clone, Default)]
pub(super) struct Around {
    pub(super) through: Vec<String>,
    pub(super) outer: Vec<Arc<Outer>>,
    pub(super) obstacle: Option<String>,
    pub(super) hides: Option<String>,
    pub(super) folder: Option<Folder>,
    /// Whether it runs when the rest has moved to who knows which folder.
    pub(super) is_later: bool,
}

impl Around {
    /// A variable is set in the environment of this command.
    pub(super) fn set(&mut self, name: &str, value: &Word) {
        self.obstacle = self
            .obstacle
            .take()
            .or_else(|| vars::obstacle_of(name, value, Reach::Environment));
        self.hides = self.hides.take().or_else(|| vars::hides(name));
    }

    pub(super) fn with(&self, label: impl Into<String>) -> Around {
        let mut around = self.clone();
        around.through.push(label.into());
        around
    }
}
