//! A quick look, for the many texts in which there is nothing to find.
//!
//! Owns the words of which one stands in every text that holds something which looks like a secret. Invariant: whatever
//! `secrets_in` finds something in, or a name gives away, has one of them; otherwise the quick look would be a hole.

use std::sync::OnceLock;

use regex::Regex;

/// Names, beginnings, and `://` of addresses; whatever its case.
const HINTS: &str = "(?i)key|token|jwt|secret|pass|credential|auth|cookie|bearer|://|begin|sk-|[sr]k_|gh[pousr]_|github_pat_|akia|asia|agpa|aida|aroa|xox|glpat-|npm_|aiza|hf_|pypi-|eyj";

/// Whether something in this text may look like a secret. Escapes of JSON must be undone before.
pub fn may_look_like_one(text: &str) -> bool {
    static HINT: OnceLock<Option<Regex>> = OnceLock::new();
    let hint = HINT.get_or_init(|| Regex::new(HINTS).ok());
    hint.as_ref().is_none_or(|hint| hint.is_match(text))
}

#[cfg(test)]
mod tests {
    use countersign_client::{names_a_secret, secrets_in};
    use proptest::prelude::*;

    use super::*;

    /// Pieces of which texts with secrets are made, and others.
    fn piece() -> impl Strategy<Value = String> {
        let known = [
            "sk-ant-",
            "ghp_",
            "github_pat_",
            "AKIA",
            "xoxb-",
            "glpat-",
            "npm_",
            "AIza",
            "sk_live_",
            "hf_",
            "pypi-",
            "eyJ",
            "Bearer ",
            "Authorization: ",
            "://a:b@c",
            "API_KEY=",
            "--password ",
            "\"token\": \"",
            "-----BEGIN RSA PRIVATE ",
            "-----",
            "\n",
            " ",
            ".",
            "A1b2C3d4E5f6G7h8I9j0A1b2C3d4E5f6G7h8",
        ];
        prop_oneof![
            prop::sample::select(known.to_vec()).prop_map(str::to_owned),
            "[ -~]{0,12}",
        ]
    }

    proptest! {
        #[test]
        fn nothing_is_found_where_the_quick_look_sees_nothing(pieces in prop::collection::vec(piece(), 1..6)) {
            let text = pieces.concat();
            prop_assert!(secrets_in(&text).is_empty() || may_look_like_one(&text), "{text}");
        }

        #[test]
        fn every_name_of_a_secret_has_a_hint(name in "[a-zA-Z_.-]{0,6}(key|token|jwt|secret|pass(word|wd|phrase)?|credentials?|authorization|cookie)s?") {
            prop_assert!(!names_a_secret(&name) || may_look_like_one(&name), "{name}");
        }
    }

    #[test]
    fn plain_texts_are_passed_over() {
        assert!(!may_look_like_one("The tests ran, 12 of them, in 3 s."));
    }
}
