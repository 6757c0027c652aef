//! `Write`: a whole file, new or in the place of another.

use std::path::Path;

use serde_json::{Value, json};

use super::lines::patch;
use super::memory::Standing;
use super::paths::{system_error, system_words};
use super::ran::Ran;
use super::text::{LEGACY, Text};
use super::workbench::Workbench;

/// What the model is told of a file it knows all of.
pub(super) const CURRENT: &str =
    " (file state is current in your context — no need to Read it back)";
/// Why a file is not written over.
pub(super) const UNREAD: &str = "File has not been read yet. Read it first before writing to it.";
pub(super) const CHANGED: &str = "File has been modified since read, either by the user or by a linter. Read it again \
                                  before attempting to write it.";

/// What speaks against it before anybody is asked.
pub(super) fn check(bench: &Workbench, input: &Value) -> Result<(), Ran> {
    let given = input["file_path"].as_str().unwrap_or_default();
    let path = bench.path(given);
    match std::fs::metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Ran::broke("Write", system_error(&error, "stat", &path))),
        Ok(found) if found.is_dir() => {
            return Err(Ran::refused(format!("{given} is a directory, not a file.")));
        }
        Ok(_) => {}
    }
    let old = Text::read(&path).map_err(|error| Ran::broke("Write", system_words(&error)))?;
    // A notebook is more than its text shows, so it must have been read in any case.
    let reads_first =
        bench.reads_first() || path.extension().is_some_and(|ending| ending == "ipynb");
    match bench.memory.standing(&path, &old.body) {
        Standing::Stale => Err(Ran::refused(CHANGED)),
        Standing::Unknown if reads_first => Err(Ran::refused(UNREAD)),
        Standing::Unknown | Standing::Current => Ok(()),
    }
}

/// Does it.
pub(super) fn run(bench: &Workbench, input: &Value) -> Ran {
    let given = input["file_path"].as_str().unwrap_or_default();
    let content = input["content"].as_str().unwrap_or_default();
    let path = bench.path(given);
    if let Some(target) = link_target(&path) {
        return Ran::failed(format!(
            "Refusing to write {given}: it is a symbolic link. Write to the link's target path instead: {}.",
            target.display()
        ));
    }
    let old = Text::read(&path).ok().filter(|old| !old.body.is_empty());
    if old.as_ref().is_some_and(|old| old.lossy) {
        return Ran::failed(LEGACY);
    }
    let (content, bytes) = match &old {
        Some(old) => old.replaced_by(content),
        None => (content.to_owned(), content.as_bytes().to_vec()),
    };
    if let Err(failed) = store(bench, &path, &bytes) {
        return failed;
    }
    bench.memory.changed(&path, Some(Text::decode(&bytes).body));
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
    let structured = json!({
        "type": kind,
        "filePath": given,
        "content": content,
        "structuredPatch": match &old {
            Some(old) => patch(&old.body, &content),
            None => json!([]),
        },
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

/// Where a link leads; nothing for what is no link.
pub(super) fn link_target(path: &Path) -> Option<std::path::PathBuf> {
    let found = std::fs::symlink_metadata(path).ok()?;
    found
        .is_symlink()
        .then(|| std::fs::canonicalize(path).ok())
        .flatten()
}
