//! What the engine asks the shell to do in the world, and what comes back. Values only.

use std::time::Duration;

use serde_json::Value;

use crate::cli::act::Ran;
use crate::cli::disk::Written;
use crate::cli::source::SettingsEdit;

/// Something to be done outside of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed(pub(in crate::cli) Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Kind {
    /// What speaks against a call before anybody is asked about it. Its outcome is waited for.
    Check { name: String, input: Value },
    /// A tool in the working folder. Its outcome is waited for.
    Tool {
        name: String,
        input: Value,
        /// The file that the output of a command in the background goes to.
        task: Option<String>,
    },
    /// Replaces a file.
    Write { path: String, text: String },
    /// A part of the transcript.
    Written(Written),
    /// The plan is in this file from here on.
    Plan { path: String },
    /// Changes a settings file.
    Edit(Box<SettingsEdit>),
    /// Remembers what files were like when this message of the user came.
    Checkpoint { message: String },
    /// A shell may stay in this folder, too.
    AddFolder { path: String },
    /// A command of the settings that is told of an event. Its outcome is waited for.
    Hook {
        command: String,
        input: String,
        patience: Duration,
    },
    /// A message to an MCP server that is a process. Its outcome is waited for.
    Serve {
        server: String,
        config: Value,
        message: Value,
    },
    /// Answers a control request that looks at files; its outcome is the reply.
    Look(Look),
}

/// A question about files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Look {
    ReadFile { path: String },
    Rewind { message: String, dry_run: bool },
    SeedRead { path: String, mtime: u64 },
}

/// What became of a deed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub(in crate::cli) done: Done,
    /// The plan file as it is now, if there is one.
    pub(in crate::cli) plan: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Done {
    /// Nothing speaks against it, or what does.
    Checked(Option<Ran>),
    Ran(Ran),
    /// A hook of the settings has ended.
    Hooked(Printed),
    /// The answer of an MCP server, or why there is none.
    Served(Result<Value, String>),
    /// The reply to a control request, or its error.
    Looked(Result<Value, String>),
}

/// What a command printed, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Printed {
    pub(in crate::cli) stdout: String,
    pub(in crate::cli) stderr: String,
    /// None if it was ended.
    pub(in crate::cli) exit: Option<i32>,
}

impl Printed {
    pub(in crate::cli) fn failed(stderr: String) -> Self {
        Self {
            stdout: String::new(),
            stderr,
            exit: None,
        }
    }
}
