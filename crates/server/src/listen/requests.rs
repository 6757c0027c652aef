//! One line in the log for each request.
//!
//! Owns what stands in it: the method, the route, the status, how long it took and the caller's name. Invariant: nothing that
//! a client wrote is in it: no path with its names, no query, no header. A code or a token in an address is never logged.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;

use crate::caller::Caller;

/// What is said of a method or a path that is none of ours.
const OTHER: &str = "other";

/// Methods that are told apart; a client may invent others.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// Logs what is answered below.
pub(crate) async fn log(request: Request, next: Next) -> Response {
    let began = Instant::now();
    let known = METHODS
        .into_iter()
        .find(|known| *known == request.method().as_str());
    let method = known.unwrap_or(OTHER);
    let path = request.extensions().get::<MatchedPath>().cloned();
    let response = next.run(request).await;
    let route = path.as_ref().map_or(OTHER, MatchedPath::as_str);
    let status = response.status().as_u16();
    let micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
    let caller = response.extensions().get::<Caller>();
    let caller = caller.map_or("nobody", |caller| caller.name.as_str());
    match response.status().is_server_error() {
        true => tracing::warn!(method, route, status, micros, caller, "request"),
        false => tracing::debug!(method, route, status, micros, caller, "request"),
    }
    response
}
