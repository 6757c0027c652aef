//! Which rule speaks: those of files, those that are kept, and what no rule opens.

use countersign_client::wire::control::CanUseTool;
use countersign_host::control::Mode;
use countersign_host::control::approval::{Remember, Scope};
use countersign_host::desk::{Desk, DeskError, Grounds, KeptRule, Reach, Ruling};
use countersign_policy::Effect;
use serde_json::json;

use crate::ground::{Ground, MINUTE, NOW, ask, bash, kept, read, word, write_to};

fn ruled(desk: &mut Desk, ask: &CanUseTool) -> &'static str {
    word(&desk.rule_on(ask, Some("default"), NOW))
}

#[test]
fn rules_of_both_kinds_of_files_and_kept_ones_all_count() {
    let ground = Ground::new();
    ground.write(
        "home/.claude/settings.json",
        r#"{"permissions": {"allow": ["Bash(make:*)"], "deny": ["Bash(git push:*)"]}}"#,
    );
    ground
        .rules("[[rule]]\nallow = \"Bash(cargo check)\"\n[[rule]]\nask = \"Bash(make deploy)\"\n");
    let rules = vec![
        kept(Effect::Allow, "Bash(npm test)"),
        kept(Effect::Deny, "Bash(make clean)"),
    ];
    let mut desk = ground.desk_with(rules, Mode::Ask);
    for (command, wanted) in [
        ("make all", "allow"),
        ("git push origin", "deny"),
        ("cargo check", "allow"),
        ("make deploy", "ask"),
        ("npm test", "allow"),
        ("make clean", "deny"),
        ("npm test; npm publish", "ask"),
    ] {
        assert_eq!(ruled(&mut desk, &bash(command)), wanted, "{command}");
    }
}

#[test]
fn a_ruling_names_the_rule_and_where_it_stands() {
    let ground = Ground::new();
    ground.rules("[[rule]]\ndeny = \"Bash(rm:*)\"\n");
    let mut desk = ground.desk_with(vec![kept(Effect::Allow, "Bash(make)")], Mode::Ask);
    let Ruling::Deny { message, because } = desk.rule_on(&bash("rm x"), None, NOW) else {
        panic!("a rule denies it");
    };
    assert!(message.contains("deny Bash(rm:*)"), "{message}");
    assert_eq!(because.kind, "rule");
    assert_eq!(because.rule.as_deref(), Some("deny Bash(rm:*)"));
    let origin = because.origin.unwrap();
    assert!(origin.ends_with("countersign.toml:2"), "{origin}");
    let Ruling::Allow(because) = desk.rule_on(&bash("make"), None, NOW) else {
        panic!("a rule allows it");
    };
    assert_eq!(because.origin.as_deref(), Some("remembered"));
}

#[test]
fn what_is_asked_comes_with_rules_that_would_allow_it() {
    let ground = Ground::new();
    let mut desk = ground.desk(Mode::Ask);
    let Ruling::Ask {
        because,
        suggestions,
        edits_would_do,
    } = desk.rule_on(&bash("git log -3"), None, NOW)
    else {
        panic!("no rule speaks about it");
    };
    assert_eq!((because.kind.as_ref(), edits_would_do), ("no-rule", false));
    assert!(!suggestions.is_empty());
    for rules in suggestions {
        let kept: Vec<KeptRule> = rules.iter().map(|text| kept(Effect::Allow, text)).collect();
        let asked = bash("git log -3");
        assert!(
            desk.would_allow(&kept, &asked, None, NOW).unwrap(),
            "{rules:?}"
        );
    }
    let edit = write_to(&ground.path("work/a.txt"));
    let ruling = desk.rule_on(&edit, None, NOW);
    assert!(
        matches!(
            ruling,
            Ruling::Ask {
                edits_would_do: true,
                ..
            }
        ),
        "{ruling:?}"
    );
}

#[test]
fn a_rule_that_would_not_allow_the_call_is_said_not_to() {
    let ground = Ground::new();
    let mut desk = ground.desk_with(vec![kept(Effect::Deny, "Bash(git push:*)")], Mode::Ask);
    let other = [kept(Effect::Allow, "Bash(git log:*)")];
    assert!(
        !desk
            .would_allow(&other, &bash("git status -s x"), None, NOW)
            .unwrap()
    );
    let denied = [kept(Effect::Allow, "Bash")];
    assert!(
        !desk
            .would_allow(&denied, &bash("git push"), None, NOW)
            .unwrap()
    );
    let broken = [kept(Effect::Allow, "bash(")];
    assert!(desk.would_allow(&broken, &bash("ls"), None, NOW).is_err());
    // It was only asked.
    assert_eq!(ruled(&mut desk, &bash("git log --all -p")), "ask");
}

