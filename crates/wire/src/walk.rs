//! One pass over a line that tells of the strings at its top and passes over the rest.
//!
//! Owns the pass, not what is made of it ([`Visit`]). Sixty-four bytes at a time; a container that nobody wants to look
//! into costs its brackets, a long text little more than reading it. Checks that brackets and quotes close, no more.

use std::ops::Range;

use crate::block::{self, Block};
use crate::scan::skip_space;

/// Hears of the strings of the outermost object, and of the objects in it that it asks to look into.
pub(crate) trait Visit {
    /// A key, between its quotes.
    fn key(&mut self, depth: u32, range: Range<usize>);
    /// A string that is a value, between its quotes.
    fn text(&mut self, depth: u32, range: Range<usize>);
    /// There is a backslash nearby, before what is told next.
    fn backslash(&mut self);
    /// A container begins on the second level: shall its strings be told, too?
    fn enter(&mut self) -> bool;
}

/// Walks over the object that `line` must be; `None` if it is none, or not whole.
#[inline]
pub(crate) fn walk(line: &[u8], visit: &mut impl Visit) -> Option<()> {
    if line.get(skip_space(line, 0)) != Some(&b'{') {
        return None;
    }
    let mut at = Position {
        depth: 0,
        told: 1,
        opened: 0,
    };
    let (mut in_string, mut escape, mut base) = (0, false, 0);
    let mut padded = [0; 64];
    while base < line.len() {
        let block = Block::at(line, base, &mut padded);
        let (quotes, backslashes) = block.text_marks();
        if backslashes != 0 {
            visit.backslash();
        }
        let quotes = quotes & !block::escaped(backslashes, &mut escape);
        // In the middle of a text there are no brackets to look for.
        if quotes != 0 || in_string == 0 {
            let strings = block::inside(quotes) ^ in_string;
            in_string = if strings >> 63 == 1 { !0 } else { 0 };
            let brackets = block.bracket_marks() & !strings;
            if let Some(end) = at.step(line, base, quotes, brackets, visit) {
                return (skip_space(line, end) == line.len()).then_some(());
            }
        }
        base += 64;
    }
    None
}

struct Position {
    depth: u32,
    /// Strings down to this depth are told.
    told: u32,
    /// Behind the opening quote of a string that goes on in the next block; 0 if there is none.
    opened: usize,
}

impl Position {
    /// Goes over one block. Gives the position behind the object, once it closes.
    #[inline]
    fn step(
        &mut self,
        line: &[u8],
        base: usize,
        mut quotes: u64,
        mut brackets: u64,
        visit: &mut impl Visit,
    ) -> Option<usize> {
        if self.opened != 0 {
            // The first quote of the block closes what the last one opened.
            let end = base + quotes.trailing_zeros() as usize;
            let start = std::mem::take(&mut self.opened);
            self.told_string(line, start..end, visit);
            quotes &= quotes - 1;
        }
        loop {
            // Strings before the next bracket, two quotes each.
            if self.depth <= self.told {
                let before = quotes & (brackets & brackets.wrapping_neg()).wrapping_sub(1);
                quotes ^= before;
                self.told_strings(line, base, before, visit);
            }
            if brackets == 0 {
                return None;
            }
            let at = base + brackets.trailing_zeros() as usize;
            // Quotes before this bracket have been told, or nobody wanted them.
            quotes &= !(brackets & brackets.wrapping_neg()).wrapping_sub(1);
            brackets &= brackets - 1;
            if block::opens(line[at]) {
                self.depth += 1;
                if self.depth == 2 {
                    self.told = if visit.enter() { 2 } else { 1 };
                }
            } else {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return Some(at + 1);
                }
            }
        }
    }

    #[inline(always)]
    fn told_strings(&mut self, line: &[u8], base: usize, mut quotes: u64, visit: &mut impl Visit) {
        while quotes != 0 {
            let start = base + quotes.trailing_zeros() as usize + 1;
            quotes &= quotes - 1;
            if quotes == 0 {
                self.opened = start;
                return;
            }
            let end = base + quotes.trailing_zeros() as usize;
            quotes &= quotes - 1;
            self.told_string(line, start..end, visit);
        }
    }

    #[inline(always)]
    fn told_string(&self, line: &[u8], range: Range<usize>, visit: &mut impl Visit) {
        let behind = range.end + 1;
        let is_key = match line.get(behind) {
            Some(b' ' | b'\t' | b'\r' | b'\n') => line.get(skip_space(line, behind)) == Some(&b':'),
            next => next == Some(&b':'),
        };
        if is_key {
            visit.key(self.depth, range);
        } else {
            visit.text(self.depth, range);
        }
    }
}
