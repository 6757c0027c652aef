//! Whether what a folder allows by itself shall count.
//!
//! Owns the question that is asked before the first turn in a folder that brings allow rules or programs of its own.

use super::{Choice, Dialog, Step};
use crate::term::keys::Input;
use crate::term::menu::{Item, Menu, Picked};
use crate::term::screen::Size;
use crate::term::style::{Line, Tone};

/// The question of trust.
#[derive(Debug)]
pub(crate) struct TrustFolder {
    folder: String,
    brought: Vec<String>,
    menu: Menu,
}

impl TrustFolder {
    pub(crate) fn new(folder: String, brought: Vec<String>) -> Self {
        let item = |label: &str, key: char| Item {
            label: label.to_owned(),
            hint: String::new(),
            key: Some(key),
            opens_text: None,
        };
        let items = vec![
            item("No: leave them out", 'n'),
            item("Yes: I know where they come from", 'y'),
        ];
        Self {
            folder,
            brought,
            menu: Menu::one(Vec::new(), items),
        }
    }
}

impl Dialog for TrustFolder {
    fn intro(&self, _width: usize) -> Vec<Line> {
        let mut lines = vec![
            Line::new(),
            Line::of(
                "This folder brings rules or programs of its own. Shall they count?",
                Tone::Warn,
            )
            .after("? ", Tone::Warn),
            Line::of(&self.folder, Tone::Code).after("  ", Tone::Plain),
        ];
        // All of it, however long: a yes is for all of it.
        let shown = self.brought.iter();
        lines.extend(shown.map(|what| Line::of(what, Tone::Code).after("  ", Tone::Dim)));
        lines
    }

    fn lines(&self, size: Size) -> (Vec<Line>, Option<(u16, u16)>) {
        self.menu.lines(size)
    }

    fn input(&mut self, input: &Input) -> Step {
        match self.menu.input(input) {
            Picked::One { index, .. } => Step::Done(Choice::Trust(index == 1)),
            Picked::Cancelled => Step::Done(Choice::Trust(false)),
            Picked::Going | Picked::Many { .. } => Step::Going,
        }
    }

    fn edited(&mut self, _text: Option<String>) -> Step {
        Step::Going
    }
}
