//! What an expression finds in one file: its lines, with lines around them, as ripgrep prints them. Pure.

use regex::bytes::Regex;

/// Lines longer than this are not shown.
const LONGEST: usize = 500;

/// How the lines of a file are looked at and shown.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Form {
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) numbers: bool,
    pub(super) only_matching: bool,
    pub(super) across_lines: bool,
}

/// What was found in one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Lines to show: number, whether the expression is on it, text. `None` between groups that do not touch.
    pub(super) shown: Vec<Option<(usize, bool, String)>>,
    /// Lines on which the expression is.
    pub(super) count: usize,
}

/// Looks for the expression; nothing if it is not there, or the file is not text.
pub(super) fn find(expression: &Regex, bytes: &[u8], form: Form) -> Option<Found> {
    if bytes.contains(&0) {
        return None;
    }
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let (hits, count) = if form.across_lines {
        across(expression, bytes, lines.len())
    } else {
        let hits: Vec<bool> = lines.iter().map(|line| expression.is_match(line)).collect();
        let count = hits.iter().filter(|hit| **hit).count();
        (hits, count)
    };
    if count == 0 {
        return None;
    }
    let mut shown = Vec::new();
    let mut last: Option<usize> = None;
    for index in 0..lines.len() {
        let (first, end) = (
            index.saturating_sub(form.after),
            lines.len().min(index + form.before + 1),
        );
        if !hits[first..end].contains(&true) {
            continue;
        }
        if form.before + form.after > 0 && last.is_some_and(|last| last + 1 < index) {
            shown.push(None);
        }
        last = Some(index);
        if form.only_matching && hits[index] {
            let parts = expression.find_iter(lines[index]);
            shown.extend(parts.map(|part| Some((index + 1, true, text(part.as_bytes(), true)))));
        } else {
            shown.push(Some((
                index + 1,
                hits[index],
                text(lines[index], hits[index]),
            )));
        }
    }
    Some(Found { shown, count })
}

/// The lines that matches touch, and how many matches there are.
fn across(expression: &Regex, bytes: &[u8], lines: usize) -> (Vec<bool>, usize) {
    let mut hits = vec![false; lines];
    let line_of = |at: usize| bytes[..at].iter().filter(|byte| **byte == b'\n').count();
    let mut count = 0;
    for found in expression.find_iter(bytes) {
        count += 1;
        let last = found
            .end()
            .saturating_sub(usize::from(found.end() > found.start()));
        for line in line_of(found.start())..=line_of(last) {
            if let Some(hit) = hits.get_mut(line) {
                *hit = true;
            }
        }
    }
    (hits, count)
}

fn text(line: &[u8], hit: bool) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > LONGEST {
        return match hit {
            true => "[Omitted long matching line]".to_owned(),
            false => "[Omitted long context line]".to_owned(),
        };
    }
    String::from_utf8_lossy(line).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_do_not_touch_are_set_apart() {
        let expression = Regex::new("x").unwrap();
        let form = Form {
            after: 1,
            ..Form::default()
        };
        let found = find(&expression, b"x\na\nb\nx\n", form).unwrap();
        let numbers: Vec<Option<usize>> = found
            .shown
            .iter()
            .map(|line| line.as_ref().map(|(number, _, _)| *number))
            .collect();
        assert_eq!(numbers, [Some(1), Some(2), None, Some(4)]);
        assert_eq!(found.count, 2);
    }

    #[test]
    fn a_file_that_is_not_text_holds_nothing() {
        let expression = Regex::new("x").unwrap();
        assert_eq!(find(&expression, b"x\0x", Form::default()), None);
    }
}
