//! Decisions about plain calls.

use countersign_host::approval::{After, Agent, Answer, Known, decide, expired};
use countersign_host::control::approval::{Effect, PlanDecision, Remember, Scope, Way};
use countersign_host::control::{ControlError, Decide, Mode};
use serde_json::{Value, json};

use crate::stage::{MIDDLE, NEW, NOW, OLD, OLDEST, ask, choose, gone, invalid, known, plan, tool};

fn bash() -> countersign_host::approval::Asked {
    tool("Bash", json!({"command": "touch x"}))
}

fn allow(
    updated_input: Option<Value>,
    remember: Option<Remember>,
    mode: Option<Mode>,
    add_dirs: &[&str],
) -> Decide {
    Decide::Allow {
        updated_input,
        remember,
        mode,
        add_dirs: add_dirs.iter().map(|dir| (*dir).to_owned()).collect(),
    }
}

fn always(scope: Scope, also_cli: bool) -> Decide {
    let remember = Remember {
        rules: vec!["Bash(touch x)".to_owned()],
        scope,
        expires: None,
        also_cli,
    };
    allow(None, Some(remember), None, &[])
}

/// The updates that go with an allow, as they would stand on the wire.
fn updates(answer: Option<&Answer>) -> Value {
    match answer {
        Some(Answer::Allow { updates, .. }) => serde_json::to_value(updates).unwrap(),
        other => panic!("no allow: {other:?}"),
    }
}

#[test]
fn a_plain_yes_is_an_allow_and_nothing_else() {
    let come = decide(&bash(), &Decide::allow(), &known(NEW)).unwrap();
    let answer = Answer::Allow {
        input: None,
        updates: Vec::new(),
    };
    assert_eq!(come.answer, Some(answer));
    assert_eq!((come.effect, come.mode), (Effect::Allow, None));
    assert_eq!(
        (come.rules.len(), come.add_dirs.len(), come.notes.len()),
        (0, 0, 0)
    );
    assert_eq!(come.after, After::Nothing);
}

#[test]
fn always_is_a_rule_of_ours_and_touches_no_setting_of_the_cli() {
    let come = decide(&bash(), &always(Scope::Repository, false), &known(NEW)).unwrap();
    assert_eq!(come.rules.len(), 1);
    assert_eq!(come.rules[0].text, "Bash(touch x)");
    assert_eq!(come.rules[0].scope, Scope::Repository);
    assert_eq!(updates(come.answer.as_ref()), json!([]));
    assert_eq!(come.mode, None);
}

#[test]
fn always_in_the_cli_too_adds_the_rule_where_that_reach_is_kept() {
    for (scope, destination) in [
        (Scope::Session, "session"),
        (Scope::Repository, "localSettings"),
        (Scope::Always, "userSettings"),
    ] {
        let come = decide(&bash(), &always(scope, true), &known(NEW)).unwrap();
        let expected = json!([{"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch x"}],
            "behavior": "allow", "destination": destination}]);
        assert_eq!(updates(come.answer.as_ref()), expected);
        assert_eq!(come.rules.len(), 1, "ours holds as well");
        assert_eq!(come.notes, Vec::<String>::new());
    }
}

#[test]
fn a_word_is_said_when_this_version_will_not_honour_it() {
    let notes = |version, scope| {
        decide(&bash(), &always(scope, true), &known(version))
            .unwrap()
            .notes
    };
    assert!(notes(MIDDLE, Scope::Repository)[0].contains("2.1.197"));
    assert!(notes(OLD, Scope::Session)[0].contains("paths"));
    assert!(notes(OLD, Scope::Always)[0].contains("2.1.62"));
    assert_eq!(notes(OLDEST, Scope::Repository), Vec::<String>::new());
    assert_eq!(notes(NEW, Scope::Always), Vec::<String>::new());
    let unsaid = decide(&bash(), &always(Scope::Repository, false), &known(OLD)).unwrap();
    assert_eq!(
        unsaid.notes,
        Vec::<String>::new(),
        "nothing is written there"
    );
}

#[test]
fn a_rule_that_could_spoil_the_clis_settings_is_not_written_there() {
    let remember = |also_cli| {
        let remember = Remember {
            rules: vec!["Bash(echo \"x)".to_owned()],
            scope: Scope::Always,
            expires: None,
            also_cli,
        };
        allow(None, Some(remember), None, &[])
    };
    assert!(decide(&bash(), &remember(false), &known(NEW)).is_ok());
    let why = invalid(decide(&bash(), &remember(true), &known(NEW)));
    assert!(why.contains("also_cli"), "{why}");
}

#[test]
fn neither_a_mode_nor_a_folder_rides_along_with_always() {
    let Decide::Allow { remember, .. } = always(Scope::Session, false) else {
        unreachable!()
    };
    for decision in [
        allow(None, remember.clone(), Some(Mode::Edits), &[]),
        allow(None, remember, None, &["/tmp"]),
    ] {
        assert!(invalid(decide(&bash(), &decision, &known(NEW))).contains("of their own"));
    }
}

