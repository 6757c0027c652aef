//! One name of a pattern: letters, `*`, `?` and `[…]`.
//!
//! A matcher of our own, not a regular expression: it goes back to the last star only, so its time is bounded by the two
//! lengths, and a name never reaches across a `/`.

use super::names::loose;

/// A name in which `*`, `?` and `[…]` stand for letters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NamePattern {
    exact: Vec<Token>,
    loose: Vec<Token>,
    /// As it was written, loosely: `[id]` may also be a folder of that very name.
    plain: String,
    /// The one name it means, if it stands for no other.
    literal: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Letter(char),
    One,
    Many,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl NamePattern {
    /// Reads a name. `\` takes the meaning of the letter after it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let letters: Vec<char> = text.chars().collect();
        let mut exact = Vec::new();
        let mut at = 0;
        while let Some(&letter) = letters.get(at) {
            at += 1;
            match letter {
                '*' if exact.last() == Some(&Token::Many) => {}
                '*' => exact.push(Token::Many),
                '?' => exact.push(Token::One),
                '[' => {
                    let (class, length) = class(&letters[at..]).ok_or_else(|| {
                        format!(
                            "the `[` in `{text}` is not closed; for the letter itself write `\\[`"
                        )
                    })?;
                    exact.push(class);
                    at += length;
                }
                '\\' => {
                    let escaped = letters.get(at).ok_or_else(|| {
                        format!("`{text}` ends in `\\`; for the letter itself write `\\\\`")
                    })?;
                    exact.push(Token::Letter(*escaped));
                    at += 1;
                }
                other => exact.push(Token::Letter(other)),
            }
        }
        let literal = exact
            .iter()
            .map(|token| match token {
                Token::Letter(letter) => Some(*letter),
                _ => None,
            })
            .collect();
        Ok(NamePattern {
            loose: loosely(&exact),
            exact,
            plain: loose(text),
            literal,
        })
    }

    /// The one name that is meant, if it is one.
    pub(super) fn literal(&self) -> Option<&str> {
        self.literal.as_deref()
    }

    /// Whether the name is meant, as it is written.
    pub(super) fn fits(&self, name: &str) -> bool {
        matches(&self.exact, name, false)
    }

    /// Whether the name, in its loose form, is meant.
    pub(super) fn fits_loose(&self, name: &str) -> bool {
        self.plain == name || matches(&self.loose, name, true)
    }

    /// Whether it starts with something that stands for letters: in a shell that leaves out names with a dot.
    pub(super) fn is_open_at_start(&self) -> bool {
        !matches!(self.exact.first(), Some(Token::Letter(_)))
    }
}

/// What stands between `[` and `]`, and how many letters that takes. `]` as its first letter is a letter.
fn class(letters: &[char]) -> Option<(Token, usize)> {
    let negated = matches!(letters.first(), Some('!' | '^'));
    let start = usize::from(negated);
    let mut ranges = Vec::new();
    let mut at = start;
    loop {
        let mut letter = *letters.get(at)?;
        if letter == ']' && at > start {
            return Some((Token::Class { negated, ranges }, at + 1));
        }
        if letter == '\\' {
            at += 1;
            letter = *letters.get(at)?;
        }
        let end = match (letters.get(at + 1), letters.get(at + 2)) {
            (Some('-'), Some(end)) if *end != ']' => Some(*end),
            _ => None,
        };
        ranges.push((letter, end.unwrap_or(letter)));
        at += if end.is_some() { 3 } else { 1 };
    }
}

/// The same with its letters in the loose form, run by run, as names are made loose.
fn loosely(tokens: &[Token]) -> Vec<Token> {
    let mut out = Vec::new();
    let mut run = String::new();
    for token in tokens {
        match token {
            Token::Letter(letter) => run.push(*letter),
            other => {
                out.extend(loose(&run).chars().map(Token::Letter));
                run.clear();
                out.push(other.clone());
            }
        }
    }
    out.extend(loose(&run).chars().map(Token::Letter));
    out
}

fn matches(tokens: &[Token], name: &str, is_loose: bool) -> bool {
    let letters: Vec<char> = name.chars().collect();
    let (mut token, mut letter) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while let Some(&now) = letters.get(letter) {
        match tokens.get(token) {
            Some(Token::Many) => {
                token += 1;
                back = Some((token, letter));
                continue;
            }
            Some(one) if one.fits(now, is_loose) => {
                token += 1;
                letter += 1;
                continue;
            }
            _ => {}
        }
        let Some((after, from)) = back else {
            return false;
        };
        back = Some((after, from + 1));
        (token, letter) = (after, from + 1);
    }
    tokens[token..].iter().all(|token| *token == Token::Many)
}

impl Token {
    fn fits(&self, letter: char, is_loose: bool) -> bool {
        match self {
            Token::Letter(wanted) => *wanted == letter,
            Token::One => true,
            Token::Many => false,
            Token::Class { negated, ranges } => {
                let is_in = |letter: char| {
                    ranges
                        .iter()
                        .any(|(first, last)| (*first..=*last).contains(&letter))
                };
                let other_case = || letter.to_uppercase().chain(letter.to_lowercase());
                (is_in(letter) || (is_loose && other_case().any(is_in))) != *negated
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_matched_as_git_matches_it() {
        for (pattern, name, expected) in [
            ("a.rs", "a.rs", true),
            ("a.rs", "A.rs", false),
            ("*.rs", "a.rs", true),
            ("*.rs", ".rs", true),
            ("*.rs", "a.rst", false),
            ("*", ".env", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("a**c", "abc", true),
            ("?", "", false),
            ("?", "ß", true),
            ("??", "ab", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a-c]x", "dx", true),
            ("[]]x", "]x", true),
            ("[a-]", "-", true),
            ("[\\]]", "]", true),
            ("[z-a]", "m", false),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("\\[id\\]", "[id]", true),
            ("[id]", "i", true),
            ("[id]", "[id]", false),
        ] {
            let found = NamePattern::parse(pattern).unwrap().fits(name);
            assert_eq!(found, expected, "{pattern} on {name}");
        }
    }

    #[test]
    fn a_loose_match_knows_no_case_and_takes_a_class_for_its_letters_too() {
        for (pattern, name) in [
            (".ENV", ".env"),
            ("*.PEM", "key.Pem"),
            ("[A-C]x", "bX"),
            ("[id]", "[ID]"),
            ("caf\u{e9}*", "CAFE\u{301}s"),
        ] {
            let pattern = NamePattern::parse(pattern).unwrap();
            assert!(pattern.fits_loose(&loose(name)), "{pattern:?} on {name}");
        }
    }

    #[test]
    fn an_open_bracket_and_a_last_backslash_are_errors_that_say_what_to_write() {
        for (text, hint) in [
            ("a[b", "`\\[`"),
            ("[]", "`\\[`"),
            ("[!", "`\\[`"),
            ("a\\", "`\\\\`"),
        ] {
            let error = NamePattern::parse(text).unwrap_err();
            assert!(error.contains(hint), "{error}");
        }
    }

    #[test]
    fn only_a_name_without_wildcards_is_literal() {
        let literal = |text: &str| {
            NamePattern::parse(text)
                .unwrap()
                .literal()
                .map(str::to_owned)
        };
        assert_eq!(literal("a\\*b"), Some("a*b".to_owned()));
        assert_eq!(literal("a*b"), None);
        assert_eq!(literal("[a]"), None);
    }
}
