//! `Edit`: one passage of a file for another.

use std::io::ErrorKind;

use serde_json::{Value, json};

use super::lines::patch;
use super::paths::{missing, system_error};
use super::ran::Ran;
use super::text::{LEGACY, Text};
use super::workbench::Workbench;
use super::write::{CHANGED, CURRENT, store};

/// What speaks against it before anybody is asked.
pub(super) fn check(bench: &Workbench, input: &Value) -> Result<(), Ran> {
    let text = |key: &str| input[key].as_str().unwrap_or_default();
    let (old, path) = (text("old_string"), bench.path(text("file_path")));
    if old == text("new_string") {
        let text = "No changes to make: old_string and new_string are exactly the same.";
        return Err(Ran::refused(text));
    }
    let found = match Text::read(&path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound && old.is_empty() => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(Ran::refused(missing(&bench.cwd())));
        }
        Err(error) => return Err(Ran::refused(system_error(&error, "read", &path))),
    };
    if old.is_empty() && !found.body.trim().is_empty() {
        let text = "Cannot create new file - file already exists.";
        return Err(Ran::refused(text));
    }
    if found.lossy {
        return Err(Ran::refused(LEGACY));
    }
    match found.body.matches(old).count() {
        _ if old.is_empty() => Ok(()),
        0 if bench.memory.is_stale(&path, &found.body) => Err(Ran::refused(CHANGED)),
        0 => Err(Ran::refused(format!(
            "String to replace not found in file.\nString: {old}"
        ))),
        matches if matches > 1 && input["replace_all"] != true => Err(Ran::refused(format!(
            "Found {matches} matches of the string to replace, but replace_all is false.\nString: {old}"
        ))),
        _ => Ok(()),
    }
}

/// Does it.
pub(super) fn run(bench: &Workbench, input: &Value) -> Ran {
    // Another call may have changed the file since it was looked at.
    if let Err(refused) = check(bench, input) {
        return refused;
    }
    let text = |key: &str| input[key].as_str().unwrap_or_default();
    let (given, old, new) = (text("file_path"), text("old_string"), text("new_string"));
    let all = input["replace_all"] == true;
    let path = bench.path(given);
    let is_new = !path.exists();
    let before = Text::read(&path).unwrap_or_default();
    let in_context = is_new || bench.memory.knows_all(&path, &before.body);
    let after = replaced(&before.body, old, new, all);
    if let Err(failed) = store(bench, &path, &before.with_body(&after)) {
        return failed;
    }
    bench
        .memory
        .changed(&path, in_context.then(|| after.clone()));
    let done = match all {
        true => ". All occurrences were successfully replaced.",
        false => " successfully.",
    };
    let note = if in_context { CURRENT } else { "" };
    let mut structured = json!({
        "filePath": given,
        "oldString": old,
        "newString": new,
        "originalFile": before.body,
        "structuredPatch": patch(&before.body, &after),
        "userModified": false,
        "replaceAll": all,
    });
    if !in_context {
        structured["contentNotInModelContext"] = true.into();
    }
    Ran::well(
        format!("The file {given} has been updated{done}{note}"),
        structured,
    )
}

fn replaced(text: &str, old: &str, new: &str, all: bool) -> String {
    // A line that goes takes its end with it.
    let whole_line = format!("{old}\n");
    let old = match new.is_empty() && !old.ends_with('\n') && text.contains(&whole_line) {
        true => whole_line.as_str(),
        false => old,
    };
    match all {
        _ if old.is_empty() => new.to_owned(),
        true => text.replace(old, new),
        false => text.replacen(old, new, 1),
    }
}
