//! Files that change while a session runs, and files that cannot be read.

use countersign_host::control::Mode;
use countersign_host::desk::{Because, Ruling};
use countersign_policy::Effect;

use crate::ground::{Ground, MINUTE, NOW, bash, kept, read, word};

const RULES: &str = "home/.config/countersign/countersign.toml";

#[test]
fn a_file_that_changes_counts_from_the_next_question_on() {
    let ground = Ground::new();
    let mut desk = ground.desk(Mode::Ask);
    let make = bash("make");
    let mut ruled = || word(&desk.rule_on(&make, None, NOW));
    assert_eq!(ruled(), "ask");
    ground.rules("[[rule]]\nallow = \"Bash(make)\"\n");
    assert_eq!(ruled(), "allow");
    // As long as before, and at once.
    ground.rules("[[rule]]\ndeny  = \"Bash(make)\"\n");
    assert_eq!(ruled(), "deny");
    ground.write(
        "home/.claude/settings.json",
        r#"{"permissions":{"ask":["Bash(make)"]}}"#,
    );
    std::fs::remove_file(ground.path(RULES)).unwrap();
    assert_eq!(ruled(), "ask");
    assert!(!desk.refresh(NOW), "nothing has changed since");
}

#[test]
fn a_file_that_cannot_be_read_makes_everything_asked() {
    let ground = Ground::new();
    ground.rules("[[rule]]\nallow = \"Bash(make)\"\n[[rule]]\ndeny = \"Bash(rm:*)\"\n");
    let until = NOW + MINUTE;
    let mut desk = ground.desk(Mode::HandsOff { until });
    assert_eq!(word(&desk.rule_on(&bash("make"), None, NOW)), "allow");
    ground.write("home/.claude/settings.json", "{ this is no JSON");
    let Ruling::Ask {
        because,
        suggestions,
        edits_would_do,
    } = desk.rule_on(&bash("make"), None, NOW)
    else {
        panic!("nothing is allowed by rule");
    };
    assert_eq!(because.kind, Because::UNREADABLE);
    assert!(because.text.contains("settings.json"), "{}", because.text);
    assert!(suggestions.is_empty() && !edits_would_do);
    assert_eq!(desk.closed(), Some(because.text.as_str()));
    // What can be read still forbids.
    assert_eq!(word(&desk.rule_on(&bash("rm x"), None, NOW)), "deny");
    let always = [kept(Effect::Allow, "Bash")];
    assert!(!desk.would_allow(&always, &bash("make"), None, NOW).unwrap());
    ground.write("home/.claude/settings.json", "{}");
    assert_eq!(word(&desk.rule_on(&bash("make"), None, NOW)), "allow");
    assert_eq!(desk.closed(), None);
}

#[test]
fn a_folder_that_leads_elsewhere_by_now_makes_everything_asked() {
    let mut ground = Ground::new();
    ground.write("private/diary", "dear diary");
    ground.write("added/note", "x");
    ground.setup.add_dirs = vec![ground.path("added")];
    ground.write("work/diary", "mine");
    for (replaced, file) in [("work", "work/diary"), ("added", "added/note")] {
        let mut desk = ground.desk(Mode::Ask);
        let look = read(&ground.path(file));
        assert_eq!(word(&desk.rule_on(&look, None, NOW)), "allow");
        std::fs::rename(ground.path(replaced), ground.path("away")).unwrap();
        std::os::unix::fs::symlink(ground.path("private"), ground.path(replaced)).unwrap();
        let Ruling::Ask { because, .. } = desk.rule_on(&look, None, NOW) else {
            panic!("what lies behind the link is not inside");
        };
        assert!(
            because.text.contains("leads to another folder"),
            "{}",
            because.text
        );
        // The same agent, seen by a desk that was opened since.
        let mut next = ground.desk(Mode::Ask);
        next.go_on_from(&desk);
        assert_eq!(word(&next.rule_on(&look, None, NOW)), "ask");
        std::fs::remove_file(ground.path(replaced)).unwrap();
        std::fs::rename(ground.path("away"), ground.path(replaced)).unwrap();
        assert_eq!(word(&desk.rule_on(&look, None, NOW)), "allow");
    }
}

#[test]
fn what_a_file_forbade_holds_on_while_it_cannot_be_read() {
    let ground = Ground::new();
    ground.rules("[[rule]]\ndeny = \"Bash(rm:*)\"\n[[rule]]\nallow = \"Bash(make)\"\n");
    let mut desk = ground.desk(Mode::Ask);
    for broken in ["[[rule]", "[[rule]]\ndeny = 3\n", "[[rule]"] {
        ground.rules(broken);
        assert_eq!(
            word(&desk.rule_on(&bash("rm x"), None, NOW)),
            "deny",
            "{broken}"
        );
        assert_eq!(
            word(&desk.rule_on(&bash("make"), None, NOW)),
            "ask",
            "{broken}"
        );
    }
    ground.rules("");
    assert_eq!(word(&desk.rule_on(&bash("rm x"), None, NOW)), "ask");
}

#[test]
fn a_session_that_begins_with_a_broken_file_asks_about_everything() {
    let ground = Ground::new();
    std::fs::create_dir_all(ground.path(RULES)).unwrap();
    let mut desk = ground.desk(Mode::Edits);
    assert!(desk.closed().unwrap().contains("countersign.toml"));
    let ruling = desk.rule_on(&crate::ground::read(&ground.path("work/a")), None, NOW);
    assert_eq!(ruling.because().kind, Because::UNREADABLE);
    let mut desk = ground.desk(Mode::RulesOnly);
    let ruling = desk.rule_on(&crate::ground::read(&ground.path("work/a")), None, NOW);
    assert_eq!(word(&ruling), "deny");
}

#[test]
fn a_kept_rule_that_cannot_be_read_closes_only_if_it_restricts() {
    let ground = Ground::new();
    let rules = vec![
        kept(Effect::Allow, "nonsense("),
        kept(Effect::Allow, "Bash(make)"),
    ];
    let mut desk = ground.desk_with(rules, Mode::Ask);
    assert_eq!(word(&desk.rule_on(&bash("make"), None, NOW)), "allow");
    for effect in [Effect::Deny, Effect::Ask] {
        let rules = vec![kept(effect, "nonsense("), kept(Effect::Allow, "Bash(make)")];
        let mut desk = ground.desk_with(rules, Mode::Ask);
        let ruling = desk.rule_on(&bash("make"), None, NOW);
        assert_eq!(word(&ruling), "ask");
        assert!(ruling.because().text.contains("nonsense("), "{ruling:?}");
    }
}
