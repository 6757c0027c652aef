//! Commands that only read.
//!
//! Owns a short table. A program stands in it with no options at all that write or run, or with the options that are known
//! to do neither. Invariant: a word that is not known, where it could be such an option, means no.

use super::reads_list::listed;
use super::wrap::operands;
use super::{Folder, Simple, Word, builtin, reads_git, sed};

/// Nothing that they are given makes them write or run.
const FREE: [&str; 59] = [
    ":",
    "[",
    "[[",
    "arch",
    "b2sum",
    "basename",
    "break",
    "cat",
    "cd",
    "cksum",
    "cmp",
    "comm",
    "continue",
    "cut",
    "df",
    "dirname",
    "du",
    "echo",
    "egrep",
    "exit",
    "expand",
    "expr",
    "false",
    "fgrep",
    "fmt",
    "fold",
    "free",
    "grep",
    "groups",
    "head",
    "id",
    "join",
    "ls",
    "md5sum",
    "nl",
    "nproc",
    "od",
    "paste",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "seq",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "sleep",
    "stat",
    "tac",
    "tail",
    "test",
    "tr",
    "true",
    "type",
    "unexpand",
    "wc",
    "which",
];

/// Programs that are asked for their version.
const VERSIONED: [&str; 20] = [
    "bun", "cargo", "clang", "deno", "docker", "gcc", "gh", "go", "java", "jq", "make", "node",
    "npm", "pip", "pnpm", "python", "python3", "rustc", "uv", "yarn",
];

impl Simple {
    /// Whether it certainly reads and prints only: it writes no file, changes no setting, runs nothing else, and talks to
    /// nobody. Files it reads are in [`Simple::names`].
    pub fn only_reads(&self) -> bool {
        if self.obstacle.is_some() || self.hides.is_some() {
            return false;
        }
        let Some(name) = self.words[0].literal() else {
            return false;
        };
        let arguments = &self.words[1..];
        match name {
            _ if FREE.contains(&name) => true,
            "printf" => !arguments
                .first()
                .is_none_or(|word| word.shown().starts_with('-') || word.literal().is_none()),
            "command" => matches!(arguments.first().and_then(Word::literal), Some("-v" | "-V")),
            "exec" => arguments.is_empty(),
            "ps" => arguments.iter().all(is_calm_for_ps),
            _ if VERSIONED.contains(&name) && arguments.len() == 1 => {
                arguments[0].literal() == Some("--version")
            }
            // They change what follows, which bears its own obstacle.
            "read" | "shift" | "return" | "wait" => {
                builtin::effect(&self.words).obstacle_after.is_none()
            }
            // Without a name, some print all variables, secrets among them.
            "export" | "declare" | "typeset" | "local" | "readonly" | "unset" => {
                arguments.iter().any(|word| !word.shown().starts_with('-'))
                    && builtin::effect(&self.words).obstacle_after.is_none()
            }
            "set" => !arguments.is_empty() && builtin::effect(&self.words).obstacle_after.is_none(),
            "sed" => sed::only_reads(arguments) && arguments.iter().all(cannot_be_option),
            "find" => find(arguments),
            // The configuration of another repository may run a program.
            "git" => self.folder == Folder::Start && reads_git::only_reads(arguments),
            _ => by_list(name, arguments),
        }
    }
}

/// `ps e` prints variables of other processes.
fn is_calm_for_ps(word: &Word) -> bool {
    word.literal()
        .is_some_and(|text| !text.contains('E') && (text.starts_with('-') || !text.contains('e')))
}

/// Whether the shell cannot turn this word into an option.
pub(super) fn cannot_be_option(word: &Word) -> bool {
    match word {
        Word::Literal(_) => true,
        Word::Glob(text) => !text.starts_with(['*', '?', '[', '-']),
        // A process substitution is a file; quoted text with something before the unknown part stays one word.
        Word::Unknown(text) => {
            let quoted = text
                .strip_prefix('"')
                .and_then(|text| text.strip_suffix('"'));
            text.starts_with("<(")
                || quoted.is_some_and(|text| {
                    !text.contains('"') && !text.starts_with(['$', '`', '-', '\\'])
                })
        }
    }
}

/// Options may stand among operands, so each word is looked at.
fn by_list(name: &str, arguments: &[Word]) -> bool {
    let Some(options) = listed(name) else {
        return false;
    };
    let mut operand_words = Vec::new();
    let mut at = 0;
    while at < arguments.len() {
        let Some(next) = operands(arguments, at, options) else {
            // Not an option, but not literal either.
            match cannot_be_option(&arguments[at]) && arguments[at].literal().is_none() {
                true => {
                    operand_words.push(&arguments[at]);
                    at += 1;
                    continue;
                }
                false => return false,
            }
        };
        let is_ended = next > at && arguments.get(next - 1).and_then(Word::literal) == Some("--");
        if is_ended {
            operand_words.extend(&arguments[next.min(arguments.len())..]);
            break;
        }
        operand_words.extend(arguments.get(next));
        at = next + 1;
    }
    match name {
        // The second operand is written.
        "uniq" => operand_words.len() <= 1,
        "date" => operand_words
            .iter()
            .all(|word| word.shown().starts_with('+')),
        "hostname" | "whoami" | "tty" | "uptime" | "uname" => operand_words.is_empty(),
        // It prints variables, secrets among them.
        "jq" => !arguments
            .iter()
            .any(|word| word.shown().to_lowercase().contains("env")),
        _ => true,
    }
}

/// Tests and actions of `find` that look and print.
const FIND_FREE: [&str; 30] = [
    "-print",
    "-print0",
    "-prune",
    "-ls",
    "-depth",
    "-mount",
    "-xdev",
    "-empty",
    "-readable",
    "-writable",
    "-executable",
    "-not",
    "-a",
    "-o",
    "-and",
    "-or",
    "-true",
    "-false",
    "-quit",
    "-nouser",
    "-nogroup",
    "-daystart",
    "-follow",
    "-noleaf",
    "-H",
    "-L",
    "-P",
    "-E",
    "-X",
    "-d",
];

/// The same, with a value.
const FIND_VALUED: [&str; 29] = [
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-type",
    "-xtype",
    "-size",
    "-mtime",
    "-mmin",
    "-ctime",
    "-cmin",
    "-atime",
    "-amin",
    "-newer",
    "-anewer",
    "-cnewer",
    "-perm",
    "-user",
    "-group",
    "-maxdepth",
    "-mindepth",
    "-links",
    "-inum",
    "-printf",
];

/// Whether `find` looks and prints only.
fn find(arguments: &[Word]) -> bool {
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match word.literal() {
            Some(text) if FIND_VALUED.contains(&text) => {
                if rest
                    .next()
                    .is_none_or(|value| !cannot_be_option(value) && !matches!(value, Word::Glob(_)))
                {
                    return false;
                }
            }
            Some(text) if text.starts_with("-newer") => {
                rest.next();
            }
            Some(text) if text.starts_with('-') => {
                if !FIND_FREE.contains(&text) {
                    return false;
                }
            }
            Some(_) => {}
            None if cannot_be_option(word) => {}
            None => return false,
        }
    }
    true
}
