//! Plans that are looked at: sent back, changed, approved, with an agent that waits.
//!
//! Owns what reaches the model with each way, what the card shows beforehand, and the versions that are kept.

use std::time::Duration;

use countersign_host::control::approval::{Card, Comment, Effect, PlanDecision, Way};
use countersign_host::control::{
    ApprovalView, Control as _, Decide, DecisionFilter, Mode, Period, PlanVersion, SessionId,
    Shelf as _,
};
use countersign_transcript::Body;
use serde_json::{Value, json};

use crate::script::Script;
use crate::stage::{Cli, Stage, not_yet, way};

/// One pixel.
const IMAGE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const PLANS: [&str; 4] = [
    "# A\n\n1. Dig\n",
    "# B\n\n1. Dig\n",
    "# B\n\n1. Dig deep\n",
    "# D\n\n1. Fill\n",
];

pub(crate) async fn a_plan_goes_back_and_forth_until_it_is_approved(cli: Cli) {
    let script = PLANS
        .iter()
        .fold(Script::default(), |script, plan| script.plan(plan));
    let script = script.write("note.txt").say("Done.").say("Still here.");
    let stage = Stage::new(cli, &script).await;
    let id = stage.planning("Plan the garden").await;
    let mut presented = send_back(&stage, id).await;

    let last = stage.presented(id, PLANS[3]).await;
    assert!(
        stage.modes(id).iter().all(|(_, mode)| mode == "plan"),
        "{:?}",
        stage.modes(id)
    );
    stage.go(&last, way(Way::AcceptEdits)).await;
    let view = stage.rests(id, 1).await;
    assert_eq!((view.mode, view.generation), (Mode::Edits, 1));
    assert!(stage.file("note.txt").exists(), "{}", stage.story(id));
    assert_eq!(
        stage.dividers(id).await,
        ["edits"],
        "the transcript says which mode is in force"
    );
    assert!(
        stage.shortest_wait() < Duration::from_secs(1),
        "what waits for a person is shown at once: {:?}",
        stage.shortest_wait()
    );
    was_told(&stage, &presented);
    let pictures: Vec<Value> = stage.messages(id).into_iter().filter(has_image).collect();
    assert_eq!(pictures.len(), 1, "images follow as one message");
    // Some versions encode it anew.
    assert_ne!(stage.model_heard("\"type\":\"image\""), Some(false));

    let approved = stage.answer(&last);
    let default = json!([{"type": "setMode", "mode": "default", "destination": "session"}]);
    assert_eq!(approved["behavior"], "allow");
    assert_eq!(approved["updatedPermissions"], default);
    presented.push(last);
    for plan in &presented {
        stage.until_life(plan, "settled").await;
    }
    nobody_denied(&stage, id).await;
    assert_eq!(stage.mode_of_next_turn(id).await, "default");
    are_kept(&stage.versions(id).await, &presented);
}

/// Three plans were sent back, one of them by a plain no with words: that is no denial, wherever answers are counted.
async fn nobody_denied(stage: &Stage, id: SessionId) {
    let of = |effect: Option<Effect>| DecisionFilter {
        tool: Some("ExitPlanMode".to_owned()),
        effect,
        ..DecisionFilter::default()
    };
    let all = stage.host().decisions(of(None)).await.unwrap().items;
    let verdicts: Vec<&str> = all.iter().map(|one| one.decided.verdict()).collect();
    let kept = "keep-planning";
    assert_eq!(verdicts, ["allow", kept, kept, kept], "newest first");
    let denied = stage.host().decisions(of(Some(Effect::Deny))).await;
    assert_eq!(denied.unwrap().items, Vec::new());

    let period = Period {
        since: 0,
        until: None,
        offset: 0,
    };
    let insights = stage.host().insights(period).await.unwrap();
    let people = insights.decided.iter().filter(|one| one.by == "the suite");
    let count = people.fold((0, 0), |sum, one| {
        (sum.0 + one.denied, sum.1 + one.sent_back)
    });
    assert_eq!(count, (0, 3), "{insights:#?}");
    let totals = stage.host().totals(id).await.unwrap().approvals;
    assert_eq!((totals.denied, totals.sent_back), (0, 3), "{totals:#?}");
    let page = stage.host().transcript(id, None, 500).await.unwrap();
    let ends = page.items.iter().filter_map(|entry| match &entry.body {
        Body::Result(end) => Some(end.denials),
        _ => None,
    });
    assert_eq!(ends.sum::<u64>(), 0, "the CLI lists them as denied");
}

