//! Commands in which another one may hide.
//!
//! Owns the runners that are not looked through: interpreters with inline code or fed by a pipe, remote shells, programs
//! with an option that runs something. Invariant: a rule that denies may be meant by any of them, so they are asked about.

use super::wrap::{base, stem};
use super::{Word, hide_git, hide_options::is_told_by_option, hide_sql, sed};

/// Whatever they are given, they run it somewhere.
const RUNNERS: [&str; 75] = [
    "-",
    "aa-exec",
    "at",
    "batch",
    "bunx",
    "choom",
    "chpst",
    "chroot",
    "chrt",
    "compgen",
    "concurrently",
    "crontab",
    "cross-env",
    "daemonize",
    "dbus-run-session",
    "dotenv",
    "eatmydata",
    "entr",
    "expect",
    "fakeroot",
    "faketime",
    "fc",
    "firejail",
    "flock",
    "foreach",
    "gdb",
    "gosu",
    "hyperfine",
    "linux32",
    "linux64",
    "lldb",
    "ltrace",
    "mosh",
    "nc",
    "ncat",
    "nix-shell",
    "nocorrect",
    "nodemon",
    "noglob",
    "npx",
    "nsenter",
    "numactl",
    "parallel",
    "perf",
    "pkexec",
    "pnpx",
    "prlimit",
    "proot",
    "repeat",
    "rlwrap",
    "runcon",
    "runuser",
    "screen",
    "script",
    "setarch",
    "setpriv",
    "sg",
    "socat",
    "softlimit",
    "ssh",
    "sshpass",
    "start-stop-daemon",
    "strace",
    "su-exec",
    "systemd-run",
    "taskset",
    "tmux",
    "unbuffer",
    "unshare",
    "uvx",
    "valgrind",
    "watch",
    "xvfb-run",
    "zargs",
    "zsystem",
];

/// With this subcommand, they run what follows.
const SUBCOMMANDS: [(&str, &[&str]); 27] = [
    ("asdf", &["exec"]),
    ("aws-vault", &["exec"]),
    ("bun", &["x", "exec"]),
    ("bundle", &["exec"]),
    ("conda", &["run"]),
    ("deno", &["eval", "repl"]),
    ("direnv", &["exec"]),
    ("docker", &["exec", "run"]),
    ("doppler", &["run"]),
    ("docker-compose", &["exec", "run"]),
    ("hatch", &["run"]),
    ("kubectl", &["exec", "run", "debug"]),
    ("mise", &["exec", "x", "run"]),
    ("nerdctl", &["exec", "run"]),
    ("nix", &["run", "shell", "develop"]),
    ("npm", &["exec", "x"]),
    ("oc", &["exec", "run", "rsh"]),
    ("op", &["run"]),
    ("pipenv", &["run"]),
    ("pipx", &["run"]),
    ("pnpm", &["exec", "dlx"]),
    ("podman", &["exec", "run"]),
    ("poetry", &["run"]),
    ("pyenv", &["exec"]),
    ("rye", &["run"]),
    ("uv", &["run", "tool"]),
    ("yarn", &["exec", "dlx"]),
];

/// Interpreters, with the letters and long options of inline code.
const INTERPRETERS: [(&str, &str, &[&str]); 31] = [
    ("bun", "ep", &["--eval", "--print", "--preload"]),
    ("csh", "c", &[]),
    ("elixir", "eS", &["--eval", "--rpc-eval"]),
    ("elvish", "c", &[]),
    ("erl", "", &["-eval", "-s", "-run"]),
    ("fish", "cC", &["--command", "--init-command"]),
    ("groovy", "e", &[]),
    ("guile", "ce", &[]),
    ("irb", "rI", &[]),
    ("jshell", "", &[]),
    ("julia", "eEL", &["--eval", "--print", "--load"]),
    ("lua", "el", &[]),
    ("luajit", "el", &[]),
    (
        "node",
        "epr",
        &["--eval", "--print", "--require", "--import", "--loader"],
    ),
    (
        "nodejs",
        "epr",
        &["--eval", "--print", "--require", "--import", "--loader"],
    ),
    ("nu", "ce", &["--commands", "--execute"]),
    ("osascript", "e", &[]),
    ("perl", "eEMmd", &[]),
    ("php", "rBREd", &["--run", "--process"]),
    ("powershell", "cCeE", &[]),
    ("pwsh", "cCeE", &[]),
    ("pypy", "c", &[]),
    ("python", "c", &[]),
    ("racket", "ef", &["--eval"]),
    ("R", "ef", &["--file"]),
    ("Rscript", "e", &[]),
    ("ruby", "er", &[]),
    ("scala", "e", &[]),
    ("tclsh", "", &[]),
    ("tcsh", "c", &[]),
    ("xonsh", "c", &[]),
];

/// Reserved words: as a name of a command they stand after `time`, where another parser looks for a command.
const RESERVED: [&str; 17] = [
    "!", "{", "}", "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done",
    "case", "esac", "select", "function",
];

