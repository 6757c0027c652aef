//! What can stand around a command.
//!
//! Owns the list of constructs, each a text with a harmless command `A` and another one `U` in it, which bash would run.
//! `bash_runs_what_stands_in_each_construct` in `main.rs` holds the list to that.

/// One way to run a command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Construct {
    pub(crate) name: &'static str,
    /// `A` is the harmless command, `U` the other, `'U'` the other as a quoted text.
    pub(crate) text: &'static str,
    /// Whether `U` must be one simple command, because its words are handed over.
    pub(crate) takes_words: bool,
    /// What is said about it where `A` and `U` are both allowed.
    pub(crate) plain: Plain,
}

/// What is said about a construct that holds only what is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plain {
    /// It is looked through, and allowed.
    Allowed,
    /// It is asked about all the same.
    Asked,
}

const fn list(name: &'static str, text: &'static str) -> Construct {
    Construct {
        name,
        text,
        takes_words: false,
        plain: Plain::Allowed,
    }
}

const fn asked(name: &'static str, text: &'static str) -> Construct {
    Construct {
        name,
        text,
        takes_words: false,
        plain: Plain::Asked,
    }
}

const fn wrapper(name: &'static str, text: &'static str) -> Construct {
    Construct {
        name,
        text,
        takes_words: true,
        plain: Plain::Allowed,
    }
}

const fn asked_wrapper(name: &'static str, text: &'static str) -> Construct {
    Construct {
        name,
        text,
        takes_words: true,
        plain: Plain::Asked,
    }
}

/// All of them. `echo`, `cat`, `find` and `true` are allowed wherever they are used.
pub(crate) const ALL: &[Construct] = &[
    list("after a semicolon", "A; U"),
    list("before a semicolon", "U; A"),
    list("and", "A && U"),
    list("or", "false || U"),
    list("after a pipe", "A | U"),
    list("before a pipe", "U | cat"),
    list("after a pipe with errors", "A |& U"),
    list("after the background", "A & U"),
    list("in the background", "U & A"),
    list("on the next line", "A\nU"),
    list("after a comment", "A # not U;\nU"),
    list("after a joined line", "A \\\n && U"),
    list("negated", "! U"),
    list("a subshell", "(A; U)"),
    list("a subshell in a subshell", "( (U) )"),
    list("a group", "{ A; U; }"),
    list("a condition", "if U; then A; fi"),
    list("a branch", "if true; then U; fi"),
    list("another branch", "if false; then A; else U; fi"),
    list("a loop", "for f in a; do U; done"),
    list("the words of a loop", "for f in $(U); do A; done"),
    list("a loop with a condition", "while U; do break; done"),
    list("until", "until false; do U; break; done"),
    list("a case", "case a in a) U;; esac"),
    list("the word of a case", "case $(U) in *) A;; esac"),
    list("a substitution", "echo $(U)"),
    list("a quoted substitution", "echo \"a $(U) b\""),
    list("a substitution in a default", "echo ${nothing:-$(U)}"),
    list("a substitution in a word", "echo a$(U)b"),
    list("an assignment", "x=$(U)"),
    list("an assignment before a command", "TZ=$(U) A"),
    list("a process substitution", "cat <(U)"),
    list("a here-document", "cat <<END\n$(U)\nEND"),
    list("after a here-document", "cat <<END\ntext\nEND\nU"),
    list(
        "after a quoted here-document",
        "cat <<'END'\n$(false)\nEND\nU",
    ),
    list("a here-string", "cat <<< \"$(U)\""),
    list("a test", "[[ -n $(U) ]]"),
    list("another test", "[ -n \"$(U)\" ]"),
    asked("bash -c", "bash -c 'U'"),
    asked("bash with options", "bash -euo pipefail -c 'U'"),
    asked("eval", "eval 'U'"),
    asked("xargs and a shell", "echo a | xargs -n1 bash -c 'U'"),
    asked(
        "find and a shell",
        "find . -maxdepth 0 -exec bash -c 'U' \\;",
    ),
    asked("a trap", "trap 'U' EXIT"),
    asked("a coprocess", "coproc { U; }; wait"),
    asked("beside a here-document", "cat <<END; U\ntext\nEND"),
    asked("a function", "f() { U; }; f"),
    asked("a calculation", "echo $(( 0$(U) ))"),
    asked("an old calculation", "echo $[ 0$(U) ]"),
    asked("a subscript", "a[0$(U)]=1"),
    asked("a pipe into a shell", "echo 'U' | bash"),
    asked("a here-document for a shell", "bash <<END\nU\nEND"),
    asked("a here-string for a shell", "bash <<< 'U'"),
    asked("a file that is read", "source <(echo 'U')"),
    asked("the target of a redirection", "A > /dev/null$(U)"),
    wrapper("nohup", "nohup U"),
    wrapper("timeout", "timeout 5 U"),
    wrapper("timeout with options", "timeout -k 1 -s TERM 5s U"),
    wrapper("env", "env U"),
    wrapper("env with a variable", "env LANG=C U"),
    wrapper("nice", "nice -n 1 U"),
    wrapper("stdbuf", "stdbuf -oL U"),
    wrapper("setsid", "setsid U"),
    wrapper("time", "time U"),
    wrapper("command", "command U"),
    asked_wrapper("exec", "exec U"),
    wrapper("a variable", "LANG=C U"),
    wrapper("two wrappers", "nohup timeout 5 env LANG=C U"),
    asked_wrapper("xargs", "echo | xargs U"),
    asked_wrapper("xargs with options", "echo a | xargs -n 1 -P 2 U"),
    asked_wrapper("find -exec", "find . -maxdepth 0 -exec U \\;"),
    asked_wrapper("find -exec +", "find . -maxdepth 0 -exec U {} +"),
    asked_wrapper("find -execdir", "find . -maxdepth 0 -execdir U \\;"),
    asked_wrapper("another path", "PATH=$PATH:. U"),
    asked_wrapper("a clean environment", "env -i U"),
    asked_wrapper("env of a text", "env -S 'U'"),
    asked_wrapper("sudo", "sudo U"),
    asked_wrapper("sudo with options", "sudo -n -u nobody U"),
];

