//! From reads to whole lines, without copying large ones.
//!
//! Owns the read buffer of a session. Invariants: chunking never changes which lines come out (the same ones as
//! `wire::frame::FrameReader` cuts); an idle session holds no buffer; a line longer than the maximum costs no memory
//! and is reported with its size.

use bytes::{Buf as _, Bytes, BytesMut};

/// Room for a read while little is coming: most single lines fit, and an allocator hands it out and takes it back at no
/// cost worth naming, which is not so for a few kilobytes.
const SMALL_READ: usize = 1000;

/// Room for a read while much is coming.
const LARGE_READ: usize = 64 << 10;

/// Up to this much is copied out, so that the buffer can be used again; beyond it the buffer itself is handed over.
const COPIED: usize = 16 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What a line may be longer than `max_line` by before it is given up: a byte-order mark and a `\r`.
const NOT_COUNTED: usize = BYTE_ORDER_MARK.len() + 1;

/// Cuts what was read into whole lines.
#[derive(Debug)]
pub(crate) struct Cutter {
    buffer: BytesMut,
    /// Up to here there is no newline.
    scanned: usize,
    room: usize,
    max_line: usize,
    /// Size so far of a line that is too long.
    skipping: Option<u64>,
    at_start: bool,
}

/// Whole lines that were cut off: a piece of memory, and where its lines are.
#[derive(Debug)]
pub(crate) struct Piece {
    bytes: Bytes,
    lines: Lines,
}

/// Goes over the lines of a piece.
#[derive(Debug)]
pub(crate) struct Lines {
    at: usize,
    max_line: usize,
    at_start: bool,
    /// A line that was too long and ended just before this piece.
    overlong: Option<u64>,
}

/// One line of a piece.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// From where to where in the piece.
    Line(usize, usize),
    /// It was longer than permitted, and is gone.
    TooLong(u64),
}

impl Cutter {
    pub(crate) fn new(max_line: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            scanned: 0,
            room: SMALL_READ,
            max_line,
            skipping: None,
            at_start: true,
        }
    }

    /// Where to read into; it has room.
    pub(crate) fn buffer(&mut self) -> &mut BytesMut {
        self.buffer.reserve(self.room);
        &mut self.buffer
    }

    /// Whether nothing is held, so that the memory can be given back until more comes.
    pub(crate) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Takes in what was read elsewhere while nothing was held; to be cut by [`Cutter::take`].
    pub(crate) fn begin(&mut self, bytes: &[u8]) {
        debug_assert!(self.is_empty());
        self.buffer = BytesMut::from(bytes);
        self.scanned = 0;
    }

    /// Gives the memory back while nothing is coming.
    pub(crate) fn rest(&mut self) {
        if self.buffer.is_empty() {
            self.buffer = BytesMut::new();
            self.scanned = 0;
            self.room = SMALL_READ;
        }
    }

    /// Takes note of a read of `count` bytes and cuts off the lines that are whole now.
    pub(crate) fn take(&mut self, count: usize) -> Option<Piece> {
        self.room = match count >= SMALL_READ / 2 {
            true => LARGE_READ,
            false => SMALL_READ,
        };
        let new = &self.buffer[self.scanned..];
        let Some(last) = memchr::memrchr(b'\n', new) else {
            self.scanned = self.buffer.len();
            self.drop_overlong();
            return None;
        };
        let whole = self.scanned + last + 1;
        let mut overlong = None;
        let mut start = 0;
        if let Some(bytes) = self.skipping.take() {
            let end = memchr::memchr(b'\n', &self.buffer).unwrap_or(last);
            let carriage = usize::from(self.buffer[..end].ends_with(b"\r"));
            overlong = Some(bytes + (end - carriage) as u64);
            start = end + 1;
        }
        let bytes = self.cut_off(whole);
        self.scanned = self.buffer.len();
        self.drop_overlong();
        let lines = Lines {
            at: start,
            max_line: self.max_line,
            at_start: std::mem::take(&mut self.at_start),
            overlong,
        };
        Some(Piece { bytes, lines })
    }

    /// What is left when the stream ends without a newline.
    pub(crate) fn finish(&mut self) -> Option<Piece> {
        if self.buffer.is_empty() && self.skipping.is_none() {
            return None;
        }
        self.buffer.extend_from_slice(b"\n");
        self.scanned = self.buffer.len() - 1;
        self.take(1)
    }

    fn cut_off(&mut self, whole: usize) -> Bytes {
        if whole == self.buffer.capacity() {
            // Nothing is left of it that could be used again.
            return std::mem::take(&mut self.buffer).freeze();
        }
        if whole > COPIED {
            return self.buffer.split_to(whole).freeze();
        }
        let bytes = Bytes::copy_from_slice(&self.buffer[..whole]);
        match whole == self.buffer.len() {
            true => self.buffer.clear(),
            false => self.buffer.advance(whole),
        }
        bytes
    }

    /// Forgets the bytes of a line that cannot become a permitted one any more.
    fn drop_overlong(&mut self) {
        let longest = self.max_line.saturating_add(NOT_COUNTED);
        if self.skipping.is_none() && self.buffer.len() <= longest {
            return;
        }
        // A `\r` at the end is held back: it counts only if no newline follows it.
        let keep = usize::from(self.buffer.ends_with(b"\r"));
        let dropped = self.buffer.len() - keep;
        self.skipping = Some(self.skipping.unwrap_or(0) + dropped as u64);
        self.buffer.clear();
        if keep == 1 {
            self.buffer.extend_from_slice(b"\r");
        }
        self.scanned = self.buffer.len();
    }
}

