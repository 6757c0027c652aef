//! The lines of one segment, in a buffer that stays small.
//!
//! Owns the buffer and the running hash over what was read. Knows no records. Invariants: only what ends in a newline is
//! a line; what stands behind the last newline is read anew each time, because its writer may take it back; the buffer
//! holds 64 KiB, a longer line only until the next one is asked for, and next to nothing while a bound is waited at.

use std::io;
use std::ops::Range;
use std::path::Path;

use crate::chain::Chain;
use crate::source::Source;

/// The buffer at rest.
pub(crate) const BUFFER: usize = 64 << 10;

/// Less room than this is no room: a long line is not read in crumbs.
const LEAST_READ: usize = 4 << 10;

/// What comes next.
#[derive(Debug)]
pub(crate) enum Piece {
    /// A line, without its newline: where it stands in the buffer.
    Line(Range<usize>),
    /// A line that is longer than was asked for, or will be. Its beginning stands in the buffer.
    Long(Range<usize>),
    /// Nothing more for now, but so many bytes behind the last newline.
    End { behind: u64 },
}

/// Reads a segment line by line.
pub(crate) struct Lines {
    source: Source,
    buffer: Vec<u8>,
    /// What is read and not yet given out.
    start: usize,
    end: usize,
    /// Where `start` stands in the segment.
    offset: u64,
    /// From here to `start` the buffer is not hashed yet.
    unhashed: usize,
    chain: Option<Chain>,
    /// Nothing behind this place is read: its writer may take it back.
    bound: Option<u64>,
}

