//! How a run ended, and what that is as an exit code.

use std::process::ExitCode;

/// How a run ended. The codes are part of the command's contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The last turn did what was asked.
    Fine,
    /// The agent could not be started, died, or its last turn failed.
    Failed,
    /// The turn went through, but something was refused because nobody was there to ask.
    NobodyThere,
    /// The person stopped it.
    Interrupted,
    /// A signal told us to end.
    Terminated,
}

impl Ending {
    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Ending::Fine => 0,
            Ending::Failed => 1,
            Ending::NobodyThere => 3,
            Ending::Interrupted => 130,
            Ending::Terminated => 143,
        })
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Ending::Fine => "fine",
            Ending::Failed => "failed",
            Ending::NobodyThere => "refused",
            Ending::Interrupted => "interrupted",
            Ending::Terminated => "terminated",
        }
    }
}
