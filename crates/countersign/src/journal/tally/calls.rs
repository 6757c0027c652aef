//! Tool calls: how many of each, how many failed or were denied, how long they ran.
//!
//! A call runs from the line that makes it to its result, without the time that somebody thought about it. Calls
//! without a result are counted when the agent ends.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::questions::Outcome;
use super::times::{Summary, Times};

/// One tool.
#[derive(Debug, Clone, Default)]
struct Tool {
    calls: u64,
    failed: u64,
    denied: u64,
    without_result: u64,
    times: Times,
}

/// What is said of a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ToolReport {
    pub(crate) name: String,
    pub(crate) calls: u64,
    pub(crate) failed: u64,
    pub(crate) denied: u64,
    pub(crate) without_result: u64,
    /// How long calls ran; nothing where nobody knows.
    pub(crate) ran: Option<Summary>,
}

#[derive(Debug)]
struct Call {
    name: String,
    since: u64,
    waited: u64,
    /// How the question about it was answered.
    answered: Option<Outcome>,
}

#[derive(Debug, Default)]
pub(crate) struct Calls {
    tools: BTreeMap<String, Tool>,
    open: HashMap<String, Call>,
}

/// As much of a message as is needed here.
#[derive(Deserialize)]
struct Message {
    message: Payload,
}

#[derive(Deserialize)]
struct Payload {
    content: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(default)]
    is_error: Option<bool>,
}

/// The blocks of a message; none where its content is a text.
fn blocks(line: &[u8]) -> Vec<Block> {
    let message = serde_json::from_slice::<Message>(line);
    message.map_or_else(|_| Vec::new(), |message| message.message.content)
}

impl Calls {
    /// The agent says something: it may make calls.
    pub(crate) fn assistant(&mut self, line: &[u8], at: u64) {
        for block in blocks(line) {
            let (Some(id), Some(name)) = (block.id, block.name) else {
                continue;
            };
            if block.kind != "tool_use" || self.open.contains_key(&id) {
                continue;
            }
            self.tools.entry(name.clone()).or_default().calls += 1;
            let call = Call {
                name,
                since: at,
                waited: 0,
                answered: None,
            };
            self.open.insert(id, call);
        }
    }

    /// Results come back to the agent.
    pub(crate) fn user(&mut self, line: &[u8], at: u64) {
        for block in blocks(line) {
            let id = block.tool_use_id.filter(|_| block.kind == "tool_result");
            let Some(call) = id.and_then(|id| self.open.remove(&id)) else {
                continue;
            };
            let tool = self.tools.entry(call.name).or_default();
            let has_run = !matches!(call.answered, Some(Outcome::Denied | Outcome::SentBack));
            match (call.answered, block.is_error) {
                (Some(Outcome::Denied), _) => tool.denied += 1,
                (_, Some(true)) if has_run => tool.failed += 1,
                _ => {}
            }
            if has_run {
                tool.times
                    .add(at.saturating_sub(call.since).saturating_sub(call.waited));
            }
        }
    }

    /// A question about the call was answered.
    pub(crate) fn answered(&mut self, tool_use_id: &str, waited: u64, outcome: Outcome) {
        if let Some(call) = self.open.get_mut(tool_use_id) {
            call.waited += waited;
            call.answered = Some(outcome);
        }
    }

    /// Returns the tool of a call without a result.
    pub(crate) fn name(&self, tool_use_id: &str) -> Option<&str> {
        self.open.get(tool_use_id).map(|call| call.name.as_str())
    }

    /// The agent has ended: nothing will come of open calls.
    pub(crate) fn ended(&mut self) {
        for (_, call) in self.open.drain() {
            self.tools.entry(call.name).or_default().without_result += 1;
        }
    }

    /// The most used first.
    pub(crate) fn report(&self, has_times: bool) -> Vec<ToolReport> {
        let mut open: BTreeMap<&str, u64> = BTreeMap::new();
        for call in self.open.values() {
            *open.entry(&call.name).or_default() += 1;
        }
        let mut tools: Vec<ToolReport> = self
            .tools
            .iter()
            .map(|(name, tool)| ToolReport {
                name: name.clone(),
                calls: tool.calls,
                failed: tool.failed,
                denied: tool.denied,
                without_result: tool.without_result + open.get(name.as_str()).unwrap_or(&0),
                ran: tool.times.summary().filter(|_| has_times),
            })
            .collect();
        tools.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.name.cmp(&b.name)));
        tools
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(calls: &mut Calls, id: &str, at: u64) {
        let line = format!(
            r#"{{"message":{{"content":[{{"type":"text","text":"x"}},{{"type":"tool_use","id":"{id}","name":"Bash","input":{{}}}}]}}}}"#
        );
        calls.assistant(line.as_bytes(), at);
    }

    fn result(calls: &mut Calls, id: &str, at: u64, is_error: bool) {
        let line = format!(
            r#"{{"message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","is_error":{is_error}}}]}}}}"#
        );
        calls.user(line.as_bytes(), at);
    }

    #[test]
    fn time_that_somebody_thought_is_not_counted() {
        let mut calls = Calls::default();
        call(&mut calls, "a", 0);
        calls.answered("a", 60_000_000, Outcome::Allowed);
        result(&mut calls, "a", 61_000_000, false);
        let report = calls.report(true);
        assert_eq!(report[0].ran.unwrap().longest_ms, 1_000.0);
    }

    #[test]
    fn failed_denied_and_unanswered_calls_are_told_apart() {
        let mut calls = Calls::default();
        for id in ["a", "b", "c", "d"] {
            call(&mut calls, id, 0);
        }
        call(&mut calls, "a", 5);
        result(&mut calls, "a", 10, true);
        calls.answered("b", 5, Outcome::Denied);
        result(&mut calls, "b", 10, true);
        // Nobody denied a plan that is to be made better, and it has not failed.
        calls.answered("c", 5, Outcome::SentBack);
        result(&mut calls, "c", 10, true);
        calls.ended();
        call(&mut calls, "e", 20);
        let report = calls.report(false);
        assert_eq!(
            (
                report[0].calls,
                report[0].failed,
                report[0].denied,
                report[0].without_result
            ),
            (5, 1, 1, 2)
        );
        assert_eq!(report[0].ran, None);
        result(&mut calls, "unknown", 30, false);
        calls.user(br#"{"message":{"content":"text"}}"#, 0);
        assert_eq!(calls.report(false).len(), 1);
    }
}
