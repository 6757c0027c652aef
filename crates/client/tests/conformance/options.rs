//! Options of the builder, each seen in what the CLI or the model makes of it.

use countersign_client::options::{SettingSource, Thinking};
use countersign_client::wire::Extra;
use countersign_client::wire::control::AgentDefinition;
use countersign_client::{AllowAll, Decision, Session};
use serde_json::{Value, json};

use crate::control_mcp;
use crate::harness::{Cli, NotInVersion, Pass, Verdicts};
use crate::stage::{Asked, Stage, lines, soon, system_prompt, tool_names, turn};

cases! {
    together {
        "options/model" => "in the init and in the request to the model",
        "options/append_system_prompt" => "at the end of the system prompt, behind the CLI's own",
        "options/allowed_tools" => "a command that a rule names runs unasked; another is asked about",
        "options/disallowed_tools" => "the tool is not in the init",
        "options/add_dir" => "a file outside the project is read unasked; in another folder it is asked about",
        "options/settings" => "the output style of the settings is in the init",
        "options/setting_sources, unset" => "a variable of the project's settings reaches a command",
        "options/env" => "a variable reaches a command",
        "options/cwd" => "in the init, and where commands run",
        "options/mcp_server" => "a server that is a process: its tool is in the init",
        "options/agents" => "a sub-agent of that name runs, with its own prompt",
    }
    instead {
        "options/system_prompt" => "replaces the CLI's own",
        "options/tools, none" => "the model is offered no tool",
        "options/setting_sources, none" => "the project's settings are not read",
        "options/thinking, budget" => "in the request to the model",
        "options/replay_user_messages(false)" => "no message is echoed, and turns end all the same",
        "options/include_partial_messages, unset" => "no pieces of the answer come",
    }
    partial {
        "options/include_partial_messages" => "the pieces of the answer come, and make up its text",
        "options/fallback_model" => "the model is overloaded: the fallback answers",
        "options/extra_arg" => "a flag that is given by its name takes effect",
    }
}

const FULL_NAME: &str = "claude-sonnet-4-5-20250929";

const TOGETHER: &str = r#"
reply when "Run it"
  tool Bash {"command":"bash make.sh","description":"Run the script"}
reply when "Run the other"
  tool Bash {"command":"bash other.sh","description":"Run the script"}
reply when "Read it"
  tool Read {"file_path":"${cwd}/../added/near.txt"}
reply when "Read the other"
  tool Read {"file_path":"${cwd}/../far/far.txt"}
reply when "Send someone"
  tool Task {"description":"Watch","prompt":"Please watch the herons","subagent_type":"watcher","run_in_background":false}
reply when "Please watch the herons"
  say "I saw two."
reply always
  say "Well."
"#;

