//! Decisions about calls, modes and updates over the life of a session, and the rules that must hold for every command.

use serde_json::{Value, json};

use super::{Call, Decision, Permissions, Setup};
use crate::cli::source::Source;

/// A project folder with a note, a folder and a link that leads out.
struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        std::fs::create_dir_all(project.join("src")).unwrap();
        std::fs::write(project.join("notes.txt"), "x").unwrap();
        std::os::unix::fs::symlink("/etc", project.join("out")).unwrap();
        Ground { folder }
    }

    fn path(&self, below: &str) -> String {
        let root = self.folder.path().canonicalize().unwrap();
        root.join(below).to_string_lossy().into_owned()
    }

    fn setup(&self) -> Setup {
        Setup {
            mode: None,
            bypass_allowed: false,
            asks_host: true,
            cwd: self.path("project").into(),
            home: self.path("home").into(),
            config_dir: self.path("home/.claude").into(),
            dirs: vec![],
            allowed: vec![],
            disallowed: vec![],
            settings: vec![],
            trusted: false,
        }
    }

    fn permissions(&self) -> Permissions {
        Permissions::new(self.setup())
    }
}

fn decide(permissions: &Permissions, tool: &str, input: &Value) -> Decision {
    let input = permissions.settle(tool, input.clone());
    let mcp = None;
    permissions.decide(&Call {
        tool,
        input: &input,
        mcp,
    })
}

fn shell(permissions: &Permissions, command: &str) -> Decision {
    decide(permissions, "Bash", &json!({"command": command}))
}

fn runs(decision: &Decision) -> bool {
    matches!(decision, Decision::Run(_))
}

/// `r`uns, `a`sks or is re`f`used.
fn letter(decision: &Decision) -> char {
    match decision {
        Decision::Run(_) => 'r',
        Decision::Ask(_) => 'a',
        Decision::Refuse(_) => 'f',
    }
}

fn allow(content: &str, destination: &str) -> Value {
    let rules = json!([{"toolName": "Bash", "ruleContent": content}]);
    json!({"type": "addRules", "rules": rules, "behavior": "allow", "destination": destination})
}

fn set_mode(mode: &str, destination: &str) -> Value {
    json!({"type": "setMode", "mode": mode, "destination": destination})
}

/// In `default`, `acceptEdits` and `dontAsk`, as the real CLI decides.
#[test]
fn each_mode_decides_as_measured() {
    let ground = Ground::new();
    let modes = ["default", "acceptEdits", "dontAsk"].map(|mode| {
        let mut permissions = ground.permissions();
        permissions.set_mode(mode).unwrap();
        permissions
    });
    let file = |tool: &'static str, path: &str| (tool, json!({"file_path": path}));
    let bash = |command: &str| ("Bash", json!({"command": command}));
    for ((tool, input), expected) in [
        (bash("ls -la src"), "rrr"),
        (bash("cat notes.txt | head -3"), "rrr"),
        (bash("git status"), "rrr"),
        (bash("echo hi > out.txt"), "arf"),
        (bash("echo hi 2> /dev/null"), "rrr"),
        (bash("cat /etc/passwd"), "aaf"),
        (bash("cat out/passwd"), "aaf"),
        (bash("touch a.txt"), "arf"),
        (bash("touch /srv/a.txt"), "aaf"),
        (bash("git push"), "aaf"),
        (bash("find . -delete"), "aaf"),
        (bash("echo $HOME"), "aaf"),
        (bash("rm -rf /"), "aaf"),
        (file("Read", "notes.txt"), "rrr"),
        (file("Read", "/etc/passwd"), "aaf"),
        (file("Read", "out/passwd"), "aaf"),
        (file("Write", "a.txt"), "arf"),
        (file("Write", "/srv/a.txt"), "aaf"),
        (file("Write", ".git/config"), "aaf"),
        (file("Write", ".bashrc"), "aaf"),
        (("WebFetch", json!({"url": "https://example.com/"})), "aaf"),
        (("AskUserQuestion", json!({"questions": []})), "aaf"),
        (("TaskStop", json!({})), "rrr"),
    ] {
        let found: String = modes
            .iter()
            .map(|mode| letter(&decide(mode, tool, &input)))
            .collect();
        assert_eq!(found, expected, "{tool} {input}");
    }
}

