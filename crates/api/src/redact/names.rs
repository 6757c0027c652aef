//! Which names and flags in a record give a secret away.
//!
//! The list of names is the client's, so that fields, flags and texts agree; here is only what a flag is.

pub(super) use countersign_client::names_a_secret;

/// Whether the word is a flag whose value is a secret: `--api-key`.
pub(super) fn is_secret_flag(word: &str) -> bool {
    word.strip_prefix("--")
        .is_some_and(|name| !name.contains(['=', ' ']) && names_a_secret(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_counts_by_its_name() {
        assert!(is_secret_flag("--api-key") && is_secret_flag("--auth-token"));
        assert!(!is_secret_flag("--max-tokens") && !is_secret_flag("token"));
        assert!(!is_secret_flag("--token=abc"));
    }
}
