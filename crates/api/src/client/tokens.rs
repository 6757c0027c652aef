//! Tokens: made, listed, revoked; who asks; links that sign a page in.

use hyper::Method;

use super::error::ClientError;
use super::query::Target;
use super::{Client, NOTHING};
use crate::{LoginLink, MadeToken, Me, NewLink, NewToken, TokenView};

impl Client {
    /// Who the server takes us for.
    ///
    /// # Errors
    /// When the server is not there, or says no.
    pub async fn me(&self) -> Result<Me, ClientError> {
        self.get(Target::api("/me")).await
    }

    /// The tokens that are good, without themselves.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn tokens(&self) -> Result<Vec<TokenView>, ClientError> {
        self.get(Target::api("/tokens")).await
    }

    /// Makes a token. It is told this once.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn create_token(&self, body: &NewToken) -> Result<MadeToken, ClientError> {
        self.write(Method::POST, Target::api("/tokens"), Some(body))
            .await
    }

    /// Ends a token, and all that was signed in with it.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn revoke_token(&self, id: &str) -> Result<(), ClientError> {
        let target = Target::api("/tokens").part(id);
        self.write_for_nothing(Method::DELETE, target, NOTHING)
            .await
    }

    /// A link that signs one page in, once.
    ///
    /// # Errors
    /// When the server says no.
    pub async fn login_link(&self, body: &NewLink) -> Result<LoginLink, ClientError> {
        self.write(Method::POST, Target::api("/login-links"), Some(body))
            .await
    }
}
