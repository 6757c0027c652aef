//! Tables: a text and what it would do, a rule and what it means.

mod bounds;
mod doubts;
mod reading;
mod reads;
mod rules;

use super::{Folder, Simple, Word, read};

/// A command in one line: what it is run through, then its words; `‹…›` is not known, `«…»` is a pattern.
fn shown(simple: &Simple) -> String {
    let words: Vec<String> = simple
        .words
        .iter()
        .map(|word| match word {
            Word::Literal(text) => text.clone(),
            Word::Glob(text) => format!("«{text}»"),
            Word::Unknown(text) => format!("‹{text}›"),
        })
        .collect();
    let mut through = simple.through.join(" > ");
    if !through.is_empty() {
        through.push_str(" > ");
    }
    format!("{through}{}", words.join(" "))
}

/// All commands of a clear text.
fn commands(text: &str) -> Vec<String> {
    let reading = read(text);
    assert_eq!(reading.unclear, Vec::<String>::new(), "{text:?}");
    reading.commands.iter().map(shown).collect()
}

/// The last command of a text, clear or not.
fn last(text: &str) -> Simple {
    read(text)
        .commands
        .pop()
        .unwrap_or_else(|| panic!("{text:?} has no command"))
}

fn into(folder: &str) -> Folder {
    Folder::Into(folder.to_owned())
}

/// It cannot be said which of these.
fn among(folders: &[&str]) -> Folder {
    Folder::Unknown(folders.iter().map(|folder| (*folder).to_owned()).collect())
}
