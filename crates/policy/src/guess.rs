//! What a word of a command may lead to where that is not known before it runs.
//!
//! Owns the guesses: a variable holds what the text gives to it, or what it usually holds, or nothing; a folder is one of those
//! that the text may have gone to; a home with a name is the person's. Guesses close only what is protected. Invariant: whatever
//! the text itself spells out is guessed at; what comes from outside of it is not.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use crate::act::NamedWhat;
use crate::path::{Target, braces_written_out};
use crate::place::Place;
use crate::shell::{Folder, Word, names_in};

/// So many forms of one word are looked at.
const MOST_FORMS: usize = 1024;
/// So many variables in one another are written out.
const MOST_ROUNDS: usize = 8;

/// So many guesses are made for one text. Each is a look at the disk.
const MOST_GUESSES: usize = 8192;

/// What a text gives to variables, and how many guesses are left for it.
pub(crate) struct Given<'a> {
    pub(crate) values: &'a [(String, Word)],
    left: Cell<usize>,
}

impl<'a> Given<'a> {
    pub(crate) fn by(values: &'a [(String, Word)]) -> Self {
        Self {
            values,
            left: Cell::new(MOST_GUESSES),
        }
    }

    /// Whether so many more may be made.
    fn takes(&self, guesses: usize) -> bool {
        let left = self.left.get().saturating_sub(guesses);
        self.left.set(left);
        left > 0
    }

    /// Whether there was more to guess than is looked at.
    pub(crate) fn is_used_up(&self) -> bool {
        self.left.get() == 0
    }
}

/// What can be guessed from in one place of a text.
pub(crate) struct Guesses<'a> {
    /// The folders that relative paths may start from.
    starts: Vec<PathBuf>,
    given: &'a Given<'a>,
    place: &'a Place<'a>,
}

impl<'a> Guesses<'a> {
    pub(crate) fn at(folder: &Folder, given: &'a Given<'a>, place: &'a Place<'a>) -> Self {
        let whole = |path: &str| Target::of(path, place.cwd, place).lexical;
        let mut starts = match folder {
            Folder::Start => vec![place.cwd.to_path_buf()],
            Folder::Into(path) => vec![whole(path)],
            Folder::Unknown(paths) => paths.iter().map(|path| whole(path)).collect(),
        };
        starts.sort();
        starts.dedup();
        Self {
            starts,
            given,
            place,
        }
    }

    /// What a word may be, each with the word as it is written.
    pub(crate) fn of(&self, word: &Word) -> Vec<(String, NamedWhat)> {
        let shown = |what| (word.shown().to_owned(), what);
        let Word::Unknown(text) = word else {
            return self.placed(word).into_iter().map(shown).collect();
        };
        if !self.given.takes(self.starts.len()) {
            return Vec::new();
        }
        let usual = self.usual(text).into_iter().map(NamedWhat::Perhaps);
        let mut found: Vec<(String, NamedWhat)> = usual.map(shown).collect();
        for form in self.written_out(text) {
            for name in names_in(&form) {
                let as_written = match &name {
                    Word::Glob(pattern) => pattern,
                    _ => text,
                };
                let placed = self.placed(&name).into_iter();
                found.extend(placed.map(|what| (as_written.clone(), what)));
            }
        }
        found
    }

    /// What a variable may lead to by its value.
    pub(crate) fn of_value(&self, value: &Word) -> Vec<(String, NamedWhat)> {
        match value {
            // An array.
            Word::Unknown(text) if text.starts_with('(') && !text.contains(['$', '`']) => {
                let items = text.trim_matches(['(', ')']).split_whitespace();
                items.flat_map(|item| self.of(&plain(item))).collect()
            }
            Word::Unknown(_) => self.of(value),
            value => self.of(&plain(value.shown())),
        }
    }

    /// What a word leads to whose home has a name, which may be the person's: `~ann/x`, `~+/x`, `~-/x`.
    fn of_named_home(&self, text: &str) -> Vec<NamedWhat> {
        let below = text.split_once('/').map_or(".", |(_, below)| below);
        let home = self.place.home.map(Path::to_path_buf);
        let starts = home.into_iter().chain(self.starts.iter().cloned());
        let targets = starts.map(|start| Target::of(below, &start, self.place));
        targets.map(NamedWhat::Perhaps).collect()
    }

