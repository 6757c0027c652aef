//! What lies on the host's machine: folders to begin in, conversations of terminals, what is taken of the disk.
//!
//! Owns these routes. Files are never named.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use countersign_api::control::{Browsed, DiskView, ImportFilter, Importable, RecentFolder};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Table;
use crate::app::App;
use crate::extract::Query;
use crate::refusal::Refusal;
use crate::tagged::tagged;

pub(super) fn table() -> Table {
    Table {
        read: OpenApiRouter::new()
            .routes(routes!(recent))
            .routes(routes!(disk)),
        answer: OpenApiRouter::new(),
        // Who may only look at sessions has no business in the person's home, nor in conversations that are none of ours.
        full: OpenApiRouter::new()
            .routes(routes!(browse))
            .routes(routes!(importable)),
    }
}

/// Folders that sessions worked in, newest first.
#[utoipa::path(get, path = "/folders/recent", operation_id = "listRecentFolders", tag = "folders",
    responses((status = 200, description = "They", body = Vec<RecentFolder>),
        (status = 304, description = "As the client has it")))]
async fn recent(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Refusal> {
    tagged(&headers, &app.control.recent_folders().await?)
}

/// Where to look.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Where {
    /// The folder, from the root on; the list of those to begin from without it.
    #[serde(default)]
    #[param(value_type = Option<String>)]
    path: Option<PathBuf>,
}

/// Folders in a folder: below the person's home, and below folders that sessions worked in. No link leads out.
#[utoipa::path(get, path = "/folders", operation_id = "browseFolders", tag = "folders", params(Where),
    responses((status = 200, description = "They", body = Browsed)))]
async fn browse(
    State(app): State<Arc<App>>,
    Query(place): Query<Where>,
) -> Result<Json<Browsed>, Refusal> {
    Ok(Json(
        app.control
            .folders(place.path.map(super::start::from_home))
            .await?,
    ))
}

/// Which conversations.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Which {
    /// Begun in this folder.
    #[serde(default)]
    #[param(value_type = Option<String>)]
    folder: Option<PathBuf>,
    /// Those that programs began, too.
    #[serde(default)]
    programmatic: bool,
    /// How many at most.
    #[serde(default)]
    #[param(minimum = 0, maximum = 500)]
    most: usize,
}

/// Conversations that were begun in a terminal and can come under our care, newest first.
#[utoipa::path(get, path = "/import", operation_id = "listImportable", tag = "sessions", params(Which),
    responses((status = 200, description = "They", body = Vec<Importable>)))]
async fn importable(
    State(app): State<Arc<App>>,
    Query(which): Query<Which>,
) -> Result<Json<Vec<Importable>>, Refusal> {
    let filter = ImportFilter {
        folder: which.folder,
        programmatic: which.programmatic,
        most: which.most,
    };
    Ok(Json(app.control.importable(filter).await?))
}

/// What the data folder holds, by session, and what is in the trash.
#[utoipa::path(get, path = "/disk", operation_id = "getDisk", tag = "look",
    responses((status = 200, description = "In bytes", body = DiskView)))]
async fn disk(State(app): State<Arc<App>>) -> Result<Json<DiskView>, Refusal> {
    Ok(Json(app.control.disk().await?))
}
