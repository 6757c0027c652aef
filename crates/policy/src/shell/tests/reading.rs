//! What a text runs, through what, and where.

use super::super::{Folder, Word, read};
use super::{among, commands, into, last};

/// Texts and their commands.
const LISTED: &[(&str, &[&str])] = &[
    ("git log", &["git log"]),
    ("git log; rm -rf x", &["git log", "rm -rf x"]),
    ("a && b || c & d\ne", &["a", "b", "c", "d", "e"]),
    ("a | b |& c", &["a", "b", "c"]),
    ("(a; b) && { c; }", &["a", "b", "c"]),
    (
        "if a; then b; elif c; then d; else e; fi",
        &["a", "b", "c", "d", "e"],
    ),
    (
        "while a; do b; done; until c; do d; done",
        &["a", "b", "c", "d"],
    ),
    ("for i in $(a); do b; done", &["$(…) > a", "b"]),
    ("case $(a) in b|c) d;; *) e; esac", &["$(…) > a", "d", "e"]),
    ("! a; time -p b; coproc c", &["a", "time > b", "coproc > c"]),
    (
        "[[ -n $(a) && b == c ]] && d",
        &["$(…) > a", "[[ -n ‹$(a)› b == c ]]", "d"],
    ),
    ("[ -f a ] && b", &["[ -f a ]", "b"]),
    (
        "a `b \\`c\\`` \"$(d)\"",
        &[
            "`…` > `…` > c",
            "`…` > b ‹`c`›",
            "$(…) > d",
            "a ‹`b \\`c\\``› ‹\"$(d)\"›",
        ],
    ),
    (
        "a ${x:-$(b)} \"${y:+`c`}\"",
        &["$(…) > b", "`…` > c", "a ‹${x:-$(b)}› ‹\"${y:+`c`}\"›"],
    ),
    ("a <(b) > >(c)", &[">(…) > c", "<(…) > b", "a ‹<(b)›"]),
    ("x=$(a) y=`b` c", &["$(…) > a", "`…` > b", "c"]),
    ("x=$(a)", &["$(…) > a"]),
    ("x=(a $(b))", &["$(…) > b"]),
    (
        "cat <<E\n$(a) `b` \nE\nc",
        &["$(…) > a", "`…` > b", "cat", "c"],
    ),
    ("cat <<'E'\n$(a)\nE\nc", &["cat", "c"]),
    ("cat <<-E | b\n\t$(a)\n\tE\n", &["$(…) > a", "cat", "b"]),
    (
        "a \"$(cat <<'E'\nit's (odd) `b` $(c)\nE\n)\"",
        &[
            "$(…) > cat",
            "a ‹\"$(cat <<'E'\nit's (odd) `b` $(c)\nE\n)\"›",
        ],
    ),
    ("cat <<< $(a)", &["$(…) > a", "cat"]),
    ("a # b; c\nd", &["a", "d"]),
    ("a b#c 'd;e' \"f|g\" h\\;i", &["a b#c d;e f|g h;i"]),
    ("a \\\n  b", &["a b"]),
    ("> f a 2>&1", &["a"]),
];

#[test]
fn every_command_of_a_text_is_listed() {
    for (text, expected) in LISTED {
        assert_eq!(commands(text), *expected, "{text:?}");
    }
}

#[test]
fn quotes_are_removed_and_what_is_not_known_says_so() {
    let rows: &[(&str, &str)] = &[
        ("'r'm", "rm"),
        ("\\rm", "rm"),
        ("r\"\"m", "rm"),
        ("$'rm'", "rm"),
        ("$'\\x72\\155'", "rm"),
        ("a 'b c' \"d e\" f\\ g ''", "a b c d e f g "),
        ("a $'it\\'s\\t'", "a it's\t"),
        ("a \"\\$x \\a \\\\ \\\"\"", "a $x \\a \\ \""),
        ("a *.rs 'b*' c\\*? [ab]", "a «*.rs» b* «c\\*?» «[ab]»"),
        ("a {b,c} {1..3} {} {d}", "a ‹{b,c}› ‹{1..3}› {} {d}"),
        ("a ~ ~/b ~c '~' '~/d' '~5'", "a ~ ~/b ‹~c› ‹'~'› ‹'~/d'› ~5"),
        (
            "a $x \"$y\" ${z} $1 $? a$",
            "a ‹$x› ‹\"$y\"› ‹${z}› ‹$1› ‹$?› a$",
        ),
        ("a $((1 + 2)) =b", "a ‹$((1 + 2))› ‹=b›"),
    ];
    for (text, expected) in rows {
        assert_eq!(commands(text), [*expected], "{text:?}");
    }
}

