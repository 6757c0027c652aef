//! The one prompt of `--input-format text`: from the command line, from stdin with the CLI's patience, or from both.
//!
//! Nothing on stdin within three seconds means nothing; once something came, everything up to the end is read.

use std::io::Read;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// How long the first byte may take.
const PATIENCE: Duration = Duration::from_secs(3);
/// Pieces that wait to be put together.
const WAITING: usize = 16;
const BLOCK: usize = 64 * 1024;

/// What is said when nothing came in time.
pub(in crate::cli) const NO_DATA: &str = "Warning: no stdin data received in 3s, proceeding without it. If piping from a slow command, redirect stdin explicitly: < /dev/null to skip, or wait longer.";

/// Everything up to the end of the stream; None if nothing came in time. The stream is read on a thread that may
/// outlive this call.
pub(in crate::cli) fn read_piped(stream: impl Read + Send + 'static) -> Option<String> {
    read_within(stream, PATIENCE)
}

fn read_within(mut stream: impl Read + Send + 'static, patience: Duration) -> Option<String> {
    let (pieces, arrived) = mpsc::sync_channel::<Vec<u8>>(WAITING);
    std::thread::spawn(move || {
        let mut block = vec![0; BLOCK];
        while let Ok(count @ 1..) = stream.read(&mut block) {
            if pieces.send(block[..count].to_vec()).is_err() {
                return;
            }
        }
    });
    let mut text = match arrived.recv_timeout(patience) {
        Ok(piece) => piece,
        Err(RecvTimeoutError::Disconnected) => Vec::new(),
        Err(RecvTimeoutError::Timeout) => return None,
    };
    while let Ok(piece) = arrived.recv() {
        text.extend_from_slice(&piece);
    }
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The prompt as it goes to the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Prompt {
    /// Neither side said anything.
    Missing,
    /// Nothing but blanks.
    Blank,
    /// This.
    Given(String),
}

/// The prompt of the command line, then what came on stdin, a line apart.
pub(in crate::cli) fn join(argument: Option<&str>, stdin: &str) -> Prompt {
    let parts = [argument.unwrap_or_default(), stdin];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let text = parts.join("\n");
    if text.is_empty() {
        Prompt::Missing
    } else if text.trim().is_empty() {
        Prompt::Blank
    } else {
        Prompt::Given(text)
    }
}

/// The prompt as the line that a host would write.
pub(in crate::cli) fn user_line(prompt: &str) -> Vec<u8> {
    let message = serde_json::json!({
        "type": "user",
        "message": { "role": "user", "content": prompt },
    });
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn all_pieces_up_to_the_end_are_one_text() {
        for (pieces, expected) in [(&["one ", "two\n"][..], "one two\n"), (&[], "")] {
            let (stream, mut pipe) = std::io::pipe().unwrap();
            for piece in pieces {
                pipe.write_all(piece.as_bytes()).unwrap();
            }
            drop(pipe);
            let text = read_within(stream, Duration::from_secs(60));
            assert_eq!(text.as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_stream_that_says_nothing_is_not_waited_for() {
        let (stream, _pipe) = std::io::pipe().unwrap();
        assert_eq!(read_within(stream, Duration::from_millis(1)), None);
    }

    fn given(text: &str) -> Prompt {
        Prompt::Given(text.to_owned())
    }

    #[test]
    fn both_sides_are_joined_by_a_line_break_and_kept_as_they_are() {
        assert_eq!(join(Some("hi"), "piped text\n"), given("hi\npiped text\n"));
        assert_eq!(join(Some(""), "x"), given("x"));
        assert_eq!(join(Some("hi"), ""), given("hi"));
        assert_eq!(join(None, ""), Prompt::Missing);
        assert_eq!(join(Some("  "), ""), Prompt::Blank);
    }
}
