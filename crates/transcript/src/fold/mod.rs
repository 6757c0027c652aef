//! Records in, changes out.
//!
//! Owns [`Fold`]: what is known of a session while it is folded, and which handler takes which record. The handlers stand
//! beside this file, by subject. Invariants: no record ends the fold or is lost without a trace of it; everything kept is
//! bounded and stored by a checkpoint.

mod agents;
mod answer;
mod ask;
mod assistant;
mod checkpoint;
mod host;
mod keeper;
mod live;
mod prompts;
mod stream;
mod system;
mod tasks;
mod tools;
mod turn;
mod user;

use std::collections::{BTreeMap, VecDeque};

use countersign_journal::{Cursor, Kind, Record};
use countersign_wire::route::Route;
use serde::{Deserialize, Serialize};

pub use checkpoint::{BadCheckpoint, Checkpoint};

use agents::Agent;
use ask::Question;
use host::{Noted, Request};
use live::{Live, Place};
use stream::Stream;
use tasks::TaskAt;
use tools::Call;
use turn::Turn;

use crate::body::{Level, Notice, NoticeKind, Stderr, Unread};
use crate::changes::Changes;
use crate::clip::{Clip, word};
use crate::entry::{Body, Entry};
use crate::id::{EntryId, cursor};
use crate::meter::Meter;
use crate::totals::Totals;

/// A session being folded.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Fold {
    #[serde(with = "cursor")]
    cursor: Cursor,
    live: Live,
    /// Calls whose entry is open, by id.
    calls: BTreeMap<String, Call>,
    /// Questions whose entry is open, by request.
    questions: BTreeMap<String, Question>,
    /// Hooks that run, by their id or request.
    hooks: BTreeMap<String, EntryId>,
    /// Tasks that run, by id.
    tasks: BTreeMap<String, TaskAt>,
    /// Sub-agents, by the call that started them.
    agents: BTreeMap<String, Agent>,
    /// Messages being written, by speaker.
    streams: BTreeMap<String, Stream>,
    /// Messages to the agent that it has not answered, in order.
    prompts: Vec<EntryId>,
    requests: VecDeque<Request>,
    /// The note on the next record.
    note: Option<Noted>,
    turn: Turn,
    known: Known,
    meter: Meter,
    totals: Totals,
    #[serde(skip)]
    is_counted: bool,
}

/// What is known of the agent, and single entries that are open.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Known {
    /// The mode in force.
    mode: Option<String>,
    /// The mode of the host, where one notes it.
    #[serde(default)]
    host_mode: Option<String>,
    model: Option<String>,
    /// A model was asked for by a name that is not resolved yet.
    model_wish: Option<Request>,
    limit: Option<String>,
    started: Option<EntryId>,
    compaction: Option<EntryId>,
    stderr: Option<EntryId>,
    paused: Option<EntryId>,
    away: Option<EntryId>,
    /// Retries by speaker.
    retries: BTreeMap<String, EntryId>,
    /// Why the agent is being ended.
    ending: Option<String>,
}

impl Known {
    fn forget(&mut self, id: EntryId) {
        let single = [
            &mut self.started,
            &mut self.compaction,
            &mut self.stderr,
            &mut self.paused,
            &mut self.away,
        ];
        for slot in single {
            slot.take_if(|slot| *slot == id);
        }
    }
}

impl Fold {
    /// Before the first record.
    pub fn new() -> Self {
        Self::default()
    }

    /// The last record that was folded.
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// The sums so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// How many entries may still change.
    pub fn open(&self) -> usize {
        self.live.len()
    }

    /// The entries that may still change, oldest first.
    pub fn open_entries(&self) -> Vec<&Entry> {
        let ids = self.live.ids();
        ids.into_iter().filter_map(|id| self.live.get(id)).collect()
    }

    /// Folds one record: what changes with it. Records come in the order of the journal.
    pub fn step(&mut self, generation: u32, record: &Record<'_>) -> Changes {
        let here = Cursor::new(generation, record.seq);
        self.live.begin(here, record.at);
        self.is_counted = false;
        if generation != self.cursor.generation {
            self.generation();
        }
        self.cursor = here;
        let note = self.note.take();
        if !matches!(record.kind, Kind::Stderr | Kind::StderrPiece) {
            self.end_stderr();
        }
        match record.kind {
            Kind::Agent => self.agent(record.payload),
            Kind::Host => self.host(record.payload, note),
            Kind::Note => self.noted(record.payload),
            Kind::Keeper => self.keeper(record.payload),
            Kind::Stderr | Kind::StderrPiece => self.stderr(record.payload),
            Kind::AgentPiece => self.unread('A', record.payload, None, Some("cut off")),
        }
        self.finish()
    }