#[test]
fn rules_allow_refuse_and_ask() {
    let ground = Ground::new();
    let settings =
        json!({"permissions": {"ask": ["Bash(git log:*)"], "deny": ["Read(secret/**)"]}});
    let permissions = Permissions::new(Setup {
        allowed: [
            "Bash(git:*)",
            "Edit(src/**)",
            "WebFetch(domain:a.example.com)",
            "mcp__srv",
        ]
        .map(str::to_owned)
        .to_vec(),
        disallowed: vec![
            "Bash(git push:*)".into(),
            "Task(Explore)".into(),
            "Glob".into(),
        ],
        settings: vec![(Source::User, settings)],
        ..ground.setup()
    });
    let bash = |command: &str| ("Bash", json!({"command": command}));
    for ((tool, input), expected) in [
        (bash("git commit -m x"), 'r'),
        (bash("git commit -m x && npm test"), 'a'),
        (bash("git push"), 'f'),
        (bash("cd src; git push origin"), 'f'),
        (bash("echo $(git push)"), 'f'),
        (bash("git log"), 'a'),
        (bash("cat secret/key"), 'f'),
        (("Write", json!({"file_path": "src/a"})), 'r'),
        (("Write", json!({"file_path": "secret/a"})), 'f'),
        (
            ("WebFetch", json!({"url": "https://a.example.com:80/x"})),
            'r',
        ),
        (
            (
                "WebFetch",
                json!({"url": "https://a.example.com@evil.invalid/"}),
            ),
            'a',
        ),
        (("mcp__srv__add", json!({})), 'r'),
        (("mcp__other__add", json!({})), 'a'),
    ] {
        let found = letter(&decide(&permissions, tool, &input));
        assert_eq!(found, expected, "{tool} {input}");
    }
    assert!(permissions.is_removed("Glob") && !permissions.is_removed("Task"));
    assert!(permissions.agent_denied("Explore").is_some());
    assert!(permissions.agent_denied("Plan").is_none());
}

#[test]
fn the_folder_cannot_switch_off_the_questions_and_the_user_can() {
    let ground = Ground::new();
    let settings = json!({"permissions": {"defaultMode": "bypassPermissions"}});
    for (source, mode) in [
        (Source::Local, "default"),
        (Source::Project, "default"),
        (Source::User, "bypassPermissions"),
    ] {
        let setup = Setup {
            settings: vec![(source, settings.clone())],
            ..ground.setup()
        };
        assert_eq!(Permissions::new(setup).mode(), mode, "{source:?}");
    }
}

#[test]
fn one_bad_update_drops_the_whole_list() {
    let ground = Ground::new();
    for update in [
        json!({"type": "nonsense", "destination": "session"}),
        set_mode("banana", "session"),
        allow("foo:*", "flagSettings"),
        json!({"type": "addRules", "rules": [{}], "behavior": "allow", "destination": "session"}),
        json!("text"),
    ] {
        let mut permissions = ground.permissions();
        let edits = permissions.apply(&[allow("foo:*", "localSettings"), update.clone()]);
        assert_eq!(edits, [], "{update}");
        assert!(!runs(&shell(&permissions, "foo x")), "{update}");
    }
}

/// Whatever follows an allowed command, and however, it does not run by that command's rule.
#[test]
fn a_rule_for_one_command_never_lets_another_pass() {
    let ground = Ground::new();
    let permissions = Permissions::new(Setup {
        allowed: vec!["Bash(git log:*)".into(), "Bash(npm run *)".into()],
        ..ground.setup()
    });
    assert!(runs(&shell(&permissions, "git log -1")) && runs(&shell(&permissions, "npm run x")));
    for allowed in ["git log", "npm run x"] {
        for other in ["rm -rf x", "foo", "touch y"] {
            for command in [
                format!("{allowed}; {other}"),
                format!("{allowed} && {other}"),
                format!("{allowed} || {other}"),
                format!("{allowed} | {other}"),
                format!("{allowed} & {other}"),
                format!("{allowed}\n{other}"),
                format!("{allowed} $({other})"),
                format!("{allowed} `{other}`"),
                format!("{allowed} \"$({other})\""),
                format!("{allowed} <({other})"),
                format!("{allowed} > out.txt"),
                format!("({allowed}; {other})"),
                format!("{{ {allowed}; {other}; }}"),
                format!("if {allowed}; then {other}; fi"),
                format!("X=$({other}) {allowed}"),
                format!("PATH=. {allowed}"),
                format!("{allowed} <<EOF\n$({other})\nEOF"),
                format!("eval {allowed}"),
            ] {
                assert!(!runs(&shell(&permissions, &command)), "{command}");
            }
        }
    }
}
