//! Who may speak to a keeper: this user, with the token, and nobody that an agent has started.
//!
//! Owns the three questions. Honest limit: agent, keeper and host are one user; whoever may read the host's memory has the
//! token. What is kept out is an agent's shell that finds the socket and answers its own question.

use std::io;
use std::os::unix::net::UnixStream;

use crate::protocol::Refusal;

/// Whoever is at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) uid: u32,
    /// None if it lives among other process ids, where nothing can be found out.
    pub(crate) pid: Option<u32>,
}

/// Asks the system; what it says cannot be made up by the peer.
#[cfg(target_os = "linux")]
pub(crate) fn peer(stream: &UnixStream) -> io::Result<Peer> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    let pid = peer.pid.as_raw_pid().unsigned_abs();
    Ok(Peer {
        uid: peer.uid.as_raw(),
        pid: (pid != 0).then_some(pid),
    })
}

/// Nothing can be found out, so nobody is let in.
#[cfg(not(target_os = "linux"))]
pub(crate) fn peer(_: &UnixStream) -> io::Result<Peer> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Whether this peer may say hello. `is_agents` tells whether a process comes from this agent or another; what it
/// cannot tell counts against the peer. (So does a `/proc` that hides the processes of others, `hidepid=2`: the parents of
/// a host are then not to be seen.)
pub(crate) fn admit(
    peer: Peer,
    uid: u32,
    is_agents: impl FnOnce(u32) -> Option<bool>,
) -> Result<(), Refusal> {
    let is_stranger = peer.uid == uid && peer.pid.and_then(is_agents) == Some(false);
    is_stranger.then_some(()).ok_or(Refusal::Peer)
}

/// Whether both are the same, in a time that does not tell where they differ.
pub(crate) fn is_same_secret(one: &str, other: &str) -> bool {
    if one.is_empty() || one.len() != other.len() {
        return false;
    }
    let differing = one
        .bytes()
        .zip(other.bytes())
        .fold(0, |seen, (one, other)| {
            std::hint::black_box(seen | (one ^ other))
        });
    differing == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_user_and_nobody_from_the_agent_is_let_in() {
        let peer = |uid, pid| Peer { uid, pid };
        for (peer, descends, is_in) in [
            (peer(7, Some(1)), Some(false), true),
            (peer(7, Some(1)), Some(true), false),
            (peer(7, Some(1)), None, false),
            (peer(8, Some(1)), Some(false), false),
            (peer(0, Some(1)), Some(false), false),
            (peer(7, None), Some(false), false),
        ] {
            assert_eq!(
                admit(peer, 7, |_| descends).is_ok(),
                is_in,
                "{peer:?} {descends:?}"
            );
        }
    }

    #[test]
    fn only_the_whole_secret_is_the_secret() {
        assert!(is_same_secret("abc", "abc"));
        for other in ["", "ab", "abd", "abcd", "Abc"] {
            assert!(!is_same_secret("abc", other), "{other}");
        }
        assert!(!is_same_secret("", ""));
    }
}
