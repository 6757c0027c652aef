//! Whether the person trusts the folder the CLI was started in. Without trust, what the folder's settings allow is ignored.
//!
//! Reads the ledger of projects; nobody here writes it.

use std::path::Path;

use serde_json::Value;

use super::files;
use super::places::{Places, text};

/// Whether the person said that this folder may bring settings of its own: the folder itself, or its repository.
pub(in crate::cli) fn is_trusted(places: &Places) -> bool {
    let content = files::read(&places.ledger).ok().flatten();
    let ledger: Value = content
        .and_then(|content| serde_json::from_str(&content).ok())
        .unwrap_or_default();
    let folders = [Some(&*places.cwd), places.git_root()];
    let accepted =
        |folder: &Path| ledger["projects"][text(folder)]["hasTrustDialogAccepted"] == true;
    folders.into_iter().flatten().any(accepted)
}

/// What the CLI says on stderr when it passes over rules of a folder that is not trusted.
pub(in crate::cli) fn distrust(places: &Places, rules: usize) -> String {
    let entries = if rules == 1 { "entry" } else { "entries" };
    format!(
        "Ignoring {rules} permissions.allow {entries} from .claude/settings.json: this workspace has not been trusted. \
         Run Claude Code interactively here once and accept the trust dialog, or set \
         projects[{:?}].hasTrustDialogAccepted: true in {}.",
        text(places.git_root().unwrap_or(&places.cwd)),
        places.ledger.display()
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::places_with;
    use super::*;

    #[test]
    fn trust_is_given_to_the_folder_or_to_its_repository_and_not_to_a_parent() {
        let (root, places) = places_with(&[]);
        let trust = |folder: &Path| {
            let ledger = json!({"projects": {text(folder): {"hasTrustDialogAccepted": true}}});
            std::fs::create_dir_all(&places.config_dir).unwrap();
            std::fs::write(&places.ledger, ledger.to_string()).unwrap();
            is_trusted(&places)
        };
        assert!(!is_trusted(&places));
        assert!(trust(&places.cwd));
        let parent = places.cwd.parent().unwrap().to_owned();
        assert!(!trust(&parent));
        std::fs::create_dir(root.path().join(".git")).unwrap();
        assert!(trust(&parent), "now it is the repository");
        let note = distrust(&places, 2);
        assert!(
            note.starts_with("Ignoring 2 permissions.allow entries from"),
            "{note}"
        );
    }
}
