//! What the shell's own commands change for those after them.
//!
//! Owns which of them set variables, move to a folder, redefine names, or calculate, which may run a command that stands
//! in a subscript. Invariant: a builtin that changes more than a folder leaves an obstacle for what follows.

use super::scan::is_name;
use super::vars::{self, Reach};
use super::{Word, wrap};

/// What a command changes.
#[derive(Debug, Default)]
pub(super) struct Effect {
    /// The folder it moves to, if it succeeds.
    pub(super) moves: Option<Word>,
    /// Why what follows may mean something else.
    pub(super) obstacle_after: Option<String>,
    /// Why a command may hide in it.
    pub(super) hides: Option<String>,
    /// Why a command may hide in what follows.
    pub(super) hides_after: Option<String>,
}

/// The effect of a command with its arguments.
pub(super) fn effect(words: &[Word]) -> Effect {
    let Some(name) = words[0].literal() else {
        // It may be any of them.
        return Effect {
            moves: Some(words[0].clone()),
            obstacle_after: Some("the command before it is known only when it runs".to_owned()),
            ..Effect::default()
        };
    };
    let arguments = &words[1..];
    let after = |why: String| Effect {
        obstacle_after: Some(why),
        ..Effect::default()
    };
    match name {
        "cd" | "chdir" | "pushd" | "popd" => Effect {
            moves: Some(moved(name, arguments)),
            ..Effect::default()
        },
        "." | "source" => Effect {
            moves: Some(Word::Unknown(String::new())),
            hides: reads_no_file(arguments).then(|| format!("`{name}` runs what it reads")),
            ..after("a file that was read before it may redefine it".to_owned())
        },
        "alias" | "unalias" | "hash" | "enable" | "shopt" | "setopt" | "unsetopt" | "emulate"
        | "complete" | "bind" | "compdef" | "autoload" | "zmodload" | "functions" | "disable"
            if !arguments.is_empty() =>
        {
            Effect {
                hides: Some(format!("`{name}` may change what names mean")),
                ..after(format!("`{name}` may change what it means"))
            }
        }
        "set" => set(arguments),
        "export" | "declare" | "typeset" | "local" | "readonly" | "integer" | "float" | "unset"
        | "read" | "mapfile" | "readarray" | "getopts" | "let" | "vared" => {
            variables(name, arguments)
        }
        "printf" | "print" => match arguments
            .iter()
            .position(|word| word.shown().starts_with("-v"))
        {
            Some(at) => variables(name, &arguments[at..]),
            None => Effect {
                hides: printf_calculates(arguments),
                ..Effect::default()
            },
        },
        // zsh calculates these.
        "exit" | "return" | "shift" | "break" | "continue" if !arguments.iter().all(is_number) => {
            Effect {
                hides: Some(format!(
                    "`{name}` calculates with a text, which may run a command"
                )),
                ..Effect::default()
            }
        }
        "test" | "[" => Effect {
            hides: test_runs(words),
            ..Effect::default()
        },
        "wait" if arguments.iter().any(|word| word.shown().starts_with("-p")) => {
            variables(name, arguments)
        }
        _ => Effect::default(),
    }
}

/// The values that a command gives to variables, by their names.
pub(super) fn values(words: &[Word]) -> Vec<(String, Word)> {
    let sets = matches!(
        words[0].literal(),
        Some("export" | "declare" | "typeset" | "local" | "readonly")
    );
    let arguments = words[1..].iter().filter(|_| sets);
    arguments.filter_map(wrap::assignment).collect()
}

/// Whether what is read is no file that is known by its name: a stream, or the output of a command.
fn reads_no_file(arguments: &[Word]) -> bool {
    let file = arguments
        .iter()
        .map(Word::literal)
        .find(|text| *text != Some("--"));
    !file
        .flatten()
        .is_some_and(|file| !file.starts_with("/dev/") && !file.starts_with("/proc/"))
}

/// Where `cd` leads.
fn moved(name: &str, arguments: &[Word]) -> Word {
    let unknown = Word::Unknown(name.to_owned());
    let mut rest = arguments;
    while let [first, after @ ..] = rest {
        match first.literal() {
            Some("-L" | "-P" | "-e" | "-q" | "--") if name == "cd" || name == "chdir" => {
                rest = after
            }
            _ => break,
        }
    }
    match (name, rest) {
        ("cd" | "chdir", []) => Word::Literal("~".to_owned()),
        ("cd" | "chdir" | "pushd", [Word::Literal(to)])
            if !to.starts_with(['-', '+', '@'])
                && (!to.starts_with('~') || to == "~" || to.starts_with("~/")) =>
        {
            Word::Literal(to.clone())
        }
        _ => unknown,
    }
}

/// `set -euo pipefail` changes when a text ends; other letters change how it is read.
fn set(arguments: &[Word]) -> Effect {
    let mut is_fine = true;
    let mut takes_name = false;
    for word in arguments {
        let text = word.literal().unwrap_or("?");
        if std::mem::take(&mut takes_name) {
            is_fine &= matches!(
                text,
                "pipefail" | "errexit" | "nounset" | "xtrace" | "verbose" | "noglob"
            );
        } else if text == "--" {
            break;
        } else {
            let letters = text.trim_start_matches(['-', '+']);
            is_fine &=
                text.starts_with(['-', '+']) && letters.chars().all(|c| "euxfvo".contains(c));
            takes_name = letters.contains('o');
        }
    }
    match is_fine {
        true => Effect::default(),
        false => Effect {
            obstacle_after: Some("`set` may change how it is read".to_owned()),
            ..Effect::default()
        },
    }
}

