//! The difference of two texts, line by line, as hunks with three lines around them. Pure.
//!
//! Of all shortest ways from one text to the other the one is taken that the CLI takes: it goes on along the old text
//! where both directions have come equally far, and within a change what goes stands before what comes.

use std::ops::Range;

use serde_json::{Value, json};

/// Lines around a change.
const AROUND: usize = 3;
/// Steps after which the rest counts as one change, so that a rehearsal never hangs on two large strange files.
const MOST_STEPS: isize = 1_500;
const NO_NEWLINE: &str = "\\ No newline at end of file";

/// `structuredPatch`: the hunks between two texts, with tabs at the beginnings of lines shown as two blanks.
pub(super) fn patch(old: &str, new: &str) -> Value {
    let (old, new) = (untabbed(old), untabbed(new));
    let (old, new) = (lines(&old), lines(&new));
    let hunks = hunks(&changes(&old, &new));
    let hunks = hunks.iter().map(|hunk| hunk_value(hunk, &old, &new));
    Value::Array(hunks.collect())
}

/// How many lines come and go.
pub(super) fn counts(old: &str, new: &str) -> (usize, usize) {
    let changes = changes(&lines(old), &lines(new));
    let inserted = changes.iter().map(|change| change.new.len()).sum();
    let deleted = changes.iter().map(|change| change.old.len()).sum();
    (inserted, deleted)
}

/// Lines of the old text that make way for lines of the new one; either may be none.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Change {
    old: Range<usize>,
    new: Range<usize>,
}

/// Each line with its end; the last one may have none.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn untabbed(text: &str) -> String {
    if !text.contains('\t') {
        return text.to_owned();
    }
    let shown = text.split_inclusive('\n').map(|line| {
        let rest = line.trim_start_matches('\t');
        "  ".repeat(line.len() - rest.len()) + rest
    });
    shown.collect()
}

/// A line that comes or goes: its place in both texts, and which of the two.
type Step = (usize, usize, bool);

fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
    let Some(moves) = shortest(old, new) else {
        return vec![all_between(old, new)];
    };
    let mut changes: Vec<Change> = Vec::new();
    for (at_old, at_new, comes) in moves {
        let adjoins = changes
            .last()
            .is_some_and(|last| last.old.end == at_old && last.new.end == at_new);
        if !adjoins {
            let (old, new) = (at_old..at_old, at_new..at_new);
            changes.push(Change { old, new });
        }
        if let Some(last) = changes.last_mut() {
            if comes {
                last.new.end += 1;
            } else {
                last.old.end += 1;
            }
        }
    }
    changes
}

/// One change from the first line that differs to the last.
fn all_between(old: &[&str], new: &[&str]) -> Change {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = tail.take_while(|(a, b)| a == b).count();
    Change {
        old: head..old.len() - tail,
        new: head..new.len() - tail,
    }
}

/// The steps of a shortest way, or nothing if it is longer than anybody wants to wait for.
fn shortest(old: &[&str], new: &[&str]) -> Option<Vec<Step>> {
    let mut search = Search::new(old, new);
    if search.begin() {
        return Some(Vec::new());
    }
    for length in 1..=MOST_STEPS {
        for k in (-length..=length).step_by(2) {
            if let Some(last) = search.advance(k) {
                return Some(search.retrace(last));
            }
        }
    }
    None
}

/// How far a way has come in the old text, and its last step. What ways have in common is kept once.
#[derive(Clone, Copy)]
struct Way {
    old: usize,
    last: Option<usize>,
}

/// The ways found so far: on the diagonal `k` the one that is `k` lines further in the old text than in the new one.
struct Search<'a> {
    old: &'a [&'a str],
    new: &'a [&'a str],
    ways: Vec<Option<Way>>,
    steps: Vec<(Step, Option<usize>)>,
}

