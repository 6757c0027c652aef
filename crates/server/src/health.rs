//! Whether the server is up, whether it can work, and its figures.
//!
//! Owns `/healthz`, `/readyz`, `/metrics` and the [`Doors`]: a server listens before its host has recovered, so that nobody is
//! turned away by a restart. Invariant: before the doors open nothing is answered but that they are not open yet.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use countersign_api::control::SessionFilter;
use countersign_api::{Code, Problem};
use tower::ServiceExt as _;

use crate::app::App;
use crate::auth;
use crate::refusal::Refusal;

/// How long the database may take to answer before it counts as failed.
const PATIENCE: Duration = Duration::from_secs(5);

/// What lets requests through once the host has recovered.
#[derive(Clone, Default)]
pub struct Doors(Arc<OnceLock<(Arc<App>, Router)>>);

impl std::fmt::Debug for Doors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Doors").field(&self.are_open()).finish()
    }
}

impl Doors {
    /// What is served from the first moment on.
    pub fn router(&self) -> Router {
        Router::new()
            .route("/healthz", get(up))
            .route("/readyz", get(ready))
            .fallback(through)
            .layer(axum::middleware::from_fn(auth::secure))
            .with_state(self.clone())
    }

    /// The host is there: `router` answers from now on.
    pub fn open(&self, app: Arc<App>, router: Router) {
        // They stay open.
        let _ = self.0.set((app, router));
    }

    fn are_open(&self) -> bool {
        self.0.get().is_some()
    }
}

fn not_yet() -> Refusal {
    let mut problem = Problem::new(
        Code::Unavailable,
        "the host takes up what was left: sessions and their agents are being looked at",
    );
    problem.retry_ms = Some(1_000);
    problem.into()
}

async fn up() -> Response {
    plain("up\n".to_owned())
}

async fn ready(State(doors): State<Doors>) -> Result<Response, Refusal> {
    let (app, _) = doors.0.get().ok_or_else(not_yet)?;
    let one = SessionFilter {
        most: 1,
        ..SessionFilter::default()
    };
    match tokio::time::timeout(PATIENCE, app.control.sessions(one)).await {
        Ok(Ok(_)) => match app.control.vitals().await {
            Ok(vitals) if vitals.disk_full => {
                let detail = "the disk is full: agents can be shown and ended, and nothing else; make room in the data folder's disk";
                Err(Problem::new(Code::Unavailable, detail).into())
            }
            _ => Ok(plain("ready\n".to_owned())),
        },
        // What exactly is wrong is for the log: nobody is signed in here.
        Ok(Err(error)) => {
            tracing::error!(%error, "not ready");
            Err(Problem::new(Code::Unavailable, "the store does not work").into())
        }
        Err(_) => Err(Problem::new(Code::Unavailable, "the store does not answer").into()),
    }
}

async fn through(State(doors): State<Doors>, request: Request) -> Response {
    match doors.0.get() {
        Some((_, router)) => router.clone().oneshot(request).await.into_response(),
        None => not_yet().into_response(),
    }
}

/// The figures, for whoever may read.
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let vitals = app.control.vitals().await?;
    let text = app.metrics.text(&vitals, crate::clock::now());
    let mut response = plain(text);
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

fn plain(text: String) -> Response {
    ([(header::CACHE_CONTROL, "no-store")], text).into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[tokio::test]
    async fn before_the_doors_open_everybody_is_told_to_wait_but_it_is_up() {
        let doors = Doors::default();
        let ask = |path: &'static str| {
            let request = Request::get(path).body(Body::empty()).unwrap();
            doors.router().oneshot(request)
        };
        assert_eq!(ask("/healthz").await.unwrap().status(), 200);
        for path in [
            "/readyz",
            "/",
            "/api/v1/sessions",
            "/login?code=x",
            "/metrics",
        ] {
            let answer = ask(path).await.unwrap();
            assert_eq!(answer.status(), 503, "{path}");
            assert_eq!(answer.headers()["retry-after"], "1", "{path}");
        }
    }
}
