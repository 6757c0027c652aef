//! Commands that run another command: which one, with which words.
//!
//! Owns the wrappers that are looked through. Those that are not are in [`super::hide`]. A rule that allows the inner
//! command allows it with `timeout`, `nice` and the like around it; any other wrapper is an obstacle, and the rule must name
//! it. Invariant: an option that is not known ends the looking through; it is never skipped.

use super::{Word, textrun, xrun};

/// What a command turns out to be.
pub(super) enum Step {
    /// No wrapper.
    Plain,
    /// A wrapper that cannot be looked through, and why.
    Lost(String),
    /// It runs these words.
    Into(Inner),
    /// It runs this text.
    Text(InnerText),
    /// It does something itself, and runs these too.
    Also(Vec<Inner>),
}

/// Words that a wrapper runs.
pub(super) struct Inner {
    pub(super) label: String,
    pub(super) words: Vec<Word>,
    /// How many words of the wrapper a rule must spell out to mean what is run, too.
    pub(super) named: usize,
    pub(super) obstacle: Option<String>,
    pub(super) assigns: Vec<(String, Word)>,
    /// The folder it changes to.
    pub(super) folder: Option<Word>,
}

/// A text that a wrapper runs.
pub(super) struct InnerText {
    pub(super) label: String,
    pub(super) text: String,
    pub(super) named: usize,
    pub(super) obstacle: Option<String>,
    /// Whether what it changes ends with it.
    pub(super) is_apart: bool,
    /// Whether it runs later, wherever that is.
    pub(super) is_later: bool,
}

/// The options of a wrapper, letters and long names, without and with a value.
#[derive(Clone, Copy)]
pub(super) struct Options {
    pub(super) flags: &'static str,
    pub(super) valued: &'static str,
    pub(super) long: &'static [&'static str],
    pub(super) long_valued: &'static [&'static str],
}

/// No options.
pub(super) const NONE: Options = Options {
    flags: "",
    valued: "",
    long: &[],
    long_valued: &[],
};

/// Wrappers whose words are options and then a command.
const SIMPLE: [(&[&str], Options); 9] = [
    (
        &["setsid"],
        Options {
            flags: "cfw",
            long: &["ctty", "fork", "wait"],
            ..NONE
        },
    ),
    (
        &["stdbuf"],
        Options {
            valued: "ioe",
            long_valued: &["input", "output", "error"],
            ..NONE
        },
    ),
    (
        &["nice"],
        Options {
            flags: "0123456789",
            valued: "n",
            long_valued: &["adjustment"],
            ..NONE
        },
    ),
    (
        &["ionice"],
        Options {
            flags: "t",
            valued: "cn",
            long: &["ignore"],
            long_valued: &["class", "classdata"],
        },
    ),
    (
        &["timeout", "gtimeout"],
        Options {
            flags: "vfp",
            valued: "ks",
            long: &["foreground", "preserve-status", "verbose"],
            long_valued: &["kill-after", "signal"],
        },
    ),
    (
        &["time", "gtime"],
        Options {
            flags: "pvl",
            long: &["portability", "verbose"],
            ..NONE
        },
    ),
    (&["command"], Options { flags: "p", ..NONE }),
    (
        &["exec"],
        Options {
            flags: "cl",
            valued: "a",
            ..NONE
        },
    ),
    (
        &["caffeinate"],
        Options {
            flags: "disum",
            valued: "t",
            ..NONE
        },
    ),
];

/// A name without its folder.
pub(super) fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// A name without its version or build: `ksh93`, `bash-static` and `perl5.36-x86_64-linux-gnu` are what they are called after.
pub(super) fn stem(name: &str) -> &str {
    let end = name.find(|c: char| !c.is_ascii_alphabetic());
    let (stem, rest) = name.split_at(end.unwrap_or(name.len()));
    let is_version = rest
        .trim_start_matches('-')
        .starts_with(|c: char| c.is_ascii_digit())
        && !rest.ends_with("-config");
    match is_version || rest == "-static" {
        true => stem,
        false => name,
    }
}

/// Shells that take a text and read it as bash does, or nearly.
const SHELLS: [&str; 18] = [
    "ash", "bash", "brush", "dash", "hush", "ksh", "lksh", "loksh", "mksh", "oksh", "osh", "pdksh",
    "posh", "rbash", "rksh", "sh", "yash", "zsh",
];

