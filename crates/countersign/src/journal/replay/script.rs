//! What a recorded agent says, and what it waits for. Pure: recorded lines and live lines in, decisions out.
//!
//! Owns the ids: a host of today asks and writes under ids of its own, so replies and echoes get those. Invariants: an
//! answer is waited for only if its question was put; a reply goes to whoever asked, once.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;

use countersign_wire::route::{Places, Route};
use serde_json::json;

/// So many uuids of messages are remembered.
const MOST_MESSAGES: usize = 64;

/// A line of the host of today.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Live {
    Answer {
        request_id: String,
    },
    Request {
        request_id: String,
        subtype: String,
    },
    Message {
        uuid: Option<String>,
    },
    /// A heartbeat, a withdrawal, what is no message: nothing waits for it.
    Other,
}

impl Live {
    pub(super) fn of(line: &[u8]) -> Self {
        let Ok(route) = Route::of(line) else {
            return Live::Other;
        };
        let request_id = route.request_id.map(|id| id.to_string());
        match (&*route.kind.get(), request_id) {
            ("control_response", Some(request_id)) => Live::Answer { request_id },
            ("control_request", Some(request_id)) => Live::Request {
                request_id,
                subtype: route.subtype.map(|s| s.to_string()).unwrap_or_default(),
            },
            ("user", _) => Live::Message {
                uuid: route.uuid.map(|uuid| uuid.to_string()),
            },
            _ => Live::Other,
        }
    }
}

/// What the recorded agent waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Need {
    /// The answer to its question.
    Answer { request_id: String, asked: String },
    /// A request, by its number among those that were recorded; any, if none of the host's lines were.
    Request {
        index: Option<usize>,
        subtype: String,
    },
    /// A message.
    Message { uuid: Option<String> },
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Need::Answer { request_id, asked } => {
                write!(f, "the answer to {asked:?} ({request_id:?})")
            }
            Need::Request { subtype, .. } if subtype.is_empty() => f.write_str("a control request"),
            Need::Request { subtype, .. } => write!(f, "the control request {subtype:?}"),
            Need::Message { .. } => f.write_str("a message"),
        }
    }
}

/// A request of the recorded host.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Request {
    id: String,
    subtype: String,
    stage: Stage,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    /// Nobody of today has asked it.
    Open,
    /// Asked under this id; the reply comes in its turn.
    Asked(String),
    /// Replied to before its turn.
    Replied,
}

/// What to do about a request of today.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    /// The recorded reply to this id, before its turn.
    Early { recorded: String },
    /// There is none: this line says so.
    Refused(Vec<u8>),
}

#[derive(Debug, Default)]
pub(super) struct Script {
    /// The recorded host's requests, in order.
    requests: Vec<Request>,
    by_id: HashMap<String, usize>,
    /// The agent's questions that were put and not withdrawn: what was asked.
    asked: HashMap<String, String>,
    /// Every id under which the agent asked: a `control_response` with one of them is an echo of its answer.
    own: HashSet<String>,
    answered: HashSet<String>,
    /// Recorded uuids of messages, and those of today.
    uuids: VecDeque<(String, String)>,
    /// None of the host's lines were recorded: where the agent waited is guessed.
    is_one_sided: bool,
    wants_message: bool,
}

impl Script {
    /// `is_one_sided`: only the agent's lines were recorded.
    pub(super) fn new(is_one_sided: bool) -> Self {
        Self {
            is_one_sided,
            wants_message: is_one_sided,
            ..Self::default()
        }
    }

    /// Before anything is played: the recorded host made this request.
    pub(super) fn foresee(&mut self, line: &[u8]) {
        if let Live::Request {
            request_id,
            subtype,
        } = Live::of(line)
        {
            self.by_id.insert(request_id.clone(), self.requests.len());
            self.requests.push(Request {
                id: request_id,
                subtype,
                stage: Stage::Open,
            });
        }
    }

    /// A recorded line of the host: what the agent waited for before it went on.
    pub(super) fn host(&mut self, line: &[u8]) -> Option<Need> {
        match Live::of(line) {
            Live::Answer { request_id } => {
                let asked = self.asked.get(&request_id)?.clone();
                Some(Need::Answer { request_id, asked })
            }
            Live::Request {
                request_id,
                subtype,
            } => {
                let index = *self.by_id.get(&request_id)?;
                let request = self.requests.get(index)?;
                (request.stage == Stage::Open).then_some(Need::Request {
                    index: Some(index),
                    subtype,
                })
            }
            Live::Message { uuid } => Some(Need::Message { uuid }),
            Live::Other => None,
        }
    }