    /// The folders in which a command finds none of its words, so that it takes the folder itself.
    pub(crate) fn without(&self, words: &[Word]) -> Vec<Target> {
        let is_there = |start: &&PathBuf| {
            let texts = words.iter().filter_map(Word::literal);
            let mut paths = texts.map(|text| start.join(text));
            paths.any(|path| self.place.disk.exists(&path))
        };
        let starts = self.starts.iter().filter(|start| !is_there(start));
        starts
            .map(|start| Target::of(".", start, self.place))
            .collect()
    }

    /// A word that is known, in every folder that it may be in.
    fn placed(&self, word: &Word) -> Vec<NamedWhat> {
        if !self.given.takes(self.starts.len()) {
            return Vec::new();
        }
        let text = word.shown();
        match word {
            Word::Unknown(text) => self
                .usual(text)
                .into_iter()
                .map(NamedWhat::Perhaps)
                .collect(),
            Word::Glob(_) if text.starts_with('/') => {
                vec![NamedWhat::PerhapsPattern(PathBuf::from("/"))]
            }
            Word::Glob(_) => {
                let starts = self.starts.iter().cloned();
                starts.map(NamedWhat::PerhapsPattern).collect()
            }
            Word::Literal(_) if text.starts_with('~') && text != "~" && !text.starts_with("~/") => {
                self.of_named_home(text)
            }
            Word::Literal(_) => {
                let starts = self.starts.iter();
                let targets = starts.map(|start| Target::of(text, start, self.place));
                targets.map(NamedWhat::Perhaps).collect()
            }
        }
    }

    /// A word with the values of variables in their place, as far as the text gives them.
    fn written_out(&self, text: &str) -> Vec<Word> {
        let mut open = vec![(unquoted(text), 0)];
        let mut forms = Vec::new();
        while let Some((form, round)) = open.pop() {
            if forms.len() + open.len() > MOST_FORMS {
                self.given.takes(MOST_GUESSES);
                break;
            }
            match self.first_given(&form).filter(|_| round < MOST_ROUNDS) {
                Some((at, name, rest)) => {
                    let given = self.given.values.iter();
                    let given = given.filter(|(known, _)| known == name);
                    open.extend(given.map(|(_, value)| {
                        // `x="$x y"` adds to what was there.
                        let value = unquoted(value.shown());
                        let value = value.replace(&format!("${name}"), "");
                        let value = value.replace(&format!("${{{name}}}"), "");
                        (format!("{}{value}{rest}", &form[..at]), round + 1)
                    }));
                }
                None if form.contains(['$', '`']) => {
                    let dissolved = self.without_variables(&form);
                    forms.extend(dissolved.iter().flat_map(|form| self.each(form)));
                    forms.push(Word::Unknown(form));
                }
                None => forms.extend(self.each(&form)),
            }
        }
        forms
    }

    /// A text that the shell reads once more, with its braces written out.
    fn each(&self, form: &str) -> Vec<Word> {
        match braces_written_out(form) {
            Some(texts) => texts.iter().map(|text| plain(text)).collect(),
            None => {
                self.given.takes(MOST_GUESSES);
                Vec::new()
            }
        }
    }

    /// A text with its variables taken out: what is not set is nothing, or what stands in its place (`${x:-y}`). None where it
    /// has the output of a command.
    fn without_variables(&self, form: &str) -> Option<String> {
        let mut text = form.to_owned();
        for _ in 0..MOST_FORMS {
            let Some(at) = text.rfind('$') else {
                return (!text.contains('`')).then_some(text);
            };
            let (name, otherwise, rest) = expansion(&text[at + 1..])?;
            let value = match (name, self.place.home) {
                ("HOME", Some(home)) => home.to_string_lossy().into_owned(),
                ("PWD" | "OLDPWD", _) => self.starts.first()?.to_string_lossy().into_owned(),
                _ => otherwise.to_owned(),
            };
            text = format!("{}{value}{rest}", &text[..at]);
        }
        None
    }

