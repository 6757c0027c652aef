//! Tokens: list, make, revoke.
//!
//! Owns their routes, all of them for those who may do everything. A token is shown by the write that makes it, and by
//! the same write (the same key of the same caller) for ten minutes; later that is told which token it made. It makes no second
//! one.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_api::{Code, MadeToken, NewToken, Problem, TokenView};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Table;
use super::login::blocking;
use crate::app::App;
use crate::auth::{Once, Token};
use crate::caller::Write;
use crate::clock;
use crate::extract::{Body, Path};
use crate::refusal::Refusal;

pub(super) fn table() -> Table {
    Table {
        full: OpenApiRouter::new()
            .routes(routes!(list, create))
            .routes(routes!(revoke)),
        ..Table::default()
    }
}

fn view(token: Token) -> TokenView {
    TokenView {
        id: token.id,
        name: token.name,
        scope: token.scope,
        created: token.created,
        used: token.used,
        expires: token.expires,
    }
}

/// Tokens.
///
/// Those that are good now, oldest first, each without itself.
#[utoipa::path(get, path = "/tokens", operation_id = "listTokens", tag = "tokens",
    responses((status = 200, description = "Tokens", body = Vec<TokenView>)))]
async fn list(State(app): State<Arc<App>>) -> Json<Vec<TokenView>> {
    let tokens = app.auth.list(clock::now());
    Json(tokens.into_iter().map(view).collect())
}

/// Make a token.
#[utoipa::path(post, path = "/tokens", operation_id = "createToken", tag = "tokens", request_body = NewToken,
    responses((status = 201, description = "The token. It is shown this once.", body = MadeToken)))]
async fn create(
    State(app): State<Arc<App>>,
    write: Write,
    Body(new): Body<NewToken>,
) -> Result<(StatusCode, Json<MadeToken>), Refusal> {
    let make = move || {
        let now = clock::now();
        match write.named() {
            Some(key) => app.auth.create_once(&write.cmd.principal, key, &new, now),
            None => {
                let made = app.auth.create(&new.name, new.scope, new.expires, now);
                made.map(Once::Made)
            }
        }
    };
    let made = match blocking(make).await? {
        Once::Made(made) => made,
        Once::Before(token) => return Err(before(token).into()),
        Once::Reused => {
            let detail = "the key was used for another token: choose a new one";
            return Err(Problem::new(Code::KeyReused, detail).into());
        }
    };
    let answer = MadeToken {
        token: made.secret.reveal().to_owned(),
        view: view(made.token),
    };
    Ok((StatusCode::CREATED, Json(answer)))
}

/// It was made, and its answer may be lost.
fn before(token: Token) -> Problem {
    let detail = format!(
        "this write made the token `{}`, which was shown then",
        token.name
    );
    let mut problem = Problem::new(Code::Conflict, detail)
        .hint("If it was not seen, revoke it and make another one with a new key.");
    problem.holds = serde_json::to_value(view(token)).ok();
    problem
}

/// Revoke a token.
///
/// Pages that were signed in with it are signed out, and login links made with it are void.
#[utoipa::path(delete, path = "/tokens/{id}", operation_id = "revokeToken", tag = "tokens", params(("id" = String, Path)),
    responses((status = 204, description = "It is good no more")))]
async fn revoke(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<StatusCode, Refusal> {
    match blocking(move || app.auth.revoke(&id)).await? {
        Some(_) => Ok(StatusCode::NO_CONTENT),
        None => Err(Problem::new(Code::NotFound, "there is no token of this id").into()),
    }
}
