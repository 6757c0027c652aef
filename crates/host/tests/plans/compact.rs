//! *And compact first*: the turn ends, the conversation is compacted, and the plan goes on in a message.
//!
//! Owns the order of it: the turn is ended, `/compact` goes alone, then what was decided, in the mode that was chosen.

use countersign_host::control::approval::{PlanDecision, Way};
use countersign_host::control::{Decide, Mode, SessionId};

use crate::script::Script;
use crate::stage::{Cli, Line, Stage, way};

pub(crate) async fn the_context_is_compacted_before_it_goes_on(cli: Cli) {
    let text = "# A\n\n1. Dig\n";
    let script = Script::default().summary("They talked about digging.");
    let script = script.plan(text).plan_again(text);
    let script = script.write("note.txt").say("Done.");
    let stage = Stage::new(cli, &script).await;
    let id = stage.planning("Plan the garden").await;

    let plan = stage.presented(id, text).await;
    let decision = PlanDecision {
        compact: true,
        feedback: Some("Fill it.".to_owned()),
        ..way(Way::KeepPlanning)
    };
    stage.go(&plan, decision).await;
    let plan = stage.presented(id, text).await;
    assert_eq!(compactions(&stage, id), 1, "{}", stage.story(id));
    assert_eq!(stage.mode_of_cli(id), "plan");

    let decision = PlanDecision {
        compact: true,
        ..way(Way::Manual)
    };
    stage.go(&plan, decision).await;
    let edit = stage.asked(id, "Write").await;
    assert_eq!(compactions(&stage, id), 2, "{}", stage.story(id));
    assert_eq!(stage.mode_of_cli(id), "default");
    stage.decide(&edit, Decide::allow()).await;
    let view = stage.until(id, "idle").await;
    assert_eq!((view.mode, view.generation, view.queued), (Mode::Ask, 1, 0));
    assert!(stage.file("note.txt").exists());
    let said: Vec<String> = stage.messages(id).iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 5, "{said:?}");
    assert!(
        said[1].contains("/compact") && said[2].contains("Fill it."),
        "{said:?}"
    );
    assert!(
        said[3].contains("/compact") && said[4].contains("# A"),
        "{said:?}"
    );
}

/// How often the CLI says that it has compacted the conversation.
fn compactions(stage: &Stage, id: SessionId) -> usize {
    let lines = stage.journal(id);
    let compacted = |line: &&Line| line.kind == 'a' && line.value["subtype"] == "compact_boundary";
    lines.iter().filter(compacted).count()
}
