//! What changes in a file, as numbered rows.
//!
//! Owns hunks: from a patch the CLI made, from two texts, or from a replacement in a file. Bounded: common beginnings
//! and ends are cut off first, and what is too long to be compared line by line is shown as taken away and added.

use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use super::text;
use crate::term::style::{Line, Tone};

/// Rows around a change.
const CONTEXT: usize = 3;
/// Beyond so many lines on either side nothing is compared.
const COMPARED: usize = 4_000;
/// The most rows that are kept to be shown.
const KEPT: usize = 5_000;
/// The most a row holds.
const ROW_CAP: usize = 2_000;

/// A change of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Diff {
    hunks: Vec<Hunk>,
    pub(crate) added: usize,
    pub(crate) removed: usize,
    /// Rows in all, of which the first are kept.
    rows: usize,
    /// The numbers are those of the file.
    is_placed: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Hunk {
    rows: Vec<Row>,
}

#[derive(Debug, Clone, PartialEq)]
struct Row {
    side: Side,
    number: usize,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Side {
    Both,
    Old,
    New,
}

impl Diff {
    /// Between two whole texts.
    pub(crate) fn between(old: &str, new: &str) -> Self {
        let old: Vec<&str> = old.lines().collect();
        let new: Vec<&str> = new.lines().collect();
        let same_head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let ends = old[same_head..]
            .iter()
            .rev()
            .zip(new[same_head..].iter().rev());
        let same_tail = ends.take_while(|(a, b)| a == b).count();
        let from = same_head.saturating_sub(CONTEXT);
        let rest = same_tail.saturating_sub(CONTEXT);
        let (old, new) = (&old[from..old.len() - rest], &new[from..new.len() - rest]);
        let ops = match old.len().max(new.len()) <= COMPARED {
            true => capture_diff_slices(Algorithm::Myers, old, new),
            false => replaced(old.len(), new.len(), same_head - from, same_tail - rest),
        };
        let mut diff = Self {
            is_placed: true,
            ..Self::default()
        };
        for group in group_diff_ops(ops, CONTEXT) {
            diff.hunk(&group, old, new, from);
        }
        diff
    }

    /// Of a text in a file that is known; nothing where the text is not in it.
    pub(crate) fn replacement(file: &str, old: &str, new: &str, all: bool) -> Option<Self> {
        if old.is_empty() || !file.contains(old) {
            return None;
        }
        let after = match all {
            true => file.replace(old, new),
            false => file.replacen(old, new, 1),
        };
        Some(Self::between(file, &after))
    }

    /// Of a text whose place in the file is not known.
    pub(crate) fn unplaced(old: &str, new: &str) -> Self {
        Self {
            is_placed: false,
            ..Self::between(old, new)
        }
    }

    /// Of parts of a file, each with the number of its first line before and after the change.
    pub(crate) fn of_parts<'a>(
        parts: impl IntoIterator<Item = (usize, usize, &'a str, &'a str)>,
    ) -> Self {
        let mut all = Self {
            is_placed: true,
            ..Self::default()
        };
        for (line, new_line, before, after) in parts {
            let part = Self::between(before, after);
            all.added += part.added;
            all.removed += part.removed;
            all.rows += part.rows;
            let moved = |mut row: Row| {
                let first = match row.side {
                    Side::Old => line,
                    Side::Both | Side::New => new_line,
                };
                row.number += first.saturating_sub(1);
                row
            };
            all.hunks.extend(part.hunks.into_iter().map(|hunk| Hunk {
                rows: hunk.rows.into_iter().map(moved).collect(),
            }));
        }
        all
    }

    /// As the CLI reports it: `[{oldStart, newStart, lines: [" a", "-b", "+c"]}]`.
    pub(crate) fn reported(patch: &Value) -> Option<Self> {
        let mut diff = Self {
            is_placed: true,
            ..Self::default()
        };
        for hunk in patch.as_array()? {
            let mut old = text::number(hunk, "oldStart")? as usize;
            let mut new = text::number(hunk, "newStart")? as usize;
            let mut rows = Vec::new();
            for line in hunk.get("lines")?.as_array()? {
                let line = line.as_str()?;
                let (side, rest) = match line.chars().next() {
                    Some('-') => (Side::Old, &line[1..]),
                    Some('+') => (Side::New, &line[1..]),
                    Some('\\') => continue,
                    Some(' ') => (Side::Both, &line[1..]),
                    _ => (Side::Both, line),
                };
                diff.row(
                    &mut rows,
                    side,
                    if side == Side::Old { old } else { new },
                    rest,
                );
                old += usize::from(side != Side::New);
                new += usize::from(side != Side::Old);
            }
            diff.hunks.push(Hunk { rows });
        }
        (!diff.hunks.is_empty()).then_some(diff)
    }

    fn hunk(&mut self, ops: &[DiffOp], old: &[&str], new: &[&str], from: usize) {
        let mut rows = Vec::new();
        for op in ops {
            let (tag, before, after) = op.as_tag_tuple();
            if tag == similar::DiffTag::Equal {
                for index in after {
                    self.row(&mut rows, Side::Both, from + index + 1, new[index]);
                }
                continue;
            }
            for index in before {
                self.row(&mut rows, Side::Old, from + index + 1, old[index]);
            }
            for index in after {
                self.row(&mut rows, Side::New, from + index + 1, new[index]);
            }
        }
        self.hunks.push(Hunk { rows });
    }

