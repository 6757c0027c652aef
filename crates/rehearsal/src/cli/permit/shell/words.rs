//! Words: quotes, escapes, and what the shell would put in their place.
//!
//! Owns one word and knows nothing of commands. A word whose text cannot be known before the command runs is not a word
//! but a reason to ask ([`Stop`]).

use super::Word;
use super::unchecked::{self, Stop};

/// A command line, and how far it has been read.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) letters: Vec<char>,
    pub(super) at: usize,
    pub(super) home: &'a str,
    /// Variables that the command line itself has set.
    pub(super) set: Vec<String>,
}

/// A character that ends a word.
pub(super) fn ends_word(letter: char) -> bool {
    matches!(
        letter,
        ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')'
    )
}

impl Source<'_> {
    pub(super) fn peek(&self) -> Option<char> {
        self.letters.get(self.at).copied()
    }

    pub(super) fn ahead(&self, by: usize) -> Option<char> {
        self.letters.get(self.at + by).copied()
    }

    pub(super) fn slice(&self, from: usize, to: usize) -> String {
        self.letters.get(from..to).unwrap_or(&[]).iter().collect()
    }

    /// Whether the text stands here.
    pub(super) fn looking_at(&self, text: &str) -> bool {
        text.chars()
            .enumerate()
            .all(|(by, letter)| self.ahead(by) == Some(letter))
    }

    /// Spaces, and line ends behind a backslash.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(' ' | '\t') => self.at += 1,
                Some('\\') if self.ahead(1) == Some('\n') => self.at += 2,
                _ => return,
            }
        }
    }

    /// The next word. There must be one.
    pub(super) fn word(&mut self) -> Result<Word, Stop> {
        let start = self.at;
        let mut word = Word::default();
        while let Some(letter) = self.peek() {
            match letter {
                '\'' => self.single(&mut word)?,
                '"' => self.double(&mut word)?,
                '\\' => self.escape(&mut word)?,
                '$' => self.dollar(&mut word, false)?,
                '`' => return Err(Stop::new(unchecked::NESTED)),
                '{' => self.brace(&mut word)?,
                '<' | '>' if self.ahead(1) == Some('(') => {
                    return Err(Stop::new(unchecked::PROCESS));
                }
                _ if ends_word(letter) => break,
                _ => {
                    if matches!(letter, '*' | '?' | '[') {
                        (word.glob, word.expands) = (true, true);
                    }
                    word.text.push(letter);
                    self.at += 1;
                }
            }
        }
        if self.at == start {
            return Err(Stop::new(unchecked::PARSE_ERROR));
        }
        word.raw = self.slice(start, self.at);
        Ok(word)
    }

    fn single(&mut self, word: &mut Word) -> Result<(), Stop> {
        self.at += 1;
        let start = self.at;
        while let Some(letter) = self.peek() {
            if letter == '\'' {
                let text = self.slice(start, self.at);
                self.at += 1;
                word.glob |= text.contains(['*', '?', '[']);
                word.text.push_str(&text);
                return no_hidden_comment(&text);
            }
            self.at += 1;
        }
        Err(Stop::new(unchecked::PARSE_ERROR))
    }

    fn double(&mut self, word: &mut Word) -> Result<(), Stop> {
        self.at += 1;
        let from = word.text.len();
        loop {
            match self.peek() {
                None => return Err(Stop::new(unchecked::PARSE_ERROR)),
                Some('"') => {
                    self.at += 1;
                    return no_hidden_comment(&word.text[from..]);
                }
                Some('\\') => {
                    let next = self
                        .ahead(1)
                        .ok_or_else(|| Stop::new(unchecked::PARSE_ERROR))?;
                    match next {
                        '\n' => {}
                        '"' | '\\' | '$' | '`' => word.text.push(next),
                        _ => word.text.extend(['\\', next]),
                    }
                    self.at += 2;
                }
                Some('`') => return Err(Stop::new(unchecked::QUOTED)),
                Some('$') => self.dollar(word, true)?,
                Some(letter) => {
                    word.glob |= matches!(letter, '*' | '?' | '[');
                    word.text.push(letter);
                    self.at += 1;
                }
            }
        }
    }

    fn escape(&mut self, word: &mut Word) -> Result<(), Stop> {
        match self.ahead(1) {
            None => Err(Stop::new(unchecked::PARSE_ERROR)),
            Some(' ' | '\t') => Err(Stop::new(unchecked::ESCAPED_SPACE)),
            Some('\n') => {
                self.at += 2;
                Ok(())
            }
            Some(letter) => {
                word.text.push(letter);
                self.at += 2;
                Ok(())
            }
        }
    }

    fn dollar(&mut self, word: &mut Word, quoted: bool) -> Result<(), Stop> {
        match self.ahead(1) {
            Some('(') if self.ahead(2) == Some('(') && !quoted => self.arithmetic(word),
            Some('(') if quoted && self.here_text(word) => Ok(()),
            Some('(') if quoted => Err(Stop::new(unchecked::QUOTED)),
            Some('(') => Err(Stop::new(unchecked::NESTED)),
            Some('{') => Err(Stop::new(unchecked::BRACED_VARIABLE)),
            Some('\'') if !quoted => Err(Stop::new(unchecked::ESCAPE_CODES)),
            Some('"') if !quoted => Err(Stop::new(unchecked::OPAQUE)),
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => self.variable(word),
            Some(letter) if letter.is_ascii_digit() || "?$@*#!-".contains(letter) => {
                Err(Stop::new(unchecked::VARIABLE))
            }
            _ => {
                word.text.push('$');
                self.at += 1;
                Ok(())
            }
        }
    }

    fn variable(&mut self, word: &mut Word) -> Result<(), Stop> {
        self.at += 1;
        let start = self.at;
        while self
            .peek()
            .is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        {
            self.at += 1;
        }
        let name = self.slice(start, self.at);
        if name == "HOME" && !self.set.contains(&name) {
            word.text.push_str(self.home);
            word.filled = true;
            return Ok(());
        }
        let known = self.set.contains(&name);
        Err(Stop::new(if known {
            unchecked::VARIABLE_SET
        } else {
            unchecked::VARIABLE
        }))
    }

    /// `$((1+2))`: numbers only.
    fn arithmetic(&mut self, word: &mut Word) -> Result<(), Stop> {
        let start = self.at + 3;
        let end = (start..self.letters.len())
            .find(|at| self.letters[*at] == ')' && self.letters.get(at + 1) == Some(&')'))
            .ok_or_else(|| Stop::new(unchecked::PARSE_ERROR))?;
        let inner = self.slice(start, end);
        let foreign = inner.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
        if let Some(name) = foreign
            .filter(|part| !part.is_empty())
            .find(|part| part.parse::<i64>().is_err())
        {
            return Err(Stop::new(&format!(
                "Arithmetic expansion references variable or non-literal: {name}"
            )));
        }
        word.text.push_str(&self.slice(self.at, end + 2));
        word.filled = true;
        self.at = end + 2;
        Ok(())
    }

    /// `"$(cat <<'EOF' … EOF\n)"`, the usual way to pass a text of several lines: the text itself.
    fn here_text(&mut self, word: &mut Word) -> bool {
        let rest = self.slice(self.at, self.letters.len());
        let Some(opened) = rest.strip_prefix("$(cat <<'") else {
            return false;
        };
        let Some((mark, body)) = opened.split_once("'\n") else {
            return false;
        };
        if mark.is_empty() || !mark.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return false;
        }
        let Some(end) = body.find(&format!("\n{mark}\n)")) else {
            return false;
        };
        let after = &body[end + mark.len() + 3..];
        word.text.push_str(&body[..end]);
        self.at = self.letters.len() - after.chars().count();
        true
    }

    fn brace(&mut self, word: &mut Word) -> Result<(), Stop> {
        let end = (self.at..self.letters.len()).take_while(|at| !ends_word(self.letters[*at]));
        let inner: String = end
            .map(|at| self.letters[at])
            .take_while(|letter| *letter != '}')
            .collect();
        if inner.contains(',') {
            return Err(Stop::new(unchecked::BRACE_EXPANSION));
        }
        if inner.contains("..") {
            return Err(Stop::new(unchecked::BRACE_PATTERN));
        }
        word.text.push('{');
        self.at += 1;
        Ok(())
    }
}

/// A `#` that starts a line inside of quotes may hide what follows from a checker that reads line by line.
fn no_hidden_comment(text: &str) -> Result<(), Stop> {
    let hidden = text
        .split('\n')
        .skip(1)
        .any(|line| line.trim_start().starts_with('#'));
    if hidden {
        Err(Stop::new(unchecked::HIDDEN_COMMENT))
    } else {
        Ok(())
    }
}
