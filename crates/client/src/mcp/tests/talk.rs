//! What a tool can say and ask while it runs, and the answers the CLI gets.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Session, call, cancel, dummy, initialize, soon, text};
use crate::mcp::{Elicited, Image, Server, Tool, ToolContext};

#[derive(Deserialize, JsonSchema)]
struct Add {
    x: i64,
    y: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Who {
    name: String,
    age: Option<u32>,
}

fn server() -> Server {
    Server::new("calc")
        .version("2.1.0")
        .instructions("Sums only.")
        .tool("add", "Adds two numbers", |add: Add| async move {
            Ok(add.x + add.y)
        })
        .tool("picture", "Draws", |kilobytes: usize| async move {
            Image {
                data: "QUJD".repeat(kilobytes << 8),
                mime_type: "image/png".to_owned(),
            }
        })
        .tool("fail", "Fails", |_: ()| async move {
            Err::<(), _>("the disk is full".into())
        })
        .tool("panic", "Panics", |_: ()| async move {
            if true {
                panic!("out of {}", "luck");
            }
        })
        .tool_with_context(
            "id",
            "Says its id",
            |_: (), context: ToolContext| async move {
                context.tool_use_id().unwrap_or("none").to_owned()
            },
        )
        .tool_with_context(
            "count",
            "Counts",
            |to: u32, context: ToolContext| async move {
                for done in 1..=to {
                    let total = Some(f64::from(to));
                    context
                        .progress(f64::from(done), total, Some("counting"))
                        .await;
                }
                to
            },
        )
        .tool_with_context(
            "greet",
            "Greets",
            |_: (), context: ToolContext| async move {
                Ok(match context.elicit::<Who>("Your name?").await? {
                    Elicited::Accepted(who) => format!("hello {} ({:?})", who.name, who.age),
                    Elicited::Declined => "no name".to_owned(),
                    Elicited::Cancelled => "no answer".to_owned(),
                })
            },
        )
}

#[tokio::test]
async fn the_handshake_of_the_cli_is_answered_step_by_step() {
    let session = Session::fresh(server());
    assert_eq!(
        session.connect().await,
        json!({
            "jsonrpc": "2.0",
            "id": 0,
            "result": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "calc", "version": "2.1.0"},
                "instructions": "Sums only.",
            },
        })
    );
    let list = json!({"method": "tools/list", "jsonrpc": "2.0", "id": 1});
    let listed = session.send(list).await;
    assert_eq!(listed["id"], 1);
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["add", "picture", "fail", "panic", "id", "count", "greet"]
    );
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["x", "y"]));
    let sum = session.call(2, "add", json!({"x": 2, "y": 3})).await;
    assert_eq!(
        sum,
        json!({"content": [{"type": "text", "text": "5"}], "isError": false})
    );
}

