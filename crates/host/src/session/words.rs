//! What texts of the CLI mean, where it says something in words only.
//!
//! Owns the few sentences that matter and the cutting of texts. Older CLIs say these things on stderr or in the text of a
//! result alone; each sentence was seen on a real CLI or stands in it.

/// The longest name that is kept as it is.
const LONGEST_NAME: usize = 128;
/// The longest sentence that is kept.
const LONGEST_SENTENCE: usize = 400;
/// How much of stderr is kept.
const STDERR: usize = 2048;

/// What a person does about a missing sign-in.
pub(super) const SIGN_IN: &str =
    "Sign in: run `claude` in a terminal and send /login, or set an API key, then try again.";

/// Whether a text says that nobody is signed in.
pub(super) fn says_not_signed_in(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    [
        "please run /login",
        "not logged in",
        "invalid api key",
        "authentication_error",
        "oauth token has expired",
        "oauth token revoked",
    ]
    .iter()
    .any(|words| text.contains(words))
}

/// Whether a text says that there is no conversation to resume.
pub(super) fn says_no_conversation(text: &str) -> bool {
    text.contains("No conversation found")
}

/// Whether a text says that the id of a conversation is taken.
pub(super) fn says_id_in_use(text: &str) -> bool {
    text.contains("Session ID") && text.contains("is already in use")
}

/// When a limit ends, in microseconds of Unix time, if a text says that one is reached. Older CLIs say
/// `usage limit reached|1767225600`.
pub(super) fn limit_in(text: &str) -> Option<Option<u64>> {
    let at = text.find("usage limit reached")?;
    let rest = &text[at..];
    let seconds = rest.split_once('|').and_then(|(_, rest)| {
        let digits = rest.find(|c: char| !c.is_ascii_digit());
        rest[..digits.unwrap_or(rest.len())].parse::<u64>().ok()
    });
    Some(seconds.map(|seconds| seconds.saturating_mul(1_000_000)))
}

/// The status in `API Error: 400 …`, which is all that older CLIs tell.
pub(super) fn status_in(text: &str) -> Option<u16> {
    text.strip_prefix("API Error: ")?.get(..3)?.parse().ok()
}

/// A name of the wire, made short if it is not: the same long name gives the same short one.
pub(super) fn name(text: &str) -> String {
    match text.len() <= LONGEST_NAME {
        true => text.to_owned(),
        false => format!("blake3:{}", blake3::hash(text.as_bytes()).to_hex()),
    }
}

/// A text in one row, cut where it is too long for a sentence.
pub(super) fn sentence(text: &str) -> String {
    let mut row = String::new();
    for word in text.split_whitespace() {
        if !row.is_empty() {
            row.push(' ');
        }
        row.push_str(word);
        if row.len() > LONGEST_SENTENCE {
            row.truncate(row.floor_char_boundary(LONGEST_SENTENCE));
            row.push('…');
            break;
        }
    }
    row
}

/// The end of a text.
pub(super) fn tail(text: &str) -> &str {
    let from = text.len().saturating_sub(STDERR);
    &text[text.ceil_char_boundary(from)..]
}

/// Puts a line behind a text, of which the end is kept.
pub(super) fn append(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
    let kept = tail(text).len();
    text.drain(..text.len() - kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_limit_is_read_from_older_words() {
        let text = "Claude AI usage limit reached|1767225600";
        assert_eq!(limit_in(text), Some(Some(1_767_225_600_000_000)));
        assert_eq!(limit_in("Claude AI usage limit reached"), Some(None));
        assert_eq!(limit_in("usage is fine|3"), None);
    }

    #[test]
    fn texts_are_cut_between_letters() {
        let long = "ä".repeat(3000);
        assert!(sentence(&long).len() < 500);
        assert!(tail(&long).len() <= STDERR);
        let mut text = String::new();
        for _ in 0..10 {
            append(&mut text, &long);
        }
        assert!(text.len() <= STDERR);
        assert_ne!(name(&long), name(&"ö".repeat(3000)));
        assert!(name(&long).len() <= LONGEST_NAME);
    }

    #[test]
    fn a_status_is_found_in_the_text() {
        assert_eq!(status_in("API Error: 401 {\"error\""), Some(401));
        assert_eq!(status_in("API Error: no"), None);
    }
}
