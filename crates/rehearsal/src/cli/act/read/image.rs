//! Pictures: what they are by their first bytes, how large they are, and how they travel.

use serde_json::json;

use crate::cli::act::ran::Ran;

/// A picture as a block of the answer.
pub(super) fn shown(given: &str, bytes: &[u8]) -> Ran {
    if bytes.is_empty() {
        return Ran::failed(format!("Image file is empty: {given}"));
    }
    let Some(kind) = kind(bytes) else {
        let first: Vec<String> = bytes
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        return Ran::failed(format!(
            "File has an image extension but its content is not a valid PNG/JPEG/GIF/WebP. Detected: unrecognized bytes \
             (hex: {}).",
            first.join(" ")
        ));
    };
    let data = base64(bytes);
    let content = json!([
        {"type": "image", "source": {"type": "base64", "data": data, "media_type": kind}},
    ]);
    let mut file = json!({"base64": data, "type": kind, "originalSize": bytes.len()});
    if let Some((width, height)) = size(kind, bytes) {
        file["dimensions"] = json!({
            "originalWidth": width,
            "originalHeight": height,
            "displayWidth": width,
            "displayHeight": height,
        });
    }
    Ran::well(content, json!({"type": "image", "file": file}))
}

fn kind(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}

fn size(kind: &str, bytes: &[u8]) -> Option<(u32, u32)> {
    let small = |at: usize| {
        Some(u32::from(u16::from_le_bytes([
            *bytes.get(at)?,
            *bytes.get(at + 1)?,
        ])))
    };
    let large = |at: usize| {
        let bytes: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_be_bytes(bytes))
    };
    match kind {
        "image/png" => Some((large(16)?, large(20)?)),
        "image/gif" => Some((small(6)?, small(8)?)),
        "image/jpeg" => jpeg_size(bytes),
        "image/webp" => match bytes.get(12..16)? {
            b"VP8 " => Some((small(26)? & 0x3fff, small(28)? & 0x3fff)),
            b"VP8X" => Some((three(bytes, 24)? + 1, three(bytes, 27)? + 1)),
            b"VP8L" => {
                let bits = small(21)? | small(23)? << 16;
                Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
            }
            _ => None,
        },
        _ => None,
    }
}

fn three(bytes: &[u8], at: usize) -> Option<u32> {
    let [a, b, c]: [u8; 3] = bytes.get(at..at + 3)?.try_into().ok()?;
    Some(u32::from_le_bytes([a, b, c, 0]))
}

/// The size stands in the first segment that begins a frame.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let two = |at: usize| {
        Some(u32::from(u16::from_be_bytes([
            *bytes.get(at)?,
            *bytes.get(at + 1)?,
        ])))
    };
    let mut at = 2;
    loop {
        let marker = *bytes.get(at + 1)?;
        let begins_frame = (0xc0..=0xcf).contains(&marker) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        if begins_frame {
            return Some((two(at + 7)?, two(at + 5)?));
        }
        at += 2 + usize::try_from(two(at + 2)?).ok()?;
    }
}

/// Bytes in the letters that JSON can carry.
pub(super) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            let filled = place <= group.len();
            text.push(if filled { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_letters() {
        let texts = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ];
        for (bytes, letters) in texts {
            assert_eq!(base64(bytes.as_bytes()), letters);
        }
    }

    #[test]
    fn the_size_of_a_jpeg_stands_behind_other_segments() {
        let mut bytes = vec![0xff, 0xd8, 0xff, 0xe0, 0, 4, 9, 9];
        bytes.extend([0xff, 0xc0, 0, 11, 8, 0, 3, 1, 2, 1, 0]);
        assert_eq!(jpeg_size(&bytes), Some((258, 3)));
        assert_eq!(jpeg_size(&bytes[..9]), None);
    }
}
