//! Which names of models are taken.
//!
//! Owns the check of a name that a person chose. Invariant: a name is refused only where nothing speaks for it: it is no
//! alias, no full id, none that a CLI has named, and none that the environment of the agent names.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::control::session::Setup;
use crate::control::{ControlError, Result};
use crate::desk;
use crate::host::Inner;
use crate::store::told;

/// Aliases that every CLI takes.
const ALIASES: [&str; 7] = [
    "default",
    "opus",
    "sonnet",
    "haiku",
    "opusplan",
    "opus[1m]",
    "sonnet[1m]",
];

/// Variables by which a person names models of their own, as for a gateway.
pub const VARIABLES: [&str; 6] = [
    "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "ANTHROPIC_CUSTOM_MODEL_OPTION",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
];

/// Refuses a model that nobody has named, for an agent with this setup.
///
/// # Errors
/// When the name is unknown, with those that are known; when the database fails.
pub(crate) async fn check(inner: &Inner, name: &str, setup: &Setup) -> Result<()> {
    let told = inner
        .store
        .read(|it| told::newest(it, told::MODELS))
        .await?;
    let values = told.items.iter().filter_map(|item| match item {
        Value::String(name) => Some(name.clone()),
        item => item["value"].as_str().map(str::to_owned),
    });
    let host = &inner.settings.agents;
    let variables = VARIABLES.iter().filter_map(|variable| {
        let value = desk::variable_of_agent(variable, setup, host)?;
        value.into_string().ok()
    });
    check_among(name, values.chain(variables))
}

/// Refuses a model that is no alias, no full id, and none of `named`.
///
/// # Errors
/// When the name is unknown, with those that are known.
pub fn check_among(name: &str, named: impl IntoIterator<Item = String>) -> Result<()> {
    let mut known: BTreeSet<String> = named.into_iter().filter(|name| !name.is_empty()).collect();
    known.extend(ALIASES.map(str::to_owned));
    if is_full_id(name) || known.contains(name) {
        return Ok(());
    }
    let known: Vec<String> = known.into_iter().collect();
    Err(ControlError::invalid(format!(
        "`{name}` is not a known model. Known: {}; or a full id such as claude-opus-5-5",
        known.join(", ")
    )))
}

/// Whether it is an id of one model, here or with a cloud provider.
fn is_full_id(name: &str) -> bool {
    let has_claude = name
        .split(['.', '/', ':'])
        .any(|part| part.starts_with("claude-"));
    has_claude || name.starts_with("arn:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_model_is_refused_and_the_known_ones_are_listed() {
        let refused = check_among("opsu", ["fable".to_owned()]).unwrap_err();
        let said = refused.to_string();
        assert!(said.contains("`opsu` is not a known model"), "{said}");
        assert!(said.contains("fable, haiku, opus"), "{said}");
        assert!(check_among("claude", []).is_err());
    }

    #[test]
    fn aliases_full_ids_and_what_a_cli_named_are_taken() {
        for name in [
            "sonnet",
            "opus[1m]",
            "claude-opus-4-1-20250805",
            "us.anthropic.claude-sonnet-4-20250514-v1:0",
            "arn:aws:bedrock:eu-west-1:1:application-inference-profile/x",
            "fable",
        ] {
            assert_eq!(check_among(name, ["fable".to_owned()]), Ok(()), "{name}");
        }
    }
}
