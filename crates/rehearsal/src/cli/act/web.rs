//! `WebFetch` and `WebSearch`: there is no network here, so both report that nobody could be reached.
//!
//! Invariant: nothing is resolved and no socket is opened, whatever the address.

use serde_json::Value;

use super::ran::Ran;

/// What speaks against it before anybody is asked.
pub(super) fn check(tool: &str, input: &Value) -> Result<(), Ran> {
    let named = |key: &str| input[key].as_array().is_some_and(|list| !list.is_empty());
    if tool == "WebSearch" && named("allowed_domains") && named("blocked_domains") {
        let text =
            "Error: Cannot specify both allowed_domains and blocked_domains in the same request";
        return Err(Ran::refused(text));
    }
    Ok(())
}

/// Reports that it cannot be done.
pub(super) fn run(tool: &str, input: &Value) -> Ran {
    if tool == "WebSearch" {
        return Ran::failed("Connection error.");
    }
    let url = input["url"].as_str().unwrap_or_default();
    let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
    if !matches!(scheme, "http" | "https") {
        return Ran::failed(format!("Unsupported protocol {scheme}:"));
    }
    let authority = rest.trim_start_matches('/').split(['/', '?', '#']).next();
    let authority = authority.unwrap_or_default();
    let authority = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => (host, port),
        _ => (authority, if scheme == "http" { "80" } else { "443" }),
    };
    if !host.contains('.') && !host.starts_with('[') {
        return Ran::failed("WebFetch cannot fetch localhost or other hostnames without a dot.");
    }
    if host.parse::<std::net::IpAddr>().is_ok() {
        return Ran::failed(format!("connect ECONNREFUSED {host}:{port}"));
    }
    Ran::failed(format!("getaddrinfo ENOTFOUND {host}"))
}
