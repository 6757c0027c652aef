//! The layer that finds out who asks.
//!
//! Owns the order of the questions: is it meant for us, does it come from our page, who shows what. Puts the
//! [`Caller`] on the request; whether that is enough is asked where the route stands. Invariants: what is refused here has
//! read no body; a good token is never held back by the wrong tries of others.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use countersign_api::{Code, Problem, Scope};

use super::book::{Found, OWNER};
use super::origin::{self, Foreign};
use super::secret::Digest;
use super::{Auth, shown_cookie};
use crate::app::App;
use crate::caller::{Caller, Via};
use crate::clock;
use crate::listen::{Hand, NotAPerson, Peer, Proof, Shut};
use crate::refusal::Refusal;

/// When it is worth while to ask again after there was no file to spare, in milliseconds.
const RETRY_MS: u64 = 2_000;

/// What is known of the caller beside what is on the record.
#[derive(Debug, Clone)]
pub(crate) struct Holder {
    /// The id of the token. None over the socket.
    pub(crate) token: Option<String>,
    /// The login of the page. None without a cookie.
    pub(crate) login: Option<Digest>,
}

/// Finds the caller, and refuses what is not meant for us.
pub(crate) async fn who(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let peer = *request.extensions().get().unwrap_or(&Peer::unknown());
    request.extensions_mut().insert(peer);
    let caller = match admit(&app, &request, peer) {
        Ok(caller) => caller,
        Err(refusal) => return answer(refusal),
    };
    let Some((caller, holder)) = caller else {
        return next.run(request).await;
    };
    let hand = request.extensions().get::<Hand>().cloned();
    if let (Some(hand), Some(proof)) = (hand, proof_of_the_person(&caller))
        && let Err(refusal) = check_person(&hand, peer, proof).await
    {
        return refusal.into_response();
    }
    request.extensions_mut().insert(caller.clone());
    request.extensions_mut().insert(holder);
    let mut response = next.run(request).await;
    response.extensions_mut().insert(caller);
    response
}

fn answer(refusal: Refusal) -> Response {
    let is_method = refusal.0.code == Code::MethodNotAllowed;
    let mut response = refusal.into_response();
    if is_method {
        let allow = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
        response.headers_mut().insert(header::ALLOW, allow);
    }
    response
}

fn admit(
    app: &Arc<App>,
    request: &Request,
    peer: Peer,
) -> Result<Option<(Caller, Holder)>, Refusal> {
    let (headers, method) = (request.headers(), request.method());
    if let Some(may) = peer.may() {
        may.map_err(shut)?;
    }
    origin::check_host(&app.hosts, headers, request.uri(), peer).map_err(foreign)?;
    if !is_known(method) {
        let detail = "there is no route with this method, and no other site is let in";
        return Err(Problem::new(Code::MethodNotAllowed, detail).into());
    }
    origin::check_origin(headers, peer, false).map_err(foreign)?;
    let now = clock::now();
    if let Some(line) = headers.get(header::AUTHORIZATION) {
        let found = bearer(&app.auth, line, peer, now)?;
        return Ok(Some(known(app, found, Via::Bearer)));
    }
    if let Some(found) = shown_cookie(headers, peer).and_then(|it| app.auth.visitor(it, now)) {
        check_page(headers, method, peer)?;
        return Ok(Some(known(app, found, Via::Cookie)));
    }
    Ok(peer.is_socket().then(|| {
        let caller = Caller {
            name: OWNER.to_owned(),
            scope: Scope::Full,
            via: Via::Socket,
        };
        let holder = Holder {
            token: None,
            login: None,
        };
        (caller, holder)
    }))
}

/// Refuses whoever is not the person.
pub(crate) async fn check_person(hand: &Hand, peer: Peer, proof: Proof) -> Result<(), Refusal> {
    let found = hand.check_person(peer, proof).await;
    found.map_err(|why| no_person(&why))
}

/// What the caller shows that only the person has. What lies in a file or in a browser of this machine can be read by an
/// agent, which has the same user; a token that the person made and handed on is another matter.
fn proof_of_the_person(caller: &Caller) -> Option<Proof> {
    match caller.via {
        Via::Bearer => (caller.name == OWNER).then_some(Proof::TokenFile),
        Via::Cookie => Some(Proof::Browser),
        // Asked when it was let in.
        Via::Socket => None,
    }
}

