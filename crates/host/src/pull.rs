//! Streams that read only when they are read.
//!
//! Owns [`Pulled`]: a source that is asked for its next batch when somebody wants more and nothing is left of the last one.
//! Nothing runs beside it. Invariant: whoever does not read costs the rest of one batch.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use futures_core::future::BoxFuture;
use tokio::sync::Semaphore;

/// So many looks at journals run at once, for all readers together; others wait their turn.
static LOOKS: Semaphore = Semaphore::const_new(8);

/// Looks at a journal on a thread that may wait. None if the host is about to end.
pub(crate) async fn look<T: Send + 'static>(
    look: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let _turn = LOOKS.acquire().await.ok()?;
    tokio::task::spawn_blocking(look).await.ok()
}

/// A look that is under way: the source again unless it is at its end, and what was found.
pub(crate) type Looking<S> = BoxFuture<'static, (Option<S>, Vec<<S as Source>::Item>)>;

/// What is read from.
pub(crate) trait Source: Send + Sized + Unpin + 'static {
    /// What it gives.
    type Item: Send + Unpin + 'static;

    /// The next of it, once there is some, and the source again unless it is at its end. Never empty but at the end, or where
    /// it is worth another look.
    fn next(self) -> Looking<Self>;
}

/// A source as a stream.
pub(crate) struct Pulled<S: Source> {
    waiting: VecDeque<S::Item>,
    source: Option<S>,
    looking: Option<Looking<S>>,
}

impl<S: Source> Pulled<S> {
    pub(crate) fn new(source: S) -> Self {
        Self {
            waiting: VecDeque::new(),
            source: Some(source),
            looking: None,
        }
    }
}

impl<S: Source> Stream for Pulled<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        loop {
            if let Some(item) = self.waiting.pop_front() {
                return Poll::Ready(Some(item));
            }
            if self.looking.is_none() {
                match self.source.take() {
                    Some(source) => self.looking = Some(source.next()),
                    None => return Poll::Ready(None),
                }
            }
            let Some(looking) = &mut self.looking else {
                return Poll::Ready(None);
            };
            let (source, items) = ready!(looking.as_mut().poll(context));
            self.looking = None;
            self.source = source;
            self.waiting = items.into();
        }
    }
}