/// Commands whose arguments are names of variables.
fn variables(name: &str, arguments: &[Word]) -> Effect {
    let mut effect = Effect::default();
    let reach = reach(name, arguments);
    for word in arguments {
        let text = word.shown();
        let (variable, value) = text.split_once('=').unwrap_or((text, ""));
        let variable = variable.strip_suffix('+').unwrap_or(variable);
        let why = match word {
            Word::Literal(_) if text.starts_with('-') => option_sets(name, text),
            _ if is_name(variable) => {
                vars::obstacle_of(variable, &Word::Literal(value.to_owned()), reach)
            }
            Word::Literal(text) if text.chars().all(|c| c.is_ascii_digit() || c == '.') => None,
            _ => Some(format!("`{name}` may set any variable")),
        };
        let is_number = text.starts_with('-') && text.contains('i') && name != "read";
        let is_calculated = matches!(name, "let" | "integer" | "float")
            || is_number
            || text.contains('[')
            || !matches!(word, Word::Literal(_)) && !is_name(variable);
        if is_calculated {
            effect.hides.get_or_insert(format!(
                "`{name}` may run a command that stands in a subscript"
            ));
        }
        if let Some(why) = why {
            effect.obstacle_after.get_or_insert(why);
        }
        if let Some(why) = vars::hides(variable) {
            effect.hides_after.get_or_insert(why);
        }
    }
    let calls_back = |word: &Word| word.shown().starts_with('-') && word.shown().contains('C');
    if matches!(name, "mapfile" | "readarray") && arguments.iter().any(calls_back) {
        effect.hides = Some(format!("`{name}` may run a command for each line"));
    }
    effect
}

/// Whether these variables go into the environment of what follows: `export x`, `declare -x x`.
fn reach(name: &str, arguments: &[Word]) -> Reach {
    let exports = |word: &Word| match word {
        Word::Literal(text) => text.starts_with('-') && text.contains('x'),
        _ => true,
    };
    let is_declaration = matches!(
        name,
        "declare" | "typeset" | "local" | "readonly" | "integer" | "float"
    );
    match name == "export" || is_declaration && arguments.iter().any(exports) {
        true => Reach::Environment,
        false => Reach::Shell,
    }
}

/// Options that change what setting a variable means.
fn option_sets(name: &str, text: &str) -> Option<String> {
    let is_declaration = matches!(name, "declare" | "typeset" | "local" | "integer" | "float");
    let letters = text.trim_start_matches('-');
    // A reference sets another variable, a number is calculated, a function is redefined.
    let is_odd = is_declaration && letters.contains(['n', 'i', 'f', 'T', 'E', 'F']);
    let is_callback = matches!(name, "mapfile" | "readarray") && letters.starts_with('C');
    (is_odd || is_callback || (name == "unset" && letters.contains(['f', 'n'])))
        .then(|| format!("`{name} {text}` may change what it means"))
}

/// Why a test may run a command: operands that are calculated, and names with a subscript.
pub(super) fn test_runs(words: &[Word]) -> Option<String> {
    let why = || Some("a test calculates with a text, which may run a command".to_owned());
    for (at, word) in words.iter().enumerate() {
        let Some(operator) = word.literal() else {
            continue;
        };
        let after = words.get(at + 1);
        match operator {
            "-v" | "-R" if after.is_some_and(|word| !word.literal().is_some_and(is_name)) => {
                return why();
            }
            // In zsh, `[` calculates as `[[` does.
            "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" => {
                let before = at.checked_sub(1).and_then(|at| words.get(at));
                if !before.is_some_and(is_number) || !after.is_some_and(is_number) {
                    return why();
                }
            }
            _ => {}
        }
    }
    None
}

/// A number, or an expansion that is always one.
fn is_number(word: &Word) -> bool {
    let text = word.shown().trim_matches('"');
    match word {
        Word::Literal(text) => {
            !text.is_empty()
                && text
                    .trim_start_matches('-')
                    .chars()
                    .all(|c| c.is_ascii_digit())
        }
        _ => {
            matches!(text, "$#" | "$?" | "$$" | "$!")
                || text.starts_with("${#") && !text.contains('[')
        }
    }
}

/// In zsh, an argument for `%d` is calculated.
fn printf_calculates(arguments: &[Word]) -> Option<String> {
    let (format, rest) = arguments.split_first()?;
    let has_number = |format: &str| {
        format.split('%').skip(1).any(|part| {
            let letter =
                part.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #.*'".contains(c));
            letter.starts_with([
                'd', 'i', 'o', 'u', 'x', 'X', 'c', 'e', 'E', 'f', 'F', 'g', 'G', 'a', 'A', 'n',
            ])
        })
    };
    let is_text = format.literal().is_some_and(|format| !has_number(format));
    let is_plain =
        |word: &Word| word.literal().is_some_and(|text| !text.contains('[')) || is_number(word);
    (!is_text && !rest.iter().all(is_plain))
        .then(|| "`printf` calculates with a text, which may run a command".to_owned())
}
