//! Notebooks: shown as cells, and changed cell by cell.

use serde_json::{Value, json};

use super::ran::Ran;
use super::text::Text;
use super::workbench::Workbench;
use super::write::{CHANGED, store};

/// What speaks against it before anybody is asked.
pub(super) fn check(bench: &Workbench, input: &Value) -> Result<(), Ran> {
    let path = bench.path(input["notebook_path"].as_str().unwrap_or_default());
    if path.extension().is_none_or(|ending| ending != "ipynb") {
        return Err(Ran::refused(
            "File must be a Jupyter notebook (.ipynb file).",
        ));
    }
    let text = Text::read(&path).map_err(|error| Ran::refused(error.to_string()))?;
    if bench.memory.is_stale(&path, &text.body) {
        return Err(Ran::refused(CHANGED));
    }
    let notebook: Value = serde_json::from_str(&text.body)
        .map_err(|_| Ran::refused("Notebook is not valid JSON."))?;
    let inserts = input["edit_mode"] == "insert";
    match input["cell_id"].as_str() {
        None if inserts => Ok(()),
        None => Err(Ran::refused(
            "Cell ID must be specified when not inserting a new cell.",
        )),
        Some(cell) if place(&notebook, cell).is_none() => Err(Ran::refused(format!(
            "Cell with ID \"{cell}\" not found in notebook."
        ))),
        Some(_) => Ok(()),
    }
}

/// Does it.
pub(super) fn run(bench: &Workbench, input: &Value) -> Ran {
    let text = |key: &str| input[key].as_str().unwrap_or_default();
    let path = bench.path(text("notebook_path"));
    let before = Text::read(&path).unwrap_or_default();
    let mut notebook: Value = serde_json::from_str(&before.body).unwrap_or_default();
    let mode = input["edit_mode"].as_str().unwrap_or("replace");
    let kind = input["cell_type"].as_str().unwrap_or("code");
    let (cell, new) = (text("cell_id"), text("new_source"));
    let at = place(&notebook, cell);
    let Some(cells) = notebook["cells"].as_array_mut() else {
        return Ran::failed("Notebook is not valid JSON.");
    };
    let told = match (mode, at) {
        ("insert", at) => {
            let index = at.map_or(0, |index| index + 1);
            cells.insert(index, new_cell(kind, new));
            format!("Inserted a new cell with {new}")
        }
        ("delete", Some(index)) => {
            cells.remove(index);
            format!("Deleted cell {cell}")
        }
        (_, Some(index)) => {
            cells[index]["source"] = new.into();
            if cells[index]["cell_type"] == "code" {
                cells[index]["outputs"] = json!([]);
                cells[index]["execution_count"] = Value::Null;
            }
            format!("Updated cell {cell} with {new}")
        }
        (_, None) => return Ran::failed("Cell not found in notebook."),
    };
    let after = format!("{notebook:#}\n");
    if let Err(failed) = store(bench, &path, &before.with_body(&after)) {
        return failed;
    }
    bench.memory.changed(&path, Some(after.clone()));
    let structured = json!({
        "new_source": new,
        "cell_id": input["cell_id"],
        "cell_type": kind,
        "language": language(&notebook),
        "edit_mode": mode,
        "error": "",
        "notebook_path": path.to_string_lossy(),
        "original_file": before.body,
        "updated_file": after,
    });
    Ran::well(told, structured)
}

fn new_cell(kind: &str, source: &str) -> Value {
    let mut cell = json!({"cell_type": kind, "source": source, "metadata": {}});
    if kind == "code" {
        cell["execution_count"] = Value::Null;
        cell["outputs"] = json!([]);
    }
    cell
}

/// Where a cell is: by its id, else by its number (`cell-3`).
fn place(notebook: &Value, name: &str) -> Option<usize> {
    let cells = notebook["cells"].as_array()?;
    let by_id = cells.iter().position(|cell| cell["id"] == name);
    let number = || name.strip_prefix("cell-")?.parse().ok();
    by_id.or_else(number).filter(|index| *index < cells.len())
}

fn language(notebook: &Value) -> &str {
    let info = &notebook["metadata"]["language_info"]["name"];
    info.as_str().unwrap_or("python")
}

/// The cells as the model reads them, and as a structure.
pub(super) fn shown(given: &str, text: &str) -> Ran {
    let Ok(notebook) = serde_json::from_str::<Value>(text) else {
        return Ran::failed("Notebook file is not valid JSON.");
    };
    let (mut parts, mut listed) = (Vec::new(), Vec::new());
    let cells = notebook["cells"].as_array().into_iter().flatten();
    for (index, cell) in cells.enumerate() {
        let id = match cell["id"].as_str() {
            Some(id) => id.to_owned(),
            None => format!("cell-{index}"),
        };
        let (source, kind) = (joined(&cell["source"]), &cell["cell_type"]);
        let mark = match kind == "code" {
            true => "",
            false => "<cell_type>markdown</cell_type>",
        };
        parts.push(format!(
            "<cell id=\"{id}\">{mark}{source}</cell id=\"{id}\">"
        ));
        let mut entry = json!({"cellType": kind, "source": source, "cell_id": id});
        if kind == "code" {
            entry["language"] = language(&notebook).into();
        }
        for output in cell["outputs"].as_array().into_iter().flatten() {
            let data = [
                &output["text"],
                &output["data"]["text/plain"],
                &output["evalue"],
            ];
            parts.push(format!("\n{}", data.map(joined).concat()));
        }
        listed.push(entry);
    }
    let content = json!([{"type": "text", "text": parts.join("\n")}]);
    let file = json!({"filePath": given, "cells": listed});
    Ran::well(content, json!({"type": "notebook", "file": file}))
}

/// A text, or a list of texts that are one.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(joined).collect(),
        _ => String::new(),
    }
}
