//! Where the secrets of one text stand, and what stands there instead.
//!
//! Owns the two ways to read a text: as JSON, string by string, with the name each stands under; and as it is. A
//! string that holds JSON is read as JSON again, so that no number of escapes hides a secret. Pure. Invariant: a text
//! that was JSON is JSON afterwards, and what was not a secret keeps its bytes.

use std::ops::Range;

use countersign_client::secrets_in;
use countersign_wire::route::Text;
use regex::Regex;
use serde_json::value::RawValue;

use super::hints::may_look_like_one;
use super::names::{is_secret_flag, names_a_secret};

/// What stands in the place of a secret.
pub const MASKED: &str = "[masked]";

/// How often a string may hold JSON that holds a string that holds JSON.
const DEEPEST: usize = 6;

/// A value that is learned is masked wherever it stands: it must be no word.
const SHORTEST_LEARNED: usize = 12;
const LONGEST_LEARNED: usize = 512;

/// One change of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Where.
    pub range: Range<usize>,
    /// What stands there instead.
    pub with: String,
    /// How many secrets go with it.
    pub secrets: usize,
}

/// What is looked for beside what looks like a secret.
#[derive(Debug, Default)]
pub struct Wanted {
    /// The person's own patterns.
    pub patterns: Vec<Regex>,
    /// Values that were found to be secret elsewhere.
    pub known: Option<Regex>,
}

impl Wanted {
    /// These patterns of a person, and these known values.
    pub fn new(patterns: Vec<Regex>, known: Option<Regex>) -> Self {
        Self { patterns, known }
    }

    /// The secrets of a text, in order and apart from each other.
    pub fn edits(&self, text: &str) -> Vec<Edit> {
        self.edits_within(text, 0)
    }

    fn edits_within(&self, text: &str, depth: usize) -> Vec<Edit> {
        match depth < DEEPEST && is_json(text) {
            true => self.in_json(text, depth),
            false => self.in_text(text),
        }
    }

    fn in_text(&self, text: &str) -> Vec<Edit> {
        let mut places = match may_look_like_one(text) {
            true => secrets_in(text),
            false => Vec::new(),
        };
        self.matches(text, &mut places);
        places.sort_by_key(|place| (place.start, place.end));
        let mut edits: Vec<Edit> = Vec::new();
        for place in places {
            match edits.last_mut().filter(|last| place.start < last.range.end) {
                Some(last) => last.range.end = last.range.end.max(place.end),
                None => edits.push(Edit {
                    range: place,
                    with: MASKED.to_owned(),
                    secrets: 1,
                }),
            }
        }
        edits
    }

    fn matches(&self, text: &str, places: &mut Vec<Range<usize>>) {
        for pattern in self.patterns.iter().chain(&self.known) {
            let found = pattern.find_iter(text).map(|found| found.range());
            places.extend(found.filter(|range| !range.is_empty()));
        }
    }

    fn in_json(&self, text: &str, depth: usize) -> Vec<Edit> {
        let mut edits = Vec::new();
        for token in tokens(text) {
            let edit = match token.sort {
                Sort::Number => self.number(text, token.range),
                Sort::Text { is_secret } => self.string(text, token.range, is_secret, depth),
            };
            edits.extend(edit);
        }
        edits
    }

    /// A number is a secret only if the person says so.
    fn number(&self, text: &str, range: Range<usize>) -> Option<Edit> {
        let number = text.get(range.clone())?;
        let is_wanted = self.patterns.iter().any(|wanted| wanted.is_match(number));
        is_wanted.then(|| Edit {
            range,
            with: format!("\"{MASKED}\""),
            secrets: 1,
        })
    }

    fn string(
        &self,
        text: &str,
        range: Range<usize>,
        is_secret: bool,
        depth: usize,
    ) -> Option<Edit> {
        let inside = text.get(range.start + 1..range.end - 1)?;
        let said = Text::of_raw(inside.as_bytes()).get();
        let (said, secrets) = match is_secret && !said.is_empty() {
            true => (MASKED.to_owned(), 1),
            false => apply(&said, &self.edits_within(&said, depth + 1))?,
        };
        let with = serde_json::Value::from(said).to_string();
        Some(Edit {
            range,
            with,
            secrets,
        })
    }

    /// The values of this text that are secret wherever they stand.
    pub fn learn(&self, text: &str, learned: &mut impl FnMut(&str)) {
        self.learn_within(text, 0, learned);
    }

