//! Plan mode that the agent enters by itself.
//!
//! Of themselves only old versions ask whether it may; started by a host, all of them ask about every call.

use countersign_host::control::approval::Way;
use countersign_host::control::{Decide, Mode};

use crate::script::Script;
use crate::stage::{Cli, Stage, way};

pub(crate) async fn an_agent_that_enters_plan_mode_plans(cli: Cli) {
    let plan = "# Plan\n\n1. Write late.txt\n";
    let script = match cli {
        // It tells its model of the file only where a session begins in plan mode.
        Cli::Scripted => Script::default().plans_at("$${plan_file}"),
        Cli::Real(_) => Script::default(),
    };
    let script = script.enter_plan_mode().write("early.txt").plan(plan);
    let script = script.write("late.txt").say("Done.").say("Still here.");
    let stage = Stage::new(cli, &script).await;
    let id = stage.start("Plan the garden").await;
    let enter = stage.asked(id, "EnterPlanMode").await;
    stage.decide(&enter, Decide::allow()).await;
    let early = stage.asked(id, "Write").await;
    assert_eq!(stage.view(id).await.mode, Mode::Plan);
    stage
        .decide(&early, Decide::deny("Not before the plan."))
        .await;
    let asked = stage.presented(id, plan).await;
    stage.go(&asked, way(Way::AcceptEdits)).await;
    let view = stage.rests(id, 1).await;
    assert_eq!(view.mode, Mode::Edits);
    assert!(stage.file("late.txt").exists() && !stage.file("early.txt").exists());
    assert_eq!(stage.mode_of_next_turn(id).await, "default");
}
