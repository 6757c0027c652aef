//! Traces of requests, for a collector that speaks OpenTelemetry.
//!
//! Owns the layer that makes a span of each request, and [`Traces`], the way of spans to the collector. Compiled with the
//! feature `otel` alone, and nothing is sent unless a collector was named. Invariants: nothing that a client wrote is in a
//! span, as in the log: no path with its names, no query, no header; a collector that is slow or away costs a bounded queue
//! and no request's time.

mod export;
mod span;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};

use crate::app::App;
use crate::caller::Caller;
pub use export::{BadCollector, Collector};
pub(crate) use span::Context;
use span::{Span, now};

/// So many spans wait for the collector. One more is left out, and counted.
const MOST: usize = 2_048;

/// So many are sent at once.
const AT_ONCE: usize = 512;

/// So long a span waits for others.
const GATHERED: Duration = Duration::from_secs(2);

/// So long the end of the server waits for the last of them.
const LAST: Duration = Duration::from_secs(2);

enum Told {
    Span(Box<Span>),
    Flush(oneshot::Sender<()>),
}

/// The way of spans to a collector.
#[derive(Debug, Clone)]
pub struct Traces {
    way: mpsc::Sender<Told>,
    left_out: Arc<AtomicU64>,
}

impl Traces {
    /// To this collector, from now on.
    pub fn start(collector: Collector) -> Self {
        let (way, spans) = mpsc::channel(MOST);
        let left_out = Arc::new(AtomicU64::new(0));
        tokio::spawn(carry(spans, collector, Arc::clone(&left_out)));
        Self { way, left_out }
    }

    /// To the collector that the usual variables name; none if they name none.
    ///
    /// # Errors
    /// When what they name is no collector.
    pub fn of_environment(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, BadCollector> {
        Ok(Collector::of_environment(variable)?.map(Self::start))
    }

    /// Waits until what there is has been sent, or for a moment.
    pub async fn flush(&self) {
        let (done, sent) = oneshot::channel();
        let flushed = async {
            if self.way.send(Told::Flush(done)).await.is_ok() {
                let _ = sent.await;
            }
        };
        let _ = timeout(LAST, flushed).await;
    }

    fn tell(&self, span: Span) {
        if self.way.try_send(Told::Span(Box::new(span))).is_err() {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Gathers spans and sends them on.
async fn carry(mut spans: mpsc::Receiver<Told>, collector: Collector, left_out: Arc<AtomicU64>) {
    while let Some(first) = spans.recv().await {
        let mut batch = Vec::new();
        let mut flushed = take(first, &mut batch);
        let until = Instant::now() + GATHERED;
        while flushed.is_none() && batch.len() < AT_ONCE {
            match tokio::time::timeout_at(until, spans.recv()).await {
                Ok(Some(told)) => flushed = take(told, &mut batch),
                Ok(None) | Err(_) => break,
            }
        }
        if !batch.is_empty()
            && let Err(error) = collector.send(&batch).await
        {
            let spans = batch.len();
            tracing::warn!(%error, spans, "spans did not reach the collector");
        }
        let lost = left_out.swap(0, Ordering::Relaxed);
        if lost > 0 {
            tracing::warn!(lost, "the collector is too slow: spans were left out");
        }
        if let Some(done) = flushed {
            let _ = done.send(());
        }
    }
}

fn take(told: Told, batch: &mut Vec<Span>) -> Option<oneshot::Sender<()>> {
    match told {
        Told::Span(span) => {
            batch.push(*span);
            None
        }
        Told::Flush(done) => Some(done),
    }
}

/// Makes a span of a request. It ends with the head of the answer: a stream has no end to wait for.
pub(crate) async fn trace(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(traces) = &app.traces else {
        return next.run(request).await;
    };
    let asked = Context::of_headers(request.headers());
    let Some(own) = Context::within(asked.as_ref()) else {
        return next.run(request).await;
    };
    let began = now();
    let method = method(request.method());
    let route = request.extensions().get::<MatchedPath>().cloned();
    request.extensions_mut().insert(own);
    let response = next.run(request).await;
    let route = route.as_ref().map_or("other", MatchedPath::as_str);
    let status = response.status();
    let caller = response.extensions().get::<Caller>();
    let mut span = Span::server(own, asked, format!("{method} {route}"), began);
    span.text("http.request.method", method);
    span.text("http.route", route);
    span.number("http.response.status_code", i64::from(status.as_u16()));
    span.text(
        "countersign.caller",
        caller.map_or("nobody", |caller| &caller.name),
    );
    span.is_error = status.is_server_error();
    traces.tell(span.ended(now()));
    response
}

/// Has something done within a request, and makes a span of it.
pub(crate) async fn within<T>(
    app: &App,
    above: Option<Context>,
    name: &str,
    work: impl Future<Output = T>,
) -> T {
    let own = above.and_then(|above| Context::within(Some(&above)));
    let (Some(traces), Some(own)) = (&app.traces, own) else {
        return work.await;
    };
    let began = now();
    let done = work.await;
    let span = Span::within(own, above, name.to_owned(), began);
    traces.tell(span.ended(now()));
    done
}

/// Methods that are told apart; a client may invent others.
fn method(method: &Method) -> &'static str {
    const KNOWN: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];
    let known = KNOWN.into_iter().find(|known| *known == method.as_str());
    known.unwrap_or("_OTHER")
}
