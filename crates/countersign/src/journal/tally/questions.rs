//! Questions of the agent: how each ended, who answered, how long it waited.
//!
//! Follows a question from the agent's line to the host's answer, to its withdrawal, or to the end of the agent. The
//! host's note right before an answer says by whom; without one nobody knows.

use std::collections::{BTreeMap, HashMap};

use countersign_journal::{KEEP_PLANNING, Note};
use serde::{Deserialize, Serialize};

use super::times::{Summary, Times};

/// How a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outcome {
    Allowed,
    Denied,
    /// A plan that is to be made better: the wire says no, and nobody denied anything.
    SentBack,
    /// Answered, where there is nothing to allow.
    Answered,
    /// Answered with an error.
    Failed,
    /// The agent took it back.
    Withdrawn,
    /// The agent ended before there was an answer.
    AgentGone,
    /// Nobody has answered yet.
    Open,
    /// The host's side is not in this input: nobody knows what it answered.
    NotRecorded,
}

impl Outcome {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Outcome::Allowed => "allowed",
            Outcome::Denied => "denied",
            Outcome::SentBack => "kept planning",
            Outcome::Answered => "answered",
            Outcome::Failed => "answered with an error",
            Outcome::Withdrawn => "withdrawn",
            Outcome::AgentGone => "agent gone",
            Outcome::Open => "open",
            Outcome::NotRecorded => "answer not recorded",
        }
    }
}

/// The kind of question that asks whether a tool may run.
pub(crate) const APPROVAL: &str = "can_use_tool";

/// What is said of the questions of one kind.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct QuestionReport {
    pub(crate) asked: u64,
    /// How long those waited that were answered; nothing where nobody knows.
    pub(crate) waited: Option<Summary>,
    pub(crate) outcomes: BTreeMap<Outcome, OutcomeReport>,
    /// Who answered how many, as the host noted it.
    pub(crate) by: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub(crate) struct OutcomeReport {
    pub(crate) count: u64,
    pub(crate) waited: Option<Summary>,
}

#[derive(Debug)]
struct Open {
    subtype: String,
    since: u64,
    tool_use_id: Option<String>,
    is_plan: bool,
}

#[derive(Debug, Default)]
struct Sort {
    asked: u64,
    outcomes: BTreeMap<Outcome, (u64, Times)>,
    by: BTreeMap<String, u64>,
}

#[derive(Debug, Default)]
pub(crate) struct Questions {
    open: HashMap<String, Open>,
    sorts: BTreeMap<String, Sort>,
    /// The note of the line that follows.
    note: Option<Note>,
}

/// An answered call, for whoever counts those.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AboutCall {
    pub(crate) tool_use_id: String,
    pub(crate) waited: u64,
    pub(crate) outcome: Outcome,
}

#[derive(Deserialize)]
struct Answer {
    response: Inner,
}

#[derive(Deserialize)]
struct Inner {
    subtype: String,
    #[serde(default)]
    response: Option<Behavior>,
}

#[derive(Default, Deserialize)]
struct Behavior {
    #[serde(default)]
    behavior: Option<String>,
    #[serde(default)]
    interrupt: bool,
}

/// How the host answered, as its line says, and for a plan the note on it.
fn outcome(line: &[u8], is_plan: bool, note: Option<&Note>) -> Outcome {
    let Ok(answer) = serde_json::from_slice::<Answer>(line) else {
        return Outcome::Answered;
    };
    let inner = answer.response.response.unwrap_or_default();
    let way = || Note::way_of_refused_plan(note, inner.interrupt);
    match (answer.response.subtype.as_str(), inner.behavior.as_deref()) {
        ("error", _) => Outcome::Failed,
        (_, Some("allow")) => Outcome::Allowed,
        (_, Some("deny")) if is_plan => match way() {
            Some(KEEP_PLANNING) => Outcome::SentBack,
            Some(_) => Outcome::Allowed,
            None => Outcome::Denied,
        },
        (_, Some("deny")) => Outcome::Denied,
        _ => Outcome::Answered,
    }
}

