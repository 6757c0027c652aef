//! A session as a file: every record of its journal, a line each, or the journal itself.
//!
//! Owns the route. Of records, secrets are masked unless the caller wants the bytes as they crossed. The file ends where the journal
//! ends when it is read to there; one record at a time is held.

use std::future::ready;
use std::sync::Arc;

use axum::body::Body as Answer;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use countersign_api::control::{Followed, SessionId};
use countersign_api::{Code, Problem};
use futures_util::StreamExt as _;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Table;
use crate::app::App;
use crate::extract::{Path, Query};
use crate::redact::Redactor;
use crate::refusal::Refusal;
use crate::stream::Content;

pub(super) fn table() -> Table {
    Table {
        read: OpenApiRouter::new(),
        answer: OpenApiRouter::new(),
        // Unmasked, it is everything that the session was ever told.
        full: OpenApiRouter::new().routes(routes!(export)),
    }
}

/// How.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct How {
    /// Mask secrets, as streams do.
    #[serde(default = "yes")]
    #[param(default = true)]
    redact: bool,
    /// `records`: a line of JSON for each. `journal`: the files of the journal as they lie, in a tar archive, which only leaves
    /// with `redact=false`.
    #[serde(default)]
    #[param(inline)]
    format: Format,
}

/// In which form.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Format {
    #[default]
    Records,
    Journal,
}

fn yes() -> bool {
    true
}

/// Every record of a session, oldest first, a line of JSON each: `cursor`, `generation`, `seq`, `at`, `kind`, `from`, and what it says as
/// `line` (JSON), `text` (no JSON) or `b64` (no text), as `countersign journal export --format json` writes it; or the journal itself.
#[utoipa::path(get, path = "/sessions/{id}/export", operation_id = "exportSession", tag = "sessions", params(("id" = SessionId, Path), How),
    responses((status = 200, description = "A file", content((String = "application/x-ndjson"), (String = "application/x-tar")))))]
async fn export(
    State(app): State<Arc<App>>,
    Path(id): Path<SessionId>,
    Query(how): Query<How>,
) -> Result<Response, Refusal> {
    if let Format::Journal = how.format {
        return journal(&app, id, how.redact).await;
    }
    let records = app.control.follow(id, None, usize::MAX).await?;
    let redactor = how.redact.then(|| Arc::clone(&app.redactor));
    let goes_on = |one: &Result<Followed, _>| ready(!matches!(one, Ok(Followed::CaughtUp { .. })));
    let lines = records.take_while(goes_on).map(move |one| match one {
        Ok(one) => Ok(line(&one, redactor.as_deref())),
        // The file breaks off: a client sees that it is not whole.
        Err(error) => Err(error),
    });
    let body = Answer::from_stream(lines);
    Ok(file(body, "application/x-ndjson", &format!("{id}.ndjson")))
}

/// The journal as it lies. Masked it would be no journal: every hash in it would be wrong.
async fn journal(app: &App, id: SessionId, is_masked: bool) -> Result<Response, Refusal> {
    if is_masked {
        let problem = Problem::new(Code::Invalid, "a journal leaves as it is, secrets included");
        let hint =
            "Ask with `redact=false` if that is meant, or leave `format` out for masked records.";
        return Err(problem.hint(hint).into());
    }
    let body = Answer::from_stream(app.control.journal(id).await?);
    Ok(file(body, "application/x-tar", &format!("{id}.tar")))
}

fn file(body: Answer, kind: &'static str, name: &str) -> Response {
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    if let Ok(named) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, named);
    }
    response
}

/// A record as the command `journal export --format json` writes it.
fn line(one: &Followed, redactor: Option<&Redactor>) -> String {
    let Followed::Record {
        cursor,
        at,
        kind,
        payload,
    } = one
    else {
        return String::new();
    };
    let content = match redactor {
        Some(redactor) => Content::of(payload, redactor),
        None => Content::bare(payload),
    };
    let (generation, seq) = cursor.split_once('-').unwrap_or(("0", "0"));
    let from = from(*kind);
    let (name, said) = content.field();
    format!(
        r#"{{"cursor":"{cursor}","generation":{generation},"seq":{seq},"at":{at},"kind":"{kind}","from":"{from}","{name}":{said}}}"#
    ) + "\n"
}

/// Who wrote a record, by the letter of its kind.
fn from(kind: char) -> &'static str {
    match kind.to_ascii_lowercase() {
        'a' => "agent",
        'h' => "host",
        'e' => "stderr",
        'd' => "note",
        _ => "keeper",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same file is the wanted output of `countersign journal export --format json`.
    const GOLDEN: &str = include_str!("../../../api/exported.ndjson");

    #[test]
    fn an_exported_record_has_the_shape_that_the_command_gives_it() {
        let payloads: [(char, &[u8]); 5] = [
            ('a', br#"{"type":"x","n":1.50,"s":"\u00e9"}"#),
            ('A', br#"{"type":"cut"#),
            ('h', b"\xff\x00"),
            ('e', b"no \"json\""),
            ('d', br#"{"by":"me"}"#),
        ];
        let lines = payloads.iter().zip(1..).map(|((kind, payload), seq)| {
            let record = Followed::Record {
                cursor: format!("2-{seq}"),
                at: 9,
                kind: *kind,
                payload: payload.to_vec(),
            };
            let bare = line(&record, None);
            assert_eq!(bare, line(&record, Some(&Redactor::default())));
            bare
        });
        assert_eq!(lines.collect::<String>(), GOLDEN);
    }
}
