//! The signature of a POST, and how a receiver checks it.
//!
//! Owns the form `t=<seconds>,v1=<hex>`: HMAC-SHA256 over `<seconds>.<body>`. The time is signed with the body, so that an
//! old message cannot be sent again; each try is signed anew. Pure.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The header it stands in.
pub const HEADER: &str = "Countersign-Signature";

/// Why a signature is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadSignature {
    /// It is not of this form.
    #[error("the signature is not of the form t=<seconds>,v1=<hex>")]
    Form,
    /// It is too old, or of the future.
    #[error("the signature was made more than {0} s away from now: compare the clocks")]
    Old(u64),
    /// It was made with another secret or over another body.
    #[error(
        "the signature does not fit: compare the secrets, and check the body as it came, byte for byte"
    )]
    Wrong,
}

/// The signature of `body` at that second of Unix time.
pub fn sign(secret: &[u8], seconds: u64, body: &[u8]) -> String {
    let code = code(secret, seconds, body).finalize().into_bytes();
    let mut text = format!("t={seconds},v1=");
    for byte in code {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

/// Whether a header holds a signature of `body` that was made at most `tolerance` seconds away from `now`. Further parts
/// of the header are passed over, so that a later form can stand beside this one.
///
/// # Errors
/// Why it does not.
pub fn verify(
    secret: &[u8],
    header: &str,
    body: &[u8],
    now: u64,
    tolerance: u64,
) -> Result<(), BadSignature> {
    let part = |name| {
        let mut parts = header
            .split(',')
            .filter_map(|part| part.trim().split_once('='));
        parts.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let seconds: u64 = part("t")
        .and_then(|text| text.parse().ok())
        .ok_or(BadSignature::Form)?;
    let code_there = part("v1").and_then(bytes).ok_or(BadSignature::Form)?;
    // Compared in a time that does not depend on where the two differ.
    code(secret, seconds, body)
        .verify_slice(&code_there)
        .map_err(|_| BadSignature::Wrong)?;
    if now.abs_diff(seconds) > tolerance {
        return Err(BadSignature::Old(tolerance));
    }
    Ok(())
}

fn code(secret: &[u8], seconds: u64, body: &[u8]) -> Hmac<Sha256> {
    // HMAC takes a key of any length: a long one is hashed, a short one is filled up.
    let mut code = <Hmac<Sha256> as KeyInit>::new_from_slice(secret)
        .unwrap_or_else(|_| unreachable!("HMAC takes a key of any length"));
    code.update(seconds.to_string().as_bytes());
    code.update(b".");
    code.update(body);
    code
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8] = b"0123456789abcdef";

    /// As any other program would make it:
    /// `printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac 0123456789abcdef`.
    #[test]
    fn it_is_what_every_other_program_makes_of_it() {
        let signed = sign(SECRET, 1_700_000_000, br#"{"a":1}"#);
        assert_eq!(signed, EXPECTED);
    }

    const EXPECTED: &str =
        "t=1700000000,v1=9eb18f493f8ec135d9eb2dad817c369bb4e9cbfa818657897a7437c1cd8c3a23";

    #[test]
    fn a_changed_body_time_or_secret_does_not_pass() {
        let header = sign(SECRET, 1_000, b"body");
        let check =
            |secret: &[u8], header: &str, body: &[u8], now| verify(secret, header, body, now, 300);
        assert_eq!(check(SECRET, &header, b"body", 1_200), Ok(()));
        assert_eq!(
            check(SECRET, &format!("v2=x, {header}"), b"body", 900),
            Ok(())
        );
        assert_eq!(
            check(SECRET, &header, b"bodY", 1_000),
            Err(BadSignature::Wrong)
        );
        assert_eq!(
            check(b"other", &header, b"body", 1_000),
            Err(BadSignature::Wrong)
        );
        let moved = header.replace("t=1000", "t=1001");
        assert_eq!(
            check(SECRET, &moved, b"body", 1_000),
            Err(BadSignature::Wrong)
        );
        assert_eq!(
            check(SECRET, &header, b"body", 1_301),
            Err(BadSignature::Old(300))
        );
        assert_eq!(
            check(SECRET, &header, b"body", 699),
            Err(BadSignature::Old(300))
        );
        for broken in [
            "",
            "t=1000",
            "v1=00",
            "t=x,v1=00",
            "t=1000,v1=zz",
            "t=1000,v1=é",
        ] {
            assert_eq!(
                check(SECRET, broken, b"body", 1_000),
                Err(BadSignature::Form),
                "{broken}"
            );
        }
    }
}
