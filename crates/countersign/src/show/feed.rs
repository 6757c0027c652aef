//! Folds the messages of one session into what a person reads.
//!
//! Owns the order of things: what is shown once, what belongs to which call, which agent speaks, where a blank line
//! stands. The words are made elsewhere. Invariants: lines that were given out are final; a text that came in pieces
//! and again as a whole is shown once; every bound of memory is a constant.

mod calls;
mod place;
mod said;
mod stream;
mod system;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use countersign_wire::CliMessage;
use countersign_wire::cli::ResultMessage;

use calls::Calls;
use place::{Kind, Place};
use stream::{Sort, Stream};
use system::Known;

use super::cost::{self, Meter};
use super::result::Fold;
use super::status::{Progress, Status};
use super::{gutter, markdown, notice, text};
use crate::term::style::{Line, Tone};

/// How a session is shown.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) width: usize,
    /// Rows of a result that are shown.
    pub(crate) fold: usize,
    /// Everything is shown: thinking, whole results, housekeeping.
    pub(crate) verbose: bool,
    /// Paths inside are shown relative to it.
    pub(crate) cwd: PathBuf,
}

impl View {
    fn fold(&self, depth: usize) -> Fold {
        let rows = if self.verbose { 2_000 } else { self.fold };
        Fold {
            rows,
            room: gutter::room(self.width, depth),
            is_whole: self.verbose,
        }
    }
}

/// The sub-agent a message comes from, by the call that started it; nothing for the main conversation.
type Speaker = Option<String>;

/// What is known of a session while it is shown.
#[derive(Debug)]
pub(crate) struct Feed {
    view: View,
    known: Known,
    streams: HashMap<Speaker, Stream>,
    calls: Calls,
    place: Place,
    meter: Meter,
    turn: Turn,
    background: usize,
    /// The mode that the host is in, where there is one that has modes of its own.
    host_mode: Option<String>,
}

/// What is known of the turn that runs.
#[derive(Debug, Default)]
struct Turn {
    /// When it began; nothing between turns.
    since: Option<Duration>,
    /// The API is asked again.
    retry: Option<Status>,
    compacting: Option<Duration>,
    /// Tokens of the answers that are complete, and a guess for the one that is not.
    tokens: u64,
    guess: u64,
    /// The model that writes.
    model: String,
    /// The agent said something in it.
    has_text: bool,
    was_interrupted: bool,
    /// The failure that the CLI told as a text.
    failure: Option<String>,
}

impl Feed {
    pub(crate) fn new(view: View) -> Self {
        Self {
            view,
            known: Known::default(),
            streams: HashMap::new(),
            calls: Calls::default(),
            place: Place::default(),
            meter: Meter::default(),
            turn: Turn::default(),
            background: 0,
            host_mode: None,
        }
    }

    /// Sets the mode that the host is in. The CLI knows only whether it plans: where it does not, this mode is shown in place of
    /// the CLI's.
    pub(crate) fn set_host_mode(&mut self, name: &str) {
        if self.host_mode.as_deref() != Some(name) {
            self.host_mode = Some(name.to_owned());
        }
    }

    /// The terminal has another width from now on.
    pub(crate) fn resized(&mut self, width: usize) {
        self.view.width = width;
        for (speaker, stream) in &mut self.streams {
            stream.resized(gutter::room(width, self.calls.depth(speaker)));
        }
    }

    /// The call was shown in full, when it was decided about: its result does not repeat what it changes.
    pub(crate) fn shown(&mut self, tool_use_id: &str) {
        self.calls.note_shown(tool_use_id);
    }

    /// The call was denied: its result says so, also on CLIs that do not tell denials from failures.
    pub(crate) fn denied(&mut self, tool_use_id: &str) {
        self.calls.note_denied(tool_use_id);
    }

