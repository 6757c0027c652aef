//! The cells of a notebook: finding, showing, changing. Pure.

use serde_json::{Value, json};

use crate::cli::act::ran::Ran;
use crate::cli::disk::ordered::Node;

/// Where a cell is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    At(usize),
    /// Named by a number for which there is no cell.
    Beyond(usize),
    Nowhere,
}

/// By its id, else by its number: `cell-3`.
pub(super) fn find(notebook: &Node, name: &str) -> Place {
    let cells = cells(notebook);
    let by_id = cells
        .iter()
        .position(|cell| matches!(get(cell, "id"), Some(Node::Plain(id)) if id == name));
    if let Some(index) = by_id {
        return Place::At(index);
    }
    let number = name
        .strip_prefix("cell-")
        .and_then(|number| number.parse::<usize>().ok());
    match number {
        Some(index) if index < cells.len() => Place::At(index),
        Some(index) => Place::Beyond(index),
        None => Place::Nowhere,
    }
}

/// Whether cells have ids in this version of the format.
pub(super) fn has_ids(notebook: &Node) -> bool {
    let number = |key: &str| match get(notebook, key) {
        Some(Node::Plain(value)) => value.as_u64().unwrap_or(0),
        _ => 0,
    };
    (number("nbformat"), number("nbformat_minor")) >= (4, 5)
}

pub(super) fn language(notebook: &Node) -> String {
    let info = get(notebook, "metadata").and_then(|metadata| get(metadata, "language_info"));
    match info.and_then(|info| get(info, "name")) {
        Some(Node::Plain(Value::String(name))) => name.clone(),
        _ => "python".to_owned(),
    }
}

pub(super) fn new(kind: &str, source: &str, id: Option<&str>) -> Node {
    let plain = |value: Value| Node::Plain(value);
    let mut fields = vec![("cell_type".to_owned(), plain(kind.into()))];
    if let Some(id) = id {
        fields.push(("id".to_owned(), plain(id.into())));
    }
    fields.push(("source".to_owned(), plain(source.into())));
    fields.push(("metadata".to_owned(), Node::Object(Vec::new())));
    if kind == "code" {
        fields.push(("execution_count".to_owned(), plain(Value::Null)));
        fields.push(("outputs".to_owned(), Node::Array(Vec::new())));
    }
    Node::Object(fields)
}

pub(super) fn insert(notebook: &mut Node, index: usize, cell: Node) {
    let cells = cells_mut(notebook);
    cells.insert(index.min(cells.len()), cell);
}

/// Takes the cell out, and gives back its source.
pub(super) fn remove(notebook: &mut Node, index: usize) -> Option<String> {
    let cells = cells_mut(notebook);
    (index < cells.len()).then(|| source(&cells.remove(index)))
}

/// Gives the cell another source, and perhaps another kind; what it printed is gone. Gives back the old source.
pub(super) fn replace(
    notebook: &mut Node,
    index: usize,
    new: &str,
    kind: Option<&str>,
) -> Option<String> {
    let cell = cells_mut(notebook).get_mut(index)?;
    let old = source(cell);
    let was_code = is_code(cell);
    let plain = |value: Value| Node::Plain(value);
    *cell.entry("source", Node::empty) = plain(new.into());
    if was_code {
        *cell.entry("execution_count", Node::empty) = plain(Value::Null);
        *cell.entry("outputs", Node::empty) = Node::Array(Vec::new());
    }
    if let Some(kind) = kind {
        *cell.entry("cell_type", Node::empty) = plain(kind.into());
    }
    Some(old)
}

/// The cells as the model reads them, and as a structure.
pub(in crate::cli::act) fn shown(given: &str, bytes: &[u8]) -> Ran {
    let notebook: Node = match serde_json::from_slice(bytes) {
        Ok(notebook) => notebook,
        Err(error) => {
            let why = if error.is_eof() && bytes.is_empty() {
                "Unexpected EOF"
            } else {
                "Expected '}'"
            };
            return Ran::failed(format!(
                "Notebook file is not valid JSON (it may be truncated, corrupted, or still being written): JSON Parse \
                 error: {why}"
            ));
        }
    };
    let language = language(&notebook);
    let (mut parts, mut listed) = (Vec::new(), Vec::new());
    for (index, cell) in cells(&notebook).iter().enumerate() {
        let (source, is_code) = (source(cell), is_code(cell));
        let id = match get(cell, "id") {
            Some(Node::Plain(Value::String(id))) => id.clone(),
            _ => format!("cell-{index}"),
        };
        let kind = if is_code { "code" } else { "markdown" };
        let mark = if is_code {
            ""
        } else {
            "<cell_type>markdown</cell_type>"
        };
        parts.push(format!(
            "<cell id=\"{id}\">{mark}{source}</cell id=\"{id}\">"
        ));
        let mut entry = json!({"cellType": kind, "source": source, "cell_id": id});
        if is_code {
            entry["language"] = language.clone().into();
            if let Some(Node::Plain(count @ Value::Number(_))) = get(cell, "execution_count") {
                entry["execution_count"] = count.clone();
            }
            let outputs = outputs(cell);
            parts.extend(outputs.iter().map(|(_, text)| format!("\n{text}")));
            if !outputs.is_empty() {
                let outputs = outputs
                    .iter()
                    .map(|(kind, text)| json!({"output_type": kind, "text": text}));
                entry["outputs"] = outputs.collect();
            }
        }
        listed.push(entry);
    }
    let content = json!([{"type": "text", "text": parts.join("\n")}]);
    let file = json!({"filePath": given, "cells": listed});
    Ran::well(content, json!({"type": "notebook", "file": file}))
}

/// What a cell printed: the kind of each output, and its text.
fn outputs(cell: &Node) -> Vec<(String, String)> {
    let Some(Node::Array(outputs)) = get(cell, "outputs") else {
        return Vec::new();
    };
    let one = |output: &Node| {
        let text = |key: &str| get(output, key).map(joined).unwrap_or_default();
        let kind = text("output_type");
        let shown = match kind.as_str() {
            "stream" => text("text"),
            "error" => {
                let trace = match get(output, "traceback") {
                    Some(Node::Array(lines)) => {
                        lines.iter().map(joined).collect::<Vec<_>>().join("\n")
                    }
                    _ => String::new(),
                };
                format!("{}: {}\n{trace}", text("ename"), text("evalue"))
            }
            _ => {
                let data = get(output, "data").and_then(|data| get(data, "text/plain"));
                data.map(joined).unwrap_or_default()
            }
        };
        (kind, shown)
    };
    outputs.iter().map(one).collect()
}

fn is_code(cell: &Node) -> bool {
    matches!(get(cell, "cell_type"), Some(Node::Plain(kind)) if kind == "code")
}

fn source(cell: &Node) -> String {
    get(cell, "source").map(joined).unwrap_or_default()
}

/// A text, or a list of texts that are one.
fn joined(node: &Node) -> String {
    match node {
        Node::Plain(Value::String(text)) => text.clone(),
        Node::Array(parts) => parts.iter().map(joined).collect(),
        _ => String::new(),
    }
}

fn cells(notebook: &Node) -> &[Node] {
    match get(notebook, "cells") {
        Some(Node::Array(cells)) => cells,
        _ => &[],
    }
}

fn cells_mut(notebook: &mut Node) -> &mut Vec<Node> {
    notebook.entry("cells", Node::empty).list()
}

fn get<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    match node {
        Node::Object(entries) => entries
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, value)| value),
        _ => None,
    }
}
