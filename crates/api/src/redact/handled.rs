//! The secrets that a session is entrusted with: variables, and what its MCP servers are started or called with.
//!
//! Owns which parts of a setup are secrets. Invariant: too much rather than too little: every variable that names one, every
//! header.

use countersign_client::names_a_secret;
use serde_json::Value;

use crate::control::session::Setup;

/// The values of a setup that must not be shown.
pub fn handled(setup: &Setup) -> Vec<String> {
    let named = |name: &str| names_a_secret(name) || names_a_secret(&name.to_ascii_uppercase());
    let mut values: Vec<String> = setup
        .env
        .iter()
        .filter(|(name, _)| named(name))
        .map(|(_, value)| value.clone())
        .collect();
    for server in setup.mcp_servers.values() {
        let texts = |part: &str| {
            let part = server.get(part).and_then(Value::as_object);
            part.into_iter().flatten()
        };
        let headers = texts("headers").filter_map(|(_, value)| value.as_str());
        let env = texts("env").filter(|(name, _)| named(name));
        let env = env.filter_map(|(_, value)| value.as_str());
        values.extend(headers.chain(env).map(bare));
    }
    values
}

/// Without the word in front of it that is no secret.
fn bare(value: &str) -> String {
    let words = ["Bearer ", "bearer ", "Basic ", "basic "];
    let bare = words.iter().find_map(|word| value.strip_prefix(word));
    bare.unwrap_or(value).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn variables_by_their_name_and_every_header() {
        let mut setup = Setup::default();
        setup.env.insert("API_KEY".to_owned(), "one".to_owned());
        setup.env.insert("LANG".to_owned(), "C".to_owned());
        let server = json!({"headers": {"X-Anything": "Bearer two"}, "env": {"gh_token": "three", "HOME": "/x"}});
        setup.mcp_servers.insert("tracker".to_owned(), server);
        assert_eq!(handled(&setup), ["one", "two", "three"]);
    }
}
