//! A plan, and the four ways on from it.

use crate::stage::{Set, Size, Stage, Which};
use crate::{on_both, picture};

on_both!(
    a_plan_is_approved_with_edits_accepted,
    a_plan_is_approved_and_edits_are_asked,
    planning_goes_on_with_what_was_said,
    a_fresh_conversation_begins_with_the_plan,
    a_plan_that_was_edited_goes_back,
);

const PLAN: &str = r##"
reply
  take plan after "/.claude/plans/" until ".md"
  tool Write {"file_path":"${home}/.claude/plans/${plan}.md","content":"# The plan\n\n1. Write a.txt\n"}
reply
  tool ExitPlanMode {}
reply
  tool Write {"file_path":"${cwd}/a.txt","content":"done\n"}
reply
  say "Carried out."
"##;

fn open(which: Which, size: Size, model: &str, env: &[(&str, &str)]) -> Option<Stage> {
    let stage = Set {
        which,
        size,
        model,
        args: &["--mode", "plan", "Plan it"],
        files: &[],
        home: &[],
        env,
    }
    .open()?;
    stage.asked("Write a.txt");
    Some(stage)
}

fn a_plan_is_approved_with_edits_accepted(which: Which, size: Size) {
    let Some(stage) = open(which, size, PLAN, &[]) else {
        return;
    };
    picture!(stage, "plan-asked", size);
    stage.keys(&["a"]);
    stage.see("Carried out.");
    stage.idle();
    assert_eq!(stage.read("a.txt").as_deref(), Some("done\n"));
    picture!(stage, "plan-accept-edits", size);
}

fn a_plan_is_approved_and_edits_are_asked(which: Which, size: Size) {
    let Some(stage) = open(which, size, PLAN, &[]) else {
        return;
    };
    stage.keys(&["m"]);
    stage.asked("No rule covers this file");
    assert_eq!(stage.read("a.txt"), None);
    stage.keys(&["y"]);
    stage.see("Carried out.");
    assert_eq!(stage.read("a.txt").as_deref(), Some("done\n"));
}

fn planning_goes_on_with_what_was_said(which: Which, size: Size) {
    const AGAIN: &str = r##"
reply
  take plan after "/.claude/plans/" until ".md"
  tool Write {"file_path":"${home}/.claude/plans/${plan}.md","content":"# The plan\n\n1. Write a.txt\n"}
reply
  tool ExitPlanMode {}
reply
  say "I think again."
"##;
    let Some(stage) = open(which, size, AGAIN, &[]) else {
        return;
    };
    stage.keys(&["k"]);
    stage.see("What shall be different?");
    stage.write("call it b.txt");
    stage.keys(&["Enter"]);
    stage.see("I think again.");
    stage.idle();
    picture!(stage, "plan-keep", size);
}

fn a_fresh_conversation_begins_with_the_plan(which: Which, size: Size) {
    const AFRESH: &str = r##"
reply in "Carry out this plan"
  say "A fresh start."
reply
  take plan after "/.claude/plans/" until ".md"
  tool Write {"file_path":"${home}/.claude/plans/${plan}.md","content":"# The plan\n\n1. Write a.txt\n"}
reply
  tool ExitPlanMode {}
"##;
    let Some(stage) = open(which, size, AFRESH, &[]) else {
        return;
    };
    stage.keys(&["BTab"]);
    stage.see("A fresh conversation begins.");
    stage.see("A fresh start.");
    stage.idle();
}

fn a_plan_that_was_edited_goes_back(which: Which, size: Size) {
    let env = &[("EDITOR", "sed -i s/a.txt/better.txt/")];
    let Some(stage) = open(which, size, PLAN, env) else {
        return;
    };
    stage.keys(&["C-g"]);
    stage.see("The plan was changed");
    stage.keys(&["a"]);
    stage.see("Carried out.");
    let plans = std::fs::read_dir(stage.home().join(".claude/plans")).unwrap();
    let plan: String = plans
        .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    assert!(plan.contains("better.txt"), "{plan}");
}
