//! Hides secrets in text that people and logs will see.
//!
//! Two ways of knowing a secret: its value, because it stood in the agent's environment under a name like
//! `…_KEY`; and its looks. Masks too much rather than too little. Works line by line, so that a stream can be
//! masked as it comes.

use std::ffi::OsStr;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::pem::{self, PemState};

/// What stands in the place of a secret.
const MASKED: &str = "[masked]";

/// A shorter value is no secret, and hiding it would hide the text.
const SHORTEST_VALUE: usize = 8;

/// Words in the name of a variable that make its value a secret.
const SECRET_NAMES: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// Headers whose whole value is a secret.
const HEADERS: [&str; 4] = ["authorization", "api-key", "api_key", "cookie"];

/// Ends of a name that is followed by a secret; a name must have more to it than the last three.
const ASSIGNED: [&str; 6] = [
    "password",
    "passwd",
    "private_key",
    "token",
    "secret",
    "access_key",
];

/// Words with which a secret begins, and how much must follow.
const PREFIXES: [(&str, usize); 11] = [
    ("sk-ant-", 1),
    ("sk-", 16),
    ("ghp_", 16),
    ("gho_", 16),
    ("ghu_", 16),
    ("ghs_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("AKIA", 16),
    ("ASIA", 16),
    ("xox", 10),
];

/// Values known to be secret.
#[derive(Clone, Default)]
pub(super) struct Secrets {
    /// Longest first, so that none hides a part of another.
    values: Vec<String>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secrets", self.values.len())
    }
}

impl Secrets {
    /// The secrets of an environment: the values of variables whose name looks like one of a secret.
    pub(super) fn of_env<'a>(env: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>) -> Secrets {
        let mut values = Vec::new();
        for (name, value) in env {
            let name = name.to_string_lossy().to_ascii_uppercase();
            if !SECRET_NAMES.iter().any(|word| name.contains(word)) {
                continue;
            }
            let value = value.to_string_lossy();
            // One of several lines may be printed line by line, or in one with its line ends escaped.
            values.extend(value.lines().map(|line| line.trim().to_owned()));
            values.push(value.trim().replace('\n', "\\n"));
        }
        values.retain(|value| value.len() >= SHORTEST_VALUE);
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Secrets { values }
    }

    /// `text` without its secrets. If it begins in the middle of a PEM block, that goes too.
    pub(super) fn masked(&self, text: &str) -> String {
        let mut pem = PemState::default();
        let mut out = String::with_capacity(text.len());
        for line in pem::without_cut_block(text).split_inclusive('\n') {
            let bare = line.trim_end_matches(['\r', '\n']);
            out.push_str(&self.mask_line(&pem.line(bare)));
            out.push_str(line.get(bare.len()..).unwrap_or_default());
        }
        out
    }

    fn mask_line(&self, line: &str) -> String {
        let mut line = line.to_owned();
        for value in &self.values {
            if line.contains(value.as_str()) {
                line = line.replace(value.as_str(), MASKED);
            }
        }
        by_looks(&line)
    }
}

/// Masks a stream line by line: a PEM block may go over many of them.
#[derive(Debug)]
pub struct LineMask {
    secrets: Arc<Secrets>,
    pem: PemState,
}

impl LineMask {
    /// For lines of which nothing is known but their looks.
    pub fn by_looks() -> LineMask {
        Self::new(Arc::new(Secrets::default()))
    }

    pub(super) fn new(secrets: Arc<Secrets>) -> LineMask {
        let pem = PemState::default();
        LineMask { secrets, pem }
    }

    /// The next line, masked.
    pub fn line(&mut self, line: &str) -> String {
        let line = self.pem.line(line);
        self.secrets.mask_line(&line)
    }
}

