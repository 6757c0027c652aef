//! What the real bash runs is what was read.
//!
//! Texts are made from a grammar of shell constructs and from loose fragments. Each that reads as clear is run by bash in
//! an empty folder where every command is a stub that writes down its name and arguments. Whatever ran must be among the
//! commands that were read. Texts that are unclear, or in which something may hide, are not run: they are never allowed,
//! and say so. `BASH_DIFFERENTIAL_SECONDS` makes it look longer.

#![cfg(unix)]

use std::cell::Cell;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use countersign_policy::shell::{Reading, Word, read};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};

/// Stubs that only write down that they ran.
const STUBS: [&str; 8] = ["git", "rm", "npm", "cat", "ls", "x1", "x2", "x3"];
/// Real programs that run others.
const REAL: [&str; 9] = [
    "env", "timeout", "nohup", "xargs", "find", "nice", "sh", "bash", "sleep",
];
/// Ends a word of a call in the log, and the call.
const ENDS: (char, char) = ('\u{1f}', '\u{1e}');

/// An empty place in which bash runs texts.
struct Stage {
    root: tempfile::TempDir,
    bash: PathBuf,
}

impl Stage {
    /// `None` without bash.
    fn new() -> Option<Self> {
        let bash = ["/bin/bash", "/usr/bin/bash"]
            .into_iter()
            .map(PathBuf::from)
            .find(|path| path.exists());
        let Some(bash) = bash else {
            println!("SKIPPED: there is no /bin/bash to compare with");
            return None;
        };
        let root = tempfile::tempdir().unwrap();
        let bin = root.path().join("bin");
        fs::create_dir(&bin).unwrap();
        let log = root.path().join("log");
        let note = format!(
            "l=${{0##*/}}; for a do l=\"$l{}$a\"; done; printf '%s{}' \"$l\" >> {}",
            ENDS.0,
            ENDS.1,
            log.display()
        );
        let script = |name: &str, then: &str| {
            let path = bin.join(name);
            fs::write(&path, format!("#!/bin/sh\n{note}\n{then}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        STUBS.iter().for_each(|name| script(name, ""));
        script(
            "sudo",
            "while :; do case $1 in -u) shift 2;; -n) shift;; *) break;; esac; done; exec \"$@\"",
        );
        for name in REAL {
            let real = ["/usr/bin", "/bin"]
                .into_iter()
                .map(|folder| Path::new(folder).join(name))
                .find(|p| p.exists());
            if let Some(real) = real {
                symlink(real, bin.join(name)).unwrap();
            }
        }
        Some(Self { root, bash })
    }

    /// What a text runs: names and arguments.
    fn run(&self, text: &str) -> Vec<Vec<String>> {
        let log = self.root.path().join("log");
        let work = self.root.path().join("work");
        let _ = fs::remove_dir_all(&work);
        fs::create_dir_all(work.join("sub")).unwrap();
        fs::write(work.join("a"), "a\nb\n").unwrap();
        fs::write(&log, "").unwrap();
        // What no stub is there for is written down too.
        let missing = format!(
            "() {{ local l=$1; shift; for a do l+={}$a; done; printf '%s{}' \"$l\" >> {}; }}",
            ENDS.0,
            ENDS.1,
            log.display()
        );
        // A copy of the output that no redirection closes: it tells when everything in the background is done.
        let child = Command::new("/bin/sh")
            .args(["-c", "exec 9>&1; exec \"$0\" --norc --noprofile -c \"$1\""])
            .args([self.bash.as_os_str(), text.as_ref()])
            .env_clear()
            .env("PATH", self.root.path().join("bin"))
            .env("HOME", &work)
            .env("BASH_FUNC_command_not_found_handle%%", missing)
            .current_dir(&work)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        finish(child, text);
        let log = fs::read(&log).unwrap();
        let calls = String::from_utf8_lossy(&log).into_owned();
        let words = |call: &str| call.split(ENDS.0).map(str::to_owned).collect();
        calls
            .split(ENDS.1)
            .filter(|call| !call.is_empty())
            .map(words)
            .collect()
    }
}

/// Waits until bash and all that it has started in the background are done: then nobody holds their output any more.
fn finish(mut child: Child, text: &str) {
    let mut output = child.stdout.take().unwrap();
    let (done, is_done) = mpsc::channel();
    let reader = thread::spawn(move || {
        let _ = output.read_to_end(&mut Vec::new());
        let _ = done.send(());
    });
    if is_done.recv_timeout(Duration::from_secs(10)).is_err() {
        let group = format!("-{}", child.id());
        let _ = Command::new("/bin/kill")
            .args(["-KILL", "--", &group])
            .status();
        let _ = child.wait();
        panic!("this does not end: {text:?}");
    }
    reader.join().unwrap();
    child.wait().unwrap();
}

/// Whether a call is what these words become: words that are not known are any number of words.
fn becomes(words: &[Word], call: &[String]) -> bool {
    match words.split_first() {
        None => call.is_empty(),
        Some((Word::Literal(text), rest)) => {
            let text = text.strip_prefix("~").map_or(text.as_str(), |_| "~");
            call.split_first()
                .is_some_and(|(first, call)| (first == text || text == "~") && becomes(rest, call))
        }
        Some((_, rest)) => (0..=call.len()).any(|skip| becomes(rest, &call[skip..])),
    }
}

/// Whether a reading says that not all of it is known.
fn says_so(reading: &Reading) -> bool {
    !reading.unclear.is_empty()
        || reading
            .commands
            .iter()
            .any(|command| command.hides.is_some())
}

/// The call that was not read, if there is one.
fn missed(stage: &Stage, text: &str, reading: &Reading) -> Option<Vec<String>> {
    stage.run(text).into_iter().find(|call| {
        let is_read = reading.commands.iter().any(|command| {
            becomes(&command.words, call) || command.through.iter().any(|label| *label == call[0])
        });
        !is_read
    })
}

/// Looks for a text whose reading misses something, for a while; how many were clear, of how many.
fn look(texts: impl Strategy<Value = String>, seconds: u64) -> Option<(usize, usize)> {
    let stage = Stage::new()?;
    let longer = std::env::var("BASH_DIFFERENTIAL_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs(longer.unwrap_or(seconds));
    let (clear, all, has_failed) = (Cell::new(0), Cell::new(0), Cell::new(false));
    let mut runner = TestRunner::new(Config {
        cases: u32::MAX,
        max_global_rejects: 1,
        max_shrink_time: 30_000,
        failure_persistence: None,
        ..Config::default()
    });
    let found = runner.run(&texts, |text| {
        if Instant::now() > end && !has_failed.get() {
            return Err(TestCaseError::reject("time is up"));
        }
        all.set(all.get() + 1);
        let reading = read(&text);
        if says_so(&reading) {
            return Ok(());
        }
        clear.set(clear.get() + 1);
        match missed(&stage, &text, &reading) {
            None => Ok(()),
            Some(call) => {
                has_failed.set(true);
                Err(TestCaseError::fail(format!(
                    "bash ran {call:?}, which was not read"
                )))
            }
        }
    });
    match found {
        Err(TestError::Fail(why, text)) => {
            panic!("{why}\n--- text\n{text}\n--- read as\n{:#?}", read(&text))
        }
        Ok(()) | Err(TestError::Abort(_)) => Some((clear.get(), all.get())),
    }
}

/// In single quotes.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Names of commands, plain and in disguise.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(&STUBS[..]).prop_map(str::to_owned),
        1 => prop::sample::select(vec![
            "r'm'", "\\rm", "\"rm\"", "$'rm'", "$'\\x72m'", "r\"\"m", "'x1'x", "rm\\\n", "r\\\nm", "./rm", "x1#", "x=1x", "x1=",
            "-x1", "{x1,x2}", "x[1]", "~", "$x1", "%1", "x1?", "[", "]", "!x1", "x!1", "=x1", "x1:", "@x1", "+x1", ".x1",
            "time", "in", "do", "esac", "x1\u{a0}", "é1",
        ]).prop_map(str::to_owned),
    ]
}

/// Words, with commands inside.
fn word(inner: impl Strategy<Value = String> + Clone + 'static) -> BoxedStrategy<String> {
    let plain = prop::sample::select(vec![
        "a",
        "b",
        "-f",
        "--x=y",
        "''",
        "'a b'",
        "\"a b\"",
        "a\\ b",
        "$x",
        "\"$x\"",
        "${x}",
        "${x:-y}",
        "\"${x:-y}\"",
        "${#x}",
        "$'a\\tb'",
        "$'it\\'s'",
        "$'a\\\\'",
        "*",
        "a*",
        "{a,b}",
        "{1..3}",
        "~",
        "~/a",
        "'~'",
        "a#b",
        "\\#a",
        "'#'",
        "\"#\"",
        "$((1+2))",
        "a=b",
        "a=(b)",
        "\\;",
        "';'",
        "\";\"",
        "\\&",
        "{}",
        "{",
        "[a]",
        "a]",
        "[",
        "!",
        "!a",
        "\\\n",
        "a\\\nb",
        "\"a\\\nb\"",
        "$",
        "\"$\"",
        "$\"a\"",
        "\"\\$x\"",
        "\"\\`\"",
        "\\`",
        "'`'",
        "`",
        "1",
        "2>&1",
        "a{b",
        "}",
        "a,b",
        "..",
        "$?",
        "$#",
        "$@",
        "\"$@\"",
        "if",
        "then",
        "do",
        "done",
        "in",
        "esac",
        "case",
        "\"'\"",
        "'\"'",
        "\\'",
        "\\\"",
        "\\\\",
        "${x%\\}}",
        "${x#'}'}",
        "\"${x:-'}'}\"",
        "é",
        "\u{a0}",
        "\t",
        "a\tb",
    ])
    .prop_map(str::to_owned);
    prop_oneof![
        6 => plain,
        1 => inner.clone().prop_map(|text| format!("$({text})")),
        1 => inner.clone().prop_map(|text| format!("\"a $({text}) b\"")),
        1 => inner.clone().prop_map(|text| format!("`{}`", text.replace('\\', "\\\\").replace('`', "\\`").replace('$', "\\$"))),
        1 => inner.clone().prop_map(|text| format!("`{text}`")),
        1 => inner.clone().prop_map(|text| format!("\"`{text}`\"")),
        1 => inner.clone().prop_map(|text| format!("${{x:-$({text})}}")),
        1 => inner.clone().prop_map(|text| format!("\"${{x:+$({text})}}\"")),
        1 => inner.clone().prop_map(|text| format!("<({text})")),
        1 => inner.clone().prop_map(|text| format!("$(({text}))")),
        1 => inner.prop_map(|text| format!("a$({text})")),
    ]
    .boxed()
}

/// A command with arguments, assignments, redirections.
fn simple(inner: impl Strategy<Value = String> + Clone + 'static) -> BoxedStrategy<String> {
    let before = prop::sample::select(vec![
        "", "", "", "", "x=1 ", "x= ", "x=a y=b ", "> o ", "! ", "x+=1 ", "x=(a b) ", "{ ",
        "x='a b' ",
    ]);
    let after = prop::sample::select(vec![
        "",
        "",
        "",
        "",
        " > o",
        " >> o",
        " 2>&1",
        " 2> /dev/null",
        " &> o",
        " < a",
        " <<< a",
        " >| o",
        " >&o",
        " 2>&-",
        " <> a",
        " 1>o",
        " # a",
        " #",
        " {f}> o",
        " <<< 'a b'",
        " >o b",
        " &>> o",
    ]);
    (
        before,
        name(),
        prop::collection::vec(word(inner), 0..3),
        after,
    )
        .prop_map(|(before, name, words, after)| {
            let words: Vec<String> = words.into_iter().map(|word| format!(" {word}")).collect();
            format!("{before}{name}{}{after}", words.concat())
        })
        .boxed()
}

/// A command that runs another.
fn wrapped(inner: impl Strategy<Value = String> + Clone + 'static) -> BoxedStrategy<String> {
    let words = prop::sample::select(vec![
        "sudo",
        "sudo -u a",
        "env",
        "env x=1",
        "env -u x",
        "timeout 5",
        "nohup",
        "command",
        "exec",
        "time",
        "time -p",
        "nice -n 1",
        "nice -5",
        "xargs",
        "xargs -n 1",
        "xargs -I % ",
        "builtin",
        "coproc",
        "command -p",
        "exec -a x",
        "env -i",
        "nohup env",
        "eval",
        "!",
        "time !",
        "time x=1",
        "command time",
        "timeout -s KILL 5",
        "xargs -t",
        "env --",
        "sudo --",
        "setsid",
    ]);
    let texts = prop::sample::select(vec![
        "sh -c",
        "bash -c",
        "eval",
        "bash -ec",
        "sh -c --",
        "bash -euo pipefail -c",
        "eval --",
        "env sh -c",
    ]);
    prop_oneof![
        (words, inner.clone()).prop_map(|(words, text)| format!("{words} {text}")),
        (texts, inner.clone()).prop_map(|(words, text)| format!("{words} {}", quoted(&text))),
        inner
            .clone()
            .prop_map(|text| format!("find . -maxdepth 0 -exec {text} \\;")),
        inner
            .clone()
            .prop_map(|text| format!("find . -maxdepth 0 -exec {text} {{}} +")),
        inner.prop_map(|text| format!("trap {} EXIT", quoted(&text))),
    ]
    .boxed()
}

/// Commands put together.
fn compound(inner: impl Strategy<Value = String> + Clone + 'static) -> BoxedStrategy<String> {
    let join = prop::sample::select(vec![
        "; ",
        " && ",
        " || ",
        " | ",
        "\n",
        ";",
        " |& ",
        "&&",
        "|",
        " & ",
        "||",
        "\n\n",
        " \\\n && ",
        " # a\n",
        ";;",
        " &&\n",
        " & \n",
    ]);
    let two = (inner.clone(), join, inner.clone()).prop_map(|(a, join, b)| format!("{a}{join}{b}"));
    let around = prop::sample::select(vec![
        "(%)",
        "( % )",
        "{ %; }",
        "if %; then :; fi",
        "if :; then %; fi",
        "if ! %; then :; else %; fi",
        "for i in a b; do %; done",
        "while ! :; do %; done",
        "until %; do break; done",
        "while %; do break; done",
        "case a in a) %;; esac",
        "case a in (b) ;; *) % ;; esac",
        "case a in a) % ;& b) :; esac",
        "case a in\n a|b)\n%\n;;\nesac",
        "f() { %; }; f",
        "function f { %; }; f",
        "[[ a == a ]] && %",
        "[[ -n $(%) ]]",
        "[ -n a ] && %",
        "! %",
        "%; :",
        "for i in $(%); do :; done",
        "x=$(%)",
        "x=\"$(%)\" y=b",
        "x=(a $(%))",
        "export x=$(%)",
        "case $(%) in *) :; esac",
        "[[ a =~ a ]] && %",
        "[[ ( a == a ) && b < c ]] || %",
        "(%) > o",
        "{ %; } 2>&1 | cat",
        "cd sub && %",
        "time { %; }",
        "for i; do %; done; %",
        "if :\nthen\n%\nfi",
        "for i in a\ndo %\ndone",
        "(( 1 )) && %",
        "select i in a; do %; break; done < a",
        "echo a; % &",
        "declare x=$(%)",
        "x[1]=$(%)",
        "set -- a b; %",
        "true && ! %",
        "if false; then :; elif %; then :; fi",
        "{ % ; }",
        "{ %\n}",
        "(%\n)",
        "((%))",
        "( (%) )",
        "coproc { %; }",
        "coproc X { %; }",
    ]);
    let single = (around, inner.clone()).prop_map(|(around, text)| around.replace('%', &text));
    let here = prop::sample::select(vec![
        "cat <<E\n%\nE\n",
        "cat <<E\na $(%) b\nE\n",
        "cat <<'E'\n$(%)\nE\n",
        "cat <<-E\n\t%\n\tE\n",
        "cat <<E | x1\n%\nE\n",
        "cat <<E && %\na\nE\n",
        "cat <<E; %\na\nE\n",
        "cat <<A <<B\n%\nA\n%\nB\n",
        "x1 $(cat <<E\n%\nE\n)",
        "cat <<\\E\n`%`\nE\n",
        "cat <<E\n`%`\nE\n%",
        "cat <<\"E\"\n%\nE\n%",
        "cat <<E > o\n%\nE\n%",
        "cat <<E\n\\$(%)\nE\n",
        "cat <<E\n%\\\nE\nE\n%",
        "x1 \"$(cat <<'E'\nit's ($(%)\nE\n)\"",
        "cat <<E a\n${x:-$(%)}\nE\n%",
        "bash <<E\n%\nE\n",
        "cat << E\n%\n E\nE\n%",
        "while :; do cat <<E; break; done\n%\nE\n",
        "cat <<''\n%\n\n%",
        "cat <<E\n%",
    ]);
    let document = (here, inner).prop_map(|(around, text)| around.replace('%', &text));
    prop_oneof![4 => two, 4 => single, 1 => document].boxed()
}

/// Texts by the grammar.
fn texts() -> impl Strategy<Value = String> {
    let leaf = simple(Just("x3".to_owned()));
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![3 => simple(inner.clone()), 2 => wrapped(inner.clone()), 4 => compound(inner)]
    })
}

