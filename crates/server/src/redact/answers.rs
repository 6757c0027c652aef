//! Answers of the API without secrets.
//!
//! Owns the layer below which every answer of JSON is masked, so that no route can forget it. Streams mask record by record,
//! and answers that exist to show a secret once are left as they are. Invariant: an answer that cannot be read whole is not
//! sent.

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::{Bytes, to_bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::app::App;
use crate::tagged;

/// What shows a secret once to who made it, and what masks its parts itself.
const LEFT: [&str; 6] = [
    "/login",
    "/login-links",
    "/tokens",
    "/me",
    "/transcript",
    "/transcript/stream",
];

/// Masks what leaves.
pub(crate) async fn mask(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>();
    let is_left = path.is_some_and(|path| LEFT.iter().any(|end| path.as_str().ends_with(end)));
    let response = next.run(request).await;
    let kind = response.headers().get(header::CONTENT_TYPE);
    let kind = kind.map(HeaderValue::as_bytes).unwrap_or_default();
    let is_json =
        kind.starts_with(b"application/json") || kind.starts_with(b"application/problem+json");
    // A problem of theirs may still quote what was sent.
    if (is_left && response.status().is_success()) || !is_json {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // It is in memory already: the routes make it whole.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let bytes = match std::str::from_utf8(&bytes).map(|text| app.redactor.answer(text)) {
        Ok(Cow::Owned(masked)) => Bytes::from(masked),
        _ => bytes,
    };
    parts.headers.remove(header::CONTENT_LENGTH);
    tagged::leaving(parts, bytes)
}
