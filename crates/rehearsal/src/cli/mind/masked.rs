//! A prompt with its quotations put aside, so that what stands in quotes, backticks or JSON is no grammar.
//!
//! Each quoted stretch is one letter of a private range; a quote that is not closed is an ordinary character.

use std::ops::Range;

use serde_json::Value;

/// The letter of the first quotation; the next ones follow.
const FIRST: u32 = 0xF0000;
/// As many as are told apart.
const MOST: usize = 0xFFF0;

/// The quotations of a prompt.
#[derive(Debug, Default)]
pub(super) struct Quotes(Vec<String>);

impl Quotes {
    /// Puts the quotations of a text aside.
    pub(super) fn mask(text: &str) -> (Self, String) {
        let mut quotes = Vec::new();
        let mut masked = String::new();
        let mut at = 0;
        while let Some(next) = text[at..].find(['`', '"', '\'', '“', '{', '[']) {
            let start = at + next;
            masked.push_str(&text[at..start]);
            let letter = char::from_u32(FIRST + quotes.len() as u32);
            at = match (span_at(text, start).filter(|_| quotes.len() < MOST), letter) {
                (Some(span), Some(letter)) => {
                    masked.push(letter);
                    quotes.push(text[span.clone()].to_owned());
                    span.end
                }
                _ => {
                    let letter = text[start..].chars().next().unwrap_or_default();
                    masked.push(letter);
                    start + letter.len_utf8()
                }
            };
        }
        masked.push_str(&text[at..]);
        (Self(quotes), masked)
    }

    /// The quotation that a letter stands for.
    fn of(&self, letter: char) -> Option<&str> {
        let index = u32::from(letter).checked_sub(FIRST)?;
        self.0.get(index as usize).map(String::as_str)
    }

    /// The text as it was written.
    pub(super) fn raw(&self, masked: &str) -> String {
        let mut raw = String::with_capacity(masked.len());
        for letter in masked.chars() {
            match self.of(letter) {
                Some(quoted) => raw.push_str(quoted),
                None => raw.push(letter),
            }
        }
        raw
    }

    /// What stands in the quotation that the text begins with, and what follows it. JSON is no quotation.
    pub(super) fn leading<'a>(&'a self, masked: &'a str) -> Option<(&'a str, &'a str)> {
        let masked = masked.trim_start();
        let letter = masked.chars().next()?;
        let quoted = self
            .of(letter)
            .filter(|quoted| !quoted.starts_with(['{', '[']))?;
        Some((inside(quoted), &masked[letter.len_utf8()..]))
    }

    /// A JSON object that the text begins with, in quotes or not; None if there is none.
    pub(super) fn json(&self, masked: &str) -> Option<Result<Value, serde_json::Error>> {
        let masked = masked.trim_start();
        let text = match self.leading(masked) {
            Some((inner, _)) => inner.to_owned(),
            None => self.raw(masked),
        };
        let mut values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
        values.next().filter(|_| text.starts_with('{'))
    }

    /// A text of the user: without quotes around the whole of it, with `\n` as a line break.
    pub(super) fn content(&self, masked: &str) -> String {
        match self.leading(masked) {
            Some((inner, rest)) if is_ending(rest) => unescaped(inner),
            _ => unescaped(self.raw(masked).trim()),
        }
    }

    /// A name: without quotes and without the end of the sentence.
    pub(super) fn name(&self, masked: &str) -> String {
        match self.leading(masked) {
            Some((inner, rest)) if is_ending(rest) => inner.trim().to_owned(),
            _ => self.raw(end_of_sentence(masked)),
        }
    }
}

/// Whether there is nothing but punctuation and courtesy.
pub(super) fn is_ending(text: &str) -> bool {
    let rest = text.trim().trim_matches(['.', '!', '?', ',']).trim();
    rest.is_empty() || rest.eq_ignore_ascii_case("please")
}

/// The text without the period and the courtesy behind it. A lone dot is a folder.
pub(super) fn end_of_sentence(text: &str) -> &str {
    let bare = |text: &'_ str| text.trim().len();
    let before_courtesy = |text: &'_ str| {
        let cut = text.len().saturating_sub("please".len());
        match text.get(cut..) {
            Some(end) if end.eq_ignore_ascii_case("please") && cut > 0 => {
                bare(text[..cut].trim_end().trim_end_matches(','))
            }
            _ => text.len(),
        }
    };
    let text = text.trim();
    let text = &text[..before_courtesy(text)];
    let quoted = |c: char| u32::from(c) >= FIRST;
    match text.strip_suffix(['.', '!']) {
        Some(rest) if rest.ends_with(|c: char| c.is_alphanumeric() || quoted(c) || c == ')') => {
            &rest[..before_courtesy(rest)]
        }
        _ => text,
    }
}

/// `\n`, `\t` and `\\` as what they stand for; other backslashes stay.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let meant = match (c, rest.peek()) {
            ('\\', Some('n')) => '\n',
            ('\\', Some('t')) => '\t',
            ('\\', Some('\\')) => '\\',
            _ => {
                out.push(c);
                continue;
            }
        };
        rest.next();
        out.push(meant);
    }
    out
}

/// The quoted stretch that begins exactly here, quotes included.
fn span_at(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = &text[start..];
    let end = match rest.chars().next()? {
        '`' => {
            let ticks = rest.len() - rest.trim_start_matches('`').len();
            let mark = &rest[..ticks];
            match rest[ticks..].find(mark) {
                Some(inner) => ticks + inner + ticks,
                // Nothing, in quotes.
                None if ticks == 2 => ticks,
                None => return None,
            }
        }
        '"' => 1 + closing(&rest[1..], '"')? + 1,
        '“' => rest.find('”')? + '”'.len_utf8(),
        '\'' if opens(&text[..start]) => 1 + closing_apostrophe(&rest[1..])? + 1,
        '{' | '[' => {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
            values.next()?.ok()?;
            values.byte_offset()
        }
        _ => return None,
    };
    Some(start..start + end)
}

/// An apostrophe after a letter is one.
fn opens(before: &str) -> bool {
    !before.ends_with(char::is_alphanumeric)
}

fn closing_apostrophe(text: &str) -> Option<usize> {
    text.match_indices('\'')
        .map(|(at, _)| at)
        .find(|at| !text[at + 1..].starts_with(char::is_alphanumeric))
        .filter(|at| *at > 0)
}

fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })
}

/// What a span holds: without its quotes, and in a fence without the name of the language.
fn inside(span: &str) -> &str {
    if let Some(fenced) = span.strip_prefix("```").and_then(|s| s.strip_suffix("```")) {
        return match fenced.split_once('\n') {
            Some((tag, body)) if !tag.trim().contains(' ') => body,
            _ => fenced,
        };
    }
    let ticks = span.len() - span.trim_start_matches('`').len();
    if span.len() == ticks {
        return "";
    }
    if ticks > 0 && span.len() >= 2 * ticks {
        return &span[ticks..span.len() - ticks];
    }
    let mut inner = span.chars();
    inner.next();
    inner.next_back();
    inner.as_str()
}
