//! Ids that look like the CLI's own, from a seed. The same seed gives the same ids, so that a run can be repeated.

/// A source of ids.
#[derive(Debug, Clone, Default)]
pub(super) struct Ids {
    state: u64,
}

impl Ids {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(super) fn number(&mut self) -> u64 {
        self.next()
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
        let mut out = Vec::with_capacity(36);
        self.write_uuid(&mut out);
        String::from_utf8(out).unwrap_or_default()
    }

    /// A UUID at the end of `out`; quick, for floods.
    pub(super) fn write_uuid(&mut self, out: &mut Vec<u8>) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let high = (self.next() & !0xf000) | 0x4000;
        let low = (self.next() & !(0b11 << 62)) | (0b10 << 62);
        let mut text = [b'-'; 36];
        let mut at = 0;
        for (index, byte) in high
            .to_be_bytes()
            .into_iter()
            .chain(low.to_be_bytes())
            .enumerate()
        {
            if matches!(index, 4 | 6 | 8 | 10) {
                at += 1;
            }
            text[at] = HEX[usize::from(byte >> 4)];
            text[at + 1] = HEX[usize::from(byte & 0xf)];
            at += 2;
        }
        out.extend_from_slice(&text);
    }

    /// A sub-agent.
    pub(super) fn agent(&mut self) -> String {
        format!("a{:016x}", self.next())
    }

    /// A command in the background.
    pub(super) fn shell(&mut self) -> String {
        format!("b{:08x}", self.next() >> 32)
    }

    /// One run of a task.
    pub(super) fn run(&mut self) -> String {
        format!("{:018x}", self.next())
    }

    /// What a thinking block is signed with.
    pub(super) fn signature(&mut self) -> String {
        format!("cmVoZWFyc2Fs{:016x}0001", self.next())
    }

    /// A request to the model.
    pub(super) fn request(&mut self) -> String {
        format!("req_{:016x}", self.next())
    }

    pub(super) fn message(&mut self) -> String {
        format!("msg_{:016x}", self.next())
    }

    pub(super) fn tool_use(&mut self) -> String {
        format!("toolu_{:016x}0001", self.next())
    }
}

/// Whether the text has the form of a UUID, of whatever version.
pub(super) fn is_uuid(text: &str) -> bool {
    let fits = |(i, byte): (usize, &u8)| match i {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    text.len() == 36 && text.as_bytes().iter().enumerate().all(fits)
}
