//! The security suite: one named test for each way in that must stay shut.
//!
//! Everything goes over real sockets to a server over a real host, as an attacker's bytes would. What each module owns is one
//! way in: tokens, pages of other sites, login links, the socket of this machine, agents, what is too much or too slow.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agents;
mod answers;
#[path = "../common/mod.rs"]
mod common;
mod leaks;
mod limits;
mod links;
mod logs;
mod markup;
mod masked;
mod odd;
mod own_shell;
mod paths;
mod reach;
mod server;
mod sites;
mod sockets;
mod speaker;
mod talk;
#[cfg(feature = "tls")]
mod tls;
mod tokens;
