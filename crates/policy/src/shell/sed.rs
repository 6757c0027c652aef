//! Scripts of `sed`, as far as they can be trusted to change text only.
//!
//! Owns the question whether a script writes a file or runs a command. Knows a few plain forms; every other is a doubt.

use super::Word;

/// Why a command may hide in a call of `sed`.
pub(super) fn runs(arguments: &[Word]) -> Option<String> {
    match scripts(arguments).is_some_and(|scripts| scripts.iter().all(|script| is_calm(script))) {
        true => None,
        false => Some("a `sed` script may run a command".to_owned()),
    }
}

/// Whether it only writes what it reads to its output.
pub(super) fn only_reads(arguments: &[Word]) -> bool {
    let writes = |word: &Word| {
        let text = word.shown();
        text.starts_with("--in-place")
            || (text.starts_with('-') && !text.starts_with("--") && text.contains('i'))
    };
    runs(arguments).is_none() && !arguments.iter().any(writes)
}

/// The scripts of a call; `None` where they cannot all be told.
fn scripts(arguments: &[Word]) -> Option<Vec<&str>> {
    let mut scripts = Vec::new();
    let mut operands = Vec::new();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let text = match word {
            Word::Literal(text) => text.as_str(),
            // A file, if the script has been given.
            _ if !operands.is_empty() || !scripts.is_empty() => continue,
            _ => return None,
        };
        match text {
            "-e" | "--expression" => scripts.push(rest.next()?.literal()?),
            "-n" | "-E" | "-r" | "-s" | "-u" | "-z" | "-i" | "-nE" | "-En" | "-ne" | "-Ei"
            | "-iE" | "-i.bak" | "-ri" | "--quiet" | "--silent" | "--regexp-extended"
            | "--in-place" | "--null-data" | "--posix" | "--separate" => {
                if text == "-ne" {
                    scripts.push(rest.next()?.literal()?);
                }
            }
            _ if text.starts_with("--expression=") => scripts.push(&text["--expression=".len()..]),
            "" => {}
            _ if text.starts_with('-') => return None,
            _ => operands.push(text),
        }
    }
    if scripts.is_empty() {
        scripts.push(operands.first()?);
    }
    Some(scripts)
}

/// Commands of one letter without arguments, and substitutions without odd flags.
fn is_calm(script: &str) -> bool {
    let mut rest = script.trim();
    loop {
        let Some(after) = command(rest) else {
            return false;
        };
        rest = after.trim_start();
        if rest.is_empty() {
            return true;
        }
        match rest.strip_prefix([';', '\n']) {
            Some(after) => rest = after.trim_start(),
            None => return false,
        }
    }
}

/// What stands after one command.
fn command(script: &str) -> Option<&str> {
    let rest = address(script)?;
    let rest = match rest.strip_prefix(',') {
        Some(second) => address(second)?,
        None => rest,
    };
    let rest = rest.trim_start_matches([' ', '!']);
    match rest.chars().next()? {
        'p' | 'd' | 'q' | '=' | 'n' | 'N' | 'D' | 'P' | 'g' | 'G' | 'h' | 'H' | 'x' => {
            Some(rest[1..].trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        letter @ ('s' | 'y') => {
            let mark = rest[1..]
                .chars()
                .next()
                .filter(|c| c.is_ascii_punctuation() && *c != '\\')?;
            let rest = delimited(&rest[2..], mark)?;
            let rest = delimited(rest, mark)?;
            let flags = match letter {
                's' => "gpiI0123456789",
                _ => "",
            };
            Some(rest.trim_start_matches(|c| flags.contains(c)))
        }
        _ => None,
    }
}

/// What stands after an address, which may be none.
fn address(script: &str) -> Option<&str> {
    let script = script.trim_start();
    match script.chars().next()? {
        '/' => Some(delimited(&script[1..], '/')?.trim_start_matches('I')),
        '$' => Some(&script[1..]),
        '0'..='9' => Some(script.trim_start_matches(|c: char| c.is_ascii_digit() || c == '~')),
        '+' => Some(script[1..].trim_start_matches(|c: char| c.is_ascii_digit())),
        _ => Some(script),
    }
}

/// What stands after the next mark that is not quoted. A bracket expression may hold one, so it is a doubt.
fn delimited(text: &str, mark: char) -> Option<&str> {
    let mut chars = text.char_indices();
    let mut in_brackets = false;
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next()?;
            }
            '\n' => return None,
            '[' => in_brackets = true,
            ']' => in_brackets = false,
            _ if c == mark && in_brackets => return None,
            _ if c == mark => return Some(&text[at + c.len_utf8()..]),
            _ => {}
        }
    }
    None
}