/// Where the host noted nobody.
pub(crate) const NOT_NOTED: &str = "not noted";

impl Questions {
    pub(crate) fn asked(
        &mut self,
        request_id: &str,
        subtype: &str,
        tool_use_id: Option<String>,
        is_plan: bool,
        at: u64,
    ) {
        self.sorts.entry(subtype.to_owned()).or_default().asked += 1;
        let open = Open {
            subtype: subtype.to_owned(),
            since: at,
            tool_use_id,
            is_plan,
        };
        self.open.insert(request_id.to_owned(), open);
    }

    /// The host's note on the line that follows.
    pub(crate) fn noted(&mut self, note: Note) {
        self.note = Some(note);
    }

    /// A line of the host: what was noted was about this one.
    pub(crate) fn forget_note(&mut self) {
        self.note = None;
    }

    pub(crate) fn answered(&mut self, request_id: &str, line: &[u8], at: u64) -> Option<AboutCall> {
        let note = self.note.take();
        let note = note.filter(|note| note.answer.as_deref() == Some(request_id));
        let is_plan = self.open.get(request_id).is_some_and(|open| open.is_plan);
        let outcome = outcome(line, is_plan, note.as_ref());
        let by = note.and_then(|note| note.by);
        let open = self.ended(request_id, outcome, at)?;
        let sort = self.sorts.entry(open.subtype.clone()).or_default();
        *sort
            .by
            .entry(by.unwrap_or_else(|| NOT_NOTED.to_owned()))
            .or_default() += 1;
        Some(AboutCall {
            tool_use_id: open.tool_use_id?,
            waited: at.saturating_sub(open.since),
            outcome,
        })
    }

    pub(crate) fn withdrawn(&mut self, request_id: &str, at: u64) {
        self.ended(request_id, Outcome::Withdrawn, at);
    }

    /// The agent has ended: nothing it asked can be answered any more.
    pub(crate) fn agent_gone(&mut self, at: u64) {
        let open: Vec<String> = self.open.keys().cloned().collect();
        for request_id in open {
            self.ended(&request_id, Outcome::AgentGone, at);
        }
    }

    fn ended(&mut self, request_id: &str, outcome: Outcome, at: u64) -> Option<Open> {
        let open = self.open.remove(request_id)?;
        let sort = self.sorts.entry(open.subtype.clone()).or_default();
        let (count, times) = sort.outcomes.entry(outcome).or_default();
        *count += 1;
        times.add(at.saturating_sub(open.since));
        Some(open)
    }

    /// Whether the host answered anything here.
    fn has_answers(&self) -> bool {
        let outcomes = self.sorts.values().flat_map(|sort| sort.outcomes.keys());
        { outcomes }.any(|outcome| !matches!(outcome, Outcome::Withdrawn | Outcome::AgentGone))
    }

