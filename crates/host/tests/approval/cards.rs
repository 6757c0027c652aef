//! What is shown of a plan beforehand, its wishes, and that a decision about one can be stored and made again.

use countersign_client::options::Version;
use countersign_host::approval::{
    After, Agent, Answer, Asked, Consequence, Known, decide, message_id, session_id,
};
use countersign_host::control::approval::{PlanDecision, Scope, Way};
use countersign_host::control::{ApprovalId, Decide, Mode, SessionId};
use countersign_host::plan::card;
use serde_json::{Value, json};

use crate::stage::{NEW, NOW, OLD, OLDEST, choose, image, invalid, known, plan, tool};

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

#[test]
fn without_a_text_there_are_two_ways() {
    let bare = tool("ExitPlanMode", json!({}));
    let card = card(&bare, Some(NEW), Agent::Waits, Some(40.0));
    let ways: Vec<Way> = card.ways.iter().map(|offer| offer.way).collect();
    assert_eq!(ways, [Way::Manual, Way::KeepPlanning]);
    assert_eq!(card.text, None);
    for way in [Way::ClearContext, Way::AcceptEdits] {
        assert!(refused(&bare, choose(way)).contains("no text"));
    }
    let yes = decide(&bare, &Decide::Plan(choose(Way::Manual)), &known(NEW)).unwrap();
    assert_eq!(yes.mode, Some(Mode::Ask));
    let no = Decide::Deny {
        message: None,
        interrupt: false,
    };
    let no = decide(&bare, &no, &known(NEW)).unwrap();
    let Some(Answer::Deny { message, .. }) = &no.answer else {
        panic!("no denial");
    };
    assert!(message.contains("Write the plan first"));
    // A text that the person writes is one.
    let written = PlanDecision {
        plan: Some("# Mine".to_owned()),
        ..choose(Way::ClearContext)
    };
    let come = decide(&bare, &Decide::Plan(written), &known(NEW)).unwrap();
    assert!(matches!(come.after, After::ClearContext { .. }));
}

#[test]
fn no_way_is_offered_that_would_be_refused() {
    for asked in [plan(TEXT), tool("ExitPlanMode", json!({}))] {
        for version in VERSIONS {
            for agent in [Agent::Waits, Agent::Gone] {
                let known = Known {
                    agent,
                    ..known(version)
                };
                for offer in card(&asked, Some(version), agent, None).ways {
                    for compact in [false, offer.may_compact] {
                        let choice = PlanDecision {
                            compact,
                            ..said(offer.way, "so")
                        };
                        let come = decide(&asked, &Decide::Plan(choice), &known);
                        assert!(come.is_ok(), "{offer:?} {come:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_card_says_beforehand_what_the_person_must_know() {
    let asked = tool(
        "ExitPlanMode",
        json!({"plan": TEXT, "allowedPrompts": [{"tool": "Bash", "prompt": "run tests"}]}),
    );
    let new = card(&asked, Some(NEW), Agent::Waits, Some(61.6));
    assert_eq!(new.text.as_deref(), Some(TEXT));
    assert!(new.ways[0].label.contains("62 %"), "{:?}", new.ways[0]);
    assert_eq!(new.wishes[0].prompt, "run tests");
    assert_eq!((new.restarts, new.edit_note), (false, None));
    let old = card(&asked, Some(OLD), Agent::Waits, None);
    assert!(old.edit_note.is_some());
    let gone = card(&asked, Some(NEW), Agent::Gone, None);
    assert!(gone.restarts);
    assert_eq!(gone.wishes.len(), 1, "a rule of ours needs no agent");
}

#[test]
fn a_wish_is_granted_by_rules_of_ours_for_the_session_whichever_way_goes_on() {
    let asked = tool(
        "ExitPlanMode",
        json!({"plan": TEXT, "allowedPrompts": [{"tool": "Bash", "prompt": " run tests "}]}),
    );
    let grant = |rules: &[&str], way, compact| {
        let choice = PlanDecision {
            rules: rules.iter().copied().map(str::to_owned).collect(),
            compact,
            ..said(way, "so")
        };
        decide(&asked, &Decide::Plan(choice), &known(NEW))
    };
    let none = grant(&[], Way::Manual, false).unwrap();
    assert_eq!(
        (
            wire(&none)["updates"].as_array().unwrap().len(),
            none.rules.len()
        ),
        (1, 0)
    );
    for (way, compact) in [
        (Way::Manual, false),
        (Way::Manual, true),
        (Way::AcceptEdits, false),
        (Way::ClearContext, false),
    ] {
        let come = grant(&[" Bash(npm test) "], way, compact).unwrap();
        let rules = come
            .rules
            .iter()
            .map(|rule| (rule.text.as_str(), rule.scope));
        assert_eq!(
            rules.collect::<Vec<_>>(),
            [("Bash(npm test)", Scope::Session)]
        );
        assert!(
            !format!("{:?}", come.answer).contains("AddRules"),
            "{come:?}"
        );
    }
    assert!(invalid(grant(&["Bash(ls)"], Way::KeepPlanning, false)).contains("not approved"));
    let prose = PlanDecision {
        allowed_prompts: vec![0],
        ..choose(Way::Manual)
    };
    let prose = decide(&asked, &Decide::Plan(prose), &known(NEW));
    assert!(invalid(prose).contains("name in `rules`"));
}

#[test]
fn ids_follow_from_the_approval_so_that_doing_it_again_is_the_same() {
    let choice = PlanDecision {
        compact: true,
        ..choose(Way::Manual)
    };
    assert_eq!(come(choice.clone(), NEW), come(choice, NEW));
    let session = SessionId::new(NOW, 1);
    let (one, other) = (
        ApprovalId::of(session, 1, 1, NOW),
        ApprovalId::of(session, 1, 2, NOW),
    );
    assert_ne!(message_id(one, 0), message_id(other, 0));
    assert_ne!(message_id(one, 0), message_id(one, 1));
    assert_ne!(session_id(one), session_id(other));
}

#[test]
fn what_a_decision_comes_to_can_be_stored() {
    for way in [
        Way::ClearContext,
        Way::AcceptEdits,
        Way::Manual,
        Way::KeepPlanning,
    ] {
        for compact in [false, way != Way::ClearContext] {
            let choice = PlanDecision {
                compact,
                images: vec![image()],
                ..said(way, "so")
            };
            let come = come(choice, NEW);
            let text = serde_json::to_string(&come).unwrap();
            assert_eq!(serde_json::from_str::<Consequence>(&text).unwrap(), come);
        }
    }
}
