//! What comes out of the agent, cut into lines.
//!
//! Owns the bytes that are read and not yet journalled: they stay here until the journal has them, so a full disk loses
//! nothing. Invariant: the buffer is as long as the longest line, and is given back after it.

use std::fs::File;
use std::io;

use rustix::buffer::spare_capacity;

/// How much is read at once: what a pipe holds.
const PIECE: usize = 64 << 10;

/// A buffer that has grown beyond this is given back as soon as it is empty enough.
const KEPT: usize = 2 * PIECE;

/// From here on a line is handed on in the buffer it was read into. Well above what a journal writes without a copy, so that
/// what could not be written comes back.
const LONG: usize = 1 << 20;

/// One pipe of the agent.
#[derive(Debug)]
pub(crate) struct Pipe {
    file: Option<File>,
    bytes: Vec<u8>,
    /// Behind the last newline.
    whole: usize,
}

impl Pipe {
    pub(crate) fn new(file: File) -> Self {
        Self {
            file: Some(file),
            bytes: Vec::new(),
            whole: 0,
        }
    }

    /// To be polled, as long as the other end is open.
    pub(crate) fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// Reads once. What is there then is in [`Pipe::lines`] and [`Pipe::rest`].
    pub(crate) fn read(&mut self) -> io::Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        self.bytes.reserve(PIECE);
        let before = self.bytes.len();
        match rustix::io::read(file, spare_capacity(&mut self.bytes)) {
            Ok(0) => self.file = None,
            Ok(_) => self.find_newline(before),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn find_newline(&mut self, from: usize) {
        if let Some(at) = memchr::memrchr(b'\n', &self.bytes[from..]) {
            self.whole = from + at + 1;
        }
    }

    /// The whole lines, without their newlines.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let whole = &self.bytes[..self.whole];
        let mut start = 0;
        memchr::memchr_iter(b'\n', whole).map(move |end| {
            let line = &whole[start..end];
            start = end + 1;
            line
        })
    }

    pub(crate) fn has_lines(&self) -> bool {
        self.whole > 0
    }

    /// What came behind the last newline.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.whole..]
    }

    /// The first line, with the buffer it is in, if it is long. Only the first can be: what follows it came with one read.
    pub(crate) fn take_long(&mut self) -> Option<Vec<u8>> {
        let end = memchr::memchr(b'\n', &self.bytes[..self.whole])?;
        if end < LONG {
            return None;
        }
        let behind = self.bytes.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.bytes, behind);
        self.whole -= line.len();
        line.pop();
        Some(line)
    }

    /// What [`Pipe::take_long`] gave is not journalled: it is the first line again.
    pub(crate) fn give_back(&mut self, mut line: Vec<u8>) {
        line.push(b'\n');
        self.whole += line.len();
        line.append(&mut self.bytes);
        self.bytes = line;
    }

    /// The lines are journalled.
    pub(crate) fn forget_lines(&mut self) {
        let rest = self.bytes.len() - self.whole;
        if self.bytes.capacity() > KEPT && rest <= PIECE {
            self.bytes = self.bytes.split_off(self.whole);
        } else {
            self.bytes.drain(..self.whole);
        }
        self.whole = 0;
    }

    /// The rest is journalled, too, or counts as a line.
    pub(crate) fn forget_all(&mut self) {
        self.bytes = Vec::new();
        self.whole = 0;
    }

    /// Gives back the memory that only a next read would need.
    pub(crate) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
    }

    /// Nothing more is read.
    pub(crate) fn close(&mut self) {
        self.file = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn pipe() -> (Pipe, File) {
        let (read, write) = std::io::pipe().unwrap();
        let file = |end: std::os::fd::OwnedFd| File::from(end);
        (Pipe::new(file(read.into())), file(write.into()))
    }

    fn lines(pipe: &Pipe) -> Vec<String> {
        let text = |line: &[u8]| String::from_utf8(line.to_vec()).unwrap();
        pipe.lines().map(text).collect()
    }

    #[test]
    fn lines_are_whole_however_they_come() {
        let (mut pipe, mut agent) = pipe();
        agent.write_all(b"one\n\ntw").unwrap();
        pipe.read().unwrap();
        assert_eq!(
            (lines(&pipe), pipe.rest()),
            (vec!["one".into(), String::new()], &b"tw"[..])
        );
        // Not journalled yet: they are still there after the next read.
        agent.write_all(b"o\nthr").unwrap();
        pipe.read().unwrap();
        assert_eq!(lines(&pipe), ["one", "", "two"]);
        pipe.forget_lines();
        assert!(!pipe.has_lines());
        assert_eq!(pipe.rest(), b"thr");
        drop(agent);
        pipe.read().unwrap();
        assert!(pipe.file().is_none());
        assert_eq!(pipe.rest(), b"thr");
    }

    #[test]
    fn a_long_line_leaves_no_long_buffer() {
        let (mut pipe, mut agent) = pipe();
        let writer = std::thread::spawn(move || {
            agent.write_all(&vec![b'x'; 3 << 20]).unwrap();
            agent.write_all(b"\nrest").unwrap();
        });
        while pipe.file().is_some() {
            pipe.read().unwrap();
        }
        writer.join().unwrap();
        assert_eq!(pipe.lines().next().unwrap().len(), 3 << 20);
        let line = pipe.take_long().unwrap();
        assert_eq!((line.len(), pipe.has_lines()), (3 << 20, false));
        pipe.give_back(line);
        assert_eq!(pipe.lines().next().unwrap().len(), 3 << 20);
        pipe.forget_lines();
        assert_eq!(pipe.rest(), b"rest");
        assert!(pipe.bytes.capacity() <= KEPT);
        assert!(pipe.take_long().is_none());
    }
}
