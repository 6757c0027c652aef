//! By what somebody was let in, for as long as a stream is open.
//!
//! Owns [`Pass`]. Invariant: it is good exactly as long as a new request with the same token or cookie would be.

use std::sync::Arc;

use super::who::Holder;
use super::{Auth, secret::Digest};
use crate::clock;

/// By what a reader was let in.
#[derive(Clone)]
pub(crate) struct Pass {
    auth: Arc<Auth>,
    /// None over the socket, where the connection itself is the pass.
    token: Option<String>,
    /// Only of a page.
    login: Option<Digest>,
}

impl Pass {
    pub(crate) fn new(auth: Arc<Auth>, holder: Option<&Holder>) -> Self {
        Self {
            auth,
            token: holder.and_then(|it| it.token.clone()),
            login: holder.and_then(|it| it.login),
        }
    }

    /// Whether a request would be let in by it now.
    pub(crate) fn is_good(&self) -> bool {
        let now = clock::now();
        let book = self.auth.book();
        let token = self.token.as_ref();
        let login = self.login.as_ref();
        token.is_none_or(|id| book.is_token(id, now))
            && login.is_none_or(|login| book.is_login(login, now))
    }

    /// Returns when it was taken away.
    pub(crate) async fn lost(self) {
        let mut ended = self.auth.ended();
        loop {
            if !self.is_good() {
                return;
            }
            if ended.changed().await.is_err() {
                // Nobody is there any more who could take it away.
                std::future::pending::<()>().await;
            }
        }
    }
}
