//! From bytes to lines, whatever the chunks.
//!
//! Owns the buffer between a pipe and the decoder. Does no I/O: bytes are pushed in or read into
//! [`FrameReader::spare`]. Invariants: chunking never changes what comes out; memory is bounded by the longest
//! permitted line plus one read; nothing ends the stream but its end.
//!
//! A line ends at `\n`; one `\r` before it belongs to the line end. Blank lines and a byte-order mark at the
//! very start are passed over. The bytes of a line are not looked at otherwise: text that is no UTF-8 or no
//! JSON is the decoder's to name.

use std::ops::Range;

/// The longest line the CLI itself accepts, in bytes; ours by default.
pub const DEFAULT_MAX_LINE: usize = 256 << 20;

/// After a line this large, its memory is given back.
const KEEP_CAPACITY: usize = 1 << 20;

/// Room offered to one read.
const READ_SIZE: usize = 64 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes of a line that do not count towards its length: a byte-order mark and the `\r` of the line end.
const NOT_COUNTED: usize = BYTE_ORDER_MARK.len() + 1;

/// One line of a stream, without its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    /// The bytes of a line that is not blank.
    Text(&'a [u8]),
    /// A line longer than the maximum: passed over up to its newline. `bytes` is its size without line end.
    TooLong {
        /// How long it was.
        bytes: u64,
    },
}

/// A [`Line`] as a place in the buffer.
enum Span {
    Text(Range<usize>),
    TooLong(u64),
}

/// Cuts a stream into lines.
#[derive(Debug)]
pub struct FrameReader {
    buffer: Vec<u8>,
    /// Start of the line being gathered.
    start: usize,
    /// Up to here no newline was found.
    scanned: usize,
    /// End of what was read; beyond it the buffer is spare room.
    filled: usize,
    max_line: usize,
    /// Size so far of a line that is too long.
    skipping: Option<u64>,
    at_stream_start: bool,
    /// Lines that ended so far, blank ones too.
    ended: u64,
}

impl Default for FrameReader {
    fn default() -> Self {
        Self::new()
    }
}

impl FrameReader {
    /// A reader with [`DEFAULT_MAX_LINE`].
    pub fn new() -> Self {
        Self::with_max_line(DEFAULT_MAX_LINE)
    }

    /// A reader that passes over lines longer than `max_line` bytes.
    pub fn with_max_line(max_line: usize) -> Self {
        Self {
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            filled: 0,
            max_line,
            skipping: None,
            at_stream_start: true,
            ended: 0,
        }
    }

    /// Takes in a chunk of the stream.
    pub fn push(&mut self, chunk: &[u8]) {
        self.make_room(chunk.len());
        self.buffer[self.filled..self.filled + chunk.len()].copy_from_slice(chunk);
        self.filled += chunk.len();
    }

    /// Room to read into directly; tell how much was read with [`FrameReader::filled`].
    pub fn spare(&mut self) -> &mut [u8] {
        self.make_room(READ_SIZE);
        &mut self.buffer[self.filled..]
    }

    /// The first `count` bytes of [`FrameReader::spare`] now hold data.
    pub fn filled(&mut self, count: usize) {
        self.filled = (self.filled + count).min(self.buffer.len());
    }

    /// How many bytes are held for a line that has not ended.
    pub fn pending(&self) -> usize {
        self.filled - self.start
    }

    /// The number of the line that was given last, counted from 1 over all lines of the stream, blank ones too.
    pub fn line_number(&self) -> u64 {
        self.ended
    }

