//! Who is at the other end of a connection, as the system tells it.
//!
//! Owns [`Peer`], which stands in the extensions of every request, and [`Hand`], which finds out whose hand it is. Invariant: nothing in it was said by the peer itself.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use countersign_process::{Holder, Process, holder_of};
use tokio::sync::OnceCell;

/// Why nobody is let in over the socket of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Shut {
    /// Another user, or nobody knows which.
    #[error("this socket is for the user who started the server alone")]
    OtherUser,
    /// A process that an agent has started, or one of which it cannot be told.
    #[error(
        "what an agent has started may not speak for the person: decide in the page or in another terminal"
    )]
    FromAgent,
    /// Too many files are open for a look at who it is.
    #[error(
        "who is at the other end cannot be found out: the daemon has as many files open as it may"
    )]
    NoDescriptors,
}

/// The other end of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Peer(Kind);

#[derive(Debug, Clone, Copy)]
enum Kind {
    Tcp {
        remote: SocketAddr,
        local: SocketAddr,
        tls: bool,
    },
    Socket(Result<(), Shut>),
}

impl Peer {
    /// Somebody over the network, or over loopback.
    pub fn tcp(remote: SocketAddr, local: SocketAddr, tls: bool) -> Self {
        Self(Kind::Tcp { remote, local, tls })
    }

    /// Somebody on this machine, and whether it may speak for its user.
    pub fn socket(may: Result<(), Shut>) -> Self {
        Self(Kind::Socket(may))
    }

    /// Nobody knows: for requests that came over no connection.
    pub(crate) fn unknown() -> Self {
        let nowhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        Self::tcp(nowhere, nowhere, false)
    }

    /// Whether it came over the socket of this machine.
    pub fn is_socket(self) -> bool {
        matches!(self.0, Kind::Socket(_))
    }

    /// Whether it may speak for the user, by having come over the socket. None if it came over another.
    pub(crate) fn may(self) -> Option<Result<(), Shut>> {
        match self.0 {
            Kind::Socket(may) => Some(may),
            Kind::Tcp { .. } => None,
        }
    }

    /// Whether the connection is sealed.
    pub fn is_tls(self) -> bool {
        matches!(self.0, Kind::Tcp { tls: true, .. })
    }

    /// Where it comes from.
    pub(crate) fn remote(self) -> Option<SocketAddr> {
        match self.0 {
            Kind::Tcp { remote, .. } if remote.port() != 0 => Some(remote),
            _ => None,
        }
    }

    /// Where it comes from, without the port.
    pub(crate) fn address(self) -> Option<IpAddr> {
        self.remote().map(|remote| remote.ip().to_canonical())
    }

    /// The end that is ours.
    pub(crate) fn local(self) -> Option<SocketAddr> {
        match self.0 {
            Kind::Tcp { local, .. } => Some(local),
            Kind::Socket(_) => None,
        }
    }

    /// The address that was called. Behind a forwarded port it is not the one in the page's address.
    pub(crate) fn local_address(self) -> Option<IpAddr> {
        self.local().map(|local| local.ip().to_canonical())
    }

    /// The port that was called.
    pub(crate) fn port(self) -> u16 {
        self.local().map_or(0, |local| local.port())
    }
}

/// What somebody shows who would speak for the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The owner's token, which stands in a file that every process of the user can read.
    TokenFile,
    /// A cookie, or the code of a link.
    Browser,
}

/// Who holds the other end of a connection over TCP. Found out once, when somebody first asks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hand(Arc<OnceCell<Holder>>);

impl Hand {
    /// Lets a person in. An end on this machine of which nobody can be named does not count as a person's; one that a tunnel may
    /// hold does with what a browser shows, and not with what can be read in a file.
    ///
    /// # Errors
    /// If it is an agent's or may be, or if this process cannot look. The latter is asked again with the next request.
    pub(crate) async fn check_person(&self, peer: Peer, proof: Proof) -> Result<(), NotAPerson> {
        let (Some(theirs), Some(ours)) = (peer.remote(), peer.local()) else {
            return Ok(());
        };
        let look = || async move {
            let found = tokio::task::spawn_blocking(move || holder_of(theirs, ours)).await;
            found.map_err(io::Error::other)?
        };
        match self.0.get_or_try_init(look).await {
            Ok(Holder::Elsewhere | Holder::Person) => Ok(()),
            Ok(Holder::Unseen) => match proof {
                Proof::Browser => Ok(()),
                Proof::TokenFile => Err(NotAPerson::Unseen),
            },
            Ok(Holder::Agent(agent)) => Err(NotAPerson::Agent(agent.clone())),
            Ok(Holder::Hidden(agent)) => Err(NotAPerson::Hidden(agent.clone())),
            Ok(Holder::Unknown) => Err(NotAPerson::Unknown),
            Err(error) => Err(NotAPerson::NotSeen(error)),
        }
    }
}

/// Why whoever holds a connection is not taken for the person.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotAPerson {
    /// A process that comes from an agent has it open.
    #[error("what an agent has started may not speak for the person: {0} is an agent's process")]
    Agent(Process),
    /// Nobody shows it, and this one, which an agent has started, hides what it has open.
    #[error(
        "nobody can be seen to hold this connection, and {0}, which an agent has started, hides what it has open"
    )]
    Hidden(Process),
    /// Nobody shows it. A process of the person hides what it has open and may be the one, or an agent has hidden the end.
    #[error("nobody can be seen to hold this connection")]
    Unseen,
    /// Nobody on this machine can have it open.
    #[error("nobody on this machine can be seen to hold this connection")]
    Unknown,
    /// This process cannot look.
    #[error("who holds this connection cannot be found out: {0}")]
    NotSeen(#[source] io::Error),
}
