//! The numbers of host lines: each is taken once, in order. Pure.
//!
//! Owns which number comes next and which records the last ones got. Old ones are known to be old by the highest
//! number alone, so memory does not grow.

use std::collections::VecDeque;

use crate::protocol::Refusal;

/// How many numbers are remembered with their record, for a host that asks again.
const REMEMBERED: usize = 256;

#[derive(Debug)]
pub(crate) struct Numbers {
    last: u64,
    recent: VecDeque<(u64, u64)>,
}

impl Numbers {
    /// After `last`, which an earlier generation may have taken.
    pub(crate) fn after(last: u64) -> Self {
        Self {
            last,
            recent: VecDeque::new(),
        }
    }

    /// The highest number taken.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Whether `n` is the next one. If it was taken, also its record, as far as that is remembered.
    pub(crate) fn check(&self, n: u64) -> Result<(), (Refusal, Option<u64>)> {
        if n > self.last {
            let is_next = n - 1 == self.last;
            return is_next.then_some(()).ok_or((Refusal::Gap, None));
        }
        let known = self.recent.iter().find(|(number, _)| *number == n);
        Err((Refusal::Dup, known.map(|(_, seq)| *seq)))
    }

    /// `n` was journalled as record `seq`.
    pub(crate) fn take(&mut self, n: u64, seq: u64) {
        self.last = self.last.max(n);
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back((n, seq));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_next_number_is_taken() {
        let mut numbers = Numbers::after(4);
        for (n, expected) in [
            (0, Err((Refusal::Dup, None))),
            (4, Err((Refusal::Dup, None))),
            (5, Ok(())),
            (6, Err((Refusal::Gap, None))),
            (u64::MAX, Err((Refusal::Gap, None))),
        ] {
            assert_eq!(numbers.check(n), expected, "{n}");
        }
        numbers.take(5, 70);
        assert_eq!(numbers.check(5), Err((Refusal::Dup, Some(70))));
        assert_eq!(numbers.check(6), Ok(()));
        assert_eq!(numbers.last(), 5);
    }

    #[test]
    fn what_is_remembered_does_not_grow() {
        let mut numbers = Numbers::after(0);
        for n in 1..=10_000 {
            numbers.take(n, n * 2);
        }
        assert_eq!(numbers.recent.len(), REMEMBERED);
        assert_eq!(numbers.check(10_000), Err((Refusal::Dup, Some(20_000))));
        assert_eq!(numbers.check(1), Err((Refusal::Dup, None)));
    }
}
