//! Commands that run a text: `sh -c`, `su -c`, `eval`, `trap`.
//!
//! Owns where the text stands among their words, and whether the shell that runs it reads it as bash does.

use super::Word;
use super::wrap::{InnerText, Step, base, lost, stem, through};

/// `sh -c text`, `bash -euo pipefail -c text`.
pub(super) fn shell(name: &str, words: &[Word]) -> Step {
    let stdin = || Step::Lost(format!("`{name}` runs what it reads"));
    let mut at = 1;
    let mut takes_text = false;
    while let Some(text) = words.get(at).map(|word| word.literal()) {
        let Some(text) = text else {
            return lost(name);
        };
        match text {
            "--" | "-" => {
                at += 1;
                break;
            }
            "--login" | "--norc" | "--noprofile" | "--posix" | "--version" | "--help" => at += 1,
            _ if text.starts_with("--") => return lost(name),
            _ if text.starts_with(['-', '+']) => {
                let letters = &text[1..];
                if !letters
                    .chars()
                    .all(|c| "cefhiklmnprtuvxBCEHPTaboO".contains(c))
                {
                    return lost(name);
                }
                takes_text |= text.starts_with('-') && letters.contains('c');
                at += 1 + letters.matches(['o', 'O']).count();
            }
            _ => break,
        }
    }
    match (words.get(at), takes_text) {
        (Some(Word::Literal(text)), true) if is_plain_shell(name) && has_bash_only(text) => {
            Step::Lost(format!("`{name}` may read the text otherwise than bash"))
        }
        (Some(Word::Literal(text)), true) => Step::Text(InnerText {
            label: format!("{name} -c"),
            text: text.clone(),
            named: 1,
            obstacle: Some(through(&format!("{name} -c"))),
            is_apart: true,
            is_later: false,
        }),
        (Some(_), true) => Step::Lost(format!(
            "the text that `{name}` runs is known only when it runs"
        )),
        (Some(Word::Literal(file)), false)
            if !file.starts_with("/dev/") && !file.starts_with("/proc/") =>
        {
            Step::Plain
        }
        (Some(_), false) => lost(name),
        (None, _)
            if words
                .iter()
                .any(|w| matches!(w.literal(), Some("--version" | "--help"))) =>
        {
            Step::Plain
        }
        (None, _) => stdin(),
    }
}

/// `su user -c text`. The last text counts and another shell may read it, so nothing else may stand there than is known.
pub(super) fn su(words: &[Word]) -> Step {
    let mut text = None;
    let mut rest = words[1..].iter();
    while let Some(word) = rest.next() {
        let Some(option) = word.literal() else {
            return lost("su");
        };
        match option {
            "-c" | "--command" | "-lc" if text.is_none() => {
                text = rest.next().and_then(Word::literal);
                if text.is_none() {
                    return lost("su");
                }
            }
            "-" | "-l" | "--login" | "-m" | "-p" | "--preserve-environment" => {}
            "-s" | "--shell" => {
                let shell = rest.next().and_then(Word::literal).map(base);
                if !matches!(shell, Some("sh" | "bash" | "dash" | "zsh")) {
                    return lost("su");
                }
            }
            _ if option.starts_with('-') => return lost("su"),
            _ => {}
        }
    }
    match text {
        Some(text) => Step::Text(InnerText {
            label: "su -c".to_owned(),
            text: text.to_owned(),
            named: 1,
            obstacle: Some("it runs as another user".to_owned()),
            is_apart: true,
            is_later: false,
        }),
        None => lost("su"),
    }
}

pub(super) fn eval(words: &[Word]) -> Step {
    let texts: Option<Vec<&str>> = words[1..].iter().map(Word::literal).collect();
    let Some(texts) = texts else {
        return Step::Lost("the text that `eval` runs is known only when it runs".to_owned());
    };
    let texts = texts.strip_prefix(&["--"]).unwrap_or(&texts);
    Step::Text(InnerText {
        label: "eval".to_owned(),
        text: texts.join(" "),
        named: 1,
        obstacle: Some(through("eval")),
        is_apart: false,
        is_later: false,
    })
}

/// `trap text SIGNAL`: run later, wherever that is.
pub(super) fn trap(words: &[Word]) -> Step {
    let rest = match words.get(1).and_then(Word::literal) {
        Some("--") => &words[2..],
        _ => &words[1..],
    };
    match rest {
        [] => Step::Plain,
        [Word::Literal(text), ..] if matches!(&text[..], "-" | "" | "-p" | "-l") => Step::Plain,
        [Word::Literal(text), _, ..] => Step::Text(InnerText {
            label: "trap".to_owned(),
            text: text.clone(),
            named: 1,
            obstacle: Some(through("trap")),
            is_apart: true,
            is_later: true,
        }),
        [Word::Literal(_)] => Step::Plain,
        _ => Step::Lost("the text that `trap` runs is known only when it runs".to_owned()),
    }
}

/// Shells that know less than bash.
fn is_plain_shell(name: &str) -> bool {
    matches!(stem(name), "sh" | "dash" | "ash" | "hush" | "posh" | "yash")
}

/// What these shells read otherwise: `[[ a || b ]]` runs `b`, `a &> b c` runs `c`.
fn has_bash_only(text: &str) -> bool {
    let marks = [
        "$'", "$\"", "&>", "|&", "<(", ">(", "<<<", "[[", "((", "=(", "coproc", "select",
        "function", ";&", ";;&", "time",
    ];
    let copies = text.split(">&").skip(1).any(|after| {
        !after
            .trim_start()
            .starts_with(|c: char| c.is_ascii_digit() || c == '-')
    });
    copies || marks.iter().any(|mark| text.contains(mark))
}