fn no_person(why: &NotAPerson) -> Refusal {
    let (code, hint) = match why {
        NotAPerson::Agent(_) => (Code::NotAllowed, FOR_AN_AGENT),
        NotAPerson::Hidden(_) => (
            Code::NotAllowed,
            "If this is you, end that process or wait until it has ended, or use the browser or a terminal of this machine.",
        ),
        NotAPerson::Unseen => (
            Code::NotAllowed,
            "The owner's token counts from a program that can be seen. Through a tunnel, open a link of `countersign` or use a token of your own (`countersign token create`).",
        ),
        NotAPerson::Unknown => (
            Code::NotAllowed,
            "Keep the connection open until the answer has come.",
        ),
        NotAPerson::NotSeen(_) => (
            Code::Unavailable,
            "Try again in a moment. If it stays so, raise the limit of open files (`ulimit -n`) and restart Countersign.",
        ),
    };
    let problem = Problem::new(code, why.to_string()).hint(hint);
    match why {
        NotAPerson::NotSeen(_) => problem.retry_after_ms(RETRY_MS).into(),
        _ => problem.into(),
    }
}

/// What an agent is told to do instead.
const FOR_AN_AGENT: &str =
    "Decide in the page or in a terminal of your own, or make a token for the agent.";

fn shut(why: Shut) -> Refusal {
    if why == Shut::NoDescriptors {
        let problem = Problem::new(Code::Unavailable, why.to_string());
        return problem.retry_after_ms(RETRY_MS).into();
    }
    let problem = Problem::new(Code::NotAllowed, why.to_string());
    problem.hint(FOR_AN_AGENT).into()
}

/// What a browser sends by itself has to come from our own page.
fn check_page(headers: &HeaderMap, method: &Method, peer: Peer) -> Result<(), Refusal> {
    let is_write = !matches!(*method, Method::GET | Method::HEAD);
    origin::check_origin(headers, peer, is_write).map_err(foreign)?;
    if origin::is_embedded_elsewhere(headers) {
        return Err(foreign(Foreign::Origin));
    }
    Ok(())
}

fn bearer(auth: &Auth, line: &HeaderValue, peer: Peer, now: u64) -> Result<Found, Refusal> {
    let token = line.to_str().ok().and_then(|line| {
        let (scheme, token) = line.split_once(' ')?;
        scheme
            .eq_ignore_ascii_case("bearer")
            .then_some(token.trim())
    });
    if let Some(found) = token.and_then(|token| auth.bearer(token, now)) {
        return Ok(found);
    }
    Err(wrong(
        auth,
        peer,
        now,
        "this token is not known, has expired or was revoked",
    ))
}

/// Somebody showed what is not good: it is counted, and too many are told to wait.
pub(crate) fn wrong(auth: &Auth, peer: Peer, now: u64, detail: &str) -> Refusal {
    let from = peer.address();
    if let Some(wait) = auth.wait_ms(from, now) {
        return held_back(wait);
    }
    auth.wrong(from, now);
    Problem::new(Code::NotSignedIn, detail).into()
}

/// Too many wrong tries.
pub(crate) fn held_back(wait_ms: u64) -> Refusal {
    let detail = "too many tries with what is not good";
    Problem::new(Code::TooMany, detail)
        .retry_after_ms(wait_ms)
        .into()
}

fn known(app: &Arc<App>, found: Found, via: Via) -> (Caller, Holder) {
    if found.is_news {
        let app = Arc::clone(app);
        tokio::task::spawn_blocking(move || app.auth.note_use());
    }
    let caller = Caller {
        name: found.name,
        scope: found.scope,
        via,
    };
    let holder = Holder {
        token: Some(found.token),
        login: found.login,
    };
    (caller, holder)
}

/// The methods that routes have. `OPTIONS` is none: it is how a page of another site asks to be let in.
fn is_known(method: &Method) -> bool {
    [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
    ]
    .contains(method)
}

fn foreign(why: Foreign) -> Refusal {
    let detail = match why {
        Foreign::NoHost => "the request names no host, or several",
        Foreign::Host => "the request names a host that is not this server",
        Foreign::Origin => "the request comes from the page of another site",
    };
    Problem::new(Code::ForeignOrigin, detail).into()
}
