//! Where requests come from: TCP, TLS, the socket of this machine.
//!
//! Owns listeners, connections, their limits and their end. Invariants: what is not loopback is listened on only with TLS or
//! by an explicit word; a connection costs a bounded amount of memory and, while it says nothing, a bounded time; over the
//! socket nobody is kept out by connections over the network.

mod connection;
mod pace;
mod peer;
mod requests;
mod socket;
mod stall;
#[cfg(feature = "tls")]
mod tls;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::Router;
use countersign_process::DescriptorBudget;
use tokio::net::TcpListener;

pub use connection::Closing;
pub use pace::Pace;
pub(crate) use pace::watch as watch_pace;
pub(crate) use peer::{Hand, NotAPerson, Proof};
pub use peer::{Peer, Shut};
pub(crate) use requests::log;
#[cfg(feature = "tls")]
pub use tls::Identity;

use socket::Socket;

/// What a connection may cost.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// So many connections at once, over the network and over the socket each. More wait.
    pub connections: usize,
    /// The head of a request has to be here within this time, and the next one within this time after an answer.
    pub head: Duration,
    /// How large a head may be, in bytes.
    pub head_bytes: usize,
    /// How fast a body has to come.
    pub pace: Pace,
    /// Who takes nothing of an answer for so long is hung up on.
    pub stall: Duration,
    /// At the end, requests that are under way are given so long.
    pub goodbye: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1_024,
            head: Duration::from_secs(10),
            head_bytes: 64 * 1024,
            pace: Pace::default(),
            stall: Duration::from_secs(60),
            goodbye: Duration::from_secs(5),
        }
    }
}

impl Limits {
    /// These limits, with no more connections than leave most of the files that may be open to agents and the database.
    pub fn fitting(self, descriptors: u64) -> Self {
        let share = DescriptorBudget::of(descriptors).connections;
        Self {
            connections: self.connections.min(share),
            ..self
        }
    }
}

/// Why nothing is listened on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// Others on the network could read along.
    #[error(
        "{0} can be reached by other machines: add `--tls`, or `--insecure-listen` if something before it seals the connection"
    )]
    Unsealed(SocketAddr),
    /// The system refuses.
    #[error("cannot listen on {address} ({source}): {}", next_step(source))]
    Address {
        /// Where.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The socket of this machine.
    #[error("cannot listen on {} ({source})", path.display())]
    Socket {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another server listens there.
    #[error("another server listens on {}: use that one, or name another data folder", path.display())]
    Taken {
        /// Where.
        path: PathBuf,
    },
    /// The certificate or its key.
    #[error("the certificate in {} cannot be used ({why}): mend it, or remove both files to have a new one made", path.display())]
    Certificate {
        /// Where.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

fn next_step(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "another program listens there; choose another port with `--listen`"
        }
        io::ErrorKind::PermissionDenied => "choose a port above 1023 with `--listen`",
        io::ErrorKind::AddrNotAvailable => "this machine has no such address; name one it has",
        _ => "choose another address with `--listen`",
    }
}

/// Somewhere that is listened on.
#[derive(Debug)]
pub struct Listener(Kind);

#[derive(Debug)]
enum Kind {
    Tcp(TcpListener),
    #[cfg(feature = "tls")]
    Tls(TcpListener, Identity),
    Unix(Socket),
}

impl Listener {
    /// Where a browser finds it. None for the socket.
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.0 {
            Kind::Tcp(listener) => listener.local_addr().ok(),
            #[cfg(feature = "tls")]
            Kind::Tls(listener, _) => listener.local_addr().ok(),
            Kind::Unix(_) => None,
        }
    }

    /// The file of the socket.
    pub fn path(&self) -> Option<&Path> {
        match &self.0 {
            Kind::Unix(socket) => Some(socket.path()),
            _ => None,
        }
    }

    /// What addresses begin with.
    pub fn scheme(&self) -> &'static str {
        match &self.0 {
            #[cfg(feature = "tls")]
            Kind::Tls(..) => "https",
            _ => "http",
        }
    }
}

/// Listens without TLS. Beyond loopback only if `insecure`.
///
/// # Errors
/// When others could read along, or the system refuses.
pub async fn tcp(address: SocketAddr, insecure: bool) -> Result<Listener, ListenError> {
    if !address.ip().to_canonical().is_loopback() && !insecure {
        return Err(ListenError::Unsealed(address));
    }
    Ok(Listener(Kind::Tcp(bind(address).await?)))
}

/// Listens with TLS.
///
/// # Errors
/// When the system refuses.
#[cfg(feature = "tls")]
pub async fn tls(address: SocketAddr, identity: Identity) -> Result<Listener, ListenError> {
    Ok(Listener(Kind::Tls(bind(address).await?, identity)))
}

/// Listens for tools of this machine.
///
/// # Errors
/// When the folder is not this user's alone, or another server listens there.
pub fn unix(path: &Path) -> Result<Listener, ListenError> {
    Ok(Listener(Kind::Unix(Socket::bind(path)?)))
}

async fn bind(address: SocketAddr) -> Result<TcpListener, ListenError> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|source| ListenError::Address { address, source })
}

/// Serves until `shutdown`, with the usual limits.
pub async fn serve_on(
    listeners: Vec<Listener>,
    router: Router,
    shutdown: impl Future<Output = ()>,
) {
    let limits = Limits::default().fitting(countersign_process::descriptor_limit());
    run(listeners, router, limits, shutdown).await;
}

/// Serves until `shutdown`; then nobody new is let in, streams are told, and requests are given a moment.
pub async fn run(
    listeners: Vec<Listener>,
    router: Router,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) {
    let all = connection::Connections::new(router, limits);
    let mut accepting = tokio::task::JoinSet::new();
    for listener in listeners {
        accepting.spawn(all.clone().accept(listener));
    }
    shutdown.await;
    accepting.shutdown().await;
    all.close().await;
}

#[cfg(test)]
mod tests {
    use super::Limits;

    #[test]
    fn connections_fit_into_the_files_that_may_be_open_and_are_never_none() {
        let usual = Limits::default();
        let fitting = |descriptors: u64| usual.fitting(descriptors).connections;
        assert_eq!(fitting(0), 16);
        assert_eq!(fitting(1_024), 80);
        assert_eq!(fitting(4_096), 336);
        assert_eq!(fitting(u64::MAX), usual.connections);
        let narrow = Limits {
            connections: 4,
            ..usual
        };
        assert_eq!(narrow.fitting(u64::MAX).connections, 4);
    }
}
