//! Whether a pattern with stars covers a text that may have unknown parts.
//!
//! Owns two questions: does it cover whatever the unknown parts are, and may it cover for some of them. Both in the
//! product of the two lengths at most.

/// A place of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// This character.
    Char(char),
    /// The end of a word.
    End,
    /// Any one place.
    One,
    /// Any run of places, ends of words too.
    Star,
}

impl Mark {
    pub(super) fn of(c: char) -> Mark {
        match c {
            '*' => Mark::Star,
            c => Mark::Char(c),
        }
    }
}

/// A place of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// This character.
    Char(char),
    /// The end of a word.
    End,
    /// Anything: no word, a part of one, many.
    Any,
}

fn same(mark: Mark, piece: Piece) -> bool {
    match (mark, piece) {
        (Mark::Char(a), Piece::Char(b)) => a == b,
        (Mark::End, Piece::End) | (Mark::One, Piece::Char(_) | Piece::End) => true,
        _ => false,
    }
}

/// Whether the pattern covers the text, whatever its unknown parts are: these stand where a star does.
pub(super) fn covers(pattern: &[Mark], text: &[Piece]) -> bool {
    matches(pattern, text, false)
}

/// Whether the pattern covers the text for some values of its unknown parts.
pub(super) fn may_cover(pattern: &[Mark], text: &[Piece]) -> bool {
    matches(pattern, text, true)
}

fn matches(pattern: &[Mark], text: &[Piece], any_fits: bool) -> bool {
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    pass_stars(pattern, &mut reached);
    let mut next = vec![false; pattern.len() + 1];
    for piece in text {
        next.fill(false);
        for at in (0..=pattern.len()).filter(|at| reached[*at]) {
            let mark = pattern.get(at).copied();
            if mark == Some(Mark::Star) {
                next[at] = true;
            }
            match piece {
                // It may be nothing, or what any number of marks want.
                Piece::Any if any_fits => next[at..].fill(true),
                Piece::Any => {}
                _ if mark.is_some_and(|mark| same(mark, *piece)) => next[at + 1] = true,
                _ => {}
            }
        }
        pass_stars(pattern, &mut next);
        if !next.contains(&true) {
            return false;
        }
        std::mem::swap(&mut reached, &mut next);
    }
    reached[pattern.len()]
}

/// A star may stand for nothing.
fn pass_stars(pattern: &[Mark], reached: &mut [bool]) {
    for at in 0..pattern.len() {
        if reached[at] && pattern[at] == Mark::Star {
            reached[at + 1] = true;
        }
    }
}
