//! Shell texts, by a grammar that is as odd as it can be, and of loose fragments.

use proptest::prelude::*;

use crate::stage::STUBS;

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
    let target = (
        prop::sample::select(vec![
            " >", " > ", " >>", " <", " >&", " <&", " &>", " 2>", " <<<", " >|", " 2>&",
        ]),
        word(inner.clone()),
    );
    let target = target.prop_map(|(operator, word)| format!("{operator}{word}"));
    let after = prop_oneof![4 => after.prop_map(str::to_owned), 1 => target];
    let words = prop::collection::vec(word(inner), 0..3);
    (before, name(), words, after)
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
pub(crate) fn texts() -> impl Strategy<Value = String> {
    let leaf = simple(Just("x3".to_owned()));
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![3 => simple(inner.clone()), 2 => wrapped(inner.clone()), 4 => compound(inner)]
    })
}

/// Texts of fragments that fit together by luck.
pub(crate) fn fragments() -> impl Strategy<Value = String> {
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

/// Texts by the grammar with a few characters put in, taken out or exchanged.
pub(crate) fn damaged() -> impl Strategy<Value = String> {
    let special: Vec<char> = " \t\n;&|()<>{}[]$`'\"\\#!*?~=+-:,@%^/xEr1"
        .chars()
        .collect();
    let edit = (
        any::<prop::sample::Index>(),
        prop::sample::select(special),
        0..3u8,
    );
    (texts(), prop::collection::vec(edit, 1..4)).prop_map(|(text, edits)| {
        let mut chars: Vec<char> = text.chars().collect();
        for (index, c, kind) in edits {
            let at = index.index(chars.len() + 1);
            match (kind, chars.get_mut(at)) {
                (0, Some(old)) => *old = c,
                (1, Some(_)) => {
                    chars.remove(at);
                }
                _ => chars.insert(at, c),
            }
        }
        chars.into_iter().collect()
    })
}