/// Rows.
const WRAPPERS_ARE_LOOKED_THROUGH: &[(&str, &[&str])] = &[
    ("sudo -E -u root apt install x", &["sudo > apt install x"]),
    ("doas rm x", &["doas > rm x"]),
    ("env -u A B=c rm x", &["env > rm x"]),
    ("env -i rm x", &["env > rm x"]),
    ("timeout -k 1 5s rm x", &["timeout > rm x"]),
    (
        "nohup nice -n 5 ionice -c 2 -n 7 stdbuf -oL setsid rm x",
        &["nohup > nice > ionice > stdbuf > setsid > rm x"],
    ),
    (
        "command rm x; builtin cd y; exec -a b rm z",
        &["command > rm x", "builtin > cd y", "exec > rm z"],
    ),
    ("time -p rm x", &["time > rm x"]),
    ("sh -c 'rm x; ls'", &["sh -c > rm x", "sh -c > ls"]),
    ("bash -euo pipefail -c 'rm x' a b", &["bash -c > rm x"]),
    ("bash -lc \"sh -c 'rm x'\"", &["bash -c > sh -c > rm x"]),
    ("eval rm x \\; ls", &["eval > rm x", "eval > ls"]),
    ("su - root -c 'rm x'", &["su -c > rm x"]),
    ("trap 'rm x' EXIT", &["trap > rm x"]),
    ("busybox rm x", &["busybox > rm x"]),
    (
        "ls | xargs -0 -n 1 rm -f",
        &["ls", "xargs > rm -f ‹what `xargs` reads›"],
    ),
    (
        "ls | xargs -I{} mv {} y/{}",
        &["ls", "xargs > mv ‹{}› ‹y/{}›"],
    ),
    ("ls | xargs", &["ls", "xargs > echo ‹what `xargs` reads›"]),
    (
        "find . -name '*.o' -exec rm {} \\; -execdir cp {} x +",
        &["find -exec > rm ‹{}›", "find -execdir > cp ‹{}› x ‹+›"],
    ),
    (
        "find . -ok rm {} ';'",
        &["find -ok > rm ‹{}›", "find . -ok rm {} ;"],
    ),
    ("/usr/bin/env rm x", &["env > rm x"]),
    ("command -v rm", &["command -v rm"]),
    (
        "sudo bash -c 'eval \"rm x\"'",
        &["sudo > bash -c > eval > rm x"],
    ),
];

#[test]
fn wrappers_are_looked_through() {
    for (text, expected) in WRAPPERS_ARE_LOOKED_THROUGH {
        match expected {
            // Not closed: nothing of it is looked through.
            [.., odd] if odd.contains("‹+›") => assert!(last(text).hides.is_some(), "{text:?}"),
            _ => assert_eq!(commands(text), *expected, "{text:?}"),
        }
    }
}

#[test]
fn relative_paths_lead_where_cd_leads() {
    let rows: &[(&str, Folder)] = &[
        ("ls", Folder::Start),
        ("cd a && ls", into("a")),
        ("cd a && cd b && ls", into("a/b")),
        ("cd a && cd /b && ls", into("/b")),
        ("cd && ls", into("~")),
        ("cd ~/a && ls", into("~/a")),
        ("cd -P -- a && ls", into("a")),
        ("cd - && ls", among(&[".", "~"])),
        ("cd $x && ls", among(&[".", "~"])),
        ("cd ~a && ls", among(&[".", "~"])),
        // It may have failed.
        ("cd a; ls", among(&[".", "a"])),
        ("cd a || ls", among(&[".", "a"])),
        ("cd a && b || ls", among(&[".", "a"])),
        ("(cd a); ls", Folder::Start),
        ("cd a & ls", Folder::Start),
        ("echo $(cd a); ls", Folder::Start),
        ("sh -c 'cd a'; ls", Folder::Start),
        ("eval 'cd a' && ls", among(&[".", "a"])),
        ("if b; then cd a; fi; ls", among(&[".", "a"])),
        ("pushd a && ls", into("a")),
        ("pushd a && popd && ls", among(&["a", "~", "."])),
        ("while b; do ls; cd a; done", among(&[".", "a", "~"])),
        ("env -C a ls", into("a")),
        ("cd a && env -C b ls", into("a/b")),
        ("git -C a status", into("a")),
        ("cd a && git -C b status", into("a/b")),
        ("make -C a", into("a")),
        ("make -C$x", among(&[".", "~"])),
        ("trap ls EXIT", among(&[".", "~"])),
        (". ./a && ls", among(&[".", "~"])),
        ("cd a; cd b; ls", among(&[".", "a", "b", "a/b"])),
        (
            "cd ~; cd .ssh; cd ..; ls",
            among(&[".", "~", ".ssh", "~/.ssh", "..", "~/.."]),
        ),
        ("tar --directory=a", among(&[".", "a"])),
    ];
    for (text, expected) in rows {
        assert_eq!(last(text).folder, *expected, "{text:?}");
    }
}

