//! A session played to a person: what `countersign run` showed, in the recorded time.
//!
//! Owns the loop over the records and what is said of those that a feed does not know: prompts, decisions, the agent's
//! start and end. The looks are those of `show`. Ctrl-C ends it with the terminal as it was.

use std::collections::HashMap;
use std::io::{self, IsTerminal as _, Stdout, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use countersign_journal::{KEEP_PLANNING, KeeperEvent, Kind, Note, Record};
use countersign_wire::calls::OpenCalls;
use countersign_wire::decode::decode;
use countersign_wire::route::Route;
use countersign_wire::{CliMessage, HostMessage};
use serde_json::Value;

use super::pace::Pace;
use super::{Beginning, place};
use crate::Outcome;
use crate::journal::range::{Place, Range};
use crate::journal::source::{Item, Source};
use crate::show::{Feed, Status, View, call, gutter, notice, text};
use crate::term::screen::{Screen, Size};
use crate::term::spinner;
use crate::term::style::{Line, Tone, colour_wanted};

/// Rows of a result that are shown, as in `run`.
const FOLD: usize = 6;

/// Rows of a text that is being written.
const TAIL: usize = 12;

/// Where nobody says how wide it is.
const USUAL_WIDTH: usize = 100;

/// Plays it to its end.
pub(super) fn play(
    mut source: Source,
    range: &Range,
    pace: Pace,
    verbose: bool,
) -> anyhow::Result<Outcome> {
    // Standard input cannot be read twice: its paths are shown as they are.
    let beginning = match source.again() {
        Ok(again) => Beginning::read(again, range)?,
        Err(_) => Beginning::default(),
    };
    let stopped = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&stopped))?;
    let paper = Paper::open();
    let view = View {
        width: paper.width(),
        fold: FOLD,
        verbose,
        cwd: beginning.cwd.unwrap_or_default(),
    };
    let mut show = Show {
        feed: Feed::new(view),
        paper,
        pace,
        started: Instant::now(),
        first: None,
        now: Duration::ZERO,
        stopped,
        verbose,
        note: None,
        questions: HashMap::new(),
        calls: OpenCalls::default(),
    };
    while let Some(item) = source.next()? {
        match item {
            Item::Damaged(why) => show.print(&[notice::warn(format!("no record: {why}"))])?,
            Item::Record(generation, record) => match place(range, generation, &record) {
                Place::Before => {}
                Place::After => break,
                Place::Inside => show.record(generation, &record)?,
            },
        }
        if show.is_stopped() {
            break;
        }
    }
    show.finish()
}

/// Where it is shown.
enum Paper {
    Screen(Screen<Stdout>),
    Pipe(Stdout),
}

impl Paper {
    fn open() -> Self {
        let is_terminal = io::stdout().is_terminal();
        let variable = |name: &str| std::env::var(name).ok();
        let with_colour = colour_wanted(
            is_terminal,
            variable("NO_COLOR").as_deref(),
            variable("TERM").as_deref(),
        );
        match is_terminal {
            true => Paper::Screen(Screen::of_terminal(with_colour)),
            false => Paper::Pipe(io::stdout()),
        }
    }

    fn width(&self) -> usize {
        match self {
            Paper::Screen(screen) => screen.size().columns.into(),
            Paper::Pipe(_) => USUAL_WIDTH,
        }
    }
}

struct Show {
    feed: Feed,
    paper: Paper,
    pace: Pace,
    started: Instant,
    /// The time of the first record that is shown.
    first: Option<u64>,
    /// How long after it the last one was.
    now: Duration,
    stopped: Arc<AtomicBool>,
    verbose: bool,
    /// The host's note on the line that follows.
    note: Option<Note>,
    /// Calls that are asked about, by the question.
    questions: HashMap<String, Question>,
    /// Calls that were not asked about yet.
    calls: OpenCalls,
}

struct Question {
    tool: String,
    /// Not known where the CLI does not name the call it asks about.
    tool_use_id: Option<String>,
    input: Value,
}

impl Show {
    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn record(&mut self, generation: u32, record: &Record<'_>) -> io::Result<()> {
        let first = *self.first.get_or_insert(record.at);
        let due = self.pace.due(record.at);
        self.rest(due)?;
        if self.is_stopped() {
            return Ok(());
        }
        self.now = Duration::from_micros(record.at.saturating_sub(first));
        match record.kind {
            Kind::Agent => self.agent(record.payload),
            Kind::Host => self.host(record.payload),
            Kind::Note => {
                self.note = serde_json::from_slice(record.payload).ok();
                Ok(())
            }
            Kind::Keeper => self.keeper(generation, record.payload),
            Kind::Stderr | Kind::StderrPiece if self.verbose => {
                let line = String::from_utf8_lossy(record.payload);
                let line = text::one_row(&line, 1_000);
                self.print(&[notice::note(format!("stderr: {line}"))])
            }
            Kind::Stderr | Kind::StderrPiece => Ok(()),
            Kind::AgentPiece => {
                let lines = self.feed.broken(record.payload);
                self.print(&lines)
            }
        }
    }

