//! Modes, updates and settings over the life of a session, and the rules that must hold for every command.

use serde_json::{Value, json};

use super::super::source::{SettingsEdit, Source};
use super::table::Ground;
use super::{
    Accepted, Applied, Decision, ModeError, Permit, Prompts, Refusal, Setup, UNCHECKED_LIMIT, Wish,
};

fn setup() -> Setup {
    Setup {
        mode: Some("default".into()),
        bypass_allowed: false,
        prompts: Prompts::Host,
        cwd: "/base/project".into(),
        home: "/base/home".into(),
        config_dir: "/base/home/.claude".into(),
        dirs: vec![],
        allowed: vec![],
        disallowed: vec![],
        settings: vec![],
        trusted: false,
        plan_file: Some("/base/home/.claude/plans/plan.md".into()),
        world: Box::new(Ground::standard()),
    }
}

fn shell(permit: &Permit, command: &str) -> Decision {
    let input = json!({"command": command});
    permit.decide(&Wish::new("Bash", &input))
}

fn write(permit: &Permit, path: &str) -> Decision {
    let input = json!({"file_path": path, "content": "x"});
    permit.decide(&Wish::new("Write", &input))
}

fn runs(decision: &Decision) -> bool {
    matches!(decision, Decision::Run(_))
}

fn allow(content: &str, destination: &str) -> Value {
    let rules = json!([{"toolName": "Bash", "ruleContent": content}]);
    json!({"type": "addRules", "rules": rules, "behavior": "allow", "destination": destination})
}

fn set_mode(mode: &str, destination: &str) -> Value {
    json!({"type": "setMode", "mode": mode, "destination": destination})
}

#[test]
fn a_mode_is_set_by_its_name_and_bypass_only_where_the_launch_allows_it() {
    let mut permit = Permit::new(setup());
    for (name, mode) in [
        ("plan", "plan"),
        ("manual", "default"),
        ("auto", "auto"),
        ("dontAsk", "dontAsk"),
    ] {
        permit.set_mode(name).unwrap();
        assert_eq!(permit.mode(), mode);
    }
    assert_eq!(permit.set_mode("banana"), Err(ModeError::Unknown));
    assert_eq!(
        permit.set_mode("bypassPermissions"),
        Err(ModeError::NotLaunched)
    );
    assert_eq!(ModeError::NotLaunched.code(), "bypass_not_launched");
    assert_eq!(permit.mode(), "dontAsk");
    let mut launched = Permit::new(Setup {
        bypass_allowed: true,
        ..setup()
    });
    launched.set_mode("bypassPermissions").unwrap();
    assert!(runs(&shell(&launched, "npm test")));
}

#[test]
fn the_folder_cannot_switch_off_the_questions_and_the_user_can() {
    let settings = json!({"permissions": {"defaultMode": "bypassPermissions"}});
    for (source, mode) in [
        (Source::Local, "default"),
        (Source::Project, "default"),
        (Source::User, "bypassPermissions"),
    ] {
        let setup = Setup {
            mode: None,
            settings: vec![(source, settings.clone())],
            ..setup()
        };
        assert_eq!(Permit::new(setup).mode(), mode, "{source:?}");
    }
}

#[test]
fn leaving_a_plan_goes_back_to_the_mode_before_it() {
    let mut permit = Permit::new(setup());
    permit.set_mode("acceptEdits").unwrap();
    permit.enter_plan();
    permit.enter_plan();
    assert_eq!(permit.mode(), "plan");
    permit.leave_plan();
    assert_eq!(permit.mode(), "acceptEdits");
    permit.leave_plan();
    assert_eq!(permit.mode(), "acceptEdits");
}

#[test]
fn the_plan_is_written_without_a_question_and_nothing_else_is() {
    let mut permit = Permit::new(setup());
    permit.enter_plan();
    let own = Accepted {
        source: "config",
        reason_type: Some("other"),
    };
    assert_eq!(
        write(&permit, "/base/home/.claude/plans/plan.md"),
        Decision::Run(own)
    );
    assert!(matches!(
        write(&permit, "/base/project/a.txt"),
        Decision::Ask(_)
    ));
    assert!(!runs(&write(&permit, "/base/home/.claude/plans/other.md")));
    permit.set_plan_file(None);
    assert!(!runs(&write(&permit, "/base/home/.claude/plans/plan.md")));
}

#[test]
fn one_bad_update_drops_the_whole_list() {
    let bad = [
        json!({"type": "nonsense", "destination": "session"}),
        json!({"type": "setMode", "mode": "banana", "destination": "session"}),
        allow("foo:*", "flagSettings"),
        json!({"type": "addRules", "rules": [{}], "behavior": "allow", "destination": "session"}),
        json!("text"),
    ];
    for update in bad {
        let mut permit = Permit::new(setup());
        let applied = permit.apply(&[allow("foo:*", "localSettings"), update.clone()]);
        assert_eq!(applied, Applied::default(), "{update}");
        assert!(!runs(&shell(&permit, "foo x")), "{update}");
    }
}

