//! Text with tones, before it becomes escape sequences.
//!
//! Owns [`Line`] and [`Span`], how a line is broken to a width, and how it is written with colour or without. Whoever
//! makes lines says what a text *is* (an addition, a warning), never a colour. Invariant: no control character of a
//! text reaches the terminal; what an agent says cannot move the cursor.

use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// What a piece of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tone {
    /// Said by the agent or the person.
    #[default]
    Plain,
    /// Beside the point.
    Dim,
    /// Stressed.
    Strong,
    /// Stressed a little.
    Soft,
    /// A heading.
    Heading,
    /// Code, a command, a path.
    Code,
    /// Ours: marks, keys, what can be chosen.
    Accent,
    /// Went well, or was added.
    Good,
    /// Went wrong, or was taken away.
    Bad,
    /// Wants attention.
    Warn,
    /// An address.
    Link,
    /// What the cursor of a menu stands on.
    Chosen,
}

impl Tone {
    /// The parameters of the escape sequence: the sixteen colours, so that the terminal's theme decides.
    fn sgr(self) -> Option<&'static str> {
        match self {
            Tone::Plain => None,
            Tone::Dim => Some("2"),
            Tone::Strong => Some("1"),
            Tone::Soft => Some("3"),
            Tone::Heading => Some("1;4"),
            Tone::Code => Some("36"),
            Tone::Accent => Some("35"),
            Tone::Good => Some("32"),
            Tone::Bad => Some("31"),
            Tone::Warn => Some("33"),
            Tone::Link => Some("4;34"),
            Tone::Chosen => Some("1;35"),
        }
    }
}

/// A piece of text in one tone. Holds no line end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) tone: Tone,
}

/// One line. `hang` columns are left free where it is broken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Line {
    pub(crate) spans: Vec<Span>,
    pub(crate) hang: usize,
}

impl Line {
    /// An empty line.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A line in one tone.
    pub(crate) fn of(text: impl AsRef<str>, tone: Tone) -> Self {
        Self::new().add(text, tone)
    }

    /// A plain line.
    pub(crate) fn plain(text: impl AsRef<str>) -> Self {
        Self::of(text, Tone::Plain)
    }

    /// Adds a piece. Control characters are shown, tabs become four blanks, line ends a blank.
    #[must_use]
    pub(crate) fn add(mut self, text: impl AsRef<str>, tone: Tone) -> Self {
        let text = tamed(text.as_ref());
        if !text.is_empty() {
            self.spans.push(Span { text, tone });
        }
        self
    }

    /// Leaves so many columns free in the rows after the first.
    #[must_use]
    pub(crate) fn hanging(mut self, columns: usize) -> Self {
        self.hang = columns;
        self
    }

    /// The same line further to the right, after `mark`.
    #[must_use]
    pub(crate) fn after(mut self, mark: &str, tone: Tone) -> Self {
        self.hang += mark.width();
        self.spans.insert(
            0,
            Span {
                text: mark.to_owned(),
                tone,
            },
        );
        self
    }

    /// How many columns it takes.
    pub(crate) fn width(&self) -> usize {
        self.spans.iter().map(|span| span.text.width()).sum()
    }

    /// The text without tones.
    pub(crate) fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    /// The rows it takes at this width: broken between words where that is possible, in a word where it is not.
    pub(crate) fn rows(&self, width: usize) -> Vec<Line> {
        let width = width.max(1);
        if self.width() <= width {
            return vec![Line {
                spans: self.spans.clone(),
                hang: 0,
            }];
        }
        let mut rows = Rows::new(width, self.hang.min(width / 2).min(width.saturating_sub(2)));
        self.words().iter().for_each(|word| rows.put(word));
        rows.finish()
    }

