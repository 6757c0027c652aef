//! Walks over JSON text without understanding it: where a string, a value, a member ends.
//!
//! Owns nothing but positions. Trusts the text to be JSON only as far as brackets and quotes go; on anything
//! else it stops with `None`, never out of bounds. This is what makes routing a line cheap.

/// Eight copies of a byte, to compare eight bytes at once.
const fn splat(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

const LOW: u64 = splat(0x01);
const HIGH: u64 = splat(0x80);

/// Bit 7 of each byte of `word` that is zero. Bytes above a hit may be false hits; the lowest is right.
const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(LOW) & !word & HIGH
}

fn word_at(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?
        .first_chunk()
        .map(|bytes| u64::from_le_bytes(*bytes))
}

/// `at` is behind an opening quote; gives the position of the closing one and whether there are escapes.
#[inline]
pub(crate) fn string_end(text: &[u8], mut at: usize) -> Option<(usize, bool)> {
    let mut escaped = false;
    loop {
        while let Some(word) = word_at(text, at) {
            let hits = zero_bytes(word ^ splat(b'"')) | zero_bytes(word ^ splat(b'\\'));
            if hits != 0 {
                at += hits.trailing_zeros() as usize / 8;
                break;
            }
            at += 8;
        }
        match text.get(at)? {
            b'"' => return Some((at, escaped)),
            b'\\' => {
                escaped = true;
                at += 2;
            }
            _ => at += 1,
        }
    }
}

/// `at` is on an opening bracket; gives the position behind its closing one.
#[inline]
fn container_end(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0usize;
    loop {
        match text.get(at)? {
            b'"' => at = string_end(text, at + 1)?.0,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// `at` is on the first byte of a value; gives the position behind it.
#[inline]
pub(crate) fn value_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'"' => string_end(text, at + 1).map(|(end, _)| end + 1),
        b'{' | b'[' => container_end(text, at),
        _ => {
            let rest = text.get(at..)?;
            let end = rest.iter().position(|byte| {
                matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\r' | b'\n')
            })?;
            (end > 0).then_some(at + end)
        }
    }
}

#[inline]
pub(crate) fn skip_space(text: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\r' | b'\n') = text.get(at) {
        at += 1;
    }
    at
}

/// The members of one object, in order. Ends early, with [`Members::broken`] set, where the text is no object.
pub(crate) struct Members<'a> {
    text: &'a [u8],
    at: usize,
    first: bool,
    /// The text stopped being an object.
    pub(crate) broken: bool,
    /// Position behind the closing brace, once it was reached.
    pub(crate) end: Option<usize>,
}

pub(crate) struct Member {
    /// The key between its quotes.
    pub(crate) key: std::ops::Range<usize>,
    pub(crate) key_escaped: bool,
    /// First byte of the value.
    pub(crate) value: usize,
}

impl<'a> Members<'a> {
    /// `at` is on the opening brace, or anywhere before it in white space.
    pub(crate) fn new(text: &'a [u8], at: usize) -> Self {
        let at = skip_space(text, at);
        let broken = text.get(at) != Some(&b'{');
        Self {
            text,
            at: at + 1,
            first: true,
            broken,
            end: None,
        }
    }

    /// The next key. The caller says where its value ended by [`Members::resume`] before the next call.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Member> {
        if self.broken || self.end.is_some() {
            return None;
        }
        let member = self.step();
        self.broken = member.is_none() && self.end.is_none();
        member
    }

    #[inline]
    fn step(&mut self) -> Option<Member> {
        let mut at = skip_space(self.text, self.at);
        match self.text.get(at)? {
            b'}' => {
                self.end = Some(at + 1);
                return None;
            }
            b',' if !self.first => at = skip_space(self.text, at + 1),
            _ if !self.first => return None,
            _ => {}
        }
        self.first = false;
        if self.text.get(at)? != &b'"' {
            return None;
        }
        let (key_end, key_escaped) = string_end(self.text, at + 1)?;
        let colon = skip_space(self.text, key_end + 1);
        if self.text.get(colon)? != &b':' {
            return None;
        }
        Some(Member {
            key: at + 1..key_end,
            key_escaped,
            value: skip_space(self.text, colon + 1),
        })
    }

    /// Goes on behind the value of the last member.
    #[inline]
    pub(crate) fn resume(&mut self, end: Option<usize>) {
        match end {
            Some(end) => self.at = end,
            None => self.broken = true,
        }
    }
}

/// The first byte of the value at `path`, written like `message.content[0].text`.
pub(crate) fn locate(text: &[u8], path: &str) -> Option<usize> {
    let mut at = skip_space(text, 0);
    for step in path.split(['.', '[']).filter(|step| !step.is_empty()) {
        at = match step.strip_suffix(']') {
            Some(index) => element(text, at, index.parse().ok()?)?,
            None => member(text, at, step.as_bytes())?,
        };
    }
    Some(at)
}

fn member(text: &[u8], at: usize, name: &[u8]) -> Option<usize> {
    let mut members = Members::new(text, at);
    while let Some(member) = members.next() {
        if &text[member.key] == name {
            return Some(member.value);
        }
        members.resume(value_end(text, member.value));
    }
    None
}

fn element(text: &[u8], at: usize, index: usize) -> Option<usize> {
    if text.get(at) != Some(&b'[') {
        return None;
    }
    let mut at = skip_space(text, at + 1);
    for _ in 0..index {
        at = skip_space(text, value_end(text, at)?);
        if text.get(at) != Some(&b',') {
            return None;
        }
        at = skip_space(text, at + 1);
    }
    Some(at)
}
