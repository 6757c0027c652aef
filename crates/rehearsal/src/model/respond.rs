//! Responses as HTTP: status, headers and body of what was decided.
//!
//! Owns their form alone; what they say comes from `render`.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::Value;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream; charset=utf-8");

pub(super) fn json(status: u16, headers: &[(String, String)], body: &Value) -> Response {
    let mut response = with_type(Body::from(body.to_string()), JSON);
    // A script's statuses are checked when it is read.
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let map = response.headers_mut();
    if let Some(Ok(id)) = body["request_id"].as_str().map(HeaderValue::from_str) {
        map.insert("request-id", id);
    }
    for (name, value) in headers {
        // So are its headers.
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            map.insert(name, value);
        }
    }
    response
}

/// A JSON body that comes in pieces.
pub(super) fn json_in_pieces(body: Body) -> Response {
    with_type(body, JSON)
}

pub(super) fn event_stream(body: Body) -> Response {
    let mut response = with_type(body, EVENT_STREAM);
    let no_cache = HeaderValue::from_static("no-cache");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_cache);
    response
}

fn with_type(body: Body, content_type: HeaderValue) -> Response {
    let mut response = Response::new(body);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, content_type);
    response
}
