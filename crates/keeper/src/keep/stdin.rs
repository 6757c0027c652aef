//! The way to the agent's stdin: whole lines, in order, none of them lost or written twice.
//!
//! Owns what is journalled and not yet written. Never waits for the agent: what it does not take stays in the queue, which
//! is bounded; a host whose line does not fit is told so before the line is journalled.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

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
    pipe: Option<OwnedFd>,
    queue: VecDeque<Waiting>,
    /// How much of the first one is written.
    written: usize,
    bytes: usize,
}

impl Stdin {
    /// `pipe` must not block.
    pub(crate) fn new(pipe: OwnedFd) -> Self {
        Self {
            pipe: Some(pipe),
            queue: VecDeque::new(),
            written: 0,
            bytes: 0,
        }
    }

    /// To be polled while something waits.
    pub(crate) fn wanting(&self) -> Option<&OwnedFd> {
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

    /// Writes what the agent takes. Returns the lines that are written to their last byte.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    fn stdin() -> (Stdin, std::io::PipeReader) {
        let (read, write) = std::io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&write, true).unwrap();
        (Stdin::new(write.into()), read)
    }

    #[test]
    fn what_is_not_taken_at_once_is_written_later_in_order_and_told_once() {
        let (mut stdin, mut agent) = stdin();
        let long = vec![b'x'; 200_000];
        stdin.push(4, Some(Ref::N(1)), long.clone());
        stdin.push(6, None, b"mine\n".to_vec());
        stdin.push(8, Some(Ref::N(2)), b"two\n".to_vec());
        assert_eq!(stdin.write(), []);
        assert_eq!(stdin.unwritten(), [4, 6, 8]);
        assert!(stdin.wanting().is_some());
        let mut got = Vec::new();
        let mut told = Vec::new();
        while stdin.wanting().is_some() {
            let mut piece = vec![0; 50_000];
            let count = agent.read(&mut piece).unwrap();
            got.extend_from_slice(&piece[..count]);
            told.extend(stdin.write());
        }
        stdin.close();
        agent.read_to_end(&mut got).unwrap();
        assert_eq!(got, [&long[..], b"mine\ntwo\n"].concat());
        assert_eq!(
            told,
            [(Some(Ref::N(1)), 4), (None, 6), (Some(Ref::N(2)), 8)]
        );
        assert_eq!(stdin.bytes, 0);
    }

    #[test]
    fn what_an_agent_that_is_gone_did_not_take_stays_listed() {
        let (mut stdin, agent) = stdin();
        drop(agent);
        stdin.push(4, Some(Ref::N(1)), b"one\n".to_vec());
        assert_eq!(stdin.write(), []);
        assert!(!stdin.is_open());
        assert_eq!(stdin.unwritten(), [4]);
        assert!(stdin.wanting().is_none());
    }

    #[test]
    fn the_queue_is_bounded_but_for_one_line() {
        let (mut stdin, _agent) = stdin();
        assert!(stdin.has_room(MOST + 1));
        stdin.push(1, None, vec![b'x'; MOST]);
        assert!(!stdin.has_room(1));
        assert!(stdin.has_room(0));
    }
}
