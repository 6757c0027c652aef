//! A server made of tools that are functions.
//!
//! Owns [`Server`], which gathers tools, and the rmcp handler that serves them. Invariant: an unknown tool is a JSON-RPC
//! error, everything else that goes wrong is a result the model can read; a cancelled call's future is dropped.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::context::ToolContext;
use super::output::{IntoToolOutput, failure};
use super::tool::Tool;

/// An in-process server made of tools.
#[derive(Debug, Clone)]
pub struct Server {
    name: String,
    version: String,
    instructions: Option<String>,
    tools: Vec<Tool>,
}

impl Server {
    /// A server with no tools yet. The model knows a tool of it as `mcp__<name>__<tool>`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: "1.0.0".to_owned(),
            instructions: None,
            tools: Vec::new(),
        }
    }

    /// Its own version; `1.0.0` unless told.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// What the model should know about the server as a whole.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Adds a function as a tool; see [`Tool::new`].
    #[must_use]
    pub fn tool<A, F, R>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: F,
    ) -> Self
    where
        A: JsonSchema + DeserializeOwned + Send + 'static,
        F: Fn(A) -> R + Send + Sync + 'static,
        R: Future + Send + 'static,
        R::Output: IntoToolOutput,
    {
        self.with(Tool::new(name, description, function))
    }

    /// Adds a function that takes a [`ToolContext`] too; see [`Tool::with_context`].
    #[must_use]
    pub fn tool_with_context<A, F, R>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: F,
    ) -> Self
    where
        A: JsonSchema + DeserializeOwned + Send + 'static,
        F: Fn(A, ToolContext) -> R + Send + Sync + 'static,
        R: Future + Send + 'static,
        R::Output: IntoToolOutput,
    {
        self.with(Tool::with_context(name, description, function))
    }

    /// Adds a tool; one of the same name is replaced.
    #[must_use]
    pub fn with(mut self, tool: Tool) -> Self {
        self.tools.retain(|other| other.name() != tool.name());
        self.tools.push(tool);
        self
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

/// A [`Server`] as one session sees it.
#[derive(Debug, Clone)]
pub(super) struct Serving(pub(super) Arc<Server>);

impl ServerHandler for Serving {
    fn get_info(&self) -> ServerConfig {
        let Server {
            name,
            version,
            instructions,
            ..
        } = self.0.as_ref();
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut info = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(name.as_str(), version.as_str()));
        info.instructions = instructions.clone();
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.0.tools.iter().map(|tool| tool.listed().clone());
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.0.tools.iter().find(|tool| tool.name() == request.name) else {
            let text = format!("`{}` has no tool `{}`", self.0.name, request.name);
            return Err(ErrorData::invalid_params(text, None));
        };
        let cancelled = context.ct.clone();
        let running = tool.call(
            request.arguments.unwrap_or_default(),
            ToolContext::new(context),
        );
        let output = tokio::select! {
            biased;
            output = running => output,
            // Nobody reads this; rmcp drops the answer to a cancelled call.
            () = cancelled.cancelled() => failure("the call was cancelled"),
        };
        Ok(output.into())
    }
}