#[test]
fn a_mode_is_ours_and_only_plan_mode_is_the_clis() {
    let until = NOW + 1;
    for (mode, on_the_wire) in [
        (Mode::Ask, "default"),
        (Mode::Edits, "default"),
        (Mode::HandsOff { until }, "default"),
        (Mode::RulesOnly, "default"),
        (Mode::Plan, "plan"),
    ] {
        let come = decide(&bash(), &allow(None, None, Some(mode), &[]), &known(NEW)).unwrap();
        assert_eq!(come.mode, Some(mode));
        let expected = json!([{"type": "setMode", "mode": on_the_wire, "destination": "session"}]);
        assert_eq!(updates(come.answer.as_ref()), expected);
        assert_eq!(come.rules, []);
    }
    // Over already, or longer than anybody keeps their hands off.
    for until in [NOW, NOW + 86_400_000_000 + 1] {
        let bad = allow(None, None, Some(Mode::HandsOff { until }), &[]);
        assert!(invalid(decide(&bash(), &bad, &known(NEW))).contains("within a day"));
    }
}

#[test]
fn folders_are_whole_paths() {
    let come = decide(&bash(), &allow(None, None, None, &["/data/x"]), &known(NEW)).unwrap();
    assert_eq!(come.add_dirs, ["/data/x"]);
    let expected =
        json!([{"type": "addDirectories", "directories": ["/data/x"], "destination": "session"}]);
    assert_eq!(updates(come.answer.as_ref()), expected);
    for bad in ["x", "./x", "/a/../etc", ""] {
        invalid(decide(
            &bash(),
            &allow(None, None, None, &[bad]),
            &known(NEW),
        ));
    }
}

#[test]
fn a_changed_input_goes_back_whole_and_must_fit_the_tool() {
    let changed = json!({"command": "touch y"});
    let come = decide(
        &bash(),
        &allow(Some(changed.clone()), None, None, &[]),
        &known(NEW),
    )
    .unwrap();
    assert_eq!(come.changed.as_ref(), Some(&changed));
    let Some(Answer::Allow { input, .. }) = come.answer else {
        panic!("an allow")
    };
    assert_eq!(input, Some(changed));
    for bad in [
        json!({}),
        json!(null),
        json!([1]),
        json!("x"),
        json!({"command": 5}),
    ] {
        invalid(decide(
            &bash(),
            &allow(Some(bad), None, None, &[]),
            &known(NEW),
        ));
    }
}

#[test]
fn rules_are_checked_before_anything_is_sent() {
    let remember = |rules: &[&str], expires| {
        let remember = Remember {
            rules: rules.iter().map(|rule| (*rule).to_owned()).collect(),
            scope: Scope::Session,
            expires,
            also_cli: false,
        };
        allow(None, Some(remember), None, &[])
    };
    invalid(decide(&bash(), &remember(&[], None), &known(NEW)));
    invalid(decide(&bash(), &remember(&["Bash("], None), &known(NEW)));
    invalid(decide(&bash(), &remember(&["Bash", ""], None), &known(NEW)));
    invalid(decide(
        &bash(),
        &remember(&["Bash"], Some(NOW)),
        &known(NEW),
    ));
    let come = decide(&bash(), &remember(&["Bash"], Some(NOW + 5)), &known(NEW)).unwrap();
    assert_eq!(come.rules[0].expires, Some(NOW + 5));
    let both = Remember {
        rules: vec!["Bash".to_owned()],
        scope: Scope::Always,
        expires: Some(NOW + 5),
        also_cli: true,
    };
    let why = invalid(decide(
        &bash(),
        &allow(None, Some(both), None, &[]),
        &known(NEW),
    ));
    assert!(why.contains("does not end by itself"), "{why}");
}

#[test]
fn what_the_cli_marks_is_allowed_once_and_never_for_good() {
    let marked = ask(
        json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "rm -rf /"},
        "tool_use_id": "t", "suppress_always_allow_rule": true}),
    );
    assert!(decide(&marked, &Decide::allow(), &known(NEW)).is_ok());
    let why = invalid(decide(&marked, &always(Scope::Session, false), &known(NEW)));
    assert!(why.contains("this once"), "{why}");
}

#[test]
fn a_no_always_has_words() {
    for (message, interrupt, said) in [
        (Some("not here"), false, "not here"),
        (Some("  not here \n"), true, "not here"),
        (None, false, "The person said no."),
        (Some("  "), false, "The person said no."),
        (None, true, "The person said no and stopped the turn."),
    ] {
        let decision = Decide::Deny {
            message: message.map(str::to_owned),
            interrupt,
        };
        let come = decide(&bash(), &decision, &known(OLDEST)).unwrap();
        let answer = Answer::Deny {
            message: said.to_owned(),
            stop: interrupt,
        };
        assert_eq!(come.answer, Some(answer));
        assert_eq!((come.effect, come.message.as_str()), (Effect::Deny, said));
    }
}