    /// Takes a message and gives back what is final with it, in order.
    pub(crate) fn take(&mut self, message: &CliMessage, now: Duration) -> Vec<Line> {
        match message {
            CliMessage::Assistant(message) => self.assistant(message, now),
            CliMessage::User(message) => self.user(message),
            CliMessage::StreamEvent(message) => self.stream_event(message, now),
            CliMessage::System(message) => self.system(message, now),
            CliMessage::Result(message) => self.result(message),
            CliMessage::RateLimitEvent(event) => {
                let line = notice::limit(&event.rate_limit_info);
                self.notices(line.into_iter().collect())
            }
            CliMessage::ConversationReset(_) => {
                self.notices(vec![notice::note("the conversation begins anew")])
            }
            CliMessage::AuthStatus(status) => {
                let error = status.error.as_deref().map(|error| {
                    notice::bad(format!("sign-in failed: {}", text::one_row(error, 300)))
                });
                self.notices(error.into_iter().collect())
            }
            CliMessage::ToolUseSummary(summary) if self.view.verbose => {
                self.notices(vec![notice::note(text::one_row(&summary.summary, 300))])
            }
            CliMessage::Unknown(kept) | CliMessage::Internal(kept) if self.view.verbose => {
                let name = text::one_row(&kept.name, 60);
                self.notices(vec![notice::note(format!("unknown message {name}"))])
            }
            _ => Vec::new(),
        }
    }

    /// A line that is no message this build can read: what it says is not lost.
    pub(crate) fn broken(&mut self, line: &[u8]) -> Vec<Line> {
        let (shown, _) = text::clip(std::str::from_utf8(line).unwrap_or_default(), 1 << 20);
        let words = said::salvaged(shown);
        if words.is_empty() && !self.view.verbose {
            return Vec::new();
        }
        let mut lines = vec![notice::warn("a line of the agent could not be read:")];
        let words = if words.is_empty() {
            text::one_row(shown, 300)
        } else {
            words
        };
        lines.extend(
            words
                .lines()
                .take(40)
                .map(|row| gutter::said(Line::plain(text::clip(row, 2_000).0))),
        );
        self.notices(lines)
    }

    /// What is being written: shown until it is final.
    pub(crate) fn tail(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        for speaker in self.speakers() {
            let depth = self.calls.depth(&speaker);
            let tail = self
                .streams
                .get(&speaker)
                .map(|stream| stream.tail(gutter::room(self.view.width, depth)));
            lines.extend(gutter::nested(
                tail.unwrap_or_default(),
                depth,
                self.view.width,
            ));
        }
        if lines.first().is_some_and(|line| !line.spans.is_empty())
            && self.place.wants_gap_before_text()
        {
            lines.insert(0, Line::new());
        }
        lines
    }

    /// How full the context is, as far as it is known.
    pub(crate) fn context(&self) -> Option<String> {
        self.meter.context()
    }

    /// What goes on.
    pub(crate) fn status(&self) -> Status {
        if let Some(retry) = &self.turn.retry {
            return retry.clone();
        }
        let progress = |since: Duration| Progress {
            since,
            tokens: self.turn.tokens + self.turn.guess,
            background: self.background,
        };
        if let Some(since) = self.turn.compacting {
            return Status::Compacting(progress(since));
        }
        match self.streams.get(&None).and_then(Stream::doing) {
            Some((Sort::Thinking, since)) => return Status::Thinking(progress(since)),
            Some((_, since)) => return Status::Writing(progress(since)),
            None => {}
        }
        if let Some((headline, since, others)) = self.calls.running() {
            return Status::Running {
                headline,
                others,
                progress: progress(since),
            };
        }
        match self.turn.since {
            Some(since) => Status::Waiting(progress(since)),
            None => Status::Idle,
        }
    }

    /// Gives out what is being written as far as it goes, because something else follows: a prompt, or the end. What comes
    /// of it later is shown below that.
    pub(crate) fn finish(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        for speaker in self.speakers() {
            let piece = self
                .streams
                .get_mut(&speaker)
                .map(Stream::pause)
                .unwrap_or_default();
            lines.extend(self.closed(&speaker, piece));
        }
        self.place.forget();
        lines
    }

