//! Markdown as it is written: blocks that are complete become lines, the last one waits.
//!
//! Owns where one top-level block ends and the next begins; `render` makes lines of a block, `table` fits tables.
//! Invariants: the lines depend on the text alone, never on how it was cut into pieces; each text is rendered once, an
//! open code block line by line, so the cost is linear.

mod render;
mod table;

use render::{code, render};

use super::text;
use crate::term::style::Line;

/// A block that grows beyond this is shown as far as it goes; its rest comes as plain text.
const BLOCK_CAP: usize = 64 << 10;
/// How much of an unfinished block is shown.
const TAIL_CAP: usize = 4 << 10;

/// A text that comes in pieces.
#[derive(Debug)]
pub(crate) struct Markdown {
    width: usize,
    /// The last line, whose end has not come.
    pending: String,
    /// The lines of the block that is not complete.
    block: String,
    state: State,
    /// Something was shown before: the next block stands apart from it.
    has_shown: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    Between,
    Block,
    Item(Item),
    Fence(Fence),
    /// The rest of a block that was too long.
    Rest,
}

/// The list item that is being written.
#[derive(Debug, Clone, PartialEq)]
struct Item {
    /// Lines with so many blanks belong to it.
    content: usize,
    marker: Marker,
    /// Its number, where it is counted.
    number: Option<u64>,
    /// A blank line came after its last line.
    has_blank: bool,
    /// A code block in it is open.
    fence: Option<Fence>,
    /// It stands apart from what is above it.
    is_apart: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Marker {
    letter: char,
    content: usize,
    number: Option<u64>,
    is_empty: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Fence {
    letter: char,
    length: usize,
    indent: usize,
}

impl Markdown {
    /// `width`: the columns that are there for it.
    pub(crate) fn new(width: usize) -> Self {
        Self {
            width,
            pending: String::new(),
            block: String::new(),
            state: State::Between,
            has_shown: false,
        }
    }

    /// What comes from now on has this width.
    pub(crate) fn resized(&mut self, width: usize) {
        self.width = width;
    }

    /// Takes the next piece and gives back what is complete with it.
    pub(crate) fn push(&mut self, text: &str) -> Vec<Line> {
        let mut out = Vec::new();
        let mut rest = text;
        while let Some(end) = rest.find('\n') {
            if self.pending.is_empty() {
                self.line(&rest[..end], &mut out);
            } else {
                let mut line = std::mem::take(&mut self.pending);
                line.push_str(&rest[..end]);
                self.line(&line, &mut out);
            }
            rest = &rest[end + 1..];
        }
        self.pending.push_str(rest);
        out
    }

    /// The block that is not complete, as far as it goes.
    pub(crate) fn tail(&self) -> Vec<Line> {
        if let State::Fence(fence) = &self.state {
            return match self.pending.trim().is_empty() || fence.is_closed_by(&self.pending) {
                true => Vec::new(),
                false => code(
                    text::last_part(fence.content(&self.pending), TAIL_CAP),
                    self.width,
                ),
            };
        }
        let mut block = text::last_part(&self.block, TAIL_CAP).to_owned();
        block.push_str(text::last_part(&self.pending, TAIL_CAP));
        if block.trim().is_empty() {
            return Vec::new();
        }
        let number = match &self.state {
            State::Item(item) => item.number,
            _ => None,
        };
        let mut lines = render(&block, self.width, number);
        if self.has_shown && self.stands_apart() {
            lines.insert(0, Line::new());
        }
        lines
    }

    /// The text is over: gives back the rest and is as new.
    pub(crate) fn finish(&mut self) -> Vec<Line> {
        let mut out = Vec::new();
        let pending = std::mem::take(&mut self.pending);
        if !pending.is_empty() {
            self.line(&pending, &mut out);
        }
        self.flush(&mut out);
        *self = Self::new(self.width);
        out
    }

    fn stands_apart(&self) -> bool {
        match &self.state {
            State::Item(item) => item.is_apart,
            State::Between | State::Block => true,
            State::Fence(_) | State::Rest => false,
        }
    }

    fn line(&mut self, line: &str, out: &mut Vec<Line>) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        match std::mem::replace(&mut self.state, State::Between) {
            State::Between => self.begin(line, out),
            State::Block => self.block_line(line, out),
            State::Item(item) => self.item_line(item, line, out),
            State::Fence(fence) if fence.is_closed_by(line) => {}
            State::Fence(fence) => {
                out.extend(code(fence.content(line), self.width));
                self.state = State::Fence(fence);
            }
            State::Rest if is_blank(line) => {}
            State::Rest => {
                out.push(Line::plain(line));
                self.state = State::Rest;
            }
        }
    }

    /// The first line of a block.
    fn begin(&mut self, line: &str, out: &mut Vec<Line>) {
        if is_blank(line) {
            return;
        }
        if let Some(fence) = Fence::of(line) {
            self.gap(out);
            self.state = State::Fence(fence);
        } else if let Some(marker) = Marker::of(line) {
            self.item(marker, marker.number, true, line);
        } else {
            self.state = State::Block;
            self.keep(line, out);
        }
    }

    fn block_line(&mut self, line: &str, out: &mut Vec<Line>) {
        let ends = is_blank(line)
            || Fence::of(line).is_some()
            || Marker::of(line).is_some_and(Marker::interrupts);
        if ends {
            self.state = State::Block;
            self.flush(out);
            return self.begin(line, out);
        }
        self.state = State::Block;
        self.keep(line, out);
    }

    fn item_line(&mut self, mut item: Item, line: &str, out: &mut Vec<Line>) {
        if is_blank(line) {
            item.has_blank = true;
            self.state = State::Item(item);
            return self.keep("", out);
        }
        let is_inside = indent(line) >= item.content;
        if is_inside {
            item.note_fence(line);
        }
        let is_lazy = !item.has_blank && item.fence.is_none() && !starts_block(line);
        let next = Marker::of(line).filter(|_| !is_inside);
        if is_inside || (is_lazy && next.is_none()) {
            item.has_blank = false;
            self.state = State::Item(item);
            return self.keep(line, out);
        }
        let (letter, number, has_blank) = (item.marker.letter, item.number, item.has_blank);
        self.state = State::Item(item);
        self.flush(out);
        match next {
            // Numbers count on from the first, whatever is written.
            Some(marker) if marker.letter == letter => {
                self.item(
                    marker,
                    number.map(|number| number.saturating_add(1)),
                    has_blank,
                    line,
                );
            }
            _ => self.begin(line, out),
        }
    }

    fn item(&mut self, marker: Marker, number: Option<u64>, is_apart: bool, line: &str) {
        let mut item = Item {
            content: marker.content,
            marker,
            number,
            has_blank: false,
            fence: None,
            is_apart,
        };
        item.note_fence(line.get(marker.content..).unwrap_or_default());
        self.state = State::Item(item);
        self.block.push_str(line);
        self.block.push('\n');
    }

    fn keep(&mut self, line: &str, out: &mut Vec<Line>) {
        self.block.push_str(line);
        self.block.push('\n');
        if self.block.len() > BLOCK_CAP {
            self.flush(out);
            self.state = State::Rest;
        }
    }

    /// The block is complete.
    fn flush(&mut self, out: &mut Vec<Line>) {
        let is_apart = self.stands_apart();
        let state = std::mem::replace(&mut self.state, State::Between);
        let block = std::mem::take(&mut self.block);
        if is_blank(&block) {
            return;
        }
        let number = match state {
            State::Item(item) => item.number,
            _ => None,
        };
        let lines = render(&block, self.width, number);
        if lines.is_empty() {
            return;
        }
        match is_apart {
            true => self.gap(out),
            false => self.has_shown = true,
        }
        out.extend(lines);
    }

    fn gap(&mut self, out: &mut Vec<Line>) {
        if self.has_shown {
            out.push(Line::new());
        }
        self.has_shown = true;
    }
}

impl Item {
    fn note_fence(&mut self, line: &str) {
        let line = line.trim_start();
        self.fence = match self.fence {
            Some(fence) if fence.is_closed_by(line) => None,
            Some(fence) => Some(fence),
            None => Fence::of(line),
        };
    }
}

impl Marker {
    /// The list marker at the beginning of a line.
    fn of(line: &str) -> Option<Self> {
        let before = indent(line);
        if before > 3 || is_rule(line) {
            return None;
        }
        let text = line.trim_start();
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let letter = text[digits..].chars().next()?;
        let is_marker = match digits {
            0 => matches!(letter, '-' | '*' | '+'),
            1..=9 => matches!(letter, '.' | ')'),
            _ => false,
        };
        let rest = text.get(digits + 1..).filter(|_| is_marker)?;
        if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
            return None;
        }
        let is_empty = is_blank(rest);
        let blanks = match indent(rest) {
            blanks @ 1..=4 if !is_empty => blanks,
            _ => 1,
        };
        let number = text[..digits].parse().ok();
        Some(Self {
            letter,
            content: before + digits + 1 + blanks,
            number,
            is_empty,
        })
    }