/// Where in a text something stands that looks like a secret: keys, tokens, passwords, PEM blocks. In order, apart
/// from each other.
///
/// For whoever passes on what an agent said and must not pass on its secrets. Finds too much rather than too little.
pub fn secrets_in(text: &str) -> Vec<Range<usize>> {
    let mut found = pem::blocks(text);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches(['\r', '\n']);
        let in_line = looks(bare).into_iter();
        found.extend(in_line.map(|range| start + range.start..start + range.end));
        start += line.len();
    }
    found.sort_by_key(|range| (range.start, range.end));
    found.dedup_by(|later, earlier| {
        let joins = later.start < earlier.end;
        if joins {
            earlier.end = earlier.end.max(later.end);
        }
        joins
    });
    found
}

/// The line without what looks like a secret.
fn by_looks(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut copied = 0;
    for secret in looks(line) {
        out.push_str(line.get(copied..secret.start).unwrap_or_default());
        out.push_str(MASKED);
        copied = secret.end;
    }
    out.push_str(line.get(copied..).unwrap_or_default());
    out
}

/// Where in a line something looks like a secret.
fn looks(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < line.len() {
        match secret_at(line, at).filter(|(from, to)| to > from) {
            Some((from, to)) => {
                found.push(from..to);
                at = to;
            }
            None => at += 1,
        }
    }
    found
}

