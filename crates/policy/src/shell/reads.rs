//! Commands that only read.
//!
//! Owns a short table. A program stands in it with no options at all that write or run, or with the options that are known
//! to do neither. Invariant: a word that is not known, where it could be such an option, means no.

use super::wrap::{Options, operands};
use super::{Folder, Simple, Word, builtin, reads_git, sed};

/// Nothing that they are given makes them write or run.
const FREE: [&str; 61] = [
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
    "printenv",
    "ps",
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

/// Options that neither write nor run, for programs that have others too.
fn listed(name: &str) -> Option<Options> {
    Some(match name {
        "sort" => Options {
            flags: "bcdfghiMmnRrsuVz",
            valued: "ktS",
            long: &[
                "reverse",
                "unique",
                "numeric-sort",
                "human-numeric-sort",
                "version-sort",
                "ignore-case",
                "stable",
                "zero-terminated",
                "general-numeric-sort",
                "check",
                "merge",
            ],
            long_valued: &["key", "field-separator"],
        },
        "uniq" => Options {
            flags: "cdDiuz",
            valued: "fsw",
            long: &["count", "repeated", "unique", "ignore-case"],
            long_valued: &["skip-fields", "skip-chars", "check-chars"],
        },
        "rg" => Options {
            flags: "acFhHiIlLnNoPpqsSUuvVwx0.",
            valued: "ABCEeMmgtTjrfd",
            long: &[
                "files",
                "hidden",
                "no-ignore",
                "no-ignore-vcs",
                "ignore-case",
                "smart-case",
                "case-sensitive",
                "fixed-strings",
                "files-with-matches",
                "files-without-match",
                "count",
                "count-matches",
                "line-number",
                "no-line-number",
                "no-heading",
                "heading",
                "json",
                "multiline",
                "multiline-dotall",
                "word-regexp",
                "line-regexp",
                "invert-match",
                "only-matching",
                "pcre2",
                "no-messages",
                "text",
                "quiet",
                "stats",
                "trim",
                "type-list",
                "vimgrep",
                "with-filename",
                "no-filename",
                "column",
                "no-config",
                "null",
                "follow",
                "version",
                "debug",
                "pretty",
                "unrestricted",
                "sort-files",
                "crlf",
            ],
            long_valued: &[
                "after-context",
                "before-context",
                "context",
                "glob",
                "iglob",
                "type",
                "type-not",
                "max-count",
                "max-depth",
                "max-columns",
                "color",
                "colors",
                "regexp",
                "file",
                "sort",
                "sortr",
                "threads",
                "replace",
                "encoding",
                "max-filesize",
                "ignore-file",
                "path-separator",
                "type-add",
                "engine",
            ],
        },
        "tree" => Options {
            flags: "adfilpsughDFNQxCnXJAStrcUv",
            valued: "LPIT",
            long: &[
                "dirsfirst",
                "noreport",
                "gitignore",
                "prune",
                "inodes",
                "device",
                "du",
                "si",
                "matchdirs",
            ],
            long_valued: &["filelimit", "charset", "sort", "timefmt"],
        },
        "file" => Options {
            flags: "bhikLNrsv0I",
            valued: "Fem",
            long: &["brief", "mime", "mime-type", "mime-encoding", "dereference"],
            long_valued: &["separator"],
        },
        "date" => Options {
            flags: "uRnjI",
            valued: "dr",
            long: &["utc", "universal", "rfc-email", "iso-8601"],
            long_valued: &["date", "rfc-3339", "reference"],
        },
        "diff" => Options {
            flags: "abBcdeEHinNpqrstTuwyZ0123456789",
            valued: "CFIUWxX",
            long: &[
                "brief",
                "unified",
                "side-by-side",
                "recursive",
                "ignore-all-space",
                "ignore-space-change",
                "new-file",
                "ignore-blank-lines",
                "report-identical-files",
                "text",
                "suppress-common-lines",
                "minimal",
                "context",
                "strip-trailing-cr",
            ],
            long_valued: &[
                "unified",
                "context",
                "exclude",
                "color",
                "label",
                "width",
                "ignore-matching-lines",
            ],
        },
        "uname" => Options {
            flags: "amnoprsvi",
            long: &[
                "all",
                "machine",
                "kernel-name",
                "kernel-release",
                "nodename",
                "operating-system",
            ],
            ..Options::default()
        },
        "base64" => Options {
            flags: "dDi",
            valued: "wb",
            long: &["decode", "ignore-garbage"],
            long_valued: &["wrap"],
        },
        "jq" => Options {
            flags: "rnceMCSsajR",
            long: &[
                "raw-output",
                "null-input",
                "compact-output",
                "exit-status",
                "monochrome-output",
                "color-output",
                "sort-keys",
                "slurp",
                "join-output",
                "raw-input",
                "tab",
                "ascii-output",
            ],
            long_valued: &["indent"],
            ..Options::default()
        },
        "fd" | "fdfind" => Options {
            flags: "HIupsigaLl0F1",
            valued: "deEtSc",
            long: &[
                "hidden",
                "no-ignore",
                "glob",
                "absolute-path",
                "follow",
                "ignore-case",
                "fixed-strings",
                "full-path",
            ],
            long_valued: &[
                "type",
                "extension",
                "exclude",
                "max-depth",
                "min-depth",
                "size",
                "changed-within",
                "color",
            ],
        },
        "column" => Options {
            flags: "tx",
            valued: "scoN",
            long: &["table"],
            long_valued: &["separator", "output-separator"],
        },
        "hostname" | "whoami" | "tty" | "uptime" => Options {
            flags: "fsIi",
            ..Options::default()
        },
        _ => return None,
    })
}

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
            "env" | "exec" => arguments.is_empty(),
            // They change what follows, which bears its own obstacle.
            "read" | "export" | "declare" | "typeset" | "local" | "readonly" | "unset" | "set"
            | "shift" | "return" | "wait" => builtin::effect(&self.words).obstacle_after.is_none(),
            "sed" => sed::only_reads(arguments) && arguments.iter().all(cannot_be_option),
            "find" => find(arguments),
            // The configuration of another repository may run a program.
            "git" => self.folder == Folder::Start && reads_git::only_reads(arguments),
            _ => by_list(name, arguments),
        }
    }
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
        _ => true,
    }
}

/// Tests and actions of `find` that look and print.
fn find(arguments: &[Word]) -> bool {
    const FREE: [&str; 30] = [
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
    const VALUED: [&str; 29] = [
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
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        match word.literal() {
            Some(text) if VALUED.contains(&text) => {
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
                if !FREE.contains(&text) {
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
