//! Files and folders of a session, opened on the machine of the daemon.
//!
//! Owns the route. Invariant: what is opened lies inside the folder of the session, links followed; the caller names a path and
//! one of two programs, never a command.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use countersign_api::control::SessionId;
use countersign_api::{Code, Problem};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Table;
use crate::app::App;
use crate::caller::Write;
use crate::extract::{Body, Path};
use crate::openers::inside;
use crate::refusal::Refusal;

pub(super) fn table() -> Table {
    Table {
        full: OpenApiRouter::new().routes(routes!(open)),
        ..Table::default()
    }
}

/// The program that opens a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum OpenWith {
    /// The editor.
    Editor,
    /// A terminal, in the folder or in that of the file.
    Terminal,
}

/// What to open.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct OpenBody {
    /// A file or folder inside the session's folder, absolute or from that folder on.
    #[schema(value_type = String)]
    path: PathBuf,
    /// The program that opens it.
    with: OpenWith,
}

/// What was opened.
#[derive(Debug, Serialize, ToSchema)]
struct OpenedPath {
    /// The path, links followed.
    path: String,
}

/// Opens a file or folder of a session in an editor or a terminal on the machine where the daemon runs. `GET /about` says which
/// of them it has.
#[utoipa::path(post, path = "/sessions/{id}/open", operation_id = "openPath", tag = "agent", params(("id" = SessionId, Path)),
    request_body = OpenBody,
    responses((status = 200, description = "The program was started", body = OpenedPath),
        (status = 404, description = "No such file or folder inside the session's folder"),
        (status = 409, description = "This machine has no such program")))]
async fn open(
    State(app): State<Arc<App>>,
    Path(id): Path<SessionId>,
    _write: Write,
    Body(body): Body<OpenBody>,
) -> Result<Json<OpenedPath>, Refusal> {
    let folder = app.control.session(id).await?.cwd;
    let openers = app.openers.clone();
    let missing = match body.with {
        OpenWith::Editor => (!openers.has_editor()).then_some(("an editor", "--editor")),
        OpenWith::Terminal => (!openers.has_terminal()).then_some(("a terminal", "--terminal")),
    };
    if let Some((what, option)) = missing {
        let detail = format!("the daemon found no program for {what} on its machine");
        let hint = format!("Name one with `countersign serve {option} CMD`, or copy the path.");
        return Err(Problem::new(Code::NotNow, detail).hint(hint).into());
    }
    let opened = tokio::task::spawn_blocking(move || {
        let Some(path) = inside(&folder, &body.path) else {
            let detail = "there is no such file or folder inside the session's folder";
            return Err(Problem::new(Code::NotFound, detail));
        };
        let started = match body.with {
            OpenWith::Editor => openers.edit(&path),
            OpenWith::Terminal => openers.terminal(&path),
        };
        started.map_err(|error| {
            let detail = format!("the program could not be started: {error}");
            Problem::new(Code::NotNow, detail)
                .hint("Close programs that were opened before, or copy the path.")
        })?;
        Ok(path)
    });
    let opened = opened
        .await
        .map_err(|_| Problem::new(Code::Unavailable, "the program could not be started"))??;
    let path = opened.to_string_lossy().into_owned();
    tracing::info!(session = %id, with = ?body.with, path, "opened");
    Ok(Json(OpenedPath { path }))
}
