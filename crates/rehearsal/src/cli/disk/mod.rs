//! What the scripted CLI finds and leaves on disk: settings, agents, commands, sessions and plans.
//!
//! Reading happens before the engine starts; what is to be written comes from the pure [`Scribe`] and is carried out by
//! [`append`] and [`replace`]. Everything is `std::fs`. Invariant: nothing outside of the configuration folder and the
//! project's `.claude` is written.

mod agents;
mod commands;
mod edit;
mod files;
mod front;
mod past;
mod places;
mod plan;
mod plugins;
mod scribe;
mod settings;
mod stamp;
mod trust;

#[cfg(test)]
mod tests;

pub(in crate::cli) use agents::Agents;
pub(in crate::cli) use commands::Commands;
pub(in crate::cli) use edit::carry_out;
pub(in crate::cli) use files::{Mode, append, replace};
pub(in crate::cli) use past::{Past, ResumeError, free, latest, resolve};
pub(in crate::cli) use places::{NoHome, Places};
pub(in crate::cli) use plan::file as plan_file;
pub(in crate::cli) use plugins::Plugin;
pub(in crate::cli) use scribe::{AgentNote, Aside, Head, Moment, Scribe, Written};
pub(in crate::cli) use settings::{Chosen, Settings};
pub(in crate::cli) use stamp::stamp;
pub(in crate::cli) use trust::{distrust, is_trusted};

impl Written {
    /// Does what it says.
    ///
    /// # Errors
    /// When a folder or the file cannot be made or written.
    pub(in crate::cli) fn carry_out(&self) -> std::io::Result<()> {
        match self {
            Self::Append { path, text } => append(path, text.as_bytes()),
            Self::Replace { path, text, mode } => replace(path, text.as_bytes(), *mode),
        }
    }
}
