//! One POST, and what came back.
//!
//! Owns the HTTP of a try: connection, request, answer; a connection of its own for each. Invariants: it ends within its
//! limits, however the other side behaves; redirects are not followed; of the answer no more than 1 KiB is kept.

use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Body as _, Bytes};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::job::{Job, Outcome};
use super::sign;
use super::target::{Secret, Target, To};

/// How much of an answer is kept.
const KEPT: usize = 1 << 10;

/// How much room there is for the head of an answer. hyper takes no less than this.
const HEAD: usize = 8 << 10;

/// How long a try may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Until there is a connection.
    pub connect: Duration,
    /// From the beginning to the end of the answer.
    pub whole: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            whole: Duration::from_secs(10),
        }
    }
}

/// What a try needs beside its target.
#[derive(Debug, Clone)]
pub(super) struct Way {
    pub(super) limits: HttpLimits,
    #[cfg(feature = "tls")]
    pub(super) tls: std::sync::Arc<super::tls::Tls>,
}

/// Tries once. `seconds` is now, in Unix time: what is signed with the body.
pub(super) async fn post(
    target: &Target,
    job: &Job,
    body: Vec<u8>,
    seconds: u64,
    way: &Way,
) -> Outcome {
    let uri = match target.address() {
        Ok(uri) => uri,
        Err(why) => return hopeless(format!("its address does not fit: {why}")),
    };
    let headers = match headers(target, job, &body, seconds) {
        Some(headers) => headers,
        None => return hopeless("a header of it does not fit: mend it".to_owned()),
    };
    let trying = exchange_with(&uri, headers, body, way);
    match timeout(way.limits.whole, trying).await {
        Ok(Ok(answer)) => read(target, answer),
        Ok(Err(outcome)) => outcome,
        Err(_) => unreached(format!("no answer within {:?}", way.limits.whole)),
    }
}

fn hopeless(why: String) -> Outcome {
    Outcome::Hopeless { why }
}

fn unreached(why: impl std::fmt::Display) -> Outcome {
    let why = why.to_string();
    Outcome::Unreached { why }
}

fn headers(target: &Target, job: &Job, body: &[u8], seconds: u64) -> Option<HeaderMap> {
    let To::Webhook {
        secret, headers, ..
    } = &target.to
    else {
        return None;
    };
    let mut all = HeaderMap::new();
    let agent = concat!("countersign/", env!("CARGO_PKG_VERSION"));
    all.insert(header::USER_AGENT, HeaderValue::from_static(agent));
    for (name, value) in headers {
        let mut value = HeaderValue::try_from(value.bare()).ok()?;
        value.set_sensitive(true);
        all.insert(HeaderName::try_from(name.as_str()).ok()?, value);
    }
    all.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    all.insert(header::CONNECTION, HeaderValue::from_static("close"));
    let signature = |secret: &Secret| sign::sign(secret.bare().as_bytes(), seconds, body);
    let ours = [
        ("countersign-event", Some(job.event.kind.name().to_owned())),
        ("countersign-id", Some(job.id.clone())),
        ("countersign-attempt", Some(job.tries.to_string())),
        ("countersign-signature", secret.as_ref().map(signature)),
    ];
    for (name, value) in ours {
        if let Some(value) = value {
            let value = HeaderValue::try_from(value).ok()?;
            all.insert(HeaderName::from_static(name), value);
        }
    }
    Some(all)
}

/// An answer, as far as it is kept.
struct Answer {
    status: u16,
    retry_after: Option<u64>,
    said: Vec<u8>,
}

async fn exchange_with(
    uri: &Uri,
    headers: HeaderMap,
    body: Vec<u8>,
    way: &Way,
) -> Result<Answer, Outcome> {
    let is_secure = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
    let host = uri.host().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let request = request(uri, headers, body).map_err(|error| hopeless(error.to_string()))?;
    let connecting = timeout(way.limits.connect, TcpStream::connect((host, port)));
    let stream = connecting
        .await
        .map_err(|_| unreached(format!("no connection within {:?}", way.limits.connect)))?
        .map_err(|error| unreached(format!("no connection: {error}")))?;
    if !is_secure {
        return exchange(stream, request).await;
    }
    #[cfg(feature = "tls")]
    {
        let stream = way.tls.connect(host, stream).await?;
        exchange(stream, request).await
    }
    #[cfg(not(feature = "tls"))]
    Err(hopeless(
        "this build does not speak https: build it with the feature `tls`".to_owned(),
    ))
}

fn request(
    uri: &Uri,
    headers: HeaderMap,
    body: Vec<u8>,
) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let host = uri.authority().map_or("", |authority| authority.as_str());
    let mut request = Request::post(path)
        .header(header::HOST, host)
        .body(Full::new(Bytes::from(body)))?;
    request.headers_mut().extend(headers);
    Ok(request)
}

async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> Result<Answer, Outcome>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let broken = |error: hyper::Error| unreached(format!("the connection broke: {error}"));
    let mut builder = hyper::client::conn::http1::Builder::new();
    let (mut sender, connection) = builder
        .max_buf_size(HEAD)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(broken)?;
    // Ends with this function, whatever the other side still has to say.
    let mut driver = JoinSet::new();
    driver.spawn(connection);
    let response = sender.send_request(request).await.map_err(broken)?;
    Ok(kept(response).await)
}

/// Reads an answer as far as it is kept. What breaks off after its head is an answer all the same.
async fn kept(response: Response<hyper::body::Incoming>) -> Answer {
    let (head, mut body) = response.into_parts();
    let retry_after = head.headers.get(header::RETRY_AFTER);
    let retry_after = retry_after.and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let status = head.status.as_u16();
    let mut said = Vec::new();
    // Of a success nothing is shown, so nothing is waited for.
    while !head.status.is_success() && said.len() < KEPT && !body.is_end_stream() {
        let Some(Ok(frame)) = body.frame().await else {
            break;
        };
        if let Ok(data) = frame.into_data() {
            let room = KEPT - said.len();
            said.extend_from_slice(&data[..data.len().min(room)]);
        }
    }
    Answer {
        status,
        retry_after,
        said,
    }
}

fn read(target: &Target, answer: Answer) -> Outcome {
    if (200..300).contains(&answer.status) {
        return Outcome::Done;
    }
    let said = target.shown(&String::from_utf8_lossy(&answer.said));
    Outcome::Answered {
        status: answer.status,
        retry_after: answer.retry_after,
        said: super::summary::line(&said),
    }
}
