//! What a call makes of a cell of a notebook.
//!
//! Owns where the cell is found. Pure. The lines are those of the cell, since nobody reads a notebook as the JSON it is stored
//! as. Invariant: a cell that is not there is none, never another one.

use serde_json::Value;

/// A cell before and after a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CellChange {
    pub(super) before: String,
    pub(super) after: String,
    /// Which cell, in a sentence.
    pub(super) says: String,
}

/// Returns what a call of `NotebookEdit` makes of a cell of the notebook `text`.
///
/// # Errors
/// When the notebook cannot be read, or has no such cell: in a sentence.
pub(super) fn change(input: &Value, text: &str) -> Result<CellChange, String> {
    let notebook: Value = serde_json::from_str(text)
        .map_err(|_| "The notebook cannot be read: it is no JSON.".to_owned())?;
    let cells = notebook.get("cells").and_then(Value::as_array);
    let cells = cells.ok_or("The notebook cannot be read: it has no cells.")?;
    let field = |name: &str| input.get(name).and_then(Value::as_str);
    let id = field("cell_id");
    let found = id.and_then(|id| place(cells, id));
    let mode = field("edit_mode").unwrap_or("replace");
    let new = field("new_source").unwrap_or_default().to_owned();
    let (before, after) = match (mode, id, found) {
        ("insert", None, _) => {
            return Ok(CellChange {
                before: String::new(),
                after: new,
                says: "A cell is inserted at the beginning.".to_owned(),
            });
        }
        (_, Some(id), None) => return Err(format!("The notebook has no cell `{id}`.")),
        ("insert", _, Some(_)) => (String::new(), new),
        ("delete", _, Some(at)) => (source(&cells[at]), String::new()),
        ("replace", _, Some(at)) => (source(&cells[at]), new),
        _ => return Err("It cannot be told which cell is meant.".to_owned()),
    };
    let (id, at) = (id.unwrap_or_default(), found.unwrap_or_default() + 1);
    let which = format!("cell `{id}`, number {at} of {}", cells.len());
    let says = match mode {
        "insert" => format!("A cell is inserted behind {which}."),
        "delete" => format!("It deletes {which}."),
        _ => format!("It replaces {which}."),
    };
    Ok(CellChange {
        before,
        after,
        says,
    })
}

/// Returns where a cell stands: by its id, else by its number from 0, as the CLI names cells without an id (`cell-2`).
fn place(cells: &[Value], id: &str) -> Option<usize> {
    let has_id = |cell: &Value| cell.get("id").and_then(Value::as_str) == Some(id);
    let number = || id.strip_prefix("cell-")?.parse::<usize>().ok();
    let by_number = || number().filter(|at| *at < cells.len());
    cells.iter().position(has_id).or_else(by_number)
}

/// Returns the text of a cell: one text, or one a line.
fn source(cell: &Value) -> String {
    match cell.get("source") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn notebook() -> String {
        json!({"cells": [
            {"cell_type": "markdown", "id": "intro", "source": "# Title"},
            {"cell_type": "code", "source": ["a = 1\n", "b = 2"], "outputs": []},
        ]})
        .to_string()
    }

    fn changed(input: Value) -> (String, String, String) {
        let CellChange {
            before,
            after,
            says,
        } = change(&input, &notebook()).unwrap();
        (before, after, says)
    }

    #[test]
    fn a_cell_is_found_by_its_id_or_its_number_and_shown_before_and_after() {
        let text = |texts: [&str; 3]| (texts[0].into(), texts[1].into(), texts[2].into());
        assert_eq!(
            changed(json!({"cell_id": "intro", "new_source": "# New"})),
            text([
                "# Title",
                "# New",
                "It replaces cell `intro`, number 1 of 2."
            ])
        );
        assert_eq!(
            changed(json!({"cell_id": "cell-1", "new_source": "", "edit_mode": "delete"})),
            text([
                "a = 1\nb = 2",
                "",
                "It deletes cell `cell-1`, number 2 of 2."
            ])
        );
        assert_eq!(
            changed(json!({"cell_id": "intro", "new_source": "c = 3", "edit_mode": "insert"})),
            text([
                "",
                "c = 3",
                "A cell is inserted behind cell `intro`, number 1 of 2."
            ])
        );
        assert_eq!(
            changed(json!({"new_source": "c = 3", "edit_mode": "insert"})),
            text(["", "c = 3", "A cell is inserted at the beginning."])
        );
    }

    #[test]
    fn a_cell_that_is_not_there_is_never_another_one() {
        let failed = |input: Value| change(&input, &notebook()).unwrap_err();
        let missing = failed(json!({"cell_id": "cell-2", "new_source": "x"}));
        assert_eq!(missing, "The notebook has no cell `cell-2`.");
        let none = failed(json!({"new_source": "x"}));
        assert_eq!(none, "It cannot be told which cell is meant.");
        let input = json!({"cell_id": "intro", "new_source": "x"});
        for text in ["", "{}", "no json"] {
            let why = change(&input, text).unwrap_err();
            assert!(why.starts_with("The notebook cannot be read"), "{why}");
        }
    }
}
