//! The settings of a run: what the caller gave, with the sandbox and our own key merged in.
//!
//! Reads a file of settings only when something has to be merged into it; else the CLI gets its path. Invariant: a key
//! that the caller set is changed only by another option of the caller.

use countersign_wire::Json;
use serde_json::{Map, Value};

use super::error::OptionError;
use super::values::{Hidden, SettingSource, Settings};

/// Where settings come from.
#[derive(Debug, Clone, Default)]
pub(crate) struct SettingsOptions {
    pub(crate) settings: Option<Settings>,
    pub(crate) sandbox: Option<Json>,
    pub(crate) managed: Option<Hidden<Json>>,
    pub(crate) managed_in_initialize: bool,
    pub(crate) sources: Option<Vec<SettingSource>>,
    pub(crate) project_config_root: Option<std::path::PathBuf>,
}

impl SettingsOptions {
    /// What `--settings` is to hold. `plan_asks` adds the key without which new CLIs decide on Bash in plan mode
    /// themselves and the host never sees it.
    pub(crate) fn merged(&self, plan_asks: bool) -> Result<Option<Settings>, OptionError> {
        if self.sandbox.is_none() && !plan_asks {
            return match &self.settings {
                Some(Settings::Json(json)) => {
                    object(json, "settings")?;
                    Ok(self.settings.clone())
                }
                other => Ok(other.clone()),
            };
        }
        let mut merged = match &self.settings {
            None => Map::new(),
            Some(Settings::Json(json)) => object(json, "settings")?,
            Some(Settings::File(path)) => read(path)?,
        };
        if let Some(sandbox) = &self.sandbox {
            let sandbox = object(sandbox, "sandbox")?;
            merged.insert("sandbox".into(), Value::Object(sandbox));
        }
        if plan_asks {
            merged
                .entry("useAutoModeDuringPlan")
                .or_insert(Value::Bool(false));
        }
        Ok(Some(Settings::Json(Value::Object(merged).into())))
    }
}

fn read(path: &std::path::Path) -> Result<Map<String, Value>, OptionError> {
    let text = std::fs::read(path).map_err(|source| OptionError::SettingsFile {
        path: path.to_owned(),
        source,
    })?;
    serde_json::from_slice(&text).map_err(|source| OptionError::SettingsSyntax {
        path: path.to_owned(),
        source,
    })
}

pub(crate) fn object(json: &Json, option: &'static str) -> Result<Map<String, Value>, OptionError> {
    match json.to_value() {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(OptionError::SettingsNotObject(option)),
        Err(source) => Err(OptionError::Json { option, source }),
    }
}
