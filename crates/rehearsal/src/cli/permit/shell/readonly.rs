//! Commands that only look: they run without a question, as long as their paths are inside.
//!
//! Owns the judgement by name and flags; the names and flags themselves stand in [`flags`](super::flags). Unknown flags
//! make an unknown command of a known one.

use super::flags::{ANY_FLAGS, Known, MORE, known};
use super::sed;
use super::{Command, Word, forms};

/// Whether the command only looks.
pub(super) fn is(command: &Command) -> bool {
    if command.test {
        return true;
    }
    if !command
        .assigns
        .iter()
        .all(|assign| forms::plain_variable(assign))
    {
        return command.words.is_empty() && command.assigns.len() == 1;
    }
    looks(forms::core(&command.words))
}

fn looks(words: &[Word]) -> bool {
    let Some((first, args)) = words.split_first() else {
        return true;
    };
    let name = first.text.as_str();
    if ANY_FLAGS.contains(&name) {
        return true;
    }
    match name {
        // Its second file is written to.
        "uniq" => args.iter().all(|arg| arg.text.starts_with('-')),
        "sed" => sed::Call::read(args).only_prints(),
        "cd" => args
            .iter()
            .all(|arg| arg.text == "-" || !arg.text.starts_with('-')),
        "pwd" | "whoami" => args.is_empty(),
        // Flags in the old style, without `e`, which would show variables.
        "ps" if args.len() == 1 && args[0].text.chars().all(|c| "auxwjf".contains(c)) => true,
        "help" if args.iter().any(|arg| arg.text.contains('/')) => false,
        "test" if args.len() == 1 && args[0].text.starts_with('-') => false,
        "test" | "[" => args.iter().all(|arg| {
            let text = arg.text.as_str();
            !text.starts_with("--") && !matches!(text, "-Q" | "-a" | "-o")
        }),
        "printf" if args.first().is_some_and(|arg| arg.text == "--") => true,
        "printf" => args.first().is_none_or(|arg| !arg.text.starts_with('-')),
        "history" => args
            .iter()
            .all(|arg| arg.text.chars().all(|c| c.is_ascii_digit())),
        "node" | "python" | "python3" => {
            args.len() == 1 && matches!(args[0].text.as_str(), "--version" | "-v")
        }
        "xargs" => feeds_a_looker(args),
        "git" => args
            .split_first()
            .is_some_and(|(verb, args)| git(&verb.text, args)),
        "docker" => args
            .split_first()
            .is_some_and(|(verb, args)| docker(&verb.text, args)),
        "jq" => jq(args),
        _ => fits(name, args),
    }
}

/// Whether all flags are among the harmless ones of the command.
fn fits(name: &str, args: &[Word]) -> bool {
    known(name).is_some_and(|known| known.accepts(args))
}

fn git(verb: &str, args: &[Word]) -> bool {
    let first = args.first().map(|arg| arg.text.as_str());
    match (verb, first) {
        ("stash" | "worktree", Some("list")) => fits(&format!("git {verb} list"), &args[1..]),
        ("stash", Some("show")) => fits("git stash show", &args[1..]),
        ("reflog", Some("show")) => fits("git reflog", &[]) && args.len() <= 2,
        // With this flag a word is a pattern, not a name to create.
        ("branch" | "tag", Some("-l" | "--list")) if args.len() == 2 => {
            !args[1].text.starts_with('-')
        }
        ("config", Some("--get")) => args[1..].iter().all(|arg| !arg.text.starts_with('-')),
        _ => fits(&format!("git {verb}"), args),
    }
}

fn docker(verb: &str, args: &[Word]) -> bool {
    if !matches!(verb, "ps" | "images") {
        return fits(&format!("docker {verb}"), args);
    }
    // All that could be harmful here is to talk to another daemon.
    args.iter().all(|arg| {
        let text = arg.text.as_str();
        let elsewhere = ["--host", "--context", "--config", "--tls"];
        !matches!(text, "-c" | "-r" | "-H") && !elsewhere.iter().any(|flag| text.starts_with(flag))
    })
}

fn jq(args: &[Word]) -> bool {
    let filter = args.iter().find(|arg| !arg.text.starts_with('-'));
    let reads_env = filter.is_some_and(|arg| {
        arg.text
            .split(|c: char| !c.is_alphanumeric() && c != '$')
            .any(|part| matches!(part, "env" | "$ENV"))
    });
    filter.is_some() && !reads_env && fits("jq", args)
}

