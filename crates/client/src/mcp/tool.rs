//! One tool: what the model is told about it, and the function behind it.
//!
//! Owns [`Tool`] and the way from a call's arguments to a typed function. Invariant: arguments that do not fit are told
//! to the model with the name of the field; the function never sees them.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::model::{CallToolResult, JsonObject, MetaObject, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::context::ToolContext;
use super::output::{IntoToolOutput, failure};
use super::schema;

type Running = Pin<Box<dyn Future<Output = CallToolResult> + Send>>;
type Function = dyn Fn(JsonObject, ToolContext) -> Running + Send + Sync;

/// A tool of an in-process server.
#[derive(Clone)]
pub struct Tool {
    listed: rmcp::model::Tool,
    function: Arc<Function>,
}

impl Tool {
    /// A tool whose function takes its arguments. Their type gives the schema; a type that is no object is asked for as
    /// the one property `value`, and `()` stands for no arguments.
    ///
    /// When the call is cancelled, the function's future is dropped.
    pub fn new<A, F, R>(
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
        Self::with_context(name, description, move |arguments, _| function(arguments))
    }

    /// A tool whose function also takes the [`ToolContext`] of the call: progress, questions to the user, cancellation.
    pub fn with_context<A, F, R>(
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
        let (name, description) = (name.into(), description.into());
        let (input_schema, layout) = schema::input::<A>();
        let called = name.clone();
        let function = move |arguments: JsonObject, context: ToolContext| -> Running {
            match schema::read::<A>(layout, arguments) {
                Ok(arguments) => {
                    let running = function(arguments, context);
                    Box::pin(async move { running.await.into_tool_output() })
                }
                Err(reason) => {
                    let text = format!("the arguments of `{called}` do not fit: {reason}");
                    Box::pin(std::future::ready(failure(text)))
                }
            }
        };
        Self {
            listed: rmcp::model::Tool::new(name, description, input_schema),
            function: Arc::new(function),
        }
    }

    /// Its name. The model knows it as `mcp__<server>__<tool>`.
    pub fn name(&self) -> &str {
        &self.listed.name
    }

    /// A name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.listed.title = Some(title.into());
        self
    }

    /// A schema in place of the one the argument type gives.
    #[must_use]
    pub fn input_schema(mut self, schema: JsonObject) -> Self {
        self.listed.input_schema = Arc::new(schema);
        self
    }

    /// The shape of the structured content it gives back.
    #[must_use]
    pub fn output<T: JsonSchema + 'static>(mut self) -> Self {
        self.listed = self.listed.with_output_schema::<T>();
        self
    }

    /// Whether it leaves everything as it is.
    #[must_use]
    pub fn read_only(self, yes: bool) -> Self {
        self.annotated(|hints| hints.read_only(yes))
    }

    /// Whether it may destroy something.
    #[must_use]
    pub fn destructive(self, yes: bool) -> Self {
        self.annotated(|hints| hints.destructive(yes))
    }

    /// Whether a second call with the same arguments changes nothing more.
    #[must_use]
    pub fn idempotent(self, yes: bool) -> Self {
        self.annotated(|hints| hints.idempotent(yes))
    }

    /// Whether it deals with the world outside, such as the web.
    #[must_use]
    pub fn open_world(self, yes: bool) -> Self {
        self.annotated(|hints| hints.open_world(yes))
    }

    /// Shown to the model from the start, rather than found by searching.
    #[must_use]
    pub fn always_load(self) -> Self {
        self.meta("anthropic/alwaysLoad", true)
    }

    /// Words by which the model finds it when tools are searched for.
    #[must_use]
    pub fn search_hint(self, hint: impl Into<String>) -> Self {
        self.meta("anthropic/searchHint", hint.into())
    }

    /// Metadata of any other name.
    #[must_use]
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let meta = self.listed.meta.get_or_insert_with(MetaObject::new);
        meta.insert(key.into(), value.into());
        self
    }

    fn annotated(mut self, add: impl FnOnce(ToolAnnotations) -> ToolAnnotations) -> Self {
        let hints = self.listed.annotations.take().unwrap_or_default();
        self.listed.annotations = Some(add(hints));
        self
    }

    /// What `tools/list` says of it.
    pub(super) fn listed(&self) -> &rmcp::model::Tool {
        &self.listed
    }

    /// Starts a call.
    pub(super) fn call(&self, arguments: JsonObject, context: ToolContext) -> Running {
        (self.function)(arguments, context)
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name: &Cow<'static, str> = &self.listed.name;
        f.debug_struct("Tool")
            .field("name", name)
            .finish_non_exhaustive()
    }
}