/// What a command is.
pub(super) fn step(words: &[Word]) -> Step {
    let Some(name) = words.first().and_then(Word::literal) else {
        return Step::Plain;
    };
    let step = match base(name) {
        "nohup" | "setsid" | "stdbuf" | "nice" | "ionice" | "timeout" | "gtimeout" | "time"
        | "gtime" | "command" | "builtin" | "exec" | "coproc" | "busybox" | "toybox"
        | "caffeinate" => simple(base(name), words),
        "env" | "genv" => env(words),
        "sudo" | "doas" => as_user(base(name), words),
        "xargs" | "gxargs" => xrun::xargs(words),
        "find" | "gfind" => xrun::find(words),
        name if SHELLS.contains(&stem(name)) => textrun::shell(name, words),
        "su" => textrun::su(words),
        "eval" => textrun::eval(words),
        "trap" => textrun::trap(words),
        _ => Step::Plain,
    };
    // By another path it may be another program, which a rule for what it runs does not mean.
    let elsewhere = name.contains('/')
        && !["/bin/", "/usr/bin/"].contains(&&name[..name.len() - base(name).len()]);
    match step {
        Step::Into(inner) if elsewhere => Step::Into(Inner {
            obstacle: inner
                .obstacle
                .or_else(|| Some(format!("it is run by `{name}`"))),
            ..inner
        }),
        Step::Text(inner) if elsewhere => Step::Text(InnerText {
            obstacle: inner
                .obstacle
                .or_else(|| Some(format!("it is run by `{name}`"))),
            ..inner
        }),
        step => step,
    }
}

/// The obstacle of a wrapper that a rule must name.
pub(super) fn through(name: &str) -> String {
    format!("it is run through `{name}`, which no rule names")
}

pub(super) fn lost(name: &str) -> Step {
    Step::Lost(format!(
        "what `{name}` runs cannot be told from its options"
    ))
}

/// The index of the first operand; `None` where an option is not known, not literal, or lacks its value.
pub(super) fn operands(words: &[Word], from: usize, options: Options) -> Option<usize> {
    let mut at = from;
    while let Some(word) = words.get(at) {
        let text = word.literal()?;
        if text == "--" {
            return Some(at + 1);
        }
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = long
                .split_once('=')
                .map_or((long, None), |(n, v)| (n, Some(v)));
            let is_valued = options.long_valued.contains(&name);
            match value {
                Some(_) if is_valued => at += 1,
                None if is_valued => at += 2,
                None if options.long.contains(&name) => at += 1,
                _ => return None,
            }
        } else if text.len() > 1 && text.starts_with('-') {
            at += cluster(&text[1..], options)?;
        } else {
            return Some(at);
        }
    }
    // An option may lack its value.
    (at <= words.len()).then_some(at)
}

/// How many words a group of letters takes.
fn cluster(letters: &str, options: Options) -> Option<usize> {
    for (index, letter) in letters.char_indices() {
        if options.valued.contains(letter) {
            let is_last = index + letter.len_utf8() == letters.len();
            return Some(if is_last { 2 } else { 1 });
        }
        if !options.flags.contains(letter) {
            return None;
        }
    }
    Some(1)
}

fn simple(name: &str, words: &[Word]) -> Step {
    let row = SIMPLE.iter().find(|(names, _)| names.contains(&name));
    let options = row.map_or(NONE, |(_, options)| *options);
    let is_lookup = |word: &Word| matches!(word.literal(), Some("-v" | "-V" | "-pv" | "-pV"));
    if name == "command" && words.get(1).is_some_and(is_lookup) {
        return Step::Plain;
    }
    let Some(mut at) = operands(words, 1, options) else {
        return lost(name);
    };
    if name.ends_with("timeout") {
        at += 1;
        if words
            .get(at - 1)
            .is_some_and(|word| word.literal().is_none())
        {
            return lost(name);
        }
    }
    if at >= words.len() {
        return Step::Plain;
    }
    Step::Into(Inner {
        label: name.to_owned(),
        words: words[at..].to_vec(),
        named: at + 1,
        obstacle: matches!(name, "coproc" | "exec" | "busybox" | "toybox").then(|| through(name)),
        assigns: Vec::new(),
        folder: None,
    })
}

/// `name=value` as a word.
pub(super) fn assignment(word: &Word) -> Option<(String, Word)> {
    let (name, value) = word.shown().split_once('=')?;
    let is_name = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    let value = match word {
        Word::Unknown(_) => Word::Unknown(value.to_owned()),
        _ => Word::Literal(value.to_owned()),
    };
    is_name.then(|| (name.to_owned(), value))
}

/// What the options of `env` say.
#[derive(Default)]
struct EnvOptions {
    /// The index of the first word after them.
    end: usize,
    /// Whether one changes more than the folder.
    changes: bool,
    folder: Option<Word>,
}

