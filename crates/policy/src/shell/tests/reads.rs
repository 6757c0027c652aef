//! What only reads, and which words may be paths.

use super::super::{Word, read};
use super::last;

/// Commands that only read.
const READING: &[&str] = &[
    "ls -la",
    "cat a",
    "cat $x",
    "head -5 a",
    "tail -f a",
    "wc -l a",
    "grep -rn 'a b' .",
    "rg -n foo src",
    "rg foo -g '*.rs' --hidden",
    "pwd",
    "echo $x",
    "find . -name '*.rs' -type f",
    "find src -maxdepth 2 -not -path './x/*' -print",
    "sort -k1,1 -t, a",
    "sort ./*",
    "uniq -c a",
    "date +%s",
    "git status",
    "git log --oneline -5",
    "git diff HEAD~1 -- a",
    "git --no-pager show abc",
    "git blame a",
    "git branch -a",
    "git stash list",
    "git grep foo",
    "git rev-parse HEAD",
    "git config --get user.name",
    "sed -n 1,20p a",
    "sed 's/a/b/g' a",
    "test -f a",
    "[ -f a ]",
    "[[ -f a ]]",
    "command -v git",
    "which git",
    "printf '%s' a",
    "diff a b",
    "diff <(ls a) <(ls b)",
    "cd a",
    "true",
    "jq .a b",
    "LANG=C sort a",
    "timeout 5 cat a",
    "tree -L 2",
    "stat a",
    "uname -a",
    "read -r line",
    "git stash show -p",
    "git tag -l v1",
    "git branch --list x",
    "node --version",
    "ps aux",
    "ps -ef",
    "export LANG=C",
    "set -e",
];

#[test]
fn only_reading_is_known_by_a_short_list() {
    for text in READING {
        let command = last(text);
        assert!(command.only_reads(), "{text:?}: {command:?}");
    }
}

/// Commands that do more.
const NOT_READING: &[&str] = &[
    "rm a",
    "env",
    "printenv",
    "set",
    "export -p",
    "declare",
    "ps e",
    "ps auxe",
    "ps -E",
    "jq -n env",
    "jq -n '$ENV'",
    "sh -c ls",
    "eval ls",
    "xargs cat",
    "node --version -e x",
    "git tag -d -l x",
    "git branch --list -D x",
    "git stash show --ext-diff",
    "trap ls EXIT",
    "npm test",
    "./ls",
    "/tmp/ls",
    "sort -o a b",
    "sort -ao b",
    "sort -oa b",
    "sort --output=a b",
    "sort --outp a b",
    "sort --compress-program=a b",
    "sort --compress-prog a b",
    "sort * ",
    "sort $x",
    "sort -T a b",
    "uniq a b",
    "uniq - b",
    "find . -delete",
    "find . -exec a {} \\;",
    "find . -execdir a {} \\;",
    "find . -ok a {} \\;",
    "find . -fprint a",
    "find . -fprintf a b",
    "find . -fls a",
    "find . -fprint0 a",
    "find . $x",
    "find * -name a",
    "rg --pre a b",
    "rg --pre=a b",
    "rg --hostname-bin a b",
    "rg -z a",
    "rg --search-zip a",
    "rg $x",
    "git log --output=a",
    "git log --outp=a",
    "git log --o a",
    "git diff --ext-diff",
    "git diff --ext",
    "git diff --textconv",
    "git -c core.pager=a log",
    "git -c a=b status",
    "git --exec-path=a status",
    "git -p log",
    "git -C a status",
    "git --git-dir=a log",
    "cd a && git status",
    "git grep -O a",
    "git grep -Oless a",
    "git grep --open-files-in-pager=a b",
    "git grep --open a",
    "git status $x",
    "git branch a",
    "git branch -D a",
    "git branch -m a",
    "git tag a",
    "git stash",
    "git stash pop",
    "git remote add a b",
    "git config a b",
    "git config --get-regexp --edit",
    "git ls-remote --upload-pack=a b",
    "git fetch",
    "git push",
    "git archive -o a",
    "git show --show-signature",
    "git cat-file --filters a",
    "git reflog expire",
    "git notes add",
    "git alias",
    "date -s a",
    "date --set=a",
    "date 0101",
    "date -I 0101",
    "hostname a",
    "sed -i s/a/b/ c",
    "sed --in-place s/a/b/ c",
    "sed 'w a' b",
    "sed s/a/b/w\\ c d",
    "sed 1e b",
    "sed s/a/b/e c",
    "sed -n '/a/w b' c",
    "sed $x",
    "sed -ni p a",
    "tree -o a",
    "tree -R -H a",
    "file -C a",
    "jq -f a b",
    "man ls",
    "less a",
    "awk 1 a",
    "xargs rm",
    "tee a",
    "env a",
    "env PATH=a ls",
    "PATH=a ls",
    "sudo ls",
    "$x",
    "alias",
    "export PATH=a",
    "read PATH",
    "set -k",
    "printf -v a b",
    "test -v 'a[$(b)]'",
    "xxd -r a b",
    "dd if=a",
    "base64 -o a",
    "column --odd",
    "fd -x rm",
    "fd --exec rm",
    "diff --odd a b",
    "history -w",
    "cp a b",
    "touch a",
    "cat() { rm; }; cat",
    "alias cat=rm; cat a",
    "awk 'BEGIN{system(\"a\")}'",
    "python -c a",
    "sh -c $x",
    "ls\u{a0}",
    "exec a",
    "command a",
    "date -f a",
    "ps; rm a",
];

