//! Records of a session, and what happens in all of them.
//!
//! Owns the streams of records and of events, and the way to one record that was too long to come along. Invariant: every
//! byte of a record passes the mask before it leaves.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use countersign_api::control::{Followed, SessionId};
use countersign_api::{Code, Problem};
use futures_util::StreamExt as _;
use serde::Deserialize;
use tokio::sync::Semaphore;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Table;
use crate::app::App;
use crate::clock;
use crate::extract::{Path, Query};
use crate::metrics::Metrics;
use crate::refusal::Refusal;
use crate::stream::{self, Asking, Content, Opening, Part};

/// The longest record that comes along unless a reader says otherwise.
const MAX_INLINE: usize = 64 << 10;

/// The longest that any reader may ask for.
const MOST_INLINE: usize = 1 << 20;

/// So many records are held whole at once, because only a whole one can be masked; who asks for another one waits.
static WHOLE: Semaphore = Semaphore::const_new(4);

pub(super) fn table() -> Table {
    Table {
        read: OpenApiRouter::new()
            .routes(routes!(followed))
            .routes(routes!(record))
            .routes(routes!(events)),
        ..Table::default()
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Following {
    /// Goes on behind this record, `generation-seq`; from the first one without it. `Last-Event-ID` wins.
    #[expect(dead_code, reason = "read by `Asking`, documented here")]
    after: Option<String>,
    /// `false` ends it with `caught-up`.
    #[expect(dead_code, reason = "read by `Asking`, documented here")]
    follow: Option<bool>,
    /// Records longer than this come as `large`; at most 1 MiB, 64 KiB without it.
    max_inline: Option<usize>,
}

/// The records of a session from a cursor on, as they come.
#[utoipa::path(get, path = "/sessions/{id}/events", operation_id = "streamRecords", tag = "streams",
    params(("id" = String, Path), Following, ("Last-Event-ID" = Option<String>, Header)),
    responses((status = 200, description = "Events `record`, `large`, `caught-up`, `rewound`, `moved`, `problem`, `closing`",
        content_type = "text/event-stream", body = String),
        (status = 422, description = "It cannot go on from there", content_type = "application/problem+json", body = Problem)))]
async fn followed(
    State(app): State<Arc<App>>,
    Path(id): Path<SessionId>,
    asking: Asking,
    Query(following): Query<Following>,
) -> Result<Response, Refusal> {
    let opening = Opening::new(&app, &asking, "records")?;
    let max_inline = following.max_inline.unwrap_or(MAX_INLINE).min(MOST_INLINE);
    let records = app.control.follow(id, asking.after, max_inline).await?;
    let mask = Arc::clone(&app.redactor);
    let mut meter = Meter::of(&app.metrics);
    let frames = records.map(move |followed| match followed {
        Ok(followed) => {
            meter.count(&followed);
            stream::of_record(&followed, &mask)
        }
        Err(error) => stream::problem(error),
    });
    Ok(opening.answer(frames.boxed()))
}

/// Counts what one reader gets.
struct Meter {
    metrics: Arc<Metrics>,
    /// What comes now is new.
    has_caught_up: bool,
}

impl Meter {
    fn of(metrics: &Arc<Metrics>) -> Self {
        Self {
            metrics: Arc::clone(metrics),
            has_caught_up: false,
        }
    }

    fn count(&mut self, followed: &Followed) {
        match followed {
            Followed::Record { at, .. } | Followed::Large { at, .. } => {
                self.metrics.sent(1);
                if self.has_caught_up {
                    self.metrics.told(clock::now().saturating_sub(*at));
                }
            }
            Followed::CaughtUp { .. } => self.has_caught_up = true,
            Followed::Rewound { .. } | Followed::Moved { .. } => {}
        }
    }
}

/// One record, whole or in parts.
#[utoipa::path(get, path = "/sessions/{id}/records/{cursor}", operation_id = "getRecord", tag = "streams",
    params(("id" = String, Path), ("cursor" = String, Path, description = "`generation-seq`"),
        ("Range" = Option<String>, Header, description = "`bytes=first-last`")),
    responses((status = 200, description = "The whole of it: JSON, text or bytes",
            content((serde_json::Value = "application/json"), (String = "text/plain"), (String = "application/octet-stream"))),
        (status = 206, description = "A part of it",
            content((serde_json::Value = "application/json"), (String = "text/plain"), (String = "application/octet-stream"))),
        (status = 416, description = "It is not that long", content_type = "application/problem+json", body = Problem),
        (status = 422, description = "This is no cursor", content_type = "application/problem+json", body = Problem)))]
