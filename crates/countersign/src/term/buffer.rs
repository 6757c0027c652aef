//! A text and a cursor in it.
//!
//! Owns moving by letters, words and lines, and cutting and putting back. Knows no keys. Invariant: the cursor stands
//! between two letters as a person sees them, never inside one.

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation as _};

/// A text that is being written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buffer {
    text: String,
    /// A byte of `text`.
    at: usize,
    /// What was cut last.
    cut: String,
    /// Whether the last deed was a cut, so that the next one adds to it.
    is_cutting: bool,
}

/// What ends a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// Whatever is neither letter nor digit.
    Letters,
    /// A blank.
    Blanks,
}

impl Word {
    fn holds(self, letter: char) -> bool {
        match self {
            Word::Letters => letter.is_alphanumeric(),
            Word::Blanks => !letter.is_whitespace(),
        }
    }
}

impl Buffer {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The byte before which the cursor stands.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Another text, with the cursor behind it.
    pub(crate) fn set(&mut self, text: &str) {
        self.text = text.to_owned();
        self.at = self.text.len();
        self.is_cutting = false;
    }

    /// Takes the text away.
    pub(crate) fn take(&mut self) -> String {
        self.at = 0;
        self.is_cutting = false;
        std::mem::take(&mut self.text)
    }

    /// Writes at the cursor.
    pub(crate) fn insert(&mut self, text: &str) {
        self.text.insert_str(self.at, text);
        self.at += text.len();
        // A mark may have joined the letter before it, or the letter behind.
        self.at = self.settled(self.at);
        self.is_cutting = false;
    }

    /// The nearest place from here on that is between two letters.
    fn settled(&self, at: usize) -> usize {
        let mut cursor = GraphemeCursor::new(at, self.text.len(), true);
        match cursor.is_boundary(&self.text, 0) {
            Ok(true) | Err(_) => at,
            Ok(false) => cursor
                .next_boundary(&self.text, 0)
                .ok()
                .flatten()
                .unwrap_or(self.text.len()),
        }
    }

    fn left_of(&self, at: usize) -> usize {
        self.text[..at]
            .grapheme_indices(true)
            .next_back()
            .map_or(0, |(start, _)| start)
    }

    fn right_of(&self, at: usize) -> usize {
        self.text[at..]
            .graphemes(true)
            .next()
            .map_or(at, |letter| at + letter.len())
    }

    fn word_left(&self, word: Word) -> usize {
        let before = &self.text[..self.at];
        let end = before.trim_end_matches(|letter| !word.holds(letter));
        end.trim_end_matches(|letter| word.holds(letter)).len()
    }

    fn word_right(&self, word: Word) -> usize {
        let after = &self.text[self.at..];
        let start = after.trim_start_matches(|letter| !word.holds(letter));
        self.text.len() - start.trim_start_matches(|letter| word.holds(letter)).len()
    }

    fn line_start(&self) -> usize {
        self.text[..self.at].rfind('\n').map_or(0, |end| end + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.at..]
            .find('\n')
            .map_or(self.text.len(), |end| self.at + end)
    }

    fn go(&mut self, at: usize) {
        self.at = self.settled(at);
        self.is_cutting = false;
    }

    pub(crate) fn left(&mut self) {
        self.go(self.left_of(self.at));
    }

    pub(crate) fn right(&mut self) {
        self.go(self.right_of(self.at));
    }

    pub(crate) fn left_by_word(&mut self) {
        self.go(self.word_left(Word::Letters));
    }

    pub(crate) fn right_by_word(&mut self) {
        self.go(self.word_right(Word::Letters));
    }

    pub(crate) fn go_line_start(&mut self) {
        self.go(self.line_start());
    }

    pub(crate) fn go_line_end(&mut self) {
        self.go(self.line_end());
    }

    /// One line up, as far to the right as before. `false` on the first line.
    pub(crate) fn up(&mut self) -> bool {
        let start = self.line_start();
        if start == 0 {
            return false;
        }
        let letters = self.text[start..self.at].graphemes(true).count();
        self.at = start - 1;
        let above = self.line_start();
        self.go(self.letters_from(above, letters));
        true
    }

    /// One line down. `false` on the last line.
    pub(crate) fn down(&mut self) -> bool {
        let end = self.line_end();
        if end == self.text.len() {
            return false;
        }
        let letters = self.text[self.line_start()..self.at]
            .graphemes(true)
            .count();
        self.go(self.letters_from(end + 1, letters));
        true
    }

