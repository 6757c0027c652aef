//! May this call run? Every answer there is.

use crate::stage::{LARGE, NARROW, SMALL, Set, Size, Which};
use crate::{on_both, picture};

on_both!(
    a_yes_runs_it,
    what_cannot_be_undone_is_asked_twice,
    a_no_is_read_by_the_agent,
    a_no_that_stops_ends_the_turn,
    a_rule_for_the_session_is_asked_once,
    an_input_that_was_edited_is_what_runs,
    an_edit_is_shown_as_a_difference,
    a_sub_agent_says_that_it_is_one,
);

const TOUCH: &str = r#"
reply
  say "I will make the file."
  tool Bash {"command":"touch made.txt","description":"Make a file"}
reply
  say "That is it."
"#;

fn set(which: Which, size: Size) -> Set<'static> {
    Set {
        which,
        size,
        model: TOUCH,
        args: &["Make a file"],
        files: &[],
        home: &[],
        env: &[],
    }
}

fn a_yes_runs_it(which: Which, size: Size) {
    let Some(stage) = set(which, size).open() else {
        return;
    };
    stage.asked("touch made.txt");
    picture!(stage, "approval-asked", size);
    assert!(!stage.path("made.txt").exists());
    stage.keys(&["y"]);
    stage.see("That is it.");
    stage.idle();
    assert!(stage.path("made.txt").exists());
    picture!(stage, "approval-yes", size);
    stage.keys(&["C-d"]);
    assert_eq!(stage.ended(), 0);
}

fn what_cannot_be_undone_is_asked_twice(which: Which, size: Size) {
    const REMOVES: &str = r#"
reply
  tool Bash {"command":"rm list.txt","description":"Remove the list"}
reply
  say "It is gone."
"#;
    let files = &[("list.txt", "one\n")];
    let Some(stage) = (Set {
        model: REMOVES,
        files,
        ..set(which, size)
    })
    .open() else {
        return;
    };
    stage.asked("rm list.txt");
    stage.see("Cannot be undone: it removes files.");
    assert!(!stage.screen().contains("Always"), "{}", stage.screen());
    stage.keys(&["y"]);
    stage.see("Allow it all the same?");
    // The key of the first answer says nothing here, and the first choice is the way back.
    stage.keys(&["y", "Enter"]);
    stage.see("Yes, this once");
    assert!(stage.path("list.txt").exists());
    stage.keys(&["y"]);
    stage.see("Allow it all the same?");
    stage.keys(&["r"]);
    stage.see("It is gone.");
    assert!(!stage.path("list.txt").exists());
}

fn a_no_is_read_by_the_agent(which: Which, size: Size) {
    let Some(stage) = set(which, size).open() else {
        return;
    };
    stage.asked("touch made.txt");
    stage.keys(&["n"]);
    stage.see("Why not?");
    stage.write("not in this folder");
    stage.keys(&["Enter"]);
    stage.idle();
    assert!(!stage.path("made.txt").exists());
    picture!(stage, "approval-no", size);
}

fn a_no_that_stops_ends_the_turn(which: Which, size: Size) {
    let Some(stage) = set(which, size).open() else {
        return;
    };
    stage.asked("touch made.txt");
    stage.keys(&["s"]);
    stage.idle();
    assert!(!stage.path("made.txt").exists() && !stage.screen().contains("That is it."));
    picture!(stage, "approval-stop", size);
}

fn a_rule_for_the_session_is_asked_once(which: Which, size: Size) {
    const TWICE: &str = r#"
reply
  tool Bash {"command":"touch one.txt","description":"Make a file"}
reply
  tool Bash {"command":"touch two.txt","description":"Make another"}
reply
  say "Both are there."
"#;
    let Some(stage) = (Set {
        model: TWICE,
        ..set(which, size)
    })
    .open() else {
        return;
    };
    stage.asked("touch one.txt");
    stage.keys(&["a"]);
    stage.see("Always allow what?");
    picture!(stage, "approval-always", size);
    stage.keys(&["2"]);
    stage.see("How far shall it reach?");
    stage.keys(&["s"]);
    stage.see("Both are there.");
    stage.idle();
    assert!(stage.path("one.txt").exists() && stage.path("two.txt").exists());
    picture!(stage, "approval-always-done", size);
}

fn an_input_that_was_edited_is_what_runs(which: Which, size: Size) {
    let env = &[("EDITOR", "sed -i s/made.txt/other.txt/")];
    let Some(stage) = (Set {
        env,
        ..set(which, size)
    })
    .open() else {
        return;
    };
    stage.asked("touch made.txt");
    stage.keys(&["e"]);
    stage.see("That is it.");
    stage.idle();
    assert!(stage.path("other.txt").exists() && !stage.path("made.txt").exists());
    picture!(stage, "approval-edited", size);
}

fn an_edit_is_shown_as_a_difference(which: Which, size: Size) {
    const EDIT: &str = r#"
reply
  tool Read {"file_path":"${cwd}/list.txt"}
reply
  tool Edit {"file_path":"${cwd}/list.txt","old_string":"two","new_string":"zwei"}
reply
  say "Changed."
"#;
    let files = &[("list.txt", "one\ntwo\nthree\n")];
    let Some(stage) = (Set {
        model: EDIT,
        files,
        ..set(which, size)
    })
    .open() else {
        return;
    };
    stage.asked("zwei");
    picture!(stage, "approval-edit", size);
    stage.keys(&["y"]);
    stage.see("Changed.");
    assert_eq!(
        stage.read("list.txt").as_deref(),
        Some("one\nzwei\nthree\n")
    );
}

