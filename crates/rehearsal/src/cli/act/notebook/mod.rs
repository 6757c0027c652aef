//! Notebooks: shown as cells, and changed cell by cell. The file's other fields stay, in their order.

mod cells;

use std::path::PathBuf;

use serde::Serialize as _;
use serde_json::{Value, json};

use super::paths::{changed_at, system_error};
use super::ran::Ran;
use super::text::Text;
use super::workbench::Workbench;
use super::write::{CHANGED, UNREAD, store};
use crate::cli::disk::ordered::Node;
use cells::Place;

pub(super) use cells::shown;

/// The fields of a call.
struct Call<'a> {
    path: PathBuf,
    cell: Option<&'a str>,
    source: &'a str,
    kind: Option<&'a str>,
    mode: &'a str,
}

impl<'a> Call<'a> {
    fn of(bench: &Workbench, input: &'a Value) -> Self {
        Self {
            path: bench.path(input["notebook_path"].as_str().unwrap_or_default()),
            cell: input["cell_id"].as_str(),
            source: input["new_source"].as_str().unwrap_or_default(),
            kind: input["cell_type"].as_str(),
            mode: input["edit_mode"].as_str().unwrap_or("replace"),
        }
    }
}

/// What speaks against it before anybody is asked.
pub(super) fn check(bench: &Workbench, input: &Value) -> Result<(), Ran> {
    let call = Call::of(bench, input);
    if call.path.extension().is_none_or(|ending| ending != "ipynb") {
        let text = "File must be a Jupyter notebook (.ipynb file). For editing other file types, use the FileEdit tool.";
        return Err(Ran::refused(text));
    }
    if call.mode == "insert" && call.kind.is_none() {
        return Err(Ran::refused(
            "Cell type is required when using edit_mode=insert.",
        ));
    }
    let Some(known) = bench.memory.of(&call.path) else {
        return Err(Ran::refused(UNREAD));
    };
    if changed_at(&call.path).is_ok_and(|at| at > known.changed_at) {
        return Err(Ran::refused(CHANGED));
    }
    let text = Text::read(&call.path)
        .map_err(|error| Ran::refused(system_error(&error, "open", &call.path)))?;
    let notebook: Node = serde_json::from_str(text.plain())
        .map_err(|_| Ran::refused("Notebook is not valid JSON."))?;
    match call.cell {
        None if call.mode != "insert" => Err(Ran::refused(
            "Cell ID must be specified when not inserting a new cell.",
        )),
        None => Ok(()),
        Some(cell) => match cells::find(&notebook, cell) {
            Place::At(_) => Ok(()),
            Place::Beyond(index) => Err(Ran::refused(format!(
                "Cell with index {index} does not exist in notebook."
            ))),
            Place::Nowhere => Err(Ran::refused(format!(
                "Cell with ID \"{cell}\" not found in notebook."
            ))),
        },
    }
}

/// Does it.
pub(super) fn run(bench: &Workbench, input: &Value) -> Ran {
    let call = Call::of(bench, input);
    let before = match Text::read(&call.path) {
        Ok(text) => text,
        Err(error) => return Ran::failed(system_error(&error, "open", &call.path)),
    };
    let Ok(mut notebook) = serde_json::from_str::<Node>(before.plain()) else {
        return Ran::failed("Notebook is not valid JSON.");
    };
    #[expect(clippy::cast_possible_truncation, reason = "eight letters of a mark")]
    let new_id = format!("{:08x}", bench.mark() as u32);
    let Some(done) = change(&mut notebook, &call, new_id) else {
        return Ran::failed("Cell not found in notebook.");
    };
    let after = written(&notebook);
    if let Err(failed) = store(bench, &call.path, &before.with_body(&after)) {
        return failed;
    }
    bench.memory.changed(&call.path, Some(after.clone()));
    let mut structured = json!({
        "new_source": call.source,
        "cell_type": call.kind.unwrap_or("code"),
        "language": cells::language(&notebook),
        "edit_mode": call.mode,
        "error": "",
        "notebook_path": call.path.to_string_lossy(),
        "original_file": before.body,
        "updated_file": after,
    });
    let text = told(&call, &done);
    if let Some(old) = done.old_source {
        structured["old_source"] = old.into();
    }
    if let Some(id) = done.cell {
        structured["cell_id"] = id.into();
    }
    Ran::well(text, structured)
}

/// What was done to which cell.
struct Done {
    old_source: Option<String>,
    cell: Option<String>,
}

/// Changes the notebook; nothing if there is no such cell.
fn change(notebook: &mut Node, call: &Call<'_>, new_id: String) -> Option<Done> {
    let at = match call.cell.map(|cell| cells::find(notebook, cell)) {
        Some(Place::At(index)) => Some(index),
        _ => None,
    };
    if call.mode == "insert" {
        let cell = cells::has_ids(notebook).then_some(new_id);
        let new = cells::new(call.kind.unwrap_or("code"), call.source, cell.as_deref());
        cells::insert(notebook, at.map_or(0, |index| index + 1), new);
        let old_source = None;
        return Some(Done { old_source, cell });
    }
    let old_source = match call.mode {
        "delete" => cells::remove(notebook, at?),
        _ => cells::replace(notebook, at?, call.source, call.kind),
    };
    let cell = call.cell.map(str::to_owned);
    Some(Done { old_source, cell })
}

fn told(call: &Call<'_>, done: &Done) -> String {
    let source = call.source;
    match (call.mode, &done.cell) {
        ("insert", Some(id)) => format!("Inserted cell {id} with {source}"),
        ("insert", None) => format!("Inserted a new cell with {source}"),
        ("delete", Some(id)) => format!("Deleted cell {id}"),
        (_, id) => format!(
            "Updated cell {} with {source}",
            id.as_deref().unwrap_or_default()
        ),
    }
}

/// As notebooks are written: one blank for each level.
fn written(notebook: &Node) -> String {
    let mut bytes = Vec::new();
    let form = serde_json::ser::PrettyFormatter::with_indent(b" ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, form);
    // Writing to memory does not fail, and every node is JSON.
    let _ = notebook.serialize(&mut serializer);
    String::from_utf8(bytes).unwrap_or_default()
}
