//! Problems as answers.
//!
//! Owns the way from a [`Problem`] to a response. Invariant: what a client sees of an error is a problem, and what it is
//! not to see is in no problem.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_api::Problem;
use countersign_api::control::ControlError;

/// Why a request is not answered as it was meant.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal(pub Box<Problem>);

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self(Box::new(problem))
    }
}

impl From<ControlError> for Refusal {
    fn from(error: ControlError) -> Self {
        Self(Box::new(error.into()))
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let Self(problem) = self;
        let status = StatusCode::from_u16(problem.status);
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        let kind = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, kind);
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(millis) = problem.retry_ms {
            headers.insert(
                header::RETRY_AFTER,
                HeaderValue::from(millis.div_ceil(1000)),
            );
        }
        response
    }
}
