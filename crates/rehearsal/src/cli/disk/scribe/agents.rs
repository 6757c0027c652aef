//! The transcripts of sub-agents: one file each below the session's folder, with a note on what it is.
//!
//! Owns where they lie and the note; their records are made where the main conversation's are.

use std::path::PathBuf;

use super::{Line, Scribe, Written};
use crate::cli::disk::Mode;

/// What is noted about a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct AgentNote {
    /// `general-purpose`, or what its file calls it.
    pub(in crate::cli) kind: String,
    /// Whether it is part of the CLI.
    pub(in crate::cli) built_in: bool,
    /// What it was started for, in a few words.
    pub(in crate::cli) description: String,
    /// The call that started it.
    pub(in crate::cli) tool_use_id: String,
    /// 1 for those the session started itself.
    pub(in crate::cli) depth: u64,
    pub(in crate::cli) background: bool,
    pub(in crate::cli) model: String,
}

impl Scribe {
    /// A sub-agent starts. Its records name it by this id.
    pub(in crate::cli) fn agent_started(&mut self, id: &str, note: AgentNote) {
        self.write_note(id, &note, false);
        self.notes.insert(id.to_owned(), note);
    }

    /// A sub-agent has ended.
    pub(in crate::cli) fn agent_finished(&mut self, id: &str) {
        if let Some(note) = self.notes.get(id).cloned() {
            self.write_note(id, &note, true);
        }
    }

    pub(super) fn agent_path(&self, id: &str, ending: &str) -> PathBuf {
        let folder = self.folder.join(&self.head.session).join("subagents");
        folder.join(format!("agent-{id}.{ending}"))
    }

    fn write_note(&mut self, id: &str, note: &AgentNote, finished: bool) {
        if !self.kept {
            return;
        }
        let mut line = Line::new();
        line.put("agentType", &note.kind)
            .mark("isBuiltIn", note.built_in)
            .mark("launchedWithDefaults", note.background)
            .put("description", &note.description)
            .put("toolUseId", &note.tool_use_id)
            .put("spawnDepth", &note.depth)
            .put(
                "requestShape",
                if note.background {
                    "background"
                } else {
                    "foreground"
                },
            )
            .put("requestNonInteractive", &true)
            .put("pickedEffortModel", &note.model)
            .mark("finished", finished);
        self.out.push(Written::Replace {
            path: self.agent_path(id, "meta.json"),
            text: line.end().trim_end().to_owned(),
            mode: Mode::Shared,
        });
    }
}
