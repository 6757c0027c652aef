//! The grammar of a plain request: how it opens, where it is cut, what is a name and what is a text.
//!
//! Generous about case, quotes, courtesy and a final period. Knows no tool.

use super::quote;

/// Words in front of a request that nobody means.
const COURTESY: &str = "please|kindly|now|first|then|next|finally|and|also|can you|could you|would you|\
    will you|i want you to|i would like you to|let's|just";

/// Words in front of a file's name.
const ARTICLES: &str = "to a new file called|to a file called|to the file|to a file named|\
    a new file called|a new file named|a file called|a file named|the file called|the file named|\
    a new file|the file|this file|that file|a file|file|to|the contents of|the content of";

/// The request without bullets and courtesy in front of it.
pub(super) fn without_courtesy(text: &str) -> &str {
    let mut rest = without_bullet(text.trim());
    while let Some(shorter) = after(rest, COURTESY) {
        rest = shorter.trim_start_matches([',', ':']).trim_start();
    }
    rest
}

fn without_bullet(text: &str) -> &str {
    if let Some(rest) = text.strip_prefix("- ").or_else(|| text.strip_prefix("* ")) {
        return rest.trim_start();
    }
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let numbered = text[digits..]
        .strip_prefix(". ")
        .or_else(|| text[digits..].strip_prefix(") "));
    match numbered {
        Some(rest) if digits > 0 => rest.trim_start(),
        _ => text,
    }
}

/// Returns what follows the first of `openings`, with `|` between them, that the text begins with.
pub(super) fn after<'a>(text: &'a str, openings: &str) -> Option<&'a str> {
    let text = text.trim_start();
    let found = openings.split('|').find(|opening| begins(text, opening))?;
    Some(text[found.len()..].trim_start())
}

fn begins(text: &str, opening: &str) -> bool {
    let same = text
        .get(..opening.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(opening));
    same && (opening.ends_with(':') || !text[opening.len()..].starts_with(is_inner))
}

/// A character that goes on with the word before it.
fn is_inner(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '\\')
}

/// Whether the text is one of these sentences, whatever it ends with.
pub(super) fn is_one_of(text: &str, sentences: &str) -> bool {
    let bare = text.trim().trim_end_matches(['?', '.', '!']).trim_end();
    let bare = before_courtesy(bare);
    sentences
        .split('|')
        .any(|sentence| bare.eq_ignore_ascii_case(sentence))
}

fn before_courtesy(text: &str) -> &str {
    let cut = text.len().saturating_sub("please".len());
    match text.get(cut..) {
        Some(end) if end.eq_ignore_ascii_case("please") && cut > 0 => {
            text[..cut].trim_end().trim_end_matches(',')
        }
        _ => text,
    }
}

/// The text before and after the first of `marks` that is not quoted.
pub(super) fn cut<'a>(text: &'a str, marks: &str) -> Option<(&'a str, &'a str)> {
    places(text, marks)
        .into_iter()
        .min()
        .map(|found| halves(text, found))
}

/// The same for the last one.
pub(super) fn cut_last<'a>(text: &'a str, marks: &str) -> Option<(&'a str, &'a str)> {
    places(text, marks)
        .into_iter()
        .max()
        .map(|found| halves(text, found))
}

fn halves(text: &str, (at, length): (usize, usize)) -> (&str, &str) {
    (text[..at].trim_end(), text[at + length..].trim_start())
}

/// Where one of `marks` stands outside of quotes, with its length.
pub(super) fn places(text: &str, marks: &str) -> Vec<(usize, usize)> {
    let quoted = quote::spans(text);
    let lower = text.to_ascii_lowercase();
    let mut found: Vec<(usize, usize)> = marks
        .split('|')
        .flat_map(|mark| lower.match_indices(mark).map(|(at, mark)| (at, mark.len())))
        .filter(|(at, _)| !quoted.iter().any(|span| span.contains(at)))
        .collect();
    found.sort_unstable();
    found
}

/// A text of the user: without quotes around the whole of it, with `\n` as a line break.
pub(super) fn content(text: &str) -> String {
    let text = text.trim();
    match quote::leading(text) {
        Some((inner, rest)) if is_ending(rest) => unescaped(inner),
        _ => unescaped(text),
    }
}

/// A name: without quotes and without the end of the sentence.
pub(super) fn name(text: &str) -> &str {
    let text = text.trim();
    match quote::leading(text) {
        Some((inner, rest)) if is_ending(rest) => inner.trim(),
        _ => end_of_sentence(text),
    }
}

/// The text without the period and the courtesy behind it. A lone dot is a folder.
pub(super) fn end_of_sentence(text: &str) -> &str {
    let text = before_courtesy(text.trim());
    match text.strip_suffix(['.', '!']) {
        Some(rest) if rest.ends_with(|c: char| c.is_alphanumeric() || "`'\")".contains(c)) => {
            before_courtesy(rest)
        }
        _ => text,
    }
}

/// Nothing but punctuation and courtesy.
pub(super) fn is_ending(text: &str) -> bool {
    let rest = text.trim().trim_matches(['.', '!', '?', ',']).trim();
    rest.is_empty() || rest.eq_ignore_ascii_case("please")
}

/// A file and what is said about it.
pub(super) struct Named<'a> {
    pub(super) file: &'a str,
    /// It looks like a file, or was quoted as one.
    pub(super) sure: bool,
    /// A colon follows it.
    pub(super) colon: bool,
    pub(super) rest: &'a str,
}

/// The file that the text begins with.
pub(super) fn file(text: &str) -> Option<Named<'_>> {
    let text = after(text, ARTICLES).unwrap_or(text).trim_start();
    if let Some((file, rest)) = quote::leading(text) {
        return Some(named(file.trim(), true, rest));
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    if let Some(file) = word.strip_suffix(':') {
        let mut found = named(file, looks_like_file(file), rest);
        found.colon = true;
        return (!file.is_empty()).then_some(found);
    }
    let file = if rest.trim().is_empty() {
        end_of_sentence(word)
    } else {
        word.trim_end_matches(',')
    };
    let file = file.trim_end_matches('?');
    (!file.is_empty()).then(|| named(file, looks_like_file(file), rest))
}

fn named<'a>(file: &'a str, sure: bool, rest: &'a str) -> Named<'a> {
    let rest = rest.trim_start();
    let bare = rest.strip_prefix(':').or_else(|| rest.strip_prefix(','));
    Named {
        file,
        sure,
        colon: rest.starts_with(':'),
        rest: bare.unwrap_or(rest).trim_start(),
    }
}

fn looks_like_file(word: &str) -> bool {
    word.contains(['.', '/', '\\']) || word.starts_with(|c: char| c.is_ascii_uppercase())
}

/// `\n`, `\t` and `\\` as what they stand for; other backslashes stay.
pub(super) fn unescaped(text: &str) -> String {
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

/// The first words, for a title.
pub(super) fn short(text: &str, words: usize, letters: usize) -> String {
    let line = text
        .split_whitespace()
        .take(words)
        .collect::<Vec<_>>()
        .join(" ");
    line.chars()
        .take(letters)
        .collect::<String>()
        .trim_end()
        .to_owned()
}
