//! The ways on from a plan while its agent waits, on three versions.

use countersign_client::options::Version;
use countersign_host::approval::{After, Answer, Asked, Consequence, Known, decide, session_id};
use countersign_host::control::approval::{Comment, Effect, PlanDecision, Way};
use countersign_host::control::{Decide, Mode};
use serde_json::{Value, json};

use crate::stage::{
    NEW, NOW, OLD, OLDEST, RECORDED, choose, image, invalid, known, plan, questions,
};

const TEXT: &str = "# Plan\n\n1. Write hello.txt\n";

const VERSIONS: [Version; 3] = [NEW, OLD, OLDEST];

fn come(choice: PlanDecision, version: Version) -> Consequence {
    decide(&plan(TEXT), &Decide::Plan(choice), &known(version)).unwrap()
}

fn refused(asked: &Asked, choice: PlanDecision) -> String {
    invalid(decide(asked, &Decide::Plan(choice), &known(NEW)))
}

fn said(way: Way, feedback: &str) -> PlanDecision {
    PlanDecision {
        feedback: Some(feedback.to_owned()),
        ..choose(way)
    }
}

fn wire(come: &Consequence) -> Value {
    serde_json::to_value(come.answer.as_ref().unwrap()).unwrap()
}

fn denial(come: &Consequence) -> (&str, bool) {
    match &come.answer {
        Some(Answer::Deny { message, stop }) => (message, *stop),
        other => panic!("no denial: {other:?}"),
    }
}

#[test]
fn accept_edits_and_manual_leave_plan_mode_for_the_default_mode_of_the_cli() {
    for version in VERSIONS {
        for (way, mode) in [(Way::AcceptEdits, Mode::Edits), (Way::Manual, Mode::Ask)] {
            let come = come(choose(way), version);
            let expected = json!({"answer": "allow", "updates": [
                {"type": "setMode", "mode": "default", "destination": "session"}]});
            assert_eq!(wire(&come), expected);
            assert_eq!((come.effect, come.mode), (Effect::Allow, Some(mode)));
            assert_eq!((come.after, come.edited_plan), (After::Nothing, None));
        }
    }
}

#[test]
fn the_ways_work_on_recorded_plans_of_every_version() {
    for version in RECORDED {
        let recorded = questions(version, "plan-mode");
        let asked = recorded
            .iter()
            .find(|asked| asked.plan_text().is_some())
            .unwrap();
        let pinned = countersign_testkit::fetch::Pinned::find(version).unwrap();
        let known = known(pinned.version.parse().unwrap());
        for way in [Way::ClearContext, Way::AcceptEdits, Way::Manual] {
            let come = decide(asked, &Decide::Plan(choose(way)), &known).unwrap();
            assert_eq!(come.effect, Effect::Allow, "{version}");
        }
        let kept = decide(asked, &Decide::Plan(said(Way::KeepPlanning, "no")), &known).unwrap();
        assert_eq!(denial(&kept), ("no", false));
    }
}

#[test]
fn a_plain_yes_is_the_most_careful_way_and_a_plain_no_needs_words() {
    let asked = plan(TEXT);
    let yes = decide(&asked, &Decide::allow(), &known(NEW)).unwrap();
    assert_eq!(yes, come(choose(Way::Manual), NEW));
    let no = decide(&asked, &Decide::deny("shorter"), &known(NEW)).unwrap();
    assert_eq!(denial(&no), ("shorter", false));
    let deny = |message: Option<&str>, interrupt| Decide::Deny {
        message: message.map(str::to_owned),
        interrupt,
    };
    invalid(decide(&asked, &deny(None, false), &known(NEW)));
    let stopped = decide(&asked, &deny(None, true), &known(NEW)).unwrap();
    assert!(denial(&stopped).1);
    let stopped = decide(&asked, &deny(Some("enough"), true), &known(OLD)).unwrap();
    assert_eq!(denial(&stopped), ("enough", true));
}

#[test]
fn other_decisions_are_not_for_plans() {
    let with_mode = Decide::Allow {
        updated_input: None,
        remember: None,
        mode: Some(Mode::Edits),
        add_dirs: Vec::new(),
    };
    for decision in [
        with_mode,
        Decide::Answer { answers: json!({}) },
        Decide::Decline { message: None },
    ] {
        let why = invalid(decide(&plan(TEXT), &decision, &known(NEW)));
        assert!(why.contains("clear-context"), "{why}");
    }
}

#[test]
fn a_fresh_conversation_begins_with_the_plan_and_ends_this_turn() {
    for version in VERSIONS {
        let come = come(choose(Way::ClearContext), version);
        assert!(denial(&come).1, "the turn ends");
        assert_eq!(come.effect, Effect::Allow);
        let After::ClearContext {
            session,
            prompt,
            mode,
        } = come.after
        else {
            panic!("no fresh conversation");
        };
        assert_eq!(prompt.text, format!("Carry out this plan:\n\n{TEXT}"));
        assert_eq!(mode, Mode::Edits);
        assert_eq!(session, session_id(known(version).approval));
    }
}

