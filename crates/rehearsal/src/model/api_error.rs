//! Errors in the shape of the Messages API.
//!
//! Owns which `type` belongs to which status. The statuses are those the API documents; others get the nearest.

use serde_json::{Value, json};

/// The usual error `type` of a status.
pub(super) fn kind(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        408 | 504 => "timeout_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500..=599 => "api_error",
        _ => "invalid_request_error",
    }
}

pub(super) fn body(kind: &str, message: &str, request_id: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": request_id})
}