impl Lines {
    pub(crate) fn new(source: Source) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            offset: 0,
            unhashed: 0,
            chain: None,
            bound: None,
        }
    }

    /// Hashes what is given out, from the beginning on.
    pub(crate) fn hashing(mut self) -> Self {
        self.chain = Some(Chain::default());
        self
    }

    /// Reads up to this place only, which is the end of a line. What was read behind it is forgotten.
    pub(crate) fn set_bound(&mut self, bound: Option<u64>) -> io::Result<()> {
        self.bound = bound.filter(|_| self.source.is_plain());
        let Some(bound) = self.bound else {
            return Ok(());
        };
        let kept = bound.saturating_sub(self.offset);
        if kept < (self.end - self.start) as u64 {
            // Less than what the buffer holds, so it fits.
            self.end = self.start + kept as usize;
            self.source.go_to(self.offset + kept)?;
        }
        Ok(())
    }

    /// Gives the memory back while nothing can come: a host waits at the bound of many journals.
    pub(crate) fn rest(&mut self) {
        let is_read = self.start == self.end && self.chain.is_none();
        if is_read && self.buffer.len() > LEAST_READ {
            self.buffer = Vec::new();
            (self.start, self.end, self.unhashed) = (0, 0, 0);
        }
    }

    /// Reads on behind what is there. 0: that is all for now.
    fn fill(&mut self) -> io::Result<usize> {
        let at = self.offset + (self.end - self.start) as u64;
        let left = self.bound.map(|bound| bound.saturating_sub(at));
        let left = left.map_or(usize::MAX, |left| {
            usize::try_from(left).unwrap_or(usize::MAX)
        });
        self.make_room(left);
        let room = (self.buffer.len() - self.end).min(left);
        let read = match room {
            0 => 0,
            room => self
                .source
                .read(&mut self.buffer[self.end..self.end + room])?,
        };
        self.end += read;
        Ok(read)
    }

    /// Where the next line begins.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Whether the segment is one that can grow.
    pub(crate) fn is_plain(&self) -> bool {
        self.source.is_plain()
    }

    /// Whether the segment has become shorter than what was given out.
    pub(crate) fn is_cut(&self) -> io::Result<bool> {
        let len = self.source.plain_len()?;
        Ok(len.is_some_and(|len| len < self.offset))
    }

    /// Goes on at `offset`, which is the beginning of a line. Not for one who hashes.
    pub(crate) fn go_to(&mut self, offset: u64) -> io::Result<()> {
        debug_assert!(self.chain.is_none());
        self.source.go_to(offset)?;
        (self.start, self.end, self.unhashed) = (0, 0, 0);
        self.offset = offset;
        Ok(())
    }

    /// The bytes of a piece. They stay until the next one is asked for.
    pub(crate) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.buffer[range]
    }

    /// Gives the line that was given out last once more.
    pub(crate) fn give_back(&mut self, line: &Range<usize>) {
        self.offset -= (self.start - line.start) as u64;
        self.start = line.start;
    }

    /// The hash over all lines given out so far, but for the last `but` bytes of them.
    pub(crate) fn hash_before(&self, but: usize) -> Option<blake3::Hash> {
        let waiting = &self.buffer[self.unhashed..self.start - but];
        let chain = self.chain.as_ref()?;
        Some(chain.hash_with(std::iter::once(waiting)))
    }

    /// The chain over all lines given out so far.
    pub(crate) fn into_chain(mut self) -> Chain {
        self.hash_consumed();
        self.chain.unwrap_or_default()
    }

    /// The next line. One of more than `most` bytes that does not fit into the buffer is only named ([`Piece::Long`]),
    /// and [`Self::skim`] leads past it.
    pub(crate) fn next(&mut self, most: usize) -> io::Result<Piece> {
        self.shrink();
        let mut looked = 0;
        loop {
            let fresh = &self.buffer[self.start + looked..self.end];
            if let Some(length) = memchr::memchr(b'\n', fresh) {
                let line = self.start..self.start + looked + length;
                self.advance(line.len() + 1);
                return Ok(Piece::Line(line));
            }
            looked = self.end - self.start;
            if looked >= BUFFER && looked > most {
                return Ok(Piece::Long(self.start..self.end));
            }
            if self.fill()? == 0 {
                self.forget_unfinished(self.offset)?;
                return Ok(Piece::End {
                    behind: looked as u64,
                });
            }
        }
    }

    /// Passes over the next line without keeping it, and shows its bytes on the way. Its length without the newline;
    /// none if it is not complete yet, and then it is still the next one.
    pub(crate) fn skim(&mut self, mut see: impl FnMut(&[u8])) -> io::Result<Option<u64>> {
        let begin = self.offset;
        loop {
            let fresh = &self.buffer[self.start..self.end];
            if let Some(length) = memchr::memchr(b'\n', fresh) {
                see(&fresh[..length]);
                let whole = self.offset - begin + length as u64;
                self.advance(length + 1);
                return Ok(Some(whole));
            }
            see(fresh);
            self.advance(self.end - self.start);
            if self.fill()? == 0 {
                self.forget_unfinished(begin)?;
                return Ok(None);
            }
        }
    }

    fn advance(&mut self, bytes: usize) {
        self.start += bytes;
        self.offset += bytes as u64;
    }

    /// Drops the rest of the buffer; the next read begins at `offset`. A compressed segment cannot change, and has no
    /// more to give.
    fn forget_unfinished(&mut self, offset: u64) -> io::Result<()> {
        if self.source.is_plain() {
            self.hash_consumed();
            self.source.go_to(offset)?;
            self.end = self.start;
            self.offset = offset;
        }
        Ok(())
    }

    fn hash_consumed(&mut self) {
        if let Some(chain) = &mut self.chain {
            chain.update(&self.buffer[self.unhashed..self.start]);
        }
        self.unhashed = self.start;
    }

    /// Room behind what is there: by moving it to the front, else by growing a quarter. No more than is left to read.
    fn make_room(&mut self, left: usize) {
        let wanted = left.clamp(LEAST_READ, BUFFER);
        if self.start == self.end && self.buffer.len() < wanted {
            self.hash_consumed();
            self.buffer = vec![0; wanted.next_power_of_two()];
            (self.start, self.end, self.unhashed) = (0, 0, 0);
        }
        if self.end < self.buffer.len() {
            return;
        }
        self.hash_consumed();
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end, self.unhashed) = (0, self.end - self.start, 0);
        if self.buffer.len() - self.end < LEAST_READ {
            let more = (self.buffer.len() / 4).max(BUFFER);
            self.buffer.reserve_exact(more);
            self.buffer.resize(self.buffer.len() + more, 0);
        }
    }

    /// Returns what a long line needed.
    fn shrink(&mut self) {
        if self.buffer.len() > BUFFER && self.end - self.start < BUFFER {
            self.hash_consumed();
            let mut small = vec![0; BUFFER];
            let rest = self.end - self.start;
            small[..rest].copy_from_slice(&self.buffer[self.start..self.end]);
            self.buffer = small;
            (self.start, self.end, self.unhashed) = (0, rest, 0);
        }
    }
}

