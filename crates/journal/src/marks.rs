//! The marks in a head: a CRC-32 of each line, as text, and what two rows of them tell.
//!
//! Owns the text of marks and the comparison that names a record. Pure. A head has a mark, too, which stands in the next
//! one: whoever changes a line and its mark has to change every head behind it. Marks tell of damage and of carelessness;
//! against intent there are seals.

use std::collections::HashSet;

use crate::header::Header;

/// The mark of a record line without its newline.
pub(crate) fn of(line: &[u8]) -> u32 {
    crc32fast::hash(line)
}

/// The mark of a row of marks: what the next segment says of the one before. With a head among them it is over all of it.
pub(crate) fn of_marks(marks: &[u32]) -> u32 {
    let mut text = Vec::new();
    append_text(marks, &mut text);
    of(&text)
}

/// The marks of a segment before its first record: version 1 has none of the header.
pub(crate) fn first(header: &Header, line: &[u8]) -> Vec<u32> {
    match header.previous.version() {
        1 => Vec::new(),
        _ => vec![of(line)],
    }
}

/// Appends eight hex digits each.
pub(crate) fn append_text(marks: &[u32], out: &mut Vec<u8>) {
    let begin = out.len();
    out.resize(begin + marks.len() * 8, b'0');
    let (places, _) = out[begin..].as_chunks_mut();
    for (place, mark) in places.iter_mut().zip(marks) {
        *place = digits(*mark);
    }
}

/// All eight at once, a byte each.
fn digits(mark: u32) -> [u8; 8] {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let mut nibbles = u64::from(mark);
    nibbles = (nibbles | nibbles << 16) & 0x0000_ffff_0000_ffff;
    nibbles = (nibbles | nibbles << 8) & 0x00ff_00ff_00ff_00ff;
    nibbles = (nibbles | nibbles << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    let is_letter = ((nibbles + 6 * ONES) >> 4) & ONES;
    let up_to_letters = u64::from(b'a' - b'0' - 10);
    (nibbles + u64::from(b'0') * ONES + is_letter * up_to_letters).to_be_bytes()
}

/// Read back; none if it is not of the form.
pub(crate) fn from_text(text: &str) -> Option<Vec<u32>> {
    if !text.len().is_multiple_of(8) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let digits = |at: usize| u32::from_str_radix(&text[at..at + 8], 16).ok();
    (0..text.len()).step_by(8).map(digits).collect()
}

/// How a record differs from what was marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Difference {
    Changed,
    Cut,
    Reordered,
    Added,
}

/// The first place at which the records are not those that were marked.
pub(crate) fn compare(marked: &[u32], found: &[u32]) -> Option<(usize, Difference)> {
    let same = marked.iter().zip(found).take_while(|(a, b)| a == b).count();
    let (marked, found) = (&marked[same..], &found[same..]);
    let difference = match (marked.first(), found.first()) {
        (None, None) => return None,
        (Some(_), None) => Difference::Cut,
        (None, Some(_)) => Difference::Added,
        (Some(expected), Some(there)) => {
            let is_elsewhere = found.contains(expected);
            let is_of_another_place = marked.contains(there);
            match (is_elsewhere, is_of_another_place) {
                (true, true) if is_same_set(marked, found) => Difference::Reordered,
                (false, true) => Difference::Cut,
                (true, false) => Difference::Added,
                _ => Difference::Changed,
            }
        }
    };
    Some((same, difference))
}

fn is_same_set(marked: &[u32], found: &[u32]) -> bool {
    let set = |marks: &[u32]| marks.iter().copied().collect::<HashSet<u32>>();
    marked.len() == found.len() && set(marked) == set(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to_text(marks: &[u32]) -> String {
        let mut text = Vec::new();
        append_text(marks, &mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn marks_are_read_back() {
        let marks = [0, 1, 0xdead_beef, u32::MAX];
        assert_eq!(to_text(&marks), "0000000000000001deadbeefffffffff");
        assert_eq!(from_text(&to_text(&marks)).unwrap(), marks);
        for digit in 0..16_u32 {
            let mark = digit * 0x1111_1111;
            assert_eq!(to_text(&[mark]), format!("{mark:08x}"));
        }
        assert_eq!(from_text(""), Some(Vec::new()));
        for bad in ["1", "0000000g", "+0000001", "ü000000"] {
            assert_eq!(from_text(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_first_difference_is_named() {
        let marked = [1, 2, 3, 4, 5];
        let found = |found: &[u32]| compare(&marked, found);
        assert_eq!(found(&[1, 2, 3, 4, 5]), None);
        assert_eq!(found(&[1, 2, 9, 4, 5]), Some((2, Difference::Changed)));
        assert_eq!(found(&[1, 2, 4, 5]), Some((2, Difference::Cut)));
        assert_eq!(found(&[1, 2, 3]), Some((3, Difference::Cut)));
        assert_eq!(found(&[1, 3, 2, 4, 5]), Some((1, Difference::Reordered)));
        assert_eq!(found(&[1, 9, 2, 3, 4, 5]), Some((1, Difference::Added)));
        assert_eq!(found(&[1, 2, 3, 4, 5, 6]), Some((5, Difference::Added)));
    }
}
