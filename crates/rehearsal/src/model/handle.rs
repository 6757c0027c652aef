//! One HTTP request: read it, ask the pure parts, send what they say.
//!
//! Owns the order of these; decides nothing about replies. Every request is recorded before it is answered,
//! whatever becomes of it.

use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Value, json};

use super::ask::Ask;
use super::decide::{self, Decision};
use super::link::Link;
use super::record::{Arrival, Kind, Outcome};
use super::render::{self, Emit, Rendered, Rendition};
use super::route::{Route, route};
use super::script::Audience;
use super::server::Shared;
use super::stream::{self, Ending};
use super::{api_error, choose, respond};

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
    let body = axum::body::to_bytes(body, shared.max_body_bytes).await;
    let route = route(&head.method, head.uri.path());
    let Ok(body) = body else {
        return refuse_oversized(&shared, arrival(&shared, &head, Bytes::new()), &route);
    };
    let arrival = arrival(&shared, &head, body);
    let (kind, status, body) = match route {
        Route::Messages => {
            let (number, answer) = decide(&shared, arrival);
            drop(permit);
            return send(&shared, link, number, answer).await;
        }
        Route::CountTokens => {
            let tokens = (arrival.body.len() / 4).max(1);
            (Kind::CountTokens, 200, json!({"input_tokens": tokens}))
        }
        Route::Models => (Kind::Models, 200, models()),
        Route::Model(id) => (Kind::Models, 200, model(&id)),
        Route::Elsewhere => {
            let message = "the scripted model serves the Messages API only";
            (
                Kind::Elsewhere,
                404,
                api_error::body(api_error::kind(404), message, "req_elsewhere"),
            )
        }
    };
    shared.update(|run| {
        let number = run.log.arrived(arrival, kind);
        run.log.answered(number, status, None);
        run.log.ended(number, Outcome::Answered);
    });
    respond::json(status, &[], &body)
}

fn arrival(shared: &Shared, head: &Parts, body: Bytes) -> Arrival {
    let path = head
        .uri
        .path_and_query()
        .map_or(head.uri.path(), |path| path.as_str());
    Arrival {
        at: shared.started.elapsed(),
        method: head.method.to_string(),
        path: path.to_owned(),
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

fn models() -> Value {
    const ID: &str = "rehearsal";
    json!({"data": [model(ID)], "has_more": false, "first_id": ID, "last_id": ID})
}

fn model(id: &str) -> Value {
    json!({"type": "model", "id": id, "display_name": id, "created_at": "2025-01-01T00:00:00Z"})
}

fn refuse_oversized(shared: &Shared, arrival: Arrival, route: &Route) -> Response {
    let kind = if *route == Route::Messages {
        Kind::Main
    } else {
        Kind::Elsewhere
    };
    let limit = shared.max_body_bytes;
    let why = format!("the body could not be read, or is larger than {limit} bytes");
    let body = api_error::body(api_error::kind(413), &why, "req_too_large");
    shared.update(|run| {
        let number = run.log.arrived(arrival, kind);
        run.log.answered(number, 413, None);
        run.log.unexpected(number, why);
        run.log.ended(number, Outcome::Answered);
    });
    respond::json(413, &[], &body)
}

/// Decides and records under one lock, so that replies keep their order; the body is parsed before it.
fn decide(shared: &Shared, arrival: Arrival) -> (u64, Rendered) {
    let read = Ask::read(&arrival.body);
    shared.update(|run| {
        let side =
            matches!(&read, Ok(ask) if choose::audience(&shared.script, ask) == Audience::Side);
        let number = run
            .log
            .arrived(arrival, if side { Kind::Side } else { Kind::Main });
        let decision = match read {
            Ok(ask) => {
                let ask = ask.asked_as(number);
                decide::decide(&shared.script, &mut run.used, &mut run.vars, &ask)
            }
            Err(error) => Decision::refused(format!("the request is not JSON: {error}"), number),
        };
        run.log
            .answered(number, decision.status(), decision.reply_line);
        if let Some(why) = decision.unexpected {
            run.log.unexpected(number, why);
        }
        (number, decision.answer)
    })
}

async fn send(shared: &Arc<Shared>, link: Link, number: u64, answer: Rendered) -> Response {
    let mut ending = Ending::new(Arc::clone(shared), number);
    let mut stopping = shared.stopping.clone();
    if !answer.delay.is_zero() && stream::pause(answer.delay, &mut stopping).await.is_err() {
        ending.is(Outcome::ServerStopped);
        let id = render::request_id(number);
        let body = api_error::body(api_error::kind(503), "the scripted model was stopped", &id);
        return respond::json(503, &[], &body);
    }
    match answer.body {
        Rendition::Error {
            status,
            headers,
            body,
        } => {
            ending.is(Outcome::Answered);
            respond::json(status, &headers, &body)
        }
        Rendition::Stream(emits) => {
            respond::event_stream(stream::body(emits, link, stopping, ending))
        }
        Rendition::Whole { message, cut: None } => {
            ending.is(Outcome::Answered);
            respond::json(200, &[], &message)
        }
        Rendition::Whole {
            message,
            cut: Some(how),
        } => {
            let mut half = Bytes::from(message.to_string());
            half.truncate(half.len() / 2);
            let emits = vec![Emit::Raw(half), Emit::Cut(how)];
            respond::json_in_pieces(stream::body(emits, link, stopping, ending))
        }
    }
}
