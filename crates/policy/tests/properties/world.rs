//! Random policies and calls, in one place on the real disk.
//!
//! Owns what is generated. The words are few and meet often, so that rules and calls have to do with each other.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use countersign_policy::{
    Call, Effect, Marks, Origin, Place, Policy, Profile, RealDisk, Rule, Verdict,
};
use jiff::Timestamp;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::constructs::{ALL, Text};

/// The folders that every case is decided in, made once.
struct Ground {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

static GROUND: LazyLock<Ground> = LazyLock::new(|| {
    let folder = tempfile::TempDir::with_prefix("properties").unwrap();
    let root = folder.path().canonicalize().unwrap();
    for name in [
        "here/src",
        "here/sub",
        "home/.ssh",
        "home/.claude/plans",
        "else",
        "own",
    ] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    for name in [
        "here/.env",
        "here/src/a.rs",
        "here/sub/.env",
        "else/secret",
        "home/.ssh/key",
    ] {
        fs::write(root.join(name), "text\n").unwrap();
    }
    std::os::unix::fs::symlink(root.join("else"), root.join("here/out")).unwrap();
    std::os::unix::fs::symlink(".env", root.join("here/notes")).unwrap();
    Ground {
        _folder: folder,
        root,
    }
});

pub(crate) fn now() -> Timestamp {
    "2026-06-01T12:00:00Z".parse().unwrap()
}

fn later() -> Timestamp {
    "2026-06-01T13:00:00Z".parse().unwrap()
}

/// What the policy says here and now.
pub(crate) fn decide(policy: &Policy, call: &Call) -> Verdict {
    with_place(|place| policy.decide(call, place, now()))
}

pub(crate) fn with_place<T>(run: impl FnOnce(&Place<'_>) -> T) -> T {
    let root = &GROUND.root;
    let (cwd, home, own) = (root.join("here"), root.join("home"), [root.join("own")]);
    run(&Place {
        cwd: &cwd,
        add_dirs: &[],
        home: Some(&home),
        own: &own,
        disk: &RealDisk,
    })
}

pub(crate) fn plan_file() -> PathBuf {
    GROUND.root.join("home/.claude/plans/p.md")
}

pub(crate) fn rule(effect: Effect, text: &str) -> Rule {
    Rule::parse(effect, text, &GROUND.root.join("here"), Origin::Session)
        .unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn rules(effect: Effect, texts: &[&str]) -> Vec<Rule> {
    texts.iter().map(|text| rule(effect, text)).collect()
}

pub(crate) fn hands_off() -> Profile {
    Profile::HandsOff { until: later() }
}

pub(crate) fn bash(command: &str) -> Call {
    Call::new("Bash", json!({ "command": command }))
}

const RULES: [&str; 56] = [
    "Bash",
    "Bash(git:*)",
    "Bash(git log:*)",
    "Bash(git push:*)",
    "Bash(git push --force:*)",
    "Bash(rm:*)",
    "Bash(rm -rf:*)",
    "Bash(touch x)",
    "Bash(ls:*)",
    "Bash(ls -la)",
    "Bash(cat:*)",
    "Bash(cat .env)",
    "Bash(echo:*)",
    "Bash(echo *)",
    "Bash(* x)",
    "Bash(git * main)",
    "Bash(find:*)",
    "Bash(xargs:*)",
    "Bash(xargs rm:*)",
    "Bash(env:*)",
    "Bash(sudo:*)",
    "Bash(timeout:*)",
    "Bash(sh:*)",
    "Bash(bash -c:*)",
    "Bash(python3:*)",
    "Bash(cd:*)",
    "Bash(curl:*)",
    "Bash(sed:*)",
    "Monitor",
    "Read",
    "Read(.env)",
    "Read(**)",
    "Read(src/**)",
    "Read(~/.ssh/**)",
    "Read(//etc/**)",
    "Read(*.rs)",
    "Edit",
    "Edit(src/**)",
    "Edit(.env)",
    "Edit(**)",
    "Write",
    "Write(out/**)",
    "NotebookEdit",
    "Glob",
    "Grep",
    "LS(src/**)",
    "WebFetch",
    "WebFetch(domain:docs.example)",
    "WebFetch(domain:*.evil.example)",
    "WebSearch",
    "mcp__srv",
    "mcp__srv__add",
    "mcp__*__delete*",
    "Agent(Explore)",
    "Skill(review)",
    "AskUserQuestion",
];

pub(crate) fn rule_text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => select(RULES.as_slice()).prop_map(str::to_owned),
        1 => (command(), select(vec!["", ":*", " *"])).prop_filter_map("no rule", |(command, end)| {
            let text = format!("Bash({command}{end})");
            Rule::parse(Effect::Deny, &text, &GROUND.root, Origin::Session).is_ok().then_some(text)
        }),
        1 => path().prop_filter_map("no rule", |path| {
            let text = format!("Read({path})");
            Rule::parse(Effect::Deny, &text, &GROUND.root, Origin::Session).is_ok().then_some(text)
        }),
    ]
}

pub(crate) fn any_rule() -> impl Strategy<Value = Rule> {
    let effect = select(vec![
        Effect::Allow,
        Effect::Allow,
        Effect::Ask,
        Effect::Deny,
    ]);
    (effect, rule_text()).prop_map(|(effect, text)| rule(effect, &text))
}

pub(crate) fn profile() -> impl Strategy<Value = Profile> {
    select(vec![
        Profile::Careful,
        Profile::Edits,
        hands_off(),
        Profile::HandsOff { until: now() },
    ])
}

pub(crate) fn policy() -> impl Strategy<Value = Policy> {
    (vec(any_rule(), 0..8), profile()).prop_map(|(rules, profile)| Policy { rules, profile })
}

/// A simple command. Most are known to the rules above.
pub(crate) fn command() -> impl Strategy<Value = String> {
    let first = select(vec![
        "git",
        "git log",
        "git push",
        "rm",
        "rm -rf",
        "touch",
        "ls",
        "ls -la",
        "cat",
        "echo",
        "find",
        "sed -i s/a/b/",
        "curl",
        "tee",
        "python3",
        "python3 -c",
        "cd",
        "$CMD",
        "/bin/rm",
        "r''m",
        "./run",
        "true",
        "cp",
        "mv",
        "tar cf",
        "grep -r x",
    ]);
    let word = prop_oneof![
        4 => path(),
        2 => select(vec!["x", "main", "-rf", "--force", "a b", "$X", "\"$X\"", "*", "*.rs", "--", "-n1", "'a;b'", "{a,b}"])
            .prop_map(str::to_owned),
    ];
    (first, vec(word, 0..3)).prop_map(|(first, words)| {
        let words = words
            .iter()
            .fold(first.to_owned(), |text, word| format!("{text} {word}"));
        words.trim().to_owned()
    })
}

/// A command in constructs, up to three deep, with redirections now and then.
pub(crate) fn script() -> impl Strategy<Value = String> {
    let redirect = prop_oneof![
        6 => Just(String::new()),
        1 => path().prop_map(|path| format!(" > {path}")),
        1 => path().prop_map(|path| format!(" < {path}")),
        1 => Just(" 2>&1".to_owned()),
    ];
    (command(), redirect, vec((0..ALL.len(), command()), 0..4)).prop_map(
        |(command, redirect, around)| {
            let start = Text {
                is_words: redirect.is_empty(),
                text: format!("{command}{redirect}"),
            };
            around
                .iter()
                .fold(start, |inner, (index, harmless)| {
                    ALL[*index].around(harmless, &inner)
                })
                .text
        },
    )
}

pub(crate) fn path() -> impl Strategy<Value = String> {
    select(vec![
        ".env",
        "./.env",
        "sub/.env",
        ".ENV",
        "notes",
        "src/a.rs",
        "src",
        "src/new.rs",
        "out/secret",
        "../else/secret",
        "lib/x",
        ".",
        "~/.ssh/key",
        "~/.bashrc",
        "~/x",
        "/etc/hosts",
        "/etc/shadow",
        ".git/config",
        ".claude/settings.json",
        "/dev/null",
        "a.ipynb",
    ])
    .prop_map(str::to_owned)
}

fn input() -> impl Strategy<Value = (String, Value)> {
    let file = |tools: Vec<&'static str>, field: &'static str| {
        (select(tools), path())
            .prop_map(move |(tool, path)| (tool.to_owned(), json!({ field: path })))
    };
    prop_oneof![
        8 => script().prop_map(|command| ("Bash".to_owned(), json!({ "command": command }))),
        1 => script().prop_map(|command| ("Monitor".to_owned(), json!({ "command": command }))),
        4 => file(vec!["Read", "Edit", "Write", "MultiEdit"], "file_path"),
        1 => file(vec!["NotebookEdit", "NotebookRead"], "notebook_path"),
        1 => file(vec!["LS", "Grep", "Glob"], "path"),
        1 => path().prop_map(|path| ("Grep".to_owned(), json!({ "pattern": "x", "path": path, "output_mode": "content" }))),
        1 => path().prop_map(|path| ("Glob".to_owned(), json!({ "pattern": format!("{path}/*") }))),
        2 => select(vec!["https://docs.example/a", "https://a.evil.example", "https://docs.example@evil.example", "x"])
            .prop_map(|url| ("WebFetch".to_owned(), json!({ "url": url }))),
        2 => select(vec!["mcp__srv__add", "mcp__srv__delete", "mcp__other__add", "WebSearch", "TodoWrite", "SomethingNew"])
            .prop_map(|tool| (tool.to_owned(), json!({}))),
        1 => select(vec!["AskUserQuestion", "ExitPlanMode", "EnterPlanMode"]).prop_map(|tool| (tool.to_owned(), json!({}))),
        1 => select(vec!["Explore", "Plan"]).prop_map(|kind| ("Task".to_owned(), json!({ "subagent_type": kind }))),
        1 => select(vec!["review", "deploy"]).prop_map(|skill| ("Skill".to_owned(), json!({ "skill": skill }))),
        1 => select(vec!["Bash", "Read", "Edit", "Grep", "WebFetch", "mcp__srv__add"])
            .prop_map(|tool| (tool.to_owned(), Value::Null)),
    ]
}

/// Any call, in or out of plan mode, sometimes marked.
pub(crate) fn call() -> impl Strategy<Value = Call> {
    let marks = prop_oneof![
        8 => Just(Marks::default()),
        1 => (0..5_usize).prop_map(|which| Marks {
            safety_check: which == 0,
            no_rule: which == 1,
            ask_only: which == 2,
            needs_person: which == 3,
            default_to_no: which == 4,
        }),
    ];
    (input(), marks, prop::bool::weighted(0.2)).prop_map(|((tool, input), marks, in_plan_mode)| {
        Call {
            marks,
            in_plan_mode,
            plan_file: Some(plan_file()),
            ..Call::new(tool, input)
        }
    })
}