#[test]
fn what_writes_or_runs_is_never_taken_for_reading() {
    for text in NOT_READING {
        let reading = read(text);
        let all = reading.unclear.is_empty()
            && reading.commands.iter().all(|command| command.only_reads());
        assert!(!all, "{text:?}: {reading:?}");
    }
}

#[test]
fn every_word_that_may_be_a_path_is_a_name() {
    let rows: &[(&str, &[&str])] = &[
        ("cat a ../b /c ~/d", &["a", "../b", "/c", "~/d"]),
        (
            "grep -f/etc/x --file=/etc/y -e z",
            &["/etc/x", "/etc/y", "z"],
        ),
        ("dd if=/a of=b", &["if=/a", "/a", "of=b", "b"]),
        ("./x a", &["./x", "a"]),
        (
            "curl -d @/etc/x file:///etc/y",
            &["@/etc/x", "/etc/x", "file:///etc/y", "/etc/y"],
        ),
        ("scp host:/a .", &["host:/a", "/a", "."]),
        ("rm -- -a", &["-a"]),
        ("cat *.rs $x", &["*.rs", "$x"]),
        ("ls -la --color", &["a"]),
    ];
    for (text, expected) in rows {
        let names: Vec<String> = last(text)
            .names()
            .iter()
            .map(|word| word.shown().to_owned())
            .collect();
        assert_eq!(names, *expected, "{text:?}");
    }
    assert_eq!(last("cat *.rs").names(), [Word::Glob("*.rs".to_owned())]);
    assert_eq!(
        last("x --a=~/b").names(),
        [Word::Unknown("--a=~/b".to_owned())]
    );
}

#[test]
fn whole_folders_are_read_by_some() {
    for text in [
        "rg a",
        "grep -r a .",
        "grep -nR a",
        "grep --recursive a",
        "tar cf a b",
        "zip -r a b",
        "cp -r a b",
        "cp -a a b",
        "rsync a b",
        "git grep a",
        "$x a",
        "diff -r a b",
        "find a -name b -exec cat {} +",
        "fd b a -x cat",
    ] {
        assert!(last(text).reads_folders(), "{text:?}");
    }
    for text in ["grep a b", "cat a", "cp a b", "git log", "ls -R", "find ."] {
        assert!(!last(text).reads_folders(), "{text:?}");
    }
}
