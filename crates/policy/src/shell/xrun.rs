//! `xargs` and `find`, which run a command on what they find.
//!
//! Owns how their own arguments end and the command begins, and which of its words are known only when it runs.

use super::Word;
use super::wrap::{Inner, Options, Step, lost, operands, through};

const XARGS: Options = Options {
    flags: "0rtpxo",
    valued: "InPLsdEJRS",
    long: &[
        "null",
        "no-run-if-empty",
        "verbose",
        "interactive",
        "exit",
        "open-tty",
    ],
    long_valued: &["max-args", "max-procs", "max-chars", "delimiter"],
};

pub(super) fn xargs(words: &[Word]) -> Step {
    let Some(at) = operands(words, 1, XARGS) else {
        return lost("xargs");
    };
    let mut marks = Vec::new();
    for (index, word) in words[1..at].iter().enumerate() {
        let text = word.shown();
        let next = words.get(index + 2).map(Word::shown);
        match text {
            "-I" | "-J" => marks.extend(next.map(str::to_owned)),
            _ if text.starts_with("-I") || text.starts_with("-J") => {
                marks.push(text[2..].to_owned())
            }
            // A letter in a group may take the mark with it.
            _ if !text.starts_with("--") && text.contains(['I', 'J']) && text.starts_with('-') => {
                return lost("xargs");
            }
            _ => {}
        }
    }
    if marks.iter().any(String::is_empty) {
        return lost("xargs");
    }
    let mut inner: Vec<Word> = words[at..]
        .iter()
        .map(|word| filled(word, &marks))
        .collect();
    if inner.is_empty() {
        inner.push(Word::Literal("echo".to_owned()));
    }
    if marks.is_empty() {
        inner.push(Word::Unknown("what `xargs` reads".to_owned()));
    }
    Step::Into(Inner {
        label: "xargs".to_owned(),
        words: inner,
        named: at + 1,
        obstacle: Some(through("xargs")),
        assigns: Vec::new(),
        folder: None,
    })
}

/// A word in which something will be put in the place of a mark.
fn filled(word: &Word, marks: &[String]) -> Word {
    match marks
        .iter()
        .any(|mark| word.shown().contains(mark.as_str()))
    {
        true => Word::Unknown(word.shown().to_owned()),
        false => word.clone(),
    }
}

/// So many actions of `find` are looked at.
const MOST_ACTIONS: usize = 16;

pub(super) fn find(words: &[Word]) -> Step {
    let mut inners = Vec::new();
    let mut at = 1;
    while at < words.len() {
        let action = match words[at].literal() {
            Some(action @ ("-exec" | "-execdir" | "-ok" | "-okdir")) => action,
            Some(_) => {
                at += 1;
                continue;
            }
            // It may be an action itself.
            None if inners.is_empty() && is_path(words, at) => {
                at += 1;
                continue;
            }
            None => {
                return Step::Lost("an argument of `find` is known only when it runs".to_owned());
            }
        };
        if inners.len() >= MOST_ACTIONS {
            return Step::Lost("`find` runs too many commands".to_owned());
        }
        let start = at + 1;
        let length = words[start..].iter().enumerate().position(|(index, word)| {
            let is_plus =
                word.literal() == Some("+") && words[start + index - 1].literal() == Some("{}");
            word.literal() == Some(";") || (index > 0 && is_plus)
        });
        let Some(length @ 1..) = length else {
            return Step::Lost("what `find` runs cannot be told from its arguments".to_owned());
        };
        let marks = ["{}".to_owned()];
        inners.push(Inner {
            label: format!("find {action}"),
            words: words[start..start + length]
                .iter()
                .map(|word| filled(word, &marks))
                .collect(),
            named: start + 1,
            obstacle: Some(through(&format!("find {action}"))),
            assigns: Vec::new(),
            folder: action
                .ends_with("dir")
                .then(|| Word::Literal("{}".to_owned())),
        });
        at = start + length + 1;
    }
    let is_known = words.iter().all(|word| !matches!(word, Word::Unknown(_)));
    let has_end = words
        .iter()
        .any(|word| matches!(word.literal(), Some(";" | "+")));
    match inners.is_empty() {
        true if has_end && !is_known => {
            Step::Lost("an argument of `find` is known only when it runs".to_owned())
        }
        true => Step::Plain,
        false => Step::Also(inners),
    }
}

/// Whether only paths stand before this argument, and it looks like one: a quoted value or a pattern of names.
fn is_path(words: &[Word], at: usize) -> bool {
    let follows_test = words[at - 1].literal().is_some_and(|text| {
        matches!(
            text,
            "-name"
                | "-iname"
                | "-path"
                | "-ipath"
                | "-regex"
                | "-iregex"
                | "-wholename"
                | "-newer"
        )
    });
    let begins_as_path = !words[at]
        .shown()
        .starts_with(['-', '$', '`', '<', '{', '(', '!']);
    is_one_word(&words[at]) && (follows_test || begins_as_path)
}

/// Whether the shell makes one word of it at most: what is expanded is quoted. More than one may be an action with its
/// command, wherever they stand.
fn is_one_word(word: &Word) -> bool {
    let Word::Unknown(text) = word else {
        return true;
    };
    let mut is_quoted = false;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                letters.next();
            }
            '"' => is_quoted = !is_quoted,
            '$' | '`' if !is_quoted => return false,
            _ => {}
        }
    }
    !text.contains('@')
}
