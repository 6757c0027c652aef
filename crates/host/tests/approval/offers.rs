//! What may be chosen beside yes and no.

use countersign_host::approval::{offers, with_edits};
use countersign_host::control::Mode;
use countersign_host::control::approval::{Offer, OfferKind};
use serde_json::{Value, json};

use crate::stage::{MIDDLE, NEW, OLD, OLDEST, RECORDED, ask, plan, questions, tool};

fn suggesting(suggestions: Value) -> countersign_host::approval::Asked {
    ask(
        json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "touch x"}, "tool_use_id": "t",
        "permission_suggestions": suggestions}),
    )
}

fn rules(rule: &str) -> Vec<Vec<String>> {
    vec![vec![rule.to_owned()]]
}

fn kinds(offers: &[Offer]) -> Vec<OfferKind> {
    offers.iter().map(|offer| offer.kind).collect()
}

#[test]
fn a_mode_and_folders_are_choices_of_their_own() {
    let asked = suggesting(json!([
        {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch x"}], "behavior": "allow", "destination": "localSettings"},
        {"type": "addDirectories", "directories": ["/project"], "destination": "session"},
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"}]));
    let offers = offers(&asked, rules("Bash(touch x)"), Some(NEW));
    assert_eq!(
        kinds(&offers),
        [OfferKind::Always, OfferKind::Directories, OfferKind::Mode]
    );
    let [always, folders, mode] = offers.as_slice() else {
        panic!("three");
    };
    assert_eq!(always.rules, ["Bash(touch x)"]);
    assert_eq!(always.update.as_ref().unwrap()["type"], "addRules");
    assert_eq!((always.mode, always.directories.len()), (None, 0));
    assert_eq!(folders.directories, ["/project"]);
    assert_eq!((folders.rules.len(), folders.mode), (0, None));
    assert_eq!(mode.mode, Some(Mode::Edits));
    assert_eq!((mode.rules.len(), mode.directories.len()), (0, 0));
    for offer in &offers {
        assert!(!offer.label.is_empty());
    }
}

#[test]
fn no_offer_of_a_recorded_question_mixes_two_kinds() {
    for version in RECORDED {
        for scenario in ["bash-approved", "write-edit", "sub-agent", "rules"] {
            for asked in questions(version, scenario) {
                for offer in offers(&asked, rules("Bash"), version.parse().ok()) {
                    let parts = [
                        !offer.rules.is_empty(),
                        offer.mode.is_some(),
                        !offer.directories.is_empty(),
                    ];
                    assert_eq!(parts.iter().filter(|part| **part).count(), 1, "{offer:?}");
                }
            }
        }
    }
}

#[test]
fn modes_that_take_calls_out_of_sight_are_not_offered() {
    for mode in ["bypassPermissions", "auto", "dontAsk", "new-mode"] {
        let asked =
            suggesting(json!([{"type": "setMode", "mode": mode, "destination": "session"}]));
        assert_eq!(offers(&asked, Vec::new(), Some(NEW)), [], "{mode}");
    }
}

#[test]
fn where_no_rule_can_allow_it_always_is_not_offered() {
    for mark in [
        json!({"suppress_always_allow_rule": true}),
        json!({"decision_reason_type": "safetyCheck"}),
        json!({"requires_user_interaction": true}),
        json!({"server_policy_ask_only": true}),
        json!({"default_to_no": true}),
    ] {
        let mut request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "rm -rf /"}, "tool_use_id": "t"});
        request
            .as_object_mut()
            .unwrap()
            .extend(mark.as_object().unwrap().clone());
        assert_eq!(
            offers(&ask(request), rules("Bash"), Some(NEW)),
            [],
            "{mark}"
        );
    }
}

#[test]
fn the_update_of_the_cli_stands_beside_our_rule_only_if_it_says_the_same() {
    let asked = suggesting(
        json!([{"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch:*"}], "behavior": "allow", "destination": "localSettings"}]),
    );
    assert_eq!(
        offers(&asked, rules("Bash(touch x)"), Some(NEW))[0].update,
        None
    );
    assert!(
        offers(&asked, rules("Bash(touch:*)"), Some(NEW))[0]
            .update
            .is_some()
    );
    let denies = suggesting(
        json!([{"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch:*"}], "behavior": "deny", "destination": "localSettings"}]),
    );
    assert_eq!(
        offers(&denies, rules("Bash(touch:*)"), Some(NEW))[0].update,
        None
    );
}

#[test]
fn a_version_that_will_not_honour_a_rule_is_named() {
    let asked = tool("Bash", json!({"command": "touch x"}));
    let note = |version, rule: &str| offers(&asked, rules(rule), version)[0].note.clone();
    assert_eq!(note(Some(NEW), "Bash(touch x)"), None);
    assert_eq!(note(Some(OLDEST), "Bash(touch x)"), None);
    assert!(
        note(Some(MIDDLE), "Bash(touch x)")
            .unwrap()
            .contains("trusted")
    );
    assert!(note(Some(OLD), "Bash(touch x)").unwrap().contains("paths"));
    assert_eq!(note(Some(OLD), "Bash"), None);
    assert!(note(None, "Bash(touch x)").is_some());
    let shared = suggesting(
        json!([{"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch x"}], "behavior": "allow", "destination": "projectSettings"}]),
    );
    let note = offers(&shared, rules("Bash(touch x)"), Some(NEW))[0]
        .note
        .clone();
    assert!(note.unwrap().contains("trusted"));
}

#[test]
fn a_rule_that_the_clis_settings_may_not_take_is_named() {
    let asked = tool("Bash", json!({"command": "echo \"x"}));
    let offers = offers(&asked, rules("Bash(echo \"x)"), Some(NEW));
    assert!(offers[0].note.as_deref().unwrap().contains("own settings"));
}

#[test]
fn plans_and_forms_have_no_offers() {
    assert_eq!(offers(&plan("# P"), rules("ExitPlanMode"), Some(NEW)), []);
}

#[test]
fn accepting_edits_is_offered_once_where_it_would_do() {
    let silent = tool("Write", json!({"file_path": "/project/x", "content": ""}));
    let bare = offers(&silent, Vec::new(), Some(NEW));
    assert_eq!(with_edits(bare.clone(), false), []);
    let offered = with_edits(bare, true);
    assert_eq!(kinds(&offered), [OfferKind::Mode]);
    assert_eq!(offered[0].mode, Some(Mode::Edits));
    let suggests =
        suggesting(json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]));
    let suggested = offers(&suggests, Vec::new(), Some(NEW));
    assert_eq!(with_edits(suggested.clone(), true), suggested);
}