/// If something that gives a secret away begins at byte `at`: where the secret itself lies.
fn secret_at(line: &str, at: usize) -> Option<(usize, usize)> {
    let rest = line.as_bytes().get(at..)?;
    match rest.first()?.to_ascii_lowercase() {
        b':' => in_url(line, at),
        b'a' | b'b' | b'c' | b'g' | b'p' | b's' | b't' | b'x' => {
            let word_starts = at == 0 || !is_word(line.as_bytes()[at - 1]);
            let by_prefix = || word_starts.then(|| prefixed(line, at)).flatten();
            by_prefix()
                .or_else(|| after_bearer(line, at))
                .or_else(|| in_header(line, at))
                .or_else(|| assigned(line, at))
        }
        _ => None,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn starts_with(line: &str, at: usize, word: &str) -> bool {
    line.as_bytes()
        .get(at..at + word.len())
        .is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
}

/// How far from `at` on the bytes are all of that kind.
fn run(line: &str, at: usize, kind: impl Fn(u8) -> bool) -> usize {
    let bytes = line.as_bytes().iter().skip(at);
    at + bytes.take_while(|byte| kind(**byte)).count()
}

fn prefixed(line: &str, at: usize) -> Option<(usize, usize)> {
    let rest = line.get(at..)?;
    let (prefix, _) = PREFIXES.iter().find(|(prefix, least)| {
        let follows = rest.strip_prefix(prefix);
        follows.is_some_and(|after| run(after, 0, is_token) >= *least)
    })?;
    let from = at + prefix.len();
    Some((from, run(line, from, is_token)))
}

fn is_token(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

fn after_bearer(line: &str, at: usize) -> Option<(usize, usize)> {
    let word = "bearer";
    if !starts_with(line, at, word) {
        return None;
    }
    let from = run(line, at + word.len(), |byte| byte == b' ');
    let to = run(line, from, |byte| {
        is_token(byte) || b".~+/=".contains(&byte)
    });
    (from > at + word.len()).then_some((from, to))
}

fn in_header(line: &str, at: usize) -> Option<(usize, usize)> {
    let name = HEADERS.iter().find(|name| starts_with(line, at, name))?;
    let (from, quote) = value_start(line, at + name.len())?;
    let to = match quote {
        Some(quote) => run(line, from, |byte| byte != quote),
        None => line.len(),
    };
    Some((from, to))
}

/// `SOME_TOKEN=…`, `"password": "…"`.
fn assigned(line: &str, at: usize) -> Option<(usize, usize)> {
    let name = ASSIGNED.iter().find(|name| starts_with(line, at, name))?;
    let end = at + name.len();
    // "Unexpected token: }" is no secret; "auth_token: …" is.
    let alone = at == 0 || !is_token(line.as_bytes()[at - 1]);
    if alone && matches!(*name, "token" | "secret" | "access_key") {
        return None;
    }
    let (from, quote) = value_start(line, end)?;
    let ends = |byte: u8| match quote {
        Some(quote) => byte == quote,
        None => byte.is_ascii_whitespace() || b",;&".contains(&byte),
    };
    Some((from, run(line, from, |byte| !ends(byte))))
}

/// Where the value begins after the name of a header or variable that ends at `at`, and how it is quoted.
fn value_start(line: &str, at: usize) -> Option<(usize, Option<u8>)> {
    let bytes = line.as_bytes();
    let quote_or_escape = |byte: u8| b"\"'\\".contains(&byte);
    let blank = |byte: u8| byte == b' ' || byte == b'\t';
    let sign = run(line, run(line, at, quote_or_escape), blank);
    if !matches!(bytes.get(sign)?, b':' | b'=') {
        return None;
    }
    let start = run(line, sign + 1, blank);
    let from = run(line, start, quote_or_escape);
    Some((from, (from > start).then(|| bytes[from - 1])))
}

/// `://user:password@`.
fn in_url(line: &str, at: usize) -> Option<(usize, usize)> {
    if !starts_with(line, at, "://") {
        return None;
    }
    let from = at + 3;
    let ends = |byte: u8| byte.is_ascii_whitespace() || b"/?#\"'<>`".contains(&byte);
    let authority = line.get(from..run(line, from, |byte| !ends(byte)))?;
    let (user, _) = authority.rsplit_once('@')?;
    (user != "git").then_some((from, from + user.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str) -> String {
        Secrets::default().masked(text)
    }

    #[test]
    fn values_of_variables_that_name_a_secret_are_hidden() {
        let env = [
            ("ANTHROPIC_API_KEY", "not-a-key-really"),
            ("my_token", "abcdefgh"),
            ("DB_PASSWORD", "abcdefghij"),
            ("SHORT_KEY", "1"),
            ("HOME", "/srv/somewhere"),
            ("CERT_SECRET", "first line\nsecond line\n"),
        ];
        let pairs = env.map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
        let secrets = Secrets::of_env(pairs);
        let shown = [
            ("1 of not-a-key-really.", "1 of [masked]."),
            ("abcdefghij abcdefgh", "[masked] [masked]"),
            ("in /srv/somewhere", "in /srv/somewhere"),
            ("first line\nsecond line", "[masked]\n[masked]"),
            (r#"{"x":"first line\nsecond line"}"#, r#"{"x":"[masked]"}"#),
        ];
        for (text, expected) in shown {
            assert_eq!(secrets.masked(text), expected);
        }
        assert_eq!(format!("{secrets:?}"), "6 secrets");
    }

    #[test]
    fn secrets_are_known_by_their_looks() {
        let twenty = "A1b2C3d4E5f6G7h8I9j0";
        let shown = [
            (
                "key sk-ant-api03-x_Y-z, bad".to_owned(),
                "key sk-ant-[masked], bad",
            ),
            (format!("sk-{twenty}"), "sk-[masked]"),
            (
                format!("ghp_{twenty} and github_pat_{twenty}"),
                "ghp_[masked] and github_pat_[masked]",
            ),
            ("AKIAIOSFODNN7EXAMPLE".to_owned(), "AKIA[masked]"),
            (
                "got bearer abc.def-1/2+3== here".to_owned(),
                "got bearer [masked] here",
            ),
            (
                "Authorization: Basic dTpw".to_owned(),
                "Authorization: [masked]",
            ),
            (
                r#"{"authorization":"Basic dTpw","a":1}"#.to_owned(),
                r#"{"authorization":"[masked]","a":1}"#,
            ),
            (
                "proxy-authorization = x y".to_owned(),
                "proxy-authorization = [masked]",
            ),
            ("X-Api-Key: abc".to_owned(), "X-Api-Key: [masked]"),
            (
                "ANTHROPIC_API_KEY=abc d".to_owned(),
                "ANTHROPIC_API_KEY=[masked]",
            ),
            (
                "via http://user:p%40ss@host:1/x?y".to_owned(),
                "via http://[masked]@host:1/x?y",
            ),
            ("https://token@host".to_owned(), "https://[masked]@host"),
            (
                "GITHUB_TOKEN=abc next".to_owned(),
                "GITHUB_TOKEN=[masked] next",
            ),
            (
                r#""password": "a b", 1"#.to_owned(),
                r#""password": "[masked]", 1"#,
            ),
            (
                r#"\"aws_secret_access_key\":\"ab\""#.to_owned(),
                r#"\"aws_secret_access_key\":\"[masked]""#,
            ),
        ];
        for (text, expected) in shown {
            assert_eq!(masked(&text), expected);
        }
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        let texts = [
            "Unexpected token: }",
            "error: unknown option '--max-tokens'",
            "max_tokens: 4096, tokens 12",
            "task-runner sk-short AKIA ghp_",
            "ssh://git@host/path and http://127.0.0.1:8080/a@b",
            "Überraschung: α ✓ — \u{1F600}\r\n\r\n",
            "",
        ];
        for text in texts {
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn pem_blocks_are_hidden_over_lines_and_in_one() {
        let block = concat!(
            "-----BEGIN RSA PRIVATE ",
            "KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIEow+/=\n-----END RSA PRIVATE ",
            "KEY-----"
        );
        let text = masked(&format!("before\n{block} x\nafter"));
        assert!(!text.contains("MII") && !text.contains("Proc-Type"));
        assert!(text.starts_with("before\n[masked") && text.ends_with(" x\nafter"));
        let escaped = format!("{{\"k\":\"{}\"}}", block.replace('\n', "\\n"));
        assert_eq!(masked(&escaped), "{\"k\":\"[masked PEM block]\"}");
    }

    #[test]
    fn the_places_of_secrets_are_told_over_lines() {
        let block = concat!(
            "-----BEGIN PRIVATE ",
            "KEY-----\nMIIE\n-----END PRIVATE ",
            "KEY-----"
        );
        let text =
            format!("MY_TOKEN=abc x\r\n{block} after\npassword: 'a b' ü AKIAIOSFODNN7EXAMPLE");
        let places = secrets_in(&text);
        let found: Vec<_> = places.into_iter().map(|place| &text[place]).collect();
        assert_eq!(found, ["abc", block, "a b", "IOSFODNN7EXAMPLE"]);
        assert!(secrets_in("nothing: here\n-----").is_empty());
    }

    #[test]
    fn a_cut_block_takes_no_text_around_it() {
        let end = concat!("-----END PRIVATE ", "KEY-----");
        let text = format!("some words\nMIIEow+/=\n{end}\nmore words");
        let found: Vec<_> = secrets_in(&text)
            .into_iter()
            .map(|place| &text[place])
            .collect();
        assert_eq!(found, [format!("MIIEow+/=\n{end}")]);
        let begin = concat!("-----BEGIN PRIVATE ", "KEY-----");
        let text = format!("{begin}\nMIIEow\nbut then it broke");
        let found: Vec<_> = secrets_in(&text)
            .into_iter()
            .map(|place| &text[place])
            .collect();
        assert_eq!(found, [format!("{begin}\nMIIEow\n")]);
    }

    #[test]
    fn a_pem_block_without_its_beginning_or_end_is_hidden_too() {
        assert_eq!(
            masked(concat!(
                "MIIEow\nMIIEox\n-----END PRIVATE ",
                "KEY-----\nafter"
            )),
            "\nafter"
        );
        let text = masked(concat!(
            "-----BEGIN PRIVATE ",
            "KEY-----\nMIIEow\nerror: it broke here"
        ));
        assert!(!text.contains("MIIEow") && text.ends_with("error: it broke here"));
    }
}
