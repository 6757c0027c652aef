//! A quick reader for the JSON of the wire: serde's data model straight from a checked `&str`.
//!
//! Owns speed, not authority. It reads the subset that lines are made of and gives up, without a word why, on anything
//! unusual; [`crate::decode`] then asks `serde_json`, whose answer counts. Invariant, held by tests and fuzzing against
//! `serde_json`: what this reads, `serde_json` reads too, with the same value. One thing it reads that `serde_json` alone
//! refuses: half a surrogate pair.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
    value::StrDeserializer,
};

use crate::scan::{skip_space, value_end};

/// Deeper values are left to `serde_json`, which has the same limit.
const MAX_DEPTH: u8 = 127;

/// The name under which [`crate::Json`] asks for the text of a value.
pub(crate) const RAW: &str = "$countersign::Json";

/// Reads `text` as `T`; `None` if this reader has to pass.
pub(crate) fn read<'de, T: serde::Deserialize<'de>>(text: &'de str) -> Option<T> {
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
    };
    let value = T::deserialize(&mut reader);
    if reader.space() != text.len() {
        return None;
    }
    value.ok()
}

struct Reader<'de> {
    text: &'de str,
    at: usize,
    depth: u8,
}

/// Something this reader does not read. Says nothing: `serde_json` will.
#[derive(Debug)]
pub(crate) struct Pass;

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not for the quick reader")
    }
}

impl std::error::Error for Pass {}

impl serde::de::Error for Pass {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Pass
    }
}