    fn speakers(&self) -> Vec<Speaker> {
        let mut speakers: Vec<Speaker> = self.streams.keys().cloned().collect();
        speakers.sort();
        speakers
    }

    /// Ends every text that is being written.
    fn flush(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        for speaker in self.speakers() {
            let piece = self
                .streams
                .remove(&speaker)
                .map(|mut stream| stream.close(None))
                .unwrap_or_default();
            lines.extend(self.closed(&speaker, piece));
        }
        lines
    }

    fn result(&mut self, result: &ResultMessage) -> Vec<Line> {
        let mut lines = self.flush();
        let said = result.result.as_deref().unwrap_or_default();
        let is_new = !self.turn.has_text && !result.is_error && result.structured_output.is_none();
        if is_new && !said.trim().is_empty() {
            lines.extend(self.whole_text(said));
        }
        if let Some(output) = &result.structured_output {
            lines.extend(self.structured(output.as_str()));
        }
        let failure = cost::failure(
            result,
            self.turn.failure.as_deref(),
            self.turn.was_interrupted,
        );
        lines.extend(self.notices(failure));
        let end = self.meter.turn(result);
        lines.extend(self.put(Kind::End, &None, vec![end]));
        self.calls.forget_open();
        self.turn = Turn::default();
        lines
    }

    /// An answer that came with the result only, such as that of a slash command.
    fn whole_text(&mut self, said: &str) -> Vec<Line> {
        let (shown, left) = text::clip(said, stream::TEXT_CAP);
        let mut lines = markdown::markdown(shown, gutter::room(self.view.width, 0));
        if left > 0 {
            lines.push(Line::of(format!("… {} more", text::size(left)), Tone::Dim));
        }
        self.put(
            Kind::Text,
            &None,
            lines.into_iter().map(gutter::said).collect(),
        )
    }

    fn structured(&mut self, json: &str) -> Vec<Line> {
        let (shown, left) = text::clip(json, stream::TEXT_CAP);
        let pretty = serde_json::from_str::<serde_json::Value>(shown).ok();
        let pretty = pretty
            .and_then(|value| serde_json::to_string_pretty(&value).ok())
            .unwrap_or_else(|| shown.to_owned());
        let mut lines = vec![notice::note("structured answer")];
        lines.extend(
            pretty
                .lines()
                .map(|row| gutter::said(Line::of(row, Tone::Code))),
        );
        if left > 0 {
            lines.push(gutter::said(Line::of(
                format!("… {} more", text::size(left)),
                Tone::Dim,
            )));
        }
        self.notices(lines)
    }

    fn notices(&mut self, lines: Vec<Line>) -> Vec<Line> {
        match lines.is_empty() {
            true => lines,
            false => self.put(Kind::Notice, &None, lines),
        }
    }

    /// Puts lines behind the bars of who they belong to, a blank line apart where one is due.
    fn put(&mut self, kind: Kind, speaker: &Speaker, lines: Vec<Line>) -> Vec<Line> {
        if lines.is_empty() {
            return lines;
        }
        let depth = self.calls.depth(speaker);
        let mut out = Vec::new();
        let is_blank_first = lines.first().is_some_and(|line| line.spans.is_empty());
        if self.place.gap(&kind, depth) && !is_blank_first {
            out.push(Line::new());
        }
        if let Some(id) = speaker.as_deref().filter(|id| !self.place.is_with(id)) {
            let label = Line::of(self.calls.label(id), Tone::Dim).after("┌ ", Tone::Dim);
            out.extend(gutter::nested(
                vec![label.cut(self.view.width)],
                depth - 1,
                self.view.width,
            ));
        }
        out.extend(gutter::nested(lines, depth, self.view.width));
        self.place.moved(kind, speaker, depth);
        out
    }
}