    fn row(&mut self, rows: &mut Vec<Row>, side: Side, number: usize, text: &str) {
        match side {
            Side::Both => {}
            Side::Old => self.removed += 1,
            Side::New => self.added += 1,
        }
        self.rows += 1;
        if self.rows <= KEPT {
            rows.push(Row {
                side,
                number,
                text: text::clip(text, ROW_CAP).0.to_owned(),
            });
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.added + self.removed == 0
    }

    /// `+3 −1`
    pub(crate) fn summary(&self) -> String {
        format!("+{} −{}", self.added, self.removed)
    }

    /// The rows, at most `most` of them; what is left out is named.
    pub(crate) fn lines(&self, most: usize) -> Vec<Line> {
        let (rows, most) = (self.rows, most.min(KEPT));
        let digits = self.digits();
        let mut lines = Vec::new();
        let mut left = if rows <= most + 1 { rows } else { most };
        for (index, hunk) in self.hunks.iter().enumerate() {
            if index > 0 && left > 0 {
                lines.push(Line::of(format!("{:>digits$} ⋯", ""), Tone::Dim));
            }
            lines.extend(
                hunk.rows
                    .iter()
                    .take(left)
                    .map(|row| self.line(row, digits)),
            );
            left = left.saturating_sub(hunk.rows.len());
        }
        if rows > most + 1 {
            lines.push(Line::of(
                format!("… {} more rows", text::grouped((rows - most) as u64)),
                Tone::Dim,
            ));
        }
        lines
    }

    fn digits(&self) -> usize {
        let numbers = self.hunks.iter().filter_map(|hunk| hunk.rows.last());
        let most = numbers.map(|row| row.number).max().unwrap_or_default();
        if self.is_placed {
            most.to_string().len().max(2)
        } else {
            0
        }
    }

    fn line(&self, row: &Row, digits: usize) -> Line {
        let (sign, tone) = match row.side {
            Side::Both => (' ', Tone::Plain),
            Side::Old => ('-', Tone::Bad),
            Side::New => ('+', Tone::Good),
        };
        let line = match self.is_placed {
            true => Line::of(format!("{:>digits$} ", row.number), Tone::Dim),
            false => Line::new(),
        };
        let hang = line.width() + 2;
        line.add(format!("{sign} "), tone)
            .add(&row.text, tone)
            .hanging(hang)
    }
}

/// Too long to be compared: all that is not common is taken away and added.
fn replaced(old: usize, new: usize, head: usize, tail: usize) -> Vec<DiffOp> {
    let (old_len, new_len) = (old - head - tail, new - head - tail);
    vec![
        DiffOp::Equal {
            old_index: 0,
            new_index: 0,
            len: head,
        },
        DiffOp::Replace {
            old_index: head,
            old_len,
            new_index: head,
            new_len,
        },
        DiffOp::Equal {
            old_index: head + old_len,
            new_index: head + new_len,
            len: tail,
        },
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(diff: &Diff) -> Vec<String> {
        diff.lines(100).iter().map(Line::text).collect()
    }

    #[test]
    fn a_change_has_numbers_and_three_rows_around_it() {
        let old = (1..=20).map(|n| format!("line {n}\n")).collect::<String>();
        let diff = Diff::replacement(&old, "line 10", "line ten\nand more", false).unwrap();
        assert_eq!(diff.summary(), "+2 −1");
        assert_eq!(
            shown(&diff),
            [
                " 7   line 7",
                " 8   line 8",
                " 9   line 9",
                "10 - line 10",
                "10 + line ten",
                "11 + and more",
                "12   line 11",
                "13   line 12",
                "14   line 13",
            ]
        );
    }

    #[test]
    fn changes_far_apart_are_told_apart() {
        let old = (1..=30).map(|n| format!("{n}\n")).collect::<String>();
        let new = old.replacen("3\n", "three\n", 1).replacen("28\n", "", 1);
        let diff = Diff::between(&old, &new);
        assert_eq!(diff.summary(), "+1 −2");
        assert!(shown(&diff).iter().any(|row| row.contains('⋯')));
    }

    #[test]
    fn what_the_cli_reports_is_taken_as_it_is() {
        let patch = json!([{"oldStart": 4, "oldLines": 2, "newStart": 4, "newLines": 2,
            "lines": [" alpha", "-beta", "+gamma", "\\ No newline at end of file"]}]);
        let diff = Diff::reported(&patch).unwrap();
        assert_eq!(shown(&diff), [" 4   alpha", " 5 - beta", " 5 + gamma"]);
        assert_eq!(Diff::reported(&json!([])), None);
        assert_eq!(Diff::reported(&json!([{"lines": 7}])), None);
    }

    #[test]
    fn a_replacement_that_is_not_in_the_file_is_no_diff() {
        assert_eq!(Diff::replacement("a\n", "b", "c", false), None);
        assert_eq!(shown(&Diff::unplaced("b", "c")), ["- b", "+ c"]);
    }

    #[test]
    fn files_too_long_to_compare_still_show_what_goes_and_comes() {
        let old = (0..9_000).map(|n| format!("a{n}\n")).collect::<String>();
        let new = (0..9_000).map(|n| format!("b{n}\n")).collect::<String>();
        let diff = Diff::between(&old, &new);
        assert_eq!((diff.added, diff.removed), (9_000, 9_000));
        assert_eq!(diff.lines(5).last().unwrap().text(), "… 17,995 more rows");
    }
}
