//! The running hash over a segment.
//!
//! Owns how bytes reach the hash: in aligned blocks, which is the only way in which it runs at its full speed; a rest
//! waits for more. Invariant: the hash is that of all bytes given, however they were cut.

/// Fills the widest registers: sixteen chunks of the hash side by side.
const BLOCK: usize = 16 << 10;

/// A hash that goes on.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    hasher: blake3::Hasher,
    /// Less than a block.
    rest: Vec<u8>,
}

impl Chain {
    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        if !self.rest.is_empty() {
            let take = bytes.len().min(BLOCK - self.rest.len());
            self.rest.extend_from_slice(&bytes[..take]);
            bytes = &bytes[take..];
            if self.rest.len() < BLOCK {
                return;
            }
            self.hasher.update(&self.rest);
            self.rest.clear();
        }
        let whole = bytes.len() - bytes.len() % BLOCK;
        self.hasher.update(&bytes[..whole]);
        self.rest.extend_from_slice(&bytes[whole..]);
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
        let bytes: Vec<u8> = (0..100_000_u32).map(|byte| byte as u8).collect();
        for piece in [1, 7, 1_000, BLOCK - 1, BLOCK, BLOCK + 1, 50_000] {
            let mut chain = Chain::default();
            for piece in bytes[..90_000].chunks(piece) {
                chain.update(piece);
            }
            assert_eq!(chain.hash(), blake3::hash(&bytes[..90_000]), "{piece}");
            let more = [&bytes[90_000..90_001], &bytes[90_001..]];
            assert_eq!(chain.hash_with(more.into_iter()), blake3::hash(&bytes));
        }
    }
}