    /// The first variable that is given a value: where it stands, its name, what follows it.
    fn first_given<'t>(&self, form: &'t str) -> Option<(usize, &'t str, &'t str)> {
        let variables = form.match_indices('$').map(|(at, _)| {
            let (name, rest) = variable(&form[at..]);
            (at, name, rest)
        });
        let is_given = |name: &str| self.given.values.iter().any(|(known, _)| known == name);
        variables
            .into_iter()
            .find(|(_, name, _)| !name.is_empty() && is_given(name))
    }

    /// Where a word usually leads: `$HOME/x` and `$PWD/x` by their names, `$D/x` into the home or here, `if=~/x` home.
    fn usual(&self, text: &str) -> Vec<Target> {
        let plain = unquoted(text);
        let place = self.place;
        let Some(at) = plain.find('$') else {
            let home = plain.find("=~/").into_iter();
            return home
                .map(|at| Target::of(&plain[at + 1..], place.cwd, place))
                .collect();
        };
        let (variable, rest) = variable(&plain[at..]);
        if rest.contains(['$', '`']) {
            return Vec::new();
        }
        let home = place.home.map(Path::to_path_buf).into_iter();
        let here = self.starts.iter().cloned();
        let starts: Vec<PathBuf> = match variable {
            "HOME" => home.collect(),
            "PWD" => here.collect(),
            _ if !rest.starts_with('/') => Vec::new(),
            _ => home.chain(here).collect(),
        };
        let below = rest.trim_start_matches('/');
        let below = if below.is_empty() { "." } else { below };
        starts
            .iter()
            .map(|start| Target::of(below, start, place))
            .collect()
    }
}

fn unquoted(text: &str) -> String {
    text.chars()
        .filter(|letter| !matches!(letter, '"' | '\''))
        .collect()
}

/// A text that the shell reads once more: it may be a pattern.
fn plain(text: &str) -> Word {
    match text.contains(['*', '?', '[', '{']) {
        true => Word::Glob(text.to_owned()),
        false => Word::Literal(text.to_owned()),
    }
}

/// The name of the variable that a text begins with, and what follows it.
fn variable(text: &str) -> (&str, &str) {
    let text = text.strip_prefix('$').unwrap_or(text);
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if let Some(inner) = text.strip_prefix('{') {
        let end = inner.find('}').unwrap_or(inner.len());
        let name = inner.find(|letter| !is_name(letter)).unwrap_or(inner.len());
        return (
            &inner[..name.min(end)],
            inner.get(end + 1..).unwrap_or_default(),
        );
    }
    let end = text.find(|letter| !is_name(letter)).unwrap_or(text.len());
    text.split_at(end)
}

/// What follows a `$`: the name of the variable, what stands for it where it is not set, and the rest of the text. None for the
/// output of a command.
fn expansion(text: &str) -> Option<(&str, &str, &str)> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let end_of_name = |text: &str| text.find(|letter| !is_name(letter)).unwrap_or(text.len());
    if let Some(inner) = text.strip_prefix('{') {
        let (inner, rest) = inner.split_once('}')?;
        let (name, operation) = inner.split_at(end_of_name(inner));
        let operation = operation.strip_prefix(':').unwrap_or(operation);
        let otherwise = operation.strip_prefix(['-', '=', '+']).unwrap_or_default();
        return Some((name, otherwise, rest));
    }
    let first = text.chars().next()?;
    if first == '(' {
        return None;
    }
    let length = match first.is_ascii_alphabetic() || first == '_' {
        true => end_of_name(text),
        false => first.len_utf8(),
    };
    Some((&text[..length], "", &text[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expansion_is_told_from_what_follows_it() {
        for (text, expected) in [
            ("x/.ssh", Some(("x", "", "/.ssh"))),
            ("1sh/a", Some(("1", "", "sh/a"))),
            ("{x}sh", Some(("x", "", "sh"))),
            ("{x:-/a}b", Some(("x", "/a", "b"))),
            ("{x-~/.ssh}", Some(("x", "~/.ssh", ""))),
            ("{x%/a}b", Some(("x", "", "b"))),
            ("(pwd)/a", None),
            ("{x", None),
        ] {
            assert_eq!(expansion(text), expected, "{text}");
        }
    }

    #[test]
    fn a_variable_is_told_from_what_follows_it() {
        for (text, expected) in [
            ("$HOME/.ssh", ("HOME", "/.ssh")),
            ("${HOME}/.ssh", ("HOME", "/.ssh")),
            ("${HOME:?}/x", ("HOME", "/x")),
            ("$D", ("D", "")),
            ("${D", ("D", "")),
        ] {
            assert_eq!(variable(text), expected, "{text}");
        }
    }
}
