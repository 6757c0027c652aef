//! What was decided about each call, and who decided.
//!
//! Owns [`Entry`], the record of one decision, and [`Ledger`], which knows which calls have one. Invariant: every call
//! that the agent makes has an entry by the time its result is there, also one that the CLI settled by itself.

use std::collections::{BTreeMap, HashSet};

use countersign_policy::Verdict;
use serde_json::{Value, json};

/// Who decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum By {
    /// A rule or the profile.
    Policy,
    /// `--yes`.
    Yes,
    /// The person at the keyboard.
    Person,
    /// Nobody was there to ask.
    Nobody,
    /// The CLI did not ask.
    Cli,
}

impl By {
    fn word(self) -> &'static str {
        match self {
            By::Policy => "policy",
            By::Yes => "yes",
            By::Person => "person",
            By::Nobody => "nobody",
            By::Cli => "cli",
        }
    }
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decided {
    Allow,
    Deny,
    /// A plan that is to be made better.
    SentBack,
    /// The question was withdrawn before it was answered.
    Withdrawn,
}

/// One decision.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// The call. CLIs such as 1.0.128 ask without naming it; see [`Ledger::name`].
    pub(crate) tool_use_id: Option<String>,
    pub(crate) tool: String,
    pub(crate) input: Value,
    /// The sub-agent that asks.
    pub(crate) agent_id: Option<String>,
    /// What policy said; nothing where the CLI did not ask.
    pub(crate) verdict: Option<Verdict>,
    pub(crate) decided: Decided,
    pub(crate) by: By,
    /// What the model was told with a refusal.
    pub(crate) message: Option<String>,
    /// The input it ran with, if it was changed.
    pub(crate) changed: Option<Value>,
    /// Rules that were made with it.
    pub(crate) remembered: Vec<String>,
}

impl Entry {
    /// One line of `--json`.
    pub(crate) fn to_json(&self, at: &str) -> Value {
        let verdict = self.verdict.as_ref().map(|verdict| {
            json!({
                "effect": verdict.effect,
                "why": verdict.reason.why,
                "reason": verdict.reason.text,
                "part": verdict.reason.part,
                "rule": verdict.reason.rule.as_ref().map(|rule| json!({
                    "effect": rule.effect, "rule": rule.matcher.text, "from": rule.origin.to_string(), "note": rule.note,
                })),
            })
        });
        json!({
            "type": "countersign_decision",
            "at": at,
            "tool_use_id": self.tool_use_id,
            "tool": self.tool,
            "input": self.input,
            "agent_id": self.agent_id,
            "verdict": verdict,
            "decision": match self.decided {
                Decided::Allow => "allow",
                Decided::Deny => "deny",
                Decided::SentBack => "keep-planning",
                Decided::Withdrawn => "withdrawn",
            },
            "by": self.by.word(),
            "message": self.message,
            "changed_input": self.changed,
            "remembered": self.remembered,
        })
    }
}

/// A call that was made and not settled.
#[derive(Debug)]
struct OpenCall {
    id: String,
    tool: String,
    input: Value,
}

/// Which calls have an entry.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Calls that were made and not settled, in the order in which they were made.
    open: BTreeMap<u64, OpenCall>,
    /// How many calls were made.
    made: u64,
    /// Calls of questions that did not name them.
    named: HashSet<String>,
    settled: HashSet<String>,
    refused_for_want_of_a_person: u64,
}

impl Ledger {
    /// The agent makes a call.
    pub(crate) fn called(&mut self, id: &str, tool: &str, input: &Value) {
        if self.settled.contains(id) {
            return;
        }
        self.close(id);
        self.made += 1;
        let call = OpenCall {
            id: id.to_owned(),
            tool: tool.to_owned(),
            input: input.clone(),
        };
        self.open.insert(self.made, call);
    }

    fn close(&mut self, id: &str) -> Option<OpenCall> {
        let found = self.open.iter().find(|(_, call)| call.id == id);
        let at = found.map(|(at, _)| *at)?;
        self.open.remove(&at)
    }