/// `xargs` with a command that only looks, and no flags of its own that change which command that is.
fn feeds_a_looker(args: &[Word]) -> bool {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        match arg.text.as_str() {
            "-0" | "-r" | "-t" | "-x" => at += 1,
            "-n" | "-L" | "-P" | "-s" | "-d"
                if args
                    .get(at + 1)
                    .is_some_and(|next| next.text.parse::<u32>().is_ok()) =>
            {
                at += 2
            }
            text if text.starts_with('-') => return false,
            _ => break,
        }
    }
    let Some(target) = args.get(at) else {
        return true;
    };
    let flags_only = args[at + 1..].iter().all(|arg| !arg.text.starts_with("--"));
    flags_only && MORE.contains(&target.text.as_str())
}

impl Known {
    fn accepts(&self, args: &[Word]) -> bool {
        let mut flags = true;
        let mut operands = 0;
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            let text = arg.text.as_str();
            at += 1;
            if !flags || !text.starts_with('-') || text == "-" {
                operands += usize::from(!(self.name == "date" && text.starts_with('+')));
                continue;
            }
            if text == "--" {
                flags = false;
            } else if let Some(long) = text.strip_prefix("--") {
                let (name, value) = long
                    .split_once('=')
                    .map_or((long, None), |(name, value)| (name, Some(value)));
                let valued = self.long_valued(name);
                if self.name.starts_with("git ")
                    && matches!(name, "pretty" | "format")
                    && !value.is_none_or(is_format)
                {
                    return false;
                }
                if !(valued || self.long(name) && value.is_none_or(|_| false)) {
                    return false;
                }
                if valued && value.is_none() && !self.long(name) {
                    if at >= args.len() {
                        return false;
                    }
                    at += 1;
                }
            } else {
                match self.short(&text[1..]) {
                    Some(true) if at >= args.len() => return false,
                    Some(takes_next) => at += usize::from(takes_next),
                    None => return false,
                }
            }
        }
        operands <= self.operands
    }

    fn long(&self, name: &str) -> bool {
        self.longs.split(' ').any(|known| known == name)
    }

    fn long_valued(&self, name: &str) -> bool {
        self.longs_valued.split(' ').any(|known| known == name)
    }

    /// A cluster of letters; whether its value is the next word.
    fn short(&self, letters: &str) -> Option<bool> {
        if self.numbers && letters.chars().all(|c| c.is_ascii_digit()) {
            return Some(false);
        }
        for (at, letter) in letters.char_indices() {
            if self.valued.contains(letter) {
                let value = &letters[at + letter.len_utf8()..];
                // Only the searchers take a value without a space before it, and only a number.
                let number = !value.is_empty() && value.chars().all(|c| c.is_ascii_digit());
                let attached = number && matches!(self.name, "grep" | "rg");
                return (value.is_empty() || attached).then_some(value.is_empty());
            }
            if !self.plain.contains(letter) {
                return None;
            }
        }
        Some(false)
    }
}

/// A format that git has by itself: any other name may mean one of the repository's own settings.
fn is_format(value: &str) -> bool {
    let named = [
        "oneline",
        "short",
        "medium",
        "full",
        "fuller",
        "reference",
        "email",
        "raw",
    ];
    value.contains('%') || value.contains(':') || named.contains(&value)
}

#[cfg(test)]
mod tests {
    use super::super::parse::read;
    use super::*;

    fn looks_only(text: &str) -> bool {
        is(&read(text, "/base/home").unwrap().commands[0])
    }

    #[test]
    fn flags_that_write_or_run_make_a_known_command_unknown() {
        for text in [
            "ls -la",
            "git status -s",
            "git log --oneline -5",
            "grep -rn x .",
            "sort -r a",
            "date +%s",
            "CI=1 ls",
            "rg -n x",
            "uniq -c",
        ] {
            assert!(looks_only(text), "{text}");
        }
        for text in [
            "sort -o x a",
            "git log --output=x",
            "git branch x",
            "git tag v1",
            "rg --pre cat x",
            "date -s x",
            "uniq a b",
            "xargs rm",
            "git -c a=b log",
            "npm test",
            "PATH=x ls",
            "fd -x rm",
        ] {
            assert!(!looks_only(text), "{text}");
        }
    }
}
