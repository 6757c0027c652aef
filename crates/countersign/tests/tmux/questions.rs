//! Questions to the person: menus, answers in their own words, forms.

use crate::stage::{Set, Size, Which};
use crate::{on_both, picture};

on_both!(
    questions_are_menus,
    a_question_may_be_left_unanswered,
    a_server_asks_by_a_form
);

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
        home: &[],
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

/// A server that asks for a name when its tool is called, and keeps what it is told.
const SERVER: &str = r#"
while IFS= read -r line; do
  id=$(sed -n 's/.*"id":\([0-9]*\).*/\1/p' <<<"$line")
  case $line in
    *'"method":"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"calc","version":"1"}}}\n' "$id" ;;
    *'"method":"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"ask","description":"Asks","inputSchema":{"type":"object"}}]}}\n' "$id" ;;
    *'"method":"tools/call"'*) call=$id
      printf '{"jsonrpc":"2.0","id":900,"method":"elicitation/create","params":{"message":"Who are you?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","title":"Your name"}},"required":["name"]}}}\n' ;;
    *'"id":900'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"noted"}]}}\n' "$call"
      printf '%s\n' "$line" > "$HOME/told.json" ;;
  esac
done
"#;

const SERVERS: &str =
    r#"{"mcpServers":{"calc":{"command":"/bin/bash","args":["${home}/server.sh"]}}}"#;

fn a_server_asks_by_a_form(which: Which, size: Size) {
    // The scripted CLI starts no servers: there the scenario asks.
    const SCENARIO: &str = r#"
turn
  elicit calc "Who are you?" {"type":"object","properties":{"name":{"type":"string","title":"Your name"}},"required":["name"]}
  say "Good day."
"#;
    const CALL: &str = r#"
reply
  tool mcp__calc__ask {}
reply
  say "Good day."
"#;
    let model = match which {
        Which::Scripted => SCENARIO,
        Which::Real(_) => CALL,
    };
    let home = &[("server.sh", SERVER), (".claude.json", SERVERS)];
    let args = &["--allow", "mcp__calc", "Ask me"];
    let set = Set {
        which,
        size,
        model,
        args,
        files: &[],
        home,
        env: &[],
    };
    let Some(stage) = set.open() else { return };
    stage.asked("Your name");
    assert!(
        stage
            .scrollback()
            .contains("The server `calc` asks you something.")
    );
    stage.write("someone");
    stage.keys(&["Enter"]);
    stage.until("the review", |screen| {
        screen.contains("someone") && !screen.contains("one moment")
    });
    stage.keys(&["Enter"]);
    stage.see("Good day.");
    stage.idle();
    if let Which::Real(_) = which {
        let told = std::fs::read_to_string(stage.home().join("told.json")).unwrap();
        assert!(
            told.contains("accept") && told.contains("someone"),
            "{told}"
        );
    }
}
