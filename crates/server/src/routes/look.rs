//! What was said, spent and changed: search, usage, sums, differences.
//!
//! Owns routes that only read.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use countersign_api::control::{Found, SessionId, Usage};
use countersign_api::{Code, Problem};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Table;
use crate::app::App;
use crate::extract::{Path, Query};
use crate::refusal::Refusal;

pub(super) fn table() -> Table {
    Table {
        read: OpenApiRouter::new()
            .routes(routes!(search))
            .routes(routes!(usage))
            .routes(routes!(diff)),
        ..Table::default()
    }
}

/// What is searched.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Words {
    /// Words that must all be there; the last one may be a beginning.
    q: String,
    /// How many places at most.
    #[serde(default)]
    #[param(minimum = 0, maximum = 500)]
    most: usize,
}

/// Places in transcripts that hold these words.
#[utoipa::path(get, path = "/search", operation_id = "search", tag = "look", params(Words),
    responses((status = 200, description = "The places, best first", body = Vec<Found>)))]
async fn search(
    State(app): State<Arc<App>>,
    Query(words): Query<Words>,
) -> Result<Json<Vec<Found>>, Refusal> {
    Ok(Json(app.control.search(words.q, words.most).await?))
}

/// Since when.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Since {
    /// Microseconds of Unix time; everything without it.
    #[serde(default)]
    since: u64,
}

/// What was spent, by day and model.
#[utoipa::path(get, path = "/usage", operation_id = "getUsage", tag = "look", params(Since),
    responses((status = 200, description = "By day and model, oldest first", body = Usage)))]
async fn usage(
    State(app): State<Arc<App>>,
    Query(since): Query<Since>,
) -> Result<Json<Usage>, Refusal> {
    Ok(Json(app.control.usage(since.since).await?))
}

/// The difference of a session's worktree to its base.
#[utoipa::path(get, path = "/sessions/{id}/diff", operation_id = "getDiff", tag = "look", params(("id" = SessionId, Path)),
    responses((status = 200, description = "As `git diff` writes it", body = String, content_type = "text/x-diff")))]
async fn diff(State(app): State<Arc<App>>, Path(id): Path<SessionId>) -> Result<Response, Refusal> {
    let diff = app.control.diff(id).await?;
    let mask = Arc::clone(&app.redactor);
    // A long one takes a while.
    let masked = tokio::task::spawn_blocking(move || mask.line(&diff).into_owned());
    let diff = masked
        .await
        .map_err(|_| Problem::new(Code::Unavailable, "the difference could not be masked"))?;
    let kind = (header::CONTENT_TYPE, "text/x-diff; charset=utf-8");
    Ok(([kind], diff).into_response())
}