#[test]
fn a_fresh_conversation_takes_a_mode_that_carries_something_out() {
    let with = |mode| PlanDecision {
        mode: Some(mode),
        ..choose(Way::ClearContext)
    };
    for mode in [Mode::Ask, Mode::Edits, Mode::RulesOnly] {
        let After::ClearContext { mode: taken, .. } = come(with(mode), NEW).after else {
            panic!("no fresh conversation");
        };
        assert_eq!(taken, mode);
    }
    for mode in [Mode::Plan, Mode::HandsOff { until: NOW + 5 }] {
        refused(&plan(TEXT), with(mode));
    }
    // The other ways are modes themselves.
    for way in [Way::AcceptEdits, Way::Manual, Way::KeepPlanning] {
        let choice = PlanDecision {
            mode: Some(Mode::Ask),
            ..said(way, "x")
        };
        refused(&plan(TEXT), choice);
    }
}

#[test]
fn a_fresh_conversation_gets_the_changed_plan_what_was_said_and_the_images() {
    for version in VERSIONS {
        let come = come(
            PlanDecision {
                plan: Some("# Better".to_owned()),
                images: vec![image()],
                ..said(Way::ClearContext, "be quick")
            },
            version,
        );
        assert_eq!(come.edited_plan.as_deref(), Some("# Better"));
        let After::ClearContext { prompt, .. } = come.after else {
            panic!("no fresh conversation");
        };
        let text = "Carry out this plan:\n\n# Better\n\nThe person adds:\n\nbe quick";
        assert_eq!(prompt.text, text);
        assert_eq!(prompt.blocks, [image()]);
    }
}

#[test]
fn keeping_on_with_nothing_said_is_refused() {
    for choice in [
        choose(Way::KeepPlanning),
        said(Way::KeepPlanning, " \n "),
        PlanDecision {
            comments: vec![Comment {
                line: 1,
                text: " ".to_owned(),
            }],
            ..choose(Way::KeepPlanning)
        },
        PlanDecision {
            plan: Some(TEXT.to_owned()),
            ..choose(Way::KeepPlanning)
        },
    ] {
        assert!(refused(&plan(TEXT), choice).contains("feedback"));
    }
}

#[test]
fn comments_quote_their_lines_in_order() {
    let comment = |line, text: &str| Comment {
        line,
        text: text.to_owned(),
    };
    let choice = PlanDecision {
        comments: vec![comment(3, "Where to?"), comment(1, "A better title ")],
        ..said(Way::KeepPlanning, "Nearly.")
    };
    let come = come(choice, NEW);
    let expected = "Nearly.\n\nOn line 1 of the plan:\n> # Plan\nA better title\n\n\
                    On line 3 of the plan:\n> 1. Write hello.txt\nWhere to?";
    assert_eq!(denial(&come), (expected, false));
    for line in [0, 4, u32::MAX] {
        let choice = PlanDecision {
            comments: vec![comment(line, "x")],
            ..choose(Way::KeepPlanning)
        };
        assert!(refused(&plan(TEXT), choice).contains("no line"), "{line}");
    }
}

#[test]
fn images_follow_a_denial_as_one_message() {
    let choice = PlanDecision {
        images: vec![image(), image()],
        ..said(Way::KeepPlanning, "like this")
    };
    let mut come = come(choice.clone(), NEW);
    assert_eq!(denial(&come), ("like this", false));
    let After::Then { messages } = std::mem::take(&mut come.after) else {
        panic!("no message");
    };
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0].blocks, [image(), image()]);
    assert!(!messages[0].text.is_empty());
    let silent = PlanDecision {
        feedback: None,
        ..choice.clone()
    };
    assert!(!denial(&self::come(silent, NEW)).0.is_empty());
    let no_image = PlanDecision {
        images: vec![json!({"type": "text", "text": "x"})],
        ..choice
    };
    assert!(refused(&plan(TEXT), no_image).contains("image"));
}

#[test]
fn where_a_running_turn_would_lose_images_they_go_when_it_has_ended() {
    for (way, mode) in [(Way::KeepPlanning, None), (Way::Manual, Some(Mode::Ask))] {
        let choice = PlanDecision {
            images: vec![image()],
            ..said(way, "like this")
        };
        assert!(matches!(
            come(choice.clone(), OLD).after,
            After::Then { .. }
        ));
        let come = come(choice, OLDEST);
        assert!(denial(&come).1, "the turn ends");
        let After::OnceIdle {
            mode: set,
            messages,
        } = &come.after
        else {
            panic!("nothing later: {come:?}");
        };
        assert_eq!((*set, messages.len()), (mode, 1));
        assert_eq!(messages[0].blocks, [image()]);
        assert!(messages[0].text.contains("like this"));
    }
}

