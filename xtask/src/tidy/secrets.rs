//! Keys and tokens that must not be in the repository, above all not in recordings. Dummies are
//! allowed, as long as they say that they are.

use super::{Finding, TextFile};

/// What keys of well-known services start with.
const PREFIXES: &[&str] = &[
    concat!("sk-", "ant-"),
    concat!("sk-", "proj-"),
    concat!("gh", "p_"),
    concat!("github_", "pat_"),
    concat!("xo", "xb-"),
    concat!("AK", "IA"),
];
const BEARER: &str = concat!("Bear", "er ");
const PRIVATE_KEY: &str = concat!("PRIVATE ", "KEY-----");
/// What a value says of itself if it is none.
const DUMMY_WORDS: &[&str] = &["dummy", "example", "redacted", "rehearsal"];
/// Shorter ones are words about keys.
const SHORTEST: usize = 16;

pub(super) fn find(files: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| !file.is_lock_file()) {
        for (number, line) in file.lines() {
            if let Some(kind) = secret_in(line) {
                let message = format!("looks like a secret ({kind}…): remove it and revoke it");
                findings.push(Finding::in_line(&file.path, number, message));
            }
        }
    }
    findings
}

fn secret_in(line: &str) -> Option<&'static str> {
    if line.contains(PRIVATE_KEY) {
        return Some("PRIVATE KEY");
    }
    PREFIXES.iter().copied().chain([BEARER]).find(|prefix| {
        line.match_indices(prefix).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let starts = !before.is_some_and(char::is_alphanumeric);
            starts && is_secret(&line[at + prefix.len()..])
        })
    })
}

/// Whether the text begins with a value that is long enough and does not call itself a dummy.
fn is_secret(text: &str) -> bool {
    let part =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '/' | '=');
    let end = text.find(|c: char| !part(c)).unwrap_or(text.len());
    let value = text[..end].to_ascii_lowercase();
    value.len() >= SHORTEST && !DUMMY_WORDS.iter().any(|word| value.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(line: &str) -> usize {
        find(&[TextFile::new("fixtures/a.ndjson", line)]).len()
    }

    #[test]
    fn keys_and_tokens_are_found_wherever_they_stand() {
        let value = "a1b2c3d4e5f6a7b8c9d0";
        for prefix in PREFIXES.iter().chain([&BEARER]) {
            assert_eq!(
                count(&format!(r#"{{"key":"{prefix}{value}"}}"#)),
                1,
                "{prefix}"
            );
        }
        assert_eq!(count(&format!("-----BEGIN {PRIVATE_KEY}")), 1);
    }

    #[test]
    fn dummies_and_words_about_keys_are_not() {
        let (key, bearer) = (PREFIXES[0], BEARER);
        assert_eq!(count(&format!("{key}dummy-key-for-the-scripted-model")), 0);
        assert_eq!(count(&format!("keys start with {key}")), 0);
        assert_eq!(count(&format!("Authorization: {bearer}TOKEN")), 0);
        assert_eq!(
            count(&format!("task-{key}a1b2c3d4e5f6a7b8c9d0").replace("sk-", "sk")),
            0
        );
    }
}