#[test]
fn files_that_are_redirected_are_listed_and_streams_are_not() {
    let rows: &[(&str, &[(bool, &str)])] = &[
        ("a > b", &[(true, "b")]),
        ("a >> b 2>c <d", &[(true, "b"), (true, "c"), (false, "d")]),
        ("a &> b", &[(true, "b")]),
        ("a >| b", &[(true, "b")]),
        ("a >& b", &[(true, "b")]),
        ("{ a; } > b", &[(true, "b")]),
        ("while a; do b; done < c", &[(false, "c")]),
        ("> a", &[(true, "a")]),
        ("a > $x", &[(true, "$x")]),
        ("sh -c 'a > b'", &[(true, "b")]),
        ("a $(b < c)", &[(false, "c")]),
        ("a > /dev/tty", &[(true, "/dev/tty")]),
        (
            "a 2>&1 > /dev/null 2> /dev/stderr < /dev/fd/3 >&- 2>&1-",
            &[],
        ),
        ("a <<E\nb\nE", &[]),
        ("a <<< b", &[]),
        ("a < <(b) > >(c)", &[]),
        ("a < <(b)c", &[(false, "<(b)c")]),
        ("a $(< b)", &[(false, "b")]),
    ];
    for (text, expected) in rows {
        let reading = read(text);
        let found: Vec<(bool, &str)> = reading
            .redirects
            .iter()
            .map(|r| (r.writes, r.target.shown()))
            .collect();
        assert_eq!(found, *expected, "{text:?}: {:?}", reading.unclear);
    }
    assert_eq!(read("cd a && b > c").redirects[0].folder, into("a"));
    assert_eq!(
        read("a > 'b c'").redirects[0].target,
        Word::Literal("b c".to_owned())
    );
}

/// Texts that cannot be read.
const UNCLEAR: &[&str] = &[
    "",
    " \n",
    "# a",
    "x=1",
    "a\0b",
    "ls\r\nrm x",
    "ls\u{a0}-la",
    "ls\u{2003}x",
    "a\u{b}b",
    "a '",
    "a \"",
    "a `b",
    "a $(b",
    "a ${b",
    "a \\",
    "a &&",
    "a | ",
    "a )",
    "( a",
    "{ a",
    "if a",
    "for",
    "case a in",
    "a ;; b",
    "a <<E\nb",
    "a <<E",
    "a <<$x\nb\n$x",
    "f() { a; }",
    "function f { a; }",
    "((1))",
    "$((x))",
    "a $((x+1))",
    "a $[1]",
    "a $((b[$(c)]))",
    "for ((;;)); do a; done",
    "a[1]=2",
    "a >&$'\\'b'",
    "a >&'b'",
    "a >&'$(b)'",
    "a 2>&$x",
    "a <&\"$x\"",
    "$(a {; b)",
    "cat <<E $(a\nb)\nc\nE\n",
    "x=(a b): c",
    "x=(a)b c",
    "a[$(b)]=1",
    "a=([1]=$(b))",
    "a ${b[$(c)]}",
    "a ${!b}",
    "a ${b@P}",
    "a ${b:$c}",
    "a ${b:=c}",
    "a ${ b; }",
    "a ${(e)b}",
    "[[ a =~ (b) ]]",
    "[[ $a -eq 1 ]]",
    "[[ 'a[$(b)]' -eq 1 ]]",
    "[[ -v a[$b] ]]",
    "a *(b)",
    "a !(b)",
    "a {f}> b",
    "a b<(c)",
    "a >&-b",
    "a <& -b",
    "a > /dev/tcp/b/1",
    "r\\\nm",
    "time { a; }",
    "coproc { a; }",
    "coproc A { b; }",
    "{ a } b",
    "echo }",
    "\"${a:-'b'}\"",
    "a <<E\nb\\\nE\nE",
    "$(case a in b) c;; esac)",
    "a $'\\cx'",
    "a &; b",
    "! ",
    "[[ a ]] b",
    "if a; then b; fi c",
];

#[test]
fn what_cannot_be_read_is_unclear() {
    for text in UNCLEAR {
        let reading = read(text);
        assert!(!reading.unclear.is_empty(), "{text:?}: {reading:#?}");
    }
}
