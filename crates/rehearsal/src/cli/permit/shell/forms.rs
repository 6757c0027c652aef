//! The forms in which a rule may mean a command, and the rule that is suggested for one.
//!
//! A rule that allows sees through little: a few harmless variables and `timeout`. A rule that denies or asks sees
//! through everything that starts another command. Both are lists of texts to compare with; the rules do the comparing.

use super::{Command, Word};

/// Variables that change nothing but looks.
const PLAIN_VARIABLES: [&str; 27] = [
    "NODE_ENV",
    "CI",
    "LANGUAGE",
    "TZ",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "GOOS",
    "GOARCH",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "TERM",
    "COLORTERM",
    "NO_COLOR",
    "FORCE_COLOR",
    "COLUMNS",
    "LINES",
    "PYTEST_DEBUG",
    "ANTHROPIC_API_KEY",
    "LS_COLORS",
    "CLICOLOR",
    "CHARSET",
    "TIME_STYLE",
    "BLOCK_SIZE",
    "CGO_ENABLED",
    "GO111MODULE",
    "LANG",
    "LC_ALL",
];

/// Commands that run the command in their arguments.
const WRAPPERS: [&str; 14] = [
    "sudo", "doas", "env", "nohup", "nice", "time", "timeout", "command", "builtin", "xargs",
    "stdbuf", "noglob", "ionice", "setsid",
];

/// Commands whose arguments say too little for a rule with a star.
const NO_PREFIX: [&str; 27] = [
    "sudo",
    "doas",
    "su",
    "pkexec",
    "runuser",
    "env",
    "xargs",
    "nohup",
    "nice",
    "time",
    "timeout",
    "command",
    "stdbuf",
    "exec",
    "eval",
    "bash",
    "sh",
    "zsh",
    "fish",
    "dash",
    "ksh",
    "csh",
    "tcsh",
    "pwsh",
    "powershell",
    "cmd",
    "builtin",
];

/// Whether an assignment before a command may be overlooked.
pub(super) fn plain_variable(assign: &str) -> bool {
    let Some((name, value)) = assign.split_once('=') else {
        return false;
    };
    let plain = PLAIN_VARIABLES.contains(&name)
        && value
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_./:,-".contains(c));
    // A locale may name a folder.
    let locale =
        name != "LANG" && name != "LC_ALL" || value.starts_with(|c: char| c.is_ascii_alphabetic());
    plain && locale
}

/// The words of a command that do something: without `timeout 5`, `command` and the like.
pub(super) fn core(words: &[Word]) -> &[Word] {
    let name = words.first().map_or("", |word| word.text.as_str());
    let rest = match name {
        "timeout" => {
            let duration = words.get(1).map_or("", |word| word.text.as_str());
            let number = duration.trim_end_matches(['s', 'm', 'h', 'd']);
            if number.is_empty() || number.parse::<f64>().is_err() {
                return words;
            }
            words.get(2..)
        }
        "command" | "builtin" | "noglob" => words
            .get(1..)
            .filter(|rest| !rest[..].first().is_some_and(is_flag)),
        _ => return words,
    };
    match rest {
        Some(rest) if !rest.is_empty() => core(rest),
        _ => words,
    }
}

fn is_flag(word: &Word) -> bool {
    word.text.starts_with('-')
}

/// The texts that a rule which allows may mean.
pub(super) fn allowing(command: &Command) -> Vec<String> {
    let mut forms = vec![command.text.clone()];
    if command.assigns.iter().all(|assign| plain_variable(assign)) {
        forms.push(joined(&command.words, |word| &word.raw));
        forms.push(joined(core(&command.words), |word| &word.raw));
    }
    forms
}

