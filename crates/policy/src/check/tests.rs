//! Rules that never speak, say too much, or do not hold what their examples promise.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::*;
use crate::place::Disk;
use crate::source::{self, Read};

/// A disk on which every path leads to itself.
struct Plain;

impl Disk for Plain {
    fn real(&self, path: &Path) -> Option<PathBuf> {
        Some(path.to_owned())
    }

    fn list(&self, _: &Path) -> Option<Vec<(String, bool)>> {
        None
    }

    fn exists(&self, _: &Path) -> bool {
        false
    }
}

fn now() -> Timestamp {
    "2026-11-15T10:00:00Z".parse().unwrap()
}

fn of(text: &str) -> Read {
    source::toml(
        text,
        Path::new("c.toml"),
        FileKind::Own,
        Path::new("/project"),
    )
}

fn findings(text: &str) -> Vec<String> {
    let place = Place {
        cwd: Path::new("/project"),
        add_dirs: &[],
        home: Some(Path::new("/home/me")),
        own: &[],
        disk: &Plain,
    };
    let shown = |finding: &Finding| {
        let line = finding
            .at
            .as_ref()
            .and_then(|at| at.line)
            .unwrap_or_default();
        format!("{line} {}: {}", finding.kind, finding.what)
    };
    read(&of(text), &place, now()).iter().map(shown).collect()
}

/// Rules, one a line, as a file.
fn rules_of(lines: &[&str]) -> String {
    let entry = |line: &&str| {
        let (effect, text) = line.split_once(' ').unwrap();
        format!("[[rule]]\n{effect} = \"{text}\"\n")
    };
    lines.iter().map(entry).collect()
}

#[test]
fn rules_that_all_have_something_to_say_are_fine() {
    let rules = [
        "allow Bash(git log:*)",
        "deny Bash(git push:*)",
        "ask WebFetch",
        "allow Edit(src/**)",
        "deny Read(.env)",
    ];
    assert_eq!(findings(&rules_of(&rules)), [""; 0]);
}

#[test]
fn a_rule_that_never_speaks_is_found() {
    assert_eq!(
        findings(&rules_of(&[
            "allow Bash(git log:*)",
            "deny Bash(git log:*)"
        ])),
        ["2 shadowed: `deny Bash(git log:*)` (c.toml:4) wins whenever it would speak"]
    );
    assert_eq!(
        findings(&rules_of(&[
            "ask Bash(cargo:*)",
            "allow Bash(cargo test:*)"
        ])),
        ["4 shadowed: `ask Bash(cargo:*)` (c.toml:2) wins whenever it would speak"]
    );
    assert_eq!(
        findings(&rules_of(&[
            "allow Bash(cargo test:*)",
            "allow Bash(cargo:*)"
        ])),
        ["2 needless: `allow Bash(cargo:*)` (c.toml:4) already means all of these calls"]
    );
    assert_eq!(
        findings(&rules_of(&[
            "allow Read(src/**)",
            "allow Read(src/**)",
            "allow Read(src/**)"
        ])),
        [
            "4 duplicate: `allow Read(src/**)` (c.toml:2) says the same",
            "6 duplicate: `allow Read(src/**)` (c.toml:2) says the same"
        ]
    );
}

#[test]
fn a_stricter_rule_is_not_shadowed_by_a_milder_one() {
    assert_eq!(
        findings(&rules_of(&[
            "deny Bash(cargo test:*)",
            "allow Bash(cargo:*)"
        ])),
        [""; 0]
    );
}

#[test]
fn what_ended_is_told_and_shadows_nothing() {
    let text = "[[rule]]\ndeny = \"Bash(make:*)\"\nexpires = 2026-11-01T00:00:00Z\n[[rule]]\nallow = \"Bash(make:*)\"\n";
    assert_eq!(
        findings(text),
        ["2 expired: it ended on 2026-11-01T00:00:00Z"]
    );
}

#[test]
fn a_tool_that_does_not_exist_is_told() {
    assert_eq!(
        findings(&rules_of(&["deny Bahs(rm:*)", "allow mcp__any__thing"])),
        ["2 unknown tool: there is no tool `Bahs`, so it means no call"]
    );
}

#[test]
fn a_rule_that_allows_everything_is_told_and_a_denial_of_it_is_not() {
    assert_eq!(
        findings(&rules_of(&["allow Bash(python3:*)"])),
        [
            "2 dangerous: `python3` allows everything: an interpreter runs whatever program it is given"
        ]
    );
    assert_eq!(findings(&rules_of(&["deny Bash(python3:*)"])), [""; 0]);
}

#[test]
fn a_path_that_starts_from_the_settings_is_told() {
    let text =
        r#"{"permissions":{"deny":["Edit(/migrations/**)","Edit(//srv/**)","Bash(/bin/rm:*)"]}}"#;
    let read = source::settings(
        text,
        Path::new("s.json"),
        FileKind::User,
        Path::new("/home/me/.claude"),
    );
    let kinds: Vec<Kind> = rules(&read.rules, now())
        .iter()
        .map(|finding| finding.kind)
        .collect();
    assert_eq!(kinds, [Kind::Start]);
    let read = source::settings(
        text,
        Path::new("s.json"),
        FileKind::Project,
        Path::new("/project"),
    );
    assert_eq!(rules(&read.rules, now()), []);
}

