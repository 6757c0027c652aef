//! The transcript of a session: a page of it, and what changes.
//!
//! Owns these routes, and the one to the conversation that a session goes on from. A reader takes a page, then the stream from the page's `cursor` on. Invariant: what a page shows and what
//! the stream adds to it are the same fold of the same records.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use countersign_api::control::{Above, Earlier, EarlierPart, Entry, EntryId, SessionId};
use countersign_api::{Code, Problem};
use futures_util::StreamExt as _;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Table;
use crate::app::App;
use crate::extract::{Path, Query};
use crate::refusal::Refusal;
use crate::stream::{self, Asking, Opening};

pub(super) fn table() -> Table {
    Table {
        read: OpenApiRouter::new()
            .routes(routes!(page))
            .routes(routes!(earlier))
            .routes(routes!(changes)),
        ..Table::default()
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Backwards {
    /// What stands before this entry; the newest without it.
    before: Option<String>,
    /// How many entries at most; 500 is the most there can be.
    #[serde(default)]
    most: usize,
}

fn entry(text: String) -> Result<EntryId, Problem> {
    text.parse::<EntryId>().map_err(|_| {
        let detail = format!("`{}` is no name of an entry", text.escape_debug());
        Problem::new(Code::Invalid, detail)
    })
}

/// A page of the transcript, read backwards.
#[utoipa::path(get, path = "/sessions/{id}/transcript", operation_id = "getTranscript", tag = "transcript",
    params(("id" = String, Path), Backwards),
    responses((status = 200, description = "Entries, oldest first, and the record up to which they hold",
        content_type = "application/json", body = Above<Entry>),
        (status = 422, description = "There is no entry of that name", content_type = "application/problem+json", body = Problem)))]
async fn page(
    State(app): State<Arc<App>>,
    Path(id): Path<SessionId>,
    Query(backwards): Query<Backwards>,
) -> Result<Response, Refusal> {
    let before = backwards.before.map(entry).transpose()?;
    let above = app.control.transcript(id, before, backwards.most).await?;
    let body = stream::leaving(&above, &app.redactor)?;
    let kind = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, kind)], body).into_response())
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Further {
    /// What stands before this entry; the newest without it.
    before: Option<String>,
    /// How many entries at most; 500 is the most there can be.
    #[serde(default)]
    most: usize,
    /// Only entries that hold all these words.
    words: Option<String>,
}

/// The conversation that a session was forked or imported from, as it was then, read backwards. What it has cost is not part of
/// what the session costs.
#[utoipa::path(get, path = "/sessions/{id}/earlier", operation_id = "getEarlier", tag = "transcript",
    params(("id" = String, Path), Further),
    responses((status = 200, description = "Where it comes from, and entries, oldest first", content_type = "application/json", body = Earlier),
        (status = 404, description = "It goes on from no other conversation", content_type = "application/problem+json", body = Problem),
        (status = 422, description = "There is no entry of that name", content_type = "application/problem+json", body = Problem)))]
async fn earlier(
    State(app): State<Arc<App>>,
    Path(id): Path<SessionId>,
    Query(further): Query<Further>,
) -> Result<Response, Refusal> {
    let part = EarlierPart {
        before: further.before.map(entry).transpose()?,
        most: further.most,
        words: further.words.filter(|words| !words.trim().is_empty()),
    };
    let Some(found) = app.control.earlier(id, part).await? else {
        let detail = "this session goes on from no other conversation";
        return Err(Problem::new(Code::NotFound, detail).into());
    };
    let body = stream::leaving(&found, &app.redactor)?;
    let kind = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, kind)], body).into_response())
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Following {
    /// Goes on behind this record: the `cursor` of a page. From the first record without it. `Last-Event-ID` wins.
    #[expect(dead_code, reason = "read by `Asking`, documented here")]
    after: Option<String>,
    /// `false` ends it with `caught-up`.
    #[expect(dead_code, reason = "read by `Asking`, documented here")]
    follow: Option<bool>,
}

/// What changes in the transcript, as it changes.
#[utoipa::path(get, path = "/sessions/{id}/transcript/stream", operation_id = "streamTranscript", tag = "transcript",
    params(("id" = String, Path), Following, ("Last-Event-ID" = Option<String>, Header)),
    responses((status = 200, description = "Events `entries`, `totals`, `caught-up`, `rewound`, `moved`, `problem`, `closing`",
        content_type = "text/event-stream", body = String),
        (status = 422, description = "It cannot go on from there", content_type = "application/problem+json", body = Problem)))]
async fn changes(
    State(app): State<Arc<App>>,
    Path(id): Path<SessionId>,
    asking: Asking,
) -> Result<Response, Refusal> {
    let opening = Opening::new(&app, &asking, "transcript")?;
    let told = app.control.transcript_follow(id, asking.after).await?;
    let mask = Arc::clone(&app.redactor);
    let frames = told.map(move |told| match told {
        Ok(told) => stream::of_told(&told, &mask),
        Err(error) => stream::problem(error),
    });
    Ok(opening.answer(frames.boxed()))
}
