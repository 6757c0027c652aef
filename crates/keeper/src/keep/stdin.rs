//! The way to the agent's stdin: whole lines, in order, none of them lost or written twice.
//!
//! Owns what is journalled and not yet written. Never waits for the agent: what it does not take stays in the queue, which
//! is bounded; a host whose line does not fit is told so before the line is journalled.

use std::collections::VecDeque;
use std::process::ChildStdin;

use crate::protocol::Ref;

/// How much may wait for the agent. A line that is longer is taken alone.
const MOST: usize = 16 << 20;

#[derive(Debug)]
struct Waiting {
    /// Its `h` record.
    seq: u64,
    /// Who is told; nobody for a line of the keeper's own.
    reference: Option<Ref>,
    line: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Stdin {
    pipe: Option<ChildStdin>,
    queue: VecDeque<Waiting>,
    /// How much of the first one is written.
    written: usize,
    bytes: usize,
}

impl Stdin {
    /// `pipe` must not block.
    pub(crate) fn new(pipe: ChildStdin) -> Self {
        Self {
            pipe: Some(pipe),
            queue: VecDeque::new(),
            written: 0,
            bytes: 0,
        }
    }

    /// To be polled while something waits.
    pub(crate) fn wanting(&self) -> Option<&ChildStdin> {
        self.pipe.as_ref().filter(|_| !self.queue.is_empty())
    }

    pub(crate) fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    pub(crate) fn has_room(&self, length: usize) -> bool {
        self.queue.is_empty() || self.bytes + length <= MOST
    }

    pub(crate) fn push(&mut self, seq: u64, reference: Option<Ref>, line: Vec<u8>) {
        self.bytes += line.len();
        self.queue.push_back(Waiting {
            seq,
            reference,
            line,
        });
    }

    /// Writes what the agent takes. Returns the lines that are written to their last byte. `true` if one was long.
    pub(crate) fn write(&mut self) -> Vec<(Option<Ref>, u64)> {
        let mut done = Vec::new();
        while let (Some(pipe), Some(first)) = (&self.pipe, self.queue.front()) {
            match rustix::io::write(pipe, &first.line[self.written..]) {
                Ok(count) => self.written += count,
                Err(rustix::io::Errno::INTR) => continue,
                Err(rustix::io::Errno::AGAIN) => break,
                // The agent does not read any more. Its exit says what did not reach it.
                Err(_) => self.pipe = None,
            }
            if self
                .queue
                .front()
                .is_some_and(|first| self.written == first.line.len())
            {
                self.written = 0;
                if let Some(first) = self.queue.pop_front() {
                    self.bytes -= first.line.len();
                    done.push((first.reference, first.seq));
                }
            }
        }
        done
    }

    /// The `h` records of lines that are not written, or not whole.
    pub(crate) fn unwritten(&self) -> Vec<u64> {
        self.queue.iter().map(|waiting| waiting.seq).collect()
    }

    pub(crate) fn close(&mut self) {
        self.pipe = None;
    }
}
