//! What people write down for later: ways for sessions to begin, comments on plans that are not sent yet.
//!
//! Owns the routes of both.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use countersign_api::control::approval::Comment;
use countersign_api::control::{
    ApprovalId, Command, ControlError, Drafts, Keep, Receipt, Template, TemplateView,
};
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
        read: OpenApiRouter::new()
            .routes(routes!(list))
            .routes(routes!(one))
            .routes(routes!(comments)),
        answer: OpenApiRouter::new(),
        full: OpenApiRouter::new()
            .routes(routes!(put, remove))
            .routes(routes!(put_comments)),
    }
}

/// All templates, by name.
#[utoipa::path(get, path = "/templates", operation_id = "listTemplates", tag = "templates",
    responses((status = 200, description = "They", body = Vec<TemplateView>),
        (status = 304, description = "As the client has it")))]
async fn list(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Refusal> {
    tagged(&headers, &app.control.templates().await?)
}

/// One template.
#[utoipa::path(get, path = "/templates/{name}", operation_id = "getTemplate", tag = "templates", params(("name" = String, Path)),
    responses((status = 200, description = "It", body = TemplateView),
        (status = 304, description = "As the client has it")))]
async fn one(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Path(name): Path<String>,
) -> Result<Response, Refusal> {
    let all = app.control.templates().await?;
    let found = all.into_iter().find(|one| one.name == name);
    let found = found.ok_or_else(|| ControlError::not_found("template", &name))?;
    tagged(&headers, &found)
}

/// Makes one, or puts it in place of the one of its name.
#[utoipa::path(put, path = "/templates/{name}", operation_id = "putTemplate", tag = "templates", params(("name" = String, Path)),
    request_body = Template, responses((status = 200, description = "It is kept", body = Receipt)))]
async fn put(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    write: Write,
    Body(template): Body<Template>,
) -> Result<Json<Receipt>, Refusal> {
    let template = Box::new(template);
    let keep = Keep::PutTemplate { name, template };
    carry_out(&app, write, Command::Keep(keep)).await
}

/// Takes one away.
#[utoipa::path(delete, path = "/templates/{name}", operation_id = "deleteTemplate", tag = "templates", params(("name" = String, Path)),
    responses((status = 200, description = "It is kept no longer", body = Receipt)))]
async fn remove(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    write: Write,
) -> Result<Json<Receipt>, Refusal> {
    carry_out(&app, write, Command::Keep(Keep::RemoveTemplate { name })).await
}

/// The comments on a plan that are not sent yet.
#[utoipa::path(get, path = "/plans/{id}/comments", operation_id = "getPlanComments", tag = "plans", params(("id" = ApprovalId, Path)),
    responses((status = 200, description = "They", body = Drafts),
        (status = 304, description = "As the client has it")))]
async fn comments(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Path(id): Path<ApprovalId>,
) -> Result<Response, Refusal> {
    tagged(&headers, &app.control.drafts(id).await?)
}

/// Keeps comments on a plan until they are sent with a decision. An empty list takes them away.
#[utoipa::path(put, path = "/plans/{id}/comments", operation_id = "putPlanComments", tag = "plans", params(("id" = ApprovalId, Path)),
    request_body = Vec<Comment>, responses((status = 200, description = "They are kept", body = Receipt)))]
async fn put_comments(
    State(app): State<Arc<App>>,
    Path(approval): Path<ApprovalId>,
    write: Write,
    Body(comments): Body<Vec<Comment>>,
) -> Result<Json<Receipt>, Refusal> {
    let keep = Keep::PutComments { approval, comments };
    carry_out(&app, write, Command::Keep(keep)).await
}
