//! What could go when the disk use is above a limit. Pure: it proposes, and nothing goes by it.
//!
//! Owns [`propose`] and the way from an accepted proposal to the trash. Invariants: only sessions that are closed are ever
//! named, oldest first; nothing moves without the word of a person, and what moves lands in the trash.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Reason, Trash, TrashError, TrashId, Word};
use crate::control::SessionId;

/// A session, as far as retention cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Which.
    pub session: SessionId,
    /// It has no agent, no open question and nothing in its queue: whoever asks knows that.
    pub closed: bool,
    /// When anything last happened in it: microseconds of Unix time.
    pub last_activity: u64,
    /// What its journal takes, in bytes.
    pub journal: u64,
}

/// What could go. Nothing goes by it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// How many bytes are too many.
    pub over: u64,
    /// What emptying the trash would give back at once.
    pub in_trash: u64,
    /// Journals of closed sessions that could go to the trash, oldest first, as many as are needed.
    pub journals: Vec<Going>,
    /// Whether that would be enough, once the trash is emptied.
    pub is_enough: bool,
}

/// A session whose journal could go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Going {
    /// Which.
    pub session: SessionId,
    /// What its journal takes, in bytes.
    pub bytes: u64,
    /// When anything last happened in it.
    pub last_activity: u64,
}

/// What could go so that `total` bytes become `limit`. None if the limit is kept.
///
/// What is in the trash counts as given back first: it was removed once already. Moving a journal to the trash gives
/// nothing back by itself; emptying the trash does.
pub fn propose(total: u64, limit: u64, in_trash: u64, all: &[Candidate]) -> Option<Proposal> {
    let over = total.checked_sub(limit).filter(|over| *over > 0)?;
    let mut closed: Vec<_> = all.iter().filter(|one| one.closed).collect();
    closed.sort_by_key(|one| (one.last_activity, one.session));
    let mut missing = over.saturating_sub(in_trash);
    let mut journals = Vec::new();
    for one in closed {
        if missing == 0 {
            break;
        }
        if one.journal == 0 {
            continue;
        }
        missing = missing.saturating_sub(one.journal);
        journals.push(Going {
            session: one.session,
            bytes: one.journal,
            last_activity: one.last_activity,
        });
    }
    Some(Proposal {
        over,
        in_trash,
        journals,
        is_enough: missing == 0,
    })
}

impl Proposal {
    /// Puts the folders of the proposed sessions into the trash: a person has said yes to this very proposal. `sessions`
    /// is the folder they lie in. Whoever calls it has made sure that they are still closed. Blocks.
    ///
    /// # Errors
    /// At the first that cannot go; the ones before it are in the trash, and those behind it are where they were.
    pub fn put_away(
        &self,
        sessions: &Path,
        trash: &Trash,
        word: &Word,
        at: u64,
    ) -> Result<Vec<(SessionId, TrashId)>, TrashError> {
        let mut gone = Vec::new();
        for going in &self.journals {
            let folder = sessions.join(going.session.to_string());
            let why = format!("the disk use was above its limit; {} agreed", word.by());
            let id = match trash.put(&folder, Reason::of(going.session, why), at) {
                // Gone already: somebody else was first.
                Err(TrashError::NotThere(_)) => continue,
                put => put?,
            };
            gone.push((going.session, id));
        }
        Ok(gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(n: u128, last_activity: u64, journal: u64, closed: bool) -> Candidate {
        Candidate {
            session: SessionId::new(1_000, n),
            closed,
            last_activity,
            journal,
        }
    }

    fn named(proposal: &Proposal) -> Vec<u64> {
        let journals = proposal.journals.iter();
        journals.map(|going| going.last_activity).collect()
    }

    #[test]
    fn nothing_is_proposed_while_the_limit_is_kept() {
        let all = [candidate(1, 1, 100, true)];
        assert_eq!(propose(100, 100, 0, &all), None);
        assert_eq!(propose(0, 100, 0, &all), None);
    }

    #[test]
    fn the_oldest_closed_sessions_are_named_and_no_more_than_needed() {
        let all = [
            candidate(1, 30, 50, true),
            candidate(2, 10, 40, true),
            candidate(3, 5, 500, false),
            candidate(4, 20, 40, true),
            candidate(5, 1, 0, true),
        ];
        let proposal = propose(1_000, 930, 0, &all).unwrap();
        assert_eq!(named(&proposal), [10, 20]);
        assert!(proposal.is_enough);
        assert_eq!(proposal.over, 70);
    }

    #[test]
    fn the_trash_counts_first() {
        let all = [candidate(1, 1, 100, true)];
        let proposal = propose(1_000, 900, 100, &all).unwrap();
        assert_eq!(named(&proposal), [0_u64; 0]);
        assert!(proposal.is_enough);
    }

    #[test]
    fn it_says_when_all_of_it_is_not_enough() {
        let all = [candidate(1, 1, 10, true), candidate(2, 2, 900, false)];
        let proposal = propose(1_000, 100, 5, &all).unwrap();
        assert_eq!(named(&proposal), [1]);
        assert!(!proposal.is_enough);
    }
}
