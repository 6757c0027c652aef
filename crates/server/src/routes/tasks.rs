//! What runs in the background of a session.
//!
//! Owns the routes of tasks: sub-agents, shells, workflows.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use countersign_api::control::{Command, Receipt, SessionId, TaskOutput, TaskView};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Table, carry_out};
use crate::app::App;
use crate::caller::Write;
use crate::extract::Path;
use crate::refusal::Refusal;
use crate::tagged::tagged;

pub(super) fn table() -> Table {
    Table {
        read: OpenApiRouter::new()
            .routes(routes!(list))
            .routes(routes!(output)),
        answer: OpenApiRouter::new(),
        full: OpenApiRouter::new().routes(routes!(stop)),
    }
}

/// What runs, and what ran lately, oldest first.
#[utoipa::path(get, path = "/sessions/{id}/tasks", operation_id = "listTasks", tag = "tasks", params(("id" = SessionId, Path)),
    responses((status = 200, description = "They", body = Vec<TaskView>),
        (status = 304, description = "As the client has it")))]
async fn list(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Path(id): Path<SessionId>,
) -> Result<Response, Refusal> {
    tagged(&headers, &app.control.tasks(id).await?)
}

/// Ends one.
#[utoipa::path(post, path = "/sessions/{id}/tasks/{task}/stop", operation_id = "stopTask", tag = "tasks",
    params(("id" = SessionId, Path), ("task" = String, Path)),
    responses((status = 200, description = "The agent was told", body = Receipt)))]
async fn stop(
    State(app): State<Arc<App>>,
    Path((session, task)): Path<(SessionId, String)>,
    write: Write,
) -> Result<Json<Receipt>, Refusal> {
    carry_out(&app, write, Command::StopTask { session, task }).await
}

/// What one has printed.
#[utoipa::path(get, path = "/sessions/{id}/tasks/{task}/output", operation_id = "getTaskOutput", tag = "tasks",
    params(("id" = SessionId, Path), ("task" = String, Path)),
    responses((status = 200, description = "The end of it", body = TaskOutput),
        (status = 409, description = "No agent is there")))]
async fn output(
    State(app): State<Arc<App>>,
    Path((session, task)): Path<(SessionId, String)>,
) -> Result<Json<TaskOutput>, Refusal> {
    let mut told = app.control.task_output(session, task).await?;
    told.output = app.redactor.line(&told.output).into_owned();
    Ok(Json(told))
}
