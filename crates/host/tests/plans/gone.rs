//! Plans whose agent has gone, and plans that a host leaves to the next one.
//!
//! Owns that a decision outlives whoever it was meant for: each way on starts an agent in the right mode, once.

use countersign_host::control::approval::{Life, Outcome, PlanDecision, Way};
use countersign_host::control::{
    ApprovalFilter, Command, Control as _, ControlError, Decide, Did, Mode, SessionId,
};

use crate::common;
use crate::script::Script;
use crate::stage::{Cli, Stage, not_yet, way};

pub(crate) async fn an_agent_that_has_gone_is_resumed_by_the_decision(cli: Cli) {
    // The same text each time: newer versions write on in the file of before, which an agent that was resumed has not read.
    let text = "# Plan\n\n1. Dig\n";
    let script = Script::default().plan(text).plan(text);
    let script = script.write("edits.txt").say("Done.");
    let script = script.plan(text).write("manual.txt").say("Done again.");
    let stage = Stage::new(cli, &script).await;
    let id = stage.planning("Plan the garden").await;

    let plan = stage.presented(id, text).await;
    let plan = stage.kill(&plan).await;
    stage.go(&plan, not_yet("Fill it.")).await;
    let sent_back = stage.until_life(&plan, "settled").await;
    let outcome = Outcome::Refused;
    assert_eq!(sent_back.life, Life::Settled { outcome });
    let plan = stage.presented(id, text).await;
    assert_eq!(last_of(&stage, id), (2, "plan".to_owned()));
    said_last(&stage, id, "Fill it.");

    let plan = stage.kill(&plan).await;
    stage.go(&plan, way(Way::AcceptEdits)).await;
    stage.until_life(&plan, "settled").await;
    let view = stage.rests(id, 1).await;
    assert_eq!(
        (view.mode, view.generation),
        (Mode::Edits, 3),
        "{}",
        stage.story(id)
    );
    assert_eq!(last_of(&stage, id), (3, "default".to_owned()));
    said_last(&stage, id, "1. Dig");
    assert!(stage.file("edits.txt").exists());

    let mode = Mode::Plan;
    stage.execute(Command::SetMode { session: id, mode }).await;
    stage.send(id, "Now plan the rest").await;
    let plan = stage.presented(id, text).await;
    let plan = stage.kill(&plan).await;
    stage.go(&plan, way(Way::Manual)).await;
    let edit = stage.asked(id, "Write").await;
    assert_eq!(last_of(&stage, id), (4, "default".to_owned()));
    said_last(&stage, id, "1. Dig");
    stage.decide(&edit, Decide::allow()).await;
    let view = stage.rests(id, 2).await;
    assert_eq!((view.mode, view.open_approvals), (Mode::Ask, 0));
    assert!(stage.file("manual.txt").exists());
}

pub(crate) async fn a_plan_of_a_session_in_the_trash_wakes_nobody(cli: Cli) {
    let text = "# Plan\n\n1. Dig\n";
    let script = Script::default().plan(text).write("note.txt").say("Done.");
    let stage = Stage::new(cli, &script).await;
    let session = stage.planning("Plan the garden").await;
    let plan = stage.presented(session, text).await;
    let plan = stage.kill(&plan).await;
    let inbox = async || {
        let life = Some("open".to_owned());
        let open = ApprovalFilter {
            life,
            ..ApprovalFilter::default()
        };
        let listed = stage.host().approvals(open).await.unwrap().items.len();
        (listed, stage.host().vitals().await.unwrap().open_approvals)
    };
    assert_eq!(inbox().await, (1, 1));
    stage.execute(Command::Trash { session }).await;
    assert_eq!(inbox().await, (0, 0));
    for choice in [Way::AcceptEdits, Way::ClearContext, Way::KeepPlanning] {
        let decide = Command::Decide {
            approval: plan.id,
            saw: plan.digest.clone(),
            decide: Decide::Plan(way(choice)),
        };
        let refused = stage.host().execute(common::Stage::cmd(), decide).await;
        let Err(ControlError::NotNow { why }) = refused else {
            panic!("{refused:?}");
        };
        assert!(why.contains("restore"), "{why}");
    }
    assert_eq!(stage.view(session).await.generation, 1);
    stage.execute(Command::Restore { session }).await;
    assert_eq!(inbox().await, (1, 1));
    stage.go(&plan, way(Way::AcceptEdits)).await;
    let view = stage.rests(session, 1).await;
    assert_eq!(view.generation, 2, "{}", stage.story(session));
    assert!(stage.file("note.txt").exists());
}

