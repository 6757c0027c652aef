//! Keys and certificates between `-----BEGIN …-----` and `-----END …-----`, over any number of lines.
//!
//! Takes lines one by one and remembers whether it is inside a block. A block that never ends is over with the
//! first line that cannot be part of one.

use std::ops::Range;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";

/// What stands in the place of a block.
const MASKED: &str = "[masked PEM block]";

/// Whether the line before was inside a block.
#[derive(Debug, Default)]
pub(super) struct PemState {
    inside: bool,
}

impl PemState {
    /// The line without what of it belongs to a block.
    pub(super) fn line(&mut self, line: &str) -> String {
        let mut out = String::new();
        let mut rest = line;
        if self.inside {
            match after_end(rest) {
                Some(after) => rest = after,
                None if could_be_inside(rest) => return MASKED.to_owned(),
                None => {}
            }
            self.inside = false;
        }
        while let Some(at) = rest.find(BEGIN) {
            let (before, block) = rest.split_at(at);
            out.push_str(before);
            out.push_str(MASKED);
            match after_end(block) {
                Some(after) => rest = after,
                None => {
                    self.inside = true;
                    rest = "";
                }
            }
        }
        out.push_str(rest);
        out
    }
}

/// A text cut in the middle of a block begins with the rest of it: that goes.
pub(super) fn without_cut_block(text: &str) -> &str {
    match (text.find(END), text.find(BEGIN)) {
        (Some(end), begin) if begin.is_none_or(|begin| end < begin) => {
            text.get(end..).and_then(after_end).unwrap_or_default()
        }
        _ => text,
    }
}

/// Where blocks stand in a text, whole ones and cut ones.
pub(super) fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut inside: Option<usize> = None;
    // Where the lines before this one begin that could all be part of a block.
    let mut could_be_since = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let mut from = at;
        let end = at + line.len();
        let is_part = could_be_inside(line);
        if let Some(begin) = inside.take() {
            match after_end(line) {
                Some(after) => {
                    from = end - after.len();
                    found.push(begin..from);
                }
                None if is_part => inside = Some(begin),
                None => found.push(begin..at),
            }
        } else if line.contains(END) && !line.contains(BEGIN) {
            from = end - after_end(line).map_or(0, str::len);
            found.push(could_be_since.unwrap_or(at)..from);
        }
        while let Some(begin) = text.get(from..end).and_then(|rest| rest.find(BEGIN)) {
            let begin = from + begin;
            match text.get(begin..end).and_then(after_end) {
                Some(after) => {
                    from = end - after.len();
                    found.push(begin..from);
                }
                None => {
                    inside = Some(begin);
                    break;
                }
            }
        }
        could_be_since = is_part.then(|| could_be_since.unwrap_or(at));
        at = end;
    }
    found.extend(inside.map(|begin| begin..at));
    found
}

fn after_end(text: &str) -> Option<&str> {
    let (_, label) = text.split_once(END)?;
    // An end line cut short still ends the block.
    Some(label.split_once(DASHES).map_or("", |(_, after)| after))
}

/// Base64, perhaps quoted or indented, or a header such as `Proc-Type: 4,ENCRYPTED`.
fn could_be_inside(line: &str) -> bool {
    let text = line.trim_matches(|c: char| c.is_whitespace() || "\"',+|>\\".contains(c));
    let base64 = |c: char| c.is_ascii_alphanumeric() || "+/=\\".contains(c);
    text.chars().all(base64) || text.starts_with("Proc-Type:") || text.starts_with("DEK-Info:")
}