#[test]
fn a_changed_plan_goes_with_the_approval_on_the_newest_and_as_feedback_on_older_ones() {
    for way in [Way::AcceptEdits, Way::Manual] {
        let choice = PlanDecision {
            plan: Some("# Better".to_owned()),
            ..choose(way)
        };
        let new = come(choice.clone(), NEW);
        let expected = json!({"plan": "# Better", "planFilePath": "/home/user/.claude/plans/x.md"});
        assert_eq!(wire(&new)["input"], expected);
        assert_eq!(new.edited_plan.as_deref(), Some("# Better"));
        for version in [OLD, OLDEST] {
            let old = come(choice.clone(), version);
            let text = "The person changed the plan. Present this one instead:\n\n# Better";
            assert_eq!(denial(&old), (text, false));
            assert_eq!((old.effect, old.mode), (Effect::Deny, None));
            assert_eq!(old.edited_plan.as_deref(), Some("# Better"));
        }
        let unknown = Known {
            version: None,
            ..known(NEW)
        };
        let come = decide(&plan(TEXT), &Decide::Plan(choice), &unknown).unwrap();
        assert_eq!(come.effect, Effect::Deny);
    }
}

#[test]
fn a_plan_that_was_not_really_changed_is_simply_approved() {
    for version in VERSIONS {
        let choice = PlanDecision {
            plan: Some(TEXT.trim().to_owned()),
            ..choose(Way::Manual)
        };
        let come = come(choice, version);
        assert_eq!(wire(&come).get("input"), None);
        assert_eq!(come.edited_plan, None);
    }
    let empty = PlanDecision {
        plan: Some(" ".to_owned()),
        ..choose(Way::Manual)
    };
    assert!(refused(&plan(TEXT), empty).contains("empty"));
}

#[test]
fn a_changed_plan_is_part_of_what_is_said_when_planning_goes_on() {
    let choice = PlanDecision {
        plan: Some("# Better".to_owned()),
        ..said(Way::KeepPlanning, "rather so")
    };
    let text = "rather so\n\nThe plan as the person changed it:\n\n# Better";
    assert_eq!(denial(&come(choice.clone(), NEW)).0, text);
    let silent = PlanDecision {
        feedback: None,
        ..choice
    };
    let text = "The plan as the person changed it:\n\n# Better";
    assert_eq!(denial(&come(silent, NEW)).0, text);
}

#[test]
fn what_is_said_with_an_approval_follows_it() {
    let come = come(said(Way::AcceptEdits, "mind the tests"), NEW);
    assert_eq!(come.effect, Effect::Allow);
    let After::Then { messages } = come.after else {
        panic!("no message");
    };
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0].text, "mind the tests");
}

#[test]
fn compacting_first_ends_the_turn_and_then_carries_the_plan() {
    for version in VERSIONS {
        for (way, mode) in [(Way::AcceptEdits, Mode::Edits), (Way::Manual, Mode::Ask)] {
            for edited in [None, Some("# Better".to_owned())] {
                let choice = PlanDecision {
                    compact: true,
                    plan: edited.clone(),
                    images: vec![image()],
                    ..said(way, "go")
                };
                let come = come(choice, version);
                assert!(denial(&come).1, "the turn ends");
                assert_eq!((come.effect, come.mode), (Effect::Allow, Some(mode)));
                let After::OnceIdle {
                    mode: set,
                    messages,
                } = come.after
                else {
                    panic!("nothing later");
                };
                assert_eq!(set, Some(mode));
                let plan = edited.as_deref().unwrap_or(TEXT);
                let text = format!(
                    "The plan is approved. Carry it out:\n\n{plan}\n\nThe person adds:\n\ngo"
                );
                let texts: Vec<&str> = messages.iter().map(|m| m.text.as_str()).collect();
                assert_eq!(texts, ["/compact", text.as_str()]);
                assert_eq!(messages[0].blocks, Vec::<Value>::new());
                assert_eq!(messages[1].blocks, [image()]);
                assert_ne!(messages[0].id, messages[1].id);
            }
        }
    }
}

#[test]
fn planning_on_can_be_compacted_first_and_stays_in_plan_mode() {
    let choice = PlanDecision {
        compact: true,
        ..said(Way::KeepPlanning, "shorter")
    };
    let come = come(choice, NEW);
    assert!(denial(&come).1);
    assert_eq!((come.effect, come.mode), (Effect::Deny, None));
    let After::OnceIdle {
        mode: None,
        messages,
    } = come.after
    else {
        panic!("a change of mode, or nothing later");
    };
    let texts: Vec<&str> = messages.iter().map(|m| m.text.as_str()).collect();
    assert_eq!(texts, ["/compact", "shorter"]);
    let clear = PlanDecision {
        compact: true,
        ..choose(Way::ClearContext)
    };
    assert!(refused(&plan(TEXT), clear).contains("nothing to compact"));
}
