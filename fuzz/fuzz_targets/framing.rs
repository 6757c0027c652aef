//! Framing: the lines of a stream do not depend on how it is cut into chunks, and memory stays within its bound.
//!
//! The first byte chooses the longest permitted line, the second the chunk size; the rest is the stream.

#![no_main]

use countersign_wire::frame::{FrameReader, Line};
use libfuzzer_sys::fuzz_target;

fn lines(stream: &[u8], size: usize, max_line: usize) -> Vec<Result<Vec<u8>, u64>> {
    let mut reader = FrameReader::with_max_line(max_line);
    let mut lines = Vec::new();
    let owned = |line: Line<'_>| match line {
        Line::Text(text) => Ok(text.to_vec()),
        Line::TooLong { bytes } => Err(bytes),
    };
    for chunk in stream.chunks(size) {
        reader.push(chunk);
        while let Some(line) = reader.next_line() {
            lines.push(owned(line));
        }
        assert!(reader.pending() <= max_line + 4);
    }
    lines.extend(reader.finish().map(owned));
    lines
}

fuzz_target!(|data: &[u8]| {
    let [max_line, size, stream @ ..] = data else {
        return;
    };
    let max_line = usize::from(*max_line).max(1) * 16;
    let whole = lines(stream, stream.len().max(1), max_line);
    assert_eq!(whole, lines(stream, usize::from(*size).max(1), max_line));
    for text in whole.into_iter().flatten() {
        assert!(!text.contains(&b'\n') && text.len() <= max_line);
    }
});
