//! A line that a host wants written: checked, journalled, synced, written, in this order.
//!
//! Owns that order. Invariants: what is refused leaves no trace in the journal and no number taken; no line that could grant
//! something reaches the agent before it and its note are on the disk; a question gets one answer, a number one line.

use countersign_journal::Kind;
use serde_json::{Map, Value};

use super::client::Put;
use super::line::{Said, check};
use super::{Keeper, Phase};
use crate::habits::Step;
use crate::protocol::{FromKeeper, Ref, Refusal};

/// Why a line is refused, and the record it got when it was taken before.
type Refused = (Refusal, Option<u64>);

impl Keeper {
    pub(super) fn on_put(&mut self, put: Put) {
        let reference = put.reference.clone();
        if let Err((why, seq)) = self.put(put) {
            self.say_to_owner(&FromKeeper::Refused {
                reference: Some(reference),
                why,
                seq,
            });
        }
    }

    fn put(&mut self, put: Put) -> Result<(), Refused> {
        let said = self.check(&put)?;
        let seq = self.journal(&put)?;
        match &put.reference {
            Ref::N(n) => self.numbers.take(*n, seq),
            Ref::Answer(request_id) => self.questions.close(request_id),
        }
        if said == Said::Message {
            self.turn.message();
        }
        self.tell_tail();
        if said.must_be_synced() && !self.sync() {
            // The agent is killed by now. The line counts among those that it did not get.
            self.stdin.close();
            self.stdin.push(seq, None, put.line);
            return Err((Refusal::Sync, None));
        }
        self.stop_at(&put.reference, Step::Journalled);
        self.stdin.push(seq, Some(put.reference), put.line);
        self.write_to_agent();
        Ok(())
    }

    /// Everything that can be said against a line before it is journalled.
    fn check(&self, put: &Put) -> Result<Said, Refused> {
        if self.habits.numbers {
            match &put.reference {
                Ref::N(n) => self.numbers.check(*n)?,
                Ref::Answer(request_id) if !self.questions.is_open(request_id) => {
                    return Err((Refusal::NotOpen, None));
                }
                Ref::Answer(_) => {}
            }
        }
        let is_live = matches!(self.phase, Phase::Live) && self.plan.step().is_none();
        let refused = |why| Err((why, None));
        if !is_live || !self.stdin.is_open() {
            return refused(Refusal::Ending);
        }
        let said = check(&put.line).map_err(|why| (why, None))?;
        let is_as_called = match (&put.reference, &said) {
            (Ref::Answer(called), Said::Answer(is)) => called == is,
            (Ref::N(_), Said::Message | Said::Other) => true,
            _ => false,
        };
        if !is_as_called {
            return refused(Refusal::Protocol);
        }
        if let Some(masked) = &put.masked {
            check(masked).map_err(|why| (why, None))?;
        }
        if !self.stdin.has_room(put.line.len()) {
            return refused(Refusal::Full);
        }
        if self.paused.is_some() && !put.reserve {
            return refused(Refusal::Paused);
        }
        Ok(said)
    }

    /// Appends the note and the line, in one write. Returns the number of the line's record.
    fn journal(&mut self, put: &Put) -> Result<u64, Refused> {
        let shown = put.masked.as_ref().unwrap_or(&put.line);
        let shown = shown.strip_suffix(b"\n").unwrap_or(shown);
        let note = note(&put.reference, put.note.clone());
        let mut is_written = Err(Refusal::Paused);
        let mut seq = 0;
        for reserve in [false, true] {
            if reserve && !put.reserve || !reserve && self.paused.is_some() {
                continue;
            }
            self.book.push(Kind::Note, &note);
            seq = self.book.push(Kind::Host, shown);
            match self.book.commit(reserve) {
                Ok(()) => {
                    is_written = Ok(());
                    break;
                }
                Err(trouble) => self.on_trouble(&trouble),
            }
        }
        is_written.map(|()| seq).map_err(|why| (why, None))
    }
}

/// The note of a line: the host's words, and which line it is.
fn note(reference: &Ref, mut note: Map<String, Value>) -> Vec<u8> {
    note.remove("n");
    note.remove("answer");
    match reference {
        Ref::N(n) => note.insert("n".to_owned(), (*n).into()),
        Ref::Answer(request_id) => note.insert("answer".to_owned(), request_id.as_str().into()),
    };
    // Text keys and JSON values: there is nothing in it that has no JSON.
    serde_json::to_vec(&note).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use countersign_journal::Note;

    #[test]
    fn a_note_says_which_line_it_is_whatever_the_host_says() {
        let Value::Object(map) =
            serde_json::json!({"n": 99, "answer": "other", "by": "rule", "more": [1]})
        else {
            panic!("an object");
        };
        let read = |bytes: Vec<u8>| serde_json::from_slice::<Note>(&bytes).unwrap();
        let numbered = read(note(&Ref::N(3), map.clone()));
        assert_eq!((numbered.n, numbered.answer), (Some(3), None));
        assert_eq!(numbered.by.as_deref(), Some("rule"));
        let answer = read(note(&Ref::Answer("r\n1".into()), map));
        assert_eq!((answer.n, answer.answer.as_deref()), (None, Some("r\n1")));
        assert!(!note(&Ref::Answer("r\n1".into()), Map::new()).contains(&b'\n'));
    }
}
