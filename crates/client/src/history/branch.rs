//! Reads the conversation of a transcript: one pass to find its entries, then each as it is asked for.
//!
//! What is kept in memory is some hundred bytes an entry, never the content.

use std::path::Path;

use countersign_wire::frame::DEFAULT_MAX_LINE;

use super::entry::Entry;
use super::error::HistoryError;
use super::graph::{Graph, Role};
use super::reader::{Lines, Place};

/// Which entries of the conversation are wanted.
#[derive(Debug, Clone, Default)]
pub struct BranchOptions {
    /// Also what the CLI noted between the messages (`system`): compactions, errors, commands.
    pub include_system: bool,
    /// Also what the CLI wrote for the model alone.
    pub include_meta: bool,
}

/// The messages of a conversation, oldest first. A failure to read is an item; the next one is tried all the same.
#[derive(Debug)]
pub struct Branch {
    lines: Lines,
    places: std::vec::IntoIter<Place>,
    broken: u64,
}

impl Branch {
    pub(super) fn read(
        path: &Path,
        options: &BranchOptions,
        sidechain: bool,
    ) -> Result<Self, HistoryError> {
        let mut lines = Lines::open(path, DEFAULT_MAX_LINE)?;
        let (mut graph, mut broken) = (Graph::default(), 0);
        while let Some(place) = lines.next_line()? {
            match lines.read(&place).entry() {
                Some(entry) => graph.add(entry, place),
                None => broken += 1,
            }
        }
        let branch = graph
            .branch(sidechain)
            .into_iter()
            .map(|index| graph.node(index));
        let wanted = branch.filter(|node| match node.role {
            Role::User | Role::Assistant => options.include_meta || !node.meta,
            Role::System => options.include_system,
            Role::Other => false,
        });
        let places: Vec<Place> = wanted.map(|node| node.place).collect();
        let places = places.into_iter();
        Ok(Self {
            lines,
            places,
            broken,
        })
    }

    /// How many lines of the file were no entries.
    pub fn broken_lines(&self) -> u64 {
        self.broken
    }
}

impl Iterator for Branch {
    type Item = Result<Entry, HistoryError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let place = self.places.next()?;
            // A line that is no entry any more was changed under our hands: it is no message.
            match self.lines.read_at(&place).map(|line| line.into_entry()) {
                Ok(Some(entry)) => return Some(Ok(entry)),
                Ok(None) => self.broken += 1,
                Err(error) => return Some(Err(error)),
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.places.len()))
    }

    /// Passes over entries without reading them.
    fn nth(&mut self, count: usize) -> Option<Self::Item> {
        if let Some(last) = count.checked_sub(1) {
            self.places.nth(last)?;
        }
        self.next()
    }
}