#[test]
fn kept_rules_hold_where_and_as_long_as_they_say() {
    let ground = Ground::new();
    let rule = |text: &str, reach: Reach, expires: Option<u64>| KeptRule {
        number: None,
        reach,
        expires,
        ..kept(Effect::Allow, text)
    };
    let rules = vec![
        rule("Bash(make a)", Reach::Session, None),
        rule("Bash(make b)", Reach::Repository(ground.path("work")), None),
        rule(
            "Bash(make c)",
            Reach::Repository(ground.path("other")),
            None,
        ),
        rule("Bash(make d)", Reach::Always, Some(NOW + MINUTE)),
        rule("Edit(src/**)", Reach::Repository(ground.path("work")), None),
    ];
    let mut desk = ground.desk_with(rules, Mode::Ask);
    for (command, wanted) in [
        ("make a", "allow"),
        ("make b", "allow"),
        ("make c", "ask"),
        ("make d", "allow"),
    ] {
        assert_eq!(ruled(&mut desk, &bash(command)), wanted, "{command}");
    }
    assert_eq!(
        word(&desk.rule_on(&bash("make d"), None, NOW + MINUTE)),
        "ask"
    );
    assert_eq!(
        ruled(&mut desk, &write_to(&ground.path("work/src/a"))),
        "allow"
    );
    assert_eq!(
        ruled(&mut desk, &write_to(&ground.path("other/src/a"))),
        "ask"
    );
    desk.set_rules(Vec::new());
    assert_eq!(ruled(&mut desk, &bash("make a")), "ask");
    desk.add_rules(vec![rule("Bash(make a)", Reach::Session, None)]);
    assert_eq!(ruled(&mut desk, &bash("make a")), "allow");
}

#[test]
fn what_is_to_be_remembered_is_read_before_it_is_kept() {
    let ground = Ground::new();
    let repository = ground.grounds().repository();
    let remember = |rules: &[&str], expires| Remember {
        rules: rules.iter().map(|text| (*text).to_owned()).collect(),
        scope: Scope::Repository,
        expires,
        also_cli: false,
    };
    let good = KeptRule::remember(
        &remember(&["Bash(make:*)"], Some(NOW + 1)),
        &repository,
        NOW,
    );
    let good = good.unwrap();
    assert_eq!(good[0].reach, Reach::Repository(ground.path("work")));
    assert_eq!(
        (good[0].effect, good[0].expires),
        (Effect::Allow, Some(NOW + 1))
    );
    let wrong = KeptRule::remember(&remember(&["make"], None), &repository, NOW);
    assert!(matches!(wrong, Err(DeskError::BadRule(_))), "{wrong:?}");
    let over = KeptRule::remember(&remember(&["Bash"], Some(NOW)), &repository, NOW);
    assert!(matches!(over, Err(DeskError::BadMoment(_))), "{over:?}");
}

#[test]
fn no_rule_and_no_mode_opens_the_data_folder() {
    let ground = Ground::new();
    ground.write("data/host.db", "");
    let rules = vec![
        kept(Effect::Allow, "Read"),
        kept(Effect::Allow, "Edit"),
        kept(Effect::Allow, "Bash"),
    ];
    let hands_off = Mode::HandsOff {
        until: NOW + MINUTE,
    };
    let mut desk = ground.desk_with(rules, hands_off);
    let journal = ground.path("data/sessions/x/journal/000001.j");
    let own = ground.path("home/.config/countersign/countersign.toml");
    for asked in [
        read(&journal),
        write_to(&journal),
        read(&ground.path("data/host.db")),
        write_to(&own),
        bash(&format!("cat {}", journal.display())),
        bash(&format!("rm -rf {}", ground.path("data").display())),
    ] {
        assert_eq!(ruled(&mut desk, &asked), "ask", "{:?}", asked.input);
    }
    assert_eq!(ruled(&mut desk, &read(&ground.path("work/a"))), "allow");
}

