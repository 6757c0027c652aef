//! The forms of a command that a rule which denies or asks may mean.
//!
//! Owns what counts as the same command for that: its name without a folder, with its wrappers on, without options that
//! stand before a subcommand, with options in another order.

use super::cover::{Mark, Piece};
use super::wrap::base;
use super::{Simple, Word};

/// Every form of a command.
pub(super) fn of(simple: &Simple) -> Vec<Vec<Word>> {
    let mut forms: Vec<Vec<Word>> = Vec::new();
    let levels = simple
        .outer
        .iter()
        .map(|outer| &outer.words)
        .chain([&simple.words]);
    for words in levels {
        forms.push(words.clone());
        let named = by_name(words);
        forms.extend(without_options(&named));
        forms.push(named);
    }
    forms
}

/// The command by its name alone.
fn by_name(words: &[Word]) -> Vec<Word> {
    let mut words = words.to_vec();
    if let Word::Literal(name) = &words[0] {
        let name = base(name);
        words[0] = Word::Literal(name.strip_suffix(".exe").unwrap_or(name).to_owned());
    }
    words
}

/// The command with its name in small letters, if it has others: some disks make no difference.
pub(super) fn in_small_letters(words: &[Word]) -> Option<Vec<Word>> {
    let name = words[0].literal()?;
    let small = name.to_lowercase();
    let mut other = words.to_vec();
    other[0] = Word::Literal(small.clone());
    (small != name).then_some(other)
}

/// `git -C folder push` → `git push`.
fn without_options(words: &[Word]) -> Option<Vec<Word>> {
    if words[0].literal() != Some("git") {
        return None;
    }
    let mut at = 1;
    while let Some(text) = words
        .get(at)
        .and_then(Word::literal)
        .filter(|text| text.starts_with('-'))
    {
        let takes_value = matches!(
            text,
            "-C" | "-c"
                | "--git-dir"
                | "--work-tree"
                | "--namespace"
                | "--config-env"
                | "--super-prefix"
        );
        at += 1 + usize::from(takes_value);
    }
    let mut short = vec![words[0].clone()];
    short.extend(words.get(at..)?.iter().cloned());
    (at > 1).then_some(short)
}

/// A command's words as the matcher wants them.
pub(super) fn pieces(words: &[Word]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for word in words {
        match word {
            Word::Literal(text) => {
                pieces.extend(text.chars().map(Piece::Char));
                pieces.push(Piece::End);
            }
            Word::Glob(_) | Word::Unknown(_) => pieces.push(Piece::Any),
        }
    }
    pieces
}

/// Whether the words of a rule all stand in a command, options anywhere and other words with nothing but options, and a
/// value for each, before them: `rm -rf` in `rm -r x -f`, `npm run` in `npm --silent run`.
pub(super) fn in_other_order(rule: &[&[Mark]], words: &[Word]) -> bool {
    let texts: Option<Vec<String>> = rule
        .iter()
        .map(|marks| {
            let chars = marks.iter().map(|mark| match mark {
                Mark::Char(c) => Some(*c),
                _ => None,
            });
            chars.collect::<Option<String>>()
        })
        .collect();
    let Some(texts) = texts else {
        return false;
    };
    let Some((name, wanted)) = texts.split_first() else {
        return false;
    };
    if words[0].literal() != Some(name.as_str()) {
        return false;
    }
    let given: Vec<&str> = words[1..].iter().filter_map(Word::literal).collect();
    let (options, operands): (Vec<&str>, Vec<&str>) = wanted
        .iter()
        .map(String::as_str)
        .partition(|w| w.starts_with('-'));
    let has_letter = |letter: char| {
        let is_group = |text: &&&str| text.starts_with('-') && !text.starts_with("--");
        given
            .iter()
            .filter(is_group)
            .any(|text| text[1..].contains(letter))
    };
    let has_options = options
        .iter()
        .all(|option| match option.strip_prefix("--") {
            Some(_) => given
                .iter()
                .any(|text| text.split('=').next() == option.split('=').next()),
            None => option[1..].chars().all(has_letter),
        });
    has_options && follow(&operands, &given)
}

/// Whether the operands stand in this order, with nothing but options and their values before each.
fn follow(operands: &[&str], given: &[&str]) -> bool {
    let mut at = 0;
    for operand in operands {
        let mut may_be_value = false;
        loop {
            let Some(text) = given.get(at) else {
                return false;
            };
            at += 1;
            if text == operand {
                break;
            }
            match (text.starts_with('-'), may_be_value) {
                (true, _) => may_be_value = true,
                (false, true) => may_be_value = false,
                (false, false) => return false,
            }
        }
    }
    true
}
