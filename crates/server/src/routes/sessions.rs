//! Sessions: list, look, change, put away.
//!
//! Owns the routes of a session as a whole. How one begins is in `start`, what is said to its agent in `agent`, its queue in
//! `queue`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use countersign_api::bodies::{ImportBody, PatchSession};
use countersign_api::control::{
    Command, ControlError, Page, Receipt, SessionFilter, SessionId, SessionView, WorktreeView,
};
use countersign_api::{Code, Problem};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Table, carry_out};
use crate::app::App;
use crate::caller::Write;
use crate::extract::{Body, Path, Query};
use crate::refusal::Refusal;
use crate::tagged::tagged;
use axum::Json;

pub(super) fn table() -> Table {
    Table {
        read: OpenApiRouter::new()
            .routes(routes!(list))
            .routes(routes!(one))
            .routes(routes!(worktree)),
        answer: OpenApiRouter::new(),
        full: OpenApiRouter::new()
            .routes(routes!(change, put_away))
            .routes(routes!(remove_worktree))
            .routes(routes!(restore))
            .routes(routes!(import))
            .merge(super::start::routes()),
    }
}

/// Which sessions.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Which {
    /// In these states, separated by commas; all without it.
    #[serde(default)]
    state: Option<String>,
    /// Those out of sight, too.
    #[serde(default)]
    archived: bool,
    /// Those in the trash instead.
    #[serde(default)]
    trashed: bool,
    /// How many at most.
    #[serde(default)]
    #[param(minimum = 0, maximum = 500)]
    most: usize,
    /// Where the last page ended: its `next`.
    #[serde(default)]
    after: Option<String>,
}

/// Sessions, newest activity first.
#[utoipa::path(get, path = "/sessions", operation_id = "listSessions", tag = "sessions", params(Which),
    responses((status = 200, description = "A page of them", body = Page<SessionView>),
        (status = 304, description = "As the client has it")))]
async fn list(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(which): Query<Which>,
) -> Result<Response, Refusal> {
    let states = which.state.as_deref().unwrap_or_default();
    let filter = SessionFilter {
        states: names(states),
        archived: which.archived,
        trashed: which.trashed,
        most: which.most,
        after: which.after,
    };
    tagged(&headers, &app.control.sessions(filter).await?)
}

fn names(list: &str) -> Vec<String> {
    let names = list.split(',').map(str::trim);
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// One session.
#[utoipa::path(get, path = "/sessions/{id}", operation_id = "getSession", tag = "sessions", params(("id" = SessionId, Path)),
    responses((status = 200, description = "How it stands", body = SessionView),
        (status = 304, description = "As the client has it")))]
async fn one(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Path(id): Path<SessionId>,
) -> Result<Response, Refusal> {
    tagged(&headers, &app.control.session(id).await?)
}

/// Changes what is named, and nothing else. One thing at a time: each is a write with a receipt of its own.
#[utoipa::path(patch, path = "/sessions/{id}", operation_id = "changeSession", tag = "sessions", params(("id" = SessionId, Path)),
    request_body = PatchSession, responses((status = 200, description = "Done", body = Receipt)))]
async fn change(
    State(app): State<Arc<App>>,
    Path(session): Path<SessionId>,
    write: Write,
    Body(body): Body<PatchSession>,
) -> Result<Json<Receipt>, Refusal> {
    let name = body.name.map(|name| Command::Rename { session, name });
    let archived = body
        .archived
        .map(|archived| Command::Archive { session, archived });
    let budget = body.budget_usd.map(|budget| Command::SetBudget {
        session,
        budget_usd: Some(budget).filter(|budget| *budget != 0.0),
    });
    let env = body.env.map(|env| Command::SetEnv { session, env });
    let mut wanted = [name, archived, budget, env].into_iter().flatten();
    match (wanted.next(), wanted.next()) {
        (Some(command), None) => carry_out(&app, write, command).await,
        (None, _) => Err(Problem::new(Code::Invalid, "nothing is to change")
            .hint("Name one of `name`, `archived`, `budget_usd`, `env`.")
            .into()),
        (Some(_), Some(_)) => Err(
            Problem::new(Code::Invalid, "more than one thing is to change")
                .hint("Send one request for each: each has a receipt of its own.")
                .into(),
        ),
    }
}

