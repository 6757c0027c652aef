//! Stands around an instance, so that whatever its code does, a request is answered.
//!
//! Owns what becomes of a panic (an error result for a tool call, −32603 for anything else) and of requests that still
//! run when the connection ends (dropped). rmcp itself leaves a request whose handler panicked without an answer.

use std::any::Any;
use std::borrow::Cow;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

use rmcp::model::{
    ClientNotification, ClientRequest, ErrorData, ProtocolVersion, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, Service};
use tokio_util::sync::CancellationToken;

use super::mount::Instance;
use super::output::failure;

/// An instance whose panics are answers.
pub(super) struct Guarded {
    instance: Instance,
    /// Cancelled when the connection ends.
    ended: CancellationToken,
}

impl Guarded {
    pub(super) fn new(instance: Instance, ended: CancellationToken) -> Self {
        Self { instance, ended }
    }
}

impl Service<RoleServer> for Guarded {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let tool = match &request {
            ClientRequest::CallToolRequest(call) => Some(call.params.name.clone()),
            _ => None,
        };
        let method = request.method().to_owned();
        let answer = caught(|| self.instance.handle_request(request, context));
        let answer = tokio::select! {
            biased;
            answer = answer => answer,
            () = self.ended.cancelled() => {
                return Err(ErrorData::internal_error("the session ended", None));
            }
        };
        answer.unwrap_or_else(|panic| match tool {
            Some(tool) => {
                let mut result = ServerResult::CallToolResult(failure(format!(
                    "the tool `{tool}` panicked: {panic}"
                )));
                result.strip_result_type_for_legacy_peer();
                Ok(result)
            }
            None => {
                let text = format!("the server panicked in `{method}`: {panic}");
                Err(ErrorData::internal_error(text, None))
            }
        })
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let done = caught(|| self.instance.handle_notification(notification, context));
        let done = tokio::select! {
            biased;
            done = done => done,
            () = self.ended.cancelled() => return Ok(()),
        };
        done.unwrap_or_else(|panic| {
            let text = format!("the server panicked in a notification: {panic}");
            Err(ErrorData::internal_error(text, None))
        })
    }

    fn get_info(&self) -> ServerConfig {
        self.instance.get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.instance.supported_protocol_versions()
    }
}

/// Makes and runs a future. A panic, in making or running, is what it said.
async fn caught<F: Future>(make: impl FnOnce() -> F) -> Result<F::Output, String> {
    // Safe to go on after a panic: the future is not polled again, and the instance's own state is guarded by whatever
    // it uses to be `Sync`.
    let future = catch_unwind(AssertUnwindSafe(make)).map_err(said)?;
    let mut future = pin!(future);
    poll_fn(
        |cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => std::task::Poll::Ready(Err(said(panic))),
        },
    )
    .await
}

/// The text of a panic.
pub(super) fn said(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => match panic.downcast::<&'static str>() {
            Ok(text) => (*text).to_owned(),
            Err(_) => "no text".to_owned(),
        },
    }
}