    /// What stays together in a row: a word with its commas and brackets, whatever their tones; a run of blanks.
    fn words(&self) -> Vec<Vec<Piece<'_>>> {
        let mut words: Vec<Vec<Piece<'_>>> = Vec::new();
        for span in &self.spans {
            for text in span.text.split_word_bounds() {
                match words.last_mut() {
                    Some(word)
                        if word
                            .last()
                            .is_some_and(|(before, _)| is_joined(before, text)) =>
                    {
                        word.push((text, span.tone));
                    }
                    _ => words.push(vec![(text, span.tone)]),
                }
            }
        }
        words
    }

    /// The first `width` columns, with a mark where it was cut.
    pub(crate) fn cut(&self, width: usize) -> Line {
        if self.width() <= width {
            return Line {
                spans: self.spans.clone(),
                hang: 0,
            };
        }
        let mut left = width.saturating_sub(1);
        let mut line = Line::new();
        'all: for span in &self.spans {
            let mut text = String::new();
            for letter in span.text.graphemes(true) {
                if letter.width() > left {
                    line = line.add(text, span.tone);
                    break 'all;
                }
                left -= letter.width();
                text.push_str(letter);
            }
            line = line.add(text, span.tone);
        }
        line.add("…", Tone::Dim)
    }

    /// As it goes to the terminal.
    pub(crate) fn write(&self, with_colour: bool) -> String {
        let mut out = String::new();
        for span in &self.spans {
            match span.tone.sgr().filter(|_| with_colour) {
                None => out.push_str(&span.text),
                Some(sgr) => {
                    let _ = write!(out, "\x1b[{sgr}m{}\x1b[0m", span.text);
                }
            }
        }
        out
    }
}

/// A part of a word.
type Piece<'a> = (&'a str, Tone);

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Whether no row may end between these two. Wide scripts have no blanks: a row may begin with each of their letters.
fn is_joined(before: &str, after: &str) -> bool {
    let is_wide = |letter: char| letter.width().unwrap_or(0) > 1;
    let begins_wide = after.starts_with(|letter: char| is_wide(letter) && letter.is_alphanumeric());
    let ends_wide = before.ends_with(is_wide) && after.starts_with(char::is_alphanumeric);
    is_blank(before) == is_blank(after) && !begins_wide && !ends_wide
}

/// Makes the rows of one line.
struct Rows {
    width: usize,
    hang: usize,
    done: Vec<Line>,
    row: Line,
    used: usize,
}

impl Rows {
    fn new(width: usize, hang: usize) -> Self {
        Self {
            width,
            hang,
            done: Vec::new(),
            row: Line::new(),
            used: 0,
        }
    }

