//! Tools in process: servers of this host, as the CLI and the model see them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use countersign_client::mcp::rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as Listed,
};
use countersign_client::mcp::rmcp::service::RequestContext;
use countersign_client::mcp::rmcp::{RoleServer, ServerHandler};
use countersign_client::mcp::schemars::{self, JsonSchema};
use countersign_client::mcp::{
    Elicited, Image, Mount, Server, Structured, Tool, ToolContext, ToolError,
};
use countersign_client::wire::control::{Elicitation, ElicitationAction, ElicitationReply};
use countersign_client::wire::{Extra, Json};
use countersign_client::{AllowAll, PermissionRequest, Session};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Barrier;

use crate::harness::{Cli, NotInVersion, Pass, Verdict, Verdicts};
use crate::look::{close, connect, run, turns};
use crate::stage::{Stage, init, soon, tool_names};

cases! {
    a_server_of_functions {
        "tools/handshake" => "the first init says connected, and the model was offered the tools",
        "tools/mcp_status" => "it says connected",
        "tools/typed call" => "asked about, called with typed arguments, and the model was sent the result",
        "tools/arguments that do not fit" => "the function was not called, and the model was sent the field",
        "tools/tool that fails" => "the model was sent its error",
        "tools/tool that panics" => "the model was sent an error, and the next call worked",
        "tools/image" => "the model was sent the image",
        "tools/structured content" => "the model was sent the value",
        "tools/progress" => "told while it ran, and the call ended well",
        "tools/id of the call" => "it is that of the model's tool_use block",
        "tools/question of a tool" => "the person's answer came back to the tool",
    }
    two_sessions {
        "tools/one definition, two sessions" => "calls of both ran at the same time, each result in its own session",
    }
    any_server {
        "tools/any rmcp server" => "its tool ran, and the model was sent the result",
        "tools/list_changed" => "the model was told of the new tool",
        "tools/error of the protocol" => "the model was sent its text",
    }
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    x: i64,
    y: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Form {
    name: String,
}

/// A picture of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn server() -> Server {
    Server::new("calc")
        // Newer CLIs let the model search for tools, unless one is to be there from the start.
        .with(Tool::new("add", "Adds", |add: Add| async move { add.x + add.y }).always_load())
        .tool("fail", "Fails", |(): ()| async {
            Err::<(), ToolError>("no such luck".into())
        })
        .tool("panic", "Panics", |wanted: bool| async move {
            assert!(!wanted, "a tool that panics, as the test wants");
        })
        .tool("image", "Draws", |(): ()| async {
            Image {
                data: PIXEL.into(),
                mime_type: "image/png".into(),
            }
        })
        .tool("structured", "Tells", |(): ()| async {
            Structured(json!({"answer": 42}))
        })
        .tool_with_context(
            "progress",
            "Works",
            |(): (), context: ToolContext| async move {
                context.progress(1.0, Some(2.0), Some("half")).await;
                context.progress(2.0, Some(2.0), None).await;
                format!("done for {}", context.tool_use_id().unwrap_or("nobody"))
            },
        )
        .tool_with_context("ask", "Asks", |(): (), context: ToolContext| async move {
            match context.elicit::<Form>("Your name?").await {
                Ok(Elicited::Accepted(form)) => format!("the tool got {}", form.name),
                Ok(_) => "the tool got no answer".to_owned(),
                Err(error) => format!("the tool could not ask: {}", error.message()),
            }
        })
}

const CALLS: [&str; 9] = [
    r#"mcp__calc__add {"x":40,"y":2}"#,
    r#"mcp__calc__add {"x":"many","y":2}"#,
    "mcp__calc__fail {}",
    r#"mcp__calc__panic {"value":true}"#,
    r#"mcp__calc__add {"x":1,"y":1}"#,
    "mcp__calc__image {}",
    "mcp__calc__structured {}",
    "mcp__calc__progress {}",
    "mcp__calc__ask {}",
];

async fn a_server_of_functions(cli: Cli) -> Verdicts {
    let stage = cli.stage(&turns(CALLS)).await;
    let claude = stage.claude().permissions(AllowAll).mcp(server());
    let claude = claude.elicitations(|_: Elicitation| async {
        ElicitationReply {
            action: ElicitationAction::Accept,
            content: Some(Json::from(json!({"name": "a person"}))),
            extra: Extra::default(),
        }
    });
    let mut session = connect(claude).await;
    let told = |stage: &Stage, is_error: bool, text: &str| {
        let result = stage.last_result();
        assert!(
            result.is_error == is_error && result.text.contains(text),
            "{text:?}: {result:?}"
        );
    };

    run(&session, "Add.").await;
    told(&stage, false, "42");
    connected(&stage, &mut session).await;

    run(&session, "Add wrongly.").await;
    told(&stage, true, "x");
    run(&session, "Fail.").await;
    told(&stage, true, "no such luck");
    run(&session, "Panic.").await;
    told(&stage, true, "panicked");
    run(&session, "Add.").await;
    told(&stage, false, "2");
    run(&session, "Draw.").await;
    let image = stage.last_result().content;
    assert!(image.to_string().contains("\"image\""), "{image}");
    run(&session, "Tell.").await;
    told(&stage, false, "42");
    run(&session, "Work.").await;
    told(&stage, false, "done for toolu_");
    run(&session, "Ask.").await;
    let asks = question_of_a_tool(&stage);
    close(session).await;
    Verdicts::new()
        .pass("tools/handshake")
        .pass("tools/mcp_status")
        .pass("tools/typed call")
        .pass("tools/arguments that do not fit")
        .pass("tools/tool that fails")
        .pass("tools/tool that panics")
        .pass("tools/image")
        .pass("tools/structured content")
        .pass("tools/progress")
        .pass("tools/id of the call")
        .say("tools/question of a tool", asks)
}

