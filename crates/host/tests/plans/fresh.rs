//! A fresh conversation with the plan: the old agent ends, another session goes on from it.

use countersign_host::control::approval::{Effect, PlanDecision, Way};
use countersign_host::control::{Decide, Did, Mode};

use crate::script::Script;
use crate::stage::{Cli, Stage, way};

const PLAN: &str = "# Plan\n\n1. Write note.txt\n";

pub(crate) async fn a_fresh_conversation_begins_with_the_plan_alone(cli: Cli) {
    let script = Script::default().plan(PLAN).within("Carry out this plan");
    let script = script.write("note.txt").say("Done.");
    let stage = Stage::new(cli, &script).await;
    let old = stage.planning("A long talk about gardens").await;
    let plan = stage.presented(old, PLAN).await;
    for mode in [Mode::Plan, Mode::HandsOff { until: u64::MAX }] {
        let decision = PlanDecision {
            mode: Some(mode),
            ..way(Way::ClearContext)
        };
        assert!(
            stage
                .refused(&plan, decision)
                .await
                .contains("one of the modes")
        );
    }
    let compact = PlanDecision {
        compact: true,
        ..way(Way::ClearContext)
    };
    assert!(
        stage
            .refused(&plan, compact)
            .await
            .contains("nothing to compact")
    );
    let decision = PlanDecision {
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

    let edit = stage.asked(new, "Write").await;
    assert_eq!(stage.mode_of_cli(new), "default");
    let first = stage.messages(new);
    let [first] = &first[..] else {
        panic!("{first:?}");
    };
    let first = first.to_string();
    let plan_as_json = serde_json::to_string(PLAN).unwrap();
    assert!(first.contains(plan_as_json.trim_matches('"')), "{first}");
    assert!(
        first.contains("Mind the roses.") && !first.contains("A long talk"),
        "{first}"
    );
    stage.decide(&edit, Decide::allow()).await;
    let fresh = stage.rests(new, 1).await;
    assert_eq!(
        (fresh.parent, fresh.origin.as_deref()),
        (Some(old), Some("clear-context"))
    );
    assert_eq!((fresh.mode, fresh.generation), (Mode::Ask, 1));
    assert!(stage.file("note.txt").exists());

    let ended = stage.until(old, "stopped").await;
    assert_ne!(ended.conversation, fresh.conversation);
    assert_eq!(ended.generation, 1, "nobody went on there");
    let answer = stage.answer(&plan);
    assert_eq!(
        (&answer["behavior"], &answer["interrupt"]),
        (&"deny".into(), &true.into())
    );
    let settled = stage.until_life(&plan, "settled").await;
    assert_eq!(
        settled.decided.unwrap().effect,
        Effect::Allow,
        "the person said yes"
    );
    let exits = stage
        .journal(old)
        .iter()
        .filter(|line| line.value["event"] == "exit")
        .count();
    assert_eq!(exits, 1, "{}", stage.story(old));
    let turns = stage.journal(old).into_iter();
    let requests = turns
        .filter(|line| line.value["type"] == "assistant")
        .count();
    assert_eq!(stage.turns(old), 1, "{requests}: the denial ended the turn");
}