async fn together(cli: Cli) -> Verdicts {
    let stage = cli.stage(TOGETHER).await;
    let root = stage.sandbox.root();
    for (dir, file, text) in [
        ("added", "near.txt", "a near bird"),
        ("far", "far.txt", "a far bird"),
    ] {
        std::fs::create_dir(root.join(dir)).unwrap();
        std::fs::write(root.join(dir).join(file), text).unwrap();
    }
    let write = |path: &str, text: &str| stage.sandbox.write(path, text).unwrap();
    write("make.sh", "echo \"$HERON $NEST $PWD\" > made.txt\n");
    write("other.sh", "touch other.txt\n");
    write(".claude/settings.json", r#"{"env":{"NEST":"twigs"}}"#);
    let asked = Asked::default();
    let claude = stage
        .claude()
        .permissions(asked.always(Decision::deny("not here")))
        .model(FULL_NAME)
        .append_system_prompt("The word of the day is heron.")
        .allowed_tools(["Bash(bash make.sh)"])
        .disallowed_tools(["WebSearch"])
        .add_dir(root.join("added"))
        .settings(json!({"outputStyle": "Explanatory"}))
        .env("HERON", "grey")
        .mcp_server("notes", control_mcp::server(&stage))
        .agents("watcher", watcher());
    let mut session = claude.connect().await.unwrap();
    told(&stage, &mut session).await;
    asked_about(&stage, &mut session, &asked).await;
    turn(&mut session, "Send someone").await;
    let sent = stage.asked().into_iter().find(of_the_agent);
    let prompt = system_prompt(&sent.expect("the sub-agent asks the model"));
    assert!(prompt.contains("You watch herons."), "{prompt}");
    // The server may come up after the first turn.
    let (init, _) = turn(&mut session, "Hello").await;
    let tools = init["tools"].as_array().unwrap();
    assert!(tools.contains(&"mcp__notes__keep".into()), "{init}");
    Verdicts::all(features::together())
}

/// What the CLI and the model are told, and where a command runs.
async fn told(stage: &Stage, session: &mut Session) {
    let (init, _) = turn(session, "Run it").await;
    let request = &stage.asked()[0];
    assert_eq!([&init["model"], &request["model"]], [FULL_NAME; 2]);
    let prompt = system_prompt(request);
    assert!(
        prompt.contains("The word of the day is heron.") && prompt.len() > 1000,
        "{prompt}"
    );
    let tools = init["tools"].as_array().unwrap();
    assert!(
        !tools.contains(&"WebSearch".into()) && tools.contains(&"WebFetch".into()),
        "{init}"
    );
    assert_eq!(init["output_style"], "Explanatory");
    let project = stage.sandbox.project();
    assert_eq!(init["cwd"], project.to_str().unwrap());
    let made = format!("grey twigs {}\n", project.display());
    assert_eq!(stage.read("made.txt"), Some(made));
}

/// What the rules and folders let through.
async fn asked_about(stage: &Stage, session: &mut Session, asked: &Asked) {
    assert_eq!(asked.take(), [""; 0]);
    turn(session, "Run the other").await;
    assert_eq!(asked.take(), ["Bash"]);
    assert_eq!(stage.read("other.txt"), None);
    turn(session, "Read it").await;
    assert_eq!(asked.take(), [""; 0]);
    let messages = stage.last_asked()["messages"].to_string();
    assert!(messages.contains("a near bird"), "{messages}");
    turn(session, "Read the other").await;
    assert_eq!(asked.take(), ["Read"]);
}

/// Whether a request to the model is the sub-agent's.
pub(crate) fn of_the_agent(request: &Value) -> bool {
    let first = request["messages"][0].to_string();
    first.contains("Please watch the herons")
}

pub(crate) fn watcher() -> AgentDefinition {
    AgentDefinition {
        description: "Watches herons".into(),
        tools: None,
        disallowed_tools: None,
        prompt: "You watch herons.".into(),
        model: None,
        mcp_servers: None,
        critical_system_reminder_experimental: None,
        skills: None,
        initial_prompt: None,
        max_turns: None,
        auto_compact_window: None,
        background: None,
        omit_claude_md: None,
        memory: None,
        effort: None,
        permission_mode: None,
        observer: None,
        observer_message: None,
        extra: Extra::default(),
    }
}

const INSTEAD: &str = "main any\nreply always\n  say \"Well.\"\n";

async fn instead(cli: Cli) -> Verdicts {
    let stage = cli.stage(INSTEAD).await;
    let settings = json!({"outputStyle": "Explanatory"});
    stage
        .sandbox
        .write(".claude/settings.json", &settings.to_string())
        .unwrap();
    let claude = stage
        .claude()
        .permissions(AllowAll)
        .model(FULL_NAME)
        .system_prompt("You are a heron.")
        .tools([""; 0])
        .setting_sources([SettingSource::User; 0])
        .thinking(Thinking::Budget(4000))
        .replay_user_messages(false);
    let mut session = claude.connect().await.unwrap();
    let (init, _) = turn(&mut session, "Hello").await;
    let requests = stage.asked();
    let asked = requests
        .iter()
        .find(|request| request["messages"].to_string().contains("Hello"))
        .unwrap();
    let prompt = system_prompt(asked);
    assert!(
        prompt.contains("You are a heron.") && prompt.len() < 2000,
        "{prompt}"
    );
    assert_eq!(tool_names(asked), [""; 0]);
    assert_eq!(init["output_style"], "default");
    assert_eq!(asked["thinking"]["budget_tokens"], 4000);
    let turn = session.send("Again").await.unwrap();
    soon("the result", turn).await.unwrap().ok().unwrap();
    let said = lines(&mut session.events);
    assert!(
        !said
            .iter()
            .any(|line| line["isReplay"] == true || line["type"] == "stream_event")
    );
    Verdicts::all(features::instead())
}

const OVERLOADED: &str = r#"
reply
  say "A heron stands in the reeds."
reply 4 times
  error 529 "Overloaded" retry-after=0
reply always
  say "The other one here."
"#;

const OPUS: &str = "claude-opus-4-5-20251101";
const HAIKU: &str = "claude-haiku-4-5-20251001";

async fn partial(cli: Cli) -> Verdicts {
    let stage = cli.stage(OVERLOADED).await;
    let claude = stage
        .claude()
        .include_partial_messages(true)
        .model(OPUS)
        .fallback_model(HAIKU)
        .max_retries(4)
        .extra_arg("append-system-prompt", "The word of the day is kestrel.");
    let session = claude.connect().await.unwrap();
    let mut stream = session.stream("Hello").await.unwrap();
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        let Some(frame) = event.frame() else { continue };
        let line: Value = serde_json::from_slice(frame.line()).unwrap();
        text += line["event"]["delta"]["text"].as_str().unwrap_or_default();
    }
    assert_eq!(text, "A heron stands in the reeds.");
    let turn = session.send("Again").await.unwrap();
    let result = soon("the result", turn).await.unwrap();
    let models: Vec<Value> = stage
        .asked()
        .iter()
        .map(|request| request["model"].clone())
        .collect();
    assert!(system_prompt(&stage.last_asked()).contains("The word of the day is kestrel."));
    let fallback = if cli.is_newest() {
        assert_eq!(result.ok().unwrap().text(), "The other one here.");
        assert_eq!(
            (models.first(), models.last()),
            (Some(&json!(OPUS)), Some(&json!(HAIKU)))
        );
        Pass
    } else {
        assert!(
            !result.is_success() && models.iter().all(|model| model == OPUS),
            "{models:?}"
        );
        let said = result.text().split(':').nth(1).unwrap().trim();
        NotInVersion(format!(
            "the flag is taken, and the turn fails all the same: {said}"
        ))
    };
    Verdicts::new()
        .pass("options/include_partial_messages")
        .pass("options/extra_arg")
        .say("options/fallback_model", fallback)
}
