//! What a tool may know and do while it runs, beyond its arguments.
//!
//! Owns [`ToolContext`]: the id of the call, progress, questions to the user, cancellation. Does not own the lane these
//! travel on. Invariant: nothing here outlives the session; after its end every question fails.

use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientResult, ElicitRequest,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    ProgressNotificationParam, RequestId, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::output::ToolError;

/// The call a tool is running for.
#[derive(Debug, Clone)]
pub struct ToolContext {
    request: RequestContext<RoleServer>,
}

/// The user's answer to [`ToolContext::elicit`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elicited<T> {
    /// The form was filled in.
    Accepted(T),
    /// The user said no.
    Declined,
    /// The user closed the question without an answer.
    Cancelled,
}

impl ToolContext {
    pub(super) fn new(request: RequestContext<RoleServer>) -> Self {
        Self { request }
    }

    /// The `tool_use` block of the model that led to this call.
    pub fn tool_use_id(&self) -> Option<&str> {
        self.meta("claudecode/toolUseId").and_then(Value::as_str)
    }

    /// Any metadata of the call.
    pub fn meta(&self, key: &str) -> Option<&Value> {
        self.request.meta.get(key)
    }

    /// Says how far the work is; `done` should grow from call to call. Does nothing when the CLI did not ask for
    /// progress, as 2.0.75 never does.
    pub async fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        let Some(token) = self.request.meta.get_progress_token() else {
            return;
        };
        let mut progress = ProgressNotificationParam::new(token, done);
        progress.total = total;
        progress.message = message.map(str::to_owned);
        // Fails only when the session is over, and then the call is cancelled too.
        let _ = self.request.peer.notify_progress(progress).await;
    }

    /// Asks the user to fill in a form with the fields of `T`, which must be plain texts, numbers, booleans and choices.
    ///
    /// # Errors
    /// When `T` is no such form, when the CLI takes no questions (2.1.62 does not), when the answer does not
    /// fit, or when the session ends.
    pub async fn elicit<T>(&self, message: impl Into<String>) -> Result<Elicited<T>, ToolError>
    where
        T: JsonSchema + DeserializeOwned,
    {
        let schema = ElicitationSchema::from_type::<T>()
            .map_err(|error| format!("the type is no plain form: {error}"))?;
        let answer = self.ask(message.into(), schema).await?;
        Ok(match answer.action {
            ElicitationAction::Accept => {
                let content = answer.content.unwrap_or_default();
                let form = serde_path_to_error::deserialize(content)
                    .map_err(|error| format!("the user's answer does not fit: {error}"))?;
                Elicited::Accepted(form)
            }
            ElicitationAction::Decline => Elicited::Declined,
            _ => Elicited::Cancelled,
        })
    }

    async fn ask(
        &self,
        message: String,
        requested_schema: ElicitationSchema,
    ) -> Result<ElicitResult, ToolError> {
        let params = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message,
            requested_schema,
        };
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
        let peer = &self.request.peer;
        let failed = |error| format!("the user could not be asked: {error}");
        let question = peer
            .send_cancellable_request(request, PeerRequestOptions::no_options())
            .await
            .map_err(failed)?;
        let mut open = Open(Some((peer.clone(), question.id.clone())));
        let answer = question.await_response().await;
        open.0 = None;
        match answer {
            Ok(ClientResult::ElicitResult(answer)) => Ok(answer),
            Ok(_) => Err("the CLI's answer to the question is none".into()),
            Err(error) => Err(failed(error).into()),
        }
    }

    /// Cancelled when the result is no longer wanted. The tool's future is dropped then; the token is for work that the
    /// tool gave to other tasks or threads.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.request.ct
    }

    /// The other end, for whatever else MCP offers.
    pub fn peer(&self) -> &Peer<RoleServer> {
        &self.request.peer
    }
}

/// A question nobody has answered yet. Withdraws it when the tool stops waiting, so that it does not stay on the user's
/// screen.
struct Open(Option<(Peer<RoleServer>, RequestId)>);

impl Drop for Open {
    fn drop(&mut self) {
        let Some((peer, id)) = self.0.take() else {
            return;
        };
        // Without a runtime there is nobody left to tell.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let why = "the tool was cancelled".to_owned();
            let cancel = CancelledNotificationParam::new(Some(id), Some(why));
            runtime.spawn(async move {
                let cancel = CancelledNotification::new(cancel);
                let _ = peer.send_notification(cancel.into()).await;
            });
        }
    }
}