/// The newest segment with a header; 0 for none. Those before it are closed; one behind it may have been made and not
/// begun, and then its writer goes on in this one.
pub(crate) fn newest_begun(dir: &Path, numbers: &[u32]) -> io::Result<u32> {
    for number in numbers.iter().rev() {
        let Some(source) = Source::of(dir, *number)? else {
            continue;
        };
        if let Piece::Line(_) = Lines::new(source).next(usize::MAX)? {
            return Ok(*number);
        }
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// The lines of a file with these bytes, and the file to append to.
    fn lines(bytes: &[u8]) -> (Lines, tempfile::NamedTempFile) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        (Lines::new(Source::open(file.path()).unwrap()), file)
    }

    fn line(lines: &mut Lines) -> Option<Vec<u8>> {
        match lines.next(usize::MAX).unwrap() {
            Piece::Line(line) => Some(lines.bytes(line).to_vec()),
            Piece::Long(_) => panic!("no line is too long"),
            Piece::End { .. } => None,
        }
    }

    #[test]
    fn a_long_line_is_held_only_until_the_next_one() {
        let long = vec![b'x'; 3 << 20];
        let text = [b"first\n", &long[..], b"\nlast\nmore"].concat();
        let (mut lines, _file) = lines(&text);
        assert_eq!(line(&mut lines).unwrap(), b"first");
        assert_eq!(lines.buffer.capacity(), BUFFER);
        assert_eq!(line(&mut lines).unwrap(), long);
        let most = long.len() * 5 / 4 + 2 * BUFFER;
        assert!(lines.buffer.capacity() <= most);
        assert_eq!(line(&mut lines).unwrap(), b"last");
        assert_eq!(line(&mut lines), None);
        assert_eq!(lines.buffer.capacity(), BUFFER);
    }

    #[test]
    fn at_its_bound_it_holds_next_to_nothing_and_goes_on_from_there() {
        let burst = |from: usize| -> Vec<u8> {
            let lines = (from..from + 5_000).map(|number| format!("line {number}\n"));
            lines.collect::<String>().into_bytes()
        };
        let (mut lines, mut file) = lines(&burst(0));
        let mut number = 0;
        for _ in 0..3 {
            lines
                .set_bound(Some(file.as_file().metadata().unwrap().len()))
                .unwrap();
            while let Some(line) = line(&mut lines) {
                assert_eq!(line, format!("line {number}").into_bytes());
                number += 1;
            }
            assert_eq!(number % 5_000, 0);
            lines.rest();
            assert!(lines.buffer.capacity() <= LEAST_READ);
            file.write_all(&burst(number)).unwrap();
            assert_eq!(
                line(&mut lines),
                None,
                "what is behind the bound is not there"
            );
            assert!(lines.buffer.capacity() <= LEAST_READ);
        }
    }

    #[test]
    fn a_line_that_is_only_named_takes_no_memory() {
        let text = [&vec![b'x'; 3 << 20][..], b"\nlast\n"].concat();
        let (mut lines, _file) = lines(&text);
        assert!(matches!(lines.next(1_000).unwrap(), Piece::Long(_)));
        let mut seen = 0;
        let length = lines.skim(|bytes| seen += bytes.len()).unwrap();
        assert_eq!((length, seen), (Some(3 << 20), 3 << 20));
        assert_eq!(line(&mut lines).unwrap(), b"last");
        assert!(lines.buffer.capacity() <= 2 * BUFFER);
    }

    #[test]
    fn what_is_not_finished_is_read_anew() {
        let (mut lines, mut file) = lines(b"one\nhal");
        assert_eq!(line(&mut lines).unwrap(), b"one");
        assert!(matches!(lines.next(9).unwrap(), Piece::End { behind: 3 }));
        // Its writer takes it back and writes something else.
        file.as_file().set_len(4).unwrap();
        assert!(!lines.is_cut().unwrap());
        std::io::Seek::seek(&mut file, io::SeekFrom::Start(4)).unwrap();
        file.write_all(b"two\n").unwrap();
        assert_eq!(line(&mut lines).unwrap(), b"two");
        file.as_file().set_len(4).unwrap();
        assert!(lines.is_cut().unwrap());
    }

    #[test]
    fn the_hash_is_that_of_the_lines_given_out() {
        let text: Vec<u8> = (0..50_000)
            .flat_map(|n| format!("{n}\n").into_bytes())
            .collect();
        let (lines, _file) = lines(&text);
        let mut lines = lines.hashing();
        let mut end = 0;
        while let Some(found) = line(&mut lines) {
            end += found.len() + 1;
            if end % 1_000 < 3 {
                let before = &text[..end - found.len() - 1];
                assert_eq!(
                    lines.hash_before(found.len() + 1),
                    Some(blake3::hash(before))
                );
            }
        }
        assert_eq!(end, text.len());
        assert_eq!(lines.into_chain().hash(), blake3::hash(&text));
    }
}