    /// Finds the call that a question is about, where the CLI does not name it: the oldest of the same input that no other
    /// question is about, else the only one of that tool.
    pub(crate) fn name(&mut self, entry: &mut Entry) {
        if entry.tool_use_id.is_some() {
            return;
        }
        let of_tool = self
            .open
            .values()
            .filter(|call| call.tool == entry.tool && !self.named.contains(&call.id));
        let of_tool: Vec<_> = of_tool.collect();
        let exact = of_tool.iter().find(|call| call.input == entry.input);
        let found = match (exact, of_tool.as_slice()) {
            (Some(call), _) | (None, [call]) => call.id.clone(),
            _ => return,
        };
        self.named.insert(found.clone());
        entry.tool_use_id = Some(found);
    }

    /// A decision was made.
    pub(crate) fn settle(&mut self, entry: &Entry) {
        if let Some(id) = &entry.tool_use_id {
            self.close(id);
            self.named.remove(id);
            self.settled.insert(id.clone());
        }
        if entry.by == By::Nobody && entry.decided == Decided::Deny {
            self.refused_for_want_of_a_person += 1;
        }
    }

    /// A result came. Gives an entry where nobody was asked: the CLI settled it by itself.
    pub(crate) fn returned(&mut self, id: &str, is_refusal: bool) -> Option<Entry> {
        // The result is the last that is heard of a call: nothing of it needs to be kept.
        if self.settled.remove(id) {
            return None;
        }
        let OpenCall { tool, input, .. } = self.close(id)?;
        Some(Entry {
            tool_use_id: Some(id.to_owned()),
            tool,
            input,
            agent_id: None,
            verdict: None,
            decided: match is_refusal {
                true => Decided::Deny,
                false => Decided::Allow,
            },
            by: By::Cli,
            message: None,
            changed: None,
            remembered: Vec::new(),
        })
    }

    /// How many calls were refused because nobody was there to ask.
    pub(crate) fn refused_for_want_of_a_person(&self) -> u64 {
        self.refused_for_want_of_a_person
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, by: By, decided: Decided) -> Entry {
        Entry {
            tool_use_id: Some(id.to_owned()),
            tool: "Bash".to_owned(),
            input: json!({}),
            agent_id: None,
            verdict: None,
            decided,
            by,
            message: None,
            changed: None,
            remembered: Vec::new(),
        }
    }

    #[test]
    fn a_call_that_nobody_was_asked_about_gets_an_entry_with_its_result() {
        let mut ledger = Ledger::default();
        ledger.called("a", "Bash", &json!({"command": "ls"}));
        ledger.called("b", "Read", &json!({}));
        ledger.settle(&entry("a", By::Policy, Decided::Allow));
        assert!(ledger.returned("a", false).is_none());
        let unseen = ledger.returned("b", true).unwrap();
        assert_eq!(
            (unseen.by, unseen.decided, unseen.tool.as_str()),
            (By::Cli, Decided::Deny, "Read")
        );
        assert!(
            ledger.returned("b", false).is_none()
                && ledger.settled.is_empty()
                && ledger.open.is_empty()
        );
    }

    #[test]
    fn a_question_that_names_no_call_is_about_the_one_with_its_input() {
        let mut ledger = Ledger::default();
        for (id, input) in [("a", "ls"), ("b", "pwd"), ("c", "ls")] {
            ledger.called(id, "Bash", &json!({"command": input}));
        }
        let mut name = |command: &str| {
            let mut entry = entry("", By::Person, Decided::Allow);
            entry.tool_use_id = None;
            entry.input = json!({"command": command});
            ledger.name(&mut entry);
            entry.tool_use_id
        };
        assert_eq!(name("pwd").as_deref(), Some("b"));
        assert_eq!(name("ls").as_deref(), Some("a"));
        assert_eq!(name("ls").as_deref(), Some("c"));
        assert_eq!(name("ls"), None);
    }

    #[test]
    fn what_was_refused_because_nobody_was_there_is_counted() {
        let mut ledger = Ledger::default();
        ledger.settle(&entry("a", By::Nobody, Decided::Deny));
        ledger.settle(&entry("b", By::Person, Decided::Deny));
        ledger.settle(&entry("c", By::Nobody, Decided::Withdrawn));
        assert_eq!(ledger.refused_for_want_of_a_person(), 1);
    }
}