fn a_sub_agent_says_that_it_is_one(which: Which, size: Size) {
    const AGENT: &str = r#"
reply in "Make the file"
  tool Bash {"command":"touch deep.txt","description":"Make a file"}
reply in "Make the file"
  say "Made."
reply
  tool Task {"description":"Make it","prompt":"Make the file","subagent_type":"general-purpose","run_in_background":false}
reply
  say "The helper is done."
"#;
    let Some(stage) = (Set {
        model: AGENT,
        ..set(which, size)
    })
    .open() else {
        return;
    };
    stage.asked("Make it");
    stage.keys(&["y"]);
    stage.asked("touch deep.txt");
    picture!(stage, "approval-sub-agent", size);
    stage.keys(&["y"]);
    stage.see("The helper is done.");
    assert!(stage.path("deep.txt").exists());
}

#[test]
fn a_rule_for_the_folder_is_kept_for_the_next_run() {
    let Some(stage) = set(Which::Scripted, SMALL).open() else {
        return;
    };
    stage.asked("touch made.txt");
    stage.keys(&["a"]);
    stage.see("Always allow what?");
    stage.keys(&["2"]);
    stage.see("How far shall it reach?");
    stage.keys(&["f"]);
    stage.see("That is it.");
    let rules =
        std::fs::read_to_string(stage.home().join(".config/countersign/countersign.toml")).unwrap();
    assert!(
        rules.contains("Bash(touch:*)") && rules.contains("repository"),
        "{rules}"
    );
}

#[test]
fn what_was_typed_before_a_question_came_answers_nothing() {
    let Some(stage) = set(Which::Scripted, SMALL).open() else {
        return;
    };
    // As fast as keys can be: the question is not on the screen yet, or has just appeared.
    stage.write("yyyyyyyy");
    stage.see("touch made.txt");
    assert!(!stage.path("made.txt").exists(), "{}", stage.screen());
}

#[test]
fn a_narrow_terminal_shows_all_of_it() {
    let Some(stage) = set(Which::Scripted, NARROW).open() else {
        return;
    };
    stage.asked("touch made.txt");
    picture!(stage, "approval-asked", NARROW);
    stage.resize(LARGE);
    stage.resize(SMALL);
    stage.keys(&["y"]);
    stage.see("That is it.");
}

#[test]
fn without_colours_there_is_no_escape_sequence_for_one() {
    let env = &[("NO_COLOR", "1")];
    let Some(stage) = (Set {
        env,
        ..set(Which::Scripted, SMALL)
    })
    .open() else {
        return;
    };
    stage.asked("touch made.txt");
    assert!(!stage.coloured().contains("\x1b["), "{}", stage.coloured());
    let Some(stage) = set(Which::Scripted, SMALL).open() else {
        return;
    };
    stage.asked("touch made.txt");
    assert!(stage.coloured().contains("\x1b["));
}

#[test]
fn what_was_edited_is_held_against_the_rules_again() {
    let env = &[("EDITOR", "sed -i s/made.txt/other.txt/")];
    let args = &["--deny", "Bash(touch other.txt)", "Make a file"];
    let set = Set {
        env,
        args,
        ..set(Which::Scripted, SMALL)
    };
    let Some(stage) = set.open() else { return };
    stage.asked("touch made.txt");
    stage.keys(&["e"]);
    stage.see("Nothing was sent.");
    stage.asked("touch made.txt");
    assert!(!stage.path("other.txt").exists() && !stage.path("made.txt").exists());
}

#[test]
fn an_input_that_was_emptied_does_not_run_the_call_as_it_was() {
    let env = &[("EDITOR", "cp empty.json")];
    let files = &[("empty.json", "{}")];
    let Some(stage) = (Set {
        env,
        files,
        ..set(Which::Scripted, SMALL)
    })
    .open() else {
        return;
    };
    stage.asked("touch made.txt");
    stage.keys(&["e"]);
    stage.until("a complaint", |screen| {
        screen.contains("nothing was sent") || screen.contains("Nothing was sent")
    });
    assert!(!stage.path("made.txt").exists());
}

#[test]
fn nothing_comes_between_a_question_and_its_answer() {
    const MEANWHILE: &str = r#"
turn
  ask Bash {"command":"touch made.txt"} nowait
  wait 200ms
  say "Said meanwhile."
"#;
    let Some(stage) = (Set {
        model: MEANWHILE,
        ..set(Which::Scripted, SMALL)
    })
    .open() else {
        return;
    };
    stage.asked("touch made.txt");
    assert!(!stage.scrollback().contains("Said meanwhile."));
    stage.keys(&["n"]);
    stage.see("Why not?");
    stage.keys(&["Enter"]);
    stage.see("Said meanwhile.");
    let seen = stage.scrollback();
    assert!(
        seen.find("Refused") < seen.find("Said meanwhile."),
        "{seen}"
    );
}

#[test]
fn a_rule_of_ones_own_must_mean_the_call() {
    let Some(stage) = set(Which::Scripted, SMALL).open() else {
        return;
    };
    stage.asked("touch made.txt");
    stage.keys(&["a"]);
    stage.see("Always allow what?");
    stage.keys(&["r"]);
    stage.see("Rule:");
    stage.write("Bash(ls:*)");
    stage.keys(&["Enter"]);
    stage.see("How far shall it reach?");
    stage.keys(&["s"]);
    stage.see("would not allow this call");
    assert!(!stage.path("made.txt").exists());
}
