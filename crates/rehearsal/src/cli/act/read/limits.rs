//! How much of a file may be read at once, in bytes and in what they are taken to cost. Pure.

use crate::cli::act::paths::size;

/// Bytes of a file that is read whole.
const MOST_BYTES: usize = 256 * 1024;
/// What one reading may cost.
const MOST_TOKENS: usize = 25_000;
/// What is kept of a text that costs too much: a share of what would just fit.
const SHARE: f64 = 0.85;
/// The text stands in a message, which costs something itself.
const MESSAGE: usize = 80;

/// What is said of a file with too many bytes.
pub(super) fn of_bytes(bytes: usize) -> Option<String> {
    (bytes > MOST_BYTES).then(|| {
        let (found, most) = (size(bytes as u64), size(MOST_BYTES as u64));
        format!("File content ({found}) exceeds maximum allowed size ({most}).")
    })
}

/// A shorter text where this one costs too much. Who asked for a part is told instead.
pub(super) fn of_tokens(text: &str, wanted_part: bool) -> Result<Option<String>, String> {
    let tokens = tokens(text);
    if tokens <= MOST_TOKENS {
        return Ok(None);
    }
    if wanted_part {
        return Err(format!(
            "File content ({tokens} tokens) exceeds maximum allowed tokens ({MOST_TOKENS})."
        ));
    }
    let lines: Vec<&str> = text.split('\n').collect();
    let keep = share(lines.len(), tokens);
    if lines.len() > 1 && keep > 0 {
        return Ok(Some(lines[..keep].join("\n")));
    }
    let keep = share(text.chars().count(), tokens);
    Ok(Some(text.chars().take(keep).collect()))
}

/// A quarter of the bytes of the text as JSON.
fn tokens(text: &str) -> usize {
    let escaped: usize = text
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
            0..0x20 => 6,
            _ => 1,
        })
        .sum();
    (escaped + MESSAGE) / 4
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes of texts that are in memory, rounded down"
)]
fn share(of: usize, tokens: usize) -> usize {
    (of as f64 * MOST_TOKENS as f64 / tokens as f64 * SHARE) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_it_costs_too_much() {
        assert_eq!(of_tokens(&"x".repeat(99_923), false), Ok(None));
        let kept = |size: usize| of_tokens(&"x".repeat(size), false).unwrap().unwrap().len();
        assert_eq!(
            [kept(100_000), kept(110_000), kept(200_000)],
            [84_932, 84_938, 84_966]
        );
        let numbers: String = (1..=20_000).map(|n| format!("{n}\n")).collect();
        let kept = of_tokens(&numbers, false).unwrap().unwrap();
        assert_eq!(kept.lines().count(), 13_181);
    }

    #[test]
    fn who_asked_for_a_part_hears_what_it_costs() {
        let told = |text: &str| of_tokens(text, true).unwrap_err();
        assert!(told(&"x".repeat(99_924)).contains("(25001 tokens)"));
        assert!(told(&"\"".repeat(100_001)).contains("(50020 tokens)"));
        assert!(told(&"é".repeat(60_000)).contains("(30020 tokens)"));
    }
}
