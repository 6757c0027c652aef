//! Questions that are for a person: plans, forms of the agent, forms of an MCP server.

use std::sync::{Arc, Mutex};

use countersign_client::wire::Extra;
use countersign_client::wire::control::{Elicitation, ElicitationAction, ElicitationReply};
use countersign_client::wire::mcp::{McpServerConfig, McpStdioServer};
use countersign_client::wire::vocab::PermissionMode;
use countersign_client::{Claude, Decision, PermissionQuestion, Plan, Question, Session, Subject};
use serde_json::json;

use crate::harness::{Cli, NotInVersion, OLDEST, Pass, Verdict, Verdicts};
use crate::look::{answering, close, connect, run, turns};
use crate::stage::{Stage, init, soon};

cases! {
    a_form {
        "people/AskUserQuestion" => "one option, several and free text: the model was sent the answers",
        "people/AskUserQuestion declined" => "the model was sent the message as an error",
    }
    plans {
        "people/ExitPlanMode denied" => "the model read the feedback, and init still says plan",
        "people/ExitPlanMode approved" => "the plan was in the question, the mode is default, the next Write is asked about",
        "people/ExitPlanMode approved, edited plan" => "the plan file holds the edited plan",
        "people/ExitPlanMode approved, accepting edits" => "the very next Write ran without a question",
    }
    entering_plan_mode {
        "people/EnterPlanMode asks" => "the question came, and allowed it led to plan mode",
        "people/EnterPlanMode" => "the mode is plan",
    }
    a_form_of_a_server {
        "people/elicitation, by callback" => "the server got the values of the form",
        "people/elicitation, as a question" => "the server got what the question was answered with",
    }
}

const FORM: &str = r#"AskUserQuestion {"questions":[
  {"question":"Which database?","header":"Store","multiSelect":false,
   "options":[{"label":"SQLite","description":"a file"},{"label":"Postgres","description":"a server"}]},
  {"question":"Which platforms?","header":"Where","multiSelect":true,
   "options":[{"label":"Linux","description":"l"},{"label":"macOS","description":"m"}]},
  {"question":"Which name?","header":"Name","multiSelect":false,
   "options":[{"label":"one","description":"1"},{"label":"two","description":"2"}]}]}"#;

async fn a_form(cli: Cli) -> Verdicts {
    let form = FORM.replace('\n', " ");
    let stage = cli.stage(&turns([form.as_str(), &form])).await;
    let mut session = stage.asking().await;
    let (_, count) = answering(&mut session, |question| {
        assert_eq!(
            question.requires_user_interaction.is_some(),
            cli.is_newest()
        );
        let Subject::Questions(mut form) = question.subject() else {
            panic!("{question:?}")
        };
        form.choose("Which database?", "SQLite").unwrap();
        form.choose_many("Which platforms?", ["Linux", "macOS"])
            .unwrap();
        form.write("Which name?", "neither: call it Ä").unwrap();
        question.answer(form.submit()).unwrap();
    })
    .await;
    let told = stage.last_result();
    assert!(count == 1 && !told.is_error, "{told:?}");
    for answer in ["SQLite", "Linux, macOS", "neither: call it Ä"] {
        assert!(told.text.contains(answer), "{told:?}");
    }
    let (result, _) = answering(&mut session, |question| {
        let Subject::Questions(form) = question.subject() else {
            panic!("{question:?}")
        };
        question.answer(form.decline("Ask me tomorrow.")).unwrap();
    })
    .await;
    let told = stage.last_result();
    assert!(result.is_success() && told.is_error && told.text.contains("Ask me tomorrow."));
    close(session).await;
    Verdicts::new()
        .pass("people/AskUserQuestion")
        .pass("people/AskUserQuestion declined")
}

const PLANS: &str = r##"
reply
  take plan after "create your plan at " until " "
  tool Write {"file_path":"${plan}","content":"# The plan"}
reply
  tool ExitPlanMode {}
reply
  say "I plan on."
reply
  tool ExitPlanMode {}
reply
  tool Write {"file_path":"${cwd}/asked.txt","content":"x"}
