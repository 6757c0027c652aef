//! Choosing one of some things, or several of them.
//!
//! Owns the cursor of the menu, what is ticked, and the text that may come with a choice. Pure: keys in, outcome and
//! rows out. A digit or the key of an item takes it at once; what does not fit scrolls.

use unicode_width::UnicodeWidthStr as _;

use super::editor::{Edited, Editor};
use super::keys::{Input, Key};
use super::panel::{self, Panel};
use super::screen::Size;
use super::style::{Line, Tone};

/// Something that can be chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) label: String,
    /// Said behind it, or below it where there is no room.
    pub(crate) hint: String,
    /// Takes it at once; shown as `[y]`.
    pub(crate) key: Option<char>,
    /// Asks for a text that comes with this choice, a reason for instance: its prompt.
    pub(crate) opens_text: Option<String>,
}

impl Item {
    /// One that has only a label.
    pub(crate) fn new(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            ..Self::default()
        }
    }

    #[must_use]
    pub(crate) fn key(mut self, key: char) -> Self {
        self.key = Some(key);
        self
    }
}

/// What a key came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Picked {
    Going,
    /// `text` is there where the item asked for one and one was written.
    One {
        index: usize,
        text: Option<String>,
    },
    /// In the order of the items.
    Many {
        indexes: Vec<usize>,
        text: Option<String>,
    },
    Cancelled,
}

/// A menu.
#[derive(Debug, Clone)]
pub(crate) struct Menu {
    title: Vec<Line>,
    items: Vec<Item>,
    cursor: usize,
    /// What is ticked, where several can be.
    ticked: Option<Vec<bool>>,
    /// The text that is being written for the item at the cursor.
    writing: Option<Editor>,
    /// The text that came with a ticked item.
    text: Option<String>,
    /// What is said below, instead of the usual.
    footer: Option<&'static str>,
}

impl Menu {
    /// Chooses one.
    pub(crate) fn one(title: Vec<Line>, items: Vec<Item>) -> Self {
        Self {
            title,
            items,
            cursor: 0,
            ticked: None,
            writing: None,
            text: None,
            footer: None,
        }
    }

    /// Chooses several, or none.
    pub(crate) fn many(title: Vec<Line>, items: Vec<Item>) -> Self {
        let ticked = Some(vec![false; items.len()]);
        Self {
            ticked,
            ..Self::one(title, items)
        }
    }

    /// With the cursor on this item.
    #[must_use]
    pub(crate) fn at(mut self, index: usize) -> Self {
        self.cursor = index.min(self.items.len().saturating_sub(1));
        self
    }

    /// With these items ticked.
    #[must_use]
    pub(crate) fn ticked(mut self, indexes: &[usize]) -> Self {
        if let Some(ticked) = &mut self.ticked {
            ticked
                .iter_mut()
                .enumerate()
                .for_each(|(at, is_ticked)| *is_ticked = indexes.contains(&at));
        }
        self
    }

    /// With other words below, where keys do something else.
    #[must_use]
    pub(crate) fn footed(mut self, words: &'static str) -> Self {
        self.footer = Some(words);
        self
    }

    /// Whether a text is being written, so that letters are letters.
    pub(crate) fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// What a key or a paste does. Everything else is for the caller.
    pub(crate) fn input(&mut self, input: &Input) -> Picked {
        match input {
            Input::Key(key) => return self.key(*key),
            Input::Paste(text) => self.paste(text),
            Input::Resize(_) | Input::Closed => {}
        }
        Picked::Going
    }

    /// Takes a paste, where a text is being written.
    pub(crate) fn paste(&mut self, text: &str) {
        if let Some(editor) = &mut self.writing {
            editor.paste(text);
        }
    }

    /// What a key does.
    pub(crate) fn key(&mut self, key: Key) -> Picked {
        if self.writing.is_some() {
            return self.write(key);
        }
        match key {
            Key::Esc | Key::Ctrl('c') => Picked::Cancelled,
            Key::Enter => self.enter(),
            Key::Char(' ') if self.ticked.is_some() => self.take(self.cursor),
            Key::Char(letter) => match self.called(letter) {
                Some(index) => self.take(index),
                None => self.go(key),
            },
            key => self.go(key),
        }
    }

    fn go(&mut self, key: Key) -> Picked {
        let last = self.items.len().saturating_sub(1);
        self.cursor = match key {
            Key::Up | Key::Char('k') | Key::Ctrl('p') => self.cursor.checked_sub(1).unwrap_or(last),
            Key::Down | Key::Char('j') | Key::Ctrl('n') | Key::Tab => match self.cursor == last {
                true => 0,
                false => self.cursor + 1,
            },
            Key::Home => 0,
            Key::End => last,
            Key::PageUp => self.cursor.saturating_sub(5),
            Key::PageDown => (self.cursor + 5).min(last),
            _ => self.cursor,
        };
        Picked::Going
    }

    /// The item that a letter or digit means. A letter means its own item in either case, unless both are taken.
    fn called(&self, letter: char) -> Option<usize> {
        let by_key = |wanted: char| self.items.iter().position(|item| item.key == Some(wanted));
        let other = match letter.is_uppercase() {
            true => letter.to_ascii_lowercase(),
            false => letter.to_ascii_uppercase(),
        };
        let by_digit = || {
            let number = letter.to_digit(10)? as usize;
            number
                .checked_sub(1)
                .filter(|index| *index < self.items.len())
        };
        by_key(letter).or_else(|| by_key(other)).or_else(by_digit)
    }

