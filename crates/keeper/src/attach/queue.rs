//! The lines on their way to the keeper, and those it has not settled. Pure.
//!
//! Owns the order of numbered lines and what happens when the keeper cannot take one now: a line that met a full disk
//! stays, and goes again in its order when the keeper says that it can write. Invariants: a number goes out after all
//! lower ones; a line leaves only with a final outcome; what waits is bounded in bytes.

use std::collections::VecDeque;

use crate::attach::PutOutcome;
use crate::protocol::{Ref, Refusal};

/// One line that has no outcome yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parcel {
    pub(super) what: Ref,
    /// The message and the raw bytes behind it.
    pub(super) bytes: Vec<u8>,
    /// The keeper said that it cannot write now.
    is_held: bool,
}

/// What the keeper's word about a line means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Settled {
    /// It is over with this line.
    Final(Ref, PutOutcome),
    /// It goes again later.
    Held,
    /// Nobody waits for it.
    Unknown,
    /// The two sides do not agree on the numbers: nothing more can be said on this connection.
    Broken(Refusal),
}

/// The lines without an outcome, in the order they were handed in.
#[derive(Debug, Default)]
pub(super) struct Queue {
    parcels: VecDeque<Parcel>,
    bytes: usize,
    /// The agent takes no more lines: those behind a refused one leave a gap, which is no disagreement.
    is_ending: bool,
}

impl Queue {
    /// A line goes out.
    pub(super) fn push(&mut self, what: Ref, bytes: Vec<u8>) {
        self.bytes += bytes.len();
        self.parcels.push_back(Parcel {
            what,
            bytes,
            is_held: false,
        });
    }

    /// How much has no outcome yet.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parcels.is_empty()
    }

    /// Whether lines wait for the keeper to be able to write.
    pub(super) fn is_held(&self) -> bool {
        self.parcels.iter().any(|parcel| parcel.is_held)
    }

    /// The keeper wrote it.
    pub(super) fn written(&mut self, what: &Ref, seq: u64) -> Settled {
        self.end(what, PutOutcome::Written { seq })
    }

    /// The keeper did not take it.
    pub(super) fn refused(&mut self, what: &Ref, why: Refusal, seq: Option<u64>) -> Settled {
        let is_numbered = matches!(what, Ref::N(_));
        match why {
            Refusal::Dup => self.end(what, PutOutcome::Before { seq }),
            Refusal::Paused | Refusal::Full => self.hold(what),
            // One before it has no outcome yet: it goes again behind that one.
            Refusal::Gap if self.has_before(what) => self.hold(what),
            Refusal::Gap if self.is_ending => self.end(what, PutOutcome::Refused(Refusal::Ending)),
            // Final, though its number is free again.
            Refusal::Ending | Refusal::Sync => {
                self.is_ending = true;
                self.end(what, PutOutcome::Refused(why))
            }
            why if is_numbered => Settled::Broken(why),
            why => self.end(what, PutOutcome::Refused(why)),
        }
    }

    /// The keeper can write again: everything that was held, in order.
    pub(super) fn again(&mut self) -> Vec<Vec<u8>> {
        let held = self.parcels.iter_mut().filter(|parcel| parcel.is_held);
        held.map(|parcel| {
            parcel.is_held = false;
            parcel.bytes.clone()
        })
        .collect()
    }

    fn has_before(&self, what: &Ref) -> bool {
        let Ref::N(n) = what else {
            return false;
        };
        let mut known = self.parcels.iter();
        known.any(|known| matches!(known.what, Ref::N(before) if before < *n))
    }

    fn hold(&mut self, what: &Ref) -> Settled {
        match self.parcels.iter_mut().find(|parcel| parcel.what == *what) {
            Some(parcel) => {
                parcel.is_held = true;
                Settled::Held
            }
            None => Settled::Unknown,
        }
    }

    fn end(&mut self, what: &Ref, outcome: PutOutcome) -> Settled {
        let Some(place) = self.parcels.iter().position(|known| known.what == *what) else {
            return Settled::Unknown;
        };
        if let Some(parcel) = self.parcels.remove(place) {
            self.bytes -= parcel.bytes.len();
        }
        Settled::Final(what.clone(), outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(numbers: &[u64]) -> Queue {
        let mut queue = Queue::default();
        for n in numbers {
            queue.push(Ref::N(*n), n.to_string().into_bytes());
        }
        queue
    }

    #[test]
    fn a_written_line_is_over_and_a_second_word_about_it_means_nothing() {
        let mut queue = queue(&[1]);
        let seq = 9;
        assert_eq!(
            queue.written(&Ref::N(1), seq),
            Settled::Final(Ref::N(1), PutOutcome::Written { seq })
        );
        assert_eq!(queue.written(&Ref::N(1), seq), Settled::Unknown);
        assert!(queue.is_empty() && queue.bytes() == 0);
    }

    #[test]
    fn what_met_a_full_disk_goes_again_in_its_order() {
        let mut queue = queue(&[1, 2, 3]);
        assert_eq!(
            queue.refused(&Ref::N(1), Refusal::Paused, None),
            Settled::Held
        );
        assert_eq!(queue.refused(&Ref::N(2), Refusal::Gap, None), Settled::Held);
        assert_eq!(queue.refused(&Ref::N(3), Refusal::Gap, None), Settled::Held);
        assert_eq!(queue.again(), [b"1".to_vec(), b"2".to_vec(), b"3".to_vec()]);
        assert_eq!(queue.again(), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn a_line_behind_one_that_goes_again_goes_again_too() {
        let mut queue = queue(&[1, 2]);
        assert_eq!(
            queue.refused(&Ref::N(1), Refusal::Paused, None),
            Settled::Held
        );
        assert_eq!(queue.again(), [b"1".to_vec()]);
        // It was on its way before the first went again.
        assert_eq!(queue.refused(&Ref::N(2), Refusal::Gap, None), Settled::Held);
        assert_eq!(queue.again(), [b"2".to_vec()]);
    }

    #[test]
    fn a_number_that_was_taken_before_is_no_failure() {
        let mut queue = queue(&[4]);
        assert_eq!(
            queue.refused(&Ref::N(4), Refusal::Dup, Some(7)),
            Settled::Final(Ref::N(4), PutOutcome::Before { seq: Some(7) })
        );
    }

    #[test]
    fn lines_behind_one_that_came_at_the_end_are_refused_as_it_was() {
        let mut queue = queue(&[4, 5]);
        let refused = PutOutcome::Refused(Refusal::Ending);
        assert_eq!(
            queue.refused(&Ref::N(4), Refusal::Ending, None),
            Settled::Final(Ref::N(4), refused)
        );
        assert_eq!(
            queue.refused(&Ref::N(5), Refusal::Gap, None),
            Settled::Final(Ref::N(5), refused)
        );
    }

    #[test]
    fn numbers_that_do_not_agree_end_the_connection() {
        let mut queue = queue(&[4]);
        assert_eq!(
            queue.refused(&Ref::N(4), Refusal::Gap, None),
            Settled::Broken(Refusal::Gap)
        );
    }

    #[test]
    fn an_answer_that_comes_too_late_is_refused_and_over() {
        let mut queue = Queue::default();
        let what = Ref::Answer("r".into());
        queue.push(what.clone(), vec![1, 2]);
        assert_eq!(
            queue.refused(&what, Refusal::NotOpen, None),
            Settled::Final(what, PutOutcome::Refused(Refusal::NotOpen))
        );
        assert_eq!(queue.bytes(), 0);
    }
}
