//! A session in numbers: records in, counts out.
//!
//! Owns what is counted and where a line goes for it. Pure: the same records give the same report. Memory grows with
//! calls and questions, not with bytes. Invariant: a line that cannot be read is counted as what it is, never an error.

mod calls;
mod generations;
mod questions;
mod report;
mod spending;
mod times;

use std::collections::BTreeMap;

use countersign_journal::{KeeperEvent, Kind, Record};
use countersign_wire::CliMessage;
use countersign_wire::calls::OpenCalls;
use countersign_wire::cli::ResultMessage;
use countersign_wire::control::CliRequest;
use countersign_wire::decode::decode;
use countersign_wire::route::Route;
use serde::{Deserialize, Serialize};

use self::calls::Calls;
pub(crate) use self::calls::ToolReport;
pub(crate) use self::generations::GenerationReport;
use self::generations::Generations;
use self::questions::Questions;
pub(crate) use self::questions::{APPROVAL, NOT_NOTED, QuestionReport};
pub(crate) use self::report::Report;
use self::spending::Spending;
pub(crate) use self::spending::Spent;
pub(crate) use self::times::Summary;
use self::times::Times;

/// So many names are told apart; an agent that makes up more is not to fill the memory.
const MOST_NAMES: usize = 2_000;

/// Who a record comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum From {
    Agent,
    Host,
    Stderr,
    Note,
    Keeper,
}

impl From {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Agent | Kind::AgentPiece => From::Agent,
            Kind::Host => From::Host,
            Kind::Stderr | Kind::StderrPiece => From::Stderr,
            Kind::Note => From::Note,
            Kind::Keeper => From::Keeper,
        }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            From::Agent => "agent",
            From::Host => "host",
            From::Stderr => "stderr",
            From::Note => "note",
            From::Keeper => "keeper",
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    count: u64,
    bytes: u64,
}

/// Counts a session.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    records: u64,
    bytes: u64,
    types: BTreeMap<(From, String), Count>,
    prompts: u64,
    /// Results by how the turn ended.
    ends: BTreeMap<String, u64>,
    failed_turns: u64,
    turn_times: Times,
    calls: Calls,
    questions: Questions,
    /// Calls that were not asked about yet.
    unasked: OpenCalls,
    spending: Spending,
    generations: Generations,
    damaged: u64,
    first_damage: Option<String>,
    cli: Option<String>,
    conversation: Option<String>,
    span: Option<(u64, u64)>,
}

#[derive(Deserialize)]
struct Init {
    #[serde(default)]
    claude_code_version: Option<String>,
    #[serde(default)]
    session_id: Option<String>,
}

impl Tally {
    /// Something that is no record.
    pub(crate) fn damaged(&mut self, why: &str) {
        self.damaged += 1;
        self.first_damage.get_or_insert_with(|| why.to_owned());
    }

    pub(crate) fn record(&mut self, generation: u32, record: &Record<'_>) {
        let bytes = record.payload.len() as u64 + 1;
        self.records += 1;
        self.bytes += bytes;
        let (from, to) = self.span.unwrap_or((record.at, record.at));
        self.span = Some((from.min(record.at), to.max(record.at)));
        self.generations.record(generation, record.at);
        let name = match record.kind {
            Kind::Agent => self.agent(record),
            Kind::Host => self.host(record),
            Kind::Keeper => self.keeper(generation, record),
            Kind::Note => {
                if let Ok(note) = serde_json::from_slice(record.payload) {
                    self.questions.noted(note);
                }
                "(note)".to_owned()
            }
            Kind::Stderr => "(line)".to_owned(),
            Kind::AgentPiece | Kind::StderrPiece => "(unfinished line)".to_owned(),
        };
        let key = (From::of(record.kind), name);
        let is_known = self.types.contains_key(&key) || self.types.len() < MOST_NAMES;
        let key = match is_known {
            true => key,
            false => (key.0, "(others)".to_owned()),
        };
        let count = self.types.entry(key).or_default();
        count.count += 1;
        count.bytes += bytes;
    }

