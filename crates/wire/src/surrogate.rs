//! Halves of surrogate pairs, which JSON can escape and no Rust string can hold.
//!
//! The CLI is JavaScript: text it cuts between the halves of an emoji leaves as `"\\ud83d"`, valid JSON that no
//! reader of Unicode strings accepts. Such a half is read as U+FFFD rather than losing the message around it.

/// `text` with every lone half as `\\ufffd`; `None` if there is none.
pub(crate) fn mend(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut mended: Option<String> = None;
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        at += found;
        match unit(bytes, at) {
            Some(0xD800..=0xDBFF) if matches!(unit(bytes, at + 6), Some(0xDC00..=0xDFFF)) => {
                at += 12;
            }
            Some(0xD800..=0xDFFF) => {
                let out = mended.get_or_insert_default();
                out.push_str(&text[copied..at]);
                out.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            _ => at = (at + 2).min(bytes.len()),
        }
    }
    if let Some(out) = &mut mended {
        out.push_str(&text[copied..]);
    }
    mended
}

/// The code unit of the `\\uXXXX` at `at`.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lone_halves_are_replaced() {
        for (text, expected) in [
            (r#""a\ud83d""#, Some(r#""a\ufffd""#)),
            (r#""\udc00b""#, Some(r#""\ufffdb""#)),
            (r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            (r#""\ud83d\ude00""#, None),
            (r#""\\ud83d""#, None),
            (r#""\\\ud83d""#, Some(r#""\\\ufffd""#)),
            (r#""\ud83""#, None),
            ("\"\\", None),
            ("\"é\\u", None),
        ] {
            assert_eq!(mend(text).as_deref(), expected, "{text}");
        }
    }
}
