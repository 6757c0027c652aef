//! A line of the agent, 300 bytes long, that carries the moment at which it was written.
//!
//! Owns its form: a delta of text as the CLI streams it. Invariant: every line has the same length, newline included.

use crate::usage;

/// How long a line is, newline included.
pub(crate) const LENGTH: usize = 300;

const HEAD: &[u8] = b"{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"";
/// Nothing else that anybody writes begins like this.
const MARK: &[u8] = b"written at ";
const DIGITS: usize = 20;

/// One line, to be written again and again.
#[derive(Debug)]
pub(crate) struct Line(Vec<u8>);

impl Line {
    pub(crate) fn new(session: &str) -> Self {
        let end = format!(
            "\"}}}},\"session_id\":\"{session}\",\"parent_tool_use_id\":null,\"uuid\":\"{session}\"}}\n"
        );
        let mut line = [HEAD, MARK].concat();
        line.resize(line.len() + DIGITS, b'0');
        let filled = LENGTH.saturating_sub(end.len()).max(line.len());
        // Not one byte over and over, which would be easier for whatever looks at it than text is.
        line.extend((line.len()..filled).map(|at| b'a' + (at % 23) as u8));
        line.extend_from_slice(end.as_bytes());
        Self(line)
    }

    /// It, with the time.
    pub(crate) fn now(&mut self) -> &[u8] {
        let mut rest = usage::now();
        let at = HEAD.len() + MARK.len();
        for digit in self.0[at..at + DIGITS].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        &self.0
    }
}

/// When each line in these bytes was written, by the clock of [`usage::now`].
pub(crate) fn written_at(bytes: &[u8]) -> impl Iterator<Item = u64> {
    memchr::memmem::find_iter(bytes, MARK).filter_map(move |at| {
        let digits = bytes.get(at + MARK.len()..at + MARK.len() + DIGITS)?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = "11111111-1111-4111-8111-111111111111";

    #[test]
    fn a_line_has_its_length_and_the_time_and_is_json() {
        let mut line = Line::new(SESSION);
        let before = usage::now();
        let text = line.now().to_vec();
        let at: Vec<u64> = written_at(&text).collect();
        assert!(at[0] >= before && at[0] <= usage::now() && at.len() == 1);
        let value: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(
            (text.len(), &value["session_id"]),
            (LENGTH, &SESSION.into())
        );
    }

    #[test]
    fn every_line_of_several_is_found() {
        let mut line = Line::new(SESSION);
        let mut two = line.now().to_vec();
        two.extend_from_slice(line.now());
        assert_eq!(written_at(&two).count(), 2);
        assert_eq!(
            written_at(&two[..LENGTH + 100]).count(),
            1,
            "half a line is none"
        );
    }
}