    /// The next complete line. `None`: more bytes are needed.
    pub fn next_line(&mut self) -> Option<Line<'_>> {
        loop {
            let Some(found) = memchr::memchr(b'\n', &self.buffer[self.scanned..self.filled]) else {
                self.scanned = self.filled;
                self.drop_overlong();
                return None;
            };
            let line = self.start..self.scanned + found;
            self.start = line.end + 1;
            self.scanned = self.start;
            if let Some(span) = self.span(line) {
                return Some(self.line(span));
            }
        }
    }

    /// The last line, if the stream ended without a newline. Call when the stream is at its end.
    pub fn finish(&mut self) -> Option<Line<'_>> {
        let line = self.start..self.filled;
        self.start = self.filled;
        self.scanned = self.filled;
        if line.is_empty() && self.skipping.is_none() {
            return None;
        }
        let span = self.span(line)?;
        Some(self.line(span))
    }

    /// What a line that ends here is; `None` for a blank one.
    fn span(&mut self, mut line: Range<usize>) -> Option<Span> {
        self.ended += 1;
        let at_stream_start = std::mem::take(&mut self.at_stream_start);
        // The same bound as while gathering, so that chunking does not show.
        let overlong = line.len() > self.longest();
        if self.buffer[line.clone()].ends_with(b"\r") {
            line.end -= 1;
        }
        if let Some(bytes) = self.skipping.take() {
            return Some(Span::TooLong(bytes + line.len() as u64));
        }
        if overlong {
            return Some(Span::TooLong(line.len() as u64));
        }
        if at_stream_start && self.buffer[line.clone()].starts_with(BYTE_ORDER_MARK) {
            line.start += BYTE_ORDER_MARK.len();
        }
        if self.buffer[line.clone()].trim_ascii().is_empty() {
            None
        } else if line.len() > self.max_line {
            Some(Span::TooLong(line.len() as u64))
        } else {
            Some(Span::Text(line))
        }
    }

    /// More bytes than this cannot become a permitted line, whatever of them does not count.
    fn longest(&self) -> usize {
        self.max_line.saturating_add(NOT_COUNTED)
    }

    fn line(&self, span: Span) -> Line<'_> {
        match span {
            Span::Text(range) => Line::Text(&self.buffer[range]),
            Span::TooLong(bytes) => Line::TooLong { bytes },
        }
    }

    /// Forgets the bytes of a line that cannot become a permitted one any more.
    fn drop_overlong(&mut self) {
        if self.skipping.is_none() && self.pending() <= self.longest() {
            return;
        }
        // A `\r` at the end is held back: it counts only if no newline follows it.
        let keep = usize::from(self.buffer[self.start..self.filled].ends_with(b"\r"));
        let dropped = self.pending() - keep;
        self.skipping = Some(self.skipping.unwrap_or(0) + dropped as u64);
        self.start += dropped;
        self.scanned = self.filled;
    }

    /// Shrinks the buffer after a large line, even if a small one is pending already.
    fn give_back(&mut self, wanted: usize) {
        let needed = self.pending() + wanted;
        if self.buffer.len() <= KEEP_CAPACITY || needed * 4 > self.buffer.len() {
            return;
        }
        self.buffer.copy_within(self.start..self.filled, 0);
        (self.start, self.scanned, self.filled) =
            (0, self.scanned - self.start, self.filled - self.start);
        self.buffer.truncate(needed.max(READ_SIZE));
        self.buffer.shrink_to_fit();
    }

    fn make_room(&mut self, wanted: usize) {
        if self.start == self.filled {
            (self.start, self.scanned, self.filled) = (0, 0, 0);
        }
        self.give_back(wanted);
        if self.buffer.len() - self.filled >= wanted {
            return;
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.filled, 0);
            self.filled -= self.start;
            self.scanned -= self.start;
            self.start = 0;
        }
        if self.buffer.len() - self.filled < wanted {
            // Doubling keeps the copying of a long line linear.
            let size = (self.filled + wanted).max(self.buffer.len().min(self.max_line) * 2);
            self.buffer.resize(size, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every line of `stream`, read in chunks of `size`; too long ones as `<bytes>`.
    fn lines(stream: &[u8], size: usize, max_line: usize) -> Vec<String> {
        let mut reader = FrameReader::with_max_line(max_line);
        let mut found = Vec::new();
        let show = |line: Line<'_>| match line {
            Line::Text(text) => String::from_utf8_lossy(text).into_owned(),
            Line::TooLong { bytes } => format!("<{bytes}>"),
        };
        for chunk in stream.chunks(size) {
            reader.push(chunk);
            while let Some(line) = reader.next_line() {
                found.push(show(line));
            }
        }
        found.extend(reader.finish().map(show));
        found
    }

    fn check(stream: &str, expected: &[&str]) {
        for size in 1..=stream.len().max(1) {
            assert_eq!(
                lines(stream.as_bytes(), size, 8),
                expected,
                "chunks of {size}"
            );
        }
    }

    #[test]
    fn lines_end_at_newline_or_at_the_end_of_the_stream() {
        check("a\nb\n", &["a", "b"]);
        check("a\nb", &["a", "b"]);
        check("", &[]);
    }

    #[test]
    fn carriage_returns_and_blank_lines_are_no_content() {
        check("a\r\n\r\n \t\n\nb\r\n", &["a", "b"]);
        check("a\r", &["a"]);
        check("a\rb\n", &["a\rb"]);
    }

    #[test]
    fn a_byte_order_mark_is_passed_over_only_at_the_start() {
        check("\u{feff}a\n\u{feff}b\n", &["a", "\u{feff}b"]);
        check("\u{feff}\na\n", &["a"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_counted_and_the_next_one_is_read() {
        check("12345678\n123456789\nabc\n", &["12345678", "<9>", "abc"]);
        check("12345678\r\n123456789\r\nabc", &["12345678", "<9>", "abc"]);
        check("123456789012345678901234567890", &["<30>"]);
        check("12345678901234\r5678\nok\n", &["<19>", "ok"]);
    }

    #[test]
    fn lines_are_numbered_as_in_the_file() {
        let mut reader = FrameReader::new();
        reader.push(b"\n\na\n\r\nb");
        assert_eq!(reader.next_line(), Some(Line::Text(b"a")));
        assert_eq!(reader.line_number(), 3);
        assert_eq!(reader.next_line(), None);
        assert_eq!(reader.finish(), Some(Line::Text(b"b")));
        assert_eq!(reader.finish(), None);
        assert_eq!(reader.line_number(), 5);
    }

    #[test]
    fn memory_stays_bounded_while_a_long_line_is_skipped() {
        let mut reader = FrameReader::with_max_line(1000);
        let chunk = [b'x'; 4096];
        for _ in 0..10_000 {
            reader.push(&chunk);
            assert_eq!(reader.next_line(), None);
            assert!(reader.pending() <= 1000 + NOT_COUNTED);
            assert!(reader.buffer.capacity() < 64 << 10);
        }
        reader.push(b"\nnext\n");
        assert_eq!(
            reader.next_line(),
            Some(Line::TooLong { bytes: 40_960_000 })
        );
        assert_eq!(reader.next_line(), Some(Line::Text(b"next")));
    }

    #[test]
    fn memory_of_a_large_line_is_given_back() {
        let mut reader = FrameReader::new();
        reader.push(&vec![b'x'; 8 << 20]);
        reader.push(b"\n");
        assert!(matches!(reader.next_line(), Some(Line::Text(text)) if text.len() == 8 << 20));
        reader.push(b"a\nb");
        assert_eq!(reader.next_line(), Some(Line::Text(b"a")));
        assert!(reader.buffer.capacity() <= KEEP_CAPACITY);

        reader.push(&vec![b'x'; 8 << 20]);
        reader.push(b"\nc");
        assert!(matches!(reader.next_line(), Some(Line::Text(_))));
        reader.push(b"d\n");
        assert_eq!(reader.next_line(), Some(Line::Text(b"cd")));
        assert!(reader.buffer.capacity() <= KEEP_CAPACITY);
    }

    #[test]
    fn the_default_bound_is_that_of_the_cli() {
        assert_eq!(FrameReader::new().max_line, 268_435_456);
    }
}