#[test]
fn words_that_a_version_would_not_pass_on_are_pointed_out() {
    let stop = |message: Option<&str>| Decide::Deny {
        message: message.map(str::to_owned),
        interrupt: true,
    };
    let notes = |version, message| {
        decide(&bash(), &stop(message), &known(version))
            .unwrap()
            .notes
    };
    assert_eq!(notes(NEW, Some("why")).len(), 1);
    assert_eq!(notes(MIDDLE, Some("why")).len(), 1);
    assert_eq!(notes(OLD, Some("why")).len(), 0);
    assert_eq!(notes(NEW, None).len(), 0);
}

#[test]
fn a_decision_for_another_kind_of_question_decides_nothing() {
    for decision in [
        Decide::Plan(choose(Way::Manual)),
        Decide::Answer { answers: json!({}) },
        Decide::Decline { message: None },
    ] {
        invalid(decide(&bash(), &decision, &known(NEW)));
    }
}

#[test]
fn entering_plan_mode_is_remembered_for_the_next_agent() {
    let asked = tool("EnterPlanMode", json!({}));
    let come = decide(&asked, &Decide::allow(), &known(OLDEST)).unwrap();
    assert_eq!(come.mode, Some(Mode::Plan));
    let denied = decide(&asked, &Decide::deny("no"), &known(OLDEST)).unwrap();
    assert_eq!(denied.mode, None);
}

#[test]
fn without_the_agent_a_call_cannot_be_decided() {
    let refused = decide(&bash(), &Decide::allow(), &gone(NEW));
    assert!(
        matches!(refused, Err(ControlError::NotNow { .. })),
        "{refused:?}"
    );
}

#[test]
fn expiry_is_a_delivered_no_in_words() {
    let come = expired(&bash(), 15 * 60_000_000, &known(NEW));
    let answer = Answer::Deny {
        message: "Nobody answered within 15 minutes.".to_owned(),
        stop: false,
    };
    assert_eq!(come.answer, Some(answer));
    assert_eq!(come.effect, Effect::Deny);
    assert_eq!(
        expired(&plan("# P"), 60_000_000, &known(NEW)).message,
        "Nobody answered within 1 minute."
    );
    let within = |micros: u64| expired(&bash(), micros, &known(NEW)).message;
    for (micros, words) in [
        (3_000_000, "3 seconds"),
        (1, "1 second"),
        (90_000_000, "90 seconds"),
        (300_000_000, "5 minutes"),
        (7_200_000_000, "2 hours"),
    ] {
        assert_eq!(within(micros), format!("Nobody answered within {words}."));
    }
    let form = ask(json!({"subtype": "elicitation", "mcp_server_name": "s", "message": "m"}));
    assert_eq!(expired(&form, 5, &known(NEW)).answer, Some(Answer::Dismiss));
    let dialog = ask(json!({"subtype": "request_user_dialog", "dialog_kind": "k", "payload": {}}));
    assert_eq!(
        expired(&dialog, 5, &known(NEW)).answer,
        Some(Answer::Dismiss)
    );
    assert_eq!(expired(&plan("# P"), 5, &gone(NEW)).answer, None);
}

#[test]
fn no_decision_can_ask_for_a_bypass() {
    let words = [
        "bypassPermissions",
        "bypass",
        "dangerously",
        "acceptEdits",
        "auto",
    ];
    for word in words {
        for text in [
            format!(r#"{{"decision":"allow","mode":{{"mode":"{word}"}}}}"#),
            format!(r#"{{"decision":"plan","choice":"{word}"}}"#),
            format!(r#"{{"decision":"plan","choice":"clear-context","mode":{{"mode":"{word}"}}}}"#),
        ] {
            assert!(serde_json::from_str::<Decide>(&text).is_err(), "{text}");
        }
    }
    // Whatever is decided, no answer names such a mode.
    let ways = [
        Way::ClearContext,
        Way::AcceptEdits,
        Way::Manual,
        Way::KeepPlanning,
    ];
    for way in ways {
        for compact in [false, true] {
            let decision = Decide::Plan(PlanDecision {
                feedback: Some("so".to_owned()),
                compact,
                ..choose(way)
            });
            for known in [known(NEW), known(OLD), known(OLDEST), gone(NEW)] {
                let Ok(come) = decide(&plan("# P"), &decision, &known) else {
                    continue;
                };
                let text = serde_json::to_string(&come).unwrap();
                assert!(
                    !text.contains("bypass") && !text.contains("acceptEdits"),
                    "{text}"
                );
            }
        }
    }
}

#[test]
fn an_unknown_version_is_taken_for_the_most_careful_one() {
    let unknown = Known {
        version: None,
        ..known(NEW)
    };
    assert_eq!(unknown.agent, Agent::Waits);
    let come = decide(&bash(), &always(Scope::Repository, true), &unknown).unwrap();
    assert_eq!(come.notes.len(), 1);
}
