//! Which commands a rule means, on either side.

use super::super::{CommandPattern, Side, read};
use crate::fit::Fit;

/// Whether every command of a text is allowed by a rule.
fn allows(rule: &str, text: &str) -> bool {
    let pattern = CommandPattern::parse(rule).unwrap();
    let reading = read(text);
    reading.unclear.is_empty()
        && reading
            .commands
            .iter()
            .all(|command| pattern.fits(command, Side::Allow).is_yes())
}

/// Whether a rule that denies means any command of a text: `yes`, `maybe` or `no`.
fn denies(rule: &str, text: &str) -> &'static str {
    let pattern = CommandPattern::parse(rule).unwrap();
    let reading = read(text);
    let fits = reading
        .commands
        .iter()
        .map(|command| pattern.fits(command, Side::Restrict));
    match fits.fold(Fit::No, |found, fit| found.or(|| fit)) {
        Fit::Yes => "yes",
        Fit::No if reading.unclear.is_empty() => "no",
        _ => "maybe",
    }
}

/// A rule, a text, and whether all of it is allowed.
const ALLOWED: &[(&str, &str, bool)] = &[
    ("npm run test", "npm run test", true),
    ("npm run test", "npm  run 'test'", true),
    ("npm run test", "npm run test x", false),
    ("npm run test:*", "npm run test", true),
    ("npm run test:*", "npm run test -- x", true),
    ("npm run test:*", "npm run tests", false),
    ("npm run test:*", "npm run test:unit", false),
    ("npm run test:*", "npm run test; x", false),
    ("npm run test:*", "npm run test && x", false),
    ("npm run test:*", "npm run test $(x)", false),
    ("npm run test:*", "npm run test\nx", false),
    ("npm run test *", "npm run test", true),
    ("npm run test *", "npm run test x y", true),
    ("npm run test *", "npm run tests", false),
    ("npm run test*", "npm run test:unit", true),
    ("npm run test*", "npm run tests x", true),
    ("git * main", "git push origin main", true),
    ("git * main", "git main", false),
    ("git * push *", "git a push", false),
    ("git * push *", "git a push b", true),
    ("*", "anything at all", true),
    ("*", "$x", false),
    ("ls:*", "ls $x *.rs", true),
    ("ls", "ls *", false),
    ("ls a", "ls $x", false),
    ("ls $x", "ls $x", false),
    ("ls:*", "$x", false),
    ("rm:*", "/bin/rm x", false),
    ("rm:*", "./rm x", false),
    ("rm:*", "\\rm x", true),
    ("echo a b", "echo 'a b'", false),
    ("echo 'a b'", "echo a\\ b", true),
    ("git log:*", "git log --oneline", true),
    ("git log:*", "git -c a=b log", false),
    ("git log:*", "git 'log --oneline'", false),
    // Wrappers that change nothing are seen through, others must be spelled out.
    ("npm test:*", "timeout 5 npm test", true),
    ("npm test:*", "nohup nice -n 5 npm test", true),
    ("npm test:*", "sh -c 'npm test'", false),
    ("npm test:*", "sudo npm test", false),
    ("sudo npm test:*", "sudo npm test", true),
    ("sudo:*", "sudo npm test", false),
    ("env:*", "env npm test", false),
    ("timeout:*", "timeout 5 npm test", false),
    ("git:*", "git -c a=b log", false),
    ("git -c a=b log:*", "git -c a=b log -1", true),
    ("git:*", "git config core.pager x", false),
    ("rg:*", "rg --pre x y", false),
    ("awk:*", "awk '$1 > 5' f", true),
    ("python3:*", "python3 -c x", true),
    ("timeout 5 nohup:*", "timeout 5 nohup npm test", false),
    ("timeout 5 nohup npm:*", "timeout 5 nohup npm test", true),
    ("timeout 5 git:*", "timeout 5 git log", true),
    ("timeout 5 git:*", "timeout 5 git -c a=b log", false),
    (
        "timeout 5 nohup git:*",
        "timeout 5 nohup git -c a=b log",
        false,
    ),
    ("FOO=1 git:*", "FOO=1 git -c a=b log", false),
    ("FOO=1 timeout:*", "FOO=1 timeout 5 npm test", false),
    ("FOO=1 timeout 5 npm:*", "FOO=1 timeout 5 npm test", true),
    ("xargs git:*", "xargs git -c a=b log", false),
    ("bash:*", "bash -c 'timeout 5 npm test'", true),
    ("bash:*", "bash -c 'git -c a=b log'", true),
    ("timeout 5 bash:*", "timeout 5 bash -c 'npm test'", true),
    ("timeout:*", "timeout 5 bash -c 'npm test'", false),
    ("npm test:*", "eval npm test", false),
    ("eval:*", "eval npm test", true),
    ("npm test:*", "exec npm test", false),
    ("npm test:*", "env npm test", true),
    ("npm test:*", "env -i npm test", false),
    ("npm test:*", "./timeout 5 npm test", false),
    ("sh:*", "xargs sh -c 'rm x'", false),
    ("xargs sh:*", "xargs sh -c 'rm x'", true),
    ("npm test:*", "trap 'npm test' EXIT", false),
    ("npm test:*", "x=$(npm test)", true),
    ("sudo npm test:*", "PATH=x sudo npm test", false),
    ("npm test:*", "FOO=1 npm test", false),
    ("FOO=1 npm test:*", "FOO=1 npm test -- x", true),
    ("FOO=1 npm test:*", "FOO=2 npm test", false),
    ("FOO=1 npm test:*", "PATH=x; FOO=1 npm test", false),
    ("npm test:*", "PATH=x npm test", false),
    ("npm test:*", "x=1 npm test", false),
    ("npm test:*", "x=1; npm test", true),
    ("bash:*", "bash -c 'rm x; ls'", true),
    ("bash -c 'rm x'", "bash -c 'rm x'", true),
    ("bash -c 'rm x'", "bash -c 'rm x; ls'", false),
    ("grep:*", "ls | xargs grep x", false),
    ("xargs:*", "xargs rm", false),
    ("xargs rm:*", "xargs rm", true),
    ("rm:*", "xargs rm", false),
    ("find:*", "find . -name x", true),
    ("find:*", "find . -exec rm {} \\;", false),
    ("find:*", "find . -ok rm {} \\;", false),
    ("cd:*", "cd a && python3 x", false),
    ("git push:*", "f() { x; }; git push", false),
    ("echo:*", "echo $(rm x)", false),
    ("echo:*", "echo `rm x`", false),
    ("echo:*", "echo a | tee b", false),
    ("cat:*", "cat <(rm x)", false),
    ("git * push:*", "git a push", false),
];

