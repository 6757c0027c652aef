//! The cookie of a page.
//!
//! Owns its name and its flags. A cookie belongs to a host and not to a port, so the port stands in its name: two servers of
//! one machine do not sign each other's pages out. Invariant: no script reads it, no other site sends it.

use axum::http::{HeaderMap, HeaderValue, header};

use super::Secret;
use super::book::LOGIN_LASTS;
use crate::clock::SECOND;
use crate::listen::Peer;

/// The name for those who come over this connection. The prefix is a promise that browsers hold us to, with TLS only.
fn name(peer: Peer) -> String {
    let prefix = if peer.is_tls() { "__Host-" } else { "" };
    format!("{prefix}countersign-{}", peer.port())
}

/// What the request shows.
pub(crate) fn shown(headers: &HeaderMap, peer: Peer) -> Option<&str> {
    let name = name(peer);
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

/// The header that sets it.
pub(crate) fn set(cookie: &Secret, peer: Peer) -> Option<HeaderValue> {
    let seconds = LOGIN_LASTS / SECOND;
    line(cookie.reveal(), seconds, peer)
}

/// The header that removes it.
pub(crate) fn forget(peer: Peer) -> Option<HeaderValue> {
    line("", 0, peer)
}

fn line(value: &str, seconds: u64, peer: Peer) -> Option<HeaderValue> {
    let secure = if peer.is_tls() { "; Secure" } else { "" };
    let name = name(peer);
    let line =
        format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    let mut line = HeaderValue::try_from(line).ok()?;
    line.set_sensitive(true);
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(tls: bool) -> Peer {
        Peer::tcp(
            "127.0.0.1:1".parse().unwrap(),
            "127.0.0.1:4779".parse().unwrap(),
            tls,
        )
    }

    #[test]
    fn only_the_cookie_of_this_name_counts() {
        let mut headers = HeaderMap::new();
        let lines = [
            "a=1; countersign-4778=no; xcountersign-4779=no",
            "b=2;countersign-4779=yes",
        ];
        for line in lines {
            headers.append(header::COOKIE, HeaderValue::from_static(line));
        }
        assert_eq!(shown(&headers, peer(false)), Some("yes"));
        assert_eq!(shown(&headers, peer(true)), None);
    }

    #[test]
    fn no_script_reads_it_and_no_other_site_sends_it() {
        let secret = Secret::plain([1; 32]);
        let plain = set(&secret, peer(false)).unwrap();
        let plain = plain.to_str().unwrap();
        for flag in [
            "; Path=/",
            "; HttpOnly",
            "; SameSite=Strict",
            "; Max-Age=2592000",
        ] {
            assert!(plain.contains(flag), "{plain}");
        }
        assert!(
            !plain.contains("Secure") && !plain.contains("Domain"),
            "{plain}"
        );
        let tls = set(&secret, peer(true)).unwrap();
        assert!(tls.is_sensitive());
        let tls = tls.to_str().unwrap();
        assert!(
            tls.starts_with("__Host-") && tls.ends_with("; Secure"),
            "{tls}"
        );
        let gone = forget(peer(false)).unwrap();
        assert!(gone.to_str().unwrap().contains("=; Path=/; Max-Age=0"));
    }
}
