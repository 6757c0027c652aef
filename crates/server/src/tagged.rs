//! Lists that are polled: the same list twice costs one answer.
//!
//! Owns the tag of an answer. A route only wishes for one; it is made of what leaves, behind the masks: a tag of what is
//! masked would let whoever guesses a secret know that the guess was right. Invariant: two answers with the same tag are
//! the same bytes.

use axum::body::{Body, Bytes};
use axum::http::response::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_api::{Code, Problem};
use serde::Serialize;

use crate::refusal::Refusal;

/// The wish for a tag, with those that the client has.
#[derive(Debug, Clone)]
struct Wish(Vec<String>);

/// A value as JSON that is to have a tag, or to be nothing if the client has it already.
pub(crate) fn tagged(asked: &HeaderMap, value: &impl Serialize) -> Result<Response, Refusal> {
    let body = serde_json::to_vec(value)
        .map_err(|error| Problem::new(Code::Unknown, error.to_string()))?;
    let known = asked.get_all(header::IF_NONE_MATCH).iter();
    let known = known
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|one| one.trim().trim_start_matches("W/").to_owned());
    let kind = (header::CONTENT_TYPE, "application/json");
    let mut response = ([kind], body).into_response();
    response.extensions_mut().insert(Wish(known.collect()));
    Ok(response)
}

/// The answer as it leaves, with its tag if the route wished for one.
pub(crate) fn leaving(mut parts: Parts, body: Bytes) -> Response {
    let Some(Wish(known)) = parts.extensions.remove::<Wish>() else {
        return Response::from_parts(parts, Body::from(body));
    };
    let tag = format!("\"{}\"", &blake3::hash(&body).to_hex()[..32]);
    let is_known = known.iter().any(|one| *one == tag || one == "*");
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => Response::from_parts(parts, Body::from(body)),
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}
