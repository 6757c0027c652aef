//! The running hash over a segment, and how those of segments are joined: for whoever reads. A writer has no part in it.
//!
//! Owns how bytes reach the hash: in aligned blocks, which is the only way in which it runs at its full speed; a rest
//! waits for more. Invariant: the hash is that of all bytes given, however they were cut.

use blake3::Hash;

/// Fills the widest registers: sixteen chunks of the hash side by side.
const BLOCK: usize = 16 << 10;

/// What stands before the first segment.
pub(crate) const NOTHING: Hash = Hash::from_bytes([0; 32]);

/// Over a segment, or a part of it from its beginning, and all segments before it.
pub(crate) fn join(before: &Hash, segment: &Hash) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before.as_bytes());
    hasher.update(segment.as_bytes());
    hasher.finalize()
}

/// A hash that goes on.
#[derive(Debug, Default, Clone)]
pub(crate) struct Chain {
    /// Two kilobytes, which a reader that hashes nothing does not hold.
    hasher: Box<blake3::Hasher>,
    /// Less than a block.
    rest: Vec<u8>,
}

impl Chain {
    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        if !self.rest.is_empty() {
            let (piece, behind) = bytes.split_at(bytes.len().min(BLOCK - self.rest.len()));
            self.keep(piece);
            bytes = behind;
            if self.rest.len() < BLOCK {
                return;
            }
            self.hasher.update(&self.rest);
            self.rest.clear();
        }
        let (whole, behind) = bytes.split_at(bytes.len() - bytes.len() % BLOCK);
        self.hasher.update(whole);
        if !behind.is_empty() {
            self.keep(behind);
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        // Grown by doubling, it would have room for two blocks.
        self.rest.reserve_exact(BLOCK - self.rest.len());
        self.rest.extend_from_slice(bytes);
    }

    /// Over everything so far, and these bytes.
    pub(crate) fn hash_with<'a>(&self, more: impl Iterator<Item = &'a [u8]>) -> Hash {
        let mut hasher = self.hasher.clone();
        hasher.update(&self.rest);
        for bytes in more {
            hasher.update(bytes);
        }
        hasher.finalize()
    }

    /// Over everything so far.
    pub(crate) fn hash(&self) -> Hash {
        self.hash_with(std::iter::empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cuts_do_not_matter() {
        let bytes: Vec<u8> = (0..600_000_u32).map(|byte| (byte % 251) as u8).collect();
        for piece in [1, 7, 1_000, BLOCK - 1, BLOCK, BLOCK + 1, 50_000, 300_000] {
            let mut chain = Chain::default();
            let mut seen = Vec::new();
            for (number, piece) in bytes.chunks(piece).enumerate() {
                chain.update(piece);
                seen.extend_from_slice(piece);
                if number < 100 && number % 20 == 0 {
                    assert_eq!(chain.hash(), blake3::hash(&seen));
                }
            }
            assert_eq!(chain.hash(), blake3::hash(&bytes), "{piece}");
            let more = chain.hash_with([&b"on"[..], b"e"].into_iter());
            assert_eq!(more, blake3::hash(&[&bytes[..], b"one"].concat()));
        }
    }

    #[test]
    fn a_copy_goes_its_own_way() {
        let mut chain = Chain::default();
        chain.update(&[1; 20_000]);
        let before = chain.clone();
        chain.update(&[2; 20_000]);
        assert_eq!(before.hash(), blake3::hash(&[1; 20_000]));
    }
}