/// The server came up before the first turn.
async fn connected(stage: &Stage, session: &mut Session) {
    let init = init(&mut session.events).await;
    let servers = init["mcp_servers"].as_array().unwrap();
    assert!(
        servers
            .iter()
            .any(|server| server["name"] == "calc" && server["status"] == "connected")
    );
    assert!(tool_names(&stage.asked()[0]).contains(&"mcp__calc__add"));
    let status = session.mcp_status().await.unwrap();
    let calc = status.iter().find(|server| server.name == "calc").unwrap();
    assert_eq!(calc.status.as_str(), "connected");
}

/// The CLI declares no such ability to servers in the host, on any version: the tool gets an error and goes on.
fn question_of_a_tool(stage: &Stage) -> Verdict {
    let told = stage.last_result().text;
    assert!(
        told.contains("the tool could not ask") && told.contains("-32601"),
        "{told}"
    );
    NotInVersion("the tool got -32601, method not found".into())
}

async fn two_sessions(cli: Cli) -> Verdicts {
    let both = Arc::new(Barrier::new(2));
    let server = Server::new("meet").tool("wait", "Waits", move |name: String| {
        let both = Arc::clone(&both);
        async move {
            both.wait().await;
            format!("{name} was not alone")
        }
    });
    let mount = Mount::from(server);
    let open = async |name: &str| -> (Stage, Session) {
        let stage = cli
            .stage(&turns([
                format!(r#"mcp__meet__wait {{"value":"{name}"}}"#).as_str()
            ]))
            .await;
        let session = connect(stage.claude().permissions(AllowAll).mcp(mount.clone())).await;
        (stage, session)
    };
    let ((first, one), (second, two)) = tokio::join!(open("one"), open("two"));
    tokio::join!(run(&one, "Meet."), run(&two, "Meet."));
    assert!(first.last_result().text.contains("one was not alone"));
    assert!(second.last_result().text.contains("two was not alone"));
    tokio::join!(close(one), close(two));
    Pass.into()
}

/// A server of its own kind, whose list of tools grows.
#[derive(Clone, Default)]
struct Growing {
    has_grown: Arc<AtomicBool>,
}

fn listed(name: &'static str) -> Listed {
    let schema = json!({"type": "object", "properties": {}});
    Listed::new(name, "A tool", schema.as_object().unwrap().clone())
}

impl ServerHandler for Growing {
    fn get_info(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed();
        ServerConfig::new(tools.build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = vec![listed("grow"), listed("refuse")];
        if self.has_grown.load(Ordering::SeqCst) {
            tools.push(listed("late"));
        }
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name == "refuse" {
            return Err(ErrorData::invalid_request("not in this house", None));
        }
        self.has_grown.store(true, Ordering::SeqCst);
        let told = context.peer.notify_tool_list_changed().await;
        told.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(CallToolResult::success(vec![ContentBlock::text("there is more now")]).into())
    }
}

async fn any_server(cli: Cli) -> Verdicts {
    let script = turns(["mcp__own__grow {}", "mcp__own__refuse {}"]);
    let stage = cli.stage(&(script + "reply always\n  say \"On.\"\n")).await;
    let allow = |_: PermissionRequest| async { countersign_client::Decision::allow() };
    let claude = stage
        .claude()
        .permissions(allow)
        .mcp(Mount::cloned("own", Growing::default()));
    let session = connect(claude).await;
    run(&session, "Grow.").await;
    assert!(stage.last_result().text.contains("there is more now"));
    assert!(!tool_names(&stage.asked()[0]).contains(&"mcp__own__late"));
    run(&session, "Refuse.").await;
    let told = stage.last_result();
    assert!(
        told.is_error && told.text.contains("not in this house"),
        "{told:?}"
    );
    let is_known = || stage.last_asked().to_string().contains("mcp__own__late");
    let changed = match cli.is_newest() {
        true => {
            let known = async {
                while !is_known() {
                    run(&session, "On.").await;
                }
            };
            soon("the new tool", known).await;
            Pass
        }
        false => {
            run(&session, "On.").await;
            assert!(!is_known());
            NotInVersion("two turns later the list of tools is as it was".into())
        }
    };
    close(session).await;
    Verdicts::new()
        .pass("tools/any rmcp server")
        .say("tools/list_changed", changed)
        .pass("tools/error of the protocol")
}
