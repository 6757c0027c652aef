//! Which line of one log belongs to which of the other: the longest pairing, in order, of lines with the same word; among
//! equally long ones, that with the most fields in common. Pure.

use super::normal::{Leaf, Line, Node};

/// Lines that belong together, or a line of one log only.
#[derive(Debug)]
pub(crate) enum Pair<'a> {
    Both(&'a Line, &'a Line),
    Real(&'a Line),
    Scripted(&'a Line),
}

/// More than any two lines can have in common.
const PAIRED: u64 = 1_000_000;

pub(crate) fn align<'a>(real: &[&'a Line], scripted: &[&'a Line]) -> Vec<Pair<'a>> {
    // What is the same at both ends need not be searched.
    let same = |(left, right): &(&&'a Line, &&'a Line)| {
        std::ptr::eq(**left, **right) || (left.word == right.word && left.node == right.node)
    };
    let start = real.iter().zip(scripted).take_while(same).count();
    let (left, right) = (&real[start..], &scripted[start..]);
    let end = left.iter().rev().zip(right.iter().rev());
    let end = end.take_while(same).count();
    let (left, left_end) = left.split_at(left.len() - end);
    let (right, right_end) = right.split_at(right.len() - end);
    let both = |(left, right): (&&'a Line, &&'a Line)| Pair::Both(left, right);
    let mut pairs: Vec<Pair<'a>> = real.iter().zip(&scripted[..start]).map(both).collect();
    pairs.extend(search(left, right));
    pairs.extend(left_end.iter().zip(right_end).map(both));
    pairs
}

fn search<'a>(real: &[&'a Line], scripted: &[&'a Line]) -> Vec<Pair<'a>> {
    let (height, width) = (real.len(), scripted.len());
    let gain = |row: usize, column: usize| {
        let (left, right) = (&real[row], &scripted[column]);
        (left.word == right.word).then(|| PAIRED + common(&left.node, &right.node))
    };
    // best[row][column]: the best of the lines from there on.
    let mut best = vec![vec![0u64; width + 1]; height + 1];
    let mut gains = vec![vec![None; width]; height];
    for row in (0..height).rev() {
        for column in (0..width).rev() {
            let paired = gain(row, column);
            gains[row][column] = paired;
            let together = paired.map_or(0, |gain| gain + best[row + 1][column + 1]);
            best[row][column] = together
                .max(best[row + 1][column])
                .max(best[row][column + 1]);
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut pairs = Vec::new();
    while row < height && column < width {
        let together = gains[row][column].map(|gain| gain + best[row + 1][column + 1]);
        if together == Some(best[row][column]) {
            pairs.push(Pair::Both(real[row], scripted[column]));
            (row, column) = (row + 1, column + 1);
        } else if best[row + 1][column] == best[row][column] {
            pairs.push(Pair::Real(real[row]));
            row += 1;
        } else {
            pairs.push(Pair::Scripted(scripted[column]));
            column += 1;
        }
    }
    pairs.extend(real[row..].iter().map(|line| Pair::Real(line)));
    pairs.extend(scripted[column..].iter().map(|line| Pair::Scripted(line)));
    pairs
}

/// How many fields two values have in common; ids do not count.
fn common(left: &Node, right: &Node) -> u64 {
    match (left, right) {
        (Node::Object(left), Node::Object(right)) => {
            let both = left.iter().filter_map(|(key, left)| {
                let (_, right) = right.iter().find(|(name, _)| name == key)?;
                Some(common(left, right))
            });
            both.sum()
        }
        (Node::List(left), Node::List(right)) => {
            let both = left.iter().zip(right);
            both.map(|(left, right)| common(left, right)).sum()
        }
        (Node::Leaf(Leaf::Id { .. }), _) => 0,
        (left, right) => u64::from(left == right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_testkit::json::Json;

    fn lines(words: &[(&str, u64)]) -> Vec<Line> {
        let line = |(number, (word, value)): (usize, &(&str, u64))| Line {
            number,
            word: (*word).to_owned(),
            node: Node::Leaf(Leaf::Plain(Json::from(*value))),
        };
        words.iter().enumerate().map(line).collect()
    }

    fn aligned(left: &[(&str, u64)], right: &[(&str, u64)]) -> String {
        let (left, right) = (lines(left), lines(right));
        let (left, right) = (Vec::from_iter(&left), Vec::from_iter(&right));
        let pairs = align(&left, &right);
        let text = pairs.iter().map(|pair| match pair {
            Pair::Both(left, _) => left.word.clone(),
            Pair::Real(line) => format!("-{}", line.word),
            Pair::Scripted(line) => format!("+{}", line.word),
        });
        text.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_line_of_one_log_only_stands_between_the_pairs() {
        let (a, b, c) = (("a", 1), ("b", 1), ("c", 1));
        assert_eq!(aligned(&[a, b, c], &[a, c]), "a -b c");
        assert_eq!(aligned(&[a, c], &[a, b, c]), "a +b c");
        assert_eq!(aligned(&[a, b], &[b, a]), "-a b +a");
    }

    #[test]
    fn of_several_lines_with_one_word_those_alike_are_paired() {
        let left = [("a", 1), ("a", 2), ("a", 3)];
        let (left, right) = (lines(&left), lines(&[("a", 2), ("b", 0)]));
        let (left, right) = (Vec::from_iter(&left), Vec::from_iter(&right));
        let pairs = align(&left, &right);
        let paired: Vec<usize> = pairs
            .iter()
            .filter_map(|pair| match pair {
                Pair::Both(left, _) => Some(left.number),
                _ => None,
            })
            .collect();
        assert_eq!(paired, [1]);
    }
}
