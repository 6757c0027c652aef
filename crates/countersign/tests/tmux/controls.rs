//! The keys beside the questions: interrupting, going on, looking back, ending.

use crate::stage::{SMALL, Set, Size, Which};
use crate::{on_both, picture};

on_both!(
    ctrl_c_interrupts_the_turn_and_twice_ends_the_run,
    one_message_follows_another
);

const SLOW: &str = r#"
reply
  say "I wait."
  tool Bash {"command":"tail -f /dev/null","description":"Wait long"}
reply
  say "Never said."
"#;

fn ctrl_c_interrupts_the_turn_and_twice_ends_the_run(which: Which, size: Size) {
    let args = &["--allow", "Bash(tail:*)", "Wait"];
    let Some(stage) = (Set {
        which,
        size,
        model: SLOW,
        args,
        files: &[],
        home: &[],
        env: &[],
    })
    .open() else {
        return;
    };
    stage.see("allows this");
    stage.keys(&["C-c"]);
    stage.see("interrupted");
    stage.idle();
    picture!(stage, "interrupted", size);
    stage.write("x");
    stage.see("› x");
    stage.keys(&["BSpace"]);
    stage.idle();
    stage.keys(&["C-c"]);
    stage.see("again ends the run");
    stage.keys(&["C-c"]);
    assert_eq!(stage.ended(), 0);
}

fn one_message_follows_another(which: Which, size: Size) {
    const TALK: &str = r##"
reply when "First"
  say "# One\n\nA **first** answer with `code`:\n\n- a\n- b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n"
reply when "Second"
  say "Two."
reply when "First"
  say "Three."
"##;
    let set = Set {
        which,
        size,
        model: TALK,
        args: &["First"],
        files: &[],
        home: &[],
        env: &[],
    };
    let Some(stage) = set.open() else { return };
    stage.see("first answer");
    stage.idle();
    picture!(stage, "markdown", size);
    stage.write("Second");
    stage.keys(&["Enter"]);
    stage.see("Two.");
    stage.idle();
    stage.keys(&["Up", "Up"]);
    stage.until("the first message in the line", |screen| {
        screen.trim_end().ends_with("› Second") || screen.trim_end().ends_with("› First")
    });
    stage.keys(&["C-u"]);
    stage.write("/exit");
    stage.keys(&["Enter"]);
    assert_eq!(stage.ended(), 0);
    assert!(stage.scrollback().contains("--resume"));
}

#[test]
fn ctrl_c_twice_in_a_turn_ends_the_run_and_the_code_says_so() {
    // The model does not answer: there is time for two.
    const NEVER: &str = r#"
reply
  tool Bash {"command":"trap '' INT TERM; tail -f /dev/null","description":"Wait long"}
"#;
    let args = &["--yes", "Wait"];
    let Some(stage) = (Set {
        which: Which::Scripted,
        size: SMALL,
        model: NEVER,
        args,
        files: &[],
        home: &[],
        env: &[],
    })
    .open() else {
        return;
    };
    stage.see("Allowed by --yes");
    stage.keys(&["C-c", "C-c"]);
    assert_eq!(stage.ended(), 130);
}

#[test]
fn a_folder_that_allows_things_by_itself_is_asked_about_once() {
    const LIST: &str = r#"
reply
  tool Bash {"command":"ls","description":"List"}
reply
  say "Listed."
"#;
    let settings = r#"{"permissions":{"allow":["Bash(ls:*)"]}}"#;
    let files = &[(".claude/settings.json", settings)];
    let Some(stage) = (Set {
        which: Which::Scripted,
        size: SMALL,
        model: LIST,
        args: &["List"],
        files,
        home: &[],
        env: &[],
    })
    .open() else {
        return;
    };
    stage.asked("This folder brings rules");
    picture!(stage, "trust", SMALL);
    stage.keys(&["y"]);
    stage.see("Listed.");
    assert!(
        stage.scrollback().contains("settings.json"),
        "{}",
        stage.scrollback()
    );
}
