//! A command line as its parts: words, and the files that are redirected. Pure.

use std::sync::LazyLock;

use regex::Regex;

/// Words in which a shell groups commands.
const GROUPS: [&str; 7] = ["if", "for", "while", "until", "case", "function", "eval"];

/// What stands between two operators.
#[derive(Debug, Default, Clone)]
pub(super) struct Part {
    /// As written, without redirections.
    pub(super) text: String,
    /// The name and the arguments, without quotes.
    pub(super) words: Vec<String>,
    /// Files it writes to and reads from by redirection.
    pub(super) outs: Vec<String>,
    pub(super) ins: Vec<String>,
}

/// What a command line is made of.
static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r#"(?x) (?P<end> && | \|\|? | ; | \n ) | (?P<channel> [0-9]?>&[012] ) | (?P<out> &?[0-9]?>>?\|? )
        | (?P<in> < ) | (?P<blank> [\x20\t]+ )
        | (?P<word> (?: [^\s;&|<>'"$`\\(){}*?\#!]+ | '[^']*' | "[^"$`\\]*" )+ )"#;
    Regex::new(pattern).ok()
});

/// The parts of a command line; None where there is more in it than words: what the shell fills in, groups, or leaves
/// running in the background.
pub(super) fn split(text: &str) -> Option<Vec<Part>> {
    let pattern = TOKEN.as_ref()?;
    let mut parts = vec![Part::default()];
    let mut at = 0;
    let mut redirection: Option<bool> = None;
    let text = text.trim();
    while at < text.len() {
        let found = pattern
            .captures_at(text, at)
            .filter(|found| !found[0].is_empty())?;
        let whole = found.get(0).filter(|whole| whole.start() == at)?;
        at = whole.end();
        let part = parts.last_mut()?;
        if let Some(word) = found.name("word") {
            let bare = word.as_str().replace(['\'', '"'], "");
            match redirection.take() {
                Some(true) => part.outs.push(bare),
                Some(false) => part.ins.push(bare),
                None => {
                    let text = format!("{} {}", part.text, word.as_str());
                    text.trim_start().clone_into(&mut part.text);
                    part.words.push(bare);
                }
            }
        } else if redirection.is_some() && found.name("blank").is_none() {
            return None;
        } else if found.name("out").is_some() {
            redirection = Some(true);
        } else if found.name("in").is_some() {
            redirection = Some(false);
        } else if let Some(end) = found.name("end") {
            let is_empty = part.words.is_empty() && end.as_str() != "\n";
            if is_empty || at == text.len() && end.as_str() != ";" {
                return None;
            }
            parts.push(Part::default());
        }
    }
    parts.retain(|part| !part.words.is_empty() || !part.outs.is_empty());
    let groups = parts
        .iter()
        .any(|part| GROUPS.contains(&part.words.first().map_or("", String::as_str)));
    (!groups && redirection.is_none()).then_some(parts)
}

/// A text that cannot be split, cut wherever a command may begin or end, by its letters alone.
pub(super) fn pieces(text: &str) -> Vec<Part> {
    text.split([';', '&', '|', '\n', '(', ')', '{', '}', '`'])
        .map(|piece| piece.trim().trim_end_matches('$').trim())
        .filter(|piece| !piece.is_empty())
        .map(|piece| {
            let words = piece.split_whitespace();
            let words = words.map(|word| word.trim_matches(['"', '\'', '\\']));
            Part {
                text: piece.to_owned(),
                words: words.map(str::to_owned).collect(),
                ..Part::default()
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_at_operators_and_what_is_more_than_words_is_not_read() {
        let parts = split("a 'b c' 2>&1 && d > out < \"in\" | e\nf").unwrap();
        let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
        assert_eq!(texts, ["a 'b c'", "d", "e", "f"]);
        assert_eq!(parts[0].words, ["a", "b c"]);
        assert_eq!((&parts[1].outs[0][..], &parts[1].ins[0][..]), ("out", "in"));
        for text in [
            "a $X",
            "a `b`",
            "(a)",
            "a &",
            "a <<E",
            "a 'b",
            "{ a; }",
            "a *",
            "a \\\n b",
            "; a",
            "a >",
            "a # b",
            "a <(b)",
            "a >&file",
            "if a; then b; fi",
            "a &&",
        ] {
            assert!(split(text).is_none(), "{text}");
        }
    }
}
