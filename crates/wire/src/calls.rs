//! Which call a question is about, where the CLI does not say: 1.0.128 asks without a `tool_use_id`.
//!
//! Owns [`OpenCalls`]: the calls of a session that were made and not asked about yet. Bounded; reads leniently. Invariant:
//! no call is given for two questions, and none where two could be meant by a question that fits neither exactly.

use std::collections::VecDeque;

use memchr::memmem;

use crate::Json;
use crate::content::ContentBlock;
use crate::decode::decode;
use crate::route::Route;
use crate::{CliMessage, TextOr};

/// Maximum number of calls that are remembered; the oldest are forgotten.
const MOST: usize = 256;

/// The calls that were made and not asked about yet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpenCalls {
    calls: VecDeque<OpenCall>,
}

#[derive(Debug, Clone, PartialEq)]
struct OpenCall {
    id: String,
    tool: String,
    input: Json,
}

impl OpenCalls {
    /// Learns from a line of the agent: calls are made, and come back.
    pub fn note(&mut self, line: &[u8]) {
        let Ok(route) = Route::of(line) else { return };
        let is_of_interest = match &*route.kind.get() {
            "assistant" => memmem::find(line, b"\"tool_use\"").is_some(),
            "user" => !self.calls.is_empty(),
            _ => false,
        };
        if !is_of_interest {
            return;
        }
        match decode::<CliMessage>(line) {
            Ok(CliMessage::Assistant(message)) => {
                for block in message.message.content {
                    if let ContentBlock::ToolUse(call) = block {
                        self.push(call.id.as_str(), &call.name, call.input);
                    }
                }
            }
            Ok(CliMessage::User(message)) => {
                let TextOr::Rich(blocks) = &message.message.content else {
                    return;
                };
                for block in blocks {
                    if let ContentBlock::ToolResult(result) = block {
                        let over = result.tool_use_id.as_str();
                        self.calls.retain(|call| call.id != over);
                    }
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, id: &str, tool: &str, input: Json) {
        if self.calls.iter().any(|call| call.id == id) {
            return;
        }
        if self.calls.len() == MOST {
            self.calls.pop_front();
        }
        self.calls.push_back(OpenCall {
            id: id.to_owned(),
            tool: tool.to_owned(),
            input,
        });
    }

    /// Takes the call that a question about `tool` with this input means: the oldest of that input, else the only one of
    /// that tool.
    pub fn take(&mut self, tool: &str, input: &Json) -> Option<String> {
        let exact = |call: &OpenCall| call.tool == tool && call.input == *input;
        let at = match self.calls.iter().position(exact) {
            Some(at) => at,
            None => {
                let mut of_tool = (0..self.calls.len()).filter(|at| self.calls[*at].tool == tool);
                of_tool.next().filter(|_| of_tool.next().is_none())?
            }
        };
        self.calls.remove(at).map(|call| call.id)
    }

    /// Forgets a call that was asked about by its id.
    pub fn asked(&mut self, id: &str) {
        self.calls.retain(|call| call.id != id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        text.parse().unwrap()
    }

    fn calls() -> OpenCalls {
        let mut calls = OpenCalls::default();
        for (id, tool, input) in [
            ("a", "Bash", r#"{"command":"ls"}"#),
            ("b", "Bash", r#"{"command":"ls"}"#),
            ("c", "Read", r#"{"file_path":"/x"}"#),
        ] {
            let line = format!(
                r#"{{"type":"assistant","message":{{"role":"assistant","model":"m","content":[{{"type":"tool_use","id":"{id}","name":"{tool}","input":{input}}}]}},"parent_tool_use_id":null}}"#
            );
            calls.note(line.as_bytes());
        }
        calls
    }

    #[test]
    fn a_question_means_the_oldest_call_of_its_input_and_no_call_twice() {
        let mut calls = calls();
        let input = json(r#"{"command":"ls"}"#);
        let taken = [(); 3].map(|()| calls.take("Bash", &input));
        assert_eq!(taken, [Some("a".to_owned()), Some("b".to_owned()), None]);
    }

    #[test]
    fn another_input_means_a_call_only_where_there_is_no_other_of_the_tool() {
        let mut calls = calls();
        assert_eq!(calls.take("Bash", &json(r#"{"command":"pwd"}"#)), None);
        assert_eq!(calls.take("Write", &json("{}")), None);
        let read = calls.take("Read", &json(r#"{"file_path":"/x","limit":1}"#));
        assert_eq!(read.as_deref(), Some("c"));
    }

    #[test]
    fn what_came_back_or_was_asked_by_its_id_is_not_meant() {
        let mut calls = calls();
        calls.note(br#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]},"parent_tool_use_id":null}"#);
        calls.asked("c");
        assert_eq!(calls.take("Read", &json("{}")), None);
        let left = calls.take("Bash", &json(r#"{"command":"ls"}"#));
        assert_eq!(left.as_deref(), Some("b"));
    }
}