#[test]
fn an_update_says_what_is_to_be_written_and_whether_the_mode_changed() {
    let mut permit = Permit::new(setup());
    let applied = permit.apply(&[
        allow("a:*", "session"),
        allow("b:*", "projectSettings"),
        set_mode("acceptEdits", "userSettings"),
        json!({"type": "addDirectories", "directories": ["/etc"], "destination": "localSettings"}),
    ]);
    assert!(applied.mode_changed);
    let expected = [
        SettingsEdit::Add {
            source: Source::Project,
            path: ["permissions", "allow"],
            values: vec!["Bash(b:*)".into()],
        },
        SettingsEdit::Set {
            source: Source::User,
            path: ["permissions", "defaultMode"],
            value: "acceptEdits".into(),
        },
        SettingsEdit::Add {
            source: Source::Local,
            path: ["permissions", "additionalDirectories"],
            values: vec!["/etc".into()],
        },
    ];
    assert_eq!(applied.edits, expected);
    assert!(runs(&shell(&permit, "a x")) && runs(&shell(&permit, "cat /etc/passwd")));
    // The project is not trusted: what it allows is written and does not count.
    assert!(!runs(&shell(&permit, "b x")));
    let again = permit.apply(&[set_mode("acceptEdits", "session")]);
    assert_eq!(again, Applied::default());
}

#[test]
fn no_update_reaches_bypass_without_the_launch() {
    let mut permit = Permit::new(setup());
    let applied = permit.apply(&[
        allow("a:*", "session"),
        set_mode("bypassPermissions", "userSettings"),
    ]);
    assert_eq!(applied, Applied::default());
    assert_eq!(permit.mode(), "default");
    assert!(runs(&shell(&permit, "a x")));
}

#[test]
fn settings_that_are_replaced_leave_nothing_behind() {
    let mut permit = Permit::new(setup());
    let before = json!({"permissions": {"allow": ["Bash(a)"], "additionalDirectories": ["/etc"]}});
    permit.replace_settings(Source::User, &before);
    assert!(runs(&shell(&permit, "a")) && runs(&shell(&permit, "cat /etc/passwd")));
    permit.replace_settings(Source::User, &json!({"permissions": {"deny": ["Bash(b)"]}}));
    assert!(!runs(&shell(&permit, "a")) && !runs(&shell(&permit, "cat /etc/passwd")));
    assert!(matches!(shell(&permit, "b"), Decision::Refuse(_)));
}

#[test]
fn a_tool_that_is_denied_as_a_whole_is_removed_and_never_runs() {
    let permit = Permit::new(Setup {
        disallowed: vec!["Bash".into(), "Task(Explore)".into()],
        ..setup()
    });
    assert!(permit.removed("Bash") && !permit.removed("Task"));
    assert!(matches!(shell(&permit, "ls"), Decision::Refuse(_)));
    assert!(permit.agent_denied("Explore").is_some() && permit.agent_denied("Plan").is_none());
}

#[test]
fn the_last_refusal_for_want_of_a_check_says_that_the_turn_ends() {
    assert_eq!(UNCHECKED_LIMIT, 10);
    let mut permit = Permit::new(setup());
    permit.set_mode("auto").unwrap();
    let Decision::Refuse(refusal) = shell(&permit, "npm test") else {
        panic!("auto mode has no check here");
    };
    assert!(refusal.is_unchecked());
    let last = Refusal::last_unchecked("Bash");
    let code = &last.event.as_ref().unwrap()["decision_reason_code"];
    assert_eq!(code, "auto_mode_stop_no_check_in_session");
    assert!(last.is_unchecked());
}

/// Whatever follows an allowed command, and however, it does not run by that command's rule.
#[test]
fn a_rule_for_one_command_never_lets_another_pass() {
    let permit = Permit::new(Setup {
        allowed: vec!["Bash(git log:*)".into(), "Bash(npm run *)".into()],
        ..setup()
    });
    assert!(runs(&shell(&permit, "git log -1")) && runs(&shell(&permit, "npm run x")));
    for allowed in ["git log", "npm run x"] {
        for other in ["rm -rf x", "foo", "touch y", "curl a"] {
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
                format!("{other}; {allowed}"),
                format!("X=$({other}) {allowed}"),
                format!("PATH=. {allowed}"),
                format!("{allowed} <<EOF\n$({other})\nEOF"),
                format!("eval {allowed}"),
                format!("{allowed}x; {other}"),
            ] {
                assert!(!runs(&shell(&permit, &command)), "{command}");
            }
        }
    }
}

/// Commands put together from what shells trip over: each gets a decision, and none with a removal of all runs.
#[test]
fn every_text_gets_a_decision_and_no_removal_of_all_runs() {
    let pieces = [
        "ls", "rm -rf /", "rm -rf ~", " ", "\n", ";", "&", "&&", "|", "||", "(", ")", "{", "}",
        "$", "`", "'", "\"", "\\", "<<", "<", ">", "EOF", "$(", "${", "[[", "]]", "if", "then",
        "fi", "for i in", "do", "done", "#", "*", "é", "=", "X=1", "~", "-", "!", "case",
        "\u{2028}", "\t", "0", "..", "/",
    ];
    let modes = ["default", "acceptEdits", "bypassPermissions"].map(|mode| {
        let rules = vec!["Bash".into()];
        Permit::new(Setup {
            mode: Some(mode.into()),
            allowed: rules,
            ..setup()
        })
    });
    let mut state = 0x2545_f491_u32;
    let mut next = |limit: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % limit
    };
    for _ in 0..3000 {
        let length = 1 + next(9);
        let text: String = (0..length).map(|_| pieces[next(pieces.len())]).collect();
        // What is quoted, commented out or the text of a heredoc is not run by a shell either.
        let plain = !text.contains(['\'', '"', '\\', '#', '`', '<']);
        for permit in &modes {
            let _ = shell(permit, &text);
            let command = format!("{text}\nrm -rf /\n");
            assert!(!plain || !runs(&shell(permit, &command)), "{command}");
        }
    }
}
