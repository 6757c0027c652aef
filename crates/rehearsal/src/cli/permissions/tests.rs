//! Decisions about calls, modes and updates over the life of a session, and the rules that must hold for every command.

use serde_json::{Value, json};

use super::{Accepted, Call, Decision, ModeError, Permissions, Prompts, Setup};
use crate::cli::source::{SettingsChange, SettingsEdit, Source};

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
            prompts: Prompts::Host,
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

fn write(permissions: &Permissions, path: &str) -> Decision {
    let input = json!({"file_path": path, "content": "x"});
    decide(permissions, "Write", &input)
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

/// In `default`, `acceptEdits`, `dontAsk`, `auto` and `plan`, as the real CLI decides.
#[test]
fn each_mode_decides_as_measured() {
    let ground = Ground::new();
    let modes = ["default", "acceptEdits", "dontAsk", "auto", "plan"].map(|mode| {
        let mut permissions = ground.permissions();
        permissions.set_mode(mode).unwrap();
        permissions
    });
    let file = |tool: &'static str, path: &str| (tool, json!({"file_path": path}));
    let bash = |command: &str| ("Bash", json!({"command": command}));
    for ((tool, input), expected) in [
        (bash("ls -la src"), "rrrrr"),
        (bash("cat notes.txt | head -3"), "rrrrr"),
        (bash("git status"), "rrrrr"),
        (bash("echo hi > out.txt"), "arfrf"),
        (bash("echo hi 2> /dev/null"), "rrrrr"),
        (bash("cat /etc/passwd"), "aafff"),
        (bash("cat out/passwd"), "aafff"),
        (bash("touch a.txt"), "arfrf"),
        (bash("touch /srv/a.txt"), "aafff"),
        (bash("git push"), "aafff"),
        (bash("find . -delete"), "aafff"),
        (bash("echo $HOME"), "aafff"),
        (bash("rm -rf /"), "aafff"),
        (file("Read", "notes.txt"), "rrrrr"),
        (file("Read", "/etc/passwd"), "aafrr"),
        (file("Read", "out/passwd"), "aafrr"),
        (file("Write", "a.txt"), "arfra"),
        (file("Write", "/srv/a.txt"), "aaffa"),
        (file("Write", ".git/config"), "aafff"),
        (file("Write", ".bashrc"), "aafff"),
        (
            ("WebFetch", json!({"url": "https://example.com/"})),
            "aafff",
        ),
        (("AskUserQuestion", json!({"questions": []})), "aafaa"),
        (("TaskStop", json!({})), "rrrrr"),
    ] {
        let found: String = modes
            .iter()
            .map(|mode| letter(&decide(mode, tool, &input)))
            .collect();
        assert_eq!(found, expected, "{tool} {input}");
    }
}

#[test]
fn a_question_says_what_is_asked_and_which_answers_last() {
    let ground = Ground::new();
    let permissions = ground.permissions();
    let rules = |tool: &str, content: &str, destination: &str| {
        json!({"type": "addRules", "rules": [{"toolName": tool, "ruleContent": content}],
               "behavior": "allow", "destination": destination})
    };
    let folder = json!({
        "type": "addDirectories", "directories": [ground.path("project")], "destination": "session",
    });
    let edits = set_mode("acceptEdits", "session");
    for (tool, input, expected) in [
        (
            "Bash",
            json!({"command": "git push", "description": "D"}),
            json!({
                "display_name": "Bash", "description": "D", "decision_reason_type": "other",
                "decision_reason": "This command requires approval",
                "permission_suggestions": [rules("Bash", "git push *", "localSettings")],
            }),
        ),
        (
            "Bash",
            json!({"command": "touch a.txt", "description": "D"}),
            json!({
                "display_name": "Bash", "description": "D", "blocked_path": ground.path("project/a.txt"),
                "permission_suggestions": [rules("Bash", "touch a.txt", "localSettings"), folder, edits],
            }),
        ),
        (
            "Bash",
            json!({"command": "touch a.txt; pwd", "description": "D"}),
            json!({
                "display_name": "Bash", "description": "D",
                "blocked_path": ground.path("project/a.txt"),
                "permission_suggestions": [
                    rules("Bash", "touch a.txt; pwd", "localSettings"), folder, edits,
                ],
            }),
        ),
        (
            "Bash",
            json!({"command": "cat /etc/passwd", "description": "D"}),
            json!({
                "display_name": "Bash", "description": "D", "blocked_path": "/etc/passwd",
                "permission_suggestions": [
                    rules("Bash", "cat /etc/passwd", "localSettings"), rules("Read", "//etc/**", "session"),
                ],
            }),
        ),
        (
            "Write",
            json!({"file_path": "a.txt"}),
            json!({
                "display_name": "Write", "description": "a.txt", "server_policy_ask_only": true,
                "permission_suggestions": [edits],
            }),
        ),
    ] {
        assert_eq!(
            decide(&permissions, tool, &input),
            Decision::Ask(expected),
            "{tool} {input}"
        );
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
            "WebFetch(domain:*.example.com)",
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
        (bash("cd src; sudo git push origin"), 'f'),
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
                json!({"url": "https://good.example.com@evil.invalid/"}),
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
fn a_mode_is_set_by_its_name_and_bypass_only_where_the_launch_allows_it() {
    let ground = Ground::new();
    let mut permissions = ground.permissions();
    for (name, mode) in [
        ("plan", "plan"),
        ("manual", "default"),
        ("dontAsk", "dontAsk"),
    ] {
        permissions.set_mode(name).unwrap();
        assert_eq!(permissions.mode(), mode);
    }
    assert_eq!(permissions.set_mode("banana"), Err(ModeError::Unknown));
    let bypass = "bypassPermissions";
    assert_eq!(permissions.set_mode(bypass), Err(ModeError::NotLaunched));
    assert_eq!(permissions.mode(), "dontAsk");
    let mut launched = Permissions::new(Setup {
        bypass_allowed: true,
        ..ground.setup()
    });
    launched.set_mode(bypass).unwrap();
    assert!(runs(&shell(&launched, "npm test")) && !runs(&shell(&launched, "rm -rf ~")));
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
fn the_plan_is_written_without_a_question_and_leaving_goes_back() {
    let ground = Ground::new();
    let mut permissions = ground.permissions();
    permissions.set_mode("acceptEdits").unwrap();
    permissions.enter_plan();
    permissions.enter_plan();
    let plan = ground.path("home/.claude/plans/plan.md");
    permissions.set_plan_file(&plan);
    assert_eq!(
        write(&permissions, &plan),
        Decision::Run(Accepted::OWN_FILE)
    );
    assert_eq!(letter(&write(&permissions, "a.txt")), 'a');
    permissions.leave_plan();
    assert_eq!(permissions.mode(), "acceptEdits");
    permissions.leave_plan();
    assert_eq!(permissions.mode(), "acceptEdits");
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

#[test]
fn an_update_says_what_is_to_be_written() {
    let ground = Ground::new();
    let mut permissions = ground.permissions();
    let edits = permissions.apply(&[
        allow("a:*", "session"),
        allow("b:*", "projectSettings"),
        set_mode("acceptEdits", "userSettings"),
        set_mode("bypassPermissions", "userSettings"),
        json!({"type": "addDirectories", "directories": ["/etc"], "destination": "localSettings"}),
    ]);
    let edit = |source, key, change| SettingsEdit {
        source,
        path: ["permissions", key],
        change,
    };
    let added = |value: &str| SettingsChange::Add(vec![value.to_owned()]);
    let expected = [
        edit(Source::Project, "allow", added("Bash(b:*)")),
        edit(
            Source::User,
            "defaultMode",
            SettingsChange::Set("acceptEdits".into()),
        ),
        edit(Source::Local, "additionalDirectories", added("/etc")),
    ];
    assert_eq!(edits, expected);
    assert_eq!(permissions.mode(), "acceptEdits");
    assert!(runs(&shell(&permissions, "a x")) && runs(&shell(&permissions, "cat /etc/passwd")));
    // The project is not trusted: what it allows is written and does not count.
    assert!(!runs(&shell(&permissions, "b x")));
    let settings = json!({"permissions": {"deny": ["Bash(a:*)"]}});
    permissions.replace_settings(Source::Local, &settings);
    assert!(!runs(&shell(&permissions, "a x")) && !runs(&shell(&permissions, "cat /etc/passwd")));
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
