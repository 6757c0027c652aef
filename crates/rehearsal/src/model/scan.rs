//! Reading one line of a script piece by piece, with the place of everything that is wrong.
//!
//! Owns words, JSON strings and values, numbers, durations and here-texts; knows no directive. Invariant: every
//! error names the column at which the expected thing should have begun.

use std::time::Duration;

use serde_json::Value;

use super::parse::ParseError;
use super::script::{Position, Usage};

/// The lines of a script that are still to be read.
pub(crate) struct Lines<'a> {
    rest: std::iter::Enumerate<std::str::Lines<'a>>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self {
            rest: text.lines().enumerate(),
        }
    }

    /// The next line with something on it.
    pub(crate) fn next_directive(&mut self) -> Option<Cursor<'a>> {
        self.rest
            .by_ref()
            .map(|(index, text)| Cursor {
                line: index + 1,
                text,
                at: 0,
            })
            .find(|cursor| !cursor.is_done())
    }

    /// The lines up to one that holds only `mark`, without the indentation they share.
    fn here_text(&mut self, mark: &str) -> Option<String> {
        let mut lines = Vec::new();
        for (_, line) in self.rest.by_ref() {
            if line.trim() == mark {
                return Some(without_shared_indent(&lines));
            }
            lines.push(line);
        }
        None
    }
}

fn without_shared_indent(lines: &[&str]) -> String {
    let indent = |line: &&str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let shared = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(indent)
        .min()
        .unwrap_or(0);
    let cut: Vec<&str> = lines
        .iter()
        .map(|line| line.get(shared..).unwrap_or(""))
        .collect();
    cut.join("\n")
}

