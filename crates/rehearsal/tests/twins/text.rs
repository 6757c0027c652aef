//! Texts in which ids stand. Pure.

use std::collections::BTreeSet;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Words(String),
    Id(String),
}

/// Longer than any text that tells an id.
const LONGEST: usize = 20_000;

/// The text, cut at the ids in it: those that are known, and every UUID.
pub(crate) fn pieces(text: &str, known: &BTreeSet<String>) -> Vec<Piece> {
    if text.len() > LONGEST {
        return vec![Piece::Words(text.to_owned())];
    }
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((start, length)) = first(rest, known) {
        if start > 0 {
            pieces.push(Piece::Words(rest[..start].to_owned()));
        }
        pieces.push(Piece::Id(rest[start..start + length].to_owned()));
        rest = &rest[start + length..];
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Words(rest.to_owned()));
    }
    pieces
}

/// Where the first id stands, the longest of those there.
fn first(text: &str, known: &BTreeSet<String>) -> Option<(usize, usize)> {
    let found = known
        .iter()
        .filter_map(|id| Some((text.find(&**id)?, id.len())));
    let uuid = (0..text.len()).find(|index| uuid_at(text, *index));
    found
        .chain(uuid.map(|index| (index, UUID.len())))
        .min_by_key(|(start, length)| (*start, std::cmp::Reverse(*length)))
}

const UUID: &[u8] = b"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

/// Whether a UUID starts there.
pub(crate) fn uuid_at(text: &str, index: usize) -> bool {
    let bytes = &text.as_bytes()[index..];
    bytes.len() >= UUID.len()
        && bytes.iter().zip(UUID).all(|(byte, shape)| match shape {
            b'-' => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_the_ids_in_it() {
        let known = BTreeSet::from(["b3f9a21c".to_owned()]);
        let uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";
        assert_eq!(
            pieces(&format!("/tmp/{uuid}/b3f9a21c.output"), &known),
            [
                Piece::Words("/tmp/".into()),
                Piece::Id(uuid.into()),
                Piece::Words("/".into()),
                Piece::Id("b3f9a21c".into()),
                Piece::Words(".output".into()),
            ]
        );
        assert_eq!(pieces("", &known), [Piece::Words(String::new())]);
    }
}
