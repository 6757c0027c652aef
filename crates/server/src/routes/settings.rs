//! What this host goes by.
//!
//! Owns the routes of preferences. Only what takes effect stands in them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use countersign_api::control::{Command, Keep, PatchPreferences, Preferences, Receipt};
use tokio::sync::Mutex;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Table, carry_out};
use crate::app::App;
use crate::caller::Write;
use crate::extract::Body;
use crate::refusal::Refusal;
use crate::tagged::tagged;

/// One at a time brings what holds to the mask.
static APPLYING: Mutex<()> = Mutex::const_new(());

pub(super) fn table() -> Table {
    Table {
        read: OpenApiRouter::new().routes(routes!(show)),
        answer: OpenApiRouter::new(),
        full: OpenApiRouter::new().routes(routes!(change)),
    }
}

/// What holds now.
#[utoipa::path(get, path = "/settings", operation_id = "getSettings", tag = "settings",
    responses((status = 200, description = "All of it", body = Preferences),
        (status = 304, description = "As the client has it")))]
async fn show(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Refusal> {
    tagged(&headers, &app.control.preferences().await?)
}

/// Changes what is named. It is in force when this is answered, and after a restart.
#[utoipa::path(patch, path = "/settings", operation_id = "changeSettings", tag = "settings", request_body = PatchPreferences,
    responses((status = 200, description = "It is in force", body = Receipt)))]
async fn change(
    State(app): State<Arc<App>>,
    write: Write,
    Body(change): Body<PatchPreferences>,
) -> Result<Json<Receipt>, Refusal> {
    let receipt = carry_out(&app, write, Command::Keep(Keep::Prefer { change })).await?;
    // Who reads last sets last, so that no change is undone by an earlier one.
    let _one = APPLYING.lock().await;
    app.redactor
        .prefer(&app.control.preferences().await?.redact);
    Ok(receipt)
}
