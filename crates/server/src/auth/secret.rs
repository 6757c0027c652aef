//! Secrets that are shown once, and what is kept of them.
//!
//! Owns [`Secret`] and [`Digest`]. Invariants: what is stored tells nothing of the secret; two digests are compared in one
//! function, in a time that does not depend on where they differ, and there is no `==` beside it; neither is ever printed.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use subtle::ConstantTimeEq as _;

/// How many random bytes a secret has.
const BYTES: usize = 32;

/// With what a token begins, so that scanners for lost secrets can know it.
const TOKEN: &str = "cs_";

/// The longest text that is looked at.
const LONGEST: usize = 256;

/// What a person or a program shows to be let in.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// A token of these random bytes.
    pub fn token(random: [u8; BYTES]) -> Self {
        Self(format!("{TOKEN}{}", hex(&random)))
    }

    /// A code or a cookie of these random bytes.
    pub fn plain(random: [u8; BYTES]) -> Self {
        Self(hex(&random))
    }

    /// The secret itself. Whoever asks for it shows it to somebody.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is kept of it.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.0).unwrap_or(Digest([0; BYTES]))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Bytes that nobody can guess.
///
/// # Errors
/// When the system has none.
pub(super) fn random() -> Result<[u8; BYTES], getrandom::Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

/// What is kept of a secret. A secret has 256 random bits, so a plain hash of it cannot be searched.
#[derive(Clone, Copy)]
pub struct Digest([u8; BYTES]);

impl Digest {
    /// The digest of what somebody has shown. None if it is so long that it is no secret of ours.
    pub fn of(shown: &str) -> Option<Self> {
        (shown.len() <= LONGEST).then(|| Self(*blake3::hash(shown.as_bytes()).as_bytes()))
    }

    /// Whether both are the same: the only comparison that there is.
    pub fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }

    /// The first of `all` that has this digest. Looks at every one, whether or not it was found.
    pub fn find<'a, T>(&self, all: &'a [T], digest: impl Fn(&T) -> &Self) -> Option<&'a T> {
        let mut found = None;
        for one in all {
            let is_it = self.is(digest(one));
            if is_it && found.is_none() {
                found = Some(one);
            }
        }
        found
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest(…)")
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let bytes = unhex(&text);
        bytes.map(Self).ok_or_else(|| {
            serde::de::Error::custom("a digest is 64 hex digits: restore the file or remove it")
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

fn unhex(text: &str) -> Option<[u8; BYTES]> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|digit| digit.to_digit(16).map(|digit| digit as u8))
        .collect();
    let digits = digits.filter(|digits| digits.len() == 2 * BYTES)?;
    let mut bytes = [0; BYTES];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = pair[0] << 4 | pair[1];
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_that_of_the_whole_secret_and_survives_being_stored() {
        let secret = Secret::token([7; BYTES]);
        assert!(secret.reveal().starts_with("cs_0707"));
        assert_eq!(secret.reveal().len(), 3 + 64);
        let kept = serde_json::to_string(&secret.digest()).unwrap();
        let kept: Digest = serde_json::from_str(&kept).unwrap();
        assert!(Digest::of(secret.reveal()).unwrap().is(&kept));
        for other in ["", "cs_", &secret.reveal()[3..], &secret.reveal()[..66]] {
            assert!(!Digest::of(other).unwrap().is(&kept), "{other}");
        }
        assert!(Digest::of(&"x".repeat(LONGEST + 1)).is_none());
        for bad in ["\"00\"", "\"\"", "7"] {
            assert!(serde_json::from_str::<Digest>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn nothing_of_a_secret_is_printed() {
        let secret = Secret::plain([0xab; BYTES]);
        let printed = format!("{secret:?} {:?}", secret.digest());
        assert!(!printed.contains("ab"), "{printed}");
    }

    /// Compiles only as long as a digest has no `==`: if it had, `which` would be ambiguous.
    #[test]
    fn digests_have_no_comparison_that_ends_early() {
        trait Which<A> {
            fn which() {}
        }
        impl<T> Which<()> for T {}
        struct Comparable;
        impl<T: PartialEq> Which<Comparable> for T {}
        <Digest as Which<_>>::which();
        <Secret as Which<_>>::which();
    }
}
