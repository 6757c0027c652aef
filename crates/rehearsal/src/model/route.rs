//! What a path of the API is for.
//!
//! Owns the mapping alone; pure. Whatever is not of the Messages API is `Elsewhere` and gets a harmless 404.

use axum::http::Method;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    Messages,
    CountTokens,
    Models,
    Model(String),
    Elsewhere,
}

pub(super) fn route(method: &Method, path: &str) -> Route {
    let path = path.trim_end_matches('/');
    match (method.as_str(), path) {
        ("POST", "/v1/messages") => Route::Messages,
        ("POST", "/v1/messages/count_tokens") => Route::CountTokens,
        ("GET", "/v1/models") => Route::Models,
        ("GET", _) => match path.strip_prefix("/v1/models/") {
            Some(id) => Route::Model(id.to_owned()),
            None => Route::Elsewhere,
        },
        _ => Route::Elsewhere,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_messages_api_is_served() {
        let table = [
            ("POST", "/v1/messages", Route::Messages),
            ("GET", "/v1/messages", Route::Elsewhere),
            ("POST", "/v1/messages/count_tokens", Route::CountTokens),
            ("GET", "/v1/models", Route::Models),
            ("GET", "/v1/models/m-1", Route::Model("m-1".to_owned())),
            ("HEAD", "/", Route::Elsewhere),
            ("POST", "/api/event_logging/batch", Route::Elsewhere),
        ];
        for (method, path, want) in table {
            assert_eq!(
                route(&method.parse().unwrap(), path),
                want,
                "{method} {path}"
            );
        }
    }
}