impl<'de> Reader<'de> {
    #[inline]
    fn bytes(&self) -> &'de [u8] {
        self.text.as_bytes()
    }

    /// Goes to the next byte that is no white space.
    fn space(&mut self) -> usize {
        self.at = skip_space(self.bytes(), self.at);
        self.at
    }

    #[inline]
    fn peek(&mut self) -> Result<u8, Pass> {
        match self.bytes().get(self.at) {
            Some(byte @ b'!'..) => Ok(*byte),
            _ => self.peek_behind_space(),
        }
    }

    /// Lines of the CLI have no white space between tokens.
    #[cold]
    fn peek_behind_space(&mut self) -> Result<u8, Pass> {
        let at = self.space();
        self.bytes().get(at).copied().ok_or(Pass)
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Result<(), Pass> {
        if self.peek()? != byte {
            return Err(Pass);
        }
        self.at += 1;
        Ok(())
    }

    fn word<T>(&mut self, word: &str, value: T) -> Result<T, Pass> {
        match self.bytes()[self.at..].starts_with(word.as_bytes()) {
            true => {
                self.at += word.len();
                Ok(value)
            }
            false => Err(Pass),
        }
    }

    /// A string that stands at the current place: the text between its quotes, and whether it has escapes.
    #[inline(always)]
    fn string(&mut self) -> Result<(&'de str, bool), Pass> {
        self.expect(b'"')?;
        let start = self.at;
        let (end, escaped) = crate::scan::strict_string_end(self.bytes(), start).ok_or(Pass)?;
        self.at = end + 1;
        Ok((self.text.get(start..end).ok_or(Pass)?, escaped))
    }

    fn number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Pass> {
        let rest = &self.bytes()[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let more = matches!(rest.get(digits), Some(b'.' | b'e' | b'E' | b'-' | b'+'));
        // Everything but a plain small integer is for the authority.
        if (1..=18).contains(&digits) && !more && (digits == 1 || rest[0] != b'0') {
            let value = rest[..digits]
                .iter()
                .fold(0, |n, byte| n * 10 + u64::from(byte - b'0'));
            self.at += digits;
            return visitor.visit_u64(value);
        }
        let length = rest
            .iter()
            .take_while(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-' | b'+'))
            .count();
        let text = self.text.get(self.at..self.at + length).ok_or(Pass)?;
        let number: serde_json::Number = serde_json::from_str(text).map_err(|_| Pass)?;
        self.at += length;
        match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(value), ..) => visitor.visit_u64(value),
            (_, Some(value), _) => visitor.visit_i64(value),
            (.., Some(value)) => visitor.visit_f64(value),
            _ => Err(Pass),
        }
    }

    /// The text of the value that stands at the current place, which is checked by whoever takes it.
    fn raw(&mut self) -> Result<&'de str, Pass> {
        let start = self.space();
        let end = value_end(self.bytes(), start).ok_or(Pass)?;
        self.at = end;
        self.text.get(start..end).ok_or(Pass)
    }

    #[inline]
    fn enter(&mut self, bracket: u8) -> Result<(), Pass> {
        self.expect(bracket)?;
        self.depth += 1;
        (self.depth <= MAX_DEPTH).then_some(()).ok_or(Pass)
    }

    #[inline]
    fn leave(&mut self, bracket: u8) -> Result<(), Pass> {
        self.depth -= 1;
        self.expect(bracket)
    }

    #[inline]
    fn object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Pass> {
        self.enter(b'{')?;
        let members = &mut Members {
            reader: self,
            first: true,
        };
        let value = visitor.visit_map(&mut *members)?;
        members.reader.leave(b'}')?;
        Ok(value)
    }

    #[inline]
    fn array<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Pass> {
        self.enter(b'[')?;
        let items = &mut Items {
            reader: self,
            first: true,
        };
        let value = visitor.visit_seq(&mut *items)?;
        items.reader.leave(b']')?;
        Ok(value)
    }

    fn text<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Pass> {
        let (text, escaped) = self.string()?;
        if escaped {
            visitor.visit_string(unescape(text).ok_or(Pass)?)
        } else {
            visitor.visit_borrowed_str(text)
        }
    }
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Pass;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Pass> {
        match self.peek()? {
            b'"' => self.text(visitor),
            b'{' => self.object(visitor),
            b'[' => self.array(visitor),
            b't' => self
                .word("true", true)
                .and_then(|value| visitor.visit_bool(value)),
            b'f' => self
                .word("false", false)
                .and_then(|value| visitor.visit_bool(value)),
            b'n' => self.word("null", ()).and_then(|()| visitor.visit_unit()),
            b'-' | b'0'..=b'9' => self.number(visitor),
            _ => Err(Pass),
        }
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Pass> {
        self.object(visitor)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Pass> {
        self.array(visitor)
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Pass> {
        self.text(visitor)
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Pass> {
        self.text(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Pass> {
        match self.peek()? {
            b'n' => self.word("null", ()).and_then(|()| visitor.visit_none()),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Pass> {
        if name == RAW {
            return visitor.visit_borrowed_str(self.raw()?);
        }
        visitor.visit_newtype_struct(self)
    }

    /// Checked by `serde_json`, like all that is carried or passed over without being understood.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Pass> {
        let raw = self.raw()?;
        serde_json::from_str::<serde::de::IgnoredAny>(raw).map_err(|_| Pass)?;
        visitor.visit_unit()
    }

    /// Enums in serde's own notation do not occur in our types.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Pass> {
        Err(Pass)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit
        unit_struct tuple tuple_struct struct identifier
    }
}

struct Members<'a, 'de> {
    reader: &'a mut Reader<'de>,
    first: bool,
}

impl<'de> MapAccess<'de> for &mut Members<'_, 'de> {
    type Error = Pass;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Pass> {
        match self.reader.peek()? {
            b'}' => return Ok(None),
            _ if std::mem::take(&mut self.first) => {}
            b',' => self.reader.at += 1,
            _ => return Err(Pass),
        }
        let (name, escaped) = self.reader.string()?;
        if !escaped {
            let key: serde::de::value::BorrowedStrDeserializer<'de, Pass> =
                serde::de::value::BorrowedStrDeserializer::new(name);
            return seed.deserialize(key).map(Some);
        }
        let name = unescape(name).ok_or(Pass)?;
        let key: StrDeserializer<'_, Pass> = name.as_str().into_deserializer();
        seed.deserialize(key).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Pass> {
        self.reader.expect(b':')?;
        seed.deserialize(&mut *self.reader)
    }
}

struct Items<'a, 'de> {
    reader: &'a mut Reader<'de>,
    first: bool,
}

impl<'de> SeqAccess<'de> for &mut Items<'_, 'de> {
    type Error = Pass;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Pass> {
        if self.reader.peek()? == b']' {
            return Ok(None);
        }
        if !std::mem::take(&mut self.first) {
            self.reader.expect(b',')?;
            // `[1,]` is no JSON.
            if self.reader.peek()? == b']' {
                return Err(Pass);
            }
        }
        seed.deserialize(&mut *self.reader).map(Some)
    }
}

/// The text that a string with escapes stands for; `None` for escapes that are none. Half a surrogate pair becomes U+FFFD:
/// here, string by string, so that carried JSON keeps it as it came.
fn unescape(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let (letter, behind) = match *rest.as_bytes().get(at + 1)? {
            b'"' => ('"', at + 2),
            b'\\' => ('\\', at + 2),
            b'/' => ('/', at + 2),
            b'b' => ('\u{8}', at + 2),
            b'f' => ('\u{c}', at + 2),
            b'n' => ('\n', at + 2),
            b'r' => ('\r', at + 2),
            b't' => ('\t', at + 2),
            b'u' => {
                let high = unit(rest, at + 2)?;
                match char::from_u32(high) {
                    Some(letter) => (letter, at + 6),
                    None => match low_half(rest, at + 6).and_then(|low| pair(high, low)) {
                        Some(letter) => (letter, at + 12),
                        None => (char::REPLACEMENT_CHARACTER, at + 6),
                    },
                }
            }
            _ => return None,
        };
        out.push(letter);
        rest = &rest[behind..];
    }
    out.push_str(rest);
    Some(out)
}

/// The code unit of an escape that follows another at once.
fn low_half(text: &str, at: usize) -> Option<u32> {
    let start = text.get(at..at + 2)?;
    (start == "\\u").then(|| unit(text, at + 2))?
}

/// Four hexadecimal digits.
fn unit(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..at + 4)?;
    // `from_str_radix` would take a sign.
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

fn pair(high: u32, low: u32) -> Option<char> {
    match (high, low) {
        (0xD800..=0xDBFF, 0xDC00..=0xDFFF) => {
            char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
        }
        _ => None,
    }
}