/// Reads the options of `env`; `None` where one is not known, not literal, or lacks its value.
fn env_options(words: &[Word]) -> Option<EnvOptions> {
    let mut options = EnvOptions {
        end: 1,
        ..EnvOptions::default()
    };
    while let Some(word) = words.get(options.end) {
        let text = word.literal()?;
        if !text.starts_with('-') || text == "-" {
            break;
        }
        options.end += 1;
        let value = |at: usize| words.get(at).cloned();
        match text {
            "--" => break,
            "--chdir" => {
                options.folder = Some(value(options.end)?);
                options.end += 1;
            }
            "--unset" => {
                value(options.end)?;
                options.end += 1;
                options.changes = true;
            }
            "--ignore-environment" | "--null" | "--debug" => options.changes = true,
            _ if text.starts_with("--unset=") => options.changes = true,
            _ => match text.strip_prefix("--chdir=") {
                Some(folder) => options.folder = Some(Word::Literal(folder.to_owned())),
                None => options.letters(text.strip_prefix('-')?, value(options.end))?,
            },
        }
    }
    // A dash alone, wherever the options end, empties the environment.
    if words.get(options.end).and_then(Word::literal) == Some("-") {
        options.end += 1;
        options.changes = true;
        // After it, some read options and some a command.
        let next = words.get(options.end).map(Word::shown);
        next.is_none_or(|next| !next.starts_with('-'))
            .then_some(())?;
    }
    Some(options)
}

impl EnvOptions {
    /// A group of letters, of which the last may have its value in the next word.
    fn letters(&mut self, letters: &str, next: Option<Word>) -> Option<()> {
        for (at, letter) in letters.char_indices() {
            match letter {
                'i' | '0' | 'v' => self.changes = true,
                'u' | 'C' => {
                    let value = match &letters[at + 1..] {
                        "" => {
                            self.end += 1;
                            next?
                        }
                        value => Word::Literal(value.to_owned()),
                    };
                    match letter {
                        'C' => self.folder = Some(value),
                        _ => self.changes = true,
                    }
                    return Some(());
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// Why a rule for what is run does not mean this.
    fn obstacle(&self) -> Option<String> {
        let is_here = |folder: &Word| matches!(folder.literal(), Some("." | "./"));
        match (&self.folder, self.changes) {
            (_, true) => Some("its environment is changed".to_owned()),
            (Some(folder), false) if !is_here(folder) => Some(format!(
                "it is run in `{}`, which no rule names",
                folder.shown()
            )),
            _ => None,
        }
    }
}

fn env(words: &[Word]) -> Step {
    let Some(options) = env_options(words) else {
        return lost("env");
    };
    let mut at = options.end;
    let mut assigns = Vec::new();
    while let Some(word) = words.get(at) {
        // A value may hold blanks, but one word it stays only where it is literal.
        match (word.literal(), word.shown().contains('=')) {
            (None, _) => return lost("env"),
            (Some(_), true) => assigns.extend(assignment(word)),
            (Some(_), false) => break,
        }
        if assignment(word).is_none() {
            return lost("env");
        }
        at += 1;
    }
    if at >= words.len() {
        return Step::Plain;
    }
    Step::Into(Inner {
        label: "env".to_owned(),
        words: words[at..].to_vec(),
        named: at + 1,
        obstacle: options.obstacle(),
        assigns,
        folder: options.folder,
    })
}

fn as_user(name: &str, words: &[Word]) -> Step {
    let options = match name {
        "sudo" => Options {
            flags: "AbEHnPSkKB",
            valued: "ugpCrtT",
            long: &[
                "askpass",
                "background",
                "preserve-env",
                "set-home",
                "non-interactive",
                "preserve-groups",
                "stdin",
                "reset-timestamp",
                "bell",
            ],
            long_valued: &[
                "user",
                "group",
                "prompt",
                "close-from",
                "role",
                "type",
                "command-timeout",
            ],
        },
        _ => Options {
            flags: "nL",
            valued: "u",
            ..NONE
        },
    };
    let Some(mut at) = operands(words, 1, options) else {
        return lost(name);
    };
    let mut assigns = Vec::new();
    while let Some(assign) = words.get(at).and_then(assignment) {
        assigns.push(assign);
        at += 1;
    }
    if at >= words.len() {
        return lost(name);
    }
    Step::Into(Inner {
        label: name.to_owned(),
        words: words[at..].to_vec(),
        named: at + 1,
        obstacle: Some("it runs as another user".to_owned()),
        assigns,
        folder: None,
    })
}