    /// A recorded line of the agent, of which no host line was recorded: what it must have waited for.
    pub(super) fn guess(&mut self, line: &[u8]) -> Option<Need> {
        if !self.is_one_sided {
            return None;
        }
        let route = Route::of(line).ok()?;
        match &*route.kind.get() {
            "control_response" => {
                let id = route.request_id?.to_string();
                if self.own.contains(&id) {
                    let asked = self.asked.get(&id)?.clone();
                    return Some(Need::Answer {
                        request_id: id,
                        asked,
                    });
                }
                if self.by_id.contains_key(&id) {
                    return None;
                }
                // Whatever is asked next gets this reply.
                self.by_id.insert(id.clone(), self.requests.len());
                self.requests.push(Request {
                    id,
                    subtype: String::new(),
                    stage: Stage::Open,
                });
                Some(Need::Request {
                    index: Some(self.requests.len() - 1),
                    subtype: String::new(),
                })
            }
            "control_request" | "control_cancel_request" => None,
            _ => {
                if let Some((request_id, asked)) = self.asked.iter().next() {
                    let (request_id, asked) = (request_id.clone(), asked.clone());
                    return Some(Need::Answer { request_id, asked });
                }
                if std::mem::take(&mut self.wants_message) {
                    return Some(Need::Message { uuid: None });
                }
                self.wants_message = route.kind == "result";
                None
            }
        }
    }

    /// A recorded line of the agent as it is said today; nothing if it was said already.
    pub(super) fn say(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        let Ok(route) = Route::of(line) else {
            return Some(line.to_vec());
        };
        let request_id = route.request_id.map(|id| id.to_string());
        match (&*route.kind.get(), request_id) {
            ("control_request", Some(id)) => {
                let subtype = route.subtype.map(|s| s.to_string()).unwrap_or_default();
                self.own.insert(id.clone());
                self.asked.insert(id, subtype);
            }
            ("control_cancel_request", Some(id)) => {
                self.asked.remove(&id);
            }
            ("control_response", Some(id)) if !self.own.contains(&id) => {
                return self.reply(line, &id);
            }
            _ => {}
        }
        Some(self.with_uuids(line))
    }

    fn reply(&self, line: &[u8], recorded: &str) -> Option<Vec<u8>> {
        let request = self
            .by_id
            .get(recorded)
            .and_then(|index| self.requests.get(*index));
        match &request?.stage {
            Stage::Asked(live) => with_request_id(line, live),
            // Said already, or to a host that never asked.
            Stage::Replied | Stage::Open => None,
        }
    }

    fn with_uuids(&self, line: &[u8]) -> Vec<u8> {
        let Ok(text) = std::str::from_utf8(line) else {
            return line.to_vec();
        };
        let mut text = Cow::Borrowed(text);
        for (old, new) in &self.uuids {
            if text.contains(old.as_str()) {
                text = Cow::Owned(text.replace(old.as_str(), new));
            }
        }
        text.into_owned().into_bytes()
    }

    /// Whether this line is what is waited for. If it is, its ids are taken over.
    pub(super) fn meets(&mut self, need: &Need, live: &Live) -> bool {
        match (need, live) {
            (Need::Answer { request_id, .. }, Live::Answer { request_id: given }) => {
                let is_it = request_id == given;
                if is_it {
                    self.asked.remove(request_id);
                }
                is_it
            }
            (
                Need::Request { index, subtype },
                Live::Request {
                    request_id,
                    subtype: given,
                },
            ) => {
                if !subtype.is_empty() && subtype != given {
                    return false;
                }
                if let Some(request) = index.and_then(|index| self.requests.get_mut(index)) {
                    request.stage = Stage::Asked(request_id.clone());
                }
                true
            }
            (Need::Message { uuid: recorded }, Live::Message { uuid }) => {
                if let (Some(recorded), Some(uuid)) = (recorded, uuid) {
                    if self.uuids.len() == MOST_MESSAGES {
                        self.uuids.pop_front();
                    }
                    self.uuids.push_back((recorded.clone(), uuid.clone()));
                }
                true
            }
            _ => false,
        }
    }

    /// An answer came before anybody waited for it.
    pub(super) fn note_answer(&mut self, request_id: &str) {
        self.answered.insert(request_id.to_owned());
    }

    /// Whether the answer is here already.
    pub(super) fn has(&mut self, need: &Need) -> bool {
        match need {
            Need::Answer { request_id, .. } => {
                let is_here = self.answered.remove(request_id);
                if is_here {
                    self.asked.remove(request_id);
                }
                is_here
            }
            Need::Request { .. } | Need::Message { .. } => false,
        }
    }

    /// A request of today that is not the one that is waited for.
    pub(super) fn unforeseen(&mut self, request_id: &str, subtype: &str) -> Reply {
        let open = self
            .requests
            .iter_mut()
            .find(|request| request.subtype == subtype && request.stage == Stage::Open);
        match open {
            Some(request) => {
                request.stage = Stage::Replied;
                Reply::Early {
                    recorded: request.id.clone(),
                }
            }
            None => Reply::Refused(refusal(request_id, subtype)),
        }
    }
}

/// The reply with another id.
pub(super) fn with_request_id(line: &[u8], id: &str) -> Option<Vec<u8>> {
    let range = Places::of(line).ok()?.request_id()?;
    let quoted = serde_json::Value::from(id).to_string();
    let mut out = line.get(..range.start)?.to_vec();
    out.extend_from_slice(quoted.trim_matches('"').as_bytes());
    out.extend_from_slice(line.get(range.end..)?);
    Some(out)
}

