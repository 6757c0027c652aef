//! From a working directory to the name of its project folder, as the CLI makes it.
//!
//! Pure but for [`real_path`]. The CLI's hash of long paths differs between its builds, so a long name is looked up
//! by what comes before the hash.

use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization as _;

/// Names longer than this are cut and a hash is added.
pub(super) const LONGEST: usize = 200;

/// The folder name for a path: composed (NFC), each UTF-16 unit that is no ASCII letter or digit as `-`; beyond 200
/// characters cut, with `-` and a hash of the whole.
pub fn project_key(path: &str) -> String {
    let composed: String = path.nfc().collect();
    let mut key = dashed(&composed);
    if key.len() > LONGEST {
        key.truncate(LONGEST);
        key.push('-');
        key.push_str(&base36(hash(&composed)));
    }
    key
}

/// The CLI's JavaScript sees UTF-16: a character beyond the first plane makes two dashes.
fn dashed(text: &str) -> String {
    let unit = |unit: u16| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() => char::from(byte),
        _ => '-',
    };
    text.encode_utf16().map(unit).collect()
}

fn hash(text: &str) -> u32 {
    let step = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(i32::from(unit));
    text.encode_utf16().fold(0, step).unsigned_abs()
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

/// Whether a folder of this name may be the one for `key`, whatever the hash.
pub(super) fn matches(name: &str, key: &str) -> bool {
    name == key
        || (key.len() > LONGEST
            && name.len() > LONGEST
            && name.as_bytes()[..=LONGEST] == key.as_bytes()[..=LONGEST])
}

/// The path without links, as the CLI sees its working directory; as given where it does not exist (any more).
pub(super) fn real_path(path: &Path) -> PathBuf {
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    // Windows answers with a prefix that no program prints.
    match real.to_str().and_then(|text| text.strip_prefix(r"\\?\")) {
        Some(plain) if !plain.starts_with("UNC") => PathBuf::from(plain),
        _ => real,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_but_letters_and_digits_becomes_a_dash() {
        assert_eq!(project_key("/srv/a_b/my.app 2"), "-srv-a-b-my-app-2");
        assert_eq!(project_key(r"C:\work\x"), "C--work-x");
    }

    #[test]
    fn characters_are_composed_and_then_counted_as_utf_16() {
        assert_eq!(project_key("/caf\u{e9}"), "-caf-");
        assert_eq!(project_key("/cafe\u{301}"), "-caf-");
        assert_eq!(project_key("/\u{1f980}x"), "---x");
    }

    #[test]
    fn a_long_path_is_cut_and_hashed() {
        let long = format!("/{}", "a".repeat(250));
        let key = project_key(&long);
        // Counted with the CLI's own formula in JavaScript.
        assert_eq!(key, format!("-{}-feo44x", "a".repeat(199)));
        assert_eq!(project_key(&format!("/{}", "a".repeat(199))).len(), 200);
    }

    #[test]
    fn a_long_key_matches_whatever_the_hash() {
        let long = project_key(&format!("/{}", "a".repeat(250)));
        let other_hash = format!("{}-zzz", &long[..200]);
        assert!(matches(&other_hash, &long));
        assert!(!matches(&long[..200], &long));
        assert!(!matches("-a-b-c", "-a-b"));
    }
}