    /// Whether it ends a paragraph without a blank line.
    fn interrupts(self) -> bool {
        !self.is_empty && self.number.is_none_or(|number| number == 1)
    }
}

impl Fence {
    /// The fence that a line opens.
    fn of(line: &str) -> Option<Self> {
        let indent = indent(line);
        let text = line.trim_start();
        let letter = text
            .chars()
            .next()
            .filter(|letter| matches!(letter, '`' | '~'))?;
        let length = text.chars().take_while(|other| *other == letter).count();
        let is_fence =
            indent <= 3 && length >= 3 && (letter == '~' || !text[length..].contains('`'));
        is_fence.then_some(Self {
            letter,
            length,
            indent,
        })
    }

    fn is_closed_by(self, line: &str) -> bool {
        let text = line.trim();
        indent(line) <= 3
            && text.len() >= self.length
            && text.chars().all(|letter| letter == self.letter)
    }

    /// The line without the blanks by which the fence is indented.
    fn content(self, line: &str) -> &str {
        let blanks = line.bytes().take_while(|byte| *byte == b' ').count();
        &line[blanks.min(self.indent)..]
    }
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

fn indent(line: &str) -> usize {
    let blanks = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
    blanks.map(|byte| if byte == b'\t' { 4 } else { 1 }).sum()
}

/// `---`, `* * *` and the like.
fn is_rule(line: &str) -> bool {
    let mut letters = line.chars().filter(|letter| !letter.is_whitespace());
    let Some(first @ ('-' | '*' | '_')) = letters.next() else {
        return false;
    };
    let mut count = 1;
    letters.all(|letter| {
        count += 1;
        letter == first
    }) && count >= 3
}

/// A line that is no lazy rest of a paragraph.
fn starts_block(line: &str) -> bool {
    let text = line.trim_start();
    let is_heading = text.trim_start_matches('#').starts_with(' ') && text.starts_with('#');
    indent(line) <= 3
        && (is_heading || text.starts_with('>') || is_rule(line) || Fence::of(line).is_some())
}

/// A whole text.
pub(crate) fn markdown(text: &str, width: usize) -> Vec<Line> {
    let mut markdown = Markdown::new(width);
    let mut lines = markdown.push(text);
    lines.extend(markdown.finish());
    lines
}

#[cfg(test)]
mod tests;
