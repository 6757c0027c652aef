//! What holds for every set of rules and every call.
//!
//! More rules that deny are never milder, no construct carries an unlisted command past the rules, plan mode writes
//! nothing, what bash cannot parse is not allowed. Each property has a control that shows that it can fail.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod constructs;
mod controls;
mod world;

use std::process::{Command, Stdio};

use countersign_policy::{Call, Effect, Policy, Profile, Verdict, Why, suggest};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use constructs::{ALL, Text};
use world::{any_rule, bash, call, decide, hands_off, policy, rule, rule_text, rules, script};

/// Commands that the rules of [`listed`] allow.
const LISTED: [&str; 6] = [
    "git log",
    "ls -la src",
    "echo a",
    "cat src/a.rs",
    "true",
    "git log --oneline -5",
];

/// Commands that they do not.
const UNLISTED: [&str; 8] = [
    "touch x",
    "rm -rf x",
    "curl https://docs.example",
    "./run",
    "python3 x.py",
    "mv a b",
    "git push",
    "npm publish",
];

/// Rules for harmless commands, and for what the constructs themselves use.
fn listed() -> Policy {
    let texts = [
        "Bash(git log:*)",
        "Bash(ls:*)",
        "Bash(echo:*)",
        "Bash(cat:*)",
        "Bash(true)",
        "Bash(false)",
        "Bash(find:*)",
        "Bash([:*)",
        "Bash(wait)",
        "Bash(break)",
        "Bash([[:*)",
    ];
    Policy {
        rules: rules(Effect::Allow, &texts),
        ..Policy::default()
    }
}

fn with(policy: &Policy, effect: Effect, text: &str) -> Policy {
    let mut more = policy.clone();
    more.rules.push(rule(effect, text));
    more
}

/// What of a verdict must not change.
fn gist(verdict: &Verdict) -> (Effect, Why, bool) {
    (
        verdict.effect,
        verdict.reason.why,
        verdict.may_be_waved_through,
    )
}

