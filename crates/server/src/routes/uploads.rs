//! Files that a person hands to the agent of a session.
//!
//! Owns their routes. The body of an upload is the file itself, as `application/octet-stream`, which no form of another site
//! can send. What a name may be and where the file lies is the host's.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, header};
use countersign_api::control::{Command, Keep, Receipt, SessionId, Upload};
use countersign_api::{Code, Problem};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Table, carry_out};
use crate::app::App;
use crate::caller::Write;
use crate::extract::{Path, Query};
use crate::refusal::Refusal;

/// The largest file.
const LARGEST: usize = 20 << 20;

/// What the body of an upload is.
const BYTES: &str = "application/octet-stream";

pub(super) fn table() -> Table {
    Table {
        read: OpenApiRouter::new().routes(routes!(list)),
        answer: OpenApiRouter::new(),
        full: OpenApiRouter::new()
            .routes(routes!(upload))
            .layer(DefaultBodyLimit::max(LARGEST))
            .merge(OpenApiRouter::new().routes(routes!(remove))),
    }
}

/// A file, byte for byte.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "only the document names it")]
struct File(Vec<u8>);

/// What the file is called.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Called {
    /// Its name, without a path. A number is added where another file has it.
    #[param(min_length = 1, max_length = 200)]
    name: String,
}

/// Hands a file to the agent. It is told nothing of it: name its `path` in a message.
#[utoipa::path(post, path = "/sessions/{id}/uploads", operation_id = "uploadFile", tag = "uploads",
    params(("id" = SessionId, Path), Called),
    request_body(content = File, content_type = "application/octet-stream", description = "The file, of 20 MiB at most"),
    responses((status = 201, description = "It is there", body = Receipt)))]
async fn upload(
    State(app): State<Arc<App>>,
    Path(session): Path<SessionId>,
    Query(called): Query<Called>,
    write: Write,
    headers: HeaderMap,
    bytes: Result<Bytes, BytesRejection>,
) -> Result<(StatusCode, Json<Receipt>), Refusal> {
    let kind = headers.get(header::CONTENT_TYPE);
    if kind.is_none_or(|kind| kind.as_bytes() != BYTES.as_bytes()) {
        let detail = format!("a file is sent as `{BYTES}`");
        return Err(Problem::new(Code::UnsupportedMedia, detail).into());
    }
    let bytes = bytes.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            let detail = format!("a file has at most {} MiB", LARGEST >> 20);
            Problem::new(Code::TooLarge, detail)
        }
        _ => Problem::new(Code::BadRequest, "the file did not come whole"),
    })?;
    let taken = app
        .control
        .upload(write.cmd, session, called.name, bytes.into())
        .await?;
    Ok((StatusCode::CREATED, Json(taken)))
}

/// The files that the agent of a session was handed, oldest first.
#[utoipa::path(get, path = "/sessions/{id}/uploads", operation_id = "listUploads", tag = "uploads", params(("id" = SessionId, Path)),
    responses((status = 200, description = "They", body = Vec<Upload>)))]
async fn list(
    State(app): State<Arc<App>>,
    Path(session): Path<SessionId>,
) -> Result<Json<Vec<Upload>>, Refusal> {
    Ok(Json(app.control.uploads(session).await?))
}

/// Puts a file into the trash.
#[utoipa::path(delete, path = "/sessions/{id}/uploads/{name}", operation_id = "removeUpload", tag = "uploads",
    params(("id" = SessionId, Path), ("name" = String, Path)),
    responses((status = 200, description = "It is in the trash", body = Receipt)))]
async fn remove(
    State(app): State<Arc<App>>,
    Path((session, name)): Path<(SessionId, String)>,
    write: Write,
) -> Result<Json<Receipt>, Refusal> {
    let keep = Keep::RemoveUpload { session, name };
    carry_out(&app, write, Command::Keep(keep)).await
}