    /// Lets the recorded time pass, and shows that it does.
    fn rest(&mut self, due: Duration) -> io::Result<()> {
        loop {
            let left = due.saturating_sub(self.started.elapsed());
            if left.is_zero() || self.is_stopped() {
                return Ok(());
            }
            self.draw(left)?;
            std::thread::sleep(left.min(spinner::FRAME));
        }
    }

    /// What is being written, and what goes on; where nothing does, how long that is so.
    fn draw(&mut self, left: Duration) -> io::Result<()> {
        let Paper::Screen(screen) = &mut self.paper else {
            return Ok(());
        };
        let Size { columns, .. } = screen.size();
        let columns = usize::from(columns);
        let tail = self.feed.tail();
        let rows: Vec<Line> = tail.iter().flat_map(|line| line.rows(columns)).collect();
        let mut lines = rows[rows.len().saturating_sub(TAIL)..].to_vec();
        let words = match self.feed.status() {
            Status::Idle => format!("it goes on in {}", text::duration(left)),
            status => status.words_at(self.now),
        };
        let mark = spinner::frame(self.started.elapsed());
        let line = Line::of(format!("{words}  Ctrl-C ends the replay"), Tone::Dim);
        lines.push(line.after(&format!("{mark} "), Tone::Accent).cut(columns));
        screen.live(&lines, None)
    }

    fn print(&mut self, lines: &[Line]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        match &mut self.paper {
            Paper::Screen(screen) => {
                screen.print(lines)?;
                self.feed.resized(screen.size().columns.into());
                Ok(())
            }
            Paper::Pipe(out) => {
                let rows = lines.iter().flat_map(|line| line.rows(USUAL_WIDTH));
                for row in rows {
                    writeln!(out, "{}", row.write(false).trim_end())?;
                }
                out.flush()
            }
        }
    }

    fn agent(&mut self, line: &[u8]) -> io::Result<()> {
        self.note_question(line);
        let lines = match decode::<CliMessage>(line) {
            Ok(message) => self.feed.take(&message, self.now),
            Err(_) => self.feed.broken(line),
        };
        self.print(&lines)
    }

    fn note_question(&mut self, line: &[u8]) {
        let Ok(route) = Route::of(line) else {
            return;
        };
        let Some(request_id) = route.request_id.map(|id| id.to_string()) else {
            return;
        };
        if route.kind == "control_cancel_request" {
            self.questions.remove(&request_id);
        }
        self.calls.note(line);
        if route.kind == "control_request" && route.subtype.is_some_and(|s| s == "can_use_tool") {
            let request: Value = serde_json::from_slice(line).unwrap_or_default();
            let field = |name: &str| {
                let field = request["request"][name].as_str();
                field.unwrap_or_default().to_owned()
            };
            let (tool, input) = (field("tool_name"), request["request"]["input"].clone());
            let named = Some(field("tool_use_id")).filter(|id| !id.is_empty());
            if let Some(id) = &named {
                self.calls.asked(id);
            }
            let question = Question {
                tool_use_id: named.or_else(|| self.calls.take(&tool, &input.clone().into())),
                tool,
                input,
            };
            self.questions.insert(request_id, question);
        }
    }

    fn host(&mut self, line: &[u8]) -> io::Result<()> {
        let note = self.note.take();
        let mode = note.as_ref().and_then(|note| note.extra.get("mode"));
        if let Some(mode) = mode.and_then(Value::as_str) {
            self.feed.set_host_mode(mode);
        }
        match decode::<HostMessage>(line) {
            Ok(HostMessage::User(message)) => {
                let said = serde_json::to_value(&message.message.content).unwrap_or_default();
                self.prompt(&prompt_text(&said))
            }
            Ok(HostMessage::ControlResponse(_)) => self.decided(line, note.as_ref()),
            _ => Ok(()),
        }
    }

    /// A message of the host, as `run` shows what is typed.
    fn prompt(&mut self, said: &str) -> io::Result<()> {
        let mut lines = self.feed.finish();
        lines.push(Line::new());
        let (shown, left) = text::clip(said, 20_000);
        lines.extend(
            shown
                .lines()
                .map(|row| Line::of(row, Tone::Strong).after("› ", Tone::Accent)),
        );
        if left > 0 {
            lines.push(notice::note(format!("… {} more", text::size(left))));
        }
        self.print(&lines)
    }

    fn decided(&mut self, line: &[u8], note: Option<&Note>) -> io::Result<()> {
        let answer: Value = serde_json::from_slice(line).unwrap_or_default();
        let response = &answer["response"];
        let id = response["request_id"].as_str().unwrap_or_default();
        let Some(question) = self.questions.remove(id) else {
            return Ok(());
        };
        let is_allowed = response["response"]["behavior"] == "allow";
        let interrupts = response["response"]["interrupt"] == true;
        let way = match question.tool == "ExitPlanMode" && !is_allowed {
            true => Note::way_of_refused_plan(note, interrupts),
            false => None,
        };
        if let (false, Some(id)) = (is_allowed, &question.tool_use_id) {
            self.feed.denied(id);
        }
        let mut lines = vec![decision(&question.tool, is_allowed, way, note)];
        lines.extend(edited(&question, &response["response"]["updatedInput"]));
        self.print(&lines)
    }

