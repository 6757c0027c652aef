//! Names whose values are secrets: fields, variables, headers, flags.
//!
//! Looks at the name alone. A name counts however its words are joined: `apiKey`, `api-key`, `API_KEY`.

/// What such a name ends with, as words joined by `_`.
const ENDS: [&str; 13] = [
    "api_key",
    "apikey",
    "access_key",
    "private_key",
    "signing_key",
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "credential",
    "authorization",
    "cookie",
];

/// Words in the name of a variable that make its value a secret.
const IN_VARIABLES: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];

/// Whether what stands under this name is a secret.
pub(super) fn names_a_secret(name: &str) -> bool {
    if name.len() > 128 {
        return false;
    }
    if is_variable(name) {
        return IN_VARIABLES.iter().any(|word| name.contains(word));
    }
    let words = in_words(name);
    ENDS.iter().any(|end| {
        let before = words.strip_suffix(end);
        before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
    })
}

/// Whether the word is a flag whose value is a secret: `--api-key`.
pub(super) fn is_secret_flag(word: &str) -> bool {
    word.strip_prefix("--")
        .is_some_and(|name| !name.contains(['=', ' ']) && names_a_secret(name))
}

fn is_variable(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    name.len() > 2 && name.bytes().all(is_part)
}

/// `apiKey` and `Api-Key` as `api_key`.
fn in_words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 4);
    let mut after_small = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && after_small {
            words.push('_');
        }
        after_small = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        match letter {
            '-' | '.' | ' ' => words.push('_'),
            letter => words.push(letter.to_ascii_lowercase()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_counts_however_its_words_are_joined() {
        for name in [
            "apiKey",
            "api-key",
            "X-Api-Key",
            "ANTHROPIC_API_KEY",
            "GH_TOKEN",
            "accessToken",
            "token",
            "client_secret",
            "db.password",
            "Authorization",
            "Set-Cookie",
            "passphrase",
        ] {
            assert!(names_a_secret(name), "{name}");
        }
        assert!(is_secret_flag("--api-key") && is_secret_flag("--auth-token"));
    }

    #[test]
    fn ordinary_names_do_not_count() {
        for name in [
            "apiKeySource",
            "input_tokens",
            "max_tokens",
            "tokens",
            "keyword",
            "text",
            "tool_use_id",
            "secretary",
            "monkey",
            "HOME",
            "",
        ] {
            assert!(!names_a_secret(name), "{name}");
        }
        assert!(!is_secret_flag("--max-tokens") && !is_secret_flag("token"));
        assert!(!is_secret_flag("--token=abc"));
    }
}
