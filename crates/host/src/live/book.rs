//! The approvals of one session that are not over yet, as its journal tells of them.
//!
//! Owns the way from a record to what it changes about an approval: asked, answered, taken back, settled. Pure: records
//! in, [`Move`]s out. Invariants: what is said of an approval follows from the journal alone, so whoever reads it again
//! finds the same; an answer whose outcome no line tells is *unknown*, never assumed.

use std::collections::BTreeMap;

use countersign_journal::{Cursor, KeeperEvent, Kind, Note, Record};
use countersign_wire::calls::OpenCalls;
use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;

use crate::approval::{Asked, Event, Evidence, Stage, asked, evidence, step};
use crate::control::approval::{Decided, Effect, Kind as Asking, Life, Way};
use crate::control::{ApprovalId, SessionId};
use crate::store::approvals::ApprovalRow;

/// So many approvals are followed at once. Beyond it, the oldest answered one is let go of as *unknown*.
const MOST: usize = 4096;

/// One approval that is not over.
#[derive(Debug, Clone)]
pub(crate) struct Held {
    pub(crate) id: ApprovalId,
    pub(crate) seq: u64,
    pub(crate) kind: Asking,
    pub(crate) tool_use_id: Option<String>,
    /// The sub-agent that asked.
    pub(crate) agent_id: Option<String>,
    pub(crate) life: Life,
    pub(crate) effect: Option<Effect>,
    /// It was laid before a person, or somebody looks for its row: what becomes of it is stored at once.
    pub(crate) is_for_person: bool,
}

impl Held {
    /// As its row has it.
    pub(crate) fn stored(row: &ApprovalRow) -> Self {
        Self {
            id: row.id,
            seq: row.seq,
            kind: row.kind,
            tool_use_id: row.tool_use_id.clone(),
            agent_id: row.path.last().and_then(|asker| asker.agent_id.clone()),
            // A rule's decision counts when the journal has it.
            life: match row.is_decided_by_rule() {
                true => Life::Open,
                false => row.life.clone(),
            },
            effect: row.decided.as_ref().map(|decided| decided.effect),
            is_for_person: row.life == Life::Open || row.answer.is_some(),
        }
    }
}

/// What a record changed.
#[derive(Debug)]
pub(crate) enum Move {
    /// A question is new.
    Asked(Box<NewApproval>),
    /// An approval is elsewhere in its life.
    Life {
        id: ApprovalId,
        /// Its name on the wire.
        request_id: String,
        life: Life,
        /// Whoever decided, as the journal says.
        decided: Option<Decided>,
        /// It was laid before a person.
        is_for_person: bool,
    },
}

/// A question as it was asked.
#[derive(Debug)]
pub(crate) struct NewApproval {
    pub(crate) id: ApprovalId,
    pub(crate) generation: u32,
    pub(crate) seq: u64,
    pub(crate) at: u64,
    pub(crate) asked: Asked,
    /// The line it was asked with.
    pub(crate) line: Vec<u8>,
}

/// Whether a proof is about an approval.
type Test = Box<dyn Fn(&Held) -> bool>;

/// The approvals of one session.
#[derive(Debug)]
pub(crate) struct Book {
    session: SessionId,
    generation: u32,
    held: BTreeMap<String, Held>,
    /// The note in front of the next host line.
    note: Option<Note>,
    /// An interrupt of ours, until its turn ends.
    interrupts: bool,
    /// Calls that were not asked about yet, for questions that do not name theirs.
    calls: OpenCalls,
}

#[derive(Deserialize)]
struct Response {
    response: Inner,
}

#[derive(Deserialize)]
struct Inner {
    request_id: String,
    #[serde(default)]
    subtype: String,
    #[serde(default)]
    response: Option<Value>,
}

#[derive(Deserialize)]
struct Cancel {
    request_id: String,
}

impl Book {
    /// The book of a session, with what was not over when its rows were last written.
    pub(crate) fn new(
        session: SessionId,
        generation: u32,
        held: impl IntoIterator<Item = (String, Held)>,
    ) -> Self {
        Self {
            session,
            generation,
            held: held.into_iter().collect(),
            note: None,
            interrupts: false,
            calls: OpenCalls::default(),
        }
    }

    /// The approval that is asked under this name.
    pub(crate) fn get(&self, request_id: &str) -> Option<&Held> {
        self.held.get(request_id)
    }

    pub(crate) fn get_mut(&mut self, request_id: &str) -> Option<&mut Held> {
        self.held.get_mut(request_id)
    }

    /// Something happened to an approval that no record tells.
    pub(crate) fn happened(&mut self, name: &str, event: Event) -> Vec<Move> {
        let mut moves = Vec::new();
        self.advance(name, event, None, &mut moves);
        moves
    }