#[tokio::test]
async fn an_older_protocol_of_the_client_is_agreed_to() {
    let session = Session::fresh(server());
    let mut older = initialize();
    older["params"]["protocolVersion"] = json!("2025-06-18");
    let answer = session.send(older).await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
    let session = Session::fresh(server());
    let mut unknown = initialize();
    unknown["params"]["protocolVersion"] = json!("2031-01-01");
    let answer = session.send(unknown).await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn failures_bad_arguments_and_panics_are_results_and_the_session_goes_on() {
    let session = Session::open(server()).await;
    let failed = session.call(2, "fail", json!({})).await;
    assert_eq!(
        (text(&failed), &failed["isError"]),
        ("the disk is full", &json!(true))
    );
    let bad = session.call(3, "add", json!({"x": 1, "y": "two"})).await;
    assert_eq!(bad["isError"], true);
    assert!(
        text(&bad).starts_with("the arguments of `add` do not fit: y: "),
        "{bad}"
    );
    let panicked = session.call(4, "panic", json!({})).await;
    assert_eq!(
        panicked,
        json!({"content": [{"type": "text", "text": "the tool `panic` panicked: out of luck"}], "isError": true})
    );
    assert_eq!(
        text(&session.call(5, "add", json!({"x": 1, "y": 1})).await),
        "2"
    );
}

#[tokio::test]
async fn what_the_server_does_not_know_is_a_json_rpc_error() {
    let session = Session::open(server()).await;
    let tool = session.send(call(2, "subtract", json!({}))).await;
    assert_eq!(
        (&tool["id"], &tool["error"]["code"]),
        (&json!(2), &json!(-32602))
    );
    assert_eq!(tool["error"]["message"], "`calc` has no tool `subtract`");
    let method = session
        .send(json!({"jsonrpc": "2.0", "id": "m", "method": "sing"}))
        .await;
    assert_eq!(
        (&method["id"], &method["error"]["code"]),
        (&json!("m"), &json!(-32601))
    );
    let ping = session
        .send(json!({"jsonrpc": "2.0", "id": 3, "method": "ping"}))
        .await;
    assert_eq!(ping, json!({"jsonrpc": "2.0", "id": 3, "result": {}}));
}

#[tokio::test]
async fn a_large_image_passes_unharmed() {
    let session = Session::open(server()).await;
    let result = session.call(2, "picture", json!({"value": 8192})).await;
    let image = &result["content"][0];
    assert_eq!(
        (&image["type"], &image["mimeType"]),
        (&json!("image"), &json!("image/png"))
    );
    assert_eq!(image["data"].as_str().unwrap(), "QUJD".repeat(8192 << 8));
}

#[tokio::test]
async fn a_tool_knows_the_call_of_the_model_it_runs_for() {
    let session = Session::open(server()).await;
    assert_eq!(text(&session.call(7, "id", json!({})).await), "toolu_7");
}

#[tokio::test]
async fn progress_is_told_in_order_before_the_result_under_the_token_of_the_call() {
    let mut session = Session::open(server()).await;
    let result = session.call(2, "count", json!({"value": 3})).await;
    assert_eq!(text(&result), "3");
    for done in 1..=3 {
        let told = session.said.try_recv().expect("told before the result");
        let told = told.to_value().unwrap();
        assert_eq!(told["method"], "notifications/progress");
        let params = &told["params"];
        assert_eq!(params["progressToken"], 2);
        assert_eq!(params["progress"].as_f64(), Some(f64::from(done)));
        assert_eq!(params["total"].as_f64(), Some(3.0));
        assert_eq!(params["message"], "counting");
    }
}

#[tokio::test]
async fn progress_that_nobody_asked_for_is_not_told() {
    let mut session = Session::open(server()).await;
    // As 2.0.75 calls.
    let mut call = call(2, "count", json!({"value": 3}));
    call["params"]["_meta"] = json!({"claudecode/toolUseId": "toolu_2"});
    assert_eq!(text(&session.send(call).await["result"]), "3");
    assert!(session.said.try_recv().is_err());
}

#[tokio::test]
async fn a_question_goes_to_the_user_and_the_answer_to_the_tool() {
    let mut session = Session::open(server()).await;
    let answers = [
        (
            json!({"action": "accept", "content": {"name": "Ada", "age": 36}}),
            "hello Ada (Some(36))",
        ),
        (json!({"action": "decline"}), "no name"),
        (json!({"action": "cancel"}), "no answer"),
    ];
    for (answer, said) in answers {
        let calling = session.calling(2, "greet", json!({}));
        let question = session.next().await;
        assert_eq!(question["method"], "elicitation/create");
        let params = &question["params"];
        assert_eq!(
            (&params["message"], &params["mode"]),
            (&json!("Your name?"), &json!("form"))
        );
        assert_eq!(params["requestedSchema"]["required"], json!(["name"]));
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": answer});
        assert_eq!(session.send(answer).await, dummy());
        let result = soon(calling).await.unwrap();
        assert_eq!(text(&result["result"]), said);
    }
}

#[tokio::test]
async fn a_cli_that_takes_no_questions_fails_the_tool_and_not_the_session() {
    let mut session = Session::open(server()).await;
    let calling = session.calling(2, "greet", json!({}));
    let question = session.next().await;
    let error = json!({"code": -32601, "message": "Method not found"});
    let refusal = json!({"jsonrpc": "2.0", "id": question["id"], "error": error});
    assert_eq!(session.send(refusal).await, dummy());
    let result = soon(calling).await.unwrap()["result"].clone();
    assert_eq!(result["isError"], true);
    assert!(text(&result).contains("Method not found"), "{result}");
    assert_eq!(text(&session.call(3, "id", json!({})).await), "toolu_3");
}

#[tokio::test]
async fn the_question_of_a_cancelled_tool_is_withdrawn() {
    let mut session = Session::open(server()).await;
    // On a second connection, whose ids are not the server's own.
    session.connect().await;
    let calling = session.calling(2, "greet", json!({}));
    let question = session.next().await;
    assert_eq!(session.send(cancel(2)).await, dummy());
    let withdrawn = session.next().await;
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    assert_eq!(soon(calling).await.unwrap()["error"]["code"], -32800);
}

#[test]
fn a_second_tool_of_a_name_replaces_the_first() {
    let server = Server::new("s")
        .tool("t", "first", |_: ()| async {})
        .with(Tool::new("t", "second", |_: ()| async {}));
    let shown = format!("{server:?}");
    assert_eq!(shown.matches(r#"name: "t""#).count(), 1, "{shown}");
}

#[tokio::test]
async fn the_manifest_holds_the_raw_answers_and_leaves_the_server_ready() {
    let session = Session::fresh(server());
    let manifest = soon(session.bridge.handshake()).await.unwrap();
    let initialize = manifest.initialize_result.to_value().unwrap();
    assert_eq!(initialize["serverInfo"]["name"], "calc");
    let tools: Value = manifest.tools_list_result.unwrap().to().unwrap();
    assert_eq!(tools["tools"][0]["name"], "add");
    // The CLI goes on with calls.
    assert_eq!(
        text(&session.call(0, "add", json!({"x": 1, "y": 2})).await),
        "3"
    );
}
