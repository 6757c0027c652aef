//! Connections: let in, served, and ended together.
//!
//! Owns the loop of a listener and what each connection is served with. Invariants: there are never more than the limit;
//! when the server ends, none is left.

use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tower::ServiceExt as _;

use super::peer::{Hand, Peer};
use super::socket::{self, Socket};
use super::stall::Patient;
use super::{Kind, Limits, Listener};

/// How long nobody is let in when the system has no room for another connection.
const DEAF: Duration = Duration::from_millis(200);

/// The least that a connection can do with, in bytes.
const LEAST_BUFFER: usize = 8 * 1024;

/// Tells that the server is about to end. Stands in the extensions of every request that came over a connection.
#[derive(Debug, Clone)]
pub struct Closing(watch::Receiver<bool>);

impl Closing {
    /// Returns when the server is about to end.
    pub async fn closing(mut self) {
        // A sender that is gone has ended, too.
        let _ = self.0.wait_for(|is_closing| *is_closing).await;
    }

    /// Whether the server is about to end.
    pub fn is_closing(&self) -> bool {
        *self.0.borrow()
    }
}

/// All connections of a server.
#[derive(Debug, Clone)]
pub(super) struct Connections {
    router: Router,
    limits: Limits,
    closing: watch::Sender<bool>,
    open: Arc<Mutex<JoinSet<()>>>,
}

impl Connections {
    pub(super) fn new(router: Router, limits: Limits) -> Self {
        Self {
            router,
            limits,
            closing: watch::Sender::new(false),
            open: Arc::default(),
        }
    }

    /// Lets in whoever comes, as long as there is room.
    pub(super) async fn accept(self, listener: Listener) {
        let room = Arc::new(Semaphore::new(self.limits.connections));
        loop {
            let Ok(permit) = Arc::clone(&room).acquire_owned().await else {
                return;
            };
            let accepted = match &listener.0 {
                Kind::Tcp(listener) => self.let_in_tcp(listener, permit).await,
                #[cfg(feature = "tls")]
                Kind::Tls(listener, identity) => self.let_in_tls(listener, identity, permit).await,
                Kind::Unix(socket) => self.let_in_socket(socket, permit).await,
            };
            if let Err(error) = accepted {
                self.on_error(&error).await;
            }
        }
    }

    async fn on_error(&self, error: &io::Error) {
        use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
        if !matches!(
            error.kind(),
            ConnectionAborted | ConnectionReset | Interrupted
        ) {
            tracing::warn!(%error, "cannot let anybody in for a moment");
            tokio::time::sleep(DEAF).await;
        }
    }

    async fn let_in_tcp(
        &self,
        listener: &TcpListener,
        permit: OwnedSemaphorePermit,
    ) -> io::Result<()> {
        let (stream, peer) = tcp(listener, false).await?;
        self.spawn(permit, self.clone().serve(stream, peer));
        Ok(())
    }

    #[cfg(feature = "tls")]
    async fn let_in_tls(
        &self,
        listener: &TcpListener,
        identity: &super::Identity,
        permit: OwnedSemaphorePermit,
    ) -> io::Result<()> {
        let (stream, peer) = tcp(listener, true).await?;
        let (all, acceptor) = (self.clone(), identity.acceptor());
        self.spawn(permit, async move {
            let sealed = tokio::time::timeout(all.limits.head, acceptor.accept(stream));
            if let Ok(Ok(stream)) = sealed.await {
                all.serve(stream, peer).await;
            }
        });
        Ok(())
    }

    async fn let_in_socket(&self, socket: &Socket, permit: OwnedSemaphorePermit) -> io::Result<()> {
        let stream = socket.accept().await?;
        let (all, cred) = (self.clone(), stream.peer_cred());
        self.spawn(permit, async move {
            let peer = tokio::task::spawn_blocking(move || socket::peer(cred));
            if let Ok(peer) = peer.await {
                all.serve(stream, peer).await;
            }
        });
        Ok(())
    }

    fn spawn(
        &self,
        permit: OwnedSemaphorePermit,
        connection: impl Future<Output = ()> + Send + 'static,
    ) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while open.try_join_next().is_some() {}
        open.spawn(async move {
            connection.await;
            drop(permit);
        });
    }

    async fn serve(self, stream: impl AsyncRead + AsyncWrite + Unpin + 'static, peer: Peer) {
        let closing = Closing(self.closing.subscribe());
        let told = closing.clone();
        let (router, pace, hand) = (self.router, self.limits.pace, Hand::default());
        let service = service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(Body::new);
            let extensions = request.extensions_mut();
            extensions.insert(peer);
            extensions.insert(pace);
            extensions.insert(hand.clone());
            extensions.insert(told.clone());
            let router = router.clone();
            async move {
                Ok::<_, Infallible>(
                    router
                        .oneshot(request)
                        .await
                        .unwrap_or_else(|never| match never {}),
                )
            }
        });
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.head)
            .max_header_size(self.limits.head_bytes)
            // What waits for a client that does not read is held, too.
            .max_buf_size(self.limits.head_bytes.max(LEAST_BUFFER));
        let stream = Patient::new(stream, self.limits.stall);
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        tokio::pin!(connection);
        tokio::select! {
            ended = connection.as_mut() => return log(ended),
            () = closing.closing() => connection.as_mut().graceful_shutdown(),
        }
        log(connection.await);
    }

    /// Ends all of them: by themselves if they can.
    pub(super) async fn close(self) {
        self.closing.send_replace(true);
        let mut open = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *open)
        };
        let all = async { while open.join_next().await.is_some() {} };
        if tokio::time::timeout(self.limits.goodbye, all)
            .await
            .is_err()
        {
            tracing::info!("connections that did not end by themselves are cut");
            open.shutdown().await;
        }
    }
}

async fn tcp(listener: &TcpListener, tls: bool) -> io::Result<(TcpStream, Peer)> {
    let (stream, remote) = listener.accept().await?;
    stream.set_nodelay(true)?;
    let local = stream.local_addr()?;
    Ok((stream, Peer::tcp(remote, local, tls)))
}

/// A peer that goes away, is too slow or does not speak HTTP is no fault of ours.
fn log(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}
