//! A part of something long.
//!
//! Owns how `Range: bytes=…` is read. One part is given; of several, of another unit, or of what cannot be read the header is
//! passed over and the whole is given, as RFC 9110 has it.

use std::ops::Range;

/// What of it is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// These bytes, of which there is at least one.
    Of(Range<usize>),
    /// Bytes that it does not have.
    None,
}

impl Part {
    /// What the header says of something that is so long.
    pub(crate) fn of(header: Option<&str>, length: usize) -> Self {
        let Some((first, last)) = header.and_then(ends) else {
            return Self::Whole;
        };
        let range = match (first, last) {
            (Some(first), Some(last)) if last < first => return Self::Whole,
            (Some(first), last) => {
                let end = last.map_or(length, |last| last.saturating_add(1).min(length));
                first..end
            }
            (None, Some(most)) => length.saturating_sub(most)..length,
            (None, None) => return Self::Whole,
        };
        match range.is_empty() {
            true => Self::None,
            false => Self::Of(range),
        }
    }
}

/// The two numbers of a single range.
fn ends(header: &str) -> Option<(Option<usize>, Option<usize>)> {
    let (first, last) = header
        .trim()
        .strip_prefix("bytes=")?
        .trim()
        .split_once('-')?;
    let number = |text: &str| match text {
        "" => Some(None),
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            // More digits than fit are beyond every end.
            Some(Some(digits.parse().unwrap_or(usize::MAX)))
        }
        _ => None,
    };
    Some((number(first)?, number(last)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_read_as_http_has_it() {
        let cases = [
            ("bytes=0-4", Part::Of(0..5)),
            ("bytes=5-", Part::Of(5..10)),
            ("bytes=-3", Part::Of(7..10)),
            ("bytes=-30", Part::Of(0..10)),
            ("bytes=9-9", Part::Of(9..10)),
            ("bytes=2-99999999999999999999999", Part::Of(2..10)),
            ("bytes=10-", Part::None),
            ("bytes=99999999999999999999999-", Part::None),
            ("bytes=-0", Part::None),
            ("bytes=4-2", Part::Whole),
            ("bytes=0-1,3-4", Part::Whole),
            ("bytes=-", Part::Whole),
            ("bytes=a-b", Part::Whole),
            ("bytes=+1-2", Part::Whole),
            ("lines=0-4", Part::Whole),
            ("", Part::Whole),
        ];
        for (header, expected) in cases {
            assert_eq!(Part::of(Some(header), 10), expected, "{header}");
        }
        assert_eq!(Part::of(None, 10), Part::Whole);
        assert_eq!(Part::of(Some("bytes=0-0"), 0), Part::None);
    }
}