    fn agent(&mut self, record: &Record<'_>) -> String {
        let Ok(route) = Route::of(record.payload) else {
            return NO_MESSAGE.to_owned();
        };
        let request_id = route.request_id.map(|id| id.to_string());
        match (&*route.kind.get(), request_id) {
            ("assistant", _) => {
                self.unasked.note(record.payload);
                self.calls.assistant(record.payload, record.at);
            }
            ("user", _) => {
                self.unasked.note(record.payload);
                self.calls.user(record.payload, record.at);
            }
            ("control_request", Some(id)) => {
                let subtype = route.subtype.map(|subtype| subtype.to_string());
                let named = route.tool_use_id.map(|id| id.to_string());
                let subtype = subtype.unwrap_or_default();
                let call = match named {
                    Some(id) => {
                        self.unasked.asked(&id);
                        Some(id)
                    }
                    None => self.call_meant(&subtype, record.payload),
                };
                let name = call.as_deref().and_then(|call| self.calls.name(call));
                let is_plan = name == Some("ExitPlanMode");
                self.questions
                    .asked(&id, &subtype, call, is_plan, record.at);
            }
            ("control_cancel_request", Some(id)) => self.questions.withdrawn(&id, record.at),
            ("result", _) => self.result(record.payload),
            ("system", _) if route.subtype.is_some_and(|subtype| subtype == "init") => {
                self.init(record.payload);
            }
            _ => {}
        }
        route.name()
    }

    /// Returns the call that a question means which names none.
    fn call_meant(&mut self, subtype: &str, line: &[u8]) -> Option<String> {
        if subtype != "can_use_tool" {
            return None;
        }
        let Ok(CliMessage::ControlRequest(asks)) = decode::<CliMessage>(line) else {
            return None;
        };
        match &asks.request {
            CliRequest::CanUseTool(ask) => self.unasked.take(&ask.tool_name, &ask.input),
            _ => None,
        }
    }

    fn init(&mut self, line: &[u8]) {
        if let Ok(init) = serde_json::from_slice::<Init>(line) {
            self.cli = init.claude_code_version.or(self.cli.take());
            self.conversation = init.session_id.or(self.conversation.take());
        }
    }

    fn result(&mut self, line: &[u8]) {
        let Ok(CliMessage::Result(result)) = decode::<CliMessage>(line) else {
            return;
        };
        let result: &ResultMessage = &result;
        *self.ends.entry(result.subtype.to_string()).or_default() += 1;
        self.failed_turns += u64::from(result.is_error);
        self.turn_times
            .add(result.duration_ms.as_u64().saturating_mul(1_000));
        self.spending.result(result);
    }

    fn host(&mut self, record: &Record<'_>) -> String {
        let Ok(route) = Route::of(record.payload) else {
            self.questions.forget_note();
            return NO_MESSAGE.to_owned();
        };
        let request_id = route.request_id.map(|id| id.to_string());
        match (&*route.kind.get(), request_id) {
            ("user", _) => self.prompts += 1,
            ("control_response", Some(id)) => {
                let about = self.questions.answered(&id, record.payload, record.at);
                if let Some(about) = about {
                    self.calls
                        .answered(&about.tool_use_id, about.waited, about.outcome);
                }
            }
            _ => {}
        }
        self.questions.forget_note();
        route.name()
    }

    fn keeper(&mut self, generation: u32, record: &Record<'_>) -> String {
        let event = serde_json::from_slice::<KeeperEvent>(record.payload);
        let event = event.unwrap_or(KeeperEvent::Unknown);
        match &event {
            // Whatever the last one left open has nobody any more.
            KeeperEvent::Open { .. } => {
                self.agent_ended(record.at);
                self.spending.opened();
            }
            KeeperEvent::Exit(_) | KeeperEvent::Lost { .. } => self.agent_ended(record.at),
            _ => {}
        }
        self.generations.event(generation, &event);
        event_name(record.payload)
    }

    fn agent_ended(&mut self, at: u64) {
        self.questions.agent_gone(at);
        self.calls.ended();
    }
}

/// What is no JSON object with a `type`.
const NO_MESSAGE: &str = "(no message)";

#[derive(Deserialize)]
struct Named {
    event: String,
}

fn event_name(payload: &[u8]) -> String {
    let named = serde_json::from_slice::<Named>(payload);
    named.map_or_else(|_| NO_MESSAGE.to_owned(), |named| named.event)
}

#[cfg(test)]
mod tests;