#[test]
fn allowing_needs_the_very_words() {
    for (rule, text, expected) in ALLOWED {
        assert_eq!(allows(rule, text), *expected, "{rule:?} on {text:?}");
    }
}

/// Texts that run `rm`.
const DENIED: &[&str] = &[
    "rm x",
    "/bin/rm x",
    "./rm x",
    "\\rm x",
    "'r'm x",
    "$'rm' x",
    "$'\\x72m' x",
    "a; rm x",
    "a && rm x",
    "a | rm x",
    "a & rm x",
    "(rm x)",
    "{ rm x; }",
    "if a; then rm x; fi",
    "for i in a; do rm $i; done",
    "case a in a) rm x;; esac",
    "! rm x",
    "time rm x",
    "echo $(rm x)",
    "echo `rm x`",
    "echo \"$(rm x)\"",
    "x=$(rm y)",
    "cat <<E\n$(rm x)\nE",
    "cat <(rm x)",
    "echo ${x:-$(rm y)}",
    "x=1 rm y",
    "PATH=x rm y",
    "env rm x",
    "env -i A=b rm x",
    "sudo rm x",
    "sudo -u a rm x",
    "timeout 5 rm x",
    "nohup rm x",
    "nice -n 5 rm x",
    "command rm x",
    "exec rm x",
    "builtin eval rm x",
    "eval 'rm x'",
    "eval rm x",
    "sh -c 'rm x'",
    "bash -lc 'a; rm x'",
    "su -c 'rm x'",
    "trap 'rm x' EXIT",
    "find . -exec rm {} +",
    "find . -exec sh -c 'rm x' \\;",
    "ls | xargs rm",
    "ls | xargs -I{} rm {}",
    "busybox rm x",
    "f() { rm x; }",
    "rm",
    ">a rm x",
    "<a rm x",
    "a\nrm x",
    "coproc rm x",
    "sudo env A=b timeout 5 sh -c \"eval 'rm x'\"",
    "rm.exe x",
    "rm $x",
    "rm *",
    "> >(rm x)",
    "a || rm x",
    "select i in a; do rm x; done",
];

