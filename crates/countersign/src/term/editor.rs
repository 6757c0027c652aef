//! The line a person writes, of one or several lines.
//!
//! Owns what each key does to it, the way through the history and the search in it, and how it is laid out. Pure: keys
//! in, outcome and rows out. The text and its cursor are the buffer's.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::buffer::{Buffer, Word};
use super::history;
pub(crate) use super::history::History;
use super::keys::{Input, Key};
use super::style::{Line, Tone, tamed};

/// What a key came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Edited {
    Going,
    /// Enter: this is the text. The editor is empty again.
    Done(String),
    /// Esc where nothing is written. Ctrl-C is for the caller to see.
    Cancelled,
    /// Ctrl-D where nothing is written.
    Ended,
}

/// A text that is being written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Editor {
    prompt: String,
    hint: String,
    buffer: Buffer,
    entries: Vec<String>,
    /// Which entry is shown, and what was written before.
    walk: Option<Walk>,
    search: Option<Search>,
}

#[derive(Debug, Clone)]
struct Walk {
    entry: usize,
    draft: String,
}

/// A search in the history, from the newest back.
#[derive(Debug, Clone)]
struct Search {
    wanted: String,
    found: Option<usize>,
    draft: String,
}

impl Editor {
    /// An empty one.
    pub(crate) fn new(prompt: &str) -> Self {
        Self {
            prompt: prompt.to_owned(),
            ..Self::default()
        }
    }

    /// With something written already.
    #[must_use]
    pub(crate) fn with_text(mut self, text: &str) -> Self {
        self.buffer.set(text);
        self
    }

    /// With what was asked before.
    #[must_use]
    pub(crate) fn with_history(mut self, history: &History) -> Self {
        self.entries = history.entries().to_vec();
        self
    }

    /// With words that stand there as long as nothing is written.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: &str) -> Self {
        self.hint = hint.to_owned();
        self
    }

    /// What is written.
    pub(crate) fn text(&self) -> &str {
        self.buffer.text()
    }

    /// Writes another text instead.
    pub(crate) fn set_text(&mut self, text: &str) {
        self.walk = None;
        self.search = None;
        self.buffer.set(text);
    }

    /// Takes everything away that is written.
    pub(crate) fn clear(&mut self) {
        self.set_text("");
    }

    /// What a key or a paste does. Everything else is for the caller.
    pub(crate) fn input(&mut self, input: &Input) -> Edited {
        match input {
            Input::Key(key) => return self.key(*key),
            Input::Paste(text) => self.paste(text),
            Input::Resize(_) | Input::Closed => {}
        }
        Edited::Going
    }

    /// Takes a paste as it is: its line ends send nothing.
    pub(crate) fn paste(&mut self, text: &str) {
        match &mut self.search {
            Some(search) => {
                search
                    .wanted
                    .push_str(text.lines().next().unwrap_or_default());
                self.seek(self.entries.len());
            }
            None => self
                .buffer
                .insert(&text.replace("\r\n", "\n").replace('\r', "\n")),
        }
    }

    /// What a key does.
    pub(crate) fn key(&mut self, key: Key) -> Edited {
        if self.search.is_some() && self.search_key(key) {
            return Edited::Going;
        }
        match key {
            Key::Enter if self.text()[..self.buffer.at()].ends_with('\\') => {
                self.buffer.delete_left();
                self.buffer.insert("\n");
            }
            Key::Enter => return self.done(),
            Key::Esc if self.buffer.is_empty() => return Edited::Cancelled,
            Key::Ctrl('d') if self.buffer.is_empty() => return Edited::Ended,
            Key::Up if !self.buffer.up() => self.older(),
            Key::Down if !self.buffer.down() => self.newer(),
            Key::Ctrl('p') => self.older(),
            Key::Ctrl('n') => self.newer(),
            Key::Ctrl('r') => self.start_search(),
            key => edit(&mut self.buffer, key),
        }
        Edited::Going
    }

    fn done(&mut self) -> Edited {
        self.walk = None;
        let text = self.buffer.take();
        history::add(&mut self.entries, &text);
        Edited::Done(text)
    }

    fn older(&mut self) {
        let entry = self
            .walk
            .as_ref()
            .map_or(self.entries.len(), |walk| walk.entry);
        let Some(entry) = entry.checked_sub(1) else {
            return;
        };
        let draft = match self.walk.take() {
            Some(walk) => walk.draft,
            None => self.text().to_owned(),
        };
        self.buffer.set(&self.entries[entry]);
        self.walk = Some(Walk { entry, draft });
    }

    fn newer(&mut self) {
        let Some(walk) = self.walk.take() else {
            return;
        };
        match self.entries.get(walk.entry + 1) {
            None => self.buffer.set(&walk.draft),
            Some(entry) => {
                self.buffer.set(entry);
                self.walk = Some(Walk {
                    entry: walk.entry + 1,
                    ..walk
                });
            }
        }
    }

    fn start_search(&mut self) {
        let draft = self.text().to_owned();
        self.search = Some(Search {
            wanted: String::new(),
            found: None,
            draft,
        });
    }

    /// Whether the search took the key. One that it does not know ends it, with what was found.
    fn search_key(&mut self, key: Key) -> bool {
        let Some(search) = &mut self.search else {
            return false;
        };
        match key {
            Key::Char(letter) => search.wanted.push(letter),
            Key::Backspace => drop(search.wanted.pop()),
            Key::Ctrl('r') => {
                let before = search.found.unwrap_or(self.entries.len());
                self.seek(before);
                return true;
            }
            Key::Esc | Key::Ctrl('g') => {
                let draft = std::mem::take(&mut search.draft);
                self.set_text(&draft);
                return true;
            }
            _ => {
                self.search = None;
                self.walk = None;
                return false;
            }
        }
        self.seek(self.entries.len());
        true
    }

    /// Shows the newest entry before this one that holds what is wanted; where there is none, all stays as it is.
    fn seek(&mut self, before: usize) {
        let Some(search) = &mut self.search else {
            return;
        };
        let wanted = search.wanted.to_lowercase();
        let found = self.entries[..before]
            .iter()
            .rposition(|entry| entry.to_lowercase().contains(&wanted));
        if wanted.is_empty() {
            search.found = None;
            self.buffer.set(&search.draft);
        } else if let Some(found) = found {
            search.found = Some(found);
            self.buffer.set(&self.entries[found]);
        } else if before == self.entries.len() {
            search.found = None;
        }
    }

    /// The rows at this width, and where the cursor is: a row and a column.
    pub(crate) fn lines(&self, width: u16) -> (Vec<Line>, (u16, u16)) {
        let mut layout = Layout::new(usize::from(width).max(2));
        match &self.search {
            None => layout.prompt(&self.prompt, Tone::Accent),
            Some(search) if search.found.is_some() || search.wanted.is_empty() => {
                layout.prompt(&format!("search: {} › ", search.wanted), Tone::Accent);
            }
            Some(search) => layout.prompt(&format!("not found: {} › ", search.wanted), Tone::Warn),
        }
        let (before, after) = self.text().split_at(self.buffer.at());
        layout.text(before, Tone::Plain);
        let cursor = layout.cursor();
        layout.text(after, Tone::Plain);
        if self.buffer.is_empty() && self.search.is_none() {
            let room = layout.width.saturating_sub(layout.used + 1);
            layout.text(&Line::plain(&self.hint).cut(room).text(), Tone::Dim);
        }
        (layout.finish(), cursor)
    }
}

