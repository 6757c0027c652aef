//! Signals to a run that nobody sits at: Ctrl-C interrupts, a request to end ends.
//!
//! Owns the listening, from before the agent is started, so that none is missed while it starts or while something is
//! printed. At a terminal the keyboard listens instead.

use super::ending::Ending;

/// What a signal says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// Interrupt the turn.
    Interrupt,
    /// End.
    End,
}

impl Told {
    /// How a run ends that it was told to before it began.
    pub(crate) fn ending(self) -> Ending {
        match self {
            Told::Interrupt => Ending::Interrupted,
            Told::End => Ending::Terminated,
        }
    }
}

/// Listens from its making on.
#[derive(Debug)]
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hangup: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Starts to listen.
    ///
    /// # Errors
    /// When the system does not let us.
    pub(crate) fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next.
    pub(crate) async fn next(&mut self) -> Told {
        tokio::select! {
            _ = self.interrupt.recv() => Told::Interrupt,
            _ = self.terminate.recv() => Told::End,
            _ = self.hangup.recv() => Told::End,
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    /// Starts to listen.
    ///
    /// # Errors
    /// Never, here.
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for the next.
    pub(crate) async fn next(&mut self) -> Told {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Told::Interrupt
    }
}