    /// The records behind this one are gone: so is what they asked.
    pub(crate) fn cut(&mut self, to: Cursor) {
        match to.generation < self.generation {
            true => self.held.clear(),
            false => self.held.retain(|_, held| held.seq <= to.seq),
        }
        self.generation = to.generation;
        self.note = None;
        // Some were taken by questions that are gone: what is asked again must not be given another call of the same input.
        self.calls = OpenCalls::default();
    }

    /// Takes one record.
    pub(crate) fn take(&mut self, generation: u32, record: &Record<'_>) -> Vec<Move> {
        let mut moves = Vec::new();
        if generation != self.generation {
            // Questions of an earlier agent died with it; its plans wait no longer.
            if self.generation != 0 {
                self.end_all(Event::AgentGone, &mut moves);
                self.end_all(Event::AgentBack, &mut moves);
            }
            self.generation = generation;
            self.interrupts = false;
            self.calls = OpenCalls::default();
        }
        let line = record.payload;
        if record.kind == Kind::Agent
            && (has(line, b"\"tool_use\"") || has(line, b"\"tool_result\""))
        {
            self.calls.note(line);
        }
        match record.kind {
            Kind::Agent if has(line, b"\"control_request\"") => self.asked(record, &mut moves),
            Kind::Agent if has(line, b"\"control_cancel_request\"") => {
                self.cancelled(line, &mut moves);
            }
            Kind::Agent
                if has(line, b"\"tool_result\"")
                    || has(line, b"\"task_")
                    || has(line, b"\"late_allow_not_run\"") =>
            {
                self.proved(line, &mut moves);
            }
            Kind::Agent if has(line, b"\"result\"") && is_result(line) => self.interrupts = false,
            Kind::Note => self.note = serde_json::from_slice(line).ok(),
            Kind::Host => self.said(record, &mut moves),
            Kind::Keeper => self.kept(line, &mut moves),
            _ => {}
        }
        moves
    }

    fn asked(&mut self, record: &Record<'_>, moves: &mut Vec<Move>) {
        let Some(mut asked) = asked(record.payload) else {
            return;
        };
        self.name_call(&mut asked);
        let id = ApprovalId::of(self.session, self.generation, record.seq, record.at);
        let name = &asked.request_id;
        if self.held.get(name).is_some_and(|held| held.id != id) {
            // Whoever uses a name again has let go of the question before.
            self.advance(name, Event::Cancelled, None, moves);
        }
        self.make_room(moves);
        let held = Held {
            id,
            seq: record.seq,
            kind: asked.kind,
            tool_use_id: asked.tool_use_id.clone(),
            agent_id: asked.agent_id.clone(),
            life: Life::Open,
            effect: None,
            is_for_person: false,
        };
        self.held.insert(asked.request_id.clone(), held);
        moves.push(Move::Asked(Box::new(NewApproval {
            id,
            generation: self.generation,
            seq: record.seq,
            at: record.at,
            asked,
            line: record.payload.to_vec(),
        })));
    }

    /// Finds the call of a question that does not name it: what comes back of the call is its outcome.
    fn name_call(&mut self, asked: &mut Asked) {
        match &asked.tool_use_id {
            Some(id) => self.calls.asked(id),
            None if asked.subtype == "can_use_tool" => {
                let input = asked.input.clone().into();
                asked.tool_use_id = self.calls.take(&asked.tool, &input);
            }
            None => {}
        }
    }

    fn cancelled(&mut self, line: &[u8], moves: &mut Vec<Move>) {
        let Ok(cancel) = serde_json::from_slice::<Cancel>(line) else {
            return;
        };
        let event = match self.interrupts {
            true => Event::Interrupted,
            false => Event::Cancelled,
        };
        self.advance(&cancel.request_id, event, None, moves);
    }

    /// What a line proves settles what was answered.
    fn proved(&mut self, line: &[u8], moves: &mut Vec<Move>) {
        for proof in evidence(line) {
            let (event, of): (Event, Test) = match proof {
                // Also of a question that nobody answered: the call is over, and nothing is left to decide.
                Evidence::Result {
                    tool_use_id,
                    is_error,
                } => {
                    let of_call =
                        move |held: &Held| held.tool_use_id.as_deref() == Some(&*tool_use_id);
                    (Event::ToolResult { is_error }, Box::new(of_call))
                }
                // Only an answer that was given can be too late: a newer question about the call stays open.
                Evidence::NotRun { tool_use_id } => {
                    let of_call = move |held: &Held| {
                        held.tool_use_id.as_deref() == Some(&*tool_use_id)
                            && held.life == Life::Written
                    };
                    (Event::Cancelled, Box::new(of_call))
                }
                Evidence::AgentEnded { agent_id } => {
                    let of_agent = move |held: &Held| held.agent_id.as_deref() == Some(&*agent_id);
                    (Event::AskerEnded, Box::new(of_agent))
                }
            };
            let held = self.held.iter().filter(|(_, held)| of(held));
            let held: Vec<_> = held
                .map(|(name, held)| (name.clone(), held.life == Life::Open))
                .collect();
            for (name, is_open) in held {
                // What nobody answered fails with the turn that is interrupted.
                let is_interrupted = is_open
                    && self.interrupts
                    && matches!(event, Event::ToolResult { is_error: true });
                let event = match is_interrupted {
                    true => Event::Interrupted,
                    false => event,
                };
                self.advance(&name, event, None, moves);
            }
        }
    }

