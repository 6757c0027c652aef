//! `Edit`: one passage of a file for another.

use std::io::ErrorKind;
use std::path::Path;

use serde_json::{Value, json};

use super::lines::patch;
use super::memory::Standing;
use super::paths::{missing, system_words};
use super::quotes;
use super::ran::Ran;
use super::text::{LEGACY, Text};
use super::workbench::Workbench;
use super::write::{CHANGED, CURRENT, UNREAD, store};

/// What the model is told when the file was not as it knew it, but the passage was there.
const RECOVERED: &str = " (note: the file had been modified on disk since you last read it — the edit applied cleanly, \
                         but the file contains other changes not in your context.)";

/// The fields of a call.
struct Call<'a> {
    given: &'a str,
    old: &'a str,
    new: &'a str,
    all: bool,
}

impl<'a> Call<'a> {
    fn of(input: &'a Value) -> Self {
        let text = |key: &str| input[key].as_str().unwrap_or_default();
        Self {
            given: text("file_path"),
            old: text("old_string"),
            new: text("new_string"),
            all: input["replace_all"] == true,
        }
    }
}

/// What speaks against it before anybody is asked.
pub(super) fn check(bench: &Workbench, input: &Value) -> Result<(), Ran> {
    let call = Call::of(input);
    if call.old == call.new {
        let text = "No changes to make: old_string and new_string are exactly the same.";
        return Err(Ran::refused(text));
    }
    let path = bench.path(call.given);
    let found = match Text::read(&path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound && call.old.is_empty() => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(Ran::refused(missing(&path, &bench.cwd())));
        }
        Err(error) => {
            return Err(Ran::broke(
                "Edit",
                format!("{}, read", system_words(&error)),
            ));
        }
    };
    if call.old.is_empty() {
        return match found.body.trim().is_empty() {
            true => Ok(()),
            false => Err(Ran::refused(
                "Cannot create new file - file already exists.",
            )),
        };
    }
    if path.extension().is_some_and(|ending| ending == "ipynb") {
        let text = "File is a Jupyter Notebook. Use the NotebookEdit to edit this file.";
        return Err(Ran::refused(text));
    }
    if found.lossy {
        return Err(Ran::refused(LEGACY));
    }
    check_passage(bench, &path, &found, &call)
}

fn check_passage(bench: &Workbench, path: &Path, found: &Text, call: &Call<'_>) -> Result<(), Ran> {
    let standing = bench.memory.standing(path, &found.body);
    if standing == Standing::Unknown && bench.reads_first() {
        return Err(Ran::refused(UNREAD));
    }
    let passage = quotes::find(&found.body, call.old);
    let matches = passage.map_or(0, |passage| found.body.matches(&passage).count());
    let fits = matches == 1 || matches > 1 && call.all;
    let old = call.old;
    match (standing, matches) {
        _ if fits => Ok(()),
        (Standing::Stale, _) => Err(Ran::refused(CHANGED)),
        (_, 0) => Err(Ran::refused(format!(
            "String to replace not found in file.\nString: {old}"
        ))),
        _ => Err(Ran::refused(format!(
            "Found {matches} matches of the string to replace, but replace_all is false.\nString: {old}"
        ))),
    }
}

/// Does it.
pub(super) fn run(bench: &Workbench, input: &Value) -> Ran {
    // Another call may have changed the file since it was looked at.
    if let Err(refused) = check(bench, input) {
        return refused;
    }
    let call = Call::of(input);
    let path = bench.path(call.given);
    let is_new = !path.exists();
    let before = Text::read(&path).unwrap_or_else(|_| Text::decode(&[]));
    let stale = bench.memory.standing(&path, &before.body) == Standing::Stale;
    let known = bench
        .memory
        .of(&path)
        .is_some_and(|known| known.text.is_some());
    let in_context = is_new || known && !stale;
    let passage = quotes::find(&before.body, call.old).unwrap_or_else(|| call.old.to_owned());
    let after = replaced(&before.body, &passage, &call);
    if let Err(failed) = store(bench, &path, &before.with_body(&after)) {
        return failed;
    }
    bench
        .memory
        .changed(&path, in_context.then(|| after.clone()));
    let note = match (stale, in_context) {
        (true, _) => RECOVERED,
        (false, true) => CURRENT,
        (false, false) => "",
    };
    let given = call.given;
    let text = match call.all {
        true => format!(
            "The file {given} has been updated. All occurrences were successfully replaced.{note}"
        ),
        false => format!("The file {given} has been updated successfully.{note}"),
    };
    let mut structured = json!({
        "filePath": given,
        "oldString": passage,
        "newString": call.new,
        "originalFile": before.body,
        "structuredPatch": patch(&before.body, &after),
        "userModified": false,
        "replaceAll": call.all,
    });
    if stale {
        structured["staleRecovered"] = true.into();
    }
    if !in_context {
        structured["contentNotInModelContext"] = true.into();
    }
    Ran::well(text, structured)
}

fn replaced(text: &str, passage: &str, call: &Call<'_>) -> String {
    if passage.is_empty() {
        return call.new.to_owned();
    }
    let new = quotes::in_the_style_of(passage, call.old, call.new);
    // A line that goes takes its end with it.
    let whole_line = format!("{passage}\n");
    let passage = match new.is_empty() && !passage.ends_with('\n') && text.contains(&whole_line) {
        true => whole_line.as_str(),
        false => passage,
    };
    match call.all {
        true => text.replace(passage, &new),
        false => text.replacen(passage, &new, 1),
    }
}
