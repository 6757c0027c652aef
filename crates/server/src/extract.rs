//! Parts of a request, and what is said when they cannot be read.
//!
//! Owns extractors that refuse with a problem: bodies, queries, paths.

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts};
use countersign_api::{Code, Problem};

use crate::refusal::Refusal;

/// A body of JSON.
#[derive(Debug, FromRequest)]
#[from_request(via(axum::Json), rejection(Refusal))]
pub(crate) struct Body<T>(pub(crate) T);

/// What stands behind the `?`.
#[derive(Debug, FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(Refusal))]
pub(crate) struct Query<T>(pub(crate) T);

/// Names in the path.
#[derive(Debug, FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(Refusal))]
pub(crate) struct Path<T>(pub(crate) T);

impl From<JsonRejection> for Refusal {
    fn from(rejection: JsonRejection) -> Self {
        let code = match &rejection {
            JsonRejection::JsonDataError(_) => Code::Invalid,
            JsonRejection::MissingJsonContentType(_) => Code::UnsupportedMedia,
            other if other.status().as_u16() == 413 => Code::TooLarge,
            _ => Code::BadRequest,
        };
        Problem::new(code, rejection.body_text()).into()
    }
}

impl From<QueryRejection> for Refusal {
    fn from(rejection: QueryRejection) -> Self {
        Problem::new(Code::BadRequest, rejection.body_text()).into()
    }
}

impl From<PathRejection> for Refusal {
    fn from(rejection: PathRejection) -> Self {
        // A name that cannot be one names nothing.
        Problem::new(Code::NotFound, rejection.body_text()).into()
    }
}