impl Piece {
    /// The memory, and what finds the lines in it.
    pub(crate) fn open(self) -> (Bytes, Lines) {
        (self.bytes, self.lines)
    }
}

impl Lines {
    /// The next line that is not blank; `bytes` is the memory of the piece.
    pub(crate) fn next_line(&mut self, bytes: &[u8]) -> Option<Cut> {
        if let Some(length) = self.overlong.take() {
            return Some(Cut::TooLong(length));
        }
        loop {
            let rest = &bytes[self.at..];
            let length = memchr::memchr(b'\n', rest)?;
            let (mut start, mut end) = (self.at, self.at + length);
            self.at = end + 1;
            let first = std::mem::take(&mut self.at_start);
            if end - start > self.max_line.saturating_add(NOT_COUNTED) {
                let carriage = u64::from(bytes[start..end].ends_with(b"\r"));
                return Some(Cut::TooLong((end - start) as u64 - carriage));
            }
            if bytes[start..end].ends_with(b"\r") {
                end -= 1;
            }
            if first && bytes[start..end].starts_with(BYTE_ORDER_MARK) {
                start += BYTE_ORDER_MARK.len();
            }
            if bytes[start..end].trim_ascii().is_empty() {
                continue;
            }
            return Some(match end - start > self.max_line {
                true => Cut::TooLong((end - start) as u64),
                false => Cut::Line(start, end),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use countersign_wire::frame::{FrameReader, Line};
    use proptest::prelude::*;

    use super::*;

    fn cut(stream: &[u8], size: usize, max_line: usize) -> Vec<String> {
        let mut cutter = Cutter::new(max_line);
        let mut found = Vec::new();
        let mut show = |piece: Piece| {
            let (bytes, mut lines) = piece.open();
            while let Some(cut) = lines.next_line(&bytes) {
                found.push(match cut {
                    Cut::Line(start, end) => {
                        String::from_utf8_lossy(&bytes[start..end]).into_owned()
                    }
                    Cut::TooLong(bytes) => format!("<{bytes}>"),
                });
            }
        };
        for chunk in stream.chunks(size) {
            match cutter.is_empty() && size.is_multiple_of(2) {
                true => cutter.begin(chunk),
                false => cutter.buffer().extend_from_slice(chunk),
            }
            if let Some(piece) = cutter.take(chunk.len()) {
                show(piece);
            }
            cutter.rest();
        }
        if let Some(piece) = cutter.finish() {
            show(piece);
        }
        found
    }

    /// What the reader of the wire crate cuts.
    fn expected(stream: &[u8], max_line: usize) -> Vec<String> {
        let mut reader = FrameReader::with_max_line(max_line);
        let show = |line: Line<'_>| match line {
            Line::Text(text) => String::from_utf8_lossy(text).into_owned(),
            Line::TooLong { bytes } => format!("<{bytes}>"),
        };
        reader.push(stream);
        let mut found = Vec::new();
        while let Some(line) = reader.next_line() {
            found.push(show(line));
        }
        found.extend(reader.finish().map(show));
        found
    }

    proptest! {
        #[test]
        fn the_same_lines_come_out_as_of_the_wire_reader(
            stream in proptest::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), Just(b' '), Just(0xef), Just(0xbb), Just(0xbf)],
                0..60,
            ),
            size in 1_usize..12,
        ) {
            prop_assert_eq!(cut(&stream, size, 8), expected(&stream, 8));
        }
    }

    #[test]
    fn a_large_line_is_handed_over_and_not_copied() {
        let mut cutter = Cutter::new(64 << 20);
        let line = vec![b'x'; 1 << 20];
        cutter.buffer().extend_from_slice(&line);
        cutter.buffer().extend_from_slice(b"\ntail");
        let before = cutter.buffer().as_ptr();
        let piece = cutter.take(1 << 20).unwrap();
        let (bytes, _) = piece.open();
        assert_eq!(bytes.as_ptr(), before);
        assert_eq!(bytes.len(), (1 << 20) + 1);
    }

    #[test]
    fn memory_stays_small_while_a_line_is_skipped() {
        let mut cutter = Cutter::new(1000);
        for _ in 0..1000 {
            cutter.buffer().extend_from_slice(&[b'x'; 4096]);
            assert!(cutter.take(4096).is_none());
            assert!(cutter.buffer.len() <= 1000 + NOT_COUNTED);
        }
        cutter.buffer().extend_from_slice(b"\nnext\n");
        let (bytes, mut lines) = cutter.take(6).unwrap().open();
        assert_eq!(lines.next_line(&bytes), Some(Cut::TooLong(4_096_000)));
        assert!(matches!(lines.next_line(&bytes), Some(Cut::Line(_, _))));
        assert_eq!(lines.next_line(&bytes), None);
    }

    #[test]
    fn an_idle_cutter_holds_no_memory() {
        let mut cutter = Cutter::new(1000);
        cutter.buffer().extend_from_slice(b"a\n");
        assert!(cutter.take(2).is_some());
        cutter.rest();
        assert_eq!(cutter.buffer.capacity(), 0);
    }
}
