//! Three ways to follow an agent's lines: a pipe of its own, a file that grows, a journal.
//!
//! Owns the reading of each and the counting of lines. Invariant: a follower that has seen as many lines as were ordered has
//! seen every one of them whole; whatever else it meets is an error.

use std::fs::File;
use std::io::Read as _;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use countersign_journal::{Kind, Reader, Step};
use rustix::fs::inotify;

use super::kept::Connection;

/// Follows until so many of the agent's lines were seen; each is shown without its newline.
pub(crate) trait Follow {
    fn follow(&mut self, lines: u64, each: &mut dyn FnMut(&[u8])) -> anyhow::Result<()>;
}

/// Whole lines out of whatever a read gives.
#[derive(Debug)]
struct Lines {
    buffer: Vec<u8>,
    filled: usize,
}

impl Lines {
    fn new() -> Self {
        Self {
            buffer: vec![0; 64 << 10],
            filled: 0,
        }
    }

    /// One read, and the lines that are whole after it. `None` at the end of the file.
    fn read(
        &mut self,
        from: &mut File,
        each: &mut dyn FnMut(&[u8]),
    ) -> anyhow::Result<Option<u64>> {
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.filled * 2, 0);
        }
        let read = from.read(&mut self.buffer[self.filled..])?;
        if read == 0 {
            return Ok(None);
        }
        let before = self.filled;
        self.filled += read;
        let (mut lines, mut start) = (0, 0);
        for newline in memchr::memchr_iter(b'\n', &self.buffer[before..self.filled]) {
            let end = before + newline;
            each(&self.buffer[start..end]);
            start = end + 1;
            lines += 1;
        }
        self.buffer.copy_within(start..self.filled, 0);
        self.filled -= start;
        Ok(Some(lines))
    }
}

/// Reads the agent's stdout itself, as a host without a keeper does.
#[derive(Debug)]
pub(crate) struct OverPipe {
    pipe: File,
    lines: Lines,
}

impl OverPipe {
    pub(crate) fn new(pipe: OwnedFd) -> Self {
        Self {
            pipe: pipe.into(),
            lines: Lines::new(),
        }
    }
}

impl Follow for OverPipe {
    fn follow(&mut self, lines: u64, each: &mut dyn FnMut(&[u8])) -> anyhow::Result<()> {
        let mut seen = 0;
        while seen < lines {
            let more = self.lines.read(&mut self.pipe, each)?;
            seen += more.context("the agent has ended")?;
        }
        ensure!(seen == lines, "{seen} lines instead of {lines}");
        Ok(())
    }
}

/// Reads a file that somebody else appends to, woken by inotify.
#[derive(Debug)]
pub(crate) struct OverFile {
    file: File,
    changes: OwnedFd,
    lines: Lines,
}

impl OverFile {
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let changes = inotify::init(inotify::CreateFlags::CLOEXEC)?;
        inotify::add_watch(&changes, path, inotify::WatchFlags::MODIFY)?;
        Ok(Self {
            file: File::open(path)?,
            changes,
            lines: Lines::new(),
        })
    }
}

impl Follow for OverFile {
    fn follow(&mut self, lines: u64, each: &mut dyn FnMut(&[u8])) -> anyhow::Result<()> {
        let mut seen = 0;
        while seen < lines {
            match self.lines.read(&mut self.file, each)? {
                Some(more) => seen += more,
                None => {
                    // What happened since the last look is still in there: nothing is slept through.
                    let mut room = [MaybeUninit::uninit(); 512];
                    inotify::Reader::new(&self.changes, &mut room).next()?;
                }
            }
        }
        ensure!(seen == lines, "{seen} lines instead of {lines}");
        Ok(())
    }
}

/// What tells a reader of a journal that there is more.
#[derive(Debug)]
pub(crate) enum Wake {
    /// The keeper's `tail`.
    Tail(Connection),
    /// Nobody: it looks again after a while.
    Poll(Duration),
}

/// Reads a journal.
#[derive(Debug)]
pub(crate) struct OverJournal {
    reader: Reader,
    wake: Wake,
}

impl OverJournal {
    pub(crate) fn open(dir: &Path, wake: Wake) -> anyhow::Result<Self> {
        Ok(Self {
            reader: Reader::open(dir)?,
            wake,
        })
    }

    fn wait(&mut self) -> anyhow::Result<()> {
        match &mut self.wake {
            Wake::Tail(connection) => {
                connection.read()?;
                self.reader.set_limit(connection.tail());
            }
            Wake::Poll(pause) => std::thread::sleep(*pause),
        }
        Ok(())
    }
}

impl Follow for OverJournal {
    fn follow(&mut self, lines: u64, each: &mut dyn FnMut(&[u8])) -> anyhow::Result<()> {
        let mut seen = 0;
        while seen < lines {
            seen += drain(&mut self.reader, each)?;
            if seen < lines {
                self.wait()?;
            }
        }
        ensure!(seen == lines, "{seen} lines instead of {lines}");
        Ok(())
    }
}

/// Reads to the end of what is there. How many lines of the agent that were.
pub(crate) fn drain(reader: &mut Reader, each: &mut dyn FnMut(&[u8])) -> anyhow::Result<u64> {
    let mut lines = 0;
    loop {
        match reader.next()? {
            Step::Record(record) if record.kind == Kind::Agent => {
                each(record.payload);
                lines += 1;
            }
            Step::Record(_) => {}
            Step::End => return Ok(lines),
            other => bail!("the journal has {other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn lines_are_whole_however_the_file_grows() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let mut out = File::create(&path).unwrap();
        let mut follower = OverFile::open(&path).unwrap();
        let mut seen = Vec::new();
        out.write_all(b"one\ntw").unwrap();
        let mut each = |line: &[u8]| seen.push(line.to_vec());
        follower.follow(1, &mut each).unwrap();
        out.write_all(b"o\n").unwrap();
        out.write_all(&[b'x'; 100_000]).unwrap();
        out.write_all(b"\n").unwrap();
        follower.follow(2, &mut each).unwrap();
        let lengths: Vec<usize> = seen.iter().map(Vec::len).collect();
        assert_eq!(lengths, [3, 3, 100_000]);
        assert_eq!(&seen[1], b"two");
    }
}
