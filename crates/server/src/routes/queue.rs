//! The queue of a session: messages that wait.
//!
//! Owns the routes of messages that are not sent yet.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use countersign_api::bodies::{EditBody, MoveBody};
use countersign_api::control::{Command, MessageId, Queued, Receipt, SessionId};
use countersign_api::redact::MASKED;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Table, carry_out};
use crate::app::App;
use crate::caller::Write;
use crate::extract::{Body, Path};
use crate::refusal::Refusal;
use crate::tagged::tagged;

pub(super) fn table() -> Table {
    Table {
        read: OpenApiRouter::new().routes(routes!(list)),
        answer: OpenApiRouter::new(),
        full: OpenApiRouter::new()
            .routes(routes!(edit, remove))
            .routes(routes!(put_before))
            .routes(routes!(send_now))
            .routes(routes!(release)),
    }
}

/// The messages that wait, first to go first.
#[utoipa::path(get, path = "/sessions/{id}/queue", operation_id = "listQueue", tag = "queue", params(("id" = SessionId, Path)),
    responses((status = 200, description = "They", body = Vec<Queued>),
        (status = 304, description = "As the client has it")))]
async fn list(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Path(id): Path<SessionId>,
) -> Result<Response, Refusal> {
    tagged(&headers, &app.control.queue(id).await?)
}

/// Gives a message another text.
#[utoipa::path(patch, path = "/sessions/{id}/queue/{message}", operation_id = "editQueued", tag = "queue",
    params(("id" = SessionId, Path), ("message" = MessageId, Path)), request_body = EditBody,
    responses((status = 200, description = "Done", body = Receipt)))]
async fn edit(
    State(app): State<Arc<App>>,
    Path((session, message)): Path<(SessionId, MessageId)>,
    write: Write,
    Body(body): Body<EditBody>,
) -> Result<Json<Receipt>, Refusal> {
    let text = match body.text.contains(MASKED) {
        true => {
            let waiting = app.control.queue(session).await?;
            let shown = waiting.iter().find(|waiting| waiting.id == message);
            let shown = shown.map_or("", |waiting| &waiting.text);
            app.redactor.restored_text(shown, body.text)?
        }
        false => body.text,
    };
    let command = Command::EditQueued {
        session,
        message,
        text,
    };
    carry_out(&app, write, command).await
}

/// Takes a message back.
#[utoipa::path(delete, path = "/sessions/{id}/queue/{message}", operation_id = "removeQueued", tag = "queue",
    params(("id" = SessionId, Path), ("message" = MessageId, Path)),
    responses((status = 200, description = "Done", body = Receipt)))]
async fn remove(
    State(app): State<Arc<App>>,
    Path((session, message)): Path<(SessionId, MessageId)>,
    write: Write,
) -> Result<Json<Receipt>, Refusal> {
    carry_out(&app, write, Command::RemoveQueued { session, message }).await
}

/// Puts a message in front of another, or behind all.
#[utoipa::path(post, path = "/sessions/{id}/queue/{message}/move", operation_id = "moveQueued", tag = "queue",
    params(("id" = SessionId, Path), ("message" = MessageId, Path)), request_body = MoveBody,
    responses((status = 200, description = "Done", body = Receipt)))]
async fn put_before(
    State(app): State<Arc<App>>,
    Path((session, message)): Path<(SessionId, MessageId)>,
    write: Write,
    Body(body): Body<MoveBody>,
) -> Result<Json<Receipt>, Refusal> {
    let command = Command::MoveQueued {
        session,
        message,
        before: body.before,
    };
    carry_out(&app, write, command).await
}

/// Sends a message at once, into the running turn if there is one.
#[utoipa::path(post, path = "/sessions/{id}/queue/{message}/send-now", operation_id = "sendQueuedNow", tag = "queue",
    params(("id" = SessionId, Path), ("message" = MessageId, Path)),
    responses((status = 200, description = "It is on its way", body = Receipt)))]
async fn send_now(
    State(app): State<Arc<App>>,
    Path((session, message)): Path<(SessionId, MessageId)>,
    write: Write,
) -> Result<Json<Receipt>, Refusal> {
    carry_out(&app, write, Command::SendNow { session, message }).await
}

/// Lets the queue go on after an interrupt or a failure.
#[utoipa::path(post, path = "/sessions/{id}/queue/release", operation_id = "releaseQueue", tag = "queue", params(("id" = SessionId, Path)),
    responses((status = 200, description = "It goes on", body = Receipt)))]
async fn release(
    State(app): State<Arc<App>>,
    Path(session): Path<SessionId>,
    write: Write,
) -> Result<Json<Receipt>, Refusal> {
    carry_out(&app, write, Command::ReleaseQueue { session }).await
}
