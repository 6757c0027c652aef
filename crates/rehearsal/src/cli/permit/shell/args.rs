//! Which arguments of a command are paths, and what it does to them.
//!
//! Knows the commands whose arguments the CLI knows. A command that is not known here has no paths, and is asked about
//! for that reason.

use super::super::rules::Touch;
use super::sed;
use super::{Command, Word, forms};

const WRITERS: [&str; 8] = ["touch", "mkdir", "rm", "rmdir", "mv", "cp", "tee", "sed"];
const READERS: [&str; 34] = [
    "cat",
    "head",
    "tail",
    "wc",
    "ls",
    "sort",
    "uniq",
    "cut",
    "diff",
    "stat",
    "file",
    "od",
    "strings",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "nl",
    "base64",
    "cmp",
    "column",
    "comm",
    "expand",
    "fmt",
    "fold",
    "hexdump",
    "man",
    "numfmt",
    "paste",
    "pr",
    "rev",
    "tac",
    "tsort",
    "unexpand",
    "cd",
];
/// Flags of `grep` and `rg` that take the next word.
const GREP_VALUED: [&str; 20] = [
    "-A",
    "-B",
    "-C",
    "-m",
    "-e",
    "-f",
    "-d",
    "-D",
    "-g",
    "-t",
    "-T",
    "-M",
    "-j",
    "--regexp",
    "--file",
    "--include",
    "--exclude",
    "--glob",
    "--type",
    "--max-count",
];

/// The paths of a command's arguments, and what it does to them.
pub(super) fn paths(command: &Command) -> Option<(Touch, Vec<&Word>)> {
    let words = forms::core(&command.words);
    let (first, args) = words.split_first()?;
    let name = first.text.rsplit('/').next().unwrap_or("");
    if name == "sed" {
        let call = sed::Call::read(args);
        let touch = if call.only_prints() {
            Touch::Read
        } else {
            Touch::Write
        };
        return Some((touch, call.files));
    }
    if WRITERS.contains(&name) {
        return Some((Touch::Write, operands(args)));
    }
    let read = match first.text.as_str() {
        "grep" | "egrep" | "fgrep" | "rg" => searched(args),
        "find" => args
            .iter()
            .skip_while(|arg| leading(arg))
            .take_while(|arg| !predicate(arg))
            .collect(),
        "jq" | "awk" => operands(args).into_iter().skip(1).collect(),
        name if READERS.contains(&name) => operands(args)
            .into_iter()
            .filter(|arg| arg.text != "-")
            .collect(),
        _ => return None,
    };
    Some((Touch::Read, read))
}

/// Where a `cd` without an argument goes.
pub(super) fn goes_home(command: &Command) -> bool {
    command.name() == "cd"
        && command
            .args()
            .iter()
            .all(|arg| arg.text.starts_with('-') && arg.text.len() > 1)
}

fn operands(args: &[Word]) -> Vec<&Word> {
    let mut flags = true;
    args.iter()
        .filter(|arg| {
            if flags && arg.text == "--" {
                flags = false;
                return false;
            }
            !(flags && arg.text.starts_with('-') && arg.text.len() > 1)
        })
        .collect()
}

fn leading(arg: &Word) -> bool {
    matches!(arg.text.as_str(), "-L" | "-P" | "-H")
}

fn predicate(arg: &Word) -> bool {
    arg.text.starts_with('-') || matches!(arg.text.as_str(), "(" | "!")
}

/// The pattern is no path, unless a flag gave one; the file of `-f` is.
fn searched(args: &[Word]) -> Vec<&Word> {
    let mut found = Vec::new();
    let mut pattern_given = false;
    let mut at = 0;
    while at < args.len() {
        let text = args[at].text.as_str();
        if GREP_VALUED.contains(&text) {
            pattern_given |= matches!(text, "-e" | "-f" | "--regexp" | "--file");
            if matches!(text, "-f" | "--file") {
                found.extend(args.get(at + 1));
            }
            at += 1;
        } else if !(text.starts_with('-') && text.len() > 1) {
            if pattern_given {
                found.push(&args[at]);
            }
            pattern_given = true;
        }
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::parse::read;
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let command = read(text, "/base/home").unwrap().commands.pop().unwrap();
        let (_, words) = paths(&command).unwrap();
        words.into_iter().map(|word| word.text.clone()).collect()
    }

    #[test]
    fn patterns_flags_and_predicates_are_no_paths() {
        assert_eq!(found("grep -A 3 foo a.txt b.txt"), ["a.txt", "b.txt"]);
        assert_eq!(found("grep -e foo a.txt"), ["a.txt"]);
        assert_eq!(found("grep -f pats a.txt"), ["pats", "a.txt"]);
        assert_eq!(found("find -L . src -name '*.rs'"), [".", "src"]);
        assert_eq!(found("rm -rf -- -x y"), ["-x", "y"]);
        assert_eq!(found("jq .a x.json"), ["x.json"]);
        assert_eq!(found("cat - x"), ["x"]);
    }
}
