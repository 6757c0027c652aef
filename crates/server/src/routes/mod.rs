//! Every route, by what a caller needs for it.
//!
//! Owns the table. Each module below owns the routes of one thing and says under which scope each is registered.
//! Invariant: a route stands in exactly one of the three tables, so none is open by being forgotten; sign-in is the one that is
//! open to everybody, and stands for itself.

mod about;
mod agent;
mod approvals;
mod decisions;
mod export;
mod folders;
mod insights;
pub(crate) mod login;
mod look;
mod open;
mod probe;
mod queue;
mod records;
mod rules;
mod sessions;
mod settings;
mod start;
mod tasks;
mod templates;
mod tokens;
mod transcript;
mod uploads;
mod webhooks;

use std::sync::Arc;

use axum::Json;
use countersign_api::control::{Command, Receipt};
use utoipa_axum::router::OpenApiRouter;

use crate::app::App;
use crate::caller::Write;
use crate::refusal::Refusal;

/// The largest body of a write that can hold images: one of five megabytes in base64, and more.
const WITH_IMAGES: usize = 8 << 20;

/// Routes with their part of the document.
pub(crate) type Routes = OpenApiRouter<Arc<App>>;

/// The routes of one thing, by scope.
#[derive(Default)]
pub(crate) struct Table {
    /// For everybody who is signed in.
    pub(crate) read: Routes,
    /// For those who may answer.
    pub(crate) answer: Routes,
    /// For those who may do everything.
    pub(crate) full: Routes,
}

impl Table {
    fn with(self, other: Self) -> Self {
        Self {
            read: self.read.merge(other.read),
            answer: self.answer.merge(other.answer),
            full: self.full.merge(other.full),
        }
    }
}

/// All of them.
pub(crate) fn table() -> Table {
    let all = [
        about::table(),
        login::table(),
        tokens::table(),
        sessions::table(),
        agent::table(),
        queue::table(),
        approvals::table(),
        look::table(),
        open::table(),
        probe::table(),
        tasks::table(),
        templates::table(),
        folders::table(),
        export::table(),
        rules::table(),
        decisions::table(),
        insights::table(),
        settings::table(),
        webhooks::table(),
        records::table(),
        transcript::table(),
        uploads::table(),
    ];
    all.into_iter().fold(Table::default(), Table::with)
}

/// Has a command carried out, and gives its receipt.
async fn carry_out(app: &App, write: Write, command: Command) -> Result<Json<Receipt>, Refusal> {
    app.redactor.learn_command(&command);
    #[cfg(feature = "otel")]
    let trace = write.trace;
    let done = app.control.execute(write.cmd, command);
    #[cfg(feature = "otel")]
    let done = crate::otel::within(app, trace, "execute", done);
    Ok(Json(done.await?))
}