    fn learn_within(&self, text: &str, depth: usize, learned: &mut impl FnMut(&str)) {
        if depth >= DEEPEST || !is_json(text) {
            let places = secrets_in(text);
            let values = places.into_iter().filter_map(|place| text.get(place));
            return values.filter(|value| is_no_word(value)).for_each(learned);
        }
        for token in tokens(text) {
            let Sort::Text { is_secret } = token.sort else {
                continue;
            };
            let inside = text.get(token.range.start + 1..token.range.end - 1);
            let said = Text::of_raw(inside.unwrap_or_default().as_bytes()).get();
            match is_secret {
                true if is_no_word(&said) => learned(&said),
                true => {}
                false => self.learn_within(&said, depth + 1, learned),
            }
        }
    }
}

/// Letters and digits, no blank: nothing that stands in a sentence.
fn is_no_word(value: &str) -> bool {
    (SHORTEST_LEARNED..=LONGEST_LEARNED).contains(&value.len())
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !value.contains(char::is_whitespace)
}

/// The text with its edits, and how many secrets went; nothing if there are none.
pub fn apply(text: &str, edits: &[Edit]) -> Option<(String, usize)> {
    if edits.is_empty() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    let mut secrets = 0;
    for edit in edits {
        out.push_str(text.get(copied..edit.range.start).unwrap_or_default());
        out.push_str(&edit.with);
        copied = edit.range.end;
        secrets += edit.secrets;
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Some((out, secrets))
}

fn is_json(text: &str) -> bool {
    let begins = text.trim_start().as_bytes().first();
    matches!(begins, Some(b'{' | b'[')) && serde_json::from_str::<&RawValue>(text).is_ok()
}

/// A string or a number of a JSON text.
struct Token {
    range: Range<usize>,
    sort: Sort,
}

enum Sort {
    /// A key or a value, quotes included.
    Text {
        is_secret: bool,
    },
    Number,
}

/// An object or a list that is open.
#[derive(Default)]
struct Frame {
    is_object: bool,
    /// The next string is a key.
    expects_key: bool,
    /// The key before the value, or the flag before it in a list, names a secret.
    is_named: bool,
    /// `{"name": "API_KEY", "value": …}`: what the name says, and where the value stands.
    says_secret: bool,
    value: Option<usize>,
    key: Key,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Key {
    Name,
    Value,
    #[default]
    Other,
}

impl Key {
    fn of(key: &str) -> Self {
        match key {
            "name" | "key" | "header" | "variable" => Key::Name,
            "value" => Key::Value,
            _ => Key::Other,
        }
    }
}

/// The strings and numbers of a text that is JSON.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens: Vec<Token> = Vec::new();
    let mut frames: Vec<Frame> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'{' | b'[' => frames.push(Frame {
                is_object: *byte == b'{',
                expects_key: *byte == b'{',
                ..Frame::default()
            }),
            b'}' | b']' => {
                let value = frames.pop().filter(|frame| frame.says_secret);
                let value = value.and_then(|frame| tokens.get_mut(frame.value?));
                if let Some(Token {
                    sort: Sort::Text { is_secret },
                    ..
                }) = value
                {
                    *is_secret = true;
                }
            }
            b',' => {
                if let Some(frame) = frames.last_mut().filter(|frame| frame.is_object) {
                    frame.expects_key = true;
                }
            }
            b'"' => {
                at = string_end(bytes, at);
                let range = start..at;
                let said = Text::of_raw(bytes.get(start + 1..at - 1).unwrap_or_default());
                let is_secret = frames
                    .last_mut()
                    .is_some_and(|frame| frame.string(said, tokens.len()));
                let sort = Sort::Text { is_secret };
                tokens.push(Token { range, sort });
            }
            b'-' | b'0'..=b'9' => {
                let rest = bytes.iter().skip(at);
                at += rest
                    .take_while(|byte| b"0123456789+-.eE".contains(byte))
                    .count();
                let (range, sort) = (start..at, Sort::Number);
                tokens.push(Token { range, sort });
            }
            _ => {}
        }
    }
    tokens
}

impl Frame {
    /// A string stands here. Whether it is a secret by what stands before it.
    fn string(&mut self, said: Text<'_>, index: usize) -> bool {
        // What is long is no name, and is not copied to see that.
        let is_short = said.raw().len() <= 256;
        if !self.is_object {
            let was_named = self.is_named;
            self.is_named = is_short && is_secret_flag(&said.get());
            return was_named && !self.is_named;
        }
        if self.expects_key {
            self.expects_key = false;
            self.is_named = is_short && names_a_secret(&said.get());
            self.key = match is_short {
                true => Key::of(&said.get()),
                false => Key::Other,
            };
            return false;
        }
        match self.key {
            Key::Name => self.says_secret |= is_short && names_a_secret(&said.get()),
            Key::Value => self.value = Some(index),
            Key::Other => {}
        }
        self.is_named
    }
}

/// Behind the closing quote of the string whose first byte is at `at`. The text is known to be JSON.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests;
