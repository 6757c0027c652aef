//! What a command printed, as it is reported: trimmed, and cut where it is too long.

use std::io::Read as _;
use std::path::Path;

use crate::cli::act::paths::size;

/// Bytes of output that are read.
const MOST: usize = 30_000;
/// Letters of it that are shown where the whole is kept in a file.
const PREVIEW: usize = 2_000;
/// Letters of a failure that are shown, half from each end.
const MOST_OF_FAILURE: usize = 10_000;

/// What was printed.
#[derive(Debug)]
pub(super) struct Output {
    /// The beginning, without blank lines at either end.
    pub(super) text: String,
    /// Bytes in all.
    pub(super) bytes: u64,
}

impl Output {
    pub(super) fn read(path: &Path) -> Self {
        let mut bytes = Vec::new();
        let mut all = 0;
        if let Ok(file) = std::fs::File::open(path) {
            all = file.metadata().map_or(0, |found| found.len());
            // What cannot be read was not printed, as far as anybody can tell.
            let _ = file.take(MOST as u64).read_to_end(&mut bytes);
        }
        Self {
            text: trimmed(&String::from_utf8_lossy(&bytes)),
            bytes: all,
        }
    }

    pub(super) fn is_cut(&self) -> bool {
        self.bytes > MOST as u64
    }

    /// The beginning, and where the rest is.
    pub(super) fn preview(&self, kept_in: &Path) -> String {
        let first: String = self.text.chars().take(PREVIEW).collect();
        let first = match first.rfind('\n') {
            Some(end) if end > first.len() / 2 => &first[..end],
            _ => &first,
        };
        format!(
            "<persisted-output>\nOutput too large ({}). Full output saved to: {}\n\nPreview (first 2KB):\n{first}\n...\n\
             </persisted-output>",
            size(self.bytes),
            kept_in.display()
        )
    }

    /// A picture, if that is what was printed: its type and its data.
    pub(super) fn picture(&self) -> Option<(&str, &str)> {
        let rest = self.text.strip_prefix("data:")?;
        let (kind, data) = rest.split_once(";base64,")?;
        kind.starts_with("image/").then_some((kind, data))
    }
}

/// Without blank lines before and blanks behind; the first line keeps its indentation.
fn trimmed(text: &str) -> String {
    let mut text = text.trim_end();
    while let Some((first, rest)) = text.split_once('\n')
        && first.trim().is_empty()
    {
        text = rest;
    }
    text.to_owned()
}

/// A failure, without its middle if it is long.
pub(super) fn shortened(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= MOST_OF_FAILURE {
        return text.to_owned();
    }
    let half = MOST_OF_FAILURE / 2;
    let cut = letters.len() - MOST_OF_FAILURE;
    let first: String = letters[..half].iter().collect();
    let last: String = letters[letters.len() - half..].iter().collect();
    format!("{first}\n\n... [{cut} characters truncated] ...\n\n{last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_go_and_indentation_stays() {
        assert_eq!(trimmed("\n \n  lead\n\n"), "  lead");
        assert_eq!(trimmed(" \n"), "");
        assert_eq!(trimmed("a"), "a");
    }

    #[test]
    fn a_long_failure_loses_its_middle() {
        let text = shortened(&"x".repeat(30_012));
        assert!(text.contains("\n\n... [20012 characters truncated] ...\n\n"));
        assert_eq!(shortened("short"), "short");
    }
}
