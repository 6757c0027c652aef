//! The versions of a session's plan, and how one differs from the one before.
//!
//! Owns the numbering and the comparison. Invariant: a text that was not changed is no new version.

use similar::{ChangeTag, TextDiff};

use crate::control::{ApprovalId, PlanVersion};

/// Texts with more lines than this together are not compared line by line: that would take too long.
const MOST_LINES: usize = 20_000;

/// The version that follows, if this text is one. `last` is the newest so far.
pub fn next_version(
    last: Option<&PlanVersion>,
    approval: Option<ApprovalId>,
    at: u64,
    by: &str,
    text: &str,
) -> Option<PlanVersion> {
    if last.is_some_and(|last| last.text == text) {
        return None;
    }
    Some(PlanVersion {
        approval,
        asked_again: Vec::new(),
        number: last.map_or(1, |last| last.number.saturating_add(1)),
        at,
        by: by.to_owned(),
        text: text.to_owned(),
        changes: last.map_or_else(String::new, |last| compare(&last.text, text)),
    })
}

/// The difference, as lines with `+`, `-` and a space in front.
pub fn compare(old: &str, new: &str) -> String {
    let mut out = String::with_capacity(old.len().max(new.len()));
    let mut put = |sign: char, line: &str| {
        out.push(sign);
        out.push_str(line.trim_end_matches(['\r', '\n']));
        out.push('\n');
    };
    if old.lines().count() + new.lines().count() > MOST_LINES {
        old.lines().for_each(|line| put('-', line));
        new.lines().for_each(|line| put('+', line));
        return out;
    }
    for change in TextDiff::from_lines(old, new).iter_all_changes() {
        let sign = match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        put(sign, change.value());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_shows_what_went_and_what_came() {
        assert_eq!(
            compare("# Plan\n1. a\n2. b\n", "# Plan\n1. a\n2. c\n3. d"),
            " # Plan\n 1. a\n-2. b\n+2. c\n+3. d\n"
        );
        assert_eq!(compare("", "x"), "+x\n");
        assert_eq!(compare("x\n", ""), "-x\n");
        assert_eq!(compare("same", "same"), " same\n");
    }

    #[test]
    fn a_very_long_plan_is_compared_as_a_whole() {
        let long = "line\n".repeat(MOST_LINES);
        let changes = compare(&long, "other");
        assert!(changes.starts_with("-line\n") && changes.ends_with("+other\n"));
    }

    #[test]
    fn versions_count_up_and_the_same_text_is_no_new_one() {
        let first = next_version(None, None, 5, "agent", "a").unwrap();
        assert_eq!((first.number, first.changes.as_str()), (1, ""));
        assert_eq!(next_version(Some(&first), None, 6, "agent", "a"), None);
        let second = next_version(Some(&first), None, 7, "ada", "b").unwrap();
        assert_eq!((second.number, second.by.as_str()), (2, "ada"));
        assert_eq!(second.changes, "-a\n+b\n");
    }
}