/// The keys that only change the text.
fn edit(buffer: &mut Buffer, key: Key) {
    match key {
        Key::Char(letter) => buffer.insert(letter.encode_utf8(&mut [0; 4])),
        Key::AltEnter | Key::Ctrl('j') => buffer.insert("\n"),
        Key::Tab => buffer.insert("    "),
        Key::Backspace | Key::Ctrl('h') => buffer.delete_left(),
        Key::Delete | Key::Ctrl('d') => buffer.delete_right(),
        Key::Left | Key::Ctrl('b') => buffer.left(),
        Key::Right | Key::Ctrl('f') => buffer.right(),
        Key::WordLeft | Key::Alt('b' | 'B') => buffer.left_by_word(),
        Key::WordRight | Key::Alt('f' | 'F') => buffer.right_by_word(),
        Key::Home | Key::Ctrl('a') => buffer.go_line_start(),
        Key::End | Key::Ctrl('e') => buffer.go_line_end(),
        Key::Ctrl('k') => buffer.cut_to_line_end(),
        Key::Ctrl('u') => buffer.cut_to_line_start(),
        Key::Ctrl('w') => buffer.cut_word_left(Word::Blanks),
        Key::DeleteWord => buffer.cut_word_left(Word::Letters),
        Key::Alt('d' | 'D') => buffer.cut_word_right(),
        Key::Ctrl('y') => buffer.put_back(),
        _ => {}
    }
}

/// Puts letters into rows. Broken anywhere: the cursor has to be found again.
struct Layout {
    width: usize,
    indent: usize,
    rows: Vec<Line>,
    row: Line,
    used: usize,
}

impl Layout {
    fn new(width: usize) -> Self {
        Self {
            width,
            indent: 0,
            rows: Vec::new(),
            row: Line::new(),
            used: 0,
        }
    }

    /// Text stands to the right of a prompt, unless that would leave too little room.
    fn prompt(&mut self, prompt: &str, tone: Tone) {
        self.text(prompt, tone);
        let is_short = self.rows.is_empty() && self.used <= self.width / 3;
        self.indent = if is_short { self.used } else { 0 };
    }

    fn text(&mut self, text: &str, tone: Tone) {
        let mut run = String::new();
        for letter in text.graphemes(true) {
            if letter == "\n" || letter == "\r\n" {
                self.flush(&mut run, tone);
                self.next();
                continue;
            }
            for shown in tamed(letter).graphemes(true) {
                // The last column stays free for the cursor behind it.
                if self.used + shown.width() >= self.width && self.used > self.indent {
                    self.flush(&mut run, tone);
                    self.next();
                }
                self.used += shown.width();
                run.push_str(shown);
            }
        }
        self.flush(&mut run, tone);
    }

    fn flush(&mut self, run: &mut String, tone: Tone) {
        let row = std::mem::take(&mut self.row);
        self.row = row.add(std::mem::take(run), tone);
    }

    fn next(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
        self.row = Line::new().add(" ".repeat(self.indent), Tone::Plain);
        self.used = self.indent;
    }

    fn cursor(&self) -> (u16, u16) {
        let narrow = |count: usize| u16::try_from(count).unwrap_or(u16::MAX);
        (
            narrow(self.rows.len()),
            narrow(self.used.min(self.width - 1)),
        )
    }

    fn finish(mut self) -> Vec<Line> {
        self.rows.push(self.row);
        self.rows
    }
}

#[cfg(test)]
mod tests;
