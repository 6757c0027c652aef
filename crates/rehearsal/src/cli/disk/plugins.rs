//! Plugins of `--plugin-dir`: what their manifest says, and where their commands, skills and sub-agents lie.
//!
//! Their hooks, servers and settings are not used. Invariant: whatever a plugin brings is called by the plugin's name and
//! its own, with `:` between.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// A plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Plugin {
    pub(in crate::cli) name: String,
    pub(in crate::cli) folder: PathBuf,
    version: Option<String>,
}

impl Plugin {
    /// Reads the manifest; a plugin without one is called after its folder.
    pub(in crate::cli) fn read(cwd: &Path, folder: &str) -> Self {
        let folder = cwd.join(folder);
        let manifest = std::fs::read_to_string(folder.join(".claude-plugin/plugin.json"));
        let manifest: Value =
            serde_json::from_str(&manifest.unwrap_or_default()).unwrap_or_default();
        let text = |key: &str| manifest[key].as_str().map(str::to_owned);
        let of_folder = || {
            folder
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
        };
        Self {
            name: text("name").or_else(of_folder).unwrap_or_default(),
            version: text("version"),
            folder,
        }
    }

    /// As the first line of a turn lists it.
    pub(in crate::cli) fn info(&self) -> Value {
        let mut info = json!({
            "name": self.name,
            "path": self.folder.to_string_lossy(),
            "source": format!("{}@inline", self.name),
        });
        if let Some(version) = &self.version {
            info["version"] = version.as_str().into();
        }
        info
    }

    pub(super) fn named(&self, own: &str) -> String {
        format!("{}:{own}", self.name)
    }
}
