//! Two sessions in one home and one folder, both planning.
//!
//! Owns that no plan, id, rule or mode of one shows in the other: not in what is shown, not on the wire.

use countersign_host::control::approval::{PlanDecision, Way};
use countersign_host::control::{ApprovalView, Decide, Mode, SessionId};

use crate::script::Script;
use crate::stage::{Cli, Stage, way};

const ALPHA: &str = "# Alpha\n\n1. Dig\n";
const BETA: &str = "# Beta\n\n1. Fill\n";

pub(crate) async fn two_sessions_that_plan_in_one_folder_share_nothing(cli: Cli) {
    let one = |script: Script, name: &str, plan: &str| {
        let script = script.within(name);
        let script = script.plan_with_wishes(plan, &["run the tests"]);
        let script = script.write(&format!("{name}.txt"));
        script.bash("touch ran").say("Done.").say("Still here.")
    };
    let script = one(Script::default(), "alpha", ALPHA);
    let stage = Stage::new(cli, &one(script, "beta", BETA)).await;
    let (alpha, beta) = tokio::join!(stage.planning("Plan alpha"), stage.planning("Plan beta"));
    let of_alpha = stage.presented(alpha, ALPHA).await;
    let of_beta = stage.presented(beta, BETA).await;
    assert_eq!(stage.plan_files().len(), 2, "{:?}", stage.plan_files());
    is_let_go_ahead(&stage, &of_alpha).await;

    // Nothing of that shows in the other one.
    let waiting = stage.presented(beta, BETA).await;
    assert_eq!((waiting.id, &waiting.digest), (of_beta.id, &of_beta.digest));
    assert_eq!(stage.view(beta).await.mode, Mode::Plan);
    assert_eq!(stage.mode_of_cli(beta), "plan");
    stage.go(&of_beta, way(Way::Manual)).await;
    let edit = stage.asked(beta, "Write").await;
    stage.decide(&edit, Decide::allow()).await;
    let call = stage.asked(beta, "Bash").await;
    stage.decide(&call, Decide::deny("Not here.")).await;
    stage.rests(beta, 1).await;

    assert_eq!(stage.mode_of_next_turn(alpha).await, "default");
    assert_eq!(stage.mode_of_next_turn(beta).await, "default");
    let (a, b) = (stage.view(alpha).await, stage.view(beta).await);
    assert_eq!((a.mode, b.mode), (Mode::Edits, Mode::Ask));
    assert_ne!(a.conversation, b.conversation);
    knows_itself_alone(&stage, alpha, ALPHA, "beta").await;
    knows_itself_alone(&stage, beta, BETA, "alpha").await;
}

/// Edits are accepted from now on, and what the plan wished for runs.
async fn is_let_go_ahead(stage: &Stage, plan: &ApprovalView) {
    let granted = PlanDecision {
        rules: vec!["Bash(touch ran)".to_owned()],
        ..way(Way::AcceptEdits)
    };
    stage.go(plan, granted).await;
    stage.rests(plan.session, 1).await;
    assert!(stage.file("alpha.txt").exists(), "edits are accepted");
    assert!(stage.file("ran").exists(), "it was granted");
}

/// Neither the plans of a session nor anything that crossed its wire name the other one.
async fn knows_itself_alone(stage: &Stage, id: SessionId, own: &str, other: &str) {
    let versions = stage.versions(id).await;
    let texts: Vec<&str> = versions.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(texts, [own]);
    let story = everything(stage, id).to_lowercase();
    assert!(!story.contains(other), "{story}");
}

/// All that crossed between a host and an agent.
fn everything(stage: &Stage, id: SessionId) -> String {
    let lines = stage.journal(id);
    let lines = lines.iter().map(|line| line.value.to_string() + "\n");
    lines.collect()
}
