//! Bodies that come too slowly, or would never end.
//!
//! Owns the watch on them. A body has a grace, and after it must have come at a least rate on average, so a slow line may
//! send a large file and a stalled one holds a connection for the grace alone. Invariant: the watch costs nothing that grows.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use countersign_api::{Code, Problem};
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep};

use crate::refusal::Refusal;

/// How fast a body has to come.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// So long it may take whatever comes.
    pub grace: Duration,
    /// And a second more for so many bytes.
    pub bytes_per_second: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            grace: Duration::from_secs(10),
            bytes_per_second: 8 * 1024,
        }
    }
}

impl Pace {
    /// How long a body may have taken when so many bytes of it are here.
    fn allows(self, bytes: u64) -> Duration {
        let rate = u64::from(self.bytes_per_second.max(1));
        self.grace + Duration::from_millis(bytes.saturating_mul(1000) / rate)
    }
}

/// The largest body of any route. One that says it is larger is not read at all.
const LARGEST: u64 = 20 * 1024 * 1024;

/// Watches the body of a request, and answers for whoever gave up on it.
pub(crate) async fn watch(request: Request, next: Next) -> Response {
    if request.body().size_hint().lower() > LARGEST {
        let detail = format!("a body has at most {} MiB", LARGEST >> 20);
        return refuse(Problem::new(Code::TooLarge, detail));
    }
    let pace = request.extensions().get::<Pace>().copied();
    let late = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&late);
    let request = request.map(|body| Body::new(Paced::new(body, pace.unwrap_or_default(), flag)));
    let response = next.run(request).await;
    if !late.load(Ordering::Relaxed) {
        return response;
    }
    refuse(Problem::new(Code::TooLate, "the body did not come in time"))
}

/// What was not read of the body is in the way of the next request.
fn refuse(problem: Problem) -> Response {
    let mut response = Refusal::from(problem).into_response();
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}

/// A body under watch.
struct Paced {
    body: Body,
    pace: Pace,
    began: Instant,
    bytes: u64,
    deadline: Pin<Box<Sleep>>,
    late: Arc<AtomicBool>,
}

impl Paced {
    fn new(body: Body, pace: Pace, late: Arc<AtomicBool>) -> Self {
        let began = Instant::now();
        Self {
            body,
            pace,
            began,
            bytes: 0,
            deadline: Box::pin(tokio::time::sleep_until(began + pace.allows(0))),
            late,
        }
    }
}

impl HttpBody for Paced {
    type Data = Bytes;
    type Error = axum::BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::BoxError>>> {
        match Pin::new(&mut self.body).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                let length = frame.data_ref().map_or(0, Bytes::len);
                self.bytes += length as u64;
                let until = self.began + self.pace.allows(self.bytes);
                self.deadline.as_mut().reset(until);
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(other) => Poll::Ready(other.map(|frame| frame.map_err(Into::into))),
            Poll::Pending if self.deadline.as_mut().poll(cx).is_ready() => {
                self.late.store(true, Ordering::Relaxed);
                Poll::Ready(Some(Err("the body did not come in time".into())))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_come_buys_time() {
        let pace = Pace {
            grace: Duration::from_secs(2),
            bytes_per_second: 1000,
        };
        assert_eq!(pace.allows(0), Duration::from_secs(2));
        assert_eq!(pace.allows(500), Duration::from_millis(2500));
        assert!(pace.allows(u64::MAX) > pace.allows(1 << 40));
    }
}
