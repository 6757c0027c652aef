//! The host of a replayed agent: its lines on stdin, as they come.
//!
//! Owns the thread that reads them. At most [`QUEUE`] lines wait here; beyond that stdin is not read, and the host waits.

use std::io::{self, Read as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::time::Duration;

use countersign_wire::frame::{FrameReader, Line};

use super::script::Live;

const QUEUE: usize = 1_024;

/// The host's lines.
#[derive(Debug)]
pub(super) struct Host {
    lines: Receiver<Live>,
    is_over: bool,
}

/// What came of waiting.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    Line(Live),
    /// Nothing yet.
    Nothing,
    /// Stdin has ended.
    End,
}

impl Host {
    pub(super) fn listen() -> io::Result<Self> {
        let (send, lines) = sync_channel(QUEUE);
        // It ends with stdin, or with the process.
        std::thread::Builder::new()
            .name("host".to_owned())
            .spawn(move || {
                let mut frames = FrameReader::new();
                let mut stdin = io::stdin().lock();
                loop {
                    match stdin.read(frames.spare()) {
                        Ok(0) => return,
                        Ok(count) => frames.filled(count),
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                        Err(_) => return,
                    }
                    while let Some(line) = frames.next_line() {
                        let Line::Text(line) = line else {
                            continue;
                        };
                        if send.send(Live::of(line)).is_err() {
                            return;
                        }
                    }
                }
            })?;
        Ok(Self {
            lines,
            is_over: false,
        })
    }

    /// What is there already.
    pub(super) fn hear(&mut self) -> Heard {
        match self.lines.try_recv() {
            Ok(line) => Heard::Line(line),
            Err(TryRecvError::Empty) => Heard::Nothing,
            Err(TryRecvError::Disconnected) => self.over(),
        }
    }

    /// The next line, however long it takes.
    pub(super) fn wait(&mut self) -> Heard {
        match self.lines.recv() {
            Ok(line) => Heard::Line(line),
            Err(_) => self.over(),
        }
    }

    /// The next line, if it comes within this time.
    pub(super) fn wait_for(&mut self, time: Duration) -> Heard {
        if self.is_over {
            std::thread::sleep(time);
            return Heard::Nothing;
        }
        match self.lines.recv_timeout(time) {
            Ok(line) => Heard::Line(line),
            Err(RecvTimeoutError::Timeout) => Heard::Nothing,
            Err(RecvTimeoutError::Disconnected) => self.over(),
        }
    }

    fn over(&mut self) -> Heard {
        self.is_over = true;
        Heard::End
    }
}
