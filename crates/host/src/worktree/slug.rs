//! The names of branches and folders. Pure.
//!
//! Owns how a session's name becomes a slug. Invariant: a slug is one name of a folder and one part of a branch, whatever
//! it was made from: letters, digits and single dashes.

use crate::control::SessionId;

/// In front of every branch of ours.
pub const PREFIX: &str = "countersign/";

/// The longest slug, in bytes. With its number and the id in front it is far below what file systems take.
const LONGEST: usize = 48;

/// What a name becomes of which nothing is left.
const NAMELESS: &str = "session";

/// How many numbers are tried before a name counts as worn out.
pub(super) const MOST_NUMBERS: u32 = 99;

/// The slug of a name.
pub fn of(name: &str) -> String {
    let mut slug = String::new();
    for letter in name.chars() {
        if !letter.is_alphanumeric() {
            if !slug.is_empty() && !slug.ends_with('-') {
                slug.push('-');
            }
            continue;
        }
        let lower: String = letter
            .to_lowercase()
            .filter(|c| c.is_alphanumeric())
            .collect();
        if slug.len() + lower.len() > LONGEST {
            break;
        }
        slug.push_str(&lower);
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { NAMELESS } else { slug }.to_owned()
}

/// The slug with a number, from the second on.
pub(super) fn numbered(slug: &str, number: u32) -> String {
    if number < 2 {
        slug.to_owned()
    } else {
        format!("{slug}-{number}")
    }
}

/// The part of a session's id that tells it apart in the name of a folder: eight letters of its random end.
pub fn short(session: SessionId) -> String {
    let id = session.to_string().to_ascii_lowercase();
    id[id.len() - 8..].to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_become_slugs() {
        for (name, slug) in [
            ("Fix the login", "fix-the-login"),
            ("  a  --  b!!", "a-b"),
            ("../../etc/passwd", "etc-passwd"),
            ("x.lock", "x-lock"),
            ("größe İ", "größe-i"),
            ("ログイン修正", "ログイン修正"),
            ("-rf", "rf"),
            ("@{-1}~^:?*[\\", "1"),
            ("\n\0", "session"),
            ("", "session"),
        ] {
            assert_eq!(of(name), slug, "{name:?}");
        }
        assert_eq!(numbered("a", 1), "a");
        assert_eq!(numbered("a", 2), "a-2");
    }

    #[test]
    fn sessions_of_one_moment_have_other_folders() {
        let (one, other) = (SessionId::new(5_000, 1), SessionId::new(5_000, 2));
        assert_ne!(short(one), short(other));
        assert_eq!(short(one).len(), 8);
    }

    proptest! {
        #[test]
        fn every_name_gives_a_slug(name in ".*") {
            let slug = of(&name);
            prop_assert!(!slug.is_empty() && slug.len() <= LONGEST);
            prop_assert!(!slug.starts_with('-') && !slug.ends_with('-') && !slug.contains("--"));
            prop_assert!(slug.chars().all(|letter| letter.is_alphanumeric() || letter == '-'));
        }
    }
}