/// What goes with a session into the trash.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct AlongWith {
    /// Its worktree, too. Refused, and nothing is done, if there is work in it that is nowhere else.
    #[serde(default)]
    worktree: bool,
}

/// Puts a session into the trash, with its worktree if that is wanted. Nothing is deleted.
#[utoipa::path(delete, path = "/sessions/{id}", operation_id = "trashSession", tag = "sessions",
    params(("id" = SessionId, Path), AlongWith), responses((status = 200, description = "It is in the trash", body = Receipt)))]
async fn put_away(
    State(app): State<Arc<App>>,
    Path(session): Path<SessionId>,
    Query(along): Query<AlongWith>,
    write: Write,
) -> Result<Json<Receipt>, Refusal> {
    if !along.worktree {
        return carry_out(&app, write, Command::Trash { session }).await;
    }
    let found = app.control.worktree(session).await?;
    if let Some(why) = found.kept_because {
        return Err(ControlError::NotNow { why }.into());
    }
    let mut second = write.cmd.clone();
    second.key = format!("{}/worktree", second.key);
    let _: Json<Receipt> = carry_out(&app, write, Command::Trash { session }).await?;
    // It looks again: the agent was there until now.
    let removed = Command::RemoveWorktree { session };
    Ok(Json(app.control.execute(second, removed).await?))
}

/// Looks at the worktree of a session: what is in it that is nowhere else.
#[utoipa::path(get, path = "/sessions/{id}/worktree", operation_id = "getWorktree", tag = "sessions", params(("id" = SessionId, Path)),
    responses((status = 200, description = "Where it is, and whether it may be removed", body = WorktreeView)))]
async fn worktree(
    State(app): State<Arc<App>>,
    Path(id): Path<SessionId>,
) -> Result<Json<WorktreeView>, Refusal> {
    Ok(Json(app.control.worktree(id).await?))
}

/// Removes the worktree of a session in the trash, if no work would be lost. Its folder goes to the trash.
#[utoipa::path(delete, path = "/sessions/{id}/worktree", operation_id = "removeWorktree", tag = "sessions", params(("id" = SessionId, Path)),
    responses((status = 200, description = "It is removed", body = Receipt)))]
async fn remove_worktree(
    State(app): State<Arc<App>>,
    Path(session): Path<SessionId>,
    write: Write,
) -> Result<Json<Receipt>, Refusal> {
    carry_out(&app, write, Command::RemoveWorktree { session }).await
}

/// Takes a session out of the trash.
#[utoipa::path(post, path = "/sessions/{id}/restore", operation_id = "restoreSession", tag = "sessions", params(("id" = SessionId, Path)),
    responses((status = 200, description = "It is back", body = Receipt)))]
async fn restore(
    State(app): State<Arc<App>>,
    Path(session): Path<SessionId>,
    write: Write,
) -> Result<Json<Receipt>, Refusal> {
    carry_out(&app, write, Command::Restore { session }).await
}

/// Takes a conversation under our care that was begun in a terminal.
#[utoipa::path(post, path = "/import", operation_id = "importConversation", tag = "sessions", request_body = ImportBody,
    responses((status = 201, description = "It is a session", body = Receipt)))]
async fn import(
    State(app): State<Arc<App>>,
    write: Write,
    Body(body): Body<ImportBody>,
) -> Result<(StatusCode, Json<Receipt>), Refusal> {
    let command = Command::Import {
        id: body.id.unwrap_or_else(|| write.session()),
        conversation: body.conversation,
        cwd: body.cwd.into(),
        config_dir: body.config_dir.map(Into::into),
        confirmed: body.confirmed,
    };
    let receipt = carry_out(&app, write, command).await?;
    Ok((StatusCode::CREATED, receipt))
}