    fn keeper(&mut self, generation: u32, payload: &[u8]) -> io::Result<()> {
        let event = serde_json::from_slice(payload).unwrap_or(KeeperEvent::Unknown);
        if matches!(event, KeeperEvent::Exit(_) | KeeperEvent::Lost { .. }) {
            let lines = self.feed.finish();
            self.print(&lines)?;
            self.questions.clear();
        }
        match told(generation, &event, self.verbose) {
            Some(line) => self.print(&[line]),
            None => Ok(()),
        }
    }

    fn finish(mut self) -> anyhow::Result<Outcome> {
        let lines = self.feed.finish();
        if let Paper::Screen(screen) = &mut self.paper {
            screen.clear_live()?;
        }
        self.print(&lines)?;
        Ok(match self.is_stopped() {
            true => Outcome::Ended(ExitCode::from(130)),
            false => Outcome::Fine,
        })
    }
}

/// The text of a message: itself, or its blocks.
fn prompt_text(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    let parts: Vec<String> = blocks
        .map(|block| match block["text"].as_str() {
            Some(text) => text.to_owned(),
            None => format!("[{}]", block["type"].as_str().unwrap_or("something")),
        })
        .collect();
    parts.join("\n")
}

/// Who decided, as `run` tells it.
fn decision(tool: &str, is_allowed: bool, way: Option<&str>, note: Option<&Note>) -> Line {
    let is_sent_back = way == Some(KEEP_PLANNING);
    let is_allowed = is_allowed || way.is_some_and(|_| !is_sent_back);
    let what = match (is_allowed, tool) {
        (true, "AskUserQuestion") => "Answered",
        (true, "ExitPlanMode") => "Approved",
        (true, _) => "Allowed",
        (false, _) if is_sent_back => "Kept planning",
        (false, _) => "Refused",
    };
    let mut words = what.to_owned();
    if let Some(by) = note.and_then(|note| note.by.as_deref()) {
        words.push_str(&format!(" by {}", text::one_row(by, 100)));
    }
    match note.and_then(|note| note.why.as_deref()) {
        Some(why) if !why.is_empty() => {
            words.push_str(&format!(": {}", text::one_row(why, 300)));
        }
        _ => words.push('.'),
    }
    let (mark, tone) = match is_allowed {
        true => ("✓ ", Tone::Good),
        false if is_sent_back => ("· ", Tone::Dim),
        false => ("✗ ", Tone::Bad),
    };
    let line = Line::of(words, tone).after(mark, tone);
    line.after("  ", Tone::Plain)
}

/// The call as it was sent, where whoever allowed it edited it. Answers to questions and plans are no edits of a call.
fn edited(question: &Question, sent: &Value) -> Option<Line> {
    let is_call = !matches!(&*question.tool, "AskUserQuestion" | "ExitPlanMode");
    let is_edited = sent.is_object() && *sent != question.input;
    let sent = call::headline(&question.tool, sent, Path::new(""));
    (is_call && is_edited).then(|| {
        let line = Line::of(format!("edited, sent: {}", sent.text()), Tone::Warn);
        line.after(gutter::NOTICE, Tone::Dim)
            .after("  ", Tone::Plain)
    })
}

/// What happened beside the wire, where a person wants to know of it.
fn told(generation: u32, event: &KeeperEvent, verbose: bool) -> Option<Line> {
    let line = match event {
        KeeperEvent::Open { .. } if generation > 1 => notice::note(format!(
            "generation {generation}: the agent is started again"
        )),
        KeeperEvent::Exit(exit) => match (exit.code, exit.signal, &exit.error) {
            (_, _, Some(error)) => notice::bad(format!(
                "the agent was not started: {}",
                text::one_row(error, 300)
            )),
            (Some(0), _, _) => notice::note("the agent ended"),
            (Some(code), _, _) => notice::warn(format!("the agent ended with exit code {code}")),
            (None, Some(signal), _) => {
                notice::warn(format!("the agent was ended by signal {signal}"))
            }
            (None, None, None) => notice::note("the agent ended"),
        },
        KeeperEvent::Lost { .. } => {
            notice::warn("the agent was lost: its keeper ended without a word")
        }
        KeeperEvent::Paused { errno } => notice::warn(format!(
            "nothing could be written (error {errno}): the agent waited"
        )),
        KeeperEvent::Resumed => notice::note("it could be written again"),
        KeeperEvent::Ending { step, why } => {
            let why = why
                .as_deref()
                .map(|why| format!(": {}", text::one_row(why, 200)));
            notice::note(format!(
                "the agent is being ended ({}){}",
                text::one_row(step, 40),
                why.unwrap_or_default()
            ))
        }
        KeeperEvent::Attached { .. } if verbose => notice::note("a host took the agent over"),
        KeeperEvent::Detached { .. } if verbose => notice::note("the host has gone"),
        KeeperEvent::Clock { jump } if verbose => {
            notice::note(format!("the clock jumped by {} ms", jump / 1_000))
        }
        _ => return None,
    };
    Some(line)
}
