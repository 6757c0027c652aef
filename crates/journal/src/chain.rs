//! The running hash over a segment.
//!
//! Owns how bytes reach the hash: in aligned blocks, which is the only way in which it runs at its full speed; a rest
//! waits for more. Invariant: the hash is that of all bytes given, however they were cut.

/// Fills the widest registers: sixteen chunks of the hash side by side.
const BLOCK: usize = 16 << 10;

/// So much is hashed in one go at most: it stays in the processor's cache from whoever sees it before.
const STRIDE: usize = 8 * BLOCK;

/// A hash that goes on.
#[derive(Debug, Default, Clone)]
pub(crate) struct Chain {
    /// Two kilobytes: where a writer is handed on, they are not to be copied along.
    hasher: Box<blake3::Hasher>,
    /// Less than a block.
    rest: Vec<u8>,
}

impl Chain {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.update_seen(bytes, |_| ());
    }

    /// Lets `see` have each piece right before it is hashed, so that it comes from memory once for both.
    pub(crate) fn update_seen(&mut self, mut bytes: &[u8], mut see: impl FnMut(&[u8])) {
        if !self.rest.is_empty() {
            let (piece, behind) = bytes.split_at(bytes.len().min(BLOCK - self.rest.len()));
            see(piece);
            self.keep(piece);
            bytes = behind;
            if self.rest.len() < BLOCK {
                return;
            }
            self.hasher.update(&self.rest);
            self.rest.clear();
        }
        while bytes.len() >= BLOCK {
            // Up to the next multiple of a stride, from where the hash has no halves to join.
            let most = STRIDE - (self.hasher.count() % STRIDE as u64) as usize;
            let whole = bytes.len() - bytes.len() % BLOCK;
            let (piece, behind) = bytes.split_at(whole.min(most));
            see(piece);
            self.hasher.update(piece);
            bytes = behind;
        }
        if !bytes.is_empty() {
            see(bytes);
            self.keep(bytes);
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        // Grown by doubling, it would have room for two blocks.
        self.rest.reserve_exact(BLOCK - self.rest.len());
        self.rest.extend_from_slice(bytes);
    }

    /// Gives back the memory that the rest does not need.
    pub(crate) fn shrink(&mut self) {
        self.rest.shrink_to_fit();
    }

    /// Over everything so far, and these bytes.
    pub(crate) fn hash_with<'a>(&self, more: impl Iterator<Item = &'a [u8]>) -> blake3::Hash {
        let mut hasher = self.hasher.clone();
        hasher.update(&self.rest);
        for bytes in more {
            hasher.update(bytes);
        }
        hasher.finalize()
    }

    /// Over everything so far.
    pub(crate) fn hash(&self) -> blake3::Hash {
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
                chain.update_seen(piece, |bytes| seen.extend_from_slice(bytes));
                if number < 100 && number % 20 == 0 {
                    assert_eq!(chain.hash(), blake3::hash(&seen));
                    chain.shrink();
                }
            }
            assert_eq!(seen, bytes, "{piece}");
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