    fn enter(&mut self) -> Picked {
        let is_waiting = |ticked: &Vec<bool>| {
            !ticked[self.cursor] && self.items[self.cursor].opens_text.is_some()
        };
        match &self.ticked {
            Some(ticked) if self.items.is_empty() || !is_waiting(ticked) => Picked::Many {
                indexes: (0..ticked.len()).filter(|at| ticked[*at]).collect(),
                text: self.text.clone(),
            },
            _ => self.take(self.cursor),
        }
    }

    /// Chooses an item, or ticks it.
    fn take(&mut self, index: usize) -> Picked {
        let Some(item) = self.items.get(index) else {
            return Picked::Going;
        };
        self.cursor = index;
        let is_ticked = self.ticked.as_ref().is_some_and(|ticked| ticked[index]);
        match &item.opens_text {
            Some(prompt) if !is_ticked => {
                let text = self.text.as_deref().unwrap_or_default();
                self.writing = Some(Editor::new(prompt).with_text(text));
                Picked::Going
            }
            _ => self.choose(index, !is_ticked, None),
        }
    }

    fn choose(&mut self, index: usize, is_ticked: bool, text: Option<String>) -> Picked {
        match &mut self.ticked {
            None => Picked::One { index, text },
            Some(ticked) => {
                ticked[index] = is_ticked;
                if self.items[index].opens_text.is_some() {
                    self.text = text;
                }
                Picked::Going
            }
        }
    }

    fn write(&mut self, key: Key) -> Picked {
        let Some(editor) = &mut self.writing else {
            return Picked::Going;
        };
        if key == Key::Esc {
            self.writing = None;
            return Picked::Going;
        }
        match editor.key(key) {
            Edited::Done(text) => {
                self.writing = None;
                let text = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
                self.choose(self.cursor, text.is_some(), text)
            }
            _ => Picked::Going,
        }
    }

    /// The rows at this size, and where the cursor is while a text is written.
    pub(crate) fn lines(&self, size: Size) -> (Vec<Line>, Option<(u16, u16)>) {
        self.draw(&self.title, size)
    }

    /// The same under another title.
    pub(crate) fn draw(&self, title: &[Line], size: Size) -> (Vec<Line>, Option<(u16, u16)>) {
        let width = usize::from(size.columns).max(1);
        let indent = self
            .marks()
            .iter()
            .map(|mark| mark.width())
            .max()
            .unwrap_or(0)
            + 2;
        let mut blocks: Vec<Vec<Line>> = (0..self.items.len())
            .map(|index| self.block(index, indent.min(width / 2), width))
            .collect();
        let mut cursor = None;
        let mut row = 0;
        if let (Some(editor), Some(block)) = (&self.writing, blocks.get_mut(self.cursor)) {
            let indent = indent.min(width / 4);
            let narrower = u16::try_from(width - indent).unwrap_or(u16::MAX);
            let (lines, at) = editor.lines(narrower);
            row = block.len() + usize::from(at.0);
            cursor = Some(at.1 + u16::try_from(indent).unwrap_or(0));
            block.extend(
                lines
                    .into_iter()
                    .map(|line| line.after(&" ".repeat(indent), Tone::Plain)),
            );
        }
        let footer = Some(Line::of(self.footer(), Tone::Dim).cut(width));
        let panel = Panel {
            title: panel::rows(title, width),
            blocks,
            chosen: self.cursor,
            row,
            footer,
        };
        let fitted = panel.fit(usize::from(size.rows).saturating_sub(1));
        let row = u16::try_from(fitted.row).unwrap_or(u16::MAX);
        (fitted.lines, cursor.map(|column| (row, column)))
    }

    fn footer(&self) -> &'static str {
        match (&self.writing, &self.ticked) {
            (Some(_), _) => "Enter ends the text · Esc back",
            (None, _) if self.footer.is_some() => self.footer.unwrap_or_default(),
            (None, None) => "↑↓ Enter · Esc cancels",
            (None, Some(_)) => "Space ticks · Enter done · Esc cancels",
        }
    }

    /// What stands before each label: its key or its number, and whether it is ticked.
    fn marks(&self) -> Vec<String> {
        let mark = |(index, item): (usize, &Item)| {
            let tick = match self.ticked.as_ref().map(|ticked| ticked[index]) {
                None => "",
                Some(true) => "[x] ",
                Some(false) => "[ ] ",
            };
            match (item.key, index) {
                (Some(key), _) if self.ticked.is_none() => format!("[{key}] "),
                (Some(key), _) => format!("{tick}{key}. "),
                (None, 0..9) => format!("{tick}{}. ", index + 1),
                (None, _) => format!("{tick}   "),
            }
        };
        self.items.iter().enumerate().map(mark).collect()
    }

    /// The rows of one item.
    fn block(&self, index: usize, indent: usize, width: usize) -> Vec<Line> {
        let item = &self.items[index];
        let is_here = index == self.cursor;
        let (pointer, tone) = match is_here {
            true => ("❯ ", Tone::Chosen),
            false => ("  ", Tone::Plain),
        };
        let mark = format!(
            "{:<pad$}",
            self.marks()[index],
            pad = indent.saturating_sub(2)
        );
        let mark_tone = if is_here { Tone::Chosen } else { Tone::Accent };
        let line = Line::of(pointer, Tone::Chosen)
            .add(mark, mark_tone)
            .add(&item.label, tone)
            .hanging(indent);
        let hint = match (&self.text, &item.opens_text) {
            (Some(text), Some(_)) => text,
            _ => &item.hint,
        };
        if hint.is_empty() {
            return line.rows(width);
        }
        let whole = line.clone().add("  ", Tone::Plain).add(hint, Tone::Dim);
        if whole.width() <= width {
            return whole.rows(width);
        }
        let below = Line::of(hint, Tone::Dim).after(&" ".repeat(indent), Tone::Plain);
        [line.rows(width), below.rows(width)].concat()
    }
}

#[cfg(test)]
mod tests;
