//! Signals as something to poll.
//!
//! Owns the handlers: a byte into a pipe for each signal, and whether one of them asks for the end. A file that has reached
//! the size it may have is an error to handle, not a reason to die.

use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

#[derive(Debug)]
pub(crate) struct Signals {
    pub(crate) pipe: UnixStream,
    is_end: Arc<AtomicBool>,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        let (pipe, write) = UnixStream::pair()?;
        pipe.set_nonblocking(true)?;
        write.set_nonblocking(true)?;
        let is_end = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&is_end))?;
            signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
        }
        signal_hook::low_level::pipe::register(SIGCHLD, write)?;
        signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
        Ok(Self { pipe, is_end })
    }

    /// Empties the pipe. `true` if the end was asked for since the last time.
    pub(crate) fn take(&mut self) -> bool {
        let mut bytes = [0; 64];
        while matches!(self.pipe.read(&mut bytes), Ok(count) if count > 0) {}
        self.is_end.swap(false, Ordering::Relaxed)
    }
}
