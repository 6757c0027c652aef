//! Two logs, line by line and field by field: what differs. Pure.
//!
//! Lines are paired by their words, in order; of a pair everything counts but the order of keys. Ids count by where they
//! are used: each id of one log stands for one id of the other, in all places.

use std::collections::HashMap;
use std::fmt;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::normal::{Leaf, Line, Piece};

/// One thing in which two logs differ, as a person reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference(String);

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Everything in which the two differ.
pub(crate) fn compare(real: &[&Line], scripted: &[&Line]) -> Vec<Difference> {
    let mut comparison = Comparison::default();
    for op in capture_diff_slices(Algorithm::Lcs, &words(real), &words(scripted)) {
        let (left, right) = (&real[op.old_range()], &scripted[op.new_range()]);
        if let DiffOp::Equal { .. } = op {
            for (left, right) in left.iter().zip(right) {
                comparison.lines(left, right);
            }
            continue;
        }
        for line in left {
            comparison.found(line, "- only the real CLI says this");
        }
        for line in right {
            comparison.found(line, "+ only the scripted CLI says this");
        }
    }
    comparison.differences
}

fn words<'a>(lines: &[&'a Line]) -> Vec<&'a str> {
    lines.iter().map(|line| &*line.word).collect()
}

#[derive(Debug, Default)]
struct Comparison<'a> {
    /// Which id of the one stands for which of the other.
    real_ids: HashMap<&'a str, &'a str>,
    scripted_ids: HashMap<&'a str, &'a str>,
    differences: Vec<Difference>,
}

impl<'a> Comparison<'a> {
    fn found(&mut self, line: &Line, what: &str) {
        let text = format!("line {:>3}  {}  {what}", line.number, line.word);
        self.differences.push(Difference(text));
    }

    fn lines(&mut self, real: &'a Line, scripted: &'a Line) {
        for (place, left) in &real.fields {
            let what = match scripted.fields.get(place) {
                Some(right) if self.is_same(left, right) => continue,
                Some(right) => format!("~ {place}: {} | {}", shown(left), shown(right)),
                None => format!("- {place}: {}", shown(left)),
            };
            self.found(real, &what);
        }
        for (place, right) in &scripted.fields {
            if !real.fields.contains_key(place) {
                self.found(real, &format!("+ {place}: {}", shown(right)));
            }
        }
    }

    fn is_same(&mut self, real: &'a Leaf, scripted: &'a Leaf) -> bool {
        match (real, scripted) {
            (
                Leaf::Id { form, id },
                Leaf::Id {
                    form: other,
                    id: right,
                },
            ) => form == other && self.is_same_id(id, right),
            (Leaf::Text(left), Leaf::Text(right)) => self.is_same_text(left, right),
            (left, right) => left == right,
        }
    }

    fn is_same_text(&mut self, real: &'a [Piece], scripted: &'a [Piece]) -> bool {
        if let Some(same) = cut_short(real, scripted).or_else(|| cut_short(scripted, real)) {
            return same;
        }
        real.len() == scripted.len()
            && real.iter().zip(scripted).all(|pair| match pair {
                (Piece::Words(left), Piece::Words(right)) => left == right,
                (Piece::Id(left), Piece::Id(right)) => self.is_same_id(left, right),
                _ => false,
            })
    }

    /// Two ids are the same if neither stands for another one yet.
    fn is_same_id(&mut self, real: &'a str, scripted: &'a str) -> bool {
        *self.real_ids.entry(real).or_insert(scripted) == scripted
            && *self.scripted_ids.entry(scripted).or_insert(real) == real
    }
}

/// Whether the other text begins like one that the recording cut; `None` if it is whole. Words before an id count, however
/// they are spaced: the id may have been cut itself.
fn cut_short(text: &[Piece], other: &[Piece]) -> Option<bool> {
    let Some(Piece::Words(end)) = text.last() else {
        return None;
    };
    end.strip_suffix('…')?;
    let words = |text: &[Piece]| match text.first() {
        Some(Piece::Words(words)) => {
            let words: Vec<&str> = words.trim_end_matches('…').split_whitespace().collect();
            words.join(" ")
        }
        _ => String::new(),
    };
    let (cut, whole) = (words(text), words(other));
    let begins = whole.starts_with(&cut) || cut.starts_with(&whole);
    Some(begins && cut.is_empty() == whole.is_empty())
}

fn shown(leaf: &Leaf) -> String {
    const SHOWN: usize = 120;
    let text = match leaf {
        Leaf::Plain(json) => json.to_string(),
        other => format!("{other:?}"),
    };
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text,
    }
}
