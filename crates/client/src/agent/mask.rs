//! Hides secrets in text that people and logs will see.
//!
//! Two ways of knowing a secret: its value, because it stood in the agent's environment under a name like
//! `…_KEY`; and its looks. Masks too much rather than too little. Works line by line, so that a stream can be
//! masked as it comes.

use std::ffi::OsStr;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::assigned::{by_end, in_header, is_token, is_word, named, run, starts_with};
use super::names::names_a_secret;
use super::pem::{self, PemState};

/// What stands in the place of a secret.
const MASKED: &str = "[masked]";

/// A shorter value is no secret, and hiding it would hide the text.
const SHORTEST_VALUE: usize = 8;

/// Words with which a secret begins, and how much must follow.
const PREFIXES: [(&str, usize); 22] = [
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
    ("AGPA", 16),
    ("AIDA", 16),
    ("AROA", 16),
    ("xox", 10),
    ("glpat-", 16),
    ("npm_", 30),
    ("AIza", 30),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("sk_test_", 16),
    ("hf_", 30),
    ("pypi-", 30),
];

/// How a JSON web token begins, and how long its parts are at least.
const JWT: &str = "eyJ";
const SHORTEST_JWT_PART: usize = 8;

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
            if !names_a_secret(&name) {
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
    let first = *line.as_bytes().get(at)?;
    if first == b':' {
        return in_url(line, at);
    }
    if !is_token(first) {
        return None;
    }
    let word_starts = at == 0 || !is_word(line.as_bytes()[at - 1]);
    let by_prefix = || {
        let found = word_starts.then(|| prefixed(line, at).or_else(|| web_token(line, at)));
        found.flatten()
    };
    by_prefix()
        .or_else(|| after_bearer(line, at))
        .or_else(|| in_header(line, at))
        .or_else(|| named(line, at))
        .or_else(|| by_end(line, at))
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

/// `eyJ….….…`: three parts, of which the last may be missing.
fn web_token(line: &str, at: usize) -> Option<(usize, usize)> {
    if !line.get(at..)?.starts_with(JWT) {
        return None;
    }
    let from = at + JWT.len();
    let to = run(line, from, |byte| is_token(byte) || byte == b'.');
    let mut parts = line.get(from..to)?.split('.');
    let is_long = |part: Option<&str>| part.is_some_and(|part| part.len() >= SHORTEST_JWT_PART);
    (is_long(parts.next()) && is_long(parts.next())).then_some((from, to))
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
    fn values_behind_flags_and_assignments_are_hidden() {
        let shown = [
            ("tool --api-key yy99yyzz -v", "tool --api-key [masked] -v"),
            (
                "tool --password yyzz && ls",
                "tool --password [masked] && ls",
            ),
            ("tool --token=yy99 x", "tool --token=[masked] x"),
            ("tool --api-key=yy99 x", "tool --api-key=[masked] x"),
            (
                "tool --db-password 'a b' x",
                "tool --db-password '[masked]' x",
            ),
            (
                r#"bash -c "tool --token yy99""#,
                r#"bash -c "tool --token [masked]""#,
            ),
            (r#"SECRET_KEY = "dj-abc""#, r#"SECRET_KEY = "[masked]""#),
            ("export MY_KEY=abcdef0", "export MY_KEY=[masked]"),
            ("DB_PASS=abcd1234x ./run", "DB_PASS=[masked] ./run"),
            ("token=tok_plain99", "token=[masked]"),
            ("/x?secret=abcd&y=1", "/x?secret=[masked]&y=1"),
            ("{'secret': 'pydict'}", "{'secret': '[masked]'}"),
            ("secret: abcd1234xyz", "secret: [masked]"),
            ("apiKey: abcd", "apiKey: [masked]"),
        ];
        for (text, expected) in shown {
            assert_eq!(masked(text), expected);
        }
    }

    #[test]
    fn tokens_of_many_services_are_known_by_how_they_begin() {
        let thirty = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r";
        for prefix in [
            concat!("gl", "pat-"),
            concat!("npm", "_"),
            concat!("AI", "za"),
            concat!("sk_", "live_"),
            concat!("rk_", "live_"),
        ] {
            let expected = format!("it is {prefix}[masked].");
            assert_eq!(masked(&format!("it is {prefix}{thirty}.")), expected);
        }
        let token = [
            concat!("ey", "J"),
            "hbGciOiJI.",
            "eyJzdWIiOiIx.",
            "a-b_c123",
        ]
        .concat();
        assert_eq!(masked(&format!("got {token} here")), "got eyJ[masked] here");
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        let texts = [
            "keyboard=us monkey=7 tokens=12 KEYBOARD=us-intl MAX_TOKENS=4096",
            "let token = lexer.next(); if token == end {} secret::of(x)",
            "the --token flag, --password to set it, --api-key <KEY> or --token $TOKEN",
            "token=null pass=$PASS secret: ask me; pass: 12",
            "see key.txt and eyJust a word",
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
