//! Signing in and out, and who one is.
//!
//! Owns the routes of sign-in, of the API and of the page behind a login link. Signing in needs no caller; everything else
//! here does. Invariants: looking at a link does not use it; a code or a token that was sent is in no answer and no log.

use std::sync::Arc;

use axum::extract::rejection::FormRejection;
use axum::extract::{Extension, Form, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::{Json, Router};
use countersign_api::{Code, LoginLink, Me, NewLink, Problem, SignIn};
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Routes, Table};
use crate::app::App;
use crate::auth::{self, AuthError, Holder, Shows, SignedIn};
use crate::caller::{Caller, Via};
use crate::clock;
use crate::extract::{Body, Query};
use crate::listen::{Hand, Peer, Proof};
use crate::refusal::Refusal;

/// What is said of a code or a token that is not good.
const NOT_GOOD: &str = "This sign-in link no longer works. Run `countersign` for a new one.";

/// What needs no caller.
pub(crate) fn open() -> Routes {
    OpenApiRouter::new().routes(routes!(login))
}

pub(super) fn table() -> Table {
    Table {
        read: OpenApiRouter::new()
            .routes(routes!(logout))
            .routes(routes!(me)),
        full: OpenApiRouter::new().routes(routes!(link)),
        ..Table::default()
    }
}

/// The page behind a login link.
pub(crate) fn pages() -> Router<Arc<App>> {
    Router::new()
        .route("/login", axum::routing::get(show).post(press))
        .route("/login.css", axum::routing::get(auth::style))
        .route("/login.js", axum::routing::get(auth::script))
}

/// Sign in.
///
/// By a token, or by the code of a login link, which is spent. The answer sets a cookie.
#[utoipa::path(post, path = "/login", operation_id = "login", tag = "sign-in", request_body = SignIn, security(()),
    responses((status = 200, description = "Signed in", body = Me)))]
async fn login(
    State(app): State<Arc<App>>,
    Extension(peer): Extension<Peer>,
    hand: Option<Extension<Hand>>,
    Body(body): Body<SignIn>,
) -> Result<Response, Refusal> {
    let signed = sign_in(&app, peer, hand, body).await?;
    let me = Me {
        name: signed.name.clone(),
        scope: signed.scope,
        via: "cookie".to_owned(),
    };
    Ok(with_cookie(
        Json(me).into_response(),
        auth::set_cookie(&signed.cookie, peer),
    ))
}

/// Sign out.
///
/// Ends the login of the page that asks. A token stays good.
#[utoipa::path(post, path = "/logout", operation_id = "logout", tag = "sign-in",
    responses((status = 204, description = "Signed out")))]
async fn logout(
    State(app): State<Arc<App>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    if let Some(cookie) = auth::shown_cookie(&headers, peer).map(str::to_owned) {
        blocking(move || app.auth.sign_out(&cookie)).await?;
    }
    Ok(with_cookie(
        StatusCode::NO_CONTENT.into_response(),
        auth::forget_cookie(peer),
    ))
}

/// Who asks.
#[utoipa::path(get, path = "/me", operation_id = "getMe", tag = "sign-in",
    responses((status = 200, description = "Who asks, and what they may do", body = Me)))]
async fn me(caller: Caller) -> Json<Me> {
    let via = match caller.via {
        Via::Bearer => "bearer",
        Via::Cookie => "cookie",
        Via::Socket => "socket",
    };
    Json(Me {
        name: caller.name,
        scope: caller.scope,
        via: via.to_owned(),
    })
}

/// Make a login link.
///
/// It signs one page in, once, within ten minutes, as who asks for it.
#[utoipa::path(post, path = "/login-links", operation_id = "createLoginLink", tag = "sign-in", request_body = NewLink,
    responses((status = 201, description = "The link. It is shown this once.", body = LoginLink)))]
async fn link(
    State(app): State<Arc<App>>,
    Extension(holder): Extension<Holder>,
    caller: Caller,
    Body(body): Body<NewLink>,
) -> Result<(StatusCode, Json<LoginLink>), Refusal> {
    let scope = body.scope.unwrap_or(caller.scope).min(caller.scope);
    let now = clock::now();
    let code = blocking(move || match holder.token {
        Some(token) => app.auth.link_as(&token, scope, now),
        None => app.auth.link(scope, now),
    })
    .await?;
    let made = LoginLink {
        path: format!("/login?code={}", code.reveal()),
        scope,
        expires: now + auth::LINK_LASTS,
    };
    Ok((StatusCode::CREATED, Json(made)))
}