/// The texts that a rule which denies or asks may mean.
pub(super) fn forbidding(command: &Command) -> Vec<String> {
    let mut forms = allowing(command);
    let mut words = &command.words[..];
    loop {
        forms.push(joined(words, |word| &word.raw));
        forms.push(joined(words, |word| &word.text));
        let Some((first, rest)) = words.split_first() else {
            return forms;
        };
        let name = first.text.rsplit('/').next().unwrap_or("");
        let tail = joined(rest, |word| &word.text);
        forms.push(format!("{name} {tail}").trim_end().to_owned());
        if !WRAPPERS.contains(&name) {
            return forms;
        }
        // Flags, numbers and variables of the wrapper: each may be the last before the command it runs.
        words = rest;
        while words.len() > 1
            && (is_flag(&words[0]) || words[0].text.contains('=') || starts_with_digit(&words[0]))
        {
            words = &words[1..];
        }
    }
}

fn starts_with_digit(word: &Word) -> bool {
    word.text.starts_with(|c: char| c.is_ascii_digit())
}

fn joined(words: &[Word], part: impl Fn(&Word) -> &String) -> String {
    let parts: Vec<&str> = words.iter().map(|word| part(word).as_str()).collect();
    parts.join(" ")
}

/// The content of the rule that is suggested for a command: its first two words and a star, or all of it.
pub(super) fn suggested(text: &str) -> String {
    let text = text.trim();
    if let Some((head, _)) = text.split_once("<<") {
        let words: Vec<&str> = head.split_whitespace().take(2).collect();
        return if words.len() > 1 {
            format!("{} *", words.join(" "))
        } else {
            head.trim().to_owned()
        };
    }
    let first = text.split('\n').next().unwrap_or(text);
    if let Some(prefix) = prefix(first) {
        return format!("{prefix} *");
    }
    match text.split_once('\n') {
        Some((first, _)) => format!("{} *", first.trim()),
        None => text.to_owned(),
    }
}

fn prefix(text: &str) -> Option<String> {
    let mut words = text
        .split_whitespace()
        .skip_while(|word| plain_variable(word));
    let (name, verb) = (words.next()?, words.next()?);
    let plain = verb.starts_with(|c: char| c.is_ascii_lowercase())
        && verb.split('-').all(|part| {
            !part.is_empty()
                && part
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        });
    (plain && !name.contains('=') && !NO_PREFIX.contains(&name)).then(|| format!("{name} {verb}"))
}

#[cfg(test)]
mod tests {
    use super::super::parse::read;
    use super::*;

    fn command(text: &str) -> Command {
        read(text, "/base/home").unwrap().commands.pop().unwrap()
    }

    #[test]
    fn a_suggestion_is_two_plain_words_and_a_star_or_the_whole() {
        for (text, expected) in [
            ("npm run test -- --x", "npm run *"),
            ("git -C x status", "git -C x status"),
            ("NODE_ENV=test npm test", "npm test *"),
            ("FOO=1 npm test", "FOO=1 npm test"),
            ("sudo npm test", "sudo npm test"),
            ("touch a.txt", "touch a.txt"),
            ("touch x;", "touch x;"),
            ("ls\ntouch x", "ls *"),
            ("cat > f <<'EOF'\nx\nEOF", "cat > *"),
        ] {
            assert_eq!(suggested(text), expected, "{text}");
        }
    }

    #[test]
    fn a_rule_that_denies_sees_through_wrappers_and_one_that_allows_does_not() {
        for text in [
            "sudo foo x",
            "env A=1 foo x",
            "/bin/foo x",
            "\"foo\" x",
            "nohup nice -n 5 foo x",
            "FOO=1 foo x",
        ] {
            assert!(
                forbidding(&command(text)).contains(&"foo x".to_owned()),
                "{text}"
            );
            assert!(
                !allowing(&command(text)).contains(&"foo x".to_owned()),
                "{text}"
            );
        }
        assert!(allowing(&command("timeout 5 foo x")).contains(&"foo x".to_owned()));
        assert!(allowing(&command("CI=1 foo x")).contains(&"foo x".to_owned()));
    }
}
