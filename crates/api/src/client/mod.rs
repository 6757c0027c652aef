//! A client of the API, in the types of the API.
//!
//! Owns [`Client`]: where the server is, who asks, and a method for each route. Knows no files and no settings: whoever
//! uses it finds the server and the token. Invariants: every write has a key and is sent once more if the connection
//! breaks; a token is never shown.

mod agent;
mod around;
mod error;
mod events;
mod exchange;
mod inbox;
mod place;
mod query;
mod sessions;
mod sse;
mod tls;
mod tokens;

use std::fmt;
use std::path::PathBuf;

use hyper::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use error::ClientError;
pub use events::Events;
pub use sessions::Which;
pub use sse::Event;
pub use tls::certificates;

use self::exchange::Ask;
use self::place::Place;
use self::query::Target;

/// A client of one server.
#[derive(Clone)]
pub struct Client {
    place: Place,
    token: Option<String>,
    name: String,
    key: Option<String>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("place", &self.place.to_string())
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Of the server at this socket of this machine, which knows its own user.
    pub fn at_socket(path: impl Into<PathBuf>) -> Self {
        Self::of(Place::Socket(path.into()), None)
    }

    /// Of the server at this address: `http://127.0.0.1:4779`. `roots` are certificates that count beside the machine's,
    /// as DER.
    ///
    /// # Errors
    /// When it is no address.
    pub fn at(
        address: &str,
        token: Option<String>,
        roots: Vec<Vec<u8>>,
    ) -> Result<Self, ClientError> {
        Ok(Self::of(Place::parse(address, roots)?, token))
    }

    fn of(place: Place, token: Option<String>) -> Self {
        Self {
            place,
            token,
            name: "program".to_owned(),
            key: None,
        }
    }

    /// Under this name on the record: `terminal`, the name of a program. At most 64 letters without blanks.
    #[must_use]
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// With this key for the next write, so that it can be repeated by a later run. Each write has one of its own without
    /// it.
    #[must_use]
    pub fn keyed(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Where the server is.
    pub fn place(&self) -> String {
        self.place.to_string()
    }

    /// The document of the API, as JSON.
    ///
    /// # Errors
    /// When the server is not there, or says no.
    pub async fn openapi(&self) -> Result<serde_json::Value, ClientError> {
        self.ask(Ask::read(Target::bare("/api/openapi.json"))).await
    }

    /// What a GET gives.
    async fn get<T: DeserializeOwned>(&self, target: Target) -> Result<T, ClientError> {
        self.ask(Ask::read(target)).await
    }

    /// A write, and what came of it.
    async fn write<T: DeserializeOwned>(
        &self,
        method: Method,
        target: Target,
        body: Option<&impl Serialize>,
    ) -> Result<T, ClientError> {
        self.ask(self.writing(method, target, body)?).await
    }

    /// A write that is answered by nothing.
    async fn write_for_nothing(
        &self,
        method: Method,
        target: Target,
        body: Option<&impl Serialize>,
    ) -> Result<(), ClientError> {
        self.ask_text(self.writing(method, target, body)?).await?;
        Ok(())
    }

    fn writing(
        &self,
        method: Method,
        target: Target,
        body: Option<&impl Serialize>,
    ) -> Result<Ask, ClientError> {
        let body = body.map(serde_json::to_vec).transpose();
        let body = body.map_err(|error| ClientError::Address {
            address: self.place.to_string(),
            why: format!("the request cannot be written: {error}"),
        })?;
        let fresh = || uuid::Uuid::new_v4().simple().to_string();
        Ok(Ask {
            method,
            target,
            body,
            key: Some(self.key.clone().unwrap_or_else(fresh)),
            stream: None,
        })
    }
}

/// The body of a write that has none.
const NOTHING: Option<&()> = None;

#[cfg(test)]
mod tests;
