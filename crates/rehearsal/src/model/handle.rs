//! One HTTP request: read it, ask the pure parts, send what they say.
//!
//! Owns the order of these; decides nothing about replies. Every request is recorded before it is answered,
//! whatever becomes of it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Value, json};

use super::ask::Ask;
use super::link::Link;
use super::record::{Arrival, Kind, Outcome};
use super::render::{Rendered, Rendition, error_body, refusal, render};
use super::reply::{choose, is_side};
use super::server::{MAX_BODY_BYTES, Shared};
use super::stream::{self, Ending};

/// Headers worth keeping. Not among them: the key.
const KEPT_HEADERS: [&str; 5] = [
    "user-agent",
    "anthropic-version",
    "anthropic-beta",
    "x-app",
    "x-stainless-retry-count",
];

pub(super) async fn handle(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(link): ConnectInfo<Link>,
    request: Request,
) -> Response {
    // Held until the body is read and parsed, so that few large bodies are in memory at once. The semaphore is never
    // closed; if it were, going on without a permit would do no harm.
    let permit = shared.permits.acquire().await;
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, MAX_BODY_BYTES).await;
    let too_large = body.is_err();
    let arrival = arrival(&shared, &head, body.unwrap_or_default());
    let path = head.uri.path().trim_end_matches('/');
    let (kind, status, body) = match (head.method.as_str(), path) {
        ("POST", "/v1/messages") if too_large => {
            let why =
                format!("the body could not be read, or is larger than {MAX_BODY_BYTES} bytes");
            (
                Kind::Main,
                413,
                error_body(super::api_error_kind(413), &why, 0),
            )
        }
        ("POST", "/v1/messages") => {
            let (number, answer) = decide(&shared, arrival);
            drop(permit);
            return send(&shared, link, number, answer).await;
        }
        ("POST", "/v1/messages/count_tokens") => {
            let tokens = (arrival.body.len() / 4).max(1);
            (Kind::CountTokens, 200, json!({"input_tokens": tokens}))
        }
        ("GET", "/v1/models") => {
            let models = json!({"data": [model("rehearsal")], "has_more": false});
            (Kind::Models, 200, models)
        }
        ("GET", path) if path.starts_with("/v1/models/") => {
            (Kind::Models, 200, model(&path["/v1/models/".len()..]))
        }
        _ => {
            let why = "the scripted model serves the Messages API only";
            let body = error_body(super::api_error_kind(404), why, 0);
            (Kind::Elsewhere, 404, body)
        }
    };
    shared.update(|run| {
        let number = run.log.arrived(arrival, kind);
        run.log.answered(number, status, None);
        if status == 413 {
            run.log
                .unexpected(number, "the body is too large".to_owned());
        }
        run.log.ended(number, Outcome::Answered);
    });
    whole(status, &[], &body)
}

fn arrival(shared: &Shared, head: &Parts, body: Bytes) -> Arrival {
    let path = head.uri.path_and_query();
    Arrival {
        at: shared.started.elapsed(),
        method: head.method.to_string(),
        path: path
            .map_or(head.uri.path(), |path| path.as_str())
            .to_owned(),
        headers: kept_headers(&head.headers),
        body,
    }
}

fn kept_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let kept = |name: &&str| {
        let value = headers.get(*name)?.to_str().ok()?;
        Some(((*name).to_owned(), value.to_owned()))
    };
    KEPT_HEADERS.iter().filter_map(kept).collect()
}

fn model(id: &str) -> Value {
    json!({"type": "model", "id": id, "display_name": id, "created_at": "2025-01-01T00:00:00Z"})
}

/// Decides and records under one lock, so that replies keep their order; the body is parsed before it.
fn decide(shared: &Shared, arrival: Arrival) -> (u64, Rendered) {
    let script = &shared.script;
    let read = Ask::read(&arrival.body);
    shared.update(|run| {
        let kind = match &read {
            Ok(ask) if is_side(script, ask) => Kind::Side,
            _ => Kind::Main,
        };
        let number = run.log.arrived(arrival, kind);
        let chosen = match read {
            Ok(ask) => {
                let ask = ask.asked_as(number);
                choose(script, &mut run.used, &mut run.vars, &ask)
                    .map(|(line, spoken)| (line, render(&spoken, &ask)))
            }
            Err(error) => Err(format!("the request is not JSON: {error}")),
        };
        let (line, answer) = chosen.unwrap_or_else(|why| {
            let answer = refusal(&why, number);
            run.log.unexpected(number, why);
            (None, answer)
        });
        let status = match answer.body {
            Rendition::Whole { status, .. } => status,
            Rendition::Stream(_) => 200,
        };
        run.log.answered(number, status, line);
        (number, answer)
    })
}

async fn send(shared: &Arc<Shared>, link: Link, number: u64, answer: Rendered) -> Response {
    let mut ending = Ending::new(Arc::clone(shared), number);
    let mut stopping = shared.stopping.clone();
    if !answer.delay.is_zero() && stream::pause(answer.delay, &mut stopping).await.is_err() {
        ending.is(Outcome::ServerStopped);
        let why = "the scripted model was stopped";
        return whole(503, &[], &error_body(super::api_error_kind(503), why, 0));
    }
    match answer.body {
        Rendition::Whole {
            status,
            headers,
            body,
        } => {
            ending.is(Outcome::Answered);
            whole(status, &headers, &body)
        }
        Rendition::Stream(emits) => {
            let body = stream::body(emits, link, stopping, ending);
            let mut response = with_type(body, "text/event-stream; charset=utf-8");
            let no_cache = HeaderValue::from_static("no-cache");
            let headers = response.headers_mut();
            headers.insert(header::CACHE_CONTROL, no_cache);
            response
        }
    }
}

fn whole(status: u16, headers: &[(String, String)], body: &Value) -> Response {
    let mut response = with_type(Body::from(body.to_string()), "application/json");
    // A script's statuses and headers are checked when it is read.
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let id = body["request_id"].as_str();
    let id = id.map(|id| ("request-id".to_owned(), id.to_owned()));
    for (name, value) in headers.iter().chain(&id) {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn with_type(body: Body, content_type: &'static str) -> Response {
    let mut response = Response::new(body);
    let content_type = HeaderValue::from_static(content_type);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, content_type);
    response
}