#[test]
fn examples_hold_or_are_told() {
    let entry = |rule: &str, examples: &str| format!("[[rule]]\n{rule}\nexamples = {examples}\n");
    for (rule, examples) in [
        (
            r#"allow = "Bash(git log:*)""#,
            r#"{ match = ["git log", "git log --oneline"], not_match = ["git push", "git log; rm -rf x", "git logx"] }"#,
        ),
        (
            r#"deny = "Read(.env)""#,
            r#"{ match = [".env", "a/.env"], not_match = ["env", ".env.example"] }"#,
        ),
        (
            r#"allow = ["Edit(src/**)", "Edit(docs/**)"]"#,
            r#"{ match = ["src/a.rs", "docs/b.md"], not_match = ["a.rs", "src/../a.rs"] }"#,
        ),
        (
            r#"ask = "WebFetch(domain:a.example)""#,
            r#"{ match = ["https://a.example/x"], not_match = ["https://b.example"] }"#,
        ),
        (
            r#"deny = "mcp__srv__*""#,
            r#"{ match = ["mcp__srv__tool"], not_match = ["mcp__other__tool"] }"#,
        ),
        // What the profile allows is not the rule's doing.
        (
            r#"allow = "Read(//etc/hosts)""#,
            r#"{ match = ["/etc/hosts"], not_match = ["src/a.rs"] }"#,
        ),
        (
            r#"allow = "Bash(git log:*)""#,
            r#"{ match = [{ command = "git log", description = "history" }] }"#,
        ),
    ] {
        assert_eq!(findings(&entry(rule, examples)), [""; 0], "{rule}");
    }
}

#[test]
fn a_failing_example_names_the_rule_and_what_was_decided() {
    let text = "[[rule]]\nallow = \"Bash(git log:*)\"\nexamples = { match = [\"git status\"], not_match = [\"git log -1\"] }\n";
    let place = Place {
        cwd: Path::new("/project"),
        add_dirs: &[],
        home: None,
        own: &[],
        disk: &Plain,
    };
    let problems = examples(&of(text).examples, &place, now());
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "c.toml:3:23: `git status` must be meant by `allow Bash(git log:*)` (line 2), and is not: with it alone the \
             verdict is ask (No rule allows this command): widen the rule, or mend the example",
            "c.toml:3:51: `git log -1` must not be meant by `allow Bash(git log:*)` (line 2), and is: narrow the rule, or \
             take the example out",
        ]
    );
    assert!(problems.iter().all(|problem| problem.stops));
}

#[test]
fn an_example_that_is_no_input_of_the_tool_is_told() {
    let text = "[[rule]]\ndeny = \"mcp__srv__tool\"\nexamples = { match = [\"tool\"] }\n";
    let told = findings(text);
    assert_eq!(
        told,
        ["3 example: `tool` is no example for `deny mcp__srv__tool` (line 2)"]
    );
}

#[test]
fn examples_of_a_rule_that_ended_or_is_for_another_folder_are_still_held() {
    let text = "[[rule]]\nallow = \"Edit(src/**)\"\nrepository = \"/else\"\nexpires = 2026-11-01T00:00:00Z\nexamples = { match = [\"src/a.rs\"], not_match = [\"/project/src/a.rs\"] }\n";
    assert_eq!(
        findings(text),
        ["2 expired: it ended on 2026-11-01T00:00:00Z"]
    );
}

/// Rules to hold against each other, as texts.
const TEXTS: &[&str] = &[
    "Bash",
    "Bash(git:*)",
    "Bash(git log:*)",
    "Bash(git log --oneline)",
    "Bash(git log)",
    "Bash(make:*)",
    "Bash(make test)",
    "Bash(env:*)",
    "Bash(env make:*)",
    "Bash(sudo make:*)",
    "Bash(find:*)",
    "Bash(find . -name x:*)",
    "Monitor",
    "Monitor(make:*)",
    "Read",
    "Read(src/**)",
    "Read(src/lib/**)",
    "Read(.env)",
    "Read(src/.env)",
    "Read(//etc/**)",
    "Read(//etc/hosts)",
    "Read(~/notes/**)",
    "Read(~/notes/a.md)",
    "Edit",
    "Edit(src/**)",
    "Edit(./src/lib/**)",
    "Edit(/src/**)",
    "Edit(src/lib/a.rs)",
    "Write",
    "Write(src/**)",
    "Write(src/lib/a.rs)",
    "NotebookEdit",
    "NotebookEdit(src/**)",
    "Glob(src/**)",
    "Grep(src/**)",
    "WebFetch",
    "WebFetch(domain:a.example)",
    "WebFetch(domain:b.a.example)",
    "WebFetch(domain:*.a.example)",
    "WebFetch(domain:*.b.a.example)",
    "mcp__srv",
    "mcp__srv__*",
    "mcp__srv__tool",
    "Agent",
    "Agent(Explore)",
];

