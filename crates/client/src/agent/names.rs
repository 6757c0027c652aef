//! Names whose values are secrets: fields, variables, headers, flags, assignments in a text.
//!
//! The one list of them, for masks and for exports. Looks at the name alone. A name counts however its words are
//! joined: `apiKey`, `api-key`, `API_KEY`. Invariant: words that only contain such a word (`keyboard`) do not count.

/// What such a name ends with, as words joined by `_`.
const ENDS: [&str; 22] = [
    "api_key",
    "apikey",
    "access_key",
    "account_key",
    "auth_key",
    "encryption_key",
    "master_key",
    "private_key",
    "secret_key",
    "signing_key",
    "ssh_key",
    "token",
    "jwt",
    "secret",
    "password",
    "passwd",
    "pass",
    "passphrase",
    "credential",
    "credentials",
    "authorization",
    "cookie",
];

/// What a word in the name of a variable ends with if its value is a secret; an `S` may follow.
const IN_VARIABLES: [&str; 8] = [
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "PASS",
];

/// Words that end like one of them and are none.
const ORDINARY: [&str; 9] = [
    "MONKEY", "DONKEY", "TURKEY", "HOCKEY", "JOCKEY", "WHISKEY", "HOTKEY", "BYPASS", "COMPASS",
];

/// Words beside `TOKENS` that say that they are counted.
const COUNTED: [&str; 9] = [
    "MAX", "MIN", "NUM", "INPUT", "OUTPUT", "TOTAL", "THINKING", "CONTEXT", "LIMIT",
];

const LONGEST_NAME: usize = 128;

/// Whether what stands under this name is a secret: `apiKey`, `GH_TOKEN`, `db.password`, `DB_PASS`.
///
/// For whoever passes on what an agent said: the same names count in a field, a flag and an assignment.
pub fn names_a_secret(name: &str) -> bool {
    if name.len() > LONGEST_NAME {
        return false;
    }
    if is_variable(name) {
        return name.split('_').any(|word| is_secret_word(name, word));
    }
    let words = in_words(name);
    ENDS.iter().any(|end| {
        let before = words.strip_suffix(end);
        before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
    })
}

fn is_variable(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    name.len() > 2 && name.bytes().all(is_part)
}

fn is_secret_word(name: &str, word: &str) -> bool {
    if word == "TOKENS" && name.split('_').any(|other| COUNTED.contains(&other)) {
        return false;
    }
    // `KEY2` is one, too; `PASS` has its own S.
    let word = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
    [word, word.strip_suffix('S').unwrap_or(word)]
        .into_iter()
        .any(|word| !ORDINARY.contains(&word) && IN_VARIABLES.iter().any(|end| word.ends_with(end)))
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
            "DB_PASS",
            "dbPass",
            "SSHPASS",
            "API_KEYS",
            "SECRET_KEY_BASE",
            "KEY2",
            "secret-key",
            "MY_CREDENTIALS",
        ] {
            assert!(names_a_secret(name), "{name}");
        }
    }

    #[test]
    fn ordinary_names_do_not_count() {
        for name in [
            "apiKeySource",
            "input_tokens",
            "max_tokens",
            "tokens",
            "keyword",
            "keyboard",
            "KEYBOARD",
            "MONKEY",
            "BYPASS",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
            "text",
            "tool_use_id",
            "secretary",
            "monkey",
            "compass",
            "HOME",
            "PWD",
            "",
        ] {
            assert!(!names_a_secret(name), "{name}");
        }
    }
}
