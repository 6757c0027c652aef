//! The ways on from a plan whose agent has gone.

use countersign_host::approval::{After, Consequence, decide};
use countersign_host::control::approval::{Effect, PlanDecision, Way};
use countersign_host::control::{Decide, Mode};
use serde_json::json;

use crate::stage::{NEW, OLD, OLDEST, choose, gone, image, invalid, plan, tool};

const TEXT: &str = "# Plan\n1. go";

fn come(choice: PlanDecision) -> Consequence {
    let comes = [NEW, OLD, OLDEST]
        .map(|version| decide(&plan(TEXT), &Decide::Plan(choice.clone()), &gone(version)).unwrap());
    // Nothing goes over the wire, so no version matters.
    assert_eq!(comes[0], comes[1]);
    assert_eq!(comes[0], comes[2]);
    let [come, ..] = comes;
    assert_eq!(come.answer, None);
    come
}

fn resumed(come: &Consequence) -> (Mode, Vec<&str>) {
    match &come.after {
        After::Resume { mode, messages } => {
            let texts = messages.iter().map(|message| message.text.as_str());
            (*mode, texts.collect())
        }
        other => panic!("no resume: {other:?}"),
    }
}

#[test]
fn an_approval_resumes_in_its_mode_with_the_approved_plan() {
    let told = format!("The plan is approved. Carry it out:\n\n{TEXT}");
    for (way, mode) in [(Way::AcceptEdits, Mode::Edits), (Way::Manual, Mode::Ask)] {
        let come = come(choose(way));
        assert_eq!(resumed(&come), (mode, vec![told.as_str()]));
        assert_eq!((come.effect, come.mode), (Effect::Allow, Some(mode)));
    }
}

#[test]
fn a_changed_plan_is_the_one_that_is_carried_out_on_every_version() {
    let come = come(PlanDecision {
        plan: Some("# Better".to_owned()),
        ..choose(Way::Manual)
    });
    let told = "The plan is approved. Carry it out:\n\n# Better";
    assert_eq!(resumed(&come), (Mode::Ask, vec![told]));
    assert_eq!(come.edited_plan.as_deref(), Some("# Better"));
}

#[test]
fn planning_on_resumes_in_plan_mode_with_what_was_said() {
    let come = come(PlanDecision {
        feedback: Some("shorter".to_owned()),
        images: vec![image()],
        ..choose(Way::KeepPlanning)
    });
    assert_eq!(resumed(&come), (Mode::Plan, vec!["shorter"]));
    assert_eq!(come.effect, Effect::Deny);
    let After::Resume { messages, .. } = &come.after else {
        unreachable!()
    };
    assert_eq!(messages[0].blocks, [image()]);
    let told = self::come(PlanDecision {
        feedback: Some("/init".to_owned()),
        ..choose(Way::KeepPlanning)
    });
    assert_eq!(resumed(&told).1, ["About the plan: /init"], "no command");
    invalid(decide(
        &plan(TEXT),
        &Decide::Plan(choose(Way::KeepPlanning)),
        &gone(NEW),
    ));
}

#[test]
fn compacting_goes_first_there_too() {
    let come = come(PlanDecision {
        compact: true,
        ..choose(Way::AcceptEdits)
    });
    let (mode, texts) = resumed(&come);
    assert_eq!((mode, texts.len(), texts[0]), (Mode::Edits, 2, "/compact"));
}

#[test]
fn a_fresh_conversation_needs_no_agent() {
    let come = come(choose(Way::ClearContext));
    assert!(matches!(
        come.after,
        After::ClearContext {
            mode: Mode::Edits,
            ..
        }
    ));
    assert_eq!(come.effect, Effect::Allow);
}

#[test]
fn a_no_without_words_just_puts_the_plan_away() {
    for interrupt in [false, true] {
        let no = Decide::Deny {
            message: None,
            interrupt,
        };
        let come = decide(&plan(TEXT), &no, &gone(NEW)).unwrap();
        assert_eq!((come.answer, come.after), (None, After::Nothing));
        assert_eq!(come.effect, Effect::Deny);
    }
    let said = decide(&plan(TEXT), &Decide::deny("shorter"), &gone(NEW)).unwrap();
    assert_eq!(resumed(&said), (Mode::Plan, vec!["shorter"]));
}

#[test]
fn leaving_plan_mode_without_a_plan_is_told_as_that() {
    let bare = tool("ExitPlanMode", json!({}));
    let come = decide(&bare, &Decide::Plan(choose(Way::Manual)), &gone(NEW)).unwrap();
    assert_eq!(
        resumed(&come),
        (Mode::Ask, vec!["Leaving plan mode is approved. Go on."])
    );
    invalid(decide(
        &bare,
        &Decide::Plan(choose(Way::ClearContext)),
        &gone(NEW),
    ));
}

#[test]
fn a_granted_rule_needs_no_agent() {
    let choice = PlanDecision {
        rules: vec!["Bash(npm test)".to_owned()],
        ..choose(Way::Manual)
    };
    let come = decide(&plan(TEXT), &Decide::Plan(choice), &gone(NEW)).unwrap();
    assert_eq!(come.rules[0].text, "Bash(npm test)");
}
