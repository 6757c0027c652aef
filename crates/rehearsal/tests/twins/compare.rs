//! Two logs, line by line and field by field: what differs. Pure.
//!
//! Lines are paired by their words, in order; of a pair everything counts but the order of keys. Ids count by where they
//! are used: each id of one log stands for one id of the other, in all places.

use std::collections::HashMap;
use std::fmt;

use super::align::{Pair, align};
use super::normal::{Leaf, Line, Node};
use super::path::{Path, Step};
use super::text::Piece;

/// One thing in which two logs differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The line's place in the real log (or where it should be), from 1.
    pub number: usize,
    pub word: String,
    /// The field; empty for a line that only one of them has.
    pub path: Path,
    pub real: Side,
    pub scripted: Side,
}

/// What one of them has there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Side {
    Nothing,
    /// A line that the other has not.
    Line,
    /// A value, as it is shown.
    Value(String),
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Side::Nothing => f.write_str("nothing"),
            Side::Line => f.write_str("this line"),
            Side::Value(text) => f.write_str(text),
        }
    }
}

/// Everything in which the two differ.
pub(crate) fn compare(real: &[&Line], scripted: &[&Line]) -> Vec<Difference> {
    let mut comparison = Comparison::default();
    let mut last = 0;
    for pair in align(real, scripted) {
        match pair {
            Pair::Both(left, right) => {
                last = left.number;
                comparison.start(left);
                comparison.node(&Path::default(), &left.node, &right.node);
            }
            Pair::Real(line) => {
                last = line.number;
                comparison.start(line);
                comparison.found(&Path::default(), Side::Line, Side::Nothing);
            }
            Pair::Scripted(line) => {
                comparison.start(line);
                comparison.number = last;
                comparison.found(&Path::default(), Side::Nothing, Side::Line);
            }
        }
    }
    comparison.differences
}

#[derive(Debug, Default)]
struct Comparison {
    /// Which id of the one stands for which of the other.
    real_ids: HashMap<String, String>,
    scripted_ids: HashMap<String, String>,
    number: usize,
    word: String,
    differences: Vec<Difference>,
}

impl Comparison {
    fn start(&mut self, line: &Line) {
        self.number = line.number;
        self.word.clone_from(&line.word);
    }

    fn found(&mut self, path: &Path, real: Side, scripted: Side) {
        self.differences.push(Difference {
            number: self.number,
            word: self.word.clone(),
            path: path.clone(),
            real,
            scripted,
        });
    }

    fn node(&mut self, path: &Path, real: &Node, scripted: &Node) {
        match (real, scripted) {
            (Node::Object(left), Node::Object(right)) => self.objects(path, left, right),
            (Node::List(left), Node::List(right)) => self.lists(path, left, right),
            (Node::Leaf(left), Node::Leaf(right)) => self.leaves(path, left, right),
            _ => self.found(path, shown(real), shown(scripted)),
        }
    }

    fn objects(&mut self, path: &Path, real: &[(String, Node)], scripted: &[(String, Node)]) {
        let below = |key: &str| path.with(Step::Key(key.to_owned()));
        for (key, left) in real {
            match scripted.iter().find(|(name, _)| name == key) {
                Some((_, right)) => self.node(&below(key), left, right),
                None => self.found(&below(key), shown(left), Side::Nothing),
            }
        }
        for (key, right) in scripted {
            if !real.iter().any(|(name, _)| name == key) {
                self.found(&below(key), Side::Nothing, shown(right));
            }
        }
    }

    fn lists(&mut self, path: &Path, real: &[Node], scripted: &[Node]) {
        for index in 0..real.len().max(scripted.len()) {
            let below = path.with(Step::Item(index));
            match (real.get(index), scripted.get(index)) {
                (Some(left), Some(right)) => self.node(&below, left, right),
                (left, right) => {
                    let side = |node: Option<&Node>| node.map_or(Side::Nothing, shown);
                    self.found(&below, side(left), side(right));
                }
            }
        }
    }

    fn leaves(&mut self, path: &Path, real: &Leaf, scripted: &Leaf) {
        let same = match (real, scripted) {
            (
                Leaf::Id { form, id },
                Leaf::Id {
                    form: other,
                    id: right,
                },
            ) => form == other && self.same_id(id, right),
            (Leaf::Text(left), Leaf::Text(right)) => self.same_text(left, right),
            (left, right) => left == right,
        };
        if !same {
            let (left, right) = (self.leaf(real, true), self.leaf(scripted, false));
            self.found(path, Side::Value(left), Side::Value(right));
        }
    }

    fn same_text(&mut self, real: &[Piece], scripted: &[Piece]) -> bool {
        if let Some(same) = cut_short(real, scripted).or_else(|| cut_short(scripted, real)) {
            return same;
        }
        real.len() == scripted.len()
            && real.iter().zip(scripted).all(|pair| match pair {
                (Piece::Words(left), Piece::Words(right)) => left == right,
                (Piece::Id(left), Piece::Id(right)) => self.same_id(left, right),
                _ => false,
            })
    }

    /// Two ids are the same if neither stands for another one yet.
    fn same_id(&mut self, real: &str, scripted: &str) -> bool {
        let left = self
            .real_ids
            .entry(real.to_owned())
            .or_insert_with(|| scripted.to_owned());
        if left != scripted {
            return false;
        }
        let right = self
            .scripted_ids
            .entry(scripted.to_owned())
            .or_insert_with(|| real.to_owned());
        right == real
    }

    /// A leaf, with a word on an id that stands elsewhere for another one.
    fn leaf(&self, leaf: &Leaf, real: bool) -> String {
        let known = if real {
            &self.real_ids
        } else {
            &self.scripted_ids
        };
        match leaf {
            Leaf::Id { form, id } => match known.get(id) {
                Some(other) => format!("id {id} ({form}; elsewhere it is {other})"),
                None => format!("id {id} ({form}; new)"),
            },
            other => leaf_text(other),
        }
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

const SHOWN: usize = 120;

fn shown(node: &Node) -> Side {
    Side::Value(match node {
        Node::Leaf(leaf) => leaf_text(leaf),
        other => shortened(&format!("{other:?}")),
    })
}

fn leaf_text(leaf: &Leaf) -> String {
    match leaf {
        Leaf::Plain(json) => shortened(&json.to_string()),
        other => shortened(&format!("{other:?}")),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}