    /// So many letters to the right of a line's start, but not beyond its end.
    fn letters_from(&self, start: usize, letters: usize) -> usize {
        let line = self.text[start..].split('\n').next().unwrap_or_default();
        start
            + line
                .grapheme_indices(true)
                .nth(letters)
                .map_or(line.len(), |(at, _)| at)
    }

    fn remove(&mut self, start: usize, end: usize) -> String {
        let gone: String = self.text.drain(start..end).collect();
        self.at = self.settled(start);
        gone
    }

    pub(crate) fn delete_left(&mut self) {
        let start = self.left_of(self.at);
        self.remove(start, self.at);
        self.is_cutting = false;
    }

    pub(crate) fn delete_right(&mut self) {
        let end = self.right_of(self.at);
        self.remove(self.at, end);
        self.is_cutting = false;
    }

    /// Cuts what lies between the cursor and `other`. Cuts in a row make one text.
    fn cut_to(&mut self, other: usize) {
        let is_left = other < self.at;
        let gone = self.remove(self.at.min(other), self.at.max(other));
        if gone.is_empty() {
            return;
        }
        if !self.is_cutting {
            self.cut.clear();
        }
        match is_left {
            true => self.cut.insert_str(0, &gone),
            false => self.cut.push_str(&gone),
        }
        self.is_cutting = true;
    }

    pub(crate) fn cut_word_left(&mut self, word: Word) {
        self.cut_to(self.word_left(word));
    }

    pub(crate) fn cut_word_right(&mut self) {
        self.cut_to(self.word_right(Word::Letters));
    }

    /// To the end of the line; at its end, the line end itself.
    pub(crate) fn cut_to_line_end(&mut self) {
        let end = self.line_end();
        match end == self.at {
            true => self.cut_to(self.right_of(end)),
            false => self.cut_to(end),
        }
    }

    pub(crate) fn cut_to_line_start(&mut self) {
        self.cut_to(self.line_start());
    }

    /// Puts back what was cut last.
    pub(crate) fn put_back(&mut self) {
        let cut = self.cut.clone();
        self.insert(&cut);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(text: &str) -> Buffer {
        let mut buffer = Buffer::default();
        buffer.set(text);
        buffer
    }

    #[test]
    fn letters_of_several_characters_are_one() {
        let mut buffer = buffer("e\u{301}👩‍🚀你");
        buffer.left();
        buffer.left();
        assert_eq!(buffer.at(), "e\u{301}".len());
        buffer.delete_left();
        assert_eq!(buffer.text(), "👩‍🚀你");
        buffer.delete_right();
        assert_eq!(buffer.text(), "你");
    }

    #[test]
    fn a_mark_that_is_typed_joins_its_letter() {
        let mut buffer = buffer("ab");
        buffer.left();
        buffer.insert("\u{301}");
        assert_eq!((buffer.text(), buffer.at()), ("a\u{301}b", 3));
        buffer.delete_left();
        assert_eq!(buffer.text(), "b");
    }

    #[test]
    fn words_end_where_the_caller_says() {
        let mut buffer = buffer("cd /tmp/some-dir");
        buffer.cut_word_left(Word::Letters);
        assert_eq!(buffer.text(), "cd /tmp/some-");
        buffer.cut_word_left(Word::Blanks);
        assert_eq!(buffer.text(), "cd ");
        buffer.put_back();
        assert_eq!(buffer.text(), "cd /tmp/some-dir");
        buffer.left_by_word();
        buffer.left_by_word();
        assert_eq!(&buffer.text()[buffer.at()..], "some-dir");
        buffer.right_by_word();
        assert_eq!(&buffer.text()[buffer.at()..], "-dir");
    }

    #[test]
    fn lines_are_moved_in_and_cut() {
        let mut buffer = buffer("first\nse\nthird");
        buffer.go_line_start();
        buffer.right_by_word();
        assert!(buffer.up());
        assert_eq!(&buffer.text()[buffer.at()..], "\nthird");
        assert!(buffer.up());
        assert_eq!(&buffer.text()[buffer.at()..], "rst\nse\nthird");
        assert!(!buffer.up());
        buffer.cut_to_line_end();
        buffer.cut_to_line_end();
        assert_eq!(buffer.text(), "fise\nthird");
        buffer.put_back();
        assert_eq!(buffer.text(), "first\nse\nthird");
        assert!(buffer.down());
        assert!(!buffer.down());
        buffer.cut_to_line_start();
        assert_eq!(buffer.text(), "first\nse\nthird");
    }
}
