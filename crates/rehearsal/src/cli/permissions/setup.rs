//! What a session's permissions start from: the flags, the settings of every source, and the folders.
//!
//! Owns the ground that decisions stand on. The disk is behind [`World`], so that a decision can be taken in a test
//! without one; nothing is read from it but whether a path is a folder and where a link leads.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::source::Source;

/// Who can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Prompts {
    /// The host, by `can_use_tool` (`--permission-prompt-tool stdio`).
    Host,
    /// Nobody: no `--permission-prompt-tool` was given.
    Nobody,
    /// Nobody, because the host said so (`--permission-prompts none`).
    Off,
}

/// The two questions that a decision has about the disk.
pub(in crate::cli) trait World: fmt::Debug + Send + Sync {
    /// Whether there is a folder at this path.
    fn is_dir(&self, path: &Path) -> bool;
    /// The path with every link followed, if there is anything at it.
    fn real(&self, path: &Path) -> Option<PathBuf>;
}

/// The disk of this machine.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Disk;

impl World for Disk {
    fn is_dir(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        path.canonicalize().ok()
    }
}

/// Everything a [`Permit`](super::Permit) is made of.
#[derive(Debug)]
pub(in crate::cli) struct Setup {
    /// `--permission-mode`; without one the settings' `permissions.defaultMode` holds.
    pub(in crate::cli) mode: Option<String>,
    /// Launched with a flag that lets the session switch to `bypassPermissions`.
    pub(in crate::cli) bypass_allowed: bool,
    /// Who can be asked.
    pub(in crate::cli) prompts: Prompts,
    /// The session's folder.
    pub(in crate::cli) cwd: PathBuf,
    /// The user's folder.
    pub(in crate::cli) home: PathBuf,
    /// `~/.claude`, or what `CLAUDE_CONFIG_DIR` says.
    pub(in crate::cli) config_dir: PathBuf,
    /// `--add-dir`.
    pub(in crate::cli) dirs: Vec<PathBuf>,
    /// The rules of `--allowedTools`.
    pub(in crate::cli) allowed: Vec<String>,
    /// The rules of `--disallowedTools`.
    pub(in crate::cli) disallowed: Vec<String>,
    /// The settings of each source.
    pub(in crate::cli) settings: Vec<(Source, Value)>,
    /// The user accepted to trust this folder: without it, what the project allows does not count.
    pub(in crate::cli) trusted: bool,
    /// Where the plan of this session is written.
    pub(in crate::cli) plan_file: Option<PathBuf>,
    /// The disk.
    pub(in crate::cli) world: Box<dyn World>,
}
