//! How the agent of a run is started.
//!
//! Owns the options that `run` gives the CLI. Invariant: it is started so that every call is asked about, whatever its
//! own settings allow.

use std::path::PathBuf;

use countersign_client::{Claude, PermissionMode, Session};
use serde_json::Value;

/// Everything that starting an agent takes.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    /// A path or a command with arguments; `claude` is searched for without.
    pub(crate) claude: Option<String>,
    pub(crate) cwd: PathBuf,
    pub(crate) add_dirs: Vec<PathBuf>,
    pub(crate) model: Option<String>,
    pub(crate) mode: PermissionMode,
    /// The conversation that goes on.
    pub(crate) resume: Option<String>,
    /// Settings the person gives, ours merged in.
    pub(crate) settings: Value,
    /// Whether text comes as it is written.
    pub(crate) streams: bool,
    pub(crate) record: Option<PathBuf>,
}

impl Launch {
    /// The same in a fresh conversation, out of plan mode.
    pub(crate) fn afresh(&self) -> Self {
        Self {
            resume: None,
            mode: PermissionMode::Default,
            ..self.clone()
        }
    }

    /// Starts the agent.
    pub(crate) async fn start(&self) -> anyhow::Result<Session> {
        let mut claude = Claude::new()
            .cwd(&self.cwd)
            .permission_mode(self.mode.clone())
            .settings(countersign_client::Json::from(self.settings.clone()))
            .include_partial_messages(self.streams)
            .questions();
        if let Some(command) = &self.claude {
            claude = claude.cli_command(command.clone());
        }
        if let Some(model) = &self.model {
            claude = claude.model(model.clone());
        }
        if let Some(session) = &self.resume {
            claude = claude.resume(session.clone());
        }
        for dir in &self.add_dirs {
            claude = claude.add_dir(dir);
        }
        Ok(claude.connect().await?)
    }
}