pub(super) fn refusal(request_id: &str, subtype: &str) -> Vec<u8> {
    let error = format!("the recorded session has no (further) answer to {subtype}");
    let response = json!({"subtype": "error", "request_id": request_id, "error": error});
    json!({"type": "control_response", "response": response})
        .to_string()
        .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASK: &[u8] =
        br#"{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool"}}"#;
    const REPLY: &[u8] = br#"{"type":"control_response","response":{"subtype":"success","request_id":"h1","response":{}}}"#;

    fn request(id: &str, subtype: &str) -> Vec<u8> {
        format!(r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"{subtype}"}}}}"#).into_bytes()
    }

    fn answer(id: &str) -> Vec<u8> {
        format!(r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}"}}}}"#).into_bytes()
    }

    #[test]
    fn a_reply_carries_the_id_of_who_asked() {
        let mut script = Script::new(false);
        script.foresee(&request("h1", "initialize"));
        let need = script.host(&request("h1", "initialize")).unwrap();
        assert!(!script.meets(&need, &Live::of(&request("x", "interrupt"))));
        assert!(script.meets(&need, &Live::of(&request("live-7", "initialize"))));
        let said = script.say(REPLY).unwrap();
        assert_eq!(
            said,
            String::from_utf8_lossy(REPLY)
                .replace("h1", "live-7")
                .into_bytes()
        );
    }

    #[test]
    fn an_answer_is_waited_for_if_its_question_was_put() {
        let mut script = Script::new(false);
        assert_eq!(script.host(&answer("q1")), None);
        assert_eq!(script.say(ASK).unwrap(), ASK);
        let need = script.host(&answer("q1")).unwrap();
        assert_eq!(need.to_string(), r#"the answer to "can_use_tool" ("q1")"#);
        assert!(!script.meets(&need, &Live::of(&answer("other"))));
        assert!(script.meets(&need, &Live::of(&answer("q1"))));
        assert_eq!(script.host(&answer("q1")), None);
    }

    #[test]
    fn an_answer_may_come_early_and_a_withdrawn_question_needs_none() {
        let mut script = Script::new(false);
        script.say(ASK);
        script.note_answer("q1");
        let need = script.host(&answer("q1")).unwrap();
        assert!(script.has(&need));
        script.say(ASK);
        script.say(br#"{"type":"control_cancel_request","request_id":"q1"}"#);
        assert_eq!(script.host(&answer("q1")), None);
    }

    #[test]
    fn a_request_out_of_turn_is_replied_to_once() {
        let mut script = Script::new(false);
        script.foresee(&request("h1", "set_model"));
        let reply = script.unforeseen("live", "set_model");
        assert_eq!(
            reply,
            Reply::Early {
                recorded: "h1".into()
            }
        );
        assert_eq!(script.say(REPLY), None);
        assert_eq!(script.host(&request("h1", "set_model")), None);
        let Reply::Refused(line) = script.unforeseen("live-2", "set_model") else {
            panic!("there is no second one");
        };
        assert!(String::from_utf8(line).unwrap().contains("live-2"));
    }

    #[test]
    fn echoes_name_the_message_of_today() {
        let mut script = Script::new(false);
        let need = script
            .host(br#"{"type":"user","uuid":"old-uuid","message":{}}"#)
            .unwrap();
        assert!(script.meets(&need, &Live::of(br#"{"type":"user","uuid":"new-uuid"}"#)));
        let said = script
            .say(br#"{"type":"result","user_message_uuids":["old-uuid"]}"#)
            .unwrap();
        assert_eq!(
            said,
            br#"{"type":"result","user_message_uuids":["new-uuid"]}"#
        );
    }

    #[test]
    fn where_only_the_agent_was_recorded_its_waits_are_guessed() {
        let mut script = Script::new(true);
        let need = script.guess(REPLY).unwrap();
        assert!(script.meets(&need, &Live::of(&request("live", "initialize"))));
        assert_eq!(script.guess(REPLY), None);
        assert!(script.say(REPLY).is_some());
        let init = br#"{"type":"system","subtype":"init"}"#;
        assert_eq!(script.guess(init), Some(Need::Message { uuid: None }));
        assert_eq!(script.guess(ASK), None);
        script.say(ASK);
        let result = br#"{"type":"result"}"#;
        assert!(matches!(script.guess(result), Some(Need::Answer { .. })));
        script.note_answer("q1");
        let need = script.guess(result).unwrap();
        assert!(script.has(&need));
        assert_eq!(script.guess(result), None);
        assert_eq!(script.guess(init), Some(Need::Message { uuid: None }));
    }

    #[test]
    fn an_echo_of_the_answer_is_no_reply_to_a_request() {
        let echo = br#"{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{}}}"#;
        let mut script = Script::new(true);
        script.say(ASK);
        let need = script.guess(echo).unwrap();
        assert!(matches!(need, Need::Answer { .. }));
        assert!(script.meets(&need, &Live::of(echo)));
        assert_eq!(script.guess(echo), None);
        assert_eq!(script.say(echo).as_deref(), Some(&echo[..]));
    }
}