/// Sends three plans back: with a word, with comments on lines, with an image.
async fn send_back(stage: &Stage, id: SessionId) -> Vec<ApprovalView> {
    let first = stage.presented(id, PLANS[0]).await;
    let silent = stage.refused(&first, way(Way::KeepPlanning)).await;
    assert!(silent.contains("feedback"), "{silent}");
    // A plain no with words is one, too.
    stage.decide(&first, Decide::deny("Call it B.")).await;

    let second = stage.presented(id, PLANS[1]).await;
    let on = |comments: &[(u32, &str)]| PlanDecision {
        comments: comments
            .iter()
            .map(|(line, text)| Comment {
                line: *line,
                text: (*text).to_owned(),
            })
            .collect(),
        ..way(Way::KeepPlanning)
    };
    let nowhere = stage.refused(&second, on(&[(9, "What?")])).await;
    assert!(nowhere.contains("no line 9"), "{nowhere}");
    stage
        .go(&second, on(&[(3, "How deep?"), (1, "A fine name.")]))
        .await;

    let third = stage.presented(id, PLANS[2]).await;
    let source = json!({"type": "base64", "media_type": "image/png", "data": IMAGE});
    let decision = PlanDecision {
        images: vec![json!({"type": "image", "source": source})],
        ..way(Way::KeepPlanning)
    };
    stage.go(&third, decision).await;
    vec![first, second, third]
}

/// What a person said about each plan reached the model.
fn was_told(stage: &Stage, sent_back: &[ApprovalView]) {
    let lines = "On line 1 of the plan:\n> # B\nA fine name.\n\nOn line 3 of the plan:\n> 1. Dig\nHow deep?";
    for (plan, words) in sent_back.iter().zip(["Call it B.", lines, "images"]) {
        let answer = stage.answer(plan);
        assert_eq!(answer["behavior"], "deny", "{answer}");
        // Where a running turn would lose images, it is ended for them.
        let is_ended = words == "images" && !stage.cli.keeps_images();
        assert_eq!(answer["interrupt"] == true, is_ended, "{answer}");
        let told = stage.told(plan);
        assert!(told["content"].as_str().unwrap().contains(words), "{told}");
    }
}

fn are_kept(versions: &[PlanVersion], presented: &[ApprovalView]) {
    let texts: Vec<&str> = versions
        .iter()
        .map(|version| version.text.as_str())
        .collect();
    assert_eq!(texts, PLANS);
    assert!(versions.iter().all(|version| version.by == "agent"));
    let shown: Vec<_> = presented.iter().map(|plan| Some(plan.id)).collect();
    let of: Vec<_> = versions.iter().map(|version| version.approval).collect();
    assert_eq!(of, shown);
    assert_eq!(versions[1].changes, "-# A\n+# B\n \n 1. Dig\n");
    assert_eq!(versions[2].changes, " # B\n \n-1. Dig\n+1. Dig deep\n");
}

fn has_image(content: &Value) -> bool {
    let blocks = content.as_array().into_iter().flatten();
    blocks.clone().any(|block| block["type"] == "image")
}