    fn finish(&mut self) -> Changes {
        while let Some(id) = self.live.let_go() {
            self.let_go(id);
            self.forget(id);
        }
        Changes {
            cursor: self.cursor,
            entries: self.live.finish(),
            totals: self.is_counted,
        }
    }

    /// The sums, which the record changes.
    fn sums(&mut self) -> &mut Totals {
        self.is_counted = true;
        &mut self.totals
    }

    /// A line of the agent.
    fn agent(&mut self, line: &[u8]) {
        let Ok(route) = Route::of(line) else {
            return self.unread('a', line, None, Some("not a message"));
        };
        match route.kind.raw() {
            b"stream_event" => self.stream_event(line, &route),
            b"assistant" => self.assistant(line, &route),
            b"user" => self.user(line, &route),
            b"system" => self.system(line, &route),
            b"result" => self.result(line, &route),
            b"control_request" => self.asked(line, &route),
            b"control_response" => self.replied(line, &route),
            b"control_cancel_request" => self.cancelled(&route),
            b"command_lifecycle" => self.lifecycle(line, &route),
            b"rate_limit_event" => self.limit(line, &route),
            b"conversation_reset" => self.reset(line, &route),
            b"tool_progress" => self.tool_progress(line, &route),
            b"tool_use_summary" | b"auth_status" => self.top_notice(line, &route),
            b"keep_alive" | b"prompt_suggestion" | b"active_goal" | b"transcript_mirror"
            | b"autocompact_state" => {}
            _ => self.unknown('a', line, &route),
        }
    }

    fn stderr(&mut self, line: &[u8]) {
        self.sums().stderr += 1;
        let text = String::from_utf8_lossy(line);
        match self.known.stderr {
            Some(id) => self.live.grow(id, &format!("\n{text}")),
            None => {
                let body = Stderr {
                    text: Clip::of(&text, self.live.here()),
                };
                let id = self.live.open(Place::default(), Body::Stderr(body));
                self.known.stderr = Some(id);
            }
        }
    }

    fn end_stderr(&mut self) {
        if let Some(id) = self.known.stderr.take() {
            self.close(id);
        }
    }

    /// A message that this build does not know: shown, not guessed at.
    fn unknown(&mut self, from: char, line: &[u8], route: &Route<'_>) {
        self.sums().unknown += 1;
        let body = Unread {
            from,
            name: Some(word(&route.name())),
            why: None,
            line: Clip::of(&String::from_utf8_lossy(line), self.live.here()),
        };
        let place = self.place(route);
        self.live.put(place, Body::Unread(Box::new(body)));
    }

    /// A line that cannot be read.
    fn unread(&mut self, from: char, line: &[u8], route: Option<&Route<'_>>, why: Option<&str>) {
        self.sums().malformed += 1;
        let body = Unread {
            from,
            name: route.map(|route| word(&route.name())),
            why: why.map(str::to_owned),
            line: Clip::of(&String::from_utf8_lossy(line), self.live.here()),
        };
        self.live
            .put(Place::default(), Body::Unread(Box::new(body)));
    }

    /// A message of a known type that does not fit it.
    fn broken(&mut self, line: &[u8], route: &Route<'_>) {
        self.unread('a', line, Some(route), Some("does not fit its type"));
    }

    fn notice(&mut self, place: Place, level: Level, about: NoticeKind, source: &str, text: &str) {
        let body = Notice {
            level,
            about,
            source: word(source),
            text: Clip::of(text, self.live.here()),
            tool_use_id: None,
        };
        self.live.put(place, Body::Notice(Box::new(body)));
    }

    /// Nothing more will happen to an entry, and nothing leads to it any more.
    fn close(&mut self, id: EntryId) {
        self.live.close(id);
        self.forget(id);
    }

    fn forget(&mut self, id: EntryId) {
        self.known.forget(id);
        match self.live.get(id).map(|entry| &entry.body) {
            Some(Body::Tool(tool)) => {
                let is_it = |call: &Call| call.entry == id;
                if self.calls.get(&tool.tool_use_id).is_some_and(is_it) {
                    self.calls.remove(&tool.tool_use_id);
                }
                self.questions.retain(|_, question| question.entry != id);
                self.tasks.retain(|_, task| task.entry() != Some(id));
            }
            Some(Body::Ask(_)) => self.questions.retain(|_, question| question.entry != id),
            Some(Body::Task(_)) => self.tasks.retain(|_, task| task.entry() != Some(id)),
            Some(Body::Hook(_)) => self.hooks.retain(|_, hook| *hook != id),
            Some(Body::Prompt(_)) => self.prompts.retain(|prompt| *prompt != id),
            Some(Body::Retry(_)) => self.known.retries.retain(|_, retry| *retry != id),
            Some(Body::Text(_) | Body::Thinking(_)) => {
                for stream in self.streams.values_mut() {
                    stream.forget(id);
                }
            }
            _ => {}
        }
    }
}
