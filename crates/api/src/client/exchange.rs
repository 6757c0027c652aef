//! One request, and its answer.
//!
//! Owns the HTTP of the client: a connection of its own for each request, since it asks seldom. Invariants: an answer is
//! waited for within a limit and kept up to a bound; a write names its key, so that it can be sent again when the
//! connection breaks, and is done once.

use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::Client;
use super::error::ClientError;
use super::query::Target;
use crate::{CLIENT, IDEMPOTENCY_KEY, Problem};

/// How long an answer may take. An agent may be asked for it, and the host waits for the disk.
const ANSWER: Duration = Duration::from_secs(60);

/// The longest answer that is kept.
const LONGEST: usize = 64 << 20;

/// What is asked.
pub(super) struct Ask {
    pub(super) method: Method,
    pub(super) target: Target,
    /// JSON.
    pub(super) body: Option<Vec<u8>>,
    pub(super) key: Option<String>,
    /// What stream is asked for, and from where on.
    pub(super) stream: Option<Option<String>>,
}

impl Ask {
    pub(super) fn read(target: Target) -> Self {
        Self {
            method: Method::GET,
            target,
            body: None,
            key: None,
            stream: None,
        }
    }
}

impl Client {
    /// The answer as a value.
    pub(super) async fn ask<T: DeserializeOwned>(&self, ask: Ask) -> Result<T, ClientError> {
        let (status, bytes) = self.ask_bytes(&ask).await?;
        serde_json::from_slice(&bytes).map_err(|error| self.strange(status, error))
    }

    /// The answer as text.
    pub(super) async fn ask_text(&self, ask: Ask) -> Result<String, ClientError> {
        let (status, bytes) = self.ask_bytes(&ask).await?;
        String::from_utf8(bytes.into()).map_err(|error| self.strange(status, error))
    }

    /// Asks, and once more if the connection breaks: reads change nothing, and a write with a key is done once.
    async fn ask_bytes(&self, ask: &Ask) -> Result<(StatusCode, Bytes), ClientError> {
        match self.once(ask).await {
            Err(lost) if lost.is_lost() => match self.once(ask).await {
                // Whether it was done before the connection broke is still not known.
                Err(ClientError::NotThere { .. }) => Err(lost),
                other => other,
            },
            other => other,
        }
    }

    async fn once(&self, ask: &Ask) -> Result<(StatusCode, Bytes), ClientError> {
        let asking = async {
            let response = self.open(ask).await?;
            let status = response.status();
            let body = Limited::new(response.into_body(), LONGEST).collect().await;
            let bytes = body.map_err(|error| self.lost(error))?.to_bytes();
            match status.is_success() {
                true => Ok((status, bytes)),
                false => Err(self.refused(status, &bytes)),
            }
        };
        let in_time = timeout(ANSWER, asking).await;
        in_time.unwrap_or_else(|_| {
            Err(ClientError::Slow {
                place: self.place.to_string(),
                after: ANSWER,
            })
        })
    }

    /// Sends it, and gives the answer as soon as its head is there.
    pub(super) async fn open(&self, ask: &Ask) -> Result<Response<Incoming>, ClientError> {
        let request = self.request(ask)?;
        let wire = self.place.connect().await?;
        let shaken = http1::handshake(TokioIo::new(wire)).await;
        let (mut sender, connection) = shaken.map_err(|error| self.lost(error))?;
        // It ends with the answer, or when nobody reads that any more.
        tokio::spawn(async move {
            let _ = connection.await;
        });
        let sent = sender.send_request(request).await;
        sent.map_err(|error| self.lost(error))
    }

    fn request(&self, ask: &Ask) -> Result<Request<Full<Bytes>>, ClientError> {
        let address = |why: String| ClientError::Address {
            address: self.place.to_string(),
            why,
        };
        let mut builder = Request::builder()
            .method(&ask.method)
            .uri(ask.target.as_str())
            .header(header::HOST, self.place.authority())
            .header(CLIENT, &self.name);
        if let Some(token) = &self.token {
            let mut bearer = HeaderValue::try_from(format!("Bearer {token}"))
                .map_err(|_| address("the token holds letters that no token has".to_owned()))?;
            bearer.set_sensitive(true);
            builder = builder.header(header::AUTHORIZATION, bearer);
        }
        if let Some(key) = &ask.key {
            builder = builder.header(IDEMPOTENCY_KEY, key);
        }
        match &ask.stream {
            None => builder = builder.header(header::CONNECTION, "close"),
            Some(last) => {
                builder = builder.header(header::ACCEPT, "text/event-stream");
                if let Some(last) = last {
                    builder = builder.header("last-event-id", last);
                }
            }
        }
        if ask.body.is_some() {
            builder = builder.header(header::CONTENT_TYPE, "application/json");
        }
        let body = Full::new(Bytes::from(ask.body.clone().unwrap_or_default()));
        builder
            .body(body)
            .map_err(|error| address(error.to_string()))
    }

    pub(super) fn lost(&self, why: impl std::fmt::Display) -> ClientError {
        ClientError::Lost {
            place: self.place.to_string(),
            why: why.to_string(),
        }
    }

    pub(super) fn strange(&self, status: StatusCode, why: impl std::fmt::Display) -> ClientError {
        ClientError::Strange {
            place: self.place.to_string(),
            status: status.as_u16(),
            why: format!("something that cannot be read ({why})"),
        }
    }

    /// What the server said instead.
    pub(super) fn refused(&self, status: StatusCode, body: &[u8]) -> ClientError {
        match serde_json::from_slice::<Problem>(body) {
            Ok(problem) => ClientError::Refused(Box::new(problem)),
            Err(error) => self.strange(status, error),
        }
    }
}
