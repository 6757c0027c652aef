//! Servers that are not ours: any rmcp handler, and what becomes of those that break.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    InitializeRequestParams, InitializeResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;
use std::borrow::Cow;

use super::{Session, call, dummy, initialize, soon, text};
use crate::mcp::Mount;

/// Counts its calls, and breaks in many ways.
#[derive(Clone, Default)]
struct Foreign {
    calls: Arc<AtomicUsize>,
}

impl ServerHandler for Foreign {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match request.name.as_ref() {
            "count" => {
                let count = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
                let block = ContentBlock::text(count.to_string());
                Ok(CallToolResult::success(vec![block]).into())
            }
            "changed" => {
                let told = context.peer.notify_tool_list_changed().await;
                told.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
                Ok(CallToolResult::success(Vec::new()).into())
            }
            "refuse" => Err(ErrorData::new(
                rmcp::model::ErrorCode(-32000),
                "not today",
                None,
            )),
            _ => panic!("no such tool"),
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult {
            next_cursor: Some("more".to_owned()),
            ..ListToolsResult::default()
        })
    }

    async fn read_resource(
        &self,
        _: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        panic!("no resources")
    }

    async fn on_initialized(&self, _: NotificationContext<RoleServer>) {
        panic!("not ready")
    }
}

#[tokio::test]
async fn any_handler_can_be_mounted() {
    let mount = Mount::cloned("foreign", Foreign::default());
    let mut first = Session::open(mount.clone()).await;
    assert_eq!(text(&first.call(2, "count", json!({})).await), "1");
    // Clones share what they share.
    let second = Session::open(mount).await;
    assert_eq!(text(&second.call(2, "count", json!({})).await), "2");
    first.call(3, "changed", json!({})).await;
    let told = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    assert_eq!(first.next().await, told);
}

#[tokio::test]
async fn a_factory_gives_each_session_an_instance_of_its_own() {
    let mount = Mount::new("foreign", Foreign::default);
    for _ in 0..2 {
        let session = Session::open(mount.clone()).await;
        assert_eq!(text(&session.call(2, "count", json!({})).await), "1");
    }
}

#[tokio::test]
async fn errors_and_panics_of_a_handler_are_answers() {
    let session = Session::open(Mount::new("foreign", Foreign::default)).await;
    let refused = session.send(call(2, "refuse", json!({}))).await;
    assert_eq!(
        refused["error"],
        json!({"code": -32000, "message": "not today"})
    );
    let panicked = session.call(3, "other", json!({})).await;
    assert_eq!(panicked["isError"], true);
    assert_eq!(text(&panicked), "the tool `other` panicked: no such tool");
    let params = json!({"uri": "file:///a"});
    let read = json!({"jsonrpc": "2.0", "id": 4, "method": "resources/read", "params": params});
    let error = session.send(read).await["error"].clone();
    assert_eq!(error["code"], -32603);
    assert_eq!(
        error["message"],
        "the server panicked in `resources/read`: no resources"
    );
    assert_eq!(text(&session.call(5, "count", json!({})).await), "1");
}

#[tokio::test]
async fn a_list_of_many_pages_is_left_out_of_the_manifest() {
    let session = Session::fresh(Mount::new("foreign", Foreign::default));
    let manifest = soon(session.bridge.handshake()).await.unwrap();
    assert_eq!(manifest.tools_list_result, None);
}

/// Refuses to be initialised, or takes the whole server down.
#[derive(Clone)]
struct Broken {
    in_the_loop: bool,
}

impl ServerHandler for Broken {
    async fn initialize(
        &self,
        _: InitializeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if self.in_the_loop {
            return Ok(self.get_info());
        }
        Err(ErrorData::internal_error("no licence", None))
    }

    /// rmcp asks for these outside of any request.
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        assert!(!self.in_the_loop, "versions are a secret");
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }
}

#[tokio::test]
async fn a_server_that_is_gone_is_answered_for() {
    for (in_the_loop, said) in [(false, "no licence"), (true, "the server has ended")] {
        let session = Session::fresh(Mount::cloned("broken", Broken { in_the_loop }));
        let answer = session.send(initialize()).await;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(0), &json!(-32603))
        );
        assert!(
            answer["error"]["message"].as_str().unwrap().contains(said),
            "{answer}"
        );
        let after = session.send(call(2, "any", json!({}))).await;
        assert_eq!(after["error"]["code"], -32603);
        let list_changed = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
        assert_eq!(session.send(list_changed).await, dummy());
        let error = soon(session.bridge.handshake()).await.unwrap_err();
        assert_eq!(
            (error.server.as_str(), error.method),
            ("broken", "initialize")
        );
    }
}

#[tokio::test]
async fn a_factory_that_panics_is_an_answer_and_may_do_better_next_time() {
    let tries = AtomicUsize::new(0);
    let mount = Mount::new("late", move || {
        assert!(tries.fetch_add(1, Ordering::SeqCst) > 0, "no connection");
        Foreign::default()
    });
    let session = Session::fresh(mount);
    let answer = session.send(initialize()).await;
    assert_eq!(answer["error"]["code"], -32603);
    let text = answer["error"]["message"].as_str().unwrap();
    assert_eq!(text, "the server `late` could not be made: no connection");
    assert_eq!(session.send(initialize()).await["id"], 0);
    assert_eq!(super::text(&session.call(2, "count", json!({})).await), "1");
}
