//! `Write`: a whole file, new or in the place of another.

use std::path::Path;

use serde_json::{Value, json};

use super::lines::patch;
use super::paths::system_error;
use super::ran::Ran;
use super::text::{LEGACY, Text};
use super::workbench::Workbench;

/// What the model is told of a file it knows all of.
pub(super) const CURRENT: &str =
    " (file state is current in your context — no need to Read it back)";
/// Why a file is not written over.
pub(super) const CHANGED: &str = "File has been modified since read, either by the user or by a linter. Read it again \
                                  before attempting to write it.";

/// What speaks against it before anybody is asked.
pub(super) fn check(bench: &Workbench, input: &Value) -> Result<(), Ran> {
    let given = input["file_path"].as_str().unwrap_or_default();
    let path = bench.path(given);
    if path.is_dir() {
        return Err(Ran::refused(format!("{given} is a directory, not a file.")));
    }
    match Text::read(&path) {
        Ok(old) if bench.memory.is_stale(&path, &old.body) => Err(Ran::refused(CHANGED)),
        _ => Ok(()),
    }
}

/// Does it.
pub(super) fn run(bench: &Workbench, input: &Value) -> Ran {
    let given = input["file_path"].as_str().unwrap_or_default();
    let content = input["content"].as_str().unwrap_or_default();
    let path = bench.path(given);
    let old = Text::read(&path).ok().filter(|old| !old.body.is_empty());
    if old.as_ref().is_some_and(|old| old.lossy) {
        return Ran::failed(LEGACY);
    }
    if let Err(failed) = store(bench, &path, content.as_bytes()) {
        return failed;
    }
    bench
        .memory
        .changed(&path, Some(Text::decode(content.as_bytes()).body));
    let (kind, text) = match &old {
        Some(_) => (
            "update",
            format!("The file {given} has been updated successfully.{CURRENT}"),
        ),
        None => (
            "create",
            format!("File created successfully at: {given}{CURRENT}"),
        ),
    };
    let hunks = old.as_ref().map(|old| patch(&old.body, content));
    let structured = json!({
        "type": kind,
        "filePath": given,
        "content": content,
        "structuredPatch": hunks.unwrap_or_else(|| json!([])),
        "originalFile": old.map(|old| old.body),
        "userModified": false,
    });
    Ran::well(text, structured)
}

/// Puts the bytes there, with the folders above them, and remembers what was there before.
pub(super) fn store(bench: &Workbench, path: &Path, bytes: &[u8]) -> Result<(), Ran> {
    bench.undo.before_change(path);
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)
        .map_err(|error| Ran::failed(system_error(&error, "mkdir", folder)))?;
    std::fs::write(path, bytes).map_err(|error| Ran::failed(system_error(&error, "open", path)))
}
