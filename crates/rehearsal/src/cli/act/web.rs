//! `WebFetch` and `WebSearch`: nothing here reaches another machine, so each reports that it cannot be done.

use serde_json::Value;

use super::ran::Ran;

/// Reports that it cannot be done.
pub(super) fn run(tool: &str, input: &Value) -> Ran {
    if tool == "WebSearch" {
        return Ran::failed("Connection error.");
    }
    let url = input["url"].as_str().unwrap_or_default();
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#', ':']).next().unwrap_or_default();
    Ran::failed(format!("getaddrinfo ENOTFOUND {host}"))
}
