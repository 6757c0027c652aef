//! Control requests about MCP servers, with a server that is a process of its own and one in this process.

use std::collections::BTreeMap;
use std::sync::Arc;

use countersign_client::mcp::Mount;
use countersign_client::mcp::rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use countersign_client::mcp::rmcp::service::RequestContext;
use countersign_client::mcp::rmcp::{RoleServer, ServerHandler};
use countersign_client::wire::control::{McpCall, McpConnection, McpServerStatus};
use countersign_client::wire::mcp::{McpServerConfig, McpStdioServer};
use countersign_client::wire::{Extra, Json};
use countersign_client::{AllowAll, Handle, Session};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::absent::{Lacking, impatient, lacking, show};
use crate::harness::{Cli, MIDDLE, OLDEST, Pass, Verdicts};
use crate::stage::{Stage, answer, soon, turn, until};

cases! {
    servers {
        "control/mcp_set_servers" => "a server is added: its process starts and its tool is in the next init; dropped: both are gone",
        "control/mcp_status" => "the server is listed as connected, with its name and version",
        "control/mcp_reconnect" => "the server's process is started a second time",
        "control/mcp_toggle" => "off: its process ends, and its tool is not in the next init (2.1.325); on: both are back",
        "control/mcp_call" => "the server is called and its answer comes back, without a request to the model",
        "control/mcp_read_resource" => "the server's resource comes back",
    }
    message {
        "control/mcp_message" => "a tool call that the server leaves open is answered by hand; the model reads that answer",
    }
}

const TALK: &str = "reply always\n  say \"Well.\"\n";

/// An MCP server in bash. Notes each start, each call and each end in a file.
pub(crate) const SERVER: &str = r#"#!/bin/bash
log=$1
echo started >> "$log"
trap 'echo ended >> "$log"' EXIT
trap exit TERM INT
while IFS= read -r line; do
  [[ $line =~ \"id\":([0-9]+) ]] || continue
  id=${BASH_REMATCH[1]}
  case $line in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"notes","version":"1.2.3"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"keep","description":"Keeps a word","inputSchema":{"type":"object","properties":{"word":{"type":"string"}}}}]}' ;;
    *'"tools/call"'*) echo called >> "$log"; result='{"content":[{"type":"text","text":"kept"}]}' ;;
    *'"resources/list"'*) result='{"resources":[{"uri":"ui://one","name":"one"}]}' ;;
    *'"resources/read"'*) result='{"contents":[{"uri":"ui://one","text":"a note"}]}' ;;
    *) result='{}' ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

const TOOL: &str = "mcp__notes__keep";

/// Writes the server into the project and says how to start it. It notes in `server.log`.
pub(crate) fn server(stage: &Stage) -> McpServerConfig {
    stage.sandbox.write("server.sh", SERVER).unwrap();
    let args =
        ["server.sh", "server.log"].map(|name| stage.path(name).to_string_lossy().into_owned());
    McpServerConfig::Stdio(McpStdioServer {
        command: "/bin/bash".into(),
        args: Some(args.to_vec()),
        env: None,
        timeout: None,
        always_load: None,
        extra: Extra::default(),
    })
}

fn noted(stage: &Stage, word: &str) -> usize {
    let log = stage.read("server.log").unwrap_or_default();
    log.lines().filter(|line| *line == word).count()
}

fn offers(init: &Value) -> bool {
    init["tools"]
        .as_array()
        .unwrap()
        .iter()
        .any(|tool| tool == TOOL)
}

/// Waits until the server is in that state; gives its status.
async fn connection(session: &Session, state: McpConnection) -> McpServerStatus {
    let look = || async {
        let servers = session.mcp_status().await.unwrap();
        // 2.1.62 lists a server twice that was added later.
        servers.into_iter().find(|server| server.status == state)
    };
    answer("the state of the server", look).await
}

async fn servers(cli: Cli) -> Verdicts {
    let stage = cli.stage(TALK).await;
    let claude = impatient(&cli, stage.claude());
    let mut session = claude.connect().await.unwrap();
    assert_eq!(session.mcp_status().await.unwrap(), []);
    let servers = BTreeMap::from([("notes".to_owned(), server(&stage))]);
    let reply = session.mcp_set_servers(servers).await.unwrap();
    assert_eq!(
        (reply.added, reply.errors.len()),
        (vec!["notes".to_owned()], 0)
    );
    let status = connection(&session, McpConnection::Connected).await;
    let version = status.server_info.map(|info| info.version);
    assert_eq!(
        (status.name.as_str(), version.as_deref()),
        ("notes", Some("1.2.3"))
    );
    let (init, _) = turn(&mut session, "Hello").await;
    assert!(offers(&init), "{init}");
    let handle = session.handle.clone();
    let mut lacking = Vec::new();
    if cli.is(OLDEST) {
        lacking.extend(no_switches(&handle));
    } else {
        switches(&cli, &stage, &mut session).await;
    }
    if cli.is_newest() {
        beside_the_conversation(&stage, &session).await;
    } else {
        lacking.extend(no_calls(&handle));
    }
    let lacking = show(&cli, &session, lacking).await;
    let reply = session.mcp_set_servers(BTreeMap::new()).await.unwrap();
    assert_eq!(reply.removed, ["notes"]);
    until("the end of the server", || is_over(&stage)).await;
    let (init, _) = turn(&mut session, "Hello").await;
    assert!(!offers(&init), "{init}");
    lacking.and_the_rest_of(features::servers())
}