async fn record(
    State(app): State<Arc<App>>,
    Path((id, cursor)): Path<(SessionId, String)>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let turn = WHOLE.acquire().await;
    let _turn = turn.map_err(|_| Problem::new(Code::Unavailable, "the server is ending"))?;
    let payload = app.control.read(id, cursor, 0..u64::MAX).await?;
    let mask = Arc::clone(&app.redactor);
    // Long ones take a while.
    let masked = tokio::task::spawn_blocking(move || {
        let content = Content::of(&payload, &mask);
        let kind = content.media_type();
        let bytes = content.into_bytes();
        let tag = format!("\"{}\"", &blake3::hash(&bytes).to_hex()[..32]);
        (kind, bytes, tag)
    });
    let (kind, bytes, tag) = masked
        .await
        .map_err(|_| Problem::new(Code::Unavailable, "the record could not be masked"))?;
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    // Parts of what has changed meanwhile do not belong together.
    let is_same = text(header::IF_RANGE).is_none_or(|known| known == tag);
    let range = text(header::RANGE).filter(|_| is_same);
    Ok(part(bytes, kind, &tag, range))
}

fn part(mut bytes: Vec<u8>, kind: &'static str, tag: &str, range: Option<&str>) -> Response {
    let length = bytes.len();
    let (status, body, place) = match Part::of(range, length) {
        Part::Whole => (StatusCode::OK, bytes, None),
        Part::Of(range) => {
            let place = format!("bytes {}-{}/{length}", range.start, range.end - 1);
            bytes.truncate(range.end);
            bytes.drain(..range.start);
            (StatusCode::PARTIAL_CONTENT, bytes, Some(place))
        }
        Part::None => {
            let detail = format!("the record has {length} bytes");
            let problem = Problem::new(Code::NoSuchRange, detail);
            let mut response = Refusal::from(problem).into_response();
            put(
                &mut response,
                header::CONTENT_RANGE,
                &format!("bytes */{length}"),
            );
            return response;
        }
    };
    let mut response = (status, body).into_response();
    put(&mut response, header::CONTENT_TYPE, kind);
    put(&mut response, header::ACCEPT_RANGES, "bytes");
    put(&mut response, header::ETAG, tag);
    // What an agent wrote is never a page of ours.
    put(&mut response, header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    if let Some(place) = place {
        put(&mut response, header::CONTENT_RANGE, &place);
    }
    response
}

fn put(response: &mut Response, name: header::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Happening {
    /// Goes on behind this number; without it only what is new is told. `Last-Event-ID` wins.
    #[expect(dead_code, reason = "read by `Asking`, documented here")]
    after: Option<String>,
    /// `false` ends it with `caught-up`.
    #[expect(dead_code, reason = "read by `Asking`, documented here")]
    follow: Option<bool>,
}

/// What happens in all sessions, as it happens.
#[utoipa::path(get, path = "/events", operation_id = "streamEvents", tag = "streams",
    params(Happening, ("Last-Event-ID" = Option<String>, Header)),
    responses((status = 200, description = "Events named after what happened, `gap`, `caught-up`, `closing`",
        content_type = "text/event-stream", body = String),
        (status = 422, description = "It cannot go on from there", content_type = "application/problem+json", body = Problem)))]
async fn events(State(app): State<Arc<App>>, asking: Asking) -> Result<Response, Refusal> {
    let opening = Opening::new(&app, &asking, "events")?;
    let number = |text: String| {
        let detail = format!("`{}` is no number of an event", text.escape_debug());
        text.parse::<u64>()
            .map_err(|_| Problem::new(Code::Invalid, detail))
    };
    let after = asking.after.map(number).transpose()?;
    let last = app.control.last_event().await?;
    let after = after.unwrap_or(last);
    let events = app.control.events(Some(after)).await?;
    let frames = stream::of_events(events, after, last, Arc::clone(&app.redactor));
    Ok(opening.answer(frames))
}
