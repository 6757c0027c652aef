//! Ids that look like the CLI's own, from a seed. The same seed gives the same ids, so that a run can be repeated.

/// A source of ids.
#[derive(Debug, Clone)]
pub(super) struct Ids {
    state: u64,
}

impl Ids {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// SplitMix64: every seed gives a sequence of its own.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn uuid(&mut self) -> String {
        let (high, low) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | ((low >> 48) & 0x3fff),
            low & 0xffff_ffff_ffff
        )
    }

    pub(super) fn message(&mut self) -> String {
        format!("msg_{:016x}", self.next())
    }

    pub(super) fn tool_use(&mut self) -> String {
        format!("toolu_{:016x}", self.next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_and_another_differs() {
        let first: Vec<String> = std::iter::repeat_with({
            let mut ids = Ids::new(1);
            move || ids.uuid()
        })
        .take(3)
        .collect();
        let mut again = Ids::new(1);
        assert!(first.iter().all(|id| *id == again.uuid()));
        assert_ne!(first[0], Ids::new(2).uuid());
        assert_ne!(first[0], first[1]);
    }

    #[test]
    fn a_uuid_has_the_form_of_version_four() {
        let uuid = Ids::new(7).uuid();
        assert_eq!(uuid.len(), 36, "{uuid}");
        assert_eq!(&uuid[14..15], "4", "{uuid}");
        assert!("89ab".contains(&uuid[19..20]), "{uuid}");
    }
}
