//! A token that is made once, however often the write comes.
//!
//! Owns what is remembered of such a write: with the token, as hashes, who wanted it with which key; and for ten minutes, in
//! memory alone, the token itself, so that a client whose connection broke gets the same answer. After that, or after a
//! restart, the same write is told which token it made and makes no other. Invariant: one key of one caller makes one token.

use countersign_api::NewToken;

use super::book::{MadeBy, Token};
use super::secret::Secret;
use super::{Auth, AuthError, Made, locked};
use crate::clock::SECOND;

/// So long a write that comes again gets the same answer.
const SHOWN_FOR: u64 = 10 * 60 * SECOND;

/// So many tokens are held in memory; the oldest makes room.
const MOST: usize = 32;

/// Tokens that were just made, by the mark of the write.
#[derive(Debug, Default)]
pub(super) struct Recent(Vec<(String, Secret, u64)>);

impl Recent {
    fn put(&mut self, mark: String, secret: Secret, now: u64) {
        self.forget(now);
        // That of a token which was revoked since.
        self.0.retain(|(known, ..)| *known != mark);
        if self.0.len() >= MOST {
            self.0.remove(0);
        }
        self.0.push((mark, secret, now));
    }

    fn get(&mut self, mark: &str, now: u64) -> Option<Secret> {
        self.forget(now);
        let found = self.0.iter().find(|(known, ..)| known == mark);
        found.map(|(_, secret, _)| secret.clone())
    }

    fn forget(&mut self, now: u64) {
        self.0
            .retain(|(_, _, at)| now < at.saturating_add(SHOWN_FOR));
    }
}

/// What came of a write that names itself.
#[derive(Debug)]
pub(crate) enum Once {
    /// The token: new, or the one of before.
    Made(Made),
    /// It was made before, and is not shown again.
    Before(Token),
    /// The key was used for another token.
    Reused,
}

impl Auth {
    /// Makes a token for the write that `caller` calls `key`, once.
    ///
    /// # Errors
    /// As [`Auth::create`].
    pub(crate) fn create_once(
        &self,
        caller: &str,
        key: &str,
        new: &NewToken,
        now: u64,
    ) -> Result<Once, AuthError> {
        let made_by = MadeBy {
            mark: hash(&(caller, key)),
            wanted: hash(new),
        };
        // Held to the end: two that come at once make one.
        let mut recent = locked(&self.recent);
        let known = self.book().made_by(&made_by.mark, now).cloned();
        if let Some(token) = known {
            let is_same = token.made_by.as_ref() == Some(&made_by);
            return Ok(match (is_same, recent.get(&made_by.mark, now)) {
                (false, _) => Once::Reused,
                (true, Some(secret)) => Once::Made(Made { secret, token }),
                (true, None) => Once::Before(token),
            });
        }
        let mark = made_by.mark.clone();
        let made = self.make(&new.name, new.scope, new.expires, now, Some(made_by))?;
        recent.put(mark, made.secret.clone(), now);
        Ok(Once::Made(made))
    }
}

fn hash(what: &impl serde::Serialize) -> String {
    let text = serde_json::to_vec(what).unwrap_or_default();
    blake3::hash(&text).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use countersign_api::Scope;

    use super::*;

    fn wanted(name: &str) -> NewToken {
        NewToken {
            name: name.to_owned(),
            scope: Scope::Read,
            expires: None,
        }
    }

    fn made(once: Once) -> (String, String) {
        match once {
            Once::Made(made) => (made.token.id, made.secret.reveal().to_owned()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_same_write_makes_one_token_and_is_shown_it_for_ten_minutes() {
        let place = tempfile::tempdir().unwrap();
        let auth = Auth::open(place.path(), 1).unwrap();
        let first = made(auth.create_once("owner", "k", &wanted("ci"), 1).unwrap());
        let again = made(auth.create_once("owner", "k", &wanted("ci"), 2).unwrap());
        assert_eq!(first, again);
        let late = auth.create_once("owner", "k", &wanted("ci"), 1 + SHOWN_FOR);
        assert!(matches!(late.unwrap(), Once::Before(token) if token.id == first.0));
        let other = auth.create_once("owner", "k", &wanted("other"), 3).unwrap();
        assert!(matches!(other, Once::Reused), "{other:?}");
        assert_eq!(auth.list(3).len(), 2, "the owner's, and one");
        // Another caller's key is another key.
        let theirs = auth.create_once("ci", "k", &wanted("theirs"), 3).unwrap();
        assert_ne!(made(theirs).0, first.0);
    }

    #[test]
    fn after_a_restart_the_same_write_makes_no_second_token() {
        let place = tempfile::tempdir().unwrap();
        let auth = Auth::open(place.path(), 1).unwrap();
        let first = made(auth.create_once("owner", "k", &wanted("ci"), 1).unwrap());
        drop(auth);
        let auth = Auth::open(place.path(), 2).unwrap();
        let again = auth.create_once("owner", "k", &wanted("ci"), 2).unwrap();
        assert!(matches!(again, Once::Before(token) if token.id == first.0));
        let kept = std::fs::read_to_string(auth.disk.book_file()).unwrap();
        assert!(!kept.contains(&first.1), "only hashes are kept");
    }
}
