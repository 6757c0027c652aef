//! A fresh conversation with the plan: the old agent ends, another session goes on from it.
//!
//! Owns both sides of it: what the new conversation knows and which mode it is in, and that nobody goes on in the old one.

use countersign_host::control::approval::{Effect, PlanDecision, Scope, Way};
use countersign_host::control::{
    ApprovalView, Command, Decide, Did, Keep, Mode, NewRule, RuleEffect, SessionId, SessionView,
};

use crate::script::Script;
use crate::stage::{Cli, Stage, way};

const PLAN: &str = "# Plan\n\n1. Write note.txt\n";

pub(crate) async fn a_fresh_conversation_begins_with_the_plan_alone(cli: Cli) {
    let script = Script::default().plan(PLAN).within("Carry out this plan");
    let script = script
        .write("note.txt")
        .bash("touch before")
        .bash("touch granted");
    let stage = Stage::new(cli, &script.say("Done.")).await;
    let old = stage.planning("A long talk about gardens").await;
    let plan = stage.presented(old, PLAN).await;
    is_refused(&stage, &plan).await;
    // Made beforehand, for that session alone.
    stage.execute(session_rule(old, "Bash(touch before)")).await;
    let decision = PlanDecision {
        rules: vec!["Bash(touch granted)".to_owned()],
        mode: Some(Mode::Ask),
        feedback: Some("Mind the roses.".to_owned()),
        ..way(Way::ClearContext)
    };
    let receipt = stage.go(&plan, decision).await;
    let Did::Decided {
        approvals,
        session: Some(new),
    } = receipt.did
    else {
        panic!("{receipt:?}");
    };
    assert_eq!(approvals, [plan.id]);
    let fresh = begins(&stage, new).await;
    assert_eq!(
        (fresh.parent, fresh.origin.as_deref()),
        (Some(old), Some("clear-context"))
    );
    let ended = ends(&stage, &plan).await;
    assert_ne!(ended.conversation, fresh.conversation);
}

fn session_rule(session: SessionId, rule: &str) -> Command {
    let rule = NewRule {
        scope: Scope::Session,
        session: Some(session),
        repository: None,
        effect: RuleEffect::Allow,
        rule: rule.to_owned(),
        expires: None,
        note: None,
    };
    Command::Keep(Keep::AddRule { rule })
}

/// What makes no sense for a fresh conversation.
async fn is_refused(stage: &Stage, plan: &ApprovalView) {
    for mode in [Mode::Plan, Mode::HandsOff { until: u64::MAX }] {
        let decision = PlanDecision {
            mode: Some(mode),
            ..way(Way::ClearContext)
        };
        let why = stage.refused(plan, decision).await;
        assert!(why.contains("one of the modes"), "{why}");
    }
    let compact = PlanDecision {
        compact: true,
        ..way(Way::ClearContext)
    };
    let why = stage.refused(plan, compact).await;
    assert!(why.contains("nothing to compact"), "{why}");
}

/// The new session is told the plan and nothing else, in the mode that was chosen, and carries it out.
async fn begins(stage: &Stage, new: SessionId) -> SessionView {
    let edit = stage.asked(new, "Write").await;
    assert_eq!(stage.mode_of_cli(new), "default");
    let first = stage.messages(new);
    let [first] = &first[..] else {
        panic!("{first:?}");
    };
    let first = first.as_str().unwrap();
    assert!(first.contains(PLAN), "{first}");
    assert!(
        first.contains("Mind the roses.") && !first.contains("A long talk"),
        "{first}"
    );
    stage.decide(&edit, Decide::allow()).await;
    let fresh = stage.rests(new, 1).await;
    assert_eq!((fresh.mode, fresh.generation), (Mode::Ask, 1));
    assert!(stage.file("note.txt").exists());
    let story = || stage.story(new);
    assert!(
        stage.file("before").exists(),
        "the session's rules follow: {}",
        story()
    );
    assert!(
        stage.file("granted").exists(),
        "what was granted follows: {}",
        story()
    );
    fresh
}

/// The old agent was denied, its turn with it, and has ended.
async fn ends(stage: &Stage, plan: &ApprovalView) -> SessionView {
    let old = plan.session;
    let ended = stage.until(old, "stopped").await;
    assert_eq!(ended.generation, 1, "nobody went on there");
    let answer = stage.answer(plan);
    assert_eq!(answer["behavior"], "deny");
    assert_eq!(answer["interrupt"], true);
    let settled = stage.until_life(plan, "settled").await;
    let decided = settled.decided.unwrap();
    assert_eq!(decided.effect, Effect::Allow, "the person said yes");
    assert_eq!(stage.turns(old), 1, "{}", stage.story(old));
    let lines = stage.journal(old);
    let exits = lines.iter().filter(|line| line.value["event"] == "exit");
    assert_eq!(exits.count(), 1, "{}", stage.story(old));
    ended
}
