//! A plan that is presented again as it was, and what is said with a plan about the context.
//!
//! Owns that each time a plan is presented it is asked about, also where the text is no new version; and that how full
//! the context is follows from what the CLI itself said.

use countersign_host::control::approval::Way;
use countersign_host::control::{Mode, SessionId};
use serde_json::Value;

use crate::script::Script;
use crate::stage::{Cli, Stage, not_yet, way};

pub(crate) async fn a_plan_that_is_presented_as_it_was_is_asked_about_again(cli: Cli) {
    let text = "# Plan\n\n1. Dig\n";
    let script = Script::default().plan(text).plan_again(text);
    let script = script.plan_again(text).write("note.txt").say("Done.");
    let stage = Stage::new(cli, &script).await;
    let id = stage.planning("Plan the garden").await;

    let first = stage.presented(id, text).await;
    stage.go(&first, not_yet("Are you sure?")).await;
    stage.until_life(&first, "settled").await;
    let second = stage.presented(id, text).await;
    assert_ne!(first.id, second.id);
    stage.go(&second, not_yet("Really?")).await;
    stage.until_life(&second, "settled").await;
    let third = stage.presented(id, text).await;
    let card = third.plan.clone().unwrap();
    assert_eq!((card.text.as_deref(), card.ways.len()), (Some(text), 4));

    let versions = stage.versions(id).await;
    assert_eq!(versions.len(), 1, "the text is the same: {versions:#?}");
    assert_eq!(versions[0].approval, Some(first.id));
    assert_eq!(versions[0].asked_again, [second.id, third.id]);
    stage.go(&third, way(Way::AcceptEdits)).await;
    let view = stage.rests(id, 1).await;
    assert_eq!(view.mode, Mode::Edits);
    assert!(stage.file("note.txt").exists());
}

/// What the model has read when it presents the plan, in tokens.
const READ: u64 = 120_000;

pub(crate) async fn how_full_the_context_is_is_said_with_the_plan(cli: Cli) {
    let text = "# Plan\n\n1. Dig\n";
    let script = Script::default().say("Hello.");
    let script = script.plan_after_reading(text, READ);
    let stage = Stage::new(cli, &script).await;
    let id = stage.planning("Say hello").await;
    stage.rests(id, 1).await;
    stage.send(id, "Now plan the garden").await;
    let plan = stage.presented(id, text).await;

    let wanted = READ * 100 / window(&stage, id);
    let card = plan.plan.unwrap();
    assert_eq!(card.context_percent, Some(wanted as f64));
    let clear = card.ways.iter().find(|way| way.way == Way::ClearContext);
    let label = &clear.unwrap().label;
    assert!(label.contains(&format!("{wanted} % full")), "{label}");
    let view = stage.view(id).await;
    assert_eq!(view.context_percent.map(u64::from), Some(wanted));
}

/// What the model of the main agent can read, as the CLI said with the turn before.
fn window(stage: &Stage, id: SessionId) -> u64 {
    let lines = stage.journal(id);
    let of = |kind: &str| {
        let mut said = lines.iter().rev().map(|line| &line.value);
        said.find(|said| said["type"] == kind && said["parent_tool_use_id"] == Value::Null)
    };
    let model = of("assistant").unwrap()["message"]["model"].clone();
    let ended = of("result").unwrap();
    let window = &ended["modelUsage"][model.as_str().unwrap()]["contextWindow"];
    window
        .as_u64()
        .unwrap_or_else(|| panic!("{model}: {ended}"))
}
