//! The seam below a session: any pair of byte streams that speaks the protocol.
//!
//! Owns [`Peer`]: a child process is the usual one, but a session runs as well over a socket, over two ends of a pipe in
//! a test, or over a recording. Nothing above this knows which.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream};
use tokio::sync::watch;

use crate::agent::{AgentProcess, Graces, Pipes};
use crate::handlers::Handlers;
use crate::kept::Road;
use crate::options::{Capabilities, Warning};
use crate::peer::driver::Source;
use crate::peer::outbox::Sink;
use crate::peer::{Config, Shared};
use crate::session::Greeting;
use crate::supervise::{Owner, supervise};
use crate::tap::Tap;

/// A connection that a session can be built on.
pub struct Peer {
    source: Source,
    sink: Sink,
    owner: Owner,
    pid: Option<u32>,
    /// What is read is all there: nobody is kept waiting if reading waits.
    is_recording: bool,
}

impl std::fmt::Debug for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Peer")
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}

impl Peer {
    /// Over any reader and writer: what the CLI prints, and what it reads.
    pub fn over(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self {
            source: Source::Other(Box::new(reader)),
            sink: Sink::Other(Box::new(writer)),
            owner: Owner::Nobody,
            pid: None,
            is_recording: false,
        }
    }

    /// An agent that another process keeps, from here on.
    pub(crate) fn kept(
        live: Box<dyn AsyncRead + Send + Unpin>,
        road: Arc<dyn Road>,
        pid: Option<u32>,
    ) -> Self {
        Self {
            source: Source::Other(live),
            sink: Sink::Kept(Arc::clone(&road)),
            owner: Owner::Keeper(road),
            pid,
            is_recording: false,
        }
    }

    /// A connection and its far end, for tests: what is written there is what the agent says.
    pub fn pair() -> (Self, DuplexStream) {
        let (near, far) = tokio::io::duplex(64 << 10);
        let (reader, writer) = tokio::io::split(near);
        (Self::over(reader, writer), far)
    }

    /// Plays what a CLI printed, line by line, and swallows what is written. For looking at recordings: no line is lost to
    /// a slow listener.
    pub fn replay(lines: Vec<u8>) -> Self {
        Self {
            is_recording: true,
            ..Self::over(std::io::Cursor::new(lines), tokio::io::sink())
        }
    }

    pub(crate) fn child(process: AgentProcess, pipes: Pipes) -> Self {
        #[cfg(unix)]
        let (source, sink) = (Source::Pipe(pipes.stdout), Sink::Pipe(pipes.stdin));
        #[cfg(not(unix))]
        let (source, sink) = (
            Source::Other(Box::new(pipes.stdout)),
            Sink::Other(Box::new(pipes.stdin)),
        );
        Self {
            source,
            sink,
            pid: Some(process.pid()),
            owner: Owner::Us(Box::new(process)),
            is_recording: false,
        }
    }

    /// Starts reading. The session is not greeted yet.
    pub(crate) fn start(self, setup: Setup) -> Greeting {
        self.prepare(setup).read()
    }

    /// Everything but the reading.
    pub(crate) fn prepare(self, mut setup: Setup) -> Unread {
        setup.config.waits_for_listeners = self.is_recording;
        let runtime = tokio::runtime::Handle::current();
        let shared = Shared::new(setup.config, setup.handlers, self.sink, setup.tap, runtime);
        shared.known().start(setup.capabilities);
        Unread {
            shared,
            source: self.source,
            owner: self.owner,
            pid: self.pid,
            graces: setup.graces,
            warnings: setup.warnings,
            files: setup.files,
        }
    }
}

/// A connection of which nothing was read yet.
pub(crate) struct Unread {
    pub(crate) shared: Arc<Shared>,
    source: Source,
    owner: Owner,
    pid: Option<u32>,
    graces: Graces,
    warnings: Vec<Warning>,
    files: Vec<tempfile::TempPath>,
}

impl Unread {
    /// Starts reading.
    pub(crate) fn read(self) -> Greeting {
        let shared = self.shared;
        let (end, wish) = watch::channel(None);
        let alive = shared.alive();
        let events = shared.listen(Some(alive.clone()));
        tokio::spawn(supervise(
            shared.clone(),
            self.source,
            self.owner,
            self.graces,
            wish,
            self.files,
        ));
        Greeting {
            shared,
            end,
            graces: self.graces,
            pid: self.pid,
            warnings: self.warnings,
            alive,
            events,
        }
    }
}

/// What a connection is told at its start.
pub(crate) struct Setup {
    pub(crate) config: Config,
    pub(crate) handlers: Handlers,
    pub(crate) graces: Graces,
    pub(crate) capabilities: Capabilities,
    pub(crate) warnings: Vec<Warning>,
    /// Files that the agent reads; they go when it has gone.
    pub(crate) files: Vec<tempfile::TempPath>,
    /// Hears every line.
    pub(crate) tap: Option<Tap>,
}