    fn put(&mut self, word: &[Piece<'_>]) {
        let width: usize = word.iter().map(|(text, _)| text.width()).sum();
        let mut fits = self.used + width <= self.width;
        if !fits && word.iter().all(|(text, _)| is_blank(text)) {
            return self.next();
        }
        if !fits && self.used > self.start() && width <= self.width - self.hang {
            self.next();
            fits = true;
        }
        for (text, tone) in word {
            match fits {
                true => self.push(text, *tone),
                false => self.put_letters(text, *tone),
            }
        }
    }

    fn put_letters(&mut self, text: &str, tone: Tone) {
        for letter in text.graphemes(true) {
            if self.used + letter.width() > self.width && self.used > self.start() {
                self.next();
            }
            self.push(letter, tone);
        }
    }

    /// The column where the text of this row begins.
    fn start(&self) -> usize {
        match self.done.is_empty() {
            true => 0,
            false => self.hang,
        }
    }

    fn push(&mut self, text: &str, tone: Tone) {
        self.used += text.width();
        match self.row.spans.last_mut() {
            Some(last) if last.tone == tone => last.text.push_str(text),
            _ => self.row.spans.push(Span {
                text: text.to_owned(),
                tone,
            }),
        }
    }

    fn next(&mut self) {
        self.done.push(std::mem::take(&mut self.row));
        self.used = 0;
        if self.hang > 0 {
            self.push(&" ".repeat(self.hang), Tone::Plain);
        }
    }

    fn finish(mut self) -> Vec<Line> {
        if self.used > self.start() || self.done.is_empty() {
            self.done.push(self.row);
        }
        self.done
    }
}

/// Whether a letter makes a command look like another one: it turns the direction of writing, or hides in a word.
fn is_deceiving(letter: char) -> bool {
    matches!(letter,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}'
        | '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}'
        | '\u{ad}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Whether output may be coloured. `NO_COLOR` counts where it is not empty; a dumb terminal shows none.
pub(crate) fn colour_wanted(is_terminal: bool, no_color: Option<&str>, term: Option<&str>) -> bool {
    is_terminal && no_color.is_none_or(str::is_empty) && term.is_none_or(|term| term != "dumb")
}

/// A text that does nothing to a terminal but stand there.
pub(crate) fn tamed(text: &str) -> String {
    let mut tame = String::with_capacity(text.len());
    // One that ends a line says nothing; one inside of it would write over what stands before.
    let text = text.trim_end_matches('\r');
    for letter in text.chars() {
        match letter {
            '\t' => tame.push_str("    "),
            '\n' => tame.push(' '),
            letter if is_deceiving(letter) => {
                let _ = write!(tame, "\\u{{{:x}}}", letter as u32);
            }
            letter if letter.is_control() => {
                let _ = write!(tame, "\\x{:02x}", letter as u32);
            }
            letter => tame.push(letter),
        }
    }
    tame
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(line: &Line, width: usize) -> Vec<String> {
        line.rows(width).iter().map(Line::text).collect()
    }

    #[test]
    fn a_line_is_broken_between_words_and_hangs() {
        let line = Line::plain("one two three").after("- ", Tone::Dim);
        assert_eq!(rows(&line, 9), ["- one two", "  three"]);
    }

    #[test]
    fn a_word_keeps_its_commas_and_brackets_in_whatever_tone() {
        let line = Line::plain("see (")
            .add("ls -l", Tone::Code)
            .add("), then stop.", Tone::Plain);
        assert_eq!(rows(&line, 8), ["see (ls ", "-l), ", "then ", "stop."]);
        assert_eq!(
            rows(&Line::plain("path/to-a/file.rs: ok"), 19),
            ["path/to-a/file.rs: ", "ok"]
        );
    }

    #[test]
    fn a_text_without_blanks_is_broken_between_its_letters() {
        assert_eq!(rows(&Line::plain("ab你好，世界"), 8), ["ab你好，", "世界"]);
    }

    #[test]
    fn a_word_that_is_too_long_is_broken_itself() {
        let line = Line::plain("abcdefghij k");
        assert_eq!(rows(&line, 4), ["abcd", "efgh", "ij k"]);
    }

    #[test]
    fn wide_letters_count_twice() {
        let line = Line::plain("你好世界");
        assert_eq!(rows(&line, 4), ["你好", "世界"]);
        assert_eq!(line.cut(5).text(), "你好…");
    }

    #[test]
    fn no_text_moves_the_cursor() {
        let line = Line::plain("a\x1b[2Jb\rc\u{202e}d\u{9b}x");
        assert!(
            !line
                .write(true)
                .contains(['\x1b', '\r', '\u{202e}', '\u{9b}'])
        );
    }

    #[test]
    fn no_letter_hides_in_a_text() {
        assert_eq!(
            tamed("rm\u{200b} -r\u{e0041}\u{ad}"),
            "rm\\u{200b} -r\\u{e0041}\\u{ad}"
        );
        assert_eq!(tamed("👩\u{200d}🚀 é"), "👩\u{200d}🚀 é");
    }

    #[test]
    fn colour_is_for_terminals_whose_person_wants_it() {
        assert!(colour_wanted(true, None, Some("xterm")));
        assert!(colour_wanted(true, Some(""), None));
        assert!(!colour_wanted(true, Some("1"), None));
        assert!(!colour_wanted(true, None, Some("dumb")));
        assert!(!colour_wanted(false, None, None));
    }

    #[test]
    fn no_row_is_wider_than_asked() {
        for width in 1..12 {
            let line = Line::plain("a bb  ccc dddd 你好 eeeeeeeeeeeee").after("* ", Tone::Dim);
            for row in line.rows(width) {
                assert!(row.width() <= width.max(2), "{width}: {row:?}");
            }
        }
    }
}