/// A place within one line.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    line: usize,
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn position(&self) -> Position {
        Position {
            line: self.line,
            column: self.text[..self.start()].chars().count() + 1,
        }
    }

    /// Where the next thing begins: past blanks.
    fn start(&self) -> usize {
        self.text.len() - self.text[self.at..].trim_start().len()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.start()..]
    }

    /// Nothing left but blanks or a comment.
    pub(crate) fn is_done(&self) -> bool {
        self.rest().is_empty() || self.rest().starts_with('#')
    }

    pub(crate) fn error(&self, expected: impl Into<String>) -> ParseError {
        let found = match self.rest() {
            rest if self.is_done() => if rest.is_empty() {
                "the end of the line"
            } else {
                "a comment"
            }
            .to_owned(),
            rest => format!("`{}`", shortened(rest)),
        };
        ParseError {
            at: self.position(),
            expected: expected.into(),
            found,
            hint: None,
        }
    }

    pub(crate) fn finish(&self, expected: &str) -> Result<(), ParseError> {
        if self.is_done() {
            Ok(())
        } else {
            Err(self.error(expected))
        }
    }

    /// All that is left of the line, comments included, without the blanks in front of it.
    pub(crate) fn rest_of_line(&mut self) -> &'a str {
        let rest = self.rest();
        self.at = self.text.len();
        rest
    }

    pub(crate) fn peek_word(&self) -> &'a str {
        if self.is_done() {
            return "";
        }
        let rest = self.rest();
        &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())]
    }

    /// A run of characters without blanks.
    pub(crate) fn word(&mut self, expected: &str) -> Result<&'a str, ParseError> {
        match self.peek_word() {
            "" => Err(self.error(expected)),
            word => {
                self.at = self.start() + word.len();
                Ok(word)
            }
        }
    }

    /// `always`, `3 times`, or nothing for once; None for always.
    pub(crate) fn uses(&mut self) -> Result<Option<u32>, ParseError> {
        if self.take_word("always") {
            return Ok(None);
        }
        if !self.peek_word().starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(Some(1));
        }
        let count = self.clone();
        let times = self.number("a count such as `3 times`")?;
        if times == 0 {
            return Err(count.error("a count of at least 1"));
        }
        if !self.take_word("times") {
            return Err(self.error("`times`"));
        }
        Ok(Some(times))
    }

    /// Steps over `word` if it is next.
    pub(crate) fn take_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.at = self.start() + word.len();
        }
        found
    }

    pub(crate) fn number<N: std::str::FromStr>(&mut self, expected: &str) -> Result<N, ParseError> {
        let before = self.clone();
        self.word(expected)?
            .parse()
            .map_err(|_| before.error(expected))
    }

    /// `200ms`, `2s` or `1m`.
    pub(crate) fn duration(&mut self) -> Result<Duration, ParseError> {
        const EXPECTED: &str = "a duration such as 200ms, 2s or 1m";
        let before = self.clone();
        duration(self.word(EXPECTED)?).ok_or_else(|| before.error(EXPECTED))
    }

    /// `key=value` with the value bare or in quotes.
    pub(crate) fn pair(&mut self, expected: &str) -> Result<(&'a str, String), ParseError> {
        let before = self.clone();
        let rest = self.rest();
        let (key, value) = rest.split_once('=').ok_or_else(|| before.error(expected))?;
        if key.is_empty() || key.contains(char::is_whitespace) {
            return Err(before.error(expected));
        }
        self.at = self.start() + key.len() + 1;
        if value.starts_with('"') {
            return Ok((key, self.string(expected)?));
        }
        let bare = &value[..value.find(char::is_whitespace).unwrap_or(value.len())];
        if bare.is_empty() {
            return Err(self.error(format!("a value after `{key}=`")));
        }
        self.at += bare.len();
        Ok((key, bare.to_owned()))
    }

    /// `[input=N] [output=N] [cache_read=N] [cache_write=N] [cost=DOLLARS]`, laid over what is counted.
    pub(crate) fn usage(&mut self, usage: &mut Usage, expected: &str) -> Result<(), ParseError> {
        while !self.is_done() {
            let before = self.clone();
            let wrong = |_| before.error(expected);
            let (key, value) = self.pair(expected)?;
            let field = match key {
                "input" => &mut usage.input,
                "output" => &mut usage.output,
                "cache_read" => &mut usage.cache_read,
                "cache_write" => &mut usage.cache_write,
                "cost" => {
                    usage.cost = Some(value.parse().map_err(|_| before.error(expected))?);
                    continue;
                }
                _ => return Err(before.error(expected)),
            };
            *field = Some(value.parse().map_err(wrong)?);
        }
        Ok(())
    }

    /// Steps over `key` and the sign after it, if one of `signs` ends the next word's key.
    pub(crate) fn key(&mut self, signs: &[char]) -> Option<(&'a str, char)> {
        let word = self.peek_word();
        let end = word.find(signs).filter(|end| *end > 0)?;
        let sign = word[end..].chars().next()?;
        self.at = self.start() + end + sign.len_utf8();
        Some((&word[..end], sign))
    }

    /// A string in double quotes, with JSON's escapes.
    pub(crate) fn string(&mut self, expected: &str) -> Result<String, ParseError> {
        if !self.rest().starts_with('"') {
            return Err(self.error(expected));
        }
        match self.value()? {
            Value::String(text) => Ok(text),
            other => unreachable!("a JSON value that opens with a quote is a string, not {other}"),
        }
    }

    /// A JSON value on this line.
    pub(crate) fn value(&mut self) -> Result<Value, ParseError> {
        let start = self.start();
        let mut stream =
            serde_json::Deserializer::from_str(&self.text[start..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                self.at = start + stream.byte_offset();
                Ok(value)
            }
            Some(Err(error)) => Err(self.broken_json(start, &error)),
            None => Err(self.error("a JSON value")),
        }
    }

    fn broken_json(&self, start: usize, error: &serde_json::Error) -> ParseError {
        let mut bad = start + error.column().saturating_sub(1);
        while !self.text.is_char_boundary(bad.min(self.text.len())) {
            bad -= 1;
        }
        let there = Cursor {
            line: self.line,
            text: self.text,
            at: bad.min(self.text.len()),
        };
        there.error(format!("valid JSON ({})", json_reason(error)))
    }

    /// Text in quotes, or `<<END` with the lines that follow.
    pub(crate) fn text(
        &mut self,
        lines: &mut Lines<'a>,
        expected: &str,
    ) -> Result<String, ParseError> {
        match self.here_mark()? {
            Some(mark) => self.here_text(mark, lines),
            None => self.string(expected),
        }
    }

    /// A JSON value on this line, or as the lines after `<<END`.
    pub(crate) fn value_or_here(&mut self, lines: &mut Lines<'a>) -> Result<Value, ParseError> {
        let Some(mark) = self.here_mark()? else {
            return self.value();
        };
        let first = self.line + 1;
        let text = self.here_text(mark, lines)?;
        serde_json::from_str(&text).map_err(|error| ParseError {
            at: Position {
                line: first + error.line().saturating_sub(1),
                column: error.column().max(1),
            },
            expected: format!("valid JSON ({})", json_reason(&error)),
            found: "something else (columns are counted without the shared indentation)".to_owned(),
            hint: None,
        })
    }

    fn here_mark(&mut self) -> Result<Option<&'a str>, ParseError> {
        let Some(mark) = self.peek_word().strip_prefix("<<") else {
            return Ok(None);
        };
        if mark.is_empty() {
            return Err(self.error("a mark such as <<END"));
        }
        Ok(Some(mark))
    }

    fn here_text(&mut self, mark: &str, lines: &mut Lines<'a>) -> Result<String, ParseError> {
        let opening = self.clone();
        self.word("<<")?;
        self.finish("nothing after the mark")?;
        lines
            .here_text(mark)
            .ok_or_else(|| opening.error(format!("a later line that holds only `{mark}`")))
    }
}

/// serde's reason without its own line and column, which count from somewhere else.
fn json_reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or(&text).to_owned()
}

/// Whoever writes more has mistyped it.
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 60 * 60);

fn duration(word: &str) -> Option<Duration> {
    let digits = word
        .find(|c: char| !c.is_ascii_digit())
        .filter(|digits| *digits > 0)?;
    let amount: u64 = word[..digits].parse().ok()?;
    let time = match &word[digits..] {
        "ms" => Duration::from_millis(amount),
        "s" => Duration::from_secs(amount),
        "m" => Duration::from_secs(amount.checked_mul(60)?),
        _ => return None,
    };
    (time <= LONGEST_PAUSE).then_some(time)
}

fn shortened(text: &str) -> String {
    const SHOWN: usize = 30;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.trim_end().to_owned(),
    }
}