pub(crate) async fn a_changed_plan_reaches_the_agent_and_granted_wishes_run_unasked(cli: Cli) {
    let plan = "# Plan\n\n1. Dig\n2. Run `touch test-ran`\n";
    let changed = "# Plan\n\n1. Fill\n2. Run `touch test-ran`\n";
    let wishes = ["run the tests", "look at the log"];
    let mut script = Script::default().plan_with_wishes(plan, &wishes);
    if !cli.takes_changed_plans() {
        script = script.plan_with_wishes(changed, &wishes);
    }
    let script = script.write("note.txt").bash("touch test-ran");
    let script = script.say("Done.").say("Still here.");
    let stage = Stage::new(cli, &script).await;
    let id = stage.planning("Plan the garden").await;
    let mut asked = stage.presented(id, plan).await;
    is_shown_whole(&stage, &asked).await;
    let offers = &asked.plan.as_ref().unwrap().wishes[0].offers;
    let ticked = PlanDecision {
        rules: offers.iter().map(|offer| offer.text.clone()).collect(),
        ..way(Way::Manual)
    };
    let decision = PlanDecision {
        plan: Some(changed.to_owned()),
        ..ticked.clone()
    };
    stage.go(&asked, decision).await;
    if !stage.cli.takes_changed_plans() {
        // This version would carry out the plan as it was: it has to present the changed one.
        let before = asked;
        asked = stage.presented(id, changed).await;
        let answer = stage.answer(&before);
        assert_eq!(answer["behavior"], "deny");
        assert!(answer["message"].as_str().unwrap().contains(changed));
        assert_eq!(stage.mode_of_cli(id), "plan");
        stage.go(&asked, ticked).await;
    }
    let edit = stage.asked(id, "Write").await;
    is_granted(&stage, &asked, changed);
    stage.decide(&edit, Decide::allow()).await;
    let view = stage.rests(id, 1).await;
    assert_eq!(view.mode, Mode::Ask);
    assert!(stage.file("note.txt").exists());
    // Not asked: the next question would have kept it from resting.
    assert!(stage.file("test-ran").exists(), "{}", stage.story(id));
    assert_eq!(stage.mode_of_next_turn(id).await, "default");
    let versions = stage.versions(id).await;
    let by = versions.iter().map(|it| (it.by.as_str(), it.text.as_str()));
    let by: Vec<_> = by.take(2).collect();
    assert_eq!(by, [("agent", plan), ("the suite", changed)]);
    let changes = " # Plan\n \n-1. Dig\n+1. Fill\n 2. Run `touch test-ran`\n";
    assert_eq!(versions[1].changes, changes);
}

/// The card has the text, both wishes with what they may stand for, all ways, and says what becomes of a changed plan.
async fn is_shown_whole(stage: &Stage, asked: &ApprovalView) {
    let card = asked.plan.as_ref().unwrap();
    assert_eq!(card.text.as_deref(), asked.input["plan"].as_str());
    let offered_for = |at: usize| -> Vec<&str> {
        let offers = card.wishes[at].offers.iter();
        offers.map(|offer| offer.text.as_str()).collect()
    };
    assert_eq!(offered_for(0), ["Bash(touch test-ran)"]);
    assert_eq!(offered_for(1), [""; 0], "no command fits: {card:?}");
    assert_eq!(card.edit_note.is_none(), stage.cli.takes_changed_plans());
    let all = [
        Way::ClearContext,
        Way::AcceptEdits,
        Way::Manual,
        Way::KeepPlanning,
    ];
    assert_eq!(offered(card), all);
    let prose = PlanDecision {
        allowed_prompts: vec![0],
        ..way(Way::Manual)
    };
    let why = stage.refused(asked, prose).await;
    assert!(why.contains("name in `rules`"), "{why}");
    let early = PlanDecision {
        rules: vec!["Bash(ls)".to_owned()],
        ..not_yet("Later.")
    };
    let why = stage.refused(asked, early).await;
    assert!(why.contains("not approved"), "{why}");
}

/// The answer brings the plan and no rule of the CLI, and the plan file holds what was approved.
fn is_granted(stage: &Stage, asked: &ApprovalView, plan: &str) {
    let answer = stage.answer(asked);
    assert_eq!(answer["updatedInput"]["plan"], plan, "{answer}");
    let mode = json!({"type": "setMode", "mode": "default", "destination": "session"});
    assert_eq!(answer["updatedPermissions"], json!([mode]));
    let files = stage.plan_files();
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(std::fs::read_to_string(&files[0]).unwrap(), plan);
    let told = stage.told(asked);
    assert!(told["content"].to_string().contains("Fill"), "{told}");
}

fn offered(card: &Card) -> Vec<Way> {
    card.ways.iter().map(|offer| offer.way).collect()
}

pub(crate) async fn without_a_text_there_are_two_ways(cli: Cli) {
    let script = Script::default().leave_without_plan().leave_without_plan();
    let script = script.write("note.txt").say("Done.").say("Still here.");
    let stage = Stage::new(cli, &script).await;
    let id = stage.planning("Plan nothing").await;
    let asked = stage.asked(id, "ExitPlanMode").await;
    let card = asked.plan.as_ref().unwrap();
    assert_eq!((&card.text, card.restarts), (&None, false));
    assert_eq!(offered(card), [Way::Manual, Way::KeepPlanning]);
    for choice in [Way::ClearContext, Way::AcceptEdits] {
        let why = stage.refused(&asked, way(choice)).await;
        assert!(why.contains("no text of a plan"), "{why}");
    }
    stage.go(&asked, not_yet("Write it down first.")).await;
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
