//! What stands on every answer.
//!
//! Owns the headers that tell a browser what our pages may do. Invariants: they stand on errors, too; there is no header
//! that lets another site read an answer; nothing of the API is kept by a cache unless its route says so.

use axum::extract::Request;
use axum::http::header::{self, HeaderName};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

/// Nothing but what comes from here; no inline script or style, no frame around us.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
     font-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; \
     form-action 'self'; frame-ancestors 'none'";

/// On every answer.
const ALWAYS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    ),
];

/// Puts them on whatever is answered below.
pub(crate) async fn secure(request: Request, next: Next) -> Response {
    let is_api = request.uri().path().starts_with("/api/");
    let mut response = next.run(request).await;
    put(response.headers_mut(), is_api);
    response
}

fn put(headers: &mut HeaderMap, is_api: bool) {
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // A page with `no-referrer` would send its own forms with `Origin: null`. Neither lets another site see an address.
    let referrer = if is_api { "no-referrer" } else { "same-origin" };
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static(referrer));
    if is_api {
        let entry = headers.entry(header::CACHE_CONTROL);
        entry.or_insert(HeaderValue::from_static("no-store"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_api_is_cached_unless_its_route_says_so() {
        let mut headers = HeaderMap::new();
        put(&mut headers, true);
        assert_eq!(headers[header::CACHE_CONTROL], "no-store");
        assert_eq!(headers[header::REFERRER_POLICY], "no-referrer");
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        put(&mut headers, true);
        assert_eq!(headers[header::CACHE_CONTROL], "no-cache");
    }

    #[test]
    fn no_script_or_style_of_a_page_itself_runs() {
        assert!(!POLICY.contains("unsafe") && POLICY.starts_with("default-src 'none'"));
    }
}
