//! Rules that people keep, and what policy says about a call.
//!
//! Owns the routes of both. Live agents go by a change from the next question on.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use countersign_api::control::{
    ChangeRule, Command, Explain, Explained, Keep, NewRule, Receipt, RuleView,
};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Table, carry_out};
use crate::app::App;
use crate::caller::{Caller, Write};
use crate::extract::{Body, Path};
use crate::refusal::Refusal;
use crate::tagged::tagged;

pub(super) fn table() -> Table {
    Table {
        read: OpenApiRouter::new()
            .routes(routes!(list))
            .routes(routes!(explain)),
        answer: OpenApiRouter::new(),
        full: OpenApiRouter::new()
            .routes(routes!(add))
            .routes(routes!(change, remove)),
    }
}

/// All rules, oldest first; those whose time is over, too.
#[utoipa::path(get, path = "/rules", operation_id = "listRules", tag = "rules",
    responses((status = 200, description = "They", body = Vec<RuleView>),
        (status = 304, description = "As the client has it")))]
async fn list(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Refusal> {
    tagged(&headers, &app.control.rules().await?)
}

/// Keeps a rule. The receipt names its number.
#[utoipa::path(post, path = "/rules", operation_id = "createRule", tag = "rules", request_body = NewRule,
    responses((status = 201, description = "It holds", body = Receipt)))]
async fn add(
    State(app): State<Arc<App>>,
    write: Write,
    Body(rule): Body<NewRule>,
) -> Result<(StatusCode, Json<Receipt>), Refusal> {
    let receipt = carry_out(&app, write, Command::Keep(Keep::AddRule { rule })).await?;
    Ok((StatusCode::CREATED, receipt))
}

/// Changes what a rule says. Where it holds stays.
#[utoipa::path(patch, path = "/rules/{id}", operation_id = "changeRule", tag = "rules", params(("id" = u64, Path)),
    request_body = ChangeRule, responses((status = 200, description = "It holds so", body = Receipt)))]
async fn change(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    write: Write,
    Body(change): Body<ChangeRule>,
) -> Result<Json<Receipt>, Refusal> {
    carry_out(&app, write, Command::Keep(Keep::ChangeRule { id, change })).await
}

/// Takes a rule back.
#[utoipa::path(delete, path = "/rules/{id}", operation_id = "deleteRule", tag = "rules", params(("id" = u64, Path)),
    responses((status = 200, description = "It holds no longer", body = Receipt)))]
async fn remove(
    State(app): State<Arc<App>>,
    Path(id): Path<u64>,
    write: Write,
) -> Result<Json<Receipt>, Refusal> {
    carry_out(&app, write, Command::Keep(Keep::RemoveRule { id })).await
}

/// What policy says about a call of a session, or of one that would work in a folder. Nothing runs.
#[utoipa::path(post, path = "/rules/explain", operation_id = "explainRules", tag = "rules", request_body = Explain,
    responses((status = 200, description = "Which rule decides, and why", body = Explained)))]
async fn explain(
    State(app): State<Arc<App>>,
    caller: Caller,
    Body(what): Body<Explain>,
) -> Result<Json<Explained>, Refusal> {
    if what.cwd.is_some() {
        // The settings of any folder of this machine would be told.
        caller.needs_full("looks into a folder")?;
    }
    Ok(Json(app.control.explain(what).await?))
}
