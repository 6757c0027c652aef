//! The questions of the agent that have no answer yet. Pure.
//!
//! Owns what counts as open: asked and not answered, withdrawn or outlived. Invariant: a question is answered at most
//! once, since the first answer closes it.

use std::collections::HashMap;

use countersign_journal::OpenQuestion;

/// How many may be open. An agent that asks more is told nothing; further questions cannot be answered, and the journal
/// says that they were turned away.
const MOST: usize = 1_024;

/// The longest name of a question and of its kind together. The CLI's have 50 bytes.
const LONGEST: usize = 1 << 10;

/// How long the names of all may be together, so that a host can always be told all of them in one message, however much
/// longer JSON makes them.
const MOST_BYTES: usize = 128 << 10;

#[derive(Debug, Default)]
pub(crate) struct Questions {
    open: HashMap<String, (String, u64)>,
    bytes: usize,
}

impl Questions {
    /// The agent has asked, in record `seq`. `false` if there are too many, or it is too long, to be kept.
    pub(crate) fn ask(&mut self, request_id: String, subtype: String, seq: u64) -> bool {
        // One that is open may be asked again.
        self.close(&request_id);
        let length = request_id.len() + subtype.len();
        let is_kept =
            self.open.len() < MOST && length <= LONGEST && self.bytes + length <= MOST_BYTES;
        if is_kept {
            self.bytes += length;
            self.open.insert(request_id, (subtype, seq));
        }
        is_kept
    }

    pub(crate) fn is_open(&self, request_id: &str) -> bool {
        self.open.contains_key(request_id)
    }

    /// It was answered, or the agent has withdrawn it.
    pub(crate) fn close(&mut self, request_id: &str) {
        if let Some((subtype, _)) = self.open.remove(request_id) {
            self.bytes -= request_id.len() + subtype.len();
        }
    }

    /// Nobody is there any more to take an answer.
    pub(crate) fn close_all(&mut self) {
        *self = Self::default();
    }

    /// All of them, oldest first.
    pub(crate) fn list(&self) -> Vec<OpenQuestion> {
        let mut list: Vec<_> = self
            .open
            .iter()
            .map(|(request_id, (subtype, seq))| OpenQuestion {
                request_id: request_id.clone(),
                subtype: subtype.clone(),
                seq: *seq,
            })
            .collect();
        list.sort_unstable_by_key(|question| question.seq);
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_open_until_the_first_answer() {
        let mut questions = Questions::default();
        assert!(questions.ask("b".into(), "can_use_tool".into(), 9));
        assert!(questions.ask("a".into(), "hook_callback".into(), 7));
        let ids: Vec<_> = questions
            .list()
            .into_iter()
            .map(|one| (one.request_id, one.seq))
            .collect();
        assert_eq!(ids, [("a".to_owned(), 7), ("b".to_owned(), 9)]);
        assert!(questions.is_open("a"));
        questions.close("a");
        assert!(!questions.is_open("a") && questions.is_open("b"));
        questions.close("never asked");
        questions.close_all();
        assert!(questions.list().is_empty());
    }

    #[test]
    fn the_number_of_open_questions_is_bounded() {
        let mut questions = Questions::default();
        for n in 0..MOST as u64 {
            assert!(questions.ask(n.to_string(), "x".into(), n));
        }
        assert!(!questions.ask("one more".into(), "x".into(), 5_000));
        assert_eq!(questions.list().len(), MOST);
        // One that is open may be asked again.
        assert!(questions.ask("0".into(), "x".into(), 99_999));
        assert_eq!(questions.list().last().unwrap().seq, 99_999);
        questions.close("1");
        assert!(questions.ask("one more".into(), "x".into(), 100_000));
    }

    #[test]
    fn the_length_of_names_is_bounded_each_and_in_all() {
        let mut questions = Questions::default();
        assert!(!questions.ask("x".repeat(LONGEST), "y".into(), 1));
        assert!(!questions.ask("x".into(), "y".repeat(LONGEST), 1));
        let long = |n: usize| format!("{n:0width$}", width = LONGEST);
        let kept = (0..MOST).take_while(|n| questions.ask(long(*n), String::new(), 1));
        assert_eq!(kept.count(), MOST_BYTES / LONGEST);
        let told = serde_json::to_vec(&questions.list()).unwrap();
        assert!(told.len() < crate::protocol::MAX_MESSAGE);
        questions.close(&long(0));
        assert!(questions.ask(long(0), String::new(), 2));
        questions.close_all();
        assert!(questions.ask(long(0), String::new(), 3));
        assert_eq!(questions.bytes, LONGEST);
    }
}
