//! What a session's agent is told: messages, interrupts, ends, another mode, another model.
//!
//! Owns the routes that act on an agent.

use std::sync::Arc;

use axum::Json;
use axum::extract::{DefaultBodyLimit, State};
use countersign_api::bodies::{
    ForkBody, MessageBlock, MessageBody, ModeBody, ModelBody, ResumeBody, RewindBody,
};
use countersign_api::control::{Command, Message, Receipt, SessionId};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Routes, Table, WITH_IMAGES, carry_out};
use crate::app::App;
use crate::caller::Write;
use crate::extract::{Body, Path};
use crate::refusal::Refusal;

pub(super) fn table() -> Table {
    Table {
        full: OpenApiRouter::new()
            .routes(routes!(send))
            .routes(routes!(resume))
            .routes(routes!(fork))
            .layer(DefaultBodyLimit::max(WITH_IMAGES))
            .merge(without_images()),
        ..Table::default()
    }
}

fn without_images() -> Routes {
    OpenApiRouter::new()
        .routes(routes!(interrupt))
        .routes(routes!(stop))
        .routes(routes!(force_end))
        .routes(routes!(rewind))
        .routes(routes!(set_mode))
        .routes(routes!(set_model))
        .routes(routes!(try_again))
}

fn message(write: &Write, body: MessageBody) -> Result<Message, Refusal> {
    MessageBlock::check(&body.blocks)?;
    Ok(Message {
        id: body.id.unwrap_or_else(|| write.message()),
        text: body.text,
        blocks: body.blocks,
    })
}

/// Puts a message behind the others in the queue.
#[utoipa::path(post, path = "/sessions/{id}/messages", operation_id = "sendMessage", tag = "agent", params(("id" = SessionId, Path)),
    request_body = MessageBody, responses((status = 200, description = "It waits, or goes", body = Receipt)))]
async fn send(
    State(app): State<Arc<App>>,
    Path(session): Path<SessionId>,
    write: Write,
    Body(body): Body<MessageBody>,
) -> Result<Json<Receipt>, Refusal> {
    let message = message(&write, body)?;
    carry_out(&app, write, Command::Send { session, message }).await
}

/// Ends the turn. The agent stays.
#[utoipa::path(post, path = "/sessions/{id}/interrupt", operation_id = "interruptSession", tag = "agent", params(("id" = SessionId, Path)),
    responses((status = 200, description = "It is on its way", body = Receipt)))]
async fn interrupt(
    State(app): State<Arc<App>>,
    Path(session): Path<SessionId>,
    write: Write,
) -> Result<Json<Receipt>, Refusal> {
    carry_out(&app, write, Command::Interrupt { session }).await
}

/// Ends the agent, gently.
#[utoipa::path(post, path = "/sessions/{id}/stop", operation_id = "stopSession", tag = "agent", params(("id" = SessionId, Path)),
    responses((status = 200, description = "It is on its way", body = Receipt)))]
async fn stop(
    State(app): State<Arc<App>>,
    Path(session): Path<SessionId>,
    write: Write,
) -> Result<Json<Receipt>, Refusal> {
    carry_out(&app, write, Command::Stop { session }).await
}

/// Ends the agent, whatever it takes.
#[utoipa::path(post, path = "/sessions/{id}/force-end", operation_id = "forceEndSession", tag = "agent", params(("id" = SessionId, Path)),
    responses((status = 200, description = "It is on its way", body = Receipt)))]
async fn force_end(
    State(app): State<Arc<App>>,
    Path(session): Path<SessionId>,
    write: Write,
) -> Result<Json<Receipt>, Refusal> {
    carry_out(&app, write, Command::ForceEnd { session }).await
}

/// Has an agent take the conversation up again.
#[utoipa::path(post, path = "/sessions/{id}/resume", operation_id = "resumeSession", tag = "agent", params(("id" = SessionId, Path)),
    request_body = ResumeBody, responses((status = 200, description = "It is on its way", body = Receipt)))]
async fn resume(
    State(app): State<Arc<App>>,
    Path(session): Path<SessionId>,
    write: Write,
    Body(body): Body<ResumeBody>,
) -> Result<Json<Receipt>, Refusal> {
    let message = body.message.map(|body| message(&write, body));
    let message = message.transpose()?;
    carry_out(&app, write, Command::Resume { session, message }).await
}

/// Begins another session from this conversation.
#[utoipa::path(post, path = "/sessions/{id}/fork", operation_id = "forkSession", tag = "agent", params(("id" = SessionId, Path)),
    request_body = ForkBody, responses((status = 200, description = "It is there", body = Receipt)))]
async fn fork(
    State(app): State<Arc<App>>,
    Path(session): Path<SessionId>,
    write: Write,
    Body(body): Body<ForkBody>,
) -> Result<Json<Receipt>, Refusal> {
    let message = body.message.map(|body| message(&write, body));
    let command = Command::Fork {
        session,
        id: body.id.unwrap_or_else(|| write.session()),
        message: message.transpose()?,
        worktree: body.worktree,
    };
    carry_out(&app, write, command).await
}

/// Puts the files back to how they were before a message.
#[utoipa::path(post, path = "/sessions/{id}/rewind", operation_id = "rewindSession", tag = "agent", params(("id" = SessionId, Path)),
    request_body = RewindBody, responses((status = 200, description = "What changed, or would", body = Receipt)))]
async fn rewind(
    State(app): State<Arc<App>>,
    Path(session): Path<SessionId>,
    write: Write,
    Body(body): Body<RewindBody>,
) -> Result<Json<Receipt>, Refusal> {
    let command = Command::Rewind {
        session,
        message: body.message,
        dry_run: body.dry_run,
    };
    carry_out(&app, write, command).await
}

/// Chooses another mode.
#[utoipa::path(put, path = "/sessions/{id}/mode", operation_id = "setMode", tag = "agent", params(("id" = SessionId, Path)),
    request_body = ModeBody, responses((status = 200, description = "It holds", body = Receipt)))]
async fn set_mode(
    State(app): State<Arc<App>>,
    Path(session): Path<SessionId>,
    write: Write,
    Body(body): Body<ModeBody>,
) -> Result<Json<Receipt>, Refusal> {
    let mode = body.mode()?;
    carry_out(&app, write, Command::SetMode { session, mode }).await
}

/// Chooses another model.
#[utoipa::path(put, path = "/sessions/{id}/model", operation_id = "setModel", tag = "agent", params(("id" = SessionId, Path)),
    request_body = ModelBody, responses((status = 200, description = "It holds", body = Receipt)))]
async fn set_model(
    State(app): State<Arc<App>>,
    Path(session): Path<SessionId>,
    write: Write,
    Body(body): Body<ModelBody>,
) -> Result<Json<Receipt>, Refusal> {
    let model = body.model;
    carry_out(&app, write, Command::SetModel { session, model }).await
}

/// Goes on in spite of a limit of the account, at once.
#[utoipa::path(post, path = "/sessions/{id}/try-again", operation_id = "tryAgain", tag = "agent", params(("id" = SessionId, Path)),
    responses((status = 200, description = "It is on its way", body = Receipt)))]
async fn try_again(
    State(app): State<Arc<App>>,
    Path(session): Path<SessionId>,
    write: Write,
) -> Result<Json<Receipt>, Refusal> {
    carry_out(&app, write, Command::TryAgain { session }).await
}