impl<'a> Search<'a> {
    fn new(old: &'a [&'a str], new: &'a [&'a str]) -> Self {
        Self {
            old,
            new,
            ways: vec![None; old.len() + new.len() + 3],
            steps: Vec::new(),
        }
    }

    /// Goes along what both texts begin with; true if that is all of them.
    fn begin(&mut self) -> bool {
        let way = self.along(Way { old: 0, last: None }, 0);
        self.set(0, Some(way));
        self.is_at_end(way, 0)
    }

    /// Takes one more step to a diagonal. Gives back the last step if both texts end there.
    fn advance(&mut self, k: isize) -> Option<usize> {
        let goes = self.get(k - 1).filter(|way| way.old < self.old.len());
        let comes = self
            .get(k + 1)
            .filter(|way| self.in_new(*way, k + 1) < self.new.len());
        let (from, comes) = match (goes, comes) {
            (None, None) => {
                self.set(k, None);
                return None;
            }
            (Some(goes), Some(comes)) if goes.old < comes.old => (comes, true),
            (Some(goes), _) => (goes, false),
            (None, Some(comes)) => (comes, true),
        };
        let at_new = self.in_new(from, if comes { k + 1 } else { k - 1 });
        self.steps.push(((from.old, at_new, comes), from.last));
        let last = self.steps.len() - 1;
        let stepped = Way {
            old: from.old + usize::from(!comes),
            last: Some(last),
        };
        let way = self.along(stepped, k);
        self.set(k, Some(way));
        self.is_at_end(way, k).then_some(last)
    }

    /// Goes on as long as the texts are alike.
    fn along(&self, mut way: Way, k: isize) -> Way {
        while let (Some(a), Some(b)) = (self.old.get(way.old), self.new.get(self.in_new(way, k)))
            && a == b
        {
            way.old += 1;
        }
        way
    }

    fn is_at_end(&self, way: Way, k: isize) -> bool {
        way.old >= self.old.len() && self.in_new(way, k) >= self.new.len()
    }

    /// Where a way is in the new text.
    fn in_new(&self, way: Way, k: isize) -> usize {
        way.old.checked_add_signed(-k).unwrap_or(usize::MAX)
    }

    fn slot(&self, k: isize) -> Option<usize> {
        let slot = k.checked_add_unsigned(self.new.len() + 1)?;
        usize::try_from(slot)
            .ok()
            .filter(|slot| *slot < self.ways.len())
    }

    fn get(&self, k: isize) -> Option<Way> {
        self.ways[self.slot(k)?]
    }

    fn set(&mut self, k: isize, way: Option<Way>) {
        if let Some(slot) = self.slot(k) {
            self.ways[slot] = way;
        }
    }

    fn retrace(&self, last: usize) -> Vec<Step> {
        let mut way = Vec::new();
        let mut next = Some(last);
        while let Some(index) = next {
            let (step, before) = self.steps[index];
            way.push(step);
            next = before;
        }
        way.reverse();
        way
    }
}

/// Changes that stand so close that the lines around them touch.
fn hunks(changes: &[Change]) -> Vec<Vec<Change>> {
    let mut hunks: Vec<Vec<Change>> = Vec::new();
    for change in changes {
        match hunks.last_mut() {
            Some(hunk)
                if hunk
                    .last()
                    .is_some_and(|last| change.old.start - last.old.end <= 2 * AROUND) =>
            {
                hunk.push(change.clone());
            }
            _ => hunks.push(vec![change.clone()]),
        }
    }
    hunks
}

fn hunk_value(hunk: &[Change], old: &[&str], new: &[&str]) -> Value {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
        return Value::Null;
    };
    let before = first.old.start.min(AROUND);
    let after = (old.len() - last.old.end).min(AROUND);
    let (old_start, new_start) = (first.old.start - before, first.new.start - before);
    let (old_end, new_end) = (last.old.end + after, last.new.end + after);
    let mut shown = Vec::new();
    let mut at = old_start;
    for change in hunk {
        show(&mut shown, ' ', &old[at..change.old.start]);
        show(&mut shown, '-', &old[change.old.clone()]);
        show(&mut shown, '+', &new[change.new.clone()]);
        at = change.old.end;
    }
    show(&mut shown, ' ', &old[at..old_end]);
    json!({
        "oldStart": old_start + 1,
        "oldLines": old_end - old_start,
        "newStart": new_start + 1,
        "newLines": new_end - new_start,
        "lines": shown,
    })
}

fn show(shown: &mut Vec<String>, sign: char, lines: &[&str]) {
    for line in lines {
        match line.strip_suffix('\n') {
            Some(line) => shown.push(format!("{sign}{line}")),
            None => {
                shown.push(format!("{sign}{line}"));
                shown.push(NO_NEWLINE.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(old: &str, new: &str) -> Vec<String> {
        let hunks = patch(old, new);
        let hunks = hunks.as_array().unwrap().iter();
        hunks
            .flat_map(|hunk| hunk["lines"].as_array().unwrap())
            .map(|line| line.as_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn lines_that_change_places_go_before_they_come() {
        let lines = shown("one\ntwo\nthree\n", "three\ntwo\none\n");
        assert_eq!(lines, ["-one", "-two", " three", "+two", "+one"]);
    }

    #[test]
    fn a_last_line_without_an_end_is_another_line() {
        let lines = shown("a\nb", "a\nb\n");
        assert_eq!(lines, [" a", "-b", NO_NEWLINE, "+b"]);
    }

    #[test]
    fn tabs_at_the_beginning_are_shown_as_blanks() {
        assert_eq!(shown("\t\ta\n", "\t\tb\n"), ["-    a", "+    b"]);
    }

    #[test]
    fn changes_far_apart_stand_in_hunks_of_their_own() {
        let old: String = (1..=30).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n5\n", "\nV\n").replace("\n25\n", "\nXXV\n");
        let hunks = patch(&old, &new);
        let starts: Vec<u64> = hunks
            .as_array()
            .unwrap()
            .iter()
            .map(|h| h["oldStart"].as_u64().unwrap())
            .collect();
        assert_eq!(starts, [2, 22]);
        assert_eq!(counts(&old, &new), (2, 2));
    }

    #[test]
    fn two_large_texts_with_nothing_in_common_are_one_change() {
        let old: String = (0..5000).map(|n| format!("a{n}\n")).collect();
        let new: String = (0..5000).map(|n| format!("b{n}\n")).collect();
        assert_eq!(counts(&old, &new), (5000, 5000));
    }
}
