//! The read loop: bytes in, lines routed once, each to where it belongs.
//!
//! Owns the source. Invariant: with an agent at the other end it waits for nothing but the source: callbacks wait in tasks
//! of their own, and handing lines to listeners cannot block. Only a recording, which nobody waits behind, is read at the
//! pace of its listeners.

use std::io;
use std::sync::Arc;
use std::time::Duration;
#[cfg(unix)]
use std::{
    future::poll_fn,
    mem::MaybeUninit,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use countersign_wire::recording::Direction;
#[cfg(unix)]
use tokio::io::ReadBuf;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::Instant;

use super::audience::Event;
use super::batch::{Batch, Kind, View};
use super::cutter::{Cut, Cutter, Piece};
use super::glance::{
    InitGlance, LifecycleGlance, ReportGlance, ResultGlance, StateGlance, StatusGlance, TaskGlance,
    TasksGlance, UserGlance,
};
use super::known::NotTaken;
use super::notice::Notice;
use super::pending::Arrival;
use super::turns::Verdict;
use super::{Shared, locked};
use crate::kept::PastLine;
use crate::turn::{TurnEnd, TurnResult};

/// Where lines come from.
pub(crate) enum Source {
    /// The stdout of a child: can be waited for without a buffer.
    #[cfg(unix)]
    Pipe(tokio::net::UnixStream),
    /// Any other reader.
    Other(Box<dyn AsyncRead + Send + Unpin>),
}

impl Source {
    /// Reads some bytes into the cutter's buffer. Cancel-safe.
    async fn fill(&mut self, cutter: &mut Cutter) -> io::Result<usize> {
        match self {
            #[cfg(unix)]
            Self::Pipe(pipe) if cutter.is_empty() => {
                cutter.rest();
                poll_fn(|context| poll_first(pipe, cutter, context)).await
            }
            #[cfg(unix)]
            Self::Pipe(pipe) => pipe.read_buf(cutter.buffer()).await,
            Self::Other(reader) if cutter.is_empty() => {
                cutter.rest();
                poll_fn(|context| poll_first(reader, cutter, context)).await
            }
            Self::Other(reader) => reader.read_buf(cutter.buffer()).await,
        }
    }
}

/// Reads the first bytes after a pause by way of the stack: an idle session holds no buffer.
fn poll_first(
    source: &mut (impl AsyncRead + Unpin),
    cutter: &mut Cutter,
    context: &mut Context<'_>,
) -> Poll<io::Result<usize>> {
    let mut room = [const { MaybeUninit::uninit() }; FIRST_READ];
    let mut room = ReadBuf::uninit(&mut room);
    ready!(Pin::new(source).poll_read(context, &mut room))?;
    let bytes = room.filled();
    cutter.begin(bytes);
    Poll::Ready(Ok(bytes.len()))
}

/// What is done after the lines before it were handed over.
enum Effect {
    End(tokio::sync::oneshot::Sender<TurnEnd>, TurnEnd),
    Answer(tokio::sync::oneshot::Sender<Bytes>, Bytes),
    Notice(Notice),
    TooLong(u64),
}

/// What becomes of a line.
#[derive(PartialEq, Eq)]
enum Fate {
    /// Listeners get it.
    Event,
    /// It was for us alone.
    Taken,
}

/// Most lines are shorter.
const FIRST_READ: usize = 4 << 10;

/// After so many bytes in a row, whoever listens gets a turn.
const PAUSE_AFTER: usize = 32 << 10;

/// How often is looked whether the listeners have caught up with a recording.
const LISTENER_PAUSE: Duration = Duration::from_millis(1);

/// Reads to the end of the source. Returns what broke it, if it did not just end.
pub(crate) async fn read(shared: &Arc<Shared>, mut source: Source) -> Option<io::Error> {
    let mut driver = Driver::new(shared);
    let mut cutter = Cutter::new(shared.config.max_line);
    let mut since_pause = 0;
    let broken = loop {
        match source.fill(&mut cutter).await {
            Ok(0) => break None,
            Ok(count) => {
                since_pause += count;
                if let Some(piece) = cutter.take(count) {
                    driver.take(piece);
                    while shared.config.waits_for_listeners && shared.audience.is_behind() {
                        tokio::time::sleep(LISTENER_PAUSE).await;
                    }
                    if since_pause >= PAUSE_AFTER {
                        since_pause = 0;
                        // Through the scheduler's idle step: a task that only wakes itself is run again before the
                        // future that the runtime blocks on, and lines would pile up out of the cache.
                        tokio::task::yield_now().await;
                    }
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Some(error),
        }
    };
    if let Some(piece) = cutter.finish() {
        driver.take(piece);
    }
    broken
}

/// Learns from what crossed before we came: facts only. Nothing is handed on, asked or answered again.
pub(crate) fn remember(
    shared: &Arc<Shared>,
    past: impl Iterator<Item = io::Result<PastLine>>,
) -> io::Result<()> {
    let mut driver = Driver::new(shared);
    for line in past {
        match line? {
            PastLine::FromAgent(line) => driver.remember(line),
            PastLine::ToAgent(line) => {
                let length = line.len();
                let batch = Batch::new(line.into(), 0);
                if batch.at(&batch.route(0, length)).kind() == Kind::User {
                    shared.known().sent();
                }
            }
        }
    }
    Ok(())
}

/// Puts a question that was asked before we came.
pub(crate) fn ask_again(shared: &Arc<Shared>, line: Vec<u8>) {
    let length = line.len();
    let batch = Batch::new(line.into(), 0);
    let place = batch.route(0, length);
    if let Some(notice) = super::dispatch::question(shared, batch.at(&place), 0) {
        shared.notice(notice);
    }
}

struct Driver<'a> {
    shared: &'a Arc<Shared>,
    /// Number of the next event.
    position: u64,
    /// The model has said something since the turn began.
    has_spoken: bool,
    effects: Vec<Effect>,
}

impl<'a> Driver<'a> {
    fn new(shared: &'a Arc<Shared>) -> Self {
        Self {
            shared,
            position: 0,
            has_spoken: false,
            effects: Vec::new(),
        }
    }

    fn remember(&mut self, line: Vec<u8>) {
        let length = line.len();
        let batch = Batch::new(line.into(), 0);
        let place = batch.route(0, length);
        let view = batch.at(&place);
        match view.kind() {
            Kind::System => self.system(view),
            Kind::User => self.user(view),
            Kind::CommandLifecycle => self.lifecycle(view),
            Kind::Result => self.result(view),
            _ => {}
        }
        self.effects.clear();
    }

    fn take(&mut self, piece: Piece) {
        let (bytes, mut lines) = piece.open();
        let mut batch = Batch::new(bytes, self.position);
        while let Some(cut) = lines.next_line(batch.bytes()) {
            match cut {
                Cut::Line(start, end) => {
                    if let Some(tap) = &self.shared.tap {
                        tap(Direction::Out, &batch.bytes()[start..end]);
                    }
                    let place = batch.route(start, end);
                    if place.kind() == Kind::ControlRequest && batch.len() > 0 {
                        // Who takes a question finds what was said before it, on whichever thread.
                        let rest = batch.rest();
                        self.hand_over(batch);
                        batch = rest;
                    }
                    let position = self.position + batch.len() as u64;
                    if place.kind() == Kind::StreamEvent
                        || self.consider(batch.at(&place), position) == Fate::Event
                    {
                        batch.push(place);
                    }
                }
                Cut::TooLong(bytes) => self.effects.push(Effect::TooLong(bytes)),
            }
            if !self.effects.is_empty() {
                let rest = batch.rest();
                self.hand_over(batch);
                batch = rest;
            }
        }
        self.hand_over(batch);
    }

    /// Gives the lines so far to the listeners, then does what must come after them.
    fn hand_over(&mut self, batch: Batch) {
        self.position += batch.len() as u64;
        self.shared.audience.hand_over(batch);
        // Rare, so that no room is kept for them.
        for effect in std::mem::take(&mut self.effects) {
            match effect {
                Effect::End(waiter, end) => drop(waiter.send(end)),
                Effect::Answer(waiter, line) => drop(waiter.send(line)),
                Effect::Notice(notice) => self.shared.notice(notice),
                Effect::TooLong(bytes) => self.shared.audience.tell(&Event::TooLong { bytes }),
            }
        }
    }

    fn consider(&mut self, view: View<'_>, position: u64) -> Fate {
        match view.kind() {
            Kind::ControlRequest => {
                if let Some(notice) = super::dispatch::question(self.shared, view, position) {
                    self.effects.push(Effect::Notice(notice));
                }
                Fate::Taken
            }
            Kind::ControlResponse => {
                self.answer(view);
                Fate::Taken
            }
            Kind::ControlCancelRequest => {
                if let Some(id) = view.request_id()
                    && self.shared.questions.withdraw(&id)
                {
                    self.shared.lane.forget_withdrawn();
                    self.shared.touch();
                }
                Fate::Taken
            }
            Kind::System => {
                self.system(view);
                Fate::Event
            }
            Kind::User => {
                self.user(view);
                Fate::Event
            }
            Kind::Assistant => {
                self.has_spoken = true;
                Fate::Event
            }
            Kind::CommandLifecycle => {
                self.lifecycle(view);
                Fate::Event
            }
            Kind::Result => {
                self.result(view);
                Fate::Event
            }
            _ => Fate::Event,
        }
    }

    fn answer(&mut self, view: View<'_>) {
        let Some(id) = view.request_id() else {
            return;
        };
        let (arrival, waiter) = locked(&self.shared.pending).arrived(&id);
        let request_id = || id.clone().into_owned();
        match (arrival, waiter) {
            (Arrival::Wanted, Some(waiter)) => {
                let line = Bytes::copy_from_slice(view.line());
                self.effects.push(Effect::Answer(waiter, line));
            }
            (Arrival::Repeated, _) => self.effects.push(Effect::Notice(Notice::RepeatedReply {
                request_id: request_id(),
            })),
            (Arrival::Late, _) => self.effects.push(Effect::Notice(Notice::LateReply {
                request_id: request_id(),
            })),
            (Arrival::Wanted | Arrival::Foreign, _) => {}
        }
    }

    fn system(&mut self, view: View<'_>) {
        let Some(subtype) = view.subtype() else {
            return;
        };
        let session_id = || view.session_id().map(std::borrow::Cow::into_owned);
        let mut not_taken = None;
        match &*subtype {
            "init" => {
                self.has_spoken = false;
                let init = view.glance::<InitGlance>().unwrap_or_default();
                not_taken = self.shared.known().init(init, session_id());
            }
            "status" => {
                let status = view.glance::<StatusGlance>().unwrap_or_default();
                if let Some(mode) = status.permission_mode {
                    not_taken = self.shared.known().mode_seen(mode);
                }
            }
            "session_state_changed" => {
                if let Some(state) = view.glance::<StateGlance>().and_then(|glance| glance.state) {
                    self.shared.known().state(state);
                }
            }
            "task_started" | "task_updated" | "task_notification" => {
                if let Some(task) = view.glance::<TaskGlance>() {
                    self.shared.known().task(&subtype, task, Instant::now());
                }
            }
            "background_tasks_changed" => {
                if let Some(tasks) = view.glance::<TasksGlance>().and_then(|glance| glance.tasks) {
                    self.shared.known().task_list(tasks, Instant::now());
                }
            }
            _ => return,
        }
        if let Some(NotTaken { wanted, got }) = not_taken {
            tracing::warn!(
                wanted,
                got,
                "a change of mode was accepted and is not in force"
            );
            let notice = Notice::ModeNotTaken { wanted, got };
            self.effects.push(Effect::Notice(notice));
        }
        self.shared.touch();
    }

    fn user(&mut self, view: View<'_>) {
        self.reported(view);
        let Some(uuid) = view.uuid() else {
            return;
        };
        if !self.shared.turns().is_open(&uuid) {
            return;
        }
        let glance = view.glance::<UserGlance>().unwrap_or_default();
        if glance.is_replay == Some(true) {
            let ended = self.shared.turns().replayed(&uuid);
            self.ended(ended);
        }
    }

    /// A sub-agent that reports has ended, unless it says that it has only begun.
    fn reported(&mut self, view: View<'_>) {
        if !self.shared.known().has_background_work() {
            return;
        }
        let glance = view.glance::<ReportGlance>().unwrap_or_default();
        let status = glance.tool_use_result.and_then(|result| result.status);
        if status.as_deref() == Some("async_launched") {
            return;
        }
        let blocks = glance.message.and_then(|message| message.content);
        for call in blocks
            .into_iter()
            .flatten()
            .filter_map(|block| block.tool_use_id)
        {
            self.shared.known().reported(&call, Instant::now());
        }
        self.shared.touch();
    }

    fn lifecycle(&mut self, view: View<'_>) {
        let Some(glance) = view.glance::<LifecycleGlance>() else {
            return;
        };
        if let (Some(uuid), Some(state)) = (glance.command_uuid, glance.state) {
            let is_in_turn = self.shared.known().is_in_turn();
            let mut turns = self.shared.turns();
            let ended = turns.lifecycle(&uuid, &state, is_in_turn);
            drop(turns);
            self.ended(ended);
        }
    }

    /// A message ended without a result of its own.
    fn ended(&mut self, ended: Option<(tokio::sync::oneshot::Sender<TurnEnd>, Verdict)>) {
        let Some((waiter, verdict)) = ended else {
            return;
        };
        let end = match verdict {
            Verdict::Duplicate => TurnEnd::Duplicate,
            Verdict::Cancelled => TurnEnd::Cancelled,
            Verdict::NoTurn | Verdict::Answered { .. } => TurnEnd::NoTurn,
        };
        self.effects.push(Effect::End(waiter, end));
        if self.shared.turns().open() == 0 {
            self.shared.known().nothing_sent();
            self.shared.touch();
        }
    }

    fn result(&mut self, view: View<'_>) {
        let glance = Arc::new(view.glance::<ResultGlance>().unwrap_or_default());
        let session_id = glance.session_id.clone();
        let errors = glance.errors.clone().unwrap_or_default();
        self.shared.known().result(session_id, errors);
        let answered = glance.answered();
        let ended = self.shared.turns().result(&answered, self.has_spoken);
        let line = match ended.is_empty() {
            true => Bytes::new(),
            false => Bytes::copy_from_slice(view.line()),
        };
        for (waiter, verdict) in ended {
            let was_interrupted = verdict
                == Verdict::Answered {
                    was_interrupted: true,
                };
            let result = TurnResult::new(Arc::clone(&glance), line.clone(), was_interrupted);
            let end = TurnEnd::Result(Box::new(result));
            self.effects.push(Effect::End(waiter, end));
        }
        self.shared.touch();
    }
}
