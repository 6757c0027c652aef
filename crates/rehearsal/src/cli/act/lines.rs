//! The difference of two texts, line by line, as hunks with three lines around them. Pure.

use std::time::Duration;

use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

/// Time after which the rest counts as one change, so that a rehearsal never hangs on two large strange files.
const LONGEST: Duration = Duration::from_millis(500);
const NO_NEWLINE: &str = "\\ No newline at end of file";

fn diff<'a>(old: &'a str, new: &'a str) -> TextDiff<'a, 'a, str> {
    TextDiff::configure().timeout(LONGEST).diff_lines(old, new)
}

/// `structuredPatch`: the hunks between two texts, with tabs at the beginnings of lines shown as two blanks.
pub(super) fn patch(old: &str, new: &str) -> Value {
    let (old, new) = (untabbed(old), untabbed(new));
    let diff = diff(&old, &new);
    let hunk = |ops: &Vec<similar::DiffOp>| {
        let (first, last) = (ops.first()?, ops.last()?);
        let mut lines = Vec::new();
        for change in ops.iter().flat_map(|op| diff.iter_changes(op)) {
            let line = change.value();
            lines.push(format!("{}{}", change.tag(), line.trim_end_matches('\n')));
            if !line.ends_with('\n') {
                lines.push(NO_NEWLINE.to_owned());
            }
        }
        let (old_start, new_start) = (first.old_range().start, first.new_range().start);
        Some(json!({
            "oldStart": old_start + 1,
            "oldLines": last.old_range().end - old_start,
            "newStart": new_start + 1,
            "newLines": last.new_range().end - new_start,
            "lines": lines,
        }))
    };
    diff.grouped_ops(3).iter().filter_map(hunk).collect()
}

/// How many lines come and go.
pub(super) fn counts(old: &str, new: &str) -> (usize, usize) {
    let diff = diff(old, new);
    let count = |tag| {
        diff.iter_all_changes()
            .filter(|change| change.tag() == tag)
            .count()
    };
    (count(ChangeTag::Insert), count(ChangeTag::Delete))
}

fn untabbed(text: &str) -> String {
    let shown = text.split_inclusive('\n').map(|line| {
        let rest = line.trim_start_matches('\t');
        "  ".repeat(line.len() - rest.len()) + rest
    });
    shown.collect()
}
