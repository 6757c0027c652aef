//! Walks over JSON text without understanding it: where a string, a value, a member ends.
//!
//! Owns nothing but positions. Trusts the text to be JSON only as far as brackets and quotes go; on anything
//! else it stops with `None`, never out of bounds. This is what makes routing a line cheap.

use wide::u8x16;

use crate::block::{self, Block, all};

/// `start` is behind an opening quote; gives the position of the closing one.
///
/// Looks for quotes only and counts the backslashes before one: text has far more other escapes than quotes.
#[inline]
pub(crate) fn string_end(text: &[u8], start: usize) -> Option<usize> {
    let mut at = quote(text, start)?;
    while text[at - 1] == b'\\' && is_escaped(&text[start..at]) {
        at = quote(text, at + 1)?;
    }
    Some(at)
}

/// The next quote. Keys and ids end within a few steps of sixteen bytes; only what is longer is worth a call.
#[inline]
fn quote(text: &[u8], mut at: usize) -> Option<usize> {
    for _ in 0..3 {
        let Some(chunk) = text.get(at..).and_then(<[u8]>::first_chunk) else {
            break;
        };
        let hits = u8x16::from(*chunk).simd_eq(all(b'"')).to_bitmask();
        if hits != 0 {
            return Some(at + hits.trailing_zeros() as usize);
        }
        at += 16;
    }
    far_quote(text, at)
}

#[inline(never)]
fn far_quote(text: &[u8], at: usize) -> Option<usize> {
    memchr::memchr(b'"', text.get(at..)?).map(|found| at + found)
}

/// Whether there is a backslash in a short stretch of text.
#[inline]
pub(crate) fn has_backslash(text: &[u8], range: std::ops::Range<usize>) -> bool {
    let mut at = range.start;
    while at < range.end {
        let Some(chunk) = text.get(at..).and_then(<[u8]>::first_chunk) else {
            return text[at..range.end].contains(&b'\\');
        };
        let hits = u8x16::from(*chunk).simd_eq(all(b'\\')).to_bitmask();
        if hits != 0 {
            return at + (hits.trailing_zeros() as usize) < range.end;
        }
        at += 16;
    }
    false
}

