//! `Read`: a file as numbered lines, or as a picture.

use std::path::Path;

use serde_json::{Value, json};

use super::paths::{missing, system_error};
use super::ran::Ran;
use super::text::Text;
use super::workbench::Workbench;

const EMPTY: &str =
    "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>";
/// Bytes of a file that is read whole.
const MOST_BYTES: usize = 256 * 1024;

/// Does it.
pub(super) fn run(bench: &Workbench, input: &Value) -> Ran {
    let given = input["file_path"].as_str().unwrap_or_default();
    let path = bench.path(given);
    match std::fs::metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ran::failed(missing(&bench.cwd()));
        }
        // A device may never end, or wait for somebody.
        Ok(found) if !found.is_file() && !found.is_dir() => {
            return Ran::refused(format!(
                "Cannot read '{given}': this path names a device or process file that this tool does not read."
            ));
        }
        _ => {}
    }
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => return Ran::failed(system_error(&error, "read", &path)),
    };
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    match ending.as_ref().and_then(|ending| ending.to_str()) {
        Some(kind @ ("png" | "jpg" | "jpeg" | "gif" | "webp")) => picture(kind, &bytes),
        _ if bytes.contains(&0) => Ran::refused("This tool cannot read binary files."),
        _ => text(bench, input, &path, &bytes),
    }
}

fn picture(kind: &str, bytes: &[u8]) -> Ran {
    let kind = format!("image/{}", kind.replace("jpg", "jpeg"));
    let data = base64(bytes);
    let source = json!({"type": "base64", "data": data, "media_type": kind});
    let file = json!({"base64": data, "type": kind, "originalSize": bytes.len()});
    Ran::well(
        json!([{"type": "image", "source": source}]),
        json!({"type": "image", "file": file}),
    )
}

fn text(bench: &Workbench, input: &Value, path: &Path, bytes: &[u8]) -> Ran {
    let number = |key: &str| {
        let number = input[key].as_u64().filter(|number| *number > 0);
        number.and_then(|number| usize::try_from(number).ok())
    };
    let (offset, limit) = (number("offset").unwrap_or(1), number("limit"));
    let is_part = limit.is_some() || offset > 1 || input["allow_large"] == true;
    if !is_part && bytes.len() > MOST_BYTES {
        let found = bytes.len() / 1024;
        return Ran::failed(format!(
            "File content ({found}KB) exceeds maximum allowed size (256KB)."
        ));
    }
    let text = Text::decode(bytes);
    let lines: Vec<&str> = text.body.split('\n').collect();
    let taken = lines.iter().skip(offset - 1);
    let taken: Vec<&str> = taken.take(limit.unwrap_or(usize::MAX)).copied().collect();
    let whole = taken.len() == lines.len();
    bench.memory.read(path, whole.then(|| text.body.clone()));
    let file = json!({
        "filePath": input["file_path"],
        "content": taken.join("\n"),
        "numLines": taken.len(),
        "startLine": offset,
        "totalLines": lines.len(),
    });
    let shown = match taken.as_slice() {
        _ if bytes.is_empty() => EMPTY.to_owned(),
        [] => format!(
            "<system-reminder>Warning: the file exists but is shorter than the provided offset ({offset}). The file has \
             {} lines.</system-reminder>",
            lines.len()
        ),
        taken => {
            let numbered = taken.iter().zip(offset..);
            let numbered = numbered.map(|(line, number)| format!("{number}\t{line}"));
            numbered.collect::<Vec<_>>().join("\n")
        }
    };
    Ran::well(shown, json!({"type": "text", "file": file}))
}

/// Bytes in the letters that JSON can carry.
fn base64(bytes: &[u8]) -> String {
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