/// Each start of the server has had its end. 2.1.62 starts one once more before it drops it.
fn is_over(stage: &Stage) -> bool {
    noted(stage, "started") == noted(stage, "ended")
}

fn no_switches(session: &Handle) -> [Lacking<'_>; 2] {
    [
        lacking("control/mcp_reconnect", session.mcp_reconnect("notes")),
        lacking("control/mcp_toggle", session.mcp_toggle("notes", true)),
    ]
}

async fn switches(cli: &Cli, stage: &Stage, session: &mut Session) {
    let before = noted(stage, "started");
    session.mcp_reconnect("notes").await.unwrap();
    until("the second start", || noted(stage, "started") > before).await;
    connection(session, McpConnection::Connected).await;
    let unknown = session.mcp_reconnect("nobody").await.unwrap_err();
    assert!(
        unknown.to_string().contains("Server not found: nobody"),
        "{unknown}"
    );
    session.mcp_toggle("notes", false).await.unwrap();
    connection(session, McpConnection::Disabled).await;
    until("the end of the server", || is_over(stage)).await;
    let (init, _) = turn(session, "Hello").await;
    // 2.1.62 still names the tool of a server that is off.
    assert_eq!(offers(&init), cli.is(MIDDLE), "{init}");
    session.mcp_toggle("notes", true).await.unwrap();
    connection(session, McpConnection::Connected).await;
    let (init, _) = turn(session, "Hello").await;
    assert!(offers(&init), "{init}");
}

fn call() -> McpCall {
    McpCall {
        tool: TOOL.into(),
        arguments: Some(Json::from(json!({"word": "heron"}))),
        expires_at: None,
        timeout_ms: None,
        result_not_for_model: None,
        check_permissions: None,
        input_files: None,
        output_files: None,
        extra: Extra::default(),
    }
}

fn no_calls(session: &Handle) -> [Lacking<'_>; 2] {
    let resource = session.mcp_read_resource("notes", "ui://one");
    [
        lacking("control/mcp_call", session.mcp_call(call())),
        lacking("control/mcp_read_resource", resource),
    ]
}

async fn beside_the_conversation(stage: &Stage, session: &Session) {
    let asked = stage.asked().len();
    let reply = session.mcp_call(call()).await.unwrap();
    assert!(reply.content.as_str().contains("kept"), "{reply:?}");
    assert_eq!(noted(stage, "called"), 1);
    let reply = session
        .mcp_read_resource("notes", "ui://one")
        .await
        .unwrap();
    assert_eq!(reply.contents[0].text.as_deref(), Some("a note"));
    assert_eq!(stage.asked().len(), asked);
}

/// A server whose one tool never answers; it tells the number of each call.
#[derive(Debug, Clone)]
struct Mute(mpsc::UnboundedSender<String>);

impl ServerHandler for Mute {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let Value::Object(schema) = json!({"type": "object"}) else {
            unreachable!()
        };
        let tool = Tool::new("wait", "Never answers", Arc::new(schema));
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.0.send(context.id.to_string()).unwrap();
        std::future::pending().await
    }
}

const CALLS: &str = "reply\n  tool mcp__mute__wait {}\nreply\n  say \"Well.\"\n";

async fn message(cli: Cli) -> Verdicts {
    let stage = cli.stage(CALLS).await;
    let (tell, mut calls) = mpsc::unbounded_channel();
    let claude = stage.claude().mcp(Mount::cloned("mute", Mute(tell)));
    let session = claude.permissions(AllowAll).connect().await.unwrap();
    let turn = session.send("Call it").await.unwrap();
    let id: u64 = soon("the call", calls.recv())
        .await
        .unwrap()
        .parse()
        .unwrap();
    let content = json!([{"type": "text", "text": "answered by hand"}]);
    let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"content": content}});
    session.mcp_message("mute", answer.into()).await.unwrap();
    soon("the result", turn).await.unwrap().ok().unwrap();
    let messages = stage.last_asked()["messages"].to_string();
    assert!(messages.contains("answered by hand"), "{messages}");
    Pass.into()
}
