//! Answers as they cross the wire, given through a real client to a far end that is driven by hand.

use std::time::Duration;

use countersign_client::{Claude, Json, Peer, Question, Session};
use countersign_host::approval::{Agent, Answer, Asked, GiveError, Known, asked, decide};
use countersign_host::control::Decide;
use countersign_host::control::approval::Way;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

use crate::stage::{NEW, choose, known};

/// How long anything may take.
const DEADLINE: Duration = Duration::from_secs(20);

struct Cli {
    stream: BufReader<DuplexStream>,
}

impl Cli {
    async fn say(&mut self, line: &Value) {
        let line = format!("{line}\n");
        self.stream
            .get_mut()
            .write_all(line.as_bytes())
            .await
            .unwrap();
    }

    async fn hear(&mut self) -> Value {
        let mut line = String::new();
        let heard = tokio::time::timeout(DEADLINE, self.stream.read_line(&mut line)).await;
        heard.expect("the host speaks in time").unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

/// A session with a CLI that has said hello, as the newest version does.
async fn connected() -> (Session, Cli) {
    let (peer, stream) = Peer::pair();
    let mut cli = Cli {
        stream: BufReader::new(stream),
    };
    let greet = async {
        let hello = cli.hear().await;
        let reply = json!({"commands": [], "output_style": "default", "available_output_styles": [], "models": [],
            "account": {}, "claude_code_version": "2.1.325"});
        cli.say(
            &json!({"type": "control_response", "response": {"subtype": "success",
            "request_id": hello["request_id"], "response": reply}}),
        )
        .await;
    };
    let (session, ()) = tokio::join!(Claude::new().questions().connect_over(peer), greet);
    (session.unwrap(), cli)
}

/// Asks, decides and gives the answer; what the CLI hears.
async fn round(request: Value, decision: &Decide) -> Value {
    let (mut session, mut cli) = connected().await;
    let line = json!({"type": "control_request", "request_id": "r1", "request": request});
    let known = Known {
        agent: Agent::Waits,
        ..known(NEW)
    };
    let read: Asked = asked(line.to_string().as_bytes()).unwrap();
    let answer = decide(&read, decision, &known).unwrap().answer.unwrap();
    cli.say(&line).await;
    let question = tokio::time::timeout(DEADLINE, session.questions.next()).await;
    let question: Question = question.unwrap().unwrap();
    answer
        .give(question, Json::of(&json!({"by": "ada"})).unwrap())
        .unwrap();
    let heard = cli.hear().await;
    assert_eq!(heard["response"]["request_id"], "r1", "{heard}");
    assert_eq!(heard["response"]["subtype"], "success", "{heard}");
    heard["response"]["response"].clone()
}

fn can_use(tool: &str, input: Value) -> Value {
    json!({"subtype": "can_use_tool", "tool_name": tool, "input": input, "tool_use_id": "t"})
}

#[tokio::test]
async fn an_allow_carries_the_original_input() {
    let heard = round(can_use("Bash", json!({"command": "ls"})), &Decide::allow()).await;
    assert_eq!(
        heard,
        json!({"behavior": "allow", "updatedInput": {"command": "ls"}})
    );
}

#[tokio::test]
async fn a_denial_carries_its_words() {
    let heard = round(
        can_use("Bash", json!({"command": "ls"})),
        &Decide::deny("no"),
    )
    .await;
    assert_eq!(heard, json!({"behavior": "deny", "message": "no"}));
}

#[tokio::test]
async fn an_approved_plan_leaves_plan_mode_in_the_same_answer() {
    let heard = round(
        can_use("ExitPlanMode", json!({"plan": "# P"})),
        &Decide::Plan(choose(Way::AcceptEdits)),
    )
    .await;
    assert_eq!(
        heard,
        json!({"behavior": "allow", "updatedInput": {"plan": "# P"},
            "updatedPermissions": [{"type": "setMode", "mode": "default", "destination": "session"}]})
    );
}

#[tokio::test]
async fn a_cleared_context_denies_and_ends_the_turn() {
    let heard = round(
        can_use("ExitPlanMode", json!({"plan": "# P"})),
        &Decide::Plan(choose(Way::ClearContext)),
    )
    .await;
    assert_eq!(heard["behavior"], "deny");
    assert_eq!(heard["interrupt"], true);
}

#[tokio::test]
async fn a_form_is_accepted_or_declined() {
    let form = json!({"subtype": "elicitation", "mcp_server_name": "s", "message": "m"});
    let filled = Decide::Answer {
        answers: json!({"name": "x"}),
    };
    let heard = round(form.clone(), &filled).await;
    assert_eq!(heard, json!({"action": "accept", "content": {"name": "x"}}));
    let heard = round(form, &Decide::Decline { message: None }).await;
    assert_eq!(heard, json!({"action": "decline"}));
}

#[tokio::test]
async fn a_dialog_is_answered_or_closed() {
    let dialog = json!({"subtype": "request_user_dialog", "dialog_kind": "refusal_fallback_prompt", "payload": {}});
    let chosen = Decide::Answer {
        answers: json!("retry_fallback"),
    };
    let heard = round(dialog.clone(), &chosen).await;
    assert_eq!(
        heard,
        json!({"behavior": "completed", "result": "retry_fallback"})
    );
    let heard = round(dialog, &Decide::Decline { message: None }).await;
    assert_eq!(heard, json!({"behavior": "cancelled"}));
}

#[tokio::test]
async fn an_answer_to_something_else_is_not_given() {
    let (mut session, mut cli) = connected().await;
    for (request, answer) in [
        (can_use("Bash", json!({"command": "ls"})), Answer::Decline),
        (
            json!({"subtype": "elicitation", "mcp_server_name": "s", "message": "m"}),
            Answer::Allow {
                input: None,
                updates: Vec::new(),
            },
        ),
        (
            json!({"subtype": "request_user_dialog", "dialog_kind": "k", "payload": {}}),
            Answer::Decline,
        ),
    ] {
        let id = request["subtype"].clone();
        cli.say(&json!({"type": "control_request", "request_id": id, "request": request}))
            .await;
        let question = tokio::time::timeout(DEADLINE, session.questions.next()).await;
        let given = answer.give(question.unwrap().unwrap(), Json::null());
        assert!(matches!(given, Err(GiveError::Misfit(_))), "{given:?}");
    }
}

#[tokio::test]
async fn a_question_that_was_taken_back_is_not_answered() {
    let (mut session, mut cli) = connected().await;
    let request = can_use("Bash", json!({"command": "ls"}));
    cli.say(&json!({"type": "control_request", "request_id": "r1", "request": request}))
        .await;
    let question = tokio::time::timeout(DEADLINE, session.questions.next()).await;
    let question = question.unwrap().unwrap();
    let interest = question.responder().interest();
    cli.say(&json!({"type": "control_cancel_request", "request_id": "r1"}))
        .await;
    tokio::time::timeout(DEADLINE, interest.withdrawn())
        .await
        .unwrap();
    let answer = Answer::Allow {
        input: None,
        updates: Vec::new(),
    };
    assert_eq!(
        answer.give(question, Json::null()),
        Err(GiveError::Withdrawn)
    );
}
