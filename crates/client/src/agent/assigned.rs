//! Secrets that stand behind their name in a line: `NAME=value`, `"name": "value"`, `--name value`.
//!
//! Owns where a name ends and where its value lies; which names count is told by `names`. Pure. Invariant: what is
//! found lies on byte borders of characters, behind the name.

use super::names::names_a_secret;

/// Headers whose whole value is a secret.
const HEADERS: [&str; 4] = ["authorization", "api-key", "api_key", "cookie"];

/// Ends of a name that count even in the middle of a word.
const ANYWHERE: [&str; 3] = ["password", "passwd", "private_key"];

/// Names that are words of sentences and programs, too: `Unexpected token: }`.
const ALSO_WORDS: [&str; 7] = [
    "key",
    "token",
    "secret",
    "pass",
    "jwt",
    "credential",
    "credentials",
];

/// What stands behind a flag in a sentence about it.
const ABOUT_FLAGS: [&str; 24] = [
    "flag",
    "flags",
    "option",
    "options",
    "argument",
    "parameter",
    "value",
    "is",
    "are",
    "was",
    "to",
    "and",
    "or",
    "for",
    "with",
    "in",
    "from",
    "as",
    "must",
    "should",
    "if",
    "when",
    "the",
    "a",
];

/// What is no value of a secret.
const NOTHING: [&str; 8] = [
    "null",
    "none",
    "true",
    "false",
    "undefined",
    "string",
    "str",
    "[masked]",
];

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub(super) fn is_token(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

pub(super) fn starts_with(line: &str, at: usize, word: &str) -> bool {
    line.as_bytes()
        .get(at..at + word.len())
        .is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
}

/// How far from `at` on the bytes are all of that kind.
pub(super) fn run(line: &str, at: usize, kind: impl Fn(u8) -> bool) -> usize {
    let bytes = line.as_bytes().iter().skip(at);
    at + bytes.take_while(|byte| kind(**byte)).count()
}

/// `Authorization: …`: all that follows.
pub(super) fn in_header(line: &str, at: usize) -> Option<(usize, usize)> {
    let name = HEADERS.iter().find(|name| starts_with(line, at, name))?;
    let value = value_start(line, at + name.len())?;
    let to = match value.quote {
        Some(quote) => run(line, value.from, |byte| byte != quote),
        None => line.len(),
    };
    Some((value.from, to))
}

/// `dbpassword: …`: a name that says enough with its end.
pub(super) fn by_end(line: &str, at: usize) -> Option<(usize, usize)> {
    let name = ANYWHERE.iter().find(|name| starts_with(line, at, name))?;
    let value = value_start(line, at + name.len())?;
    Some((value.from, value.end(line)))
}

/// `SOME_TOKEN=…`, `"secret": "…"`, `--api-key …`: a whole name that begins at `at`.
pub(super) fn named(line: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = line.as_bytes();
    if at > 0 && is_token(bytes[at - 1]) {
        return None;
    }
    let end = run(line, at, is_token);
    let whole = line.get(at..end)?;
    let name = whole.trim_start_matches('-');
    let is_flag = name.len() < whole.len();
    let value = match value_start(line, end) {
        Some(value) => value,
        None if is_flag => value_of_flag(line, end)?,
        None => return None,
    };
    if name.is_empty() || !names_a_secret(name) {
        return None;
    }
    let is_header = HEADERS
        .iter()
        .any(|header| name.to_ascii_lowercase().ends_with(header));
    if is_header && !is_flag {
        // The header's own rule takes all of the line.
        return None;
    }
    let to = value.end(line);
    let said = line.get(value.from..to)?;
    let is_nothing = NOTHING.iter().any(|word| word.eq_ignore_ascii_case(said));
    // A reference to a variable, or a place to fill in.
    if is_nothing || said.starts_with(['$', '<', '{', '%']) {
        return None;
    }
    let is_doubtful = !is_flag
        && ALSO_WORDS
            .iter()
            .any(|word| word.eq_ignore_ascii_case(name));
    let is_plain = value.quote.is_none() && (value.is_loose || value.sign == b':');
    (!is_doubtful || !is_plain || is_no_word(said)).then_some((value.from, to))
}

/// Long, with a digit: nothing that stands in a sentence.
fn is_no_word(value: &str) -> bool {
    value.len() >= 8 && value.bytes().any(|byte| byte.is_ascii_digit())
}

/// Where a value begins.
struct Value {
    from: usize,
    quote: Option<u8>,
    /// `=`, `:`, or a blank behind a flag.
    sign: u8,
    /// Blanks stand before the sign.
    is_loose: bool,
}

impl Value {
    fn end(&self, line: &str) -> usize {
        if let Some(quote) = self.quote {
            return run(line, self.from, |byte| byte != quote);
        }
        let to = run(line, self.from, |byte| {
            !byte.is_ascii_whitespace() && !b",;&".contains(&byte)
        });
        // A quote or bracket around all of it was opened before.
        let value = line.get(self.from..to).unwrap_or_default();
        let bare = value.trim_end_matches(['"', '\'', '`', ')', ']', '}', '\\']);
        match bare.is_empty() {
            true => to,
            false => self.from + bare.len(),
        }
    }
}

/// The value after the name of a header or variable that ends at `at`.
fn value_start(line: &str, at: usize) -> Option<Value> {
    let bytes = line.as_bytes();
    let quoted = run(line, at, is_quote);
    let sign_at = run(line, quoted, is_blank);
    let sign = *bytes.get(sign_at)?;
    // `a == b` and `a::b` give nothing a value.
    if !matches!(sign, b':' | b'=') || bytes.get(sign_at + 1) == Some(&sign) {
        return None;
    }
    let start = run(line, sign_at + 1, is_blank);
    Some(quoted_value(line, start, sign, sign_at > quoted))
}

/// The value after a flag that ends at `at`.
fn value_of_flag(line: &str, at: usize) -> Option<Value> {
    let start = run(line, at, is_blank);
    if start == at || line.as_bytes().get(start) == Some(&b'-') {
        return None;
    }
    let value = quoted_value(line, start, b' ', false);
    let said = line.get(value.from..value.end(line))?;
    let word = said.trim_end_matches(['.', ':', '?', '!']);
    let is_prose = ABOUT_FLAGS.contains(&word) || names_a_secret(word);
    let is_sign =
        !said.starts_with(|first: char| first.is_alphanumeric() || "_/+.".contains(first));
    (value.quote.is_some() || !(is_prose || is_sign)).then_some(value)
}

fn quoted_value(line: &str, start: usize, sign: u8, is_loose: bool) -> Value {
    let from = run(line, start, is_quote);
    Value {
        from,
        quote: (from > start).then(|| line.as_bytes()[from - 1]),
        sign,
        is_loose,
    }
}

fn is_quote(byte: u8) -> bool {
    b"\"'\\".contains(&byte)
}