/// The keeper hears nothing any more when the person decides, and both it and the agent die.
pub(crate) async fn a_decision_that_never_reached_its_agent_is_told_whole_to_the_next(cli: Cli) {
    let text = "# Plan\n\n1. Dig\n";
    let script = Script::default().plan_with_wishes(text, &["run the tests"]);
    let script = script.write("note.txt").bash("touch watered").say("Done.");
    let stage = Stage::new(cli, &script).await;
    let id = stage.planning("Plan the garden").await;
    let plan = stage.presented(id, text).await;
    let deaf = stage.deafen(&plan).await;
    let decision = PlanDecision {
        feedback: Some("Water it, too.".to_owned()),
        rules: vec!["Bash(touch watered)".to_owned()],
        ..way(Way::AcceptEdits)
    };
    stage.go(&plan, decision).await;
    deaf.kill();

    let settled = stage.until_life(&plan, "settled").await;
    let outcome = Outcome::Ran;
    assert_eq!(settled.life, Life::Settled { outcome });
    let view = stage.rests(id, 1).await;
    assert_eq!(
        (view.mode, view.generation),
        (Mode::Edits, 2),
        "{}",
        stage.story(id)
    );
    said_last(&stage, id, "1. Dig");
    said_last(&stage, id, "Water it, too.");
    assert_eq!(
        stage.messages(id).len(),
        2,
        "once: {:?}",
        stage.messages(id)
    );
    assert!(stage.file("note.txt").exists());
    assert!(
        stage.file("watered").exists(),
        "what was granted holds for the next agent: {}",
        stage.story(id)
    );
}

fn last_of(stage: &Stage, id: SessionId) -> (u32, String) {
    stage.modes(id).pop().unwrap()
}

fn said_last(stage: &Stage, id: SessionId, words: &str) {
    let messages = stage.messages(id);
    let last = messages.last().unwrap().to_string();
    assert!(last.contains(words), "{messages:?}");
}

pub(crate) async fn a_plan_of_an_agent_that_has_gone_begins_a_fresh_conversation(cli: Cli) {
    let plan = "# Plan\n\n1. Write note.txt\n";
    let script = Script::default().plan(plan).within("Carry out this plan");
    let script = script.write("note.txt").say("Done.");
    let mut stage = Stage::new(cli, &script).await;
    let old = stage.planning("Plan the garden").await;
    let asked = stage.presented(old, plan).await;
    stage.kill(&asked).await;
    stage.restart().await;
    let asked = stage.presented(old, plan).await;
    assert!(asked.needs_restart, "it is said beforehand");
    assert!(asked.plan.as_ref().unwrap().restarts, "and on the card");
    let receipt = stage.go(&asked, way(Way::ClearContext)).await;
    let Did::Decided {
        session: Some(new), ..
    } = receipt.did
    else {
        panic!("{receipt:?}");
    };
    let view = stage.rests(new, 1).await;
    assert_eq!((view.parent, view.mode), (Some(old), Mode::Edits));
    assert_eq!(stage.mode_of_cli(new), "default");
    assert!(stage.file("note.txt").exists(), "{}", stage.story(new));
    stage.until_life(&asked, "settled").await;
    let old = stage.view(old).await;
    assert_eq!(
        (old.generation, old.open_approvals),
        (1, 0),
        "nobody was started there"
    );
}

pub(crate) async fn a_plan_outlives_the_host_that_was_asked(cli: Cli) {
    let plans = ["# A\n\n1. Dig\n", "# B\n\n1. Fill\n"];
    let script = Script::default().plan(plans[0]).plan(plans[1]);
    let script = script.write("note.txt").say("Done.").say("Still here.");
    let mut stage = Stage::new(cli, &script).await;
    let id = stage.planning("Plan the garden").await;
    let before = stage.presented(id, plans[0]).await;
    stage.restart().await;
    let after = stage.presented(id, plans[0]).await;
    assert_eq!((after.id, &after.digest), (before.id, &before.digest));
    assert!(!after.needs_restart);
    stage.go(&after, not_yet("Fill it.")).await;
    // The plan file is known to be this session's own, although another host saw it written.
    let second = stage.presented(id, plans[1]).await;
    stage.restart().await;
    stage.go(&second, way(Way::AcceptEdits)).await;
    let view = stage.rests(id, 1).await;
    assert_eq!(
        (view.mode, view.generation),
        (Mode::Edits, 1),
        "the same agent went on"
    );
    assert!(stage.file("note.txt").exists());
    assert_eq!(stage.mode_of_next_turn(id).await, "default");
    assert_eq!(stage.versions(id).await.len(), 2);
}
