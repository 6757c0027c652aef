//! Connections that can be cut.
//!
//! Owns the listener and the byte stream under HTTP. A [`Link`] is the handle with which a response asks for its own
//! connection to be dropped. Invariant: a cut takes effect only once everything written before it was handed to the
//! kernel, so what a script says before `cut` is not lost in our buffers.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

const OPEN: u8 = 0;
const CLOSE: u8 = 1;
const RESET: u8 = 2;

/// Asks for the connection a request came on to be dropped.
#[derive(Debug, Clone, Default)]
pub(super) struct Link(Arc<AtomicU8>);

impl Link {
    /// Takes effect at the next flush.
    pub(super) fn cut(&self, reset: bool) {
        let state = if reset { RESET } else { CLOSE };
        self.0.store(state, Ordering::Release);
    }
}

/// A TCP listener whose connections carry a [`Link`].
#[derive(Debug)]
pub(super) struct CuttableListener(pub(super) TcpListener);

#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    link: Link,
}

impl Listener for CuttableListener {
    type Io = Connection;
    type Addr = std::net::SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, peer) = Listener::accept(&mut self.0).await;
        // Deltas are small and timed: they must not wait for one another.
        let _ = stream.set_nodelay(true);
        (
            Connection {
                stream,
                link: Link::default(),
            },
            peer,
        )
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.0.local_addr()
    }
}

impl Connected<IncomingStream<'_, CuttableListener>> for Link {
    fn connect_info(incoming: IncomingStream<'_, CuttableListener>) -> Self {
        incoming.io().link.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        match self.link.0.load(Ordering::Acquire) {
            OPEN => Poll::Ready(Ok(())),
            state => {
                if state == RESET {
                    self.stream.set_zero_linger()?;
                }
                Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()))
            }
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
