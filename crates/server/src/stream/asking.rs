//! Who wants a stream, from where on, and in which form.
//!
//! Owns [`Asking`]. Invariant: `Last-Event-ID` wins over `after`, because a browser that connects again repeats the address
//! with the `after` it began with.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use countersign_api::{Code, Problem};
use serde::Deserialize;

use crate::auth::Holder;
use crate::caller::Caller;
use crate::extract::Query;
use crate::listen::Closing;
use crate::refusal::Refusal;

/// The header by which a browser says what it has seen last.
const LAST_EVENT_ID: &str = "last-event-id";

/// A request for a stream.
#[derive(Debug, Clone)]
pub(crate) struct Asking {
    /// The name of who asks.
    pub(crate) caller: String,
    /// Behind which event, if any.
    pub(crate) after: Option<String>,
    /// Whether it may be compressed.
    pub(crate) takes_gzip: bool,
    /// Whether it goes on behind what is there already.
    pub(crate) goes_on: bool,
    /// What was shown; none where nobody asked.
    pub(crate) holder: Option<Holder>,
    /// Tells when its connection is to end.
    pub(crate) closing: Option<Closing>,
}

#[derive(Debug, Deserialize)]
struct Wish {
    after: Option<String>,
    follow: Option<bool>,
}

impl<S: Sync + Send> FromRequestParts<S> for Asking {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let caller = Caller::from_request_parts(parts, state).await?;
        let Query(wish) = Query::<Wish>::from_request_parts(parts, state).await?;
        let seen = last_event_id(&parts.headers)?;
        let after = seen.or(wish.after).filter(|after| !after.is_empty());
        Ok(Self {
            caller: caller.name,
            after,
            takes_gzip: takes_gzip(&parts.headers),
            goes_on: wish.follow.unwrap_or(true),
            holder: parts.extensions.get::<Holder>().cloned(),
            closing: parts.extensions.get::<Closing>().cloned(),
        })
    }
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    match headers.get(LAST_EVENT_ID).map(|value| value.to_str()) {
        Some(Ok(id)) => Ok(Some(id.trim().to_owned()).filter(|id| !id.is_empty())),
        Some(Err(_)) => {
            let detail = "`Last-Event-ID` holds no id of an event";
            Err(Problem::new(Code::BadRequest, detail))
        }
        None => Ok(None),
    }
}

/// Whether `gzip` is named, and not with a weight of nothing.
pub(crate) fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter();
    let mut codings = accepted
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    codings.any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_gzip = parts
            .next()
            .is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let weight = parts.find_map(|part| part.strip_prefix("q="));
        is_gzip && weight.is_none_or(|weight| weight.parse().is_ok_and(|weight: f32| weight > 0.0))
    })
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn gzip_is_taken_by_who_names_it() {
        let taken = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
            takes_gzip(&headers)
        };
        for yes in ["gzip", "br, GZIP;q=0.5", "deflate,gzip ; q=1"] {
            assert!(taken(yes), "{yes}");
        }
        for no in [
            "",
            "identity",
            "gzip;q=0",
            "gzip; q=0.000",
            "xgzip",
            "*",
            "gzip;q=x",
        ] {
            assert!(!taken(no), "{no}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }

    #[test]
    fn an_empty_last_event_id_is_none() {
        let mut headers = HeaderMap::new();
        assert_eq!(last_event_id(&headers), Ok(None));
        headers.insert(LAST_EVENT_ID, HeaderValue::from_static(" "));
        assert_eq!(last_event_id(&headers), Ok(None));
        headers.insert(LAST_EVENT_ID, HeaderValue::from_static("1-2"));
        assert_eq!(last_event_id(&headers), Ok(Some("1-2".to_owned())));
        let odd = HeaderValue::from_bytes(b"\xff").unwrap();
        headers.insert(LAST_EVENT_ID, odd);
        assert!(last_event_id(&headers).is_err());
    }
}
