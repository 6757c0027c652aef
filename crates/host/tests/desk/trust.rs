//! What a repository brings counts once a person trusts it, in its worktrees as well.

use countersign_host::control::Mode;
use countersign_host::desk::{Desk, DeskError, Grounds};

use crate::ground::{Ground, NOW, bash, word};

const PROJECT: &str = r#"{"permissions": {"allow": ["Bash(make)"], "deny": ["Bash(rm:*)"], "additionalDirectories": ["../lib"]},
  "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "./hello"}]}]}}"#;

#[test]
fn a_repository_forbids_at_once_and_allows_only_what_is_trusted() {
    let ground = Ground::new();
    ground.write("work/.claude/settings.json", PROJECT);
    let mut desk = ground.desk(Mode::Ask);
    assert_eq!(word(&desk.rule_on(&bash("make"), None, NOW)), "ask");
    assert_eq!(word(&desk.rule_on(&bash("rm x"), None, NOW)), "deny");
    let withheld = desk.withheld();
    assert_eq!(withheld.rules, ["allow Bash(make)"]);
    assert_eq!(withheld.folders, [ground.path("work/../lib")]);
    assert_eq!(withheld.programs.len(), 1);
    desk.trust(NOW).unwrap();
    assert!(desk.withheld().is_empty());
    assert_eq!(word(&desk.rule_on(&bash("make"), None, NOW)), "allow");
    assert!(matches!(desk.trust(NOW), Err(DeskError::NotTrusted(_))));
    // Another session of the same folder knows it, and what is added later is not trusted with it.
    let mut other = ground.desk(Mode::Ask);
    assert_eq!(word(&other.rule_on(&bash("make"), None, NOW)), "allow");
    ground.write(
        "work/countersign.toml",
        "[[rule]]\nallow = \"Bash(make all)\"\n",
    );
    assert_eq!(word(&other.rule_on(&bash("make all"), None, NOW)), "ask");
    assert_eq!(other.withheld().rules, ["allow Bash(make all)"]);
}

#[test]
fn a_worktree_is_trusted_as_its_repository_is_as_far_as_it_is_the_same() {
    let ground = Ground::new();
    ground.write("work/.claude/settings.json", PROJECT);
    ground.write("data/worktrees/fix/.claude/settings.json", PROJECT);
    let tree = ground.path("data/worktrees/fix");
    let main = ground.path("work");
    let open = || {
        let grounds = Grounds::of(&ground.setup, &tree, Some(&main), &ground.host).unwrap();
        Desk::open(grounds, Vec::new(), Mode::Ask, NOW)
    };
    assert_eq!(open().withheld().programs.len(), 1);
    ground.desk(Mode::Ask).trust(NOW).unwrap();
    let mut desk = open();
    assert!(desk.withheld().is_empty());
    assert_eq!(word(&desk.rule_on(&bash("make"), None, NOW)), "allow");
    let other = PROJECT.replace("./hello", "./other");
    ground.write("data/worktrees/fix/.claude/settings.json", &other);
    assert_eq!(open().withheld().programs.len(), 1);
}

#[test]
fn our_own_settings_are_ours_whatever_a_session_sets() {
    let mut ground = Ground::new();
    ground.rules("[[rule]]\ndeny = \"Bash(rm:*)\"\n");
    let elsewhere = ground.path("elsewhere").to_string_lossy().into_owned();
    for name in ["HOME", "XDG_CONFIG_HOME", "COUNTERSIGN_CONFIG_DIR"] {
        ground.setup.env.insert(name.into(), elsewhere.clone());
    }
    let mut desk = ground.desk(Mode::Ask);
    assert_eq!(word(&desk.rule_on(&bash("rm x"), None, NOW)), "deny");
}