#[test]
fn a_session_in_a_worktree_of_ours_has_that_folder_and_nothing_else_of_ours() {
    let ground = Ground::new();
    let tree = ground.path("data/worktrees/fix");
    std::fs::create_dir_all(&tree).unwrap();
    ground.write("data/backups/old.db", "");
    let main = ground.path("work");
    let grounds = Grounds::of(&ground.setup, &tree, Some(&main), &ground.host).unwrap();
    let rules = vec![
        kept(Effect::Allow, "Read"),
        KeptRule {
            number: None,
            reach: Reach::Repository(main),
            ..kept(Effect::Allow, "Edit(src/**)")
        },
    ];
    let mut desk = Desk::open(grounds, rules, Mode::Ask, NOW);
    assert_eq!(ruled(&mut desk, &read(&tree.join("a"))), "allow");
    // A rule of the repository is one of its worktrees, from their own folder on.
    assert_eq!(ruled(&mut desk, &write_to(&tree.join("src/a"))), "allow");
    assert_eq!(
        ruled(&mut desk, &write_to(&ground.path("work/src/a"))),
        "ask"
    );
    for ours in ["data/sessions/x", "data/host.db-wal", "data/backups/old.db"] {
        assert_eq!(ruled(&mut desk, &read(&ground.path(ours))), "ask", "{ours}");
    }
}

#[test]
fn no_session_works_among_our_own_files() {
    let mut ground = Ground::new();
    for folder in ["data", "data/sessions/x", "home/.config/countersign"] {
        std::fs::create_dir_all(ground.path(folder)).unwrap();
        let made = Grounds::of(&ground.setup, &ground.path(folder), None, &ground.host);
        assert!(matches!(made, Err(DeskError::Ours(_))), "{folder}");
    }
    std::os::unix::fs::symlink(ground.path("data"), ground.path("link")).unwrap();
    ground.setup.add_dirs = vec![ground.path("link/sessions")];
    let made = Grounds::of(&ground.setup, &ground.path("work"), None, &ground.host);
    assert!(matches!(made, Err(DeskError::Ours(_))));
    let made = Grounds::of(&ground.setup, "work".as_ref(), None, &ground.host);
    assert!(matches!(made, Err(DeskError::NotWhole(_))));
}

#[test]
fn the_secrets_of_the_person_stay_closed_to_an_agent_with_another_home() {
    let mut ground = Ground::new();
    std::fs::create_dir_all(ground.path("elsewhere")).unwrap();
    let elsewhere = ground.path("elsewhere").to_string_lossy().into_owned();
    ground.setup.env.insert("HOME".into(), elsewhere);
    let mut desk = ground.desk_with(vec![kept(Effect::Allow, "Read")], Mode::Ask);
    for key in ["home/.ssh/id", "elsewhere/.ssh/id"] {
        assert_eq!(ruled(&mut desk, &read(&ground.path(key))), "ask", "{key}");
    }
}

#[test]
fn folders_that_were_added_count_as_inside() {
    let mut ground = Ground::new();
    std::fs::create_dir_all(ground.path("lib")).unwrap();
    ground.setup.add_dirs = vec!["../lib".into()];
    let mut desk = ground.desk(Mode::Edits);
    assert_eq!(ruled(&mut desk, &write_to(&ground.path("lib/a"))), "allow");
    assert_eq!(ruled(&mut desk, &write_to(&ground.path("more/a"))), "ask");
    desk.add_dirs([ground.path("more")]);
    assert_eq!(ruled(&mut desk, &write_to(&ground.path("more/a"))), "allow");
}

#[test]
fn a_changed_input_is_another_call() {
    let ground = Ground::new();
    let mut desk = ground.desk_with(vec![kept(Effect::Deny, "Bash(rm:*)")], Mode::Ask);
    let asked = bash("ls -R /opt");
    let mut changed = |input| desk.check_changed(&asked, &input, None, NOW);
    assert_eq!(changed(json!({"command": "ls /opt"})), Ok(()));
    for (input, why) in [
        (json!({"command": "ls; rm -rf x"}), "deny Bash(rm:*)"),
        (json!({}), "empty"),
        (json!("ls"), "empty"),
        (json!({"command": 7}), "does not take"),
    ] {
        let error = changed(input).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn what_the_cli_marks_is_for_a_person_whatever_rules_say() {
    let ground = Ground::new();
    let hands_off = Mode::HandsOff {
        until: NOW + MINUTE,
    };
    let mut desk = ground.desk_with(vec![kept(Effect::Allow, "Bash")], hands_off);
    let mut marked = ask("Bash", json!({"command": "ls"}));
    assert_eq!(ruled(&mut desk, &marked), "allow");
    marked.suppress_always_allow_rule = Some(true);
    assert_eq!(ruled(&mut desk, &marked), "ask");
}
