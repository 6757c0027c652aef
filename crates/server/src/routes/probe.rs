//! What an agent can be asked: its context, its servers, its commands; files of its folder; models.
//!
//! Owns these routes. What is known without an agent is answered without one; the rest says that none is there.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use countersign_api::control::{
    Command, ContextView, Files, McpAct, McpServer, Named, Receipt, SessionId,
};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Table, carry_out};
use crate::app::App;
use crate::caller::Write;
use crate::extract::{Path, Query};
use crate::refusal::Refusal;
use crate::tagged::tagged;

pub(super) fn table() -> Table {
    Table {
        read: OpenApiRouter::new()
            .routes(routes!(models))
            .routes(routes!(commands))
            .routes(routes!(context))
            .routes(routes!(servers))
            .routes(routes!(files)),
        answer: OpenApiRouter::new(),
        full: OpenApiRouter::new().routes(routes!(act)),
    }
}

/// The models that the newest agent named.
#[utoipa::path(get, path = "/models", operation_id = "listModels", tag = "look",
    responses((status = 200, description = "They", body = Named),
        (status = 304, description = "As the client has it")))]
async fn models(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Refusal> {
    tagged(&headers, &app.control.models().await?)
}

/// The slash commands of a session, as its agent last named them.
#[utoipa::path(get, path = "/sessions/{id}/commands", operation_id = "listCommands", tag = "agent", params(("id" = SessionId, Path)),
    responses((status = 200, description = "They", body = Named),
        (status = 304, description = "As the client has it")))]
async fn commands(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Path(id): Path<SessionId>,
) -> Result<Response, Refusal> {
    tagged(&headers, &app.control.commands(id).await?)
}

/// How full the context of a session is: as its agent says now, or as its last answer told.
#[utoipa::path(get, path = "/sessions/{id}/context", operation_id = "getContext", tag = "agent", params(("id" = SessionId, Path)),
    responses((status = 200, description = "As far as it is known", body = ContextView)))]
async fn context(
    State(app): State<Arc<App>>,
    Path(id): Path<SessionId>,
) -> Result<Json<ContextView>, Refusal> {
    Ok(Json(app.control.context(id).await?))
}

/// The MCP servers of a session's agent.
#[utoipa::path(get, path = "/sessions/{id}/mcp", operation_id = "listMcpServers", tag = "agent", params(("id" = SessionId, Path)),
    responses((status = 200, description = "They", body = Vec<McpServer>),
        (status = 409, description = "No agent is there")))]
async fn servers(
    State(app): State<Arc<App>>,
    Path(id): Path<SessionId>,
) -> Result<Json<Vec<McpServer>>, Refusal> {
    Ok(Json(app.control.mcp(id).await?))
}

/// Connects to a server again, switches it on or off.
#[utoipa::path(post, path = "/sessions/{id}/mcp/{server}/{act}", operation_id = "actOnMcpServer", tag = "agent",
    params(("id" = SessionId, Path), ("server" = String, Path), ("act" = inline(McpAct), Path)),
    responses((status = 200, description = "Done", body = Receipt)))]
async fn act(
    State(app): State<Arc<App>>,
    Path((session, server, act)): Path<(SessionId, String, McpAct)>,
    write: Write,
) -> Result<Json<Receipt>, Refusal> {
    let command = Command::Mcp {
        session,
        server,
        act,
    };
    carry_out(&app, write, command).await
}

/// What is looked for.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Letters {
    /// Letters of a path; everything without them.
    #[serde(default)]
    q: String,
    /// How many at most.
    #[serde(default)]
    #[param(minimum = 0, maximum = 100)]
    most: usize,
}

/// Files and folders below the folder of a session whose path holds these letters, best first.
#[utoipa::path(get, path = "/sessions/{id}/files", operation_id = "findFiles", tag = "agent", params(("id" = SessionId, Path), Letters),
    responses((status = 200, description = "They, without what git leaves out", body = Files)))]
async fn files(
    State(app): State<Arc<App>>,
    Path(id): Path<SessionId>,
    Query(letters): Query<Letters>,
) -> Result<Json<Files>, Refusal> {
    Ok(Json(app.control.files(id, letters.q, letters.most).await?))
}