reply
  say "Approved."
reply
  tool ExitPlanMode {}
reply
  say "Edited."
reply
  tool ExitPlanMode {}
reply
  tool Write {"file_path":"${cwd}/unasked.txt","content":"x"}
reply
  say "At work."
"##;

fn plan(question: &PermissionQuestion) -> Plan {
    match question.subject() {
        Subject::Plan(plan) => plan,
        other => panic!("{other:?}"),
    }
}

/// What the plan file holds.
fn plan_file(stage: &Stage) -> String {
    let dir = stage.sandbox.home().join(".claude/plans");
    let files = std::fs::read_dir(dir).unwrap();
    let files: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    std::fs::read_to_string(&files[0]).unwrap()
}

async fn plans(cli: Cli) -> Verdicts {
    let stage = cli.stage(PLANS).await;
    let claude = stage.claude().permission_mode(PermissionMode::Plan);
    let mut session = connect(claude.questions()).await;
    plan_denied(&stage, &mut session).await;
    plan_approved(&stage, &mut session).await;
    let plan = PermissionMode::Plan;
    session.set_permission_mode(plan.clone()).await.unwrap();
    let edited = plan_edited(&stage, &mut session).await;
    session.set_permission_mode(plan).await.unwrap();
    plan_approved_with_edits(&stage, &mut session).await;
    close(session).await;
    Verdicts::new()
        .pass("people/ExitPlanMode denied")
        .pass("people/ExitPlanMode approved")
        .say("people/ExitPlanMode approved, edited plan", edited)
        .pass("people/ExitPlanMode approved, accepting edits")
}

async fn plan_denied(stage: &Stage, session: &mut Session) {
    let (result, count) = answering(session, |question| {
        let plan = plan(&question);
        assert_eq!(plan.text(), Some("# The plan"));
        assert_eq!(plan.file().is_some(), stage.cli.is_newest());
        question.answer(plan.keep_planning("More detail.")).unwrap();
    })
    .await;
    assert_eq!((count, result.text()), (1, "I plan on."));
    assert!(stage.last_result().text.contains("More detail."));
    assert_eq!(init(&mut session.events).await["permissionMode"], "plan");
}

async fn plan_approved(stage: &Stage, session: &mut Session) {
    let mut asked = Vec::new();
    answering(session, |question| {
        asked.push(question.tool_name.clone());
        let decision = match question.subject() {
            Subject::Plan(plan) => plan.approve(),
            _ => Decision::allow(),
        };
        question.answer(decision).unwrap();
    })
    .await;
    assert_eq!(asked, ["ExitPlanMode", "Write"]);
    assert!(stage.path("asked.txt").exists());
    let before = init(&mut session.events).await;
    assert_eq!(before["permissionMode"], "plan", "the denial kept it");
}

async fn plan_edited(stage: &Stage, session: &mut Session) -> Verdict {
    answering(session, |question| {
        let decision = plan(&question).approve_edited("# Another plan");
        question.answer(decision).unwrap();
    })
    .await;
    match plan_file(stage).as_str() {
        "# Another plan" if stage.cli.is_newest() => Pass,
        "# The plan" if !stage.cli.is_newest() => {
            NotInVersion("the plan file still holds the plan of the model".into())
        }
        file => panic!("{file}"),
    }
}

async fn plan_approved_with_edits(stage: &Stage, session: &mut Session) {
    let (result, asked) = answering(session, |question| {
        let decision = plan(&question).approve_accepting_edits();
        question.answer(decision).unwrap();
    })
    .await;
    assert_eq!(asked, 1, "the Write was not asked about");
    assert_eq!(result.text(), "At work.");
    assert!(stage.path("unasked.txt").exists());
}