/// Calls to hold them against: the tool, and its main field.
const CALLS: &[(&str, &str)] = &[
    ("Bash", "git log"),
    ("Bash", "git log --oneline"),
    ("Bash", "git log --oneline | make"),
    ("Bash", "git push"),
    ("Bash", "git"),
    ("Bash", "git -C x log"),
    ("Bash", "make test"),
    ("Bash", "env make"),
    ("Bash", "env A=1 make test"),
    ("Bash", "A=1 make test"),
    ("Bash", "sudo make install"),
    ("Bash", "sudo -u x make"),
    ("Bash", "find . -name x -exec make {} \\;"),
    ("Bash", "find . -name x"),
    ("Bash", "sh -c 'make test'"),
    ("Bash", "make > src/lib/out"),
    ("Bash", "cat src/lib/a.rs"),
    ("Bash", "rm src/lib/a.rs"),
    ("Bash", "$X src"),
    ("Bash", "make `ls`"),
    ("Bash", "if"),
    ("Monitor", "make test"),
    ("Monitor", "git log"),
    ("Read", "src/lib/a.rs"),
    ("Read", "src/.env"),
    ("Read", ".env"),
    ("Read", "/etc/hosts"),
    ("Read", "~/notes/a.md"),
    ("Read", "src/../.env"),
    ("Edit", "src/lib/a.rs"),
    ("Edit", "src/.env"),
    ("Edit", "/etc/hosts"),
    ("Edit", "~/notes/a.md"),
    ("Edit", "src/.git/config"),
    ("Write", "src/lib/a.rs"),
    ("Write", "src/lib"),
    ("Write", "src"),
    ("NotebookEdit", "src/lib/a.ipynb"),
    ("Glob", "src/lib"),
    ("Grep", "src"),
    ("Grep", "src/lib"),
    ("WebFetch", "https://a.example/x"),
    ("WebFetch", "https://b.a.example/x"),
    ("WebFetch", "https://c.b.a.example/x"),
    ("WebFetch", "not an address"),
    ("mcp__srv__tool", "mcp__srv__tool"),
    ("mcp__srv__other", "mcp__srv__other"),
    ("mcp__srv2__tool", "mcp__srv2__tool"),
    ("Agent", "Explore"),
    ("Agent", "Plan"),
];

/// What is said to be covered has nothing left to say: for no call is its verdict stricter than the other's, or, for an
/// allow, allowed where the other does not allow.
#[test]
fn what_is_said_to_be_covered_is_covered() {
    let place = Place {
        cwd: Path::new("/project"),
        add_dirs: &[],
        home: Some(Path::new("/home/me")),
        own: &[],
        disk: &Plain,
    };
    let effects = [Effect::Allow, Effect::Ask, Effect::Deny];
    let parsed = |effect, text: &&str| {
        Rule::parse(effect, text, Path::new("/project"), Origin::CommandLine).unwrap()
    };
    let all = effects
        .iter()
        .flat_map(|effect| TEXTS.iter().map(move |text| parsed(*effect, text)));
    let all: Vec<Rule> = all.collect();
    let speaks = |rule: &Rule, tool: &str, text: &str| {
        let example = source::Example {
            input: text.into(),
            is_match: true,
            at: At {
                file: PathBuf::new(),
                line: None,
                column: None,
            },
        };
        let policy = crate::Policy {
            rules: vec![rule.clone()],
            profile: crate::Profile::Careful,
        };
        let verdict = policy.decide(&example.call(tool).unwrap(), &place, now());
        let by_rule = matches!(
            verdict.reason.why,
            crate::Why::Rule | crate::Why::MayBeMeant
        );
        by_rule.then_some(verdict.effect)
    };
    let said: Vec<Vec<Option<Effect>>> = all
        .iter()
        .map(|rule| {
            CALLS
                .iter()
                .map(|(tool, text)| speaks(rule, tool, text))
                .collect()
        })
        .collect();
    let mut pairs = 0;
    let mut wrong = Vec::new();
    for (wide, by_wide) in all.iter().zip(&said) {
        for (narrow, by_narrow) in all.iter().zip(&said) {
            if wide == narrow || wide.effect < narrow.effect || !covers(wide, narrow) {
                continue;
            }
            pairs += 1;
            for ((call, wide_says), narrow_says) in CALLS.iter().zip(by_wide).zip(by_narrow) {
                // An allow for editing also lets files be read; that it is shadowed is said of its own tool.
                let is_own = call.0 == narrow.matcher.tool || narrow.effect == wide.effect;
                if is_own && narrow_says.is_some() && wide_says < narrow_says {
                    wrong.push(format!("{wide} > {narrow}, but not for {call:?}"));
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(pairs > 100, "{pairs} pairs");
}
