//! A client that asks and never reads.
//!
//! Owns [`Patient`], a connection on which a write that makes no headway fails after a while. Invariant: who takes something
//! now and then is never cut off; who takes nothing holds a place among the connections for a bounded time.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// A connection whose writes do not wait for ever.
pub(super) struct Patient<S> {
    stream: S,
    patience: Duration,
    /// Runs while something waits to be written.
    until: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            until: None,
        }
    }

    /// What became of a write; one that has waited too long has failed.
    fn waited<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.until = None;
            return written;
        }
        let deadline = Instant::now() + self.patience;
        let until = self
            .until
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        ready!(until.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.waited(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.waited(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.waited(flushed, cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.waited(shut, cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_takes_something_now_and_then_is_not_cut_off_and_who_takes_nothing_is() {
        let (near, mut far) = tokio::io::duplex(4);
        let mut patient = Patient::new(near, Duration::from_secs(60));
        let slow = async {
            let mut bytes = [0; 4];
            for _ in 0..8 {
                tokio::time::sleep(Duration::from_secs(50)).await;
                far.read_exact(&mut bytes).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(patient.write_all(&[7; 32]), slow);
        written.unwrap();
        let began = Instant::now();
        let error = patient.write_all(&[7; 32]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed(), Duration::from_secs(60));
    }
}
