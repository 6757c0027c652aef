//! Who is told outside of this machine.
//!
//! Owns the routes of webhooks and programs. Invariants: secrets go in and never come out; what runs on this machine is
//! named by somebody on this machine: a token or a page alone cannot have a program run.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use countersign_api::control::{Command, Keep, PutWebhook, Receipt, WebhookView};
use countersign_api::{Code, Problem};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Table, carry_out};
use crate::app::App;
use crate::caller::{Caller, Via, Write};
use crate::extract::{Body, Path};
use crate::refusal::Refusal;
use crate::tagged::tagged;

/// What to do instead.
const LOCALLY: &str = "Send the same request over the socket `run/serve.sock` of the data folder: `curl --unix-socket`.";

pub(super) fn table() -> Table {
    Table {
        read: OpenApiRouter::new().routes(routes!(list)),
        answer: OpenApiRouter::new(),
        full: OpenApiRouter::new()
            .routes(routes!(put, remove))
            .routes(routes!(test)),
    }
}

/// All of them, without their secrets.
#[utoipa::path(get, path = "/webhooks", operation_id = "listWebhooks", tag = "webhooks",
    responses((status = 200, description = "They", body = Vec<WebhookView>),
        (status = 304, description = "As the client has it")))]
async fn list(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Refusal> {
    tagged(&headers, &app.control.webhooks().await?)
}

/// Makes one, or puts it in place of the one of its name. What is left out stays as it was.
#[utoipa::path(put, path = "/webhooks/{name}", operation_id = "putWebhook", tag = "webhooks", params(("name" = String, Path)),
    request_body = PutWebhook, responses((status = 200, description = "It is told from now on", body = Receipt)))]
async fn put(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    caller: Caller,
    write: Write,
    Body(webhook): Body<PutWebhook>,
) -> Result<Json<Receipt>, Refusal> {
    if webhook.runs_a_program() && caller.via != Via::Socket {
        let detail = "a program of this machine is named over its own socket alone";
        let problem = Problem::new(Code::NotAllowed, detail);
        return Err(problem.hint(LOCALLY).into());
    }
    let keep = Keep::PutWebhook { name, webhook };
    carry_out(&app, write, Command::Keep(keep)).await
}

/// Takes one away. What waits for it is not sent.
#[utoipa::path(delete, path = "/webhooks/{name}", operation_id = "deleteWebhook", tag = "webhooks", params(("name" = String, Path)),
    responses((status = 200, description = "It is told no longer", body = Receipt)))]
async fn remove(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    write: Write,
) -> Result<Json<Receipt>, Refusal> {
    carry_out(&app, write, Command::Keep(Keep::RemoveWebhook { name })).await
}

/// Tells one something, to see whether it arrives there.
#[utoipa::path(post, path = "/webhooks/{name}/test", operation_id = "testWebhook", tag = "webhooks", params(("name" = String, Path)),
    responses((status = 200, description = "It is on its way", body = Receipt)))]
async fn test(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    write: Write,
) -> Result<Json<Receipt>, Refusal> {
    carry_out(&app, write, Command::Keep(Keep::TestWebhook { name })).await
}
