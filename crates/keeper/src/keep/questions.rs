//! The questions of the agent that have no answer yet. Pure.
//!
//! Owns what counts as open: asked and not answered, withdrawn or outlived. Invariant: a question is answered at most
//! once, since the first answer closes it.

use std::collections::HashMap;

use countersign_journal::OpenQuestion;

/// How many may be open. An agent that asks more is told nothing; further questions cannot be answered.
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Questions(HashMap<String, (String, u64)>);

impl Questions {
    /// The agent has asked, in record `seq`.
    pub(crate) fn ask(&mut self, request_id: String, subtype: String, seq: u64) {
        if self.0.len() < MOST || self.0.contains_key(&request_id) {
            self.0.insert(request_id, (subtype, seq));
        }
    }

    pub(crate) fn is_open(&self, request_id: &str) -> bool {
        self.0.contains_key(request_id)
    }

    /// It was answered, or the agent has withdrawn it.
    pub(crate) fn close(&mut self, request_id: &str) {
        self.0.remove(request_id);
    }

    /// Nobody is there any more to take an answer.
    pub(crate) fn close_all(&mut self) {
        self.0.clear();
    }

    /// All of them, oldest first.
    pub(crate) fn list(&self) -> Vec<OpenQuestion> {
        let mut list: Vec<_> = self
            .0
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
        questions.ask("b".into(), "can_use_tool".into(), 9);
        questions.ask("a".into(), "hook_callback".into(), 7);
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
        for n in 0..=MOST as u64 {
            questions.ask(n.to_string(), "x".into(), n);
        }
        assert_eq!(questions.list().len(), MOST);
        // One that is open may be asked again.
        questions.ask("0".into(), "x".into(), 99_999);
        assert_eq!(questions.list().last().unwrap().seq, 99_999);
    }
}
