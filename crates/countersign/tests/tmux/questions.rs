//! Questions to the person: menus, answers in their own words, forms.

use crate::stage::{Set, Size, Which};
use crate::{on_both, picture};

on_both!(questions_are_menus, a_question_may_be_left_unanswered);

const ASK: &str = r#"
reply
  tool AskUserQuestion {"questions":[{"question":"Which database?","header":"Database","multiSelect":false,"options":[{"label":"SQLite","description":"one file"},{"label":"Postgres","description":"a server"}]},{"question":"Which platforms?","header":"Platforms","multiSelect":true,"options":[{"label":"Linux","description":"first"},{"label":"macOS","description":"second"}]},{"question":"How shall it be called?","header":"Name","multiSelect":false,"options":[{"label":"alpha","description":"short"},{"label":"beta","description":"shorter"}]}]}
reply
  say "Thank you."
"#;

fn set(which: Which, size: Size) -> Set<'static> {
    Set {
        which,
        size,
        model: ASK,
        args: &["Ask me"],
        files: &[],
        env: &[],
    }
}

fn questions_are_menus(which: Which, size: Size) {
    let Some(stage) = set(which, size).open() else {
        return;
    };
    stage.asked("Which database?");
    picture!(stage, "question-one", size);
    stage.keys(&["Down", "Enter"]);
    stage.see("Which platforms?");
    stage.keys(&["Space", "Down", "Space"]);
    stage.see("[x] 2.");
    picture!(stage, "question-many", size);
    stage.keys(&["Enter"]);
    stage.see("How shall it be called?");
    stage.keys(&["o"]);
    stage.see("Answer:");
    stage.write("gamma ray");
    stage.keys(&["Enter"]);
    stage.see("Thank you.");
    stage.idle();
    picture!(stage, "question-answered", size);
}

fn a_question_may_be_left_unanswered(which: Which, size: Size) {
    let Some(stage) = set(which, size).open() else {
        return;
    };
    stage.asked("Which database?");
    stage.keys(&["Escape"]);
    stage.see("Thank you.");
    stage.idle();
    assert!(
        stage.scrollback().contains("does not want to answer"),
        "{}",
        stage.scrollback()
    );
}
