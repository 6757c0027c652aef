//! A stream as the body of an answer.
//!
//! Owns the order in which a connection gets its bytes: the opening at once, then events as they come, a heartbeat where none
//! comes, a word when the server ends. Invariants: the source is polled only when the connection takes more, so nothing
//! piles up; no event is ever told in part; whoever is let in no more is told no more: at
//! once after a sign-out or a revocation, after one heartbeat at most when the time is over.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use countersign_api::{Closing as Goodbye, Code, Problem};
use futures_core::Stream;
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::CancellationToken;

use super::asking::Asking;
use super::data::json;
use super::frame::{Frame, HEARTBEAT, OPENING};
use super::gzip::Coder;
use super::streams::Place;
use crate::app::App;
use crate::auth::Pass;
use crate::listen::Closing;
use crate::metrics::OpenStream;

/// So many bytes are handed on at once, and one event more.
const CHUNK: usize = 16 << 10;

/// A stream that may begin.
pub(crate) struct Opening {
    closing: BoxFuture<'static, ()>,
    heartbeat: Duration,
    takes_gzip: bool,
    goes_on: bool,
    pass: Pass,
    place: Place,
    open: OpenStream,
}

impl Opening {
    /// Takes a place for a stream of this kind.
    pub(crate) fn new(app: &App, asking: &Asking, kind: &'static str) -> Result<Self, Problem> {
        Ok(Self {
            place: app.streams.enter(&asking.caller)?,
            open: app.metrics.stream(kind),
            closing: Box::pin(ending(app.streams.closing(), asking.closing.clone())),
            heartbeat: app.streams.heartbeat(),
            takes_gzip: asking.takes_gzip,
            goes_on: asking.goes_on,
            pass: Pass::new(Arc::clone(&app.auth), asking.holder.as_ref()),
        })
    }

    /// The answer that tells these events.
    pub(crate) fn answer(self, frames: BoxStream<'static, Frame>) -> Response {
        let live = Live {
            frames: Some(frames),
            coder: Some(Coder::new(self.takes_gzip)),
            has_begun: false,
            goes_on: self.goes_on,
            lost: Box::pin(self.pass.clone().lost()),
            pass: self.pass,
            look: Box::pin(tokio::time::sleep(self.heartbeat)),
            closing: self.closing,
            beat: Box::pin(tokio::time::sleep(self.heartbeat)),
            every: self.heartbeat,
            _held: (self.place, self.open),
        };
        let mut response = Response::new(Body::from_stream(live));
        let headers = response.headers_mut();
        let mut put = |name, value| headers.insert(name, HeaderValue::from_static(value));
        put(header::CONTENT_TYPE, "text/event-stream");
        put(header::CACHE_CONTROL, "no-store");
        put(header::VARY, "accept-encoding");
        // Proxies that gather answers would keep events back.
        put(header::HeaderName::from_static("x-accel-buffering"), "no");
        if self.takes_gzip {
            put(header::CONTENT_ENCODING, "gzip");
        }
        response
    }
}

/// Returns when streams are to end, or the connection is.
async fn ending(streams: CancellationToken, connection: Option<Closing>) {
    match connection {
        Some(connection) => tokio::select! {
            () = streams.cancelled() => {}
            () = connection.closing() => {}
        },
        None => streams.cancelled().await,
    }
}

struct Live {
    /// None once it has ended.
    frames: Option<BoxStream<'static, Frame>>,
    /// None once its last byte is out.
    coder: Option<Coder>,
    has_begun: bool,
    goes_on: bool,
    pass: Pass,
    /// Ends when the pass is taken away.
    lost: BoxFuture<'static, ()>,
    /// When it is looked next whether the pass is still good.
    look: Pin<Box<Sleep>>,
    closing: BoxFuture<'static, ()>,
    beat: Pin<Box<Sleep>>,
    every: Duration,
    _held: (Place, OpenStream),
}

impl Live {
    /// What is there, as far as it fits.
    fn gather(&mut self, context: &mut Context<'_>) -> Vec<u8> {
        let mut chunk = Vec::new();
        while let Some(frames) = &mut self.frames
            && chunk.len() < CHUNK
        {
            match frames.as_mut().poll_next(context) {
                Poll::Ready(Some(frame)) => {
                    frame.write(&mut chunk);
                    if !self.goes_on && frame.name == "caught-up" {
                        self.frames = None;
                    }
                }
                Poll::Ready(None) => self.frames = None,
                Poll::Pending => break,
            }
        }
        chunk
    }

    /// What is said if it is to end now.
    fn last_word(&mut self, context: &mut Context<'_>) -> Option<Frame> {
        self.frames.as_ref()?;
        if self.closing.as_mut().poll(context).is_ready() {
            return Some(Frame::new("closing", None, json(&Goodbye {})));
        }
        if self.lost.as_mut().poll(context).is_ready() {
            return Some(shut_out());
        }
        while self.look.as_mut().poll(context).is_ready() {
            if !self.pass.is_good() {
                return Some(shut_out());
            }
            let next = Instant::now() + self.every;
            self.look.as_mut().reset(next);
        }
        None
    }

    /// What comes next, in plain.
    fn next(&mut self, context: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        if !std::mem::replace(&mut self.has_begun, true) {
            return Poll::Ready(Some(OPENING.to_vec()));
        }
        if let Some(last) = self.last_word(context) {
            self.frames = None;
            let mut bytes = Vec::new();
            last.write(&mut bytes);
            return Poll::Ready(Some(bytes));
        }
        let chunk = self.gather(context);
        if !chunk.is_empty() {
            return Poll::Ready(Some(chunk));
        }
        if self.frames.is_none() {
            return Poll::Ready(None);
        }
        ready!(self.beat.as_mut().poll(context));
        Poll::Ready(Some(HEARTBEAT.to_vec()))
    }
}

fn shut_out() -> Frame {
    let detail = "the token has expired or was revoked, or the page was signed out";
    let problem = Problem::new(Code::NotSignedIn, detail);
    Frame::new("problem", None, json(&problem))
}

impl Stream for Live {
    type Item = std::io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.coder.is_none() {
            return Poll::Ready(None);
        }
        let chunk = ready!(self.next(context));
        let beat = Instant::now() + self.every;
        self.beat.as_mut().reset(beat);
        let Some(coder) = &mut self.coder else {
            return Poll::Ready(None);
        };
        let coded = match chunk {
            Some(chunk) => coder.code(chunk),
            None => {
                let end = coder.end();
                self.coder = None;
                end
            }
        };
        match coded {
            Ok(bytes) if bytes.is_empty() => Poll::Ready(None),
            coded => Poll::Ready(Some(coded.map(Bytes::from))),
        }
    }
}