/// Texts of fragments that fit together by luck.
fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop::sample::select(vec![
        "x1",
        "x2",
        "rm",
        "a",
        " ",
        " ",
        " ",
        " ",
        "\n",
        ";",
        "&",
        "|",
        "&&",
        "||",
        "(",
        ")",
        "{",
        "}",
        "'",
        "\"",
        "`",
        "$",
        "$(",
        "${",
        "\\",
        "#",
        "<",
        ">",
        "<<",
        "<<<",
        "E",
        "\nE\n",
        "=",
        "!",
        "*",
        "[",
        "]",
        "[[ ",
        " ]]",
        "~",
        "$'",
        "$\"",
        "if ",
        "then ",
        "fi",
        "case ",
        " in ",
        "esac",
        ";;",
        "for ",
        "do ",
        "done",
        "x=",
        "\\\n",
        "\t",
        "-",
        "1",
        "2>",
        "+",
        "eval ",
        "time ",
        "case a in a) ",
        "((",
        "))",
        "<(",
        ",",
        "..",
        ":",
        "@",
        "function ",
        "() ",
        "coproc ",
        "exec ",
        "-c ",
        "sh -c ",
        "%",
        "^",
        "}\n",
        "{ ",
        "; }",
        "'a'",
        "\"a\"",
        "$x",
        "${x",
        ":-",
        "while ",
        "<&",
        ">&",
    ]);
    prop::collection::vec(fragment, 1..14).prop_map(|fragments| fragments.concat())
}

#[test]
fn what_bash_runs_was_read() {
    if let Some((clear, all)) = look(texts(), 14) {
        println!("{clear} of {all} texts were clear, and bash ran nothing else");
        // Otherwise nothing has been shown.
        assert!(clear * 10 > all, "only {clear} of {all} texts were clear");
    }
}

#[test]
fn what_bash_runs_of_loose_fragments_was_read() {
    if let Some((clear, all)) = look(fragments(), 6) {
        println!("{clear} of {all} texts were clear, and bash ran nothing else");
        assert!(clear * 500 > all, "only {clear} of {all} texts were clear");
    }
}
