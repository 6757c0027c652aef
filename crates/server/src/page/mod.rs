//! What a browser sees: the built page where there is one, and a plain one that needs no script.
//!
//! Owns the paths outside of the API. Invariants: a path that looks like a file is that file or 404; `/api` never falls through
//! to a page; nothing of a session is on a page for somebody who is not signed in.

mod asked;
mod built;
mod change;
mod forms;
mod home;
mod html;
mod session;

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use countersign_api::control::{
    Above, ApprovalFilter, EarlierPart, SessionFilter, SessionId, SessionView,
};
use countersign_api::{Code, Problem};
use serde::Deserialize;

use crate::app::App;
use crate::caller::Caller;
use crate::extract::{Path, Query};
use crate::refusal::Refusal;

/// So many entries of a transcript are on a page.
const ENTRIES: usize = 60;

/// So many sessions and questions are on a page.
const LISTED: usize = 50;

/// What the plain page says of this server.
#[derive(Debug, Clone, Default)]
pub struct PageSettings {
    /// A word for everybody: that rehearsal agents answer.
    pub note: Option<String>,
    /// The folder that is offered for a new session.
    pub folder: Option<PathBuf>,
    /// The first message that is offered.
    pub prompt: Option<String>,
    /// Whether there is a built page, too.
    pub has_ui: bool,
}

impl PageSettings {
    /// Whether nothing is said of cost: a rehearsal costs nothing.
    fn is_free(&self, cost: f64) -> bool {
        self.note.is_some() && cost <= 0.0
    }
}

/// Whether a built page is part of this program.
pub fn has_ui() -> bool {
    built::is_there()
}

/// The pages.
pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(first))
        .route("/plain", get(plain))
        .route("/plain/plain.css", get(style))
        .route("/plain/sessions", post(forms::begin))
        .route("/plain/sessions/{id}", get(one).post(forms::say))
        .route("/plain/approvals/{id}", post(forms::decide))
        .fallback(other)
}

async fn first(
    state: State<Arc<App>>,
    caller: Option<Extension<Caller>>,
    headers: HeaderMap,
) -> Response {
    match built::file("index.html", &headers) {
        Some(page) => page,
        None => plain(state, caller).await,
    }
}

async fn plain(State(app): State<Arc<App>>, caller: Option<Extension<Caller>>) -> Response {
    match caller {
        Some(Extension(caller)) => {
            let page = home_of(&app, &caller).await;
            page.unwrap_or_else(failed(&app))
        }
        None => (StatusCode::UNAUTHORIZED, Html(home::strangers())).into_response(),
    }
}

async fn home_of(app: &App, caller: &Caller) -> Result<Response, Refusal> {
    let sessions = app.control.sessions(SessionFilter {
        most: LISTED,
        ..SessionFilter::default()
    });
    let sessions = sessions.await?;
    let open = app.control.approvals(open_ones(None)).await?;
    let page = home::Home {
        caller,
        sessions: &sessions.items,
        open: &open.items,
        has_more: sessions.next.is_some(),
        settings: &app.page,
        redactor: &app.redactor,
        now: crate::clock::now(),
    };
    Ok(shown(page.render()))
}

fn open_ones(session: Option<SessionId>) -> ApprovalFilter {
    ApprovalFilter {
        session,
        life: Some("open".to_owned()),
        most: LISTED,
        ..ApprovalFilter::default()
    }
}

#[derive(Debug, Deserialize)]
struct How {
    #[serde(default)]
    write: bool,
    /// The conversation that it goes on from, too.
    #[serde(default)]
    earlier: bool,
}