/// What stands behind the `?` of a login link.
#[derive(Deserialize)]
struct Shown {
    code: Option<String>,
}

async fn show(
    State(app): State<Arc<App>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    Query(shown): Query<Shown>,
) -> Response {
    let Some(code) = shown.code else {
        return auth::page(Shows::Field);
    };
    // Pictures of another page would count as wrong tries, and keep the person out.
    if auth::is_embedded_elsewhere(&headers) {
        let refusal = Problem::new(Code::ForeignOrigin, "a page of another site asks for this");
        return failed(&refusal.into());
    }
    let now = clock::now();
    if app.auth.is_code(&code, now) {
        return auth::page(Shows::Button {
            code: &code,
            presses_itself: auth::is_this_machine(&headers),
        });
    }
    let refusal = auth::wrong(&app.auth, peer, now, NOT_GOOD);
    failed(&refusal)
}

async fn press(
    State(app): State<Arc<App>>,
    Extension(peer): Extension<Peer>,
    hand: Option<Extension<Hand>>,
    form: Result<Form<SignIn>, FormRejection>,
) -> Response {
    let Ok(Form(form)) = form else {
        return failed(&Problem::new(Code::BadRequest, "the form cannot be read").into());
    };
    match sign_in(&app, peer, hand, form).await {
        Ok(signed) => {
            let to = HeaderValue::from_static("/");
            let there = (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response();
            with_cookie(there, auth::set_cookie(&signed.cookie, peer))
        }
        Err(refusal) => failed(&refusal),
    }
}

fn failed(refusal: &Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.0.status).unwrap_or(StatusCode::UNAUTHORIZED);
    let mut response = auth::page(Shows::Failed {
        status,
        why: &refusal.0.detail,
    });
    if let Some(millis) = refusal.0.retry_ms {
        let wait = HeaderValue::from(millis.div_ceil(1000));
        response.headers_mut().insert(header::RETRY_AFTER, wait);
    }
    response
}

/// Signs a page in. Who was wrong too often is not heard, so that trying is slow.
async fn sign_in(
    app: &Arc<App>,
    peer: Peer,
    hand: Option<Extension<Hand>>,
    body: SignIn,
) -> Result<SignedIn, Refusal> {
    let now = clock::now();
    if let Some(wait) = app.auth.wait_ms(peer.address(), now) {
        return Err(auth::held_back(wait));
    }
    let is_code = body
        .code
        .as_ref()
        .is_some_and(|it| app.auth.is_code(it, now));
    let token = body.token.as_deref().unwrap_or_default().trim();
    let proof = match app.auth.is_owners(token, now) {
        true => Some(Proof::TokenFile),
        false => is_code.then_some(Proof::Browser),
    };
    if let (Some(Extension(hand)), Some(proof)) = (hand, proof) {
        auth::check_person(&hand, peer, proof).await?;
    }
    let found = match (body.code, body.token) {
        (Some(code), None) => {
            let app = Arc::clone(app);
            blocking(move || app.auth.use_code(&code, now)).await?
        }
        (None, Some(token)) => {
            let app = Arc::clone(app);
            blocking(move || app.auth.use_token(token.trim(), now)).await?
        }
        _ => {
            let detail = "send either a `token` or the `code` of a login link";
            return Err(Problem::new(Code::Invalid, detail).into());
        }
    };
    found.ok_or_else(|| auth::wrong(&app.auth, peer, now, NOT_GOOD))
}

fn with_cookie(mut response: Response, line: Option<HeaderValue>) -> Response {
    if let Some(line) = line {
        response.headers_mut().append(header::SET_COOKIE, line);
    }
    response
}

/// What touches the disk does not hold up other requests.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, AuthError> + Send + 'static,
) -> Result<T, Refusal> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(AuthError::Bad(bad))) => Err(Problem::new(Code::Invalid, bad.to_string()).into()),
        Ok(Err(error)) => {
            tracing::error!(%error, "sign-in does not work");
            let full = matches!(&error, AuthError::Disk { source, .. }
                if source.kind() == std::io::ErrorKind::StorageFull);
            let code = if full {
                Code::NoSpace
            } else {
                Code::Unavailable
            };
            // The message names a path of this machine, which is for the log alone.
            Err(Problem::new(code, "what lets people in cannot be stored").into())
        }
        Err(_) => Err(Problem::new(Code::Unavailable, "the server is about to end").into()),
    }
}
