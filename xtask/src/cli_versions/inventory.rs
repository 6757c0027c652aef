//! The version that crates/wire/inventory.json describes: moved on when a newer CLI says nothing that is not in it.
//!
//! Everything else in that file is written by people, since each name in it has a type or a reason.

use std::fs;

use anyhow::Context as _;
use countersign_testkit::fetch;
use serde_json::Value;

use crate::workspace::Workspace;

const INVENTORY: &str = "crates/wire/inventory.json";

/// Returns the version that the inventory describes.
pub(super) fn version(workspace: &Workspace) -> anyhow::Result<String> {
    let value: Value = serde_json::from_str(&read(workspace)?)?;
    let version = value["meta"]["cli_version"].as_str();
    version
        .map(str::to_owned)
        .context("the inventory says no version")
}

/// Makes the inventory one of `version`, if that is newer; returns whether it changed.
pub(super) fn move_on(workspace: &Workspace, version: &str) -> anyhow::Result<bool> {
    let text = read(workspace)?;
    let Some(moved) = moved(&text, &self::version(workspace)?, version) else {
        return Ok(false);
    };
    let path = workspace.root.join(INVENTORY);
    fs::write(&path, moved).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(true)
}

fn read(workspace: &Workspace) -> anyhow::Result<String> {
    let path = workspace.root.join(INVENTORY);
    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

/// The text with the newer version in it and every other byte as it was.
fn moved(text: &str, from: &str, to: &str) -> Option<String> {
    let is_newer = fetch::numbers(to)? > fetch::numbers(from)?;
    let old = format!("\"cli_version\": \"{from}\"");
    let new = format!("\"cli_version\": \"{to}\"");
    (is_newer && text.contains(&old)).then(|| text.replacen(&old, &new, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"meta": {"cli_version": "2.1.9", "x": "2.1.9"}}"#;

    #[test]
    fn a_newer_version_takes_the_place_of_the_older_one_and_nothing_else_changes() {
        let moved = moved(TEXT, "2.1.9", "2.1.10").unwrap();
        assert_eq!(
            moved,
            r#"{"meta": {"cli_version": "2.1.10", "x": "2.1.9"}}"#
        );
    }

    #[test]
    fn an_older_version_or_the_same_one_changes_nothing() {
        for version in ["2.1.8", "2.1.9", "2.0.75"] {
            assert_eq!(moved(TEXT, "2.1.9", version), None, "{version}");
        }
    }
}