async fn one(
    State(app): State<Arc<App>>,
    caller: Option<Extension<Caller>>,
    Path(id): Path<SessionId>,
    Query(how): Query<How>,
) -> Response {
    let Some(Extension(caller)) = caller else {
        return (StatusCode::UNAUTHORIZED, Html(home::strangers())).into_response();
    };
    let page = async {
        let session = app.control.session(id).await?;
        let entries = app.control.transcript(id, None, ENTRIES).await?;
        let entries = Above {
            items: json_of(&entries.items)?,
            more: entries.more,
            cursor: entries.cursor,
        };
        let open = app.control.approvals(open_ones(Some(id))).await?;
        let is_unspoken = !entries.more && !entries.items.iter().any(session::is_said);
        let earlier = match comes_from_another(&session) && (is_unspoken || how.earlier) {
            true => earlier_of(&app, id).await?,
            false => None,
        };
        let page = session::OneSession {
            caller: &caller,
            session: &session,
            entries: &entries,
            earlier: earlier.as_ref(),
            is_free: app.page.is_free(session.cost_usd),
            open: &open.items,
            writes: how.write,
            redactor: &app.redactor,
            now: crate::clock::now(),
        };
        Ok(shown(page.render()))
    };
    page.await.unwrap_or_else(failed(&app))
}

/// Whether there is a conversation before its own.
fn comes_from_another(session: &SessionView) -> bool {
    matches!(session.origin.as_deref(), Some("fork" | "import"))
}

/// The newest part of the conversation that a session goes on from.
async fn earlier_of(app: &App, id: SessionId) -> Result<Option<session::EarlierPage>, Refusal> {
    let part = EarlierPart {
        most: ENTRIES,
        ..EarlierPart::default()
    };
    let Some(mut found) = app.control.earlier(id, part).await? else {
        return Ok(None);
    };
    let items = json_of(&std::mem::take(&mut found.items))?;
    Ok(Some(session::EarlierPage { found, items }))
}

/// Entries as JSON, the way the API tells them.
fn json_of<T: serde::Serialize>(items: &[T]) -> Result<Vec<serde_json::Value>, Problem> {
    let unread = |_| Problem::new(Code::Unavailable, "an entry cannot be shown");
    let items = items.iter().map(serde_json::to_value);
    items.collect::<Result<_, _>>().map_err(unread)
}

async fn style() -> Response {
    let kind = [
        (header::CONTENT_TYPE, "text/css; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (kind, include_str!("plain.css")).into_response()
}

/// What no route is for: a file of the built page, the built page itself, or nothing.
async fn other(uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path().trim_start_matches('/');
    let nothing = || {
        let detail = "nothing is served under this path";
        Refusal::from(Problem::new(Code::NotFound, detail)).into_response()
    };
    if path == "api" || path.starts_with("api/") {
        return nothing();
    }
    let last = path.rsplit('/').next().unwrap_or_default();
    match last.contains('.') {
        true => built::file(path, &headers).unwrap_or_else(nothing),
        false => built::file("index.html", &headers).unwrap_or_else(nothing),
    }
}

/// A page that no cache keeps: it shows what a session holds.
fn shown(page: String) -> Response {
    let mut response = Html(page).into_response();
    let never = HeaderValue::from_static("no-store");
    response.headers_mut().insert(header::CACHE_CONTROL, never);
    response
}

/// A problem as a page. It may quote what somebody said.
fn failed(app: &App) -> impl FnOnce(Refusal) -> Response {
    let mask = Arc::clone(&app.redactor);
    move |Refusal(problem)| {
        let status = StatusCode::from_u16(problem.status);
        let page = html::page("Countersign", None, |html| {
            html.raw("<h1>")
                .text(&problem.title)
                .raw("</h1><p class=\"bad\">");
            html.text(&mask.line(&problem.detail)).raw("</p>");
            if let Some(hint) = &problem.hint {
                html.raw("<p>").text(&mask.line(hint)).raw("</p>");
            }
            html.raw("<p><a href=\"/plain\">Back to the first page</a></p>");
        });
        let mut response = shown(page);
        *response.status_mut() = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        response
    }
}

/// How long ago a moment was, in a word or two.
fn ago(at: u64, now: u64) -> String {
    let seconds = now.saturating_sub(at) / 1_000_000;
    match seconds {
        0..=9 => "just now".to_owned(),
        10..=119 => format!("{seconds} seconds ago"),
        120..=7_199 => format!("{} minutes ago", seconds / 60),
        7_200..=172_799 => format!("{} hours ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}