/// Why a denied command may hide in this one.
pub(super) fn why(words: &[Word]) -> Option<String> {
    let Some(name) = words[0].literal() else {
        return Some("its command is known only when it runs".to_owned());
    };
    let name = base(name);
    // After `time`, an assignment stands before the command.
    if name.contains('=') || RESERVED.contains(&name) || name.is_empty() {
        return Some(format!("`{name}` is an odd name for a command"));
    }
    let arguments = &words[1..];
    let runs = || Some(format!("`{name}` runs what it is given"));
    if RUNNERS.contains(&name) && !arguments.is_empty() {
        return runs();
    }
    let row = SUBCOMMANDS.iter().find(|(tool, _)| *tool == name);
    if row.is_some_and(|(_, subcommands)| {
        let may = |word: &Word| {
            word.literal()
                .is_none_or(|text| subcommands.contains(&text))
        };
        let is_operand = |word: &&Word| !word.shown().starts_with('-');
        // What follows `npm run` is the name of a script.
        let is_before = |word: &&Word| subcommands.contains(&"run") || word.shown() != "run";
        let operands = arguments.iter().filter(is_operand).take_while(is_before);
        operands.take(3).any(may)
    }) {
        return runs();
    }
    if is_told_by_option(name, arguments) {
        return Some(format!("`{name}` has an option that runs something"));
    }
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => awk(arguments),
        "sed" | "gsed" => sed::runs(arguments),
        "git" => hide_git::why(arguments),
        "psql" | "mysql" | "sqlite3" | "mariadb" | "duckdb" => hide_sql::why(name, arguments),
        _ => interpreter(name, arguments),
    }
}

/// Whether another command hides in an option or in a text that a program is given, beside what the program is for. A rule
/// for a program that runs others, as `python3` or `docker run`, means that; a rule for `git` does not mean `git -c`.
pub(super) fn is_by_the_way(words: &[Word]) -> bool {
    let Some(name) = words[0].literal().map(base) else {
        return false;
    };
    let arguments = &words[1..];
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => awk(arguments).is_some() && !compares_only(arguments),
        "sed" | "gsed" => sed::runs(arguments).is_some(),
        "git" => hide_git::why(arguments).is_some(),
        "psql" | "mysql" | "sqlite3" | "mariadb" | "duckdb" => {
            hide_sql::why(name, arguments).is_some()
        }
        _ => is_told_by_option(name, arguments),
    }
}

/// The same of the words behind those that a rule spells out, which may say themselves that something is run, as `git bisect
/// run` does. Plain words in the place of what follows tell.
pub(super) fn is_behind(words: &[Word], spelled: usize) -> bool {
    if !is_by_the_way(words) {
        return false;
    }
    let spelled = spelled.clamp(1, words.len());
    let plain = [(); 2].map(|()| Word::Literal("p".to_owned()));
    let is_spelled = is_by_the_way(&[&words[..spelled], &plain].concat());
    !is_spelled || is_by_the_way(&[&words[..1], &words[spelled..]].concat())
}

/// Whether `>` is all that made an `awk` program doubtful: it compares, or writes a file, but runs nothing.
fn compares_only(arguments: &[Word]) -> bool {
    let calm: Option<Vec<Word>> = arguments
        .iter()
        .map(|word| {
            Some(Word::Literal(
                word.literal()?.replace("||", "").replace('>', ""),
            ))
        })
        .collect();
    calm.is_some_and(|calm| awk(&calm).is_none())
}

fn interpreter(name: &str, arguments: &[Word]) -> Option<String> {
    let stem = stem(name);
    let (_, letters, long) = INTERPRETERS.iter().find(|(tool, ..)| *tool == stem)?;
    let inline = || Some(format!("`{name}` runs code that it is given"));
    let mut is_asked = false;
    for word in arguments {
        let Some(text) = word.literal() else {
            return inline();
        };
        match text {
            "--version" | "-V" | "--help" | "-h" => is_asked = true,
            "-v" if stem != "perl" => is_asked = true,
            "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" => return inline(),
            "-m" if stem == "python" || stem == "pypy" => return module(arguments, name),
            _ if text.starts_with("--") => {
                let option = text.split('=').next().unwrap_or(text);
                if long.iter().any(|known| known.starts_with(option)) {
                    return inline();
                }
            }
            _ if long.contains(&text) => return inline(),
            _ if text.starts_with('-') && text[1..].contains(|c| letters.contains(c)) => {
                return inline();
            }
            _ if text.starts_with('-') => {}
            _ => return None,
        }
    }
    match is_asked {
        true => None,
        false => Some(format!("`{name}` runs what it reads")),
    }
}

fn module(arguments: &[Word], name: &str) -> Option<String> {
    let at = arguments
        .iter()
        .position(|word| word.literal() == Some("-m"))?;
    match arguments.get(at + 1).and_then(Word::literal) {
        Some("timeit" | "code" | "pdb" | "IPython" | "cProfile" | "trace") | None => {
            Some(format!("`{name}` runs code that it is given"))
        }
        Some(_) => None,
    }
}

/// A program that neither writes nor runs is all in its text.
fn awk(arguments: &[Word]) -> Option<String> {
    let risk = || Some("an `awk` program may run a command".to_owned());
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let text = match word.literal() {
            Some(text) => text,
            None => return risk(),
        };
        match text {
            "-F" | "-v" => {
                rest.next();
            }
            "--version" => return None,
            _ if text.starts_with("-F") || text.starts_with("-v") => {}
            _ if text.starts_with('-') => return risk(),
            _ => {
                let is_calm = !text.contains(['|', '>', '@'])
                    && !text.contains("system")
                    && !text.contains("getline")
                    && !text.contains("close");
                return (!is_calm).then(risk).flatten();
            }
        }
    }
    risk()
}