/// One to three constructs around a command.
fn nested(innermost: Vec<&'static str>) -> impl Strategy<Value = String> {
    let around = prop::collection::vec((0..ALL.len(), select(LISTED.as_slice())), 1..4);
    (select(innermost), around).prop_map(|(command, around)| {
        let wrap =
            |inner: Text, (index, harmless): &(usize, &str)| ALL[*index].around(harmless, &inner);
        around.iter().fold(Text::words(command), wrap).text
    })
}

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        cases: 768,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn one_more_rule_that_denies_is_never_milder(policy in policy(), call in call(), text in rule_text()) {
        let (before, after) = (decide(&policy, &call), decide(&with(&policy, Effect::Deny, &text), &call));
        prop_assert!(after.effect >= before.effect, "{before:?}\n{after:?}");
        let is_for_a_person = before.effect == Effect::Ask && !before.may_be_waved_through;
        prop_assert!(!(is_for_a_person && after.effect != Effect::Deny && after.may_be_waved_through), "{before:?}\n{after:?}");
    }

    #[test]
    fn one_more_rule_that_asks_is_never_milder(policy in policy(), call in call(), text in rule_text()) {
        let (before, after) = (decide(&policy, &call), decide(&with(&policy, Effect::Ask, &text), &call));
        prop_assert!(after.effect >= before.effect, "{before:?}\n{after:?}");
    }

    #[test]
    fn one_more_rule_that_allows_lifts_no_denial_and_nothing_that_is_for_a_person(
        policy in policy(), call in call(), text in rule_text(),
    ) {
        let (before, after) = (decide(&policy, &call), decide(&with(&policy, Effect::Allow, &text), &call));
        prop_assert!(after.effect <= before.effect, "{before:?}\n{after:?}");
        let may_change = before.effect == Effect::Allow || before.reason.why == Why::NoRule;
        if !may_change {
            prop_assert_eq!(gist(&before), gist(&after), "{}", before.reason.text);
        }
    }

    #[test]
    fn the_order_of_rules_does_not_matter(policy in policy(), call in call()) {
        let mut turned = policy.clone();
        turned.rules.reverse();
        prop_assert_eq!(gist(&decide(&policy, &call)), gist(&decide(&turned, &call)));
    }

    #[test]
    fn an_explanation_explains_the_verdict(policy in policy(), call in call()) {
        let explained = world::with_place(|place| policy.explain(&call, place, world::now()));
        prop_assert_eq!(explained.verdict, decide(&policy, &call));
    }

    #[test]
    fn an_unlisted_command_in_any_construct_is_not_allowed(text in nested(UNLISTED.to_vec())) {
        let policies = [listed(), Policy { profile: Profile::Edits, ..listed() }];
        for policy in policies {
            prop_assert_ne!(decide(&policy, &bash(&text)).effect, Effect::Allow, "{}", text);
        }
    }

    #[test]
    fn a_denied_command_in_any_construct_is_not_allowed(
        text in nested(vec!["rm x", "rm -rf x", "/bin/rm x", "r''m x", "rm $X", "touch x"]),
        more in prop::collection::vec(rule_text(), 0..5),
    ) {
        let mut rules = rules(Effect::Allow, &["Bash", "Edit", "Read"]);
        rules.extend(more.iter().map(|text| rule(Effect::Allow, text)));
        rules.extend([rule(Effect::Deny, "Bash(rm:*)"), rule(Effect::Deny, "Bash(touch:*)")]);
        let policy = Policy { rules, profile: hands_off() };
        let verdict = decide(&policy, &bash(&text));
        prop_assert_ne!(verdict.effect, Effect::Allow, "{}", text);
        prop_assert!(verdict.effect == Effect::Deny || !verdict.may_be_waved_through, "{text}: {verdict:?}");
    }

    #[test]
    fn plan_mode_writes_nothing_by_rule_or_profile(
        more in prop::collection::vec(any_rule(), 0..6),
        text in nested(vec!["touch x", "rm x", "mkdir x", "cp a b", "tee x", "sed -i s/a/b/ x", "git commit -m x", "echo a > x", "npm i"]),
        tool in select(vec!["Write", "Edit", "MultiEdit", "NotebookEdit", "mcp__srv__add", "SomethingNew"]),
        path in world::path(),
    ) {
        let mut rules = rules(Effect::Allow, &["Bash", "Edit", "Write", "NotebookEdit", "Read", "mcp__srv", "SomethingNew"]);
        rules.extend(more);
        let policy = Policy { rules, profile: hands_off() };
        let other = Call::new(tool, json!({ "file_path": path, "notebook_path": path }));
        for call in [bash(&text), other] {
            let call = Call { in_plan_mode: true, plan_file: Some(world::plan_file()), ..call };
            let verdict = decide(&policy, &call);
            prop_assert_ne!(verdict.effect, Effect::Allow, "{:?}", call);
            prop_assert!(verdict.effect == Effect::Deny || verdict.reason.rule.is_some() || !verdict.may_be_waved_through, "{verdict:?}");
        }
    }

    #[test]
    fn whatever_is_suggested_allows_the_call(policy in policy(), call in call()) {
        let before = decide(&policy, &call);
        for set in world::with_place(|place| suggest(&policy, &call, place, world::now())) {
            prop_assert_eq!(before.effect, Effect::Ask);
            prop_assert!(before.may_be_waved_through, "{before:?}");
            let wider = set.iter().fold(policy.clone(), |policy, text| with(&policy, Effect::Allow, text));
            prop_assert_eq!(decide(&wider, &call).effect, Effect::Allow, "{:?}", set);
        }
    }
}

/// A text that may be broken: cut off, or with a letter of the shell put in.
fn perhaps_broken() -> impl Strategy<Value = String> {
    let sign = select(vec![
        "'", "\"", "`", "$(", "${", ")", "}", "{", "(", "<", ">", "&&", "||", "|", ";;", "<<",
        "\\", "do", "fi", "\n", "#", "[",
    ]);
    let cut = (script(), any::<prop::sample::Index>()).prop_map(|(text, at)| {
        let at = at.index(text.len() + 1);
        text.char_indices()
            .take_while(|(index, _)| *index < at)
            .map(|(_, c)| c)
            .collect()
    });
    let put = (script(), any::<prop::sample::Index>(), sign).prop_map(|(text, at, sign)| {
        let places: Vec<usize> = text.char_indices().map(|(index, _)| index).collect();
        let at = places
            .get(at.index(places.len() + 1))
            .copied()
            .unwrap_or(text.len());
        format!("{}{sign}{}", &text[..at], &text[at..])
    });
    prop_oneof![cut, put, "[a-z $(){}'\"`;&|<>\\\\\n#*]{0,24}"]
}

/// Whether bash can parse a text.
fn parses(text: &str) -> bool {
    let bash = Command::new("bash")
        .args(["--norc", "--noprofile", "-n", "-c", text])
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    bash.is_ok_and(|status| status.success())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_bash_cannot_parse_is_not_allowed(text in perhaps_broken()) {
        let policy = Policy { rules: rules(Effect::Allow, &["Bash"]), profile: hands_off() };
        if decide(&policy, &bash(&text)).effect == Effect::Allow {
            prop_assert!(parses(&text), "{text:?} is allowed, but bash cannot parse it");
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), policy in policy()) {
        decide(&policy, &bash(&text));
        decide(&policy, &Call::new("Read", json!({ "file_path": text })));
        decide(&policy, &Call::new("WebFetch", json!({ "url": text })));
    }
}
