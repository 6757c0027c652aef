//! `Read`: a file as numbered lines, as a picture, as a document or as the cells of a notebook.

mod image;
mod limits;

use std::path::Path;

use serde_json::{Value, json};

use super::notebook;
use super::paths::{missing, system_error};
use super::ran::Ran;
use super::text::Text;
use super::workbench::Workbench;

const EMPTY: &str =
    "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>";

/// Endings of files that are not text.
const BINARY: [&str; 42] = [
    "7z", "a", "avi", "bin", "bmp", "bz2", "class", "dat", "db", "dll", "dmg", "doc", "docx",
    "dylib", "eot", "exe", "flac", "gz", "ico", "iso", "jar", "lib", "mkv", "mov", "mp3", "mp4",
    "o", "obj", "otf", "pyc", "rar", "so", "sqlite", "tar", "tiff", "ttf", "wav", "wasm", "woff",
    "woff2", "xz", "zip",
];

/// Files that never end, or wait for somebody.
const DEVICES: [&str; 10] = [
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
    "/dev/full",
    "/dev/stdin",
    "/dev/tty",
    "/dev/console",
    "/dev/stdout",
    "/dev/stderr",
    "/proc/self/fd/0",
];

/// What speaks against it before anybody is asked.
pub(super) fn check(bench: &Workbench, input: &Value) -> Result<(), Ran> {
    let path = bench.path(input["file_path"].as_str().unwrap_or_default());
    let ending = ending(&path);
    if BINARY.contains(&ending.as_str()) {
        return Err(Ran::refused(format!(
            "This tool cannot read binary files. The file appears to be a binary .{ending} file."
        )));
    }
    let shown = path.to_string_lossy();
    if DEVICES.contains(&&*shown) {
        return Err(Ran::refused(format!(
            "Cannot read '{shown}': this path names a device or process file that this tool does not read."
        )));
    }
    Ok(())
}

/// Does it.
pub(super) fn run(bench: &Workbench, input: &Value) -> Ran {
    let given = input["file_path"].as_str().unwrap_or_default();
    let path = bench.path(given);
    match std::fs::metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ran::failed(missing(&path, &bench.cwd()));
        }
        Err(error) => return Ran::failed(system_error(&error, "stat", &path)),
        Ok(found) if found.is_dir() => {
            let shown = path.display();
            let text = format!("EISDIR: illegal operation on a directory, read '{shown}'");
            return Ran::failed(text);
        }
        Ok(_) => {}
    }
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => return Ran::failed(system_error(&error, "open", &path)),
    };
    match ending(&path).as_str() {
        "png" | "jpg" | "jpeg" | "gif" | "webp" => image::shown(given, &bytes),
        "pdf" => document(given, &bytes),
        "ipynb" => {
            let ran = notebook::shown(given, &bytes);
            if ran.is_error.is_none() {
                bench.memory.read(&path, Some(Text::decode(&bytes).body));
            }
            ran
        }
        _ => text(bench, input, &path, &bytes),
    }
}

fn document(given: &str, bytes: &[u8]) -> Ran {
    let data = image::base64(bytes);
    let content = json!([
        {"type": "text", "text": format!("PDF file read: {given} ({})", super::paths::size(bytes.len() as u64))},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}},
    ]);
    let file = json!({"filePath": given, "base64": data, "originalSize": bytes.len()});
    Ran::well(content, json!({"type": "pdf", "file": file}))
}

/// Which lines a call asks for.
struct Wanted {
    /// The number of the first line, from 1; some models begin with 0.
    offset: i64,
    limit: Option<usize>,
    large: bool,
}

impl Wanted {
    fn of(input: &Value) -> Self {
        let offset = input["offset"].as_i64().filter(|offset| *offset >= 0);
        let limit = input["limit"].as_u64().filter(|limit| *limit > 0);
        Self {
            offset: offset.unwrap_or(1),
            limit: limit.and_then(|limit| usize::try_from(limit).ok()),
            large: input["allow_large"] == true,
        }
    }

    fn is_part(&self) -> bool {
        self.limit.is_some() || self.offset > 1
    }

    fn of_lines<'a>(&self, lines: &'a [&'a str]) -> &'a [&'a str] {
        let before = usize::try_from(self.offset.max(1) - 1).unwrap_or(usize::MAX);
        let first = before.min(lines.len());
        let end = first.saturating_add(self.limit.unwrap_or(usize::MAX));
        &lines[first..end.min(lines.len())]
    }
}

fn text(bench: &Workbench, input: &Value, path: &Path, bytes: &[u8]) -> Ran {
    let wanted = Wanted::of(input);
    if !wanted.is_part()
        && !wanted.large
        && let Some(too_large) = limits::of_bytes(bytes.len())
    {
        return Ran::failed(too_large);
    }
    let text = Text::decode(bytes);
    let lines: Vec<&str> = text.plain().split('\n').collect();
    let (taken, total) = (wanted.of_lines(&lines), lines.len());
    let body = taken.join("\n");
    let shorter = match wanted.large {
        true => Ok(None),
        false => limits::of_tokens(&body, wanted.is_part()),
    };
    let (body, cut) = match shorter {
        Ok(Some(shorter)) => (shorter, true),
        Ok(None) => (body, false),
        Err(too_large) => return Ran::failed(too_large),
    };
    let whole = taken.len() == total && !cut;
    bench.memory.read(path, whole.then(|| text.body.clone()));
    let count = match taken.is_empty() {
        true => 0,
        false => body.split('\n').count(),
    };
    let mut file = json!({
        "filePath": input["file_path"],
        "content": body,
        "numLines": count,
        "startLine": wanted.offset,
        "totalLines": total,
    });
    if cut {
        file["truncatedByTokenCap"] = true.into();
    }
    let shown = match (bytes.is_empty(), count) {
        (true, _) => EMPTY.to_owned(),
        (false, 0) => format!(
            "<system-reminder>Warning: the file exists but is shorter than the provided offset ({}). The file has \
             {total} lines.</system-reminder>",
            wanted.offset
        ),
        _ => numbered(&body, wanted.offset),
    };
    let shown = if text.lossy { shown + LOSSY } else { shown };
    Ran::well(shown, json!({"type": "text", "file": file}))
}

const LOSSY: &str = "\n\n[This file is not valid UTF-8: it uses a legacy encoding such as Windows-1252, Shift-JIS or \
                     GBK, or it is binary.]";

/// The lines with their numbers.
fn numbered(body: &str, first: i64) -> String {
    let lines = body.split('\n').zip(first..);
    let lines: Vec<String> = lines
        .map(|(line, number)| format!("{number}\t{line}"))
        .collect();
    lines.join("\n")
}

fn ending(path: &Path) -> String {
    path.extension()
        .map(|ending| ending.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default()
}