/// Whether what follows `text` is escaped: it ends in an odd number of backslashes.
#[inline(never)]
fn is_escaped(text: &[u8]) -> bool {
    text.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// The same for text that nobody else checks, and whether there are escapes. `None` at a control character, too.
#[inline]
pub(crate) fn strict_string_end(text: &[u8], mut at: usize) -> Option<(usize, bool)> {
    let mut escaped = false;
    loop {
        while let Some(chunk) = text.get(at..).and_then(<[u8]>::first_chunk) {
            let chunk = u8x16::from(*chunk);
            let control = chunk.min(all(0x1f)).simd_eq(chunk);
            let hits = chunk.simd_eq(all(b'"')) | chunk.simd_eq(all(b'\\')) | control;
            let hits = hits.to_bitmask();
            if hits != 0 {
                at += hits.trailing_zeros() as usize;
                break;
            }
            at += 16;
        }
        match text.get(at)? {
            b'"' => return Some((at, escaped)),
            b'\\' => {
                escaped = true;
                at += 2;
            }
            0..=0x1f => return None,
            _ => at += 1,
        }
    }
}

/// `at` is on an opening bracket; gives the position behind its closing one.
///
/// Sixty-four bytes at a time: which quotes are escaped, then which bytes lie in strings, then brackets outside of
/// strings are counted. A string that goes on behind the block is skipped as such, so every block begins outside of
/// one. What is left of the text is filled up with blanks.
fn container_end(text: &[u8], at: usize) -> Option<usize> {
    let (mut depth, mut base) = (0u32, at);
    let mut padded = [0; 64];
    loop {
        if base >= text.len() {
            return None;
        }
        let block = Block::at(text, base, &mut padded);
        let (quotes, backslashes) = block.text_marks();
        let mut next_escaped = false;
        let strings = block::inside(quotes & !block::escaped(backslashes, &mut next_escaped));
        let mut brackets = block.bracket_marks() & !strings;
        while brackets != 0 {
            let bit = brackets.trailing_zeros() as usize;
            brackets &= brackets - 1;
            if block::opens(text[base + bit]) {
                depth += 1;
            } else if depth <= 1 {
                return Some(base + bit + 1);
            } else {
                depth -= 1;
            }
        }
        base += 64;
        if strings >> 63 == 1 {
            base = string_end(text, base + usize::from(next_escaped))? + 1;
        }
    }
}

/// Whether brackets are nested deeper than `limit` anywhere in a JSON text.
pub(crate) fn is_deeper(text: &[u8], limit: usize) -> bool {
    let (mut depth, mut at) = (0usize, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => match string_end(text, at + 1) {
                Some(end) => at = end,
                None => return false,
            },
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > limit {
            return true;
        }
        at += 1;
    }
    false
}

/// `at` is on the first byte of a value; gives the position behind it.
#[inline]
pub(crate) fn value_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'"' => string_end(text, at + 1).map(|end| end + 1),
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
        let key_end = string_end(self.text, at + 1)?;
        let colon = skip_space(self.text, key_end + 1);
        if self.text.get(colon)? != &b':' {
            return None;
        }
        Some(Member {
            key: at + 1..key_end,
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

/// The members of an object, each key with its quotes; `None` if the text is no object.
pub(crate) fn members(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut members = Members::new(text.as_bytes(), 0);
    let mut found = Vec::new();
    while let Some(member) = members.next() {
        let end = value_end(text.as_bytes(), member.value)?;
        members.resume(Some(end));
        let key = text.get(member.key.start - 1..=member.key.end)?;
        found.push((key, text.get(member.value..end)?));
    }
    members.end.map(|_| found)
}

/// The elements of an array; `None` if the text is none.
pub(crate) fn elements(text: &str) -> Option<Vec<&str>> {
    let bytes = text.as_bytes();
    let mut at = skip_space(bytes, 0);
    if bytes.get(at) != Some(&b'[') {
        return None;
    }
    at = skip_space(bytes, at + 1);
    let mut found = Vec::new();
    while bytes.get(at)? != &b']' {
        let end = value_end(bytes, at)?;
        found.push(text.get(at..end)?);
        at = skip_space(bytes, end);
        if bytes.get(at)? == &b',' {
            at = skip_space(bytes, at + 1);
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The plainest way to find the end of a container.
    fn plain_end(text: &[u8]) -> Option<usize> {
        let (mut depth, mut at, mut in_string) = (0, 0, false);
        loop {
            match (text.get(at)?, in_string) {
                (b'\\', true) => at += 1,
                (b'"', _) => in_string = !in_string,
                (b'{' | b'[', false) => depth += 1,
                (b'}' | b']', false) => {
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

    /// A string of JSON, with escapes of quotes and backslashes at every distance.
    fn string() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec!["a", "[", "}", "\\\"", "\\\\", "1234567890123"]);
        prop::collection::vec(piece, 0..24).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
    }

    proptest! {
        #[test]
        fn containers_end_where_the_plain_walk_ends(
            pieces in prop::collection::vec(
                prop_oneof![
                    prop::sample::select(vec!["{", "}", "[", "]", ",", "      "]).prop_map(str::to_owned),
                    string(),
                ],
                0..60,
            ),
        ) {
            let text = format!("[{}", pieces.concat());
            prop_assert_eq!(container_end(text.as_bytes(), 0), plain_end(text.as_bytes()));
        }

        #[test]
        fn strings_end_at_their_quote(text in string(), tail in "[\"\\\\a]{0,20}") {
            let whole = format!("{text}{tail}");
            prop_assert_eq!(string_end(whole.as_bytes(), 1), Some(text.len() - 1));
            let strict = strict_string_end(whole.as_bytes(), 1).map(|(end, _)| end);
            prop_assert_eq!(strict, Some(text.len() - 1));
        }
    }
}