    /// A line of ours: an answer, or an interrupt.
    fn said(&mut self, record: &Record<'_>, moves: &mut Vec<Move>) {
        let note = self.note.take();
        let line = record.payload;
        if has(line, b"\"interrupt\"") && has(line, b"\"control_request\"") {
            self.interrupts = true;
        }
        if !has(line, b"\"control_response\"") {
            return;
        }
        let Ok(Response { response }) = serde_json::from_slice::<Response>(line) else {
            return;
        };
        let effect = effect_of(&response);
        let note = note.unwrap_or_default();
        let way = note.way.map(Value::from);
        let way: Option<Way> = way.and_then(|way| serde_json::from_value(way).ok());
        let decided = Decided {
            // The wire says no to a plan that is carried out in a fresh conversation.
            effect: match way {
                Some(Way::ClearContext | Way::AcceptEdits | Way::Manual) => Effect::Allow,
                Some(Way::KeepPlanning) | None => effect,
            },
            way,
            by: note.by.unwrap_or_else(|| "unknown".to_owned()),
            why: note.why.unwrap_or_default(),
            client: note.client.unwrap_or_default(),
            at: record.at,
            decision: note.extra.get("decision").cloned().unwrap_or(Value::Null),
        };
        if let Some(held) = self.held.get_mut(&response.request_id) {
            held.effect = Some(effect);
        }
        self.advance(&response.request_id, Event::Written, Some(decided), moves);
    }

    fn kept(&mut self, line: &[u8], moves: &mut Vec<Move>) {
        let gone = matches!(
            serde_json::from_slice(line),
            Ok(KeeperEvent::Exit(_) | KeeperEvent::Lost { .. })
        );
        if gone {
            self.end_all(Event::AgentGone, moves);
        }
    }

    fn end_all(&mut self, event: Event, moves: &mut Vec<Move>) {
        let names: Vec<String> = self.held.keys().cloned().collect();
        for name in names {
            self.advance(&name, event, None, moves);
        }
    }

    /// Moves an approval on. What is over is no longer held.
    fn advance(
        &mut self,
        name: &str,
        event: Event,
        decided: Option<Decided>,
        moves: &mut Vec<Move>,
    ) {
        let Some(held) = self.held.get_mut(name) else {
            return;
        };
        let stage = Stage {
            kind: held.kind,
            answer: held.effect,
        };
        // Only a decision can be refused, and none comes this way.
        let Ok(life) = step(stage, &held.life, event) else {
            return;
        };
        if life == held.life {
            return;
        }
        held.life = life.clone();
        moves.push(Move::Life {
            id: held.id,
            request_id: name.to_owned(),
            life: life.clone(),
            decided,
            is_for_person: held.is_for_person,
        });
        if matches!(life, Life::Settled { .. } | Life::Withdrawn { .. }) {
            self.held.remove(name);
        }
    }

    fn make_room(&mut self, moves: &mut Vec<Move>) {
        while self.held.len() >= MOST {
            let answered = |(_, held): &(&String, &Held)| held.life != Life::Open;
            let oldest = self
                .held
                .iter()
                .filter(answered)
                .min_by_key(|(_, held)| held.seq);
            let Some(name) = oldest.map(|(name, _)| name.clone()) else {
                return;
            };
            self.advance(&name, Event::AgentGone, None, moves);
            self.held.remove(&name);
        }
    }
}

fn effect_of(response: &Inner) -> Effect {
    let said = response.response.as_ref();
    let allows = |said: &Value| {
        said["behavior"] == "allow" || said["action"] == "accept" || said["behavior"] == "completed"
    };
    match response.subtype == "success" && said.is_some_and(allows) {
        true => Effect::Allow,
        false => Effect::Deny,
    }
}

fn is_result(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Typed {
        #[serde(rename = "type")]
        kind: String,
    }
    serde_json::from_slice::<Typed>(line).is_ok_and(|typed| typed.kind == "result")
}

fn has(line: &[u8], word: &[u8]) -> bool {
    memmem::find(line, word).is_some()
}

#[cfg(test)]
mod tests;
