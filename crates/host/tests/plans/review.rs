//! Plans that are looked at: sent back, changed, approved, with an agent that waits.

use std::time::Duration;

use countersign_host::control::approval::{Comment, PlanDecision, Way};
use countersign_host::control::{Decide, Mode};
use serde_json::{Value, json};

use crate::script::Script;
use crate::stage::{Cli, Stage, way};

/// One pixel.
const IMAGE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

pub(crate) async fn a_plan_goes_back_and_forth_until_it_is_approved(cli: Cli) {
    let plans = [
        "# A\n\n1. Dig\n",
        "# B\n\n1. Dig\n",
        "# B\n\n1. Dig deep\n",
        "# D\n\n1. Fill\n",
    ];
    let script = plans
        .iter()
        .fold(Script::default(), |script, plan| script.plan(plan));
    let script = script.write("note.txt").say("Done.").say("Still here.");
    let stage = Stage::new(cli, &script).await;
    let id = stage.planning("Plan the garden").await;

    let first = stage.presented(id, plans[0]).await;
    assert!(
        stage
            .refused(&first, way(Way::KeepPlanning))
            .await
            .contains("feedback")
    );
    let feedback = Some("Call it B.".to_owned());
    let decision = PlanDecision {
        feedback,
        ..way(Way::KeepPlanning)
    };
    stage.go(&first, decision).await;

    let second = stage.presented(id, plans[1]).await;
    let line = |line, text: &str| Comment {
        line,
        text: text.to_owned(),
    };
    let comments = vec![line(3, "How deep?"), line(1, "A fine name.")];
    let nowhere = PlanDecision {
        comments: vec![line(9, "What?")],
        ..way(Way::KeepPlanning)
    };
    assert!(stage.refused(&second, nowhere).await.contains("no line 9"));
    let decision = PlanDecision {
        comments,
        ..way(Way::KeepPlanning)
    };
    stage.go(&second, decision).await;

    let third = stage.presented(id, plans[2]).await;
    let source = json!({"type": "base64", "media_type": "image/png", "data": IMAGE});
    let images = vec![json!({"type": "image", "source": source})];
    let decision = PlanDecision {
        images,
        ..way(Way::KeepPlanning)
    };
    stage.go(&third, decision).await;

    let fourth = stage.presented(id, plans[3]).await;
    assert!(
        stage.modes(id).iter().all(|(_, mode)| mode == "plan"),
        "{:?}",
        stage.modes(id)
    );
    stage.go(&fourth, way(Way::AcceptEdits)).await;
    let view = stage.rests(id, 1).await;
    assert_eq!((view.mode, view.generation), (Mode::Edits, 1));
    assert!(stage.file("note.txt").exists(), "{}", stage.story(id));

    assert!(
        stage.shortest_wait() < Duration::from_secs(1),
        "what waits for a person is shown at once: {:?}",
        stage.shortest_wait()
    );

    for (plan, words) in [
        (&first, vec!["Call it B."]),
        (
            &second,
            vec![
                "On line 1",
                "> # B\nA fine name.",
                "On line 3",
                "> 1. Dig\nHow deep?",
            ],
        ),
        (&third, vec!["images"]),
    ] {
        let answer = stage.answer(plan);
        assert_eq!(answer["behavior"], "deny", "{answer}");
        assert_ne!(answer["interrupt"], true, "{answer}");
        let told = &stage.told(plan);
        let text = told["content"].as_str().unwrap();
        assert!(words.iter().all(|words| text.contains(words)), "{told}");
    }
    let pictures: Vec<Value> = stage.messages(id).into_iter().filter(has_image).collect();
    assert_eq!(pictures.len(), 1, "images follow as one message");
    assert_ne!(stage.model_heard(IMAGE), Some(false));

    let approved = stage.answer(&fourth);
    let default = json!([{"type": "setMode", "mode": "default", "destination": "session"}]);
    assert_eq!(approved["behavior"], "allow");
    assert_eq!(approved["updatedPermissions"], default);
    for plan in [&first, &second, &third, &fourth] {
        stage.until_life(plan, "settled").await;
    }
    assert_eq!(stage.mode_of_next_turn(id).await, "default");

    let versions = stage.versions(id).await;
    let texts: Vec<&str> = versions
        .iter()
        .map(|version| version.text.as_str())
        .collect();
    assert_eq!(texts, plans);
    assert!(versions.iter().all(|version| version.by == "agent"));
    let presented = [&first, &second, &third, &fourth].map(|plan| Some(plan.id));
    let of: Vec<_> = versions.iter().map(|version| version.approval).collect();
    assert_eq!(of, presented);
    assert_eq!(versions[1].changes, "-# A\n+# B\n \n 1. Dig\n");
    assert_eq!(versions[2].changes, " # B\n \n-1. Dig\n+1. Dig deep\n");
}

