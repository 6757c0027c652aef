//! The models behind the short names.
//!
//! Pure. Owns the aliases of 2.1.325; any other name is taken as it is.

/// The full name of a model; None for the usual one.
pub(in crate::cli) fn resolve(name: &str) -> Option<String> {
    let name = name.trim();
    let short = name.to_lowercase();
    let short = short.strip_suffix("[1m]").unwrap_or(&short);
    Some(match short {
        "" | "default" => return None,
        "opus" | "best" => "claude-opus-5-5".to_owned(),
        "sonnet" | "opusplan" => "claude-sonnet-5-5".to_owned(),
        "haiku" => "claude-haiku-5-5".to_owned(),
        "fable" => "claude-fable-5-2".to_owned(),
        _ => name.strip_suffix("[1m]").unwrap_or(name).to_owned(),
    })
}
