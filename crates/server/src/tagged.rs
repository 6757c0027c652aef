//! Lists that are polled: the same list twice costs one answer.
//!
//! Owns the tag of an answer. Invariant: two answers with the same tag are the same bytes.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_api::{Code, Problem};
use serde::Serialize;

use crate::refusal::Refusal;

/// A value as JSON with a tag, or nothing if the client has it already.
pub(crate) fn tagged(asked: &HeaderMap, value: &impl Serialize) -> Result<Response, Refusal> {
    let body = serde_json::to_vec(value)
        .map_err(|error| Problem::new(Code::Unknown, error.to_string()))?;
    let mut tag = String::from("\"");
    tag.push_str(&blake3::hash(&body).to_hex()[..32]);
    tag.push('"');
    let known = asked.get_all(header::IF_NONE_MATCH).iter();
    let is_known = known
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|one| one.trim().trim_start_matches("W/"))
        .any(|one| one == tag || one == "*");
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => {
            let kind = (header::CONTENT_TYPE, "application/json");
            ([kind], body).into_response()
        }
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    Ok(response)
}