    /// By kind of question.
    pub(crate) fn report(&self, has_times: bool) -> BTreeMap<String, QuestionReport> {
        let is_one_sided = !has_times && !self.has_answers();
        let unanswered = match is_one_sided {
            true => Outcome::NotRecorded,
            false => Outcome::Open,
        };
        let report = |(subtype, sort): (&String, &Sort)| {
            let mut answered = Times::default();
            let mut outcomes = BTreeMap::new();
            for (outcome, (count, times)) in &sort.outcomes {
                if !matches!(outcome, Outcome::Withdrawn | Outcome::AgentGone) {
                    answered.extend(times);
                }
                let waited = times.summary().filter(|_| has_times);
                let told = OutcomeReport {
                    count: *count,
                    waited,
                };
                outcomes.insert(*outcome, told);
            }
            let open = self.open.values().filter(|open| open.subtype == *subtype);
            let open = open.count() as u64;
            if open > 0 {
                let told = OutcomeReport {
                    count: open,
                    waited: None,
                };
                outcomes.insert(unanswered, told);
            }
            let told = QuestionReport {
                asked: sort.asked,
                waited: answered.summary().filter(|_| has_times),
                outcomes,
                by: sort.by.clone(),
            };
            (subtype.clone(), told)
        };
        self.sorts.iter().map(report).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(behavior: &str) -> Vec<u8> {
        let response = format!(r#"{{"behavior":"{behavior}"}}"#);
        format!(r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"x","response":{response}}}}}"#)
            .into_bytes()
    }

    #[test]
    fn every_end_of_a_question_is_told_apart() {
        let mut questions = Questions::default();
        for (index, id) in ["a", "b", "c", "d", "e"].iter().enumerate() {
            questions.asked(
                id,
                APPROVAL,
                Some(format!("t-{id}")),
                false,
                index as u64 * 1_000,
            );
        }
        questions.noted(Note {
            answer: Some("a".into()),
            by: Some("a rule".into()),
            ..Note::default()
        });
        let about = questions
            .answered("a", &answer("allow"), 2_000_000)
            .unwrap();
        assert_eq!((about.waited, about.outcome), (2_000_000, Outcome::Allowed));
        let about = questions.answered("b", &answer("deny"), 4_001_000).unwrap();
        assert_eq!(about.outcome, Outcome::Denied);
        questions.withdrawn("c", 5_000_000);
        questions.agent_gone(9_000_000);
        questions.asked("f", APPROVAL, None, false, 0);
        assert_eq!(questions.answered("unknown", &answer("allow"), 1), None);

        let report = &questions.report(true)[APPROVAL];
        let counts: Vec<_> = report
            .outcomes
            .iter()
            .map(|(outcome, told)| (*outcome, told.count))
            .collect();
        assert_eq!(
            counts,
            [
                (Outcome::Allowed, 1),
                (Outcome::Denied, 1),
                (Outcome::Withdrawn, 1),
                (Outcome::AgentGone, 2),
                (Outcome::Open, 1)
            ]
        );
        let waited = report.waited.unwrap();
        assert_eq!(
            (
                report.asked,
                waited.count,
                waited.median_ms,
                waited.longest_ms
            ),
            (6, 2, 2_000.0, 4_000.0)
        );
        assert_eq!(report.by.get("a rule"), Some(&1));
        assert_eq!(report.by.get(NOT_NOTED), Some(&1));
    }

    #[test]
    fn a_plan_that_is_sent_back_is_no_denial() {
        let ended = |note: Option<Note>| {
            let mut questions = Questions::default();
            questions.asked("p", APPROVAL, Some("t".to_owned()), true, 0);
            note.into_iter().for_each(|note| questions.noted(note));
            let about = questions.answered("p", &answer("deny"), 1_000);
            about.unwrap().outcome
        };
        let note = |by: &str, way: Option<&str>| {
            Some(Note {
                answer: Some("p".to_owned()),
                by: Some(by.to_owned()),
                way: way.map(str::to_owned),
                ..Note::default()
            })
        };
        assert_eq!(ended(None), Outcome::SentBack);
        assert_eq!(
            ended(note("anna", Some("keep-planning"))),
            Outcome::SentBack
        );
        assert_eq!(ended(note("anna", Some("clear-context"))), Outcome::Allowed);
        assert_eq!(ended(note("expired", None)), Outcome::Denied);
    }

    #[test]
    fn the_note_of_another_line_says_nothing() {
        let mut questions = Questions::default();
        questions.asked("a", "hook_callback", None, false, 0);
        questions.noted(Note {
            n: Some(3),
            by: Some("somebody".into()),
            ..Note::default()
        });
        questions.answered(
            "a",
            br#"{"response":{"subtype":"error","request_id":"a"}}"#,
            10,
        );
        let report = &questions.report(false)["hook_callback"];
        assert_eq!(
            report.outcomes.keys().collect::<Vec<_>>(),
            [&Outcome::Failed]
        );
        assert_eq!(report.by.keys().collect::<Vec<_>>(), [NOT_NOTED]);
        assert_eq!(report.waited, None);
    }
}
