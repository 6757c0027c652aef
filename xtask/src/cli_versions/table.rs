//! The table of versions, crates/testkit/clis.json: adds a row.
//!
//! Invariant: newest first, and what stands in it already keeps its place and its bytes.

use std::fs;

use anyhow::Context as _;
use countersign_testkit::fetch::{self, Pinned};
use serde_json::{Value, json};

use crate::workspace::Workspace;

/// Adds the version to the table, as one that the suites do not run on. Does nothing if it is there.
pub(super) fn add(workspace: &Workspace, pinned: &Pinned) -> anyhow::Result<()> {
    let path = workspace.root.join("crates/testkit").join(fetch::TABLE);
    let cannot = |what: &str| format!("cannot {what} {}", path.display());
    let text = fs::read_to_string(&path).with_context(|| cannot("read"))?;
    let text = with_row(&text, pinned).with_context(|| cannot("understand"))?;
    fs::write(&path, text).with_context(|| cannot("write"))
}

fn with_row(text: &str, pinned: &Pinned) -> anyhow::Result<String> {
    let mut rows: Vec<Value> = serde_json::from_str(text)?;
    if rows.iter().any(|row| row["version"] == pinned.version) {
        return Ok(text.to_owned());
    }
    let is_older = |row: &Value| {
        let version = row["version"].as_str().and_then(fetch::numbers);
        version < Some(pinned.numbers())
    };
    let at = rows.iter().position(is_older).unwrap_or(rows.len());
    rows.insert(at, row(pinned));
    let rows: Vec<String> = rows.iter().map(written).collect();
    Ok(format!("[\n{}\n]\n", rows.join(",\n")))
}

fn row(pinned: &Pinned) -> Value {
    json!({
        "version": pinned.version,
        "runtime": pinned.runtime.name(),
        "integrity": pinned.integrity,
        "declarations": pinned.declarations,
        "download_bytes": pinned.download_bytes,
        "tested": pinned.is_tested,
    })
}

/// The fields of a row in the order in which they are read best.
fn written(row: &Value) -> String {
    let names = [
        "version",
        "runtime",
        "integrity",
        "declarations",
        "download_bytes",
        "tested",
    ];
    let fields = names.into_iter().filter(|name| !row[name].is_null());
    let fields: Vec<_> = fields
        .map(|name| format!("    \"{name}\": {}", row[name]))
        .collect();
    format!("  {{\n{}\n  }}", fields.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = include_str!("../../../crates/testkit/clis.json");

    fn version(version: &'static str) -> Pinned {
        let newest = *fetch::newest();
        Pinned {
            version,
            is_tested: false,
            ..newest
        }
    }

    #[test]
    fn a_new_version_stands_where_its_number_belongs_and_the_rest_stays() {
        let text = with_row(TABLE, &version("2.1.100")).unwrap();
        let rows: Vec<Value> = serde_json::from_str(&text).unwrap();
        let versions: Vec<_> = rows.iter().map(|row| row["version"].as_str()).collect();
        let at = versions
            .iter()
            .position(|version| *version == Some("2.1.100"));
        let at = at.unwrap();
        assert_eq!(versions[at - 1], Some("2.1.200"));
        assert_eq!(versions[at + 1], Some("2.1.62"));
        assert_eq!(rows[at]["tested"], false);
        let without: Vec<&str> = text
            .split("  {\n")
            .filter(|row| !row.contains("\"2.1.100\""))
            .collect();
        assert_eq!(without.join("  {\n"), TABLE);
    }

    #[test]
    fn a_version_that_is_there_changes_nothing() {
        assert_eq!(with_row(TABLE, &version("2.1.62")).unwrap(), TABLE);
    }

    #[test]
    fn the_newest_and_the_oldest_version_have_a_place() {
        for (new, at) in [("99.0.0", 0), ("0.2.9", fetch::pinned().len())] {
            let rows: Vec<Value> =
                serde_json::from_str(&with_row(TABLE, &version(new)).unwrap()).unwrap();
            assert_eq!(rows[at]["version"], new);
        }
    }
}