fn has_image(content: &Value) -> bool {
    let blocks = content.as_array().into_iter().flatten();
    blocks.clone().any(|block| block["type"] == "image")
}

pub(crate) async fn a_changed_plan_and_its_wishes_reach_the_agent(cli: Cli) {
    let (plan, changed) = ("# Plan\n\n1. Dig\n", "# Plan\n\n1. Fill\n");
    let wishes = ["run the tests", "look at the log"];
    let mut script = Script::default().plan_with_wishes(plan, &wishes);
    if !cli.takes_changed_plans() {
        script = script.plan_with_wishes(changed, &wishes);
    }
    let script = script.write("note.txt").say("Done.").say("Still here.");
    let stage = Stage::new(cli, &script).await;
    let id = stage.planning("Plan the garden").await;
    let mut asked = stage.presented(id, plan).await;
    let decision = PlanDecision {
        plan: Some(changed.to_owned()),
        allowed_prompts: vec![1],
        ..way(Way::Manual)
    };
    let beyond = PlanDecision {
        allowed_prompts: vec![2],
        ..way(Way::Manual)
    };
    assert!(
        stage
            .refused(&asked, beyond)
            .await
            .contains("no wish number 2")
    );
    stage.go(&asked, decision).await;
    if !stage.cli.takes_changed_plans() {
        // This version would carry out the plan as it was: it has to present the changed one.
        let before = asked;
        asked = stage.presented(id, changed).await;
        assert_eq!(stage.answer(&before)["behavior"], "deny");
        assert!(
            stage.answer(&before)["message"]
                .as_str()
                .unwrap()
                .contains(changed)
        );
        assert_eq!(stage.mode_of_cli(id), "plan");
        let decision = PlanDecision {
            allowed_prompts: vec![1],
            ..way(Way::Manual)
        };
        stage.go(&asked, decision).await;
    }
    let edit = stage.asked(id, "Write").await;
    let answer = stage.answer(&asked);
    assert_eq!(answer["updatedInput"]["plan"], changed, "{answer}");
    let rule = json!({"toolName": "Bash", "ruleContent": "prompt: look at the log"});
    let update =
        json!({"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"});
    assert_eq!(answer["updatedPermissions"][1], update);
    assert_eq!(answer["updatedPermissions"].as_array().unwrap().len(), 2);
    let [file] = &stage.plan_files()[..] else {
        panic!("{:?}", stage.plan_files());
    };
    assert_eq!(std::fs::read_to_string(file).unwrap(), changed);
    let told = stage.told(&asked);
    assert!(told["content"].to_string().contains("Fill"), "{told}");
    stage.decide(&edit, Decide::allow()).await;
    let view = stage.rests(id, 1).await;
    assert_eq!(view.mode, Mode::Ask);
    assert!(stage.file("note.txt").exists());
    assert_eq!(stage.mode_of_next_turn(id).await, "default");
    let versions = stage.versions(id).await;
    let by: Vec<_> = versions
        .iter()
        .map(|it| (it.by.as_str(), it.text.as_str()))
        .collect();
    assert_eq!(by[..2], [("agent", plan), ("the suite", changed)]);
    assert_eq!(versions[1].changes, " # Plan\n \n-1. Dig\n+1. Fill\n");
}

pub(crate) async fn without_a_text_there_are_two_ways(cli: Cli) {
    let script = Script::default().leave_without_plan().leave_without_plan();
    let script = script.write("note.txt").say("Done.").say("Still here.");
    let stage = Stage::new(cli, &script).await;
    let id = stage.planning("Plan nothing").await;
    let asked = stage.asked(id, "ExitPlanMode").await;
    for choice in [Way::ClearContext, Way::AcceptEdits] {
        let why = stage.refused(&asked, way(choice)).await;
        assert!(why.contains("no text of a plan"), "{why}");
    }
    let feedback = Some("Write it down first.".to_owned());
    stage
        .go(
            &asked,
            PlanDecision {
                feedback,
                ..way(Way::KeepPlanning)
            },
        )
        .await;
    let again = stage.asked(id, "ExitPlanMode").await;
    assert_ne!(again.id, asked.id);
    assert_eq!(stage.mode_of_cli(id), "plan");
    stage.go(&again, way(Way::Manual)).await;
    let edit = stage.asked(id, "Write").await;
    stage.decide(&edit, Decide::deny("Not now.")).await;
    stage.rests(id, 1).await;
    assert_eq!(stage.mode_of_next_turn(id).await, "default");
    assert_eq!(stage.versions(id).await, []);
    assert!(!stage.file("note.txt").exists());
}
