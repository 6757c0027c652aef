//! Which words of a command may be paths, and whether it reads whole folders.
//!
//! Owns the guess at names. It guesses too many rather than too few: a name that is no path leads nowhere, a path that is
//! missed is not checked.

use std::collections::HashSet;

use super::wrap::base;
use super::{Simple, Word};

impl Simple {
    /// Every word that may be a path: arguments, values of options, a command that is a path.
    pub fn names(&self) -> Vec<Word> {
        let mut names = Names::default();
        if self.words[0].shown().contains('/') {
            names.push(self.words[0].clone());
        }
        let mut is_ended = false;
        for word in &self.words[1..] {
            match word.shown() == "--" && !is_ended {
                true => is_ended = true,
                false => names.take_apart(word, is_ended),
            }
        }
        names.list
    }

    /// Whether it reads the contents of files in folders that it is given, or of the working folder.
    pub fn reads_folders(&self) -> bool {
        let Some(name) = self.words[0].literal() else {
            return true;
        };
        let has = |letters: &str, long: &[&str]| {
            self.words[1..].iter().any(|word| match word {
                Word::Literal(text) if text.starts_with("--") => long.iter().any(|name| {
                    let given = text.split('=').next().unwrap_or(text);
                    given.len() > 3 && name.starts_with(given)
                }),
                Word::Literal(text) => {
                    text.starts_with('-') && text.contains(|c| letters.contains(c))
                }
                Word::Glob(_) => false,
                Word::Unknown(text) => text.starts_with(['$', '`']),
            })
        };
        match base(name) {
            "rg" | "rga" | "ag" | "ack" | "ugrep" | "rgrep" | "tar" | "bsdtar" | "gtar"
            | "rsync" | "7z" | "7za" | "ditto" | "cloc" | "tokei" | "scc" | "jar" | "duplicity"
            | "borg" | "restic" => true,
            "grep" | "egrep" | "fgrep" | "zgrep" => has(
                "rRd",
                &["--recursive", "--dereference-recursive", "--directories"],
            ),
            "cp" | "gcp" => has("rRa", &["--recursive", "--archive"]),
            "scp" | "zip" | "gzip" | "bzip2" | "xz" | "zstd" | "diff" | "install" => {
                has("rR", &["--recursive", "--recurse-paths"])
            }
            "git" => self.words[1..]
                .iter()
                .any(|word| matches!(word.shown(), "grep" | "archive" | "bundle")),
            // It only names files, unless it hands them to another command.
            "find" | "gfind" => self.words[1..]
                .iter()
                .any(|word| matches!(word.shown(), "-exec" | "-execdir" | "-ok" | "-okdir")),
            "fd" | "fdfind" => has("xX", &["--exec", "--exec-batch"]),
            _ => false,
        }
    }
}

/// The parts of one argument that may be paths.
pub(crate) fn names_in(word: &Word) -> Vec<Word> {
    let mut names = Names::default();
    names.take_apart(word, false);
    names.list
}

/// Names in order, each once.
#[derive(Default)]
struct Names {
    list: Vec<Word>,
    known: HashSet<Word>,
}

impl Names {
    fn push(&mut self, word: Word) {
        if !word.shown().is_empty() && self.known.insert(word.clone()) {
            self.list.push(word);
        }
    }

    fn take_apart(&mut self, word: &Word, is_ended: bool) {
        if matches!(word, Word::Unknown(_)) {
            return self.push(word.clone());
        }
        let text = word.shown();
        for part in parts(text, is_ended) {
            let part = match word {
                Word::Glob(_) => glob_or_literal(part),
                _ => Word::Literal(part.to_owned()),
            };
            // A tilde that is not at the beginning of its word leads home in some forms only.
            let is_home = part.shown() == "~" || part.shown().starts_with("~/");
            match is_home && part.shown() != text {
                true => self.push(Word::Unknown(text.to_owned())),
                false => self.push(part),
            }
        }
    }
}

fn glob_or_literal(text: &str) -> Word {
    match text.contains(['*', '?', '[']) {
        true => Word::Glob(text.to_owned()),
        false => Word::Literal(text.to_owned()),
    }
}

/// The parts of an argument that may be paths.
fn parts(text: &str, is_ended: bool) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut values = Vec::new();
    if !text.starts_with('-') || is_ended {
        values.push(text);
    } else if !text.starts_with("--") && text.len() > 2 {
        values.extend(text.get(2..));
        // Behind more letters than one: `curl -so.npmrc`.
        let value = text[1..].trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
        values.extend(value.starts_with(['.', '/', '~']).then_some(value));
    }
    if let Some((_, value)) = text.split_once('=') {
        values.push(value);
    }
    for value in values {
        parts.push(value);
        // `curl -d @file`, `-F name=@file`.
        parts.extend(value.strip_prefix('@'));
        parts.extend(value.strip_prefix("file://"));
        if value.contains(':') && !value.contains("://") {
            let is_path = |part: &&str| part.contains('/') || part.starts_with(['~', '.']);
            parts.extend(value.split(':').filter(is_path));
        }
    }
    parts
}
