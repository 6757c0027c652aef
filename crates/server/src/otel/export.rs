//! Spans on their way: OTLP over HTTP, as JSON.
//!
//! Owns which collector it is and one POST to it. Over plain HTTP alone: a collector stands on the same machine or behind
//! something that seals the connection, and whoever may read traces may not read anything else. A batch that does not arrive
//! is lost, and that is logged.

use std::time::Duration;

use axum::body::Body;
use hyper::{Request, Uri, header};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::span::Span;

/// So long a batch may take.
const LONGEST: Duration = Duration::from_secs(5);

/// What follows an address that is not one for traces alone.
const PATH: &str = "/v1/traces";

/// Why spans do not arrive.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    #[error("there is no connection ({0})")]
    Connection(#[from] std::io::Error),
    #[error("the collector does not answer ({0})")]
    Http(#[from] hyper::Error),
    #[error("the request cannot be made ({0})")]
    Request(#[from] axum::http::Error),
    #[error("the collector says {0}")]
    Refused(u16),
    #[error("the collector takes too long")]
    TooLong,
}

/// What was named is no collector.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no collector: name an address that begins with `http://`")]
pub struct BadCollector(String);

/// Where spans go.
#[derive(Debug, Clone)]
pub struct Collector {
    uri: Uri,
    host: String,
    port: u16,
}

impl Collector {
    /// The collector that takes traces at this address.
    ///
    /// # Errors
    /// When it is no address of plain HTTP.
    pub fn at(address: &str) -> Result<Self, BadCollector> {
        let bad = || BadCollector(address.to_owned());
        let uri: Uri = address.parse().map_err(|_| bad())?;
        let is_http = uri.scheme_str() == Some("http");
        let host = uri.host().filter(|_| is_http).ok_or_else(bad)?.to_owned();
        Ok(Self {
            port: uri.port_u16().unwrap_or(80),
            host,
            uri,
        })
    }

    /// The one that the usual variables name.
    pub(super) fn of_environment(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, BadCollector> {
        let named = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        if let Some(whole) = named("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") {
            return Self::at(whole.trim()).map(Some);
        }
        let base = named("OTEL_EXPORTER_OTLP_ENDPOINT");
        let whole = base.map(|base| format!("{}{PATH}", base.trim().trim_end_matches('/')));
        whole.map(|whole| Self::at(&whole)).transpose()
    }

    /// Sends these.
    pub(super) async fn send(&self, spans: &[Span]) -> Result<(), Failed> {
        let told = timeout(LONGEST, self.post(body(spans))).await;
        told.unwrap_or(Err(Failed::TooLong))
    }

    async fn post(&self, body: String) -> Result<(), Failed> {
        let host = self.host.trim_matches(['[', ']']);
        let stream = TcpStream::connect((host, self.port)).await?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        let request = Request::post(self.uri.path_and_query().map_or(PATH, |it| it.as_str()))
            .header(header::HOST, format!("{}:{}", self.host, self.port))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(body))?;
        // The connection is driven as long as the answer is waited for, and ends with this.
        let answer = tokio::select! {
            answer = sender.send_request(request) => answer?,
            ended = connection => {
                ended?;
                return Err(Failed::Connection(std::io::ErrorKind::UnexpectedEof.into()));
            }
        };
        match answer.status() {
            status if status.is_success() => Ok(()),
            status => Err(Failed::Refused(status.as_u16())),
        }
    }
}

fn body(spans: &[Span]) -> String {
    let spans: Vec<_> = spans.iter().map(Span::json).collect();
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let resource = json!({"attributes": [
        text("service.name", "countersign"),
        text("service.version", env!("CARGO_PKG_VERSION")),
    ]});
    let scope = json!({"name": "countersign-server", "version": env!("CARGO_PKG_VERSION")});
    json!({"resourceSpans": [{
        "resource": resource,
        "scopeSpans": [{"scope": scope, "spans": spans}],
    }]})
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_is_named_by_the_usual_variables_and_speaks_plain_http() {
        let of = |pairs: &[(&str, &str)]| {
            let find = |name: &str| {
                let found = pairs.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            Collector::of_environment(find).map(|it| it.map(|it| it.uri.to_string()))
        };
        let (base, traces) = (
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        );
        assert_eq!(of(&[]).unwrap(), None);
        assert_eq!(of(&[(base, " ")]).unwrap(), None);
        let both = of(&[(base, "http://127.0.0.1:4318/")]).unwrap();
        assert_eq!(both.as_deref(), Some("http://127.0.0.1:4318/v1/traces"));
        let own = of(&[(base, "http://a:1"), (traces, "http://b:2/t")]).unwrap();
        assert_eq!(own.as_deref(), Some("http://b:2/t"));
        for bad in ["https://a:1", "a:1", "/v1/traces"] {
            assert!(of(&[(base, bad)]).is_err(), "{bad}");
        }
    }
}
