//! Sixty-four bytes of JSON text as bit masks: one bit a byte, the first byte lowest.
//!
//! Owns the bit arithmetic that tells strings from structure without branching on each byte. Pure functions of a block
//! and what the block before it left open.

use wide::u8x16;

/// Sixteen copies of a byte.
#[inline]
pub(crate) fn all(byte: u8) -> u8x16 {
    u8x16::from([byte; 16])
}

/// Up to sixty-four bytes of a text.
pub(crate) struct Block<'a> {
    bytes: &'a [u8; 64],
    /// So many bytes at the start belong to the block before.
    overlap: u32,
}

impl<'a> Block<'a> {
    /// The block at `at`. The last one of a text overlaps the one before; a text shorter than a block is filled up with
    /// blanks in `padded`.
    #[inline]
    pub(crate) fn at(text: &'a [u8], at: usize, padded: &'a mut [u8; 64]) -> Self {
        if let Some(bytes) = text.get(at..).and_then(<[u8]>::first_chunk) {
            return Self { bytes, overlap: 0 };
        }
        if let Some(bytes) = text.last_chunk() {
            let overlap = (at + 64).saturating_sub(text.len()) as u32;
            return Self { bytes, overlap };
        }
        let rest = text.get(at..).unwrap_or_default();
        padded.fill(b' ');
        padded[..rest.len()].copy_from_slice(rest);
        Self {
            bytes: padded,
            overlap: 0,
        }
    }

    /// Marks where `found` says so, over the four quarters of the block.
    #[inline]
    fn marks(&self, found: impl Fn(u8x16) -> u8x16) -> u64 {
        let (quarters, _) = self.bytes.as_chunks::<16>();
        let mark = |index: usize| {
            u64::from(found(u8x16::from(quarters[index])).to_bitmask()) << (16 * index)
        };
        (mark(0) | mark(1) | mark(2) | mark(3)) >> self.overlap
    }

    /// Where quotes and backslashes are.
    #[inline]
    pub(crate) fn text_marks(&self) -> (u64, u64) {
        let quotes = self.marks(|bytes| bytes.simd_eq(all(b'"')));
        let backslashes = self.marks(|bytes| bytes.simd_eq(all(b'\\')));
        (quotes, backslashes)
    }

    /// Where brackets are, opening or closing. `[` and `{` differ in one bit, and so do `]` and `}`.
    #[inline]
    pub(crate) fn bracket_marks(&self) -> u64 {
        self.marks(|bytes| {
            let folded = bytes | all(0x20);
            folded.simd_eq(all(b'{')) | folded.simd_eq(all(b'}'))
        })
    }
}

/// Whether a bracket opens.
#[inline]
pub(crate) fn opens(bracket: u8) -> bool {
    bracket | 0x20 == b'{'
}

/// The bytes that a backslash escapes. `first` says whether the first byte is one of them; afterwards, whether the first
/// byte of the next block is.
#[inline]
pub(crate) fn escaped(backslashes: u64, first: &mut bool) -> u64 {
    let carry = u64::from(*first);
    if backslashes == 0 {
        *first = false;
        return carry;
    }
    const EVEN: u64 = 0x5555_5555_5555_5555;
    // A run of backslashes escapes what follows it only if it is odd: adding the starts at odd places carries through a
    // run and leaves its end at a place of the other parity.
    let backslashes = backslashes & !carry;
    let follows = backslashes << 1 | carry;
    let odd_starts = backslashes & !EVEN & !follows;
    let (sequences, overflow) = odd_starts.overflowing_add(backslashes);
    *first = overflow;
    (EVEN ^ (sequences << 1)) & follows
}

/// Each bit the parity of the bits up to it: set from an opening quote up to the byte before its closing one.
#[inline]
pub(crate) fn inside(mut quotes: u64) -> u64 {
    quotes ^= quotes << 1;
    quotes ^= quotes << 2;
    quotes ^= quotes << 4;
    quotes ^= quotes << 8;
    quotes ^= quotes << 16;
    quotes ^ (quotes << 32)
}
