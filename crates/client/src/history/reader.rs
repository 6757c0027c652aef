//! Reads a transcript line by line, from its beginning or at a known place.
//!
//! Memory is bounded by the longest permitted line, whatever the size of the file.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use countersign_wire::frame::DEFAULT_MAX_LINE;

use super::entry::TranscriptLine;
use super::error::{HistoryError, io};

/// After a line this large, its memory is given back.
const KEEP_CAPACITY: usize = 1 << 20;

/// All lines of a transcript in the order of the file, blank ones left out. A failure to read is the last item.
#[derive(Debug)]
pub struct Entries {
    lines: Lines,
    failed: bool,
}

impl Entries {
    pub(super) fn open(path: &Path) -> Result<Self, HistoryError> {
        let lines = Lines::open(path, DEFAULT_MAX_LINE)?;
        let failed = false;
        Ok(Self { lines, failed })
    }
}

impl Iterator for Entries {
    type Item = Result<TranscriptLine, HistoryError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        match self.lines.next_line() {
            Ok(place) => place.map(|place| Ok(self.lines.read(&place))),
            Err(error) => {
                self.failed = true;
                Some(Err(error))
            }
        }
    }
}

/// Where a line lies in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) offset: u64,
    /// Without its line end.
    pub(super) bytes: u64,
    /// From 1, blank lines counted.
    pub(super) number: u64,
}

/// The lines of a file, one in memory at a time.
#[derive(Debug)]
pub(super) struct Lines {
    file: BufReader<File>,
    path: PathBuf,
    max_line: usize,
    line: Vec<u8>,
    offset: u64,
    number: u64,
}

impl Lines {
    pub(super) fn open(path: &Path, max_line: usize) -> Result<Self, HistoryError> {
        let file = File::open(path).map_err(io("open", path))?;
        Ok(Self {
            file: BufReader::with_capacity(64 << 10, file),
            path: path.to_owned(),
            max_line,
            line: Vec::new(),
            offset: 0,
            number: 0,
        })
    }

    /// Moves to the next line that is not blank.
    pub(super) fn next_line(&mut self) -> Result<Option<Place>, HistoryError> {
        loop {
            let offset = self.offset;
            let Some(bytes) = self.take_line()? else {
                return Ok(None);
            };
            self.number += 1;
            if bytes > self.line.len() as u64 || !self.line.trim_ascii().is_empty() {
                let number = self.number;
                return Ok(Some(Place {
                    offset,
                    bytes,
                    number,
                }));
            }
        }
    }

    /// What the line is that [`Lines::next_line`] moved to.
    pub(super) fn read(&self, place: &Place) -> TranscriptLine {
        if place.bytes > self.line.len() as u64 {
            let (line, bytes) = (place.number, place.bytes);
            return TranscriptLine::TooLong { line, bytes };
        }
        TranscriptLine::read(&self.line, place.number)
    }

    /// Reads up to the next newline; gives the length, which is more than is held where the line is too long.
    fn take_line(&mut self) -> Result<Option<u64>, HistoryError> {
        self.line.clear();
        self.line.shrink_to(KEEP_CAPACITY);
        let (mut length, mut any) = (0u64, false);
        loop {
            let chunk = match self.file.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(io("read", &self.path)(error)),
            };
            if chunk.is_empty() {
                return Ok(any.then_some(length));
            }
            any = true;
            let newline = memchr::memchr(b'\n', chunk);
            let part = &chunk[..newline.unwrap_or(chunk.len())];
            length += part.len() as u64;
            if length <= self.max_line as u64 {
                self.line.extend_from_slice(part);
            } else {
                self.line = Vec::new();
            }
            let used = part.len() + usize::from(newline.is_some());
            self.file.consume(used);
            self.offset += used as u64;
            if newline.is_some() {
                return Ok(Some(length));
            }
        }
    }

    /// Reads one line at a place that an earlier pass found.
    pub(super) fn read_at(&mut self, place: &Place) -> Result<TranscriptLine, HistoryError> {
        let failed = |error| io("read", &self.path)(error);
        // Within the buffer this moves nothing: a branch is read almost in the order of the file.
        let delta = i128::from(place.offset) - i128::from(self.offset);
        let moved = match i64::try_from(delta) {
            Ok(delta) => self.file.seek_relative(delta),
            Err(_) => self.file.seek(SeekFrom::Start(place.offset)).map(drop),
        };
        moved.map_err(failed)?;
        self.line.clear();
        self.line.shrink_to(KEEP_CAPACITY);
        let mut wanted = self.file.by_ref().take(place.bytes);
        wanted.read_to_end(&mut self.line).map_err(failed)?;
        self.offset = place.offset + self.line.len() as u64;
        Ok(TranscriptLine::read(&self.line, place.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(content: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        file
    }

    #[test]
    fn every_line_is_a_value_and_the_last_needs_no_newline() {
        let file = file(b"{\"type\":\"a\"}\n\n  \r\nbroken\n{\"type\":\"b\"}\r\n{\"type\":\"c\"}");
        let lines: Vec<_> = Entries::open(file.path())
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let kinds: Vec<_> = lines
            .iter()
            .map(|line| {
                line.entry()
                    .map(|entry| (entry.kind().to_owned(), entry.line()))
            })
            .collect();
        let entry = |kind: &str, line| Some((kind.to_owned(), line));
        assert_eq!(kinds, [entry("a", 1), None, entry("b", 5), entry("c", 6)]);
        assert!(
            matches!(&lines[1], TranscriptLine::Broken { line: 4, begins, .. } if begins == "broken")
        );
    }

    #[test]
    fn a_line_beyond_the_bound_is_passed_over_without_being_held() {
        let long = "x".repeat(300_000);
        let file = file(format!("{{\"type\":\"a\"}}\n{long}\n{{\"type\":\"b\"}}\n").as_bytes());
        let mut lines = Lines::open(file.path(), 1000).unwrap();
        let mut seen = Vec::new();
        while let Some(place) = lines.next_line().unwrap() {
            assert!(lines.line.capacity() <= 128 << 10);
            seen.push((place.bytes, lines.read(&place).entry().is_some()));
        }
        assert_eq!(seen, [(12, true), (300_000, false), (12, true)]);
    }

    #[test]
    fn lines_can_be_read_again_in_any_order() {
        let filler = "y".repeat(100_000);
        let content: String = (0..5)
            .map(|n| format!("{{\"type\":\"{n}\",\"x\":\"{filler}\"}}\n"))
            .collect();
        let file = file(content.as_bytes());
        let mut lines = Lines::open(file.path(), DEFAULT_MAX_LINE).unwrap();
        let mut places = Vec::new();
        while let Some(place) = lines.next_line().unwrap() {
            places.push(place);
        }
        for n in [3, 0, 4, 1, 1, 2] {
            let line = lines.read_at(&places[n]).unwrap();
            assert_eq!(line.entry().unwrap().kind(), n.to_string());
        }
    }
}
