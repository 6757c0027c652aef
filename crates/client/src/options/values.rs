//! Values of options that have a form of their own: prompts, thinking, sources of settings, tools, skills.
//!
//! Invariant: `Debug` shows no text that could hold a secret.

use std::fmt;
use std::path::PathBuf;

use countersign_wire::Json;

/// A text, given directly or as a file.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Prompt {
    /// The text.
    Text(String),
    /// A file that the CLI reads.
    File(PathBuf),
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<PathBuf> for Prompt {
    fn from(file: PathBuf) -> Self {
        Self::File(file)
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}

/// Settings for this run, as JSON or as a file.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Settings {
    /// The settings.
    Json(Json),
    /// A file that holds them.
    File(PathBuf),
}

impl From<Json> for Settings {
    fn from(json: Json) -> Self {
        Self::Json(json)
    }
}

impl From<serde_json::Value> for Settings {
    fn from(json: serde_json::Value) -> Self {
        Self::Json(json.into())
    }
}

impl From<PathBuf> for Settings {
    fn from(file: PathBuf) -> Self {
        Self::File(file)
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(json) => write!(f, "Json({} bytes)", json.as_str().len()),
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
        }
    }
}

/// A value that `Debug` does not show.
#[derive(Clone, Default)]
pub(crate) struct Hidden<T>(pub(crate) T);

impl<T> fmt::Debug for Hidden<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// How much the model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    /// As much as it finds right.
    Adaptive,
    /// Not at all.
    Disabled,
    /// At most this many tokens; 0 is the same as [`Thinking::Disabled`].
    Budget(u32),
}

/// What of the thinking is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThinkingDisplay {
    /// A summary.
    Summarized,
    /// Nothing.
    Omitted,
}

impl ThinkingDisplay {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Summarized => "summarized",
            Self::Omitted => "omitted",
        }
    }
}

/// A file of settings that the CLI reads by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingSource {
    /// The user's.
    User,
    /// The project's, shared.
    Project,
    /// The project's, of this user.
    Local,
}

impl SettingSource {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// Who decides what no rule decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionPrompts {
    /// The host, by the prompt tool.
    Host,
    /// Nobody: all of it is denied.
    None,
}

impl PermissionPrompts {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::None => "none",
        }
    }
}

/// Which built-in tools there are.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tools {
    /// The CLI's default set.
    Default,
    /// These only; none when empty.
    Only(Vec<String>),
}

/// Which skills the agent may use without being asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Skills {
    /// All that are found.
    All,
    /// These, and no others are loaded.
    Only(Vec<String>),
}