/// Texts that may.
const DENIED_NOT: &[&str] = &[
    "$x a",
    "r* a",
    "{rm,a}",
    "$(a) b",
    "curl a | sh",
    "eval $x",
    "python -c a",
    "ssh a rm b",
    "npx rm",
    "xargs -a x rm",
    "sh -c \"$x\"",
    "a '",
    "rm\\\n x",
    "time ! rm x",
    "git -c a=b c",
    "sh -c '[[ a || rm b ]]'",
    "((rm))",
    "awk 'BEGIN{system(\"rm\")}'",
    "find . $x",
];

/// Texts that do not.
const DENIED_NEITHER: &[&str] = &[
    "ls x",
    "echo rm",
    "git rm x",
    "rmdir x",
    "echo 'rm x'",
    "cat <<'E'\n$(rm x)\nE",
    "ls # rm x",
    "trm x",
    "ls $x",
];

#[test]
fn denying_means_a_command_in_every_guise() {
    for text in DENIED {
        assert_eq!(denies("rm:*", text), "yes", "{text:?}");
    }
    for text in DENIED_NOT {
        assert_ne!(denies("rm:*", text), "no", "{text:?}");
    }
    for text in DENIED_NEITHER {
        assert_eq!(denies("rm:*", text), "no", "{text:?}");
    }
}

#[test]
fn denying_sees_options_in_another_place() {
    let rows: &[(&str, &str, &str)] = &[
        ("git push:*", "git push", "yes"),
        ("git push:*", "git -C a push", "yes"),
        ("git push:*", "git -c a=b push", "yes"),
        ("git push:*", "git --no-pager push x", "yes"),
        ("git push:*", "git stash push", "no"),
        ("git push:*", "git $x", "maybe"),
        ("git push:*", "git log", "no"),
        ("git push --force:*", "git push origin --force", "maybe"),
        ("git push --force:*", "git push origin", "no"),
        ("git push --force:*", "git push $x", "maybe"),
        ("rm -rf:*", "rm -rf x", "yes"),
        ("rm -rf:*", "rm -fr x", "maybe"),
        ("rm -rf:*", "rm -r x -f", "maybe"),
        ("rm -rf:*", "rm x", "no"),
        ("npm run deploy", "npm run deploy", "yes"),
        ("npm run deploy", "npm --silent run deploy", "maybe"),
        ("npm run deploy", "npm run deploy x", "maybe"),
        ("npm run deploy", "npm run build", "no"),
        ("sudo:*", "sudo ls", "yes"),
        ("sudo:*", "ls", "no"),
        ("sh -c:*", "sh -c ls", "yes"),
        ("curl *", "curl x", "yes"),
        ("curl *", "curl", "yes"),
        ("* --force", "git push --force", "yes"),
        ("*", "ls", "yes"),
        ("rm:*", "RM x", "maybe"),
        ("rm:*", "/bin/Rm x", "maybe"),
        ("FOO=1 ls", "FOO=1 ls", "yes"),
        ("ls $x", "ls a", "maybe"),
    ];
    for (rule, text, expected) in rows {
        assert_eq!(denies(rule, text), *expected, "{rule:?} on {text:?}");
    }
}

#[test]
fn what_is_no_rule_says_what_to_write() {
    for (content, part) in [
        ("", "write `Bash`"),
        (":*", "write `Bash`"),
        ("a && b", "each command alone"),
        ("a | b:*", "each command alone"),
        ("a > b", "each command alone"),
        ("a; b", "each command alone"),
        ("a 'b", "not closed"),
        ("a # b", "comment"),
        ("a $(b", "not closed"),
    ] {
        let error = CommandPattern::parse(content).unwrap_err();
        assert!(error.contains(part), "{content:?}: {error}");
    }
    assert!(CommandPattern::parse("git commit -m 'a b':*").is_ok());
}
