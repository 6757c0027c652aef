//! The inbox: questions of agents, and decisions on them.
//!
//! Owns the routes of approvals and of plans. Invariants: a decision names what was seen; who may only answer settles the
//! question as it was asked, and nothing beside it.

use std::sync::Arc;

use axum::Json;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::HeaderMap;
use axum::response::Response;
use countersign_api::bodies::{DecideAlikeBody, DecideBody};
use countersign_api::control::{
    ApprovalFilter, ApprovalId, ApprovalView, Command, Decide, Page, PlanVersion, Receipt,
    SessionId,
};
use countersign_api::redact::MASKED;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Table, WITH_IMAGES, carry_out};
use crate::app::App;
use crate::caller::{Caller, Write};
use crate::extract::{Body, Path, Query};
use crate::refusal::Refusal;
use crate::tagged::tagged;

pub(super) fn table() -> Table {
    Table {
        read: OpenApiRouter::new()
            .routes(routes!(list))
            .routes(routes!(one))
            .routes(routes!(versions))
            .routes(routes!(versions_of_session)),
        answer: OpenApiRouter::new()
            .routes(routes!(decide))
            .routes(routes!(decide_alike))
            .layer(DefaultBodyLimit::max(WITH_IMAGES)),
        full: OpenApiRouter::new(),
    }
}

/// Which approvals.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Which {
    /// In this part of their life: `open`, `decided`, `written`, `settled`, `withdrawn`. All without it.
    #[serde(default)]
    state: Option<String>,
    /// Of this session.
    #[serde(default)]
    session: Option<SessionId>,
    /// How many at most.
    #[serde(default)]
    #[param(minimum = 0, maximum = 500)]
    most: usize,
    /// Where the last page ended: its `next`.
    #[serde(default)]
    after: Option<String>,
}

/// Approvals, oldest open first, then newest.
#[utoipa::path(get, path = "/approvals", operation_id = "listApprovals", tag = "inbox", params(Which),
    responses((status = 200, description = "A page of them", body = Page<ApprovalView>),
        (status = 304, description = "As the client has it")))]
async fn list(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(which): Query<Which>,
) -> Result<Response, Refusal> {
    let filter = ApprovalFilter {
        session: which.session,
        life: which.state,
        most: which.most,
        after: which.after,
    };
    tagged(&headers, &app.control.approvals(filter).await?)
}

/// One approval.
#[utoipa::path(get, path = "/approvals/{id}", operation_id = "getApproval", tag = "inbox", params(("id" = ApprovalId, Path)),
    responses((status = 200, description = "How it stands", body = ApprovalView),
        (status = 304, description = "As the client has it")))]
async fn one(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Path(id): Path<ApprovalId>,
) -> Result<Response, Refusal> {
    tagged(&headers, &app.control.approval(id).await?)
}

/// Decides. The first decision holds; whoever comes second is told it.
///
/// What reaches further than the question needs `full`: another input, a rule, a mode, folders, an approved plan that was
/// changed or that begins elsewhere.
#[utoipa::path(post, path = "/approvals/{id}/decision", operation_id = "decideApproval", tag = "inbox", params(("id" = ApprovalId, Path)),
    request_body = DecideBody,
    responses((status = 200, description = "It is stored, and reaches the agent even if the host ends now", body = Receipt)))]
async fn decide(
    State(app): State<Arc<App>>,
    Path(approval): Path<ApprovalId>,
    caller: Caller,
    write: Write,
    Body(body): Body<DecideBody>,
) -> Result<Json<Receipt>, Refusal> {
    caller.may_decide(&body.decide)?;
    let decide = restored(&app, approval, body.decide).await?;
    let command = Command::Decide {
        approval,
        saw: body.saw,
        decide,
    };
    carry_out(&app, write, command).await
}

/// What was shown without its secrets comes back with them.
async fn restored(app: &App, approval: ApprovalId, decide: Decide) -> Result<Decide, Refusal> {
    let is_masked = serde_json::to_string(&decide).is_ok_and(|text| text.contains(MASKED));
    match is_masked {
        true => {
            let asked = app.control.approval(approval).await?;
            Ok(app.redactor.restored(decide, &asked)?)
        }
        false => Ok(decide),
    }
}

/// Decides all open ones of the same kind in the same session.
#[utoipa::path(post, path = "/approvals/{id}/decision/alike", operation_id = "decideAlike", tag = "inbox", params(("id" = ApprovalId, Path)),
    request_body = DecideAlikeBody,
    responses((status = 200, description = "They are stored", body = Receipt)))]
async fn decide_alike(
    State(app): State<Arc<App>>,
    Path(approval): Path<ApprovalId>,
    caller: Caller,
    write: Write,
    Body(body): Body<DecideAlikeBody>,
) -> Result<Json<Receipt>, Refusal> {
    caller.may_decide(&body.decide)?;
    let command = Command::DecideAlike {
        approval,
        saw: body.saw,
        others: body.others,
        whole: body.whole,
        decide: body.decide,
    };
    carry_out(&app, write, command).await
}

/// The versions of the plan that an approval is about, oldest first.
#[utoipa::path(get, path = "/plans/{id}/versions", operation_id = "listPlanVersions", tag = "plans", params(("id" = ApprovalId, Path)),
    responses((status = 200, description = "They", body = Vec<PlanVersion>),
        (status = 304, description = "As the client has it")))]
async fn versions(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Path(id): Path<ApprovalId>,
) -> Result<Response, Refusal> {
    let session = app.control.approval(id).await?.session;
    tagged(&headers, &app.control.plans(session).await?)
}

/// The versions of a session's plan, oldest first.
#[utoipa::path(get, path = "/sessions/{id}/plans", operation_id = "listSessionPlans", tag = "plans", params(("id" = SessionId, Path)),
    responses((status = 200, description = "They", body = Vec<PlanVersion>),
        (status = 304, description = "As the client has it")))]
async fn versions_of_session(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Path(id): Path<SessionId>,
) -> Result<Response, Refusal> {
    tagged(&headers, &app.control.plans(id).await?)
}
