//! Whether a request is meant for this server, and comes from its own page or from no page at all.
//!
//! Owns the rules on `Host`, `Origin` and `Sec-Fetch-Site`. Pure. Invariants: a name that somebody else's DNS can lead here
//! is not answered to; a request that says it comes from another page is refused, whatever it carries.

use std::net::{IpAddr, Ipv6Addr};

use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};

use crate::listen::Peer;

/// The names under which a server answers, beside its addresses and `localhost`.
#[derive(Debug, Clone, Default)]
pub struct Hosts(Vec<String>);

impl Hosts {
    /// A name as a person writes it, as it stands in a request: `box.example`, `box.example:4779`, an address.
    ///
    /// # Errors
    /// When it is no name, but an address of a page, or nothing.
    pub fn name(text: &str) -> Result<String, String> {
        let text = match text.parse::<Ipv6Addr>() {
            Ok(address) => format!("[{address}]"),
            Err(_) => text.to_owned(),
        };
        let is_name = |it: &Authority| !it.host().is_empty() && !it.as_str().contains('@');
        match text.parse::<Authority>().ok().filter(is_name) {
            Some(_) => Ok(text),
            None => Err("write a name alone, such as box.example, or an address".to_owned()),
        }
    }

    /// These names, with or without a port (which is not looked at).
    pub fn new<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> Self {
        let names = names.into_iter().filter_map(|name| {
            let authority: Authority = name.as_ref().parse().ok()?;
            Some(authority.host().to_ascii_lowercase())
        });
        Self(names.collect())
    }

    fn has(&self, host: &str, peer: Peer) -> bool {
        if host.eq_ignore_ascii_case("localhost") {
            return true;
        }
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        match bare.unwrap_or(host).parse::<IpAddr>() {
            // An address cannot be led elsewhere; still only the one that was really called is ours.
            Ok(address) if address.is_loopback() => true,
            Ok(address) if Some(address) == peer.local_address() => true,
            _ => self.0.iter().any(|name| name.eq_ignore_ascii_case(host)),
        }
    }
}

/// Why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Foreign {
    /// It names no host, or several.
    NoHost,
    /// It names another host.
    Host,
    /// It comes from the page of another site.
    Origin,
}

/// Whether the request names this server. Over the socket of this machine every name will do: no page comes that way.
pub(super) fn check_host(
    hosts: &Hosts,
    headers: &HeaderMap,
    uri: &Uri,
    peer: Peer,
) -> Result<(), Foreign> {
    if peer.is_socket() {
        return Ok(());
    }
    let named = host(headers).ok_or(Foreign::NoHost)?;
    let is_ours = |authority: &Authority| hosts.has(authority.host(), peer);
    if is_ours(&named) && uri.authority().is_none_or(is_ours) {
        Ok(())
    } else {
        Err(Foreign::Host)
    }
}

/// Whether the request comes from a page of ours, or from no page. `needs_proof`: it is a write that a browser sent with
/// its cookie, so it has to show where it comes from.
pub(super) fn check_origin(
    headers: &HeaderMap,
    peer: Peer,
    needs_proof: bool,
) -> Result<(), Foreign> {
    let site = text(headers, "sec-fetch-site");
    // Pages cannot set this one, so it also tells a form of our own, whose `Origin` some browsers leave out or make `null`.
    let is_same = site == Some("same-origin");
    let is_other_page = matches!(site, Some("cross-site" | "same-site"));
    let origins = headers.get_all(header::ORIGIN).iter().count();
    match text(headers, "origin") {
        None if origins > 0 => Err(Foreign::Origin),
        Some("null") if is_same && origins == 1 => Ok(()),
        Some(origin) if origins == 1 && is_own(origin, headers, peer) && !is_other_page => Ok(()),
        Some(_) => Err(Foreign::Origin),
        None if needs_proof && !is_same => Err(Foreign::Origin),
        None => Ok(()),
    }
}

/// Whether a page of another site asks for something to show or to run within itself. A link that somebody follows is none.
pub(crate) fn is_embedded_elsewhere(headers: &HeaderMap) -> bool {
    let is_other = matches!(
        text(headers, "sec-fetch-site"),
        Some("cross-site" | "same-site")
    );
    let is_page = text(headers, "sec-fetch-mode") == Some("navigate")
        && text(headers, "sec-fetch-dest").is_none_or(|what| what == "document");
    is_other && !is_page
}

/// Whether the request names this machine as one that sits before it does, so that nobody else has seen its address.
pub(crate) fn is_this_machine(headers: &HeaderMap) -> bool {
    let Some(named) = host(headers) else {
        return false;
    };
    let host = named.host().trim_start_matches('[').trim_end_matches(']');
    let is_loopback = host
        .parse::<IpAddr>()
        .is_ok_and(|address| address.is_loopback());
    is_loopback || host.eq_ignore_ascii_case("localhost")
}

/// The host that the request names.
fn host(headers: &HeaderMap) -> Option<Authority> {
    let mut all = headers.get_all(header::HOST).iter();
    let only = all.next().filter(|_| all.next().is_none())?;
    let named: Authority = only.to_str().ok()?.parse().ok()?;
    (!named.as_str().contains('@')).then_some(named)
}

/// An origin of ours has the host that the request names. A proxy before us may add TLS, never take it away.
fn is_own(origin: &str, headers: &HeaderMap, peer: Peer) -> bool {
    let Some((scheme, authority)) = origin.split_once("://") else {
        return false;
    };
    let is_scheme = scheme == "https" || (scheme == "http" && !peer.is_tls());
    let host = host(headers);
    is_scheme && host.is_some_and(|host| host.as_str().eq_ignore_ascii_case(authority))
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests;