async fn entering_plan_mode(cli: Cli) -> Verdicts {
    let script = turns(["EnterPlanMode {}"]) + "reply\n  say \"Planning.\"\n";
    let stage = cli.stage(&script).await;
    let mut session = stage.asking().await;
    let (_, count) = answering(&mut session, |question| {
        assert_eq!(question.subject(), Subject::EnterPlanMode);
        question.allow().unwrap();
    })
    .await;
    run(&session, "And now?").await;
    init(&mut session.events).await;
    assert_eq!(init(&mut session.events).await["permissionMode"], "plan");
    let asks = match count {
        1 if cli.is(OLDEST) => Pass,
        0 if !cli.is(OLDEST) => NotInVersion("it entered plan mode without a question".into()),
        count => panic!("{count} questions"),
    };
    close(session).await;
    Verdicts::new()
        .say("people/EnterPlanMode asks", asks)
        .pass("people/EnterPlanMode")
}

/// A stdio MCP server with one tool, which asks for a name and gives back what it got.
const SERVER: &str = r#"
id() { printf '%s' "$1" | sed 's/.*"id":\([0-9]*\).*/\1/'; }
say() { printf '{"jsonrpc":"2.0",%s}\n' "$1"; }
while read -r line; do
  case "$line" in
    *'"method":"initialize"'*) say '"id":'"$(id "$line")"',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"form","version":"1"}}' ;;
    *'"method":"tools/list"'*) say '"id":'"$(id "$line")"',"result":{"tools":[{"name":"ask","description":"Asks","inputSchema":{"type":"object","properties":{}}}]}' ;;
    *'"method":"tools/call"'*) call=$(id "$line")
      say '"id":900,"method":"elicitation/create","params":{"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}' ;;
    *'"id":900'*) got=$(printf '%s' "$line" | sed 's/[\\"]/\\&/g')
      say '"id":'"$call"',"result":{"content":[{"type":"text","text":"the server got '"$got"'"}]}' ;;
  esac
done
"#;

fn with_server(stage: &Stage) -> Claude {
    let path = stage.sandbox.root().join("server.sh");
    std::fs::write(&path, SERVER).unwrap();
    let server = McpServerConfig::Stdio(McpStdioServer {
        command: "/bin/sh".into(),
        args: Some(vec![path.to_string_lossy().into_owned()]),
        env: None,
        timeout: None,
        always_load: None,
        extra: Extra::default(),
    });
    stage
        .claude()
        .mcp_server("form", server)
        .allowed_tools(["mcp__form__ask"])
}

async fn a_form_of_a_server(cli: Cli) -> Verdicts {
    let stage = cli
        .stage(&turns(["mcp__form__ask {}", "mcp__form__ask {}"]))
        .await;
    let seen: Arc<Mutex<Vec<Elicitation>>> = Arc::default();
    let noted = Arc::clone(&seen);
    let claude = with_server(&stage).elicitations(move |asked: Elicitation| {
        noted.lock().unwrap().push(asked);
        async {
            ElicitationReply {
                action: ElicitationAction::Accept,
                content: Some(json!({"name": "Grüße"}).into()),
                extra: Extra::default(),
            }
        }
    });
    let session = connect(claude).await;
    run(&session, "Ask.").await;
    close(session).await;
    let got = stage.last_result().text;
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    if !cli.is_newest() {
        assert!(seen.is_empty() && got.contains("-32601"), "{got}");
        let why = NotInVersion("the server got -32601, the host saw nothing".into());
        return Verdicts::new()
            .say("people/elicitation, by callback", why.clone())
            .say("people/elicitation, as a question", why);
    }
    assert_eq!((seen.len(), seen[0].message.as_str()), (1, "Your name?"));
    assert!(
        got.contains(r#""action":"accept""#) && got.contains("Grüße"),
        "{got}"
    );

    let mut session = connect(with_server(&stage).questions()).await;
    let turn = session.send("Ask.").await.unwrap();
    match soon("the question", session.questions.next()).await {
        Some(Question::Elicitation(question)) => {
            assert_eq!(question.request().mcp_server_name, "form");
            question.decline().unwrap();
        }
        other => panic!("{other:?}"),
    }
    soon("the result", turn).await.unwrap();
    let got = stage.last_result().text;
    assert!(got.contains(r#""action":"decline""#), "{got}");
    close(session).await;
    Verdicts::new()
        .pass("people/elicitation, by callback")
        .pass("people/elicitation, as a question")
}
