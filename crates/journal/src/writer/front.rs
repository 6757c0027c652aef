//! What stands before a payload: `seq SP at SP kind SP`, as a text that is kept from record to record.
//!
//! Owns the numbers of the newest record and their text. Most records differ from the one before in the last digits and the
//! letter: only these are written anew, and where they go to, not into the kept text, which would have to be waited for to be
//! copied. Invariant: what is appended is the text of the numbers.

use crate::record::Kind;

/// The most digits of a number.
const DIGITS: usize = 20;

/// The longest: two numbers, a letter, three spaces.
const LONGEST: usize = DIGITS + 1 + DIGITS + 3;

/// Copied whole, whatever of it is used: a copy of a fixed length is a few instructions.
pub(super) const COPIED: usize = 48;

const _: () = assert!(LONGEST <= COPIED);

pub(super) struct Front {
    seq: u64,
    at: u64,
    /// The digits of `seq`, but for the last two, which may be old; then what stands behind them.
    text: [u8; COPIED],
    /// The last two digits of `seq`.
    tens: u8,
    ones: u8,
    /// How many digits `seq` has.
    digits: usize,
    length: usize,
}

impl Front {
    /// Behind record `seq`, whose time was `at`.
    pub(super) fn new(seq: u64, at: u64) -> Self {
        let mut front = Self {
            seq,
            at,
            text: [b' '; COPIED],
            tens: b'0',
            ones: b'0',
            digits: 0,
            length: 0,
        };
        front.write();
        front
    }

    pub(super) fn seq(&self) -> u64 {
        self.seq
    }

    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// The next record, which is not older than the one before: appends what stands before its payload.
    #[inline]
    pub(super) fn append_next(&mut self, at: u64, kind: Kind, out: &mut Vec<u8>) {
        self.seq = self.seq.saturating_add(1);
        self.ones += 1;
        if self.ones > b'9' {
            self.ones = b'0';
            self.tens += 1;
        }
        let is_old = self.tens > b'9' || self.digits < 2 || self.seq == u64::MAX;
        if at > self.at || is_old {
            self.at = self.at.max(at);
            self.write();
        }
        let begin = out.len();
        out.extend_from_slice(&self.text);
        out.truncate(begin + self.length);
        let front = &mut out[begin..];
        if self.digits >= 2 {
            front[self.digits - 2] = self.tens;
            front[self.digits - 1] = self.ones;
        }
        front[self.length - 2] = kind.letter();
    }

    #[inline(never)]
    fn write(&mut self) {
        let mut number = itoa::Buffer::new();
        let seq = number.format(self.seq).as_bytes();
        self.digits = seq.len();
        if let [.., tens, ones] = seq {
            (self.tens, self.ones) = (*tens, *ones);
        } else {
            (self.tens, self.ones) = (b'0', seq[0]);
        }
        self.text[..seq.len()].copy_from_slice(seq);
        self.text[seq.len()] = b' ';
        let at = number.format(self.at).as_bytes();
        let at_end = self.digits + 1 + at.len();
        self.text[self.digits + 1..at_end].copy_from_slice(at);
        self.length = at_end + 3;
        // A letter stands between the spaces.
        self.text[at_end..self.length].copy_from_slice(b"   ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;

    #[test]
    fn it_is_the_text_of_the_numbers() {
        for first in [0, 8, 98, 999_999, u64::MAX - 3] {
            let mut front = Front::new(first, 5);
            let mut at = 5;
            for step in 0..2_000_u64 {
                let kind = Kind::ALL[step as usize % Kind::ALL.len()];
                // Now and then it is later, and once it would be earlier.
                let now = if step % 7 == 3 {
                    at + step * step
                } else {
                    at - step % 2
                };
                at = at.max(now);
                let (mut found, mut expected) = (b"x".to_vec(), b"x".to_vec());
                front.append_next(now, kind, &mut found);
                Record::begin(first.saturating_add(step + 1), at, kind, &mut expected);
                assert_eq!(found, expected, "{first} {step}");
            }
        }
    }

    #[test]
    fn the_longest_fits() {
        let mut front = Front::new(u64::MAX - 1, u64::MAX);
        let mut text = Vec::new();
        front.append_next(0, Kind::Agent, &mut text);
        assert_eq!(text.len(), LONGEST);
        let expected = "18446744073709551615 18446744073709551615 a ";
        assert_eq!(text, expected.as_bytes());
    }
}
