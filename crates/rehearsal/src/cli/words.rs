//! The words of the format, in one table: the parser's suggestions, the documentation's test and the parser agree on it.

use std::sync::LazyLock;

/// Where a word may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Above the first block.
    Header,
    /// At the beginning of a block.
    Block,
    /// Inside a block.
    Step,
    /// Above the first block and inside one.
    Anywhere,
}

/// One word of the format.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    /// The word that begins the line.
    pub name: &'static str,
    /// How the whole line is written.
    pub form: &'static str,
    /// Where it may stand.
    pub place: Place,
}

/// Every word of the format: a line of `words.txt` holds its place and, behind a tab, its form.
pub static WORDS: LazyLock<Vec<Word>> = LazyLock::new(|| {
    let lines = include_str!("words.txt").lines();
    let words = lines.filter_map(|line| {
        let (place, form) = line.split_once('\t')?;
        Some(Word {
            name: form.split(' ').next()?,
            form,
            place: match place {
                "header" => Place::Header,
                "block" => Place::Block,
                "step" => Place::Step,
                _ => Place::Anywhere,
            },
        })
    });
    words.collect()
});

/// The words that may begin a line here, as a list for people.
pub(super) fn allowed(in_block: bool) -> String {
    let stands = |word: &&Word| match word.place {
        Place::Header => !in_block,
        Place::Step => in_block,
        Place::Block | Place::Anywhere => true,
    };
    let names: Vec<&str> = WORDS.iter().filter(stands).map(|word| word.name).collect();
    names.join(", ")
}

/// The one of `known` that `word` was probably meant to be.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::osa_distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4)
        .min()
        .map(|(_, candidate)| candidate)
}

/// The text with a capital at its beginning.
pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}
