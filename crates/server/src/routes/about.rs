//! What this server is: its version, and who answers for its agents.
//!
//! Owns one route, by which the page knows whether it is a rehearsal and what to offer first.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Table;
use crate::app::App;

pub(super) fn table() -> Table {
    Table {
        read: OpenApiRouter::new().routes(routes!(about)),
        ..Table::default()
    }
}

/// What this server is.
#[derive(Debug, Serialize, ToSchema)]
struct About {
    /// Its version.
    version: &'static str,
    /// The folder that is offered for a first session.
    folder: Option<String>,
    /// Scripted agents answer: nothing costs anything, and nothing of yours is touched. None where a real CLI does.
    rehearsal: Option<Rehearsal>,
    /// Programs that this machine can open files and folders with.
    opens: Opens,
}

/// Programs that open files and folders.
#[derive(Debug, Serialize, ToSchema)]
struct Opens {
    /// An editor.
    editor: bool,
    /// A terminal.
    terminal: bool,
}

/// Scripted agents.
#[derive(Debug, Serialize, ToSchema)]
struct Rehearsal {
    /// Why they answer, in a sentence.
    note: String,
    /// The first message of the guided tour.
    prompt: String,
}

/// What this server is.
#[utoipa::path(get, path = "/about", operation_id = "getAbout", tag = "look",
    responses((status = 200, description = "Its version, and who answers for its agents", body = About)))]
async fn about(State(app): State<Arc<App>>) -> Json<About> {
    let page = &app.page;
    let folder = page.folder.as_ref();
    let rehearsal = page.note.clone().map(|note| Rehearsal {
        note,
        prompt: page.prompt.clone().unwrap_or_default(),
    });
    Json(About {
        version: env!("CARGO_PKG_VERSION"),
        folder: folder.map(|folder| folder.to_string_lossy().into_owned()),
        rehearsal,
        opens: Opens {
            editor: app.openers.has_editor(),
            terminal: app.openers.has_terminal(),
        },
    })
}