/// A text that may be handed on.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) text: String,
    /// Whether it is one simple command.
    pub(crate) is_words: bool,
}

impl Text {
    pub(crate) fn words(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            is_words: true,
        }
    }

    /// This text as one simple command.
    fn as_words(&self) -> String {
        match self.is_words {
            true => self.text.clone(),
            false => format!("bash -c {}", quoted(&self.text)),
        }
    }
}

/// A text as one word.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

impl Construct {
    /// The construct around two commands.
    pub(crate) fn around(&self, harmless: &str, other: &Text) -> Text {
        let other = match self.takes_words {
            true => other.as_words(),
            false => other.text.clone(),
        };
        let mut text = String::new();
        let mut rest = self.text;
        while let Some(at) = rest.find(['A', 'U']) {
            // `EXIT`, `LANG`, `PATH` and `TERM` are names, not places.
            let is_alone = |c: Option<char>| !c.is_some_and(|c| c.is_ascii_alphanumeric());
            let place = &rest[at..=at];
            let before = rest[..at].chars().next_back();
            let is_place = is_alone(before) && is_alone(rest[at + 1..].chars().next());
            let is_quoted = before == Some('\'') && rest[at + 1..].starts_with('\'');
            match (is_place, place, is_quoted) {
                (true, "U", true) => {
                    text.push_str(&rest[..at - 1]);
                    text.push_str(&quoted(&other));
                    rest = &rest[at + 2..];
                    continue;
                }
                (true, "U", false) => text.push_str(&format!("{}{other}", &rest[..at])),
                (true, _, _) => text.push_str(&format!("{}{harmless}", &rest[..at])),
                (false, ..) => text.push_str(&rest[..=at]),
            }
            rest = &rest[at + 1..];
        }
        text.push_str(rest);
        Text {
            text,
            is_words: false,
        }
    }
}
