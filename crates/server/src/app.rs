//! What every request can reach, and the order in which it is let through.
//!
//! Owns [`App`] and the layers of the router. Invariant: nothing below the API is answered without a caller, and a scope
//! is checked before a body is read.

use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::get;
use countersign_api::control::Control;
use countersign_api::{BASE, Code, Problem, Scope};

use crate::auth::{self, Auth, Hosts};
use crate::caller::Caller;
use crate::metrics::Metrics;
use crate::openers::Openers;
use crate::page::{self, PageSettings};
use crate::redact::Redactor;
use crate::refusal::Refusal;
use crate::stream::Streams;
use crate::{doc, health, listen, metrics, redact, routes};

/// The largest body of a request. A route that takes files says so where it is registered.
const LARGEST_BODY: usize = 2 * 1024 * 1024;

/// What every request can reach.
pub struct App {
    /// The host, near or far.
    pub control: Arc<dyn Control>,
    /// Who may come in.
    pub auth: Arc<Auth>,
    /// The names under which this server answers.
    pub hosts: Hosts,
    /// All open streams.
    pub streams: Streams,
    /// Takes secrets out of what leaves.
    pub redactor: Arc<Redactor>,
    /// What this server counts.
    pub metrics: Arc<Metrics>,
    /// What the plain page says of this server.
    pub page: PageSettings,
    /// Programs of this machine that open files and folders.
    pub openers: Openers,
    /// Where spans of requests go, if anywhere.
    #[cfg(feature = "otel")]
    pub traces: Option<crate::otel::Traces>,
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").finish_non_exhaustive()
    }
}

impl App {
    /// Over this host, with everything else as usual.
    pub fn new(control: Arc<dyn Control>, auth: Arc<Auth>, hosts: Hosts) -> Self {
        Self {
            control,
            auth,
            hosts,
            streams: Streams::default(),
            redactor: Arc::default(),
            metrics: Arc::default(),
            page: PageSettings::default(),
            openers: Openers::default(),
            #[cfg(feature = "otel")]
            traces: None,
        }
    }
}

/// The whole of it.
pub fn router(app: Arc<App>) -> Router {
    let table = routes::table();
    let scoped = |routes: routes::Routes, scope: Scope| {
        let (routes, _) = routes.split_for_parts();
        routes.layer(middleware::from_fn(move |request, next| {
            needs(scope, request, next)
        }))
    };
    let (open, _) = routes::login::open().split_for_parts();
    let api = open
        .merge(scoped(table.read, Scope::Read))
        .merge(scoped(table.answer, Scope::Answer))
        .merge(scoped(table.full, Scope::Full))
        .method_not_allowed_fallback(no_such_method)
        .layer(middleware::from_fn_with_state(
            Arc::clone(&app),
            redact::answers::mask,
        ));
    let metrics = Router::new()
        .route("/metrics", get(health::metrics))
        .route("/api/openapi.json", get(doc::served))
        .layer(middleware::from_fn(|request, next| {
            needs(Scope::Read, request, next)
        }));
    let router = Router::new()
        .nest(BASE, api)
        .merge(metrics)
        .merge(routes::login::pages())
        .merge(page::router())
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), auth::who))
        .layer(middleware::from_fn(listen::watch_pace))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&app),
            metrics::count,
        ));
    // Outside of what counts and inside of what logs, so that a span has the caller's name.
    #[cfg(feature = "otel")]
    let router = router.layer(middleware::from_fn_with_state(
        Arc::clone(&app),
        crate::otel::trace,
    ));
    router
        .layer(middleware::from_fn(listen::log))
        .layer(middleware::from_fn(auth::secure))
        .with_state(app)
}

async fn no_such_method() -> Refusal {
    Problem::new(Code::MethodNotAllowed, "this path knows no such method").into()
}

async fn needs(scope: Scope, request: Request, next: Next) -> Result<Response, Refusal> {
    match request.extensions().get::<Caller>() {
        Some(caller) if caller.scope.allows(scope) => Ok(next.run(request).await),
        Some(caller) => {
            let detail = format!(
                "this needs the scope `{scope}`, and `{}` has `{}`",
                caller.name, caller.scope
            );
            Err(Problem::new(Code::NotAllowed, detail).into())
        }
        None => Err(Problem::new(Code::NotSignedIn, "nobody is signed in").into()),
    }
}
