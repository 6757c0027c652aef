//! How a session ended.

use std::fmt;

use crate::agent::Exit;

/// The end of an agent: its exit, what it said last on stderr, and how far it had to be pushed.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Closed {
    /// Its exit code, if it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What it took to end it; nothing if it ended unasked.
    pub ended_by: Option<EndedBy>,
    /// The end of its stderr, secrets masked.
    pub stderr: String,
    /// What the CLI said of its failure in a last `result` line.
    pub errors: Vec<String>,
    /// How many processes it left behind; they are gone now.
    pub swept: usize,
    /// What broke the transport, where there is no process.
    pub transport: Option<String>,
}

/// What it took to end an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndedBy {
    /// Its stdin was closed.
    Eof,
    /// SIGTERM.
    Term,
    /// SIGKILL.
    Kill,
}

impl Closed {
    /// Whether it ended well: by our own hand, or unasked with exit code 0. A CLI that we asked to end exits with 1 if its
    /// last turn had failed or was interrupted; that is no fault of the ending.
    pub fn is_clean(&self) -> bool {
        let ended_well = self.signal.is_none() && self.code.unwrap_or(0) == 0;
        self.transport.is_none() && (self.ended_by.is_some() || ended_well)
    }

    /// The last line of stderr that is not blank, for messages of one line.
    pub fn last_words(&self) -> Option<&str> {
        self.stderr
            .lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty())
    }
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exit = Exit {
            code: self.code,
            signal: self.signal,
        };
        match (&self.transport, exit == Exit::default()) {
            (Some(transport), _) => write!(f, "the connection ended: {transport}")?,
            (None, true) => f.write_str("claude ended")?,
            (None, false) => write!(f, "claude ended: {exit}")?,
        }
        match self.ended_by {
            Some(EndedBy::Eof) | None => {}
            Some(EndedBy::Term) => f.write_str(", after our SIGTERM")?,
            Some(EndedBy::Kill) => f.write_str(", after our SIGKILL")?,
        }
        for error in &self.errors {
            write!(f, "; it said: {error}")?;
        }
        if self.errors.is_empty()
            && let Some(words) = self.last_words()
        {
            write!(f, "; stderr: {words}")?;
        }
        Ok(())
    }
}
