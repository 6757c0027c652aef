//! A home, a folder to work in and a data folder for one test, and questions about calls.
//!
//! Owns the places. Nothing of the caller's environment or home is seen: agents inherit nothing.

use std::path::{Path, PathBuf};

use countersign_client::wire::control::CanUseTool;
use countersign_host::control::Mode;
use countersign_host::control::session::Setup;
use countersign_host::desk::{Desk, Grounds, HostSettings, KeptRule, Reach, Ruling};
use countersign_policy::Effect;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A moment, in microseconds of Unix time.
pub(crate) const NOW: u64 = 1_800_000_000_000_000;
pub(crate) const MINUTE: u64 = 60_000_000;

pub(crate) struct Ground {
    _temp: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) host: HostSettings,
    pub(crate) setup: Setup,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(temp.path()).unwrap();
        for folder in [
            "home/.claude/plans",
            "work",
            "data/sessions",
            "data/worktrees",
        ] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let host = HostSettings {
            env: vec![
                ("HOME".into(), root.join("home").into()),
                ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ],
            inherits: false,
            ..HostSettings::new(root.join("data"))
        };
        Self {
            _temp: temp,
            root,
            host,
            setup: Setup::default(),
        }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The person's own rules.
    pub(crate) fn rules(&self, text: &str) {
        self.write("home/.config/countersign/countersign.toml", text);
    }

    pub(crate) fn grounds(&self) -> Grounds {
        let cwd = self.path("work");
        Grounds::of(&self.setup, &cwd, None, &self.host).unwrap()
    }

    pub(crate) fn desk(&self, mode: Mode) -> Desk {
        self.desk_with(Vec::new(), mode)
    }

    pub(crate) fn desk_with(&self, kept: Vec<KeptRule>, mode: Mode) -> Desk {
        Desk::open(self.grounds(), kept, mode, NOW)
    }
}

pub(crate) fn kept(effect: Effect, text: &str) -> KeptRule {
    KeptRule {
        number: None,
        effect,
        text: text.to_owned(),
        reach: Reach::Always,
        expires: None,
        note: None,
    }
}

pub(crate) fn ask(tool: &str, input: Value) -> CanUseTool {
    serde_json::from_value(json!({"tool_name": tool, "input": input, "tool_use_id": "t-1"}))
        .unwrap()
}

pub(crate) fn bash(command: &str) -> CanUseTool {
    ask("Bash", json!({"command": command}))
}

pub(crate) fn write_to(path: &Path) -> CanUseTool {
    ask("Write", json!({"file_path": path, "content": "x"}))
}

pub(crate) fn read(path: &Path) -> CanUseTool {
    ask("Read", json!({"file_path": path}))
}

/// The ruling in a word.
pub(crate) fn word(ruling: &Ruling) -> &'static str {
    match ruling {
        Ruling::Allow(_) => "allow",
        Ruling::Deny { .. } => "deny",
        Ruling::Ask { .. } => "ask",
    }
}
