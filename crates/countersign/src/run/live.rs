//! A run that a person sits at.
//!
//! Owns the loop between keyboard, agent and screen: what is shown is the feed's, what is asked is a dialog's, what is
//! decided is the core's. Invariants: a question is shown after everything the agent said before it; what is typed for
//! something else answers nothing; whatever happens, the terminal is given back as it was.

use std::collections::VecDeque;
use std::io::{self, Stdout};
use std::time::{Duration, Instant};

use countersign_client::{Event, Events, Questions, Session, Turn, TurnResult};
use countersign_policy::Profile;

use super::agent::{Launch, Started};
use super::asking::dialog_for;
use super::batch::told;
use super::core::{After, Core, Open, Taken};
use super::dialog::{Choice, Dialog, Step, not_yet};
use super::ending::Ending;
use super::held::Held;
use super::ledger::{Decided, Entry};
use super::presses::{Pressed, Presses};
use crate::show::{Feed, Status};
use crate::term::editor::{Edited, Editor};
use crate::term::external;
use crate::term::history::History;
use crate::term::keys::{Input, Key, Keyboard};
use crate::term::screen::Screen;
use crate::term::spinner;
use crate::term::style::{Line, Tone};

/// A dialog that has just appeared takes no key for so long: it was meant for something else.
pub(crate) const REST: Duration = Duration::from_millis(400);

/// How often the line that says what goes on is drawn anew.
const TICK: Duration = Duration::from_millis(120);

/// So many events are taken before the screen is drawn again.
const AT_ONCE: usize = 256;

/// So many rows of what is being written are shown while it is.
const TAIL: usize = 8;

/// A dialog on the screen, and the question behind it.
struct Shown {
    open: Open,
    dialog: Box<dyn Dialog>,
    since: Instant,
}

/// A run at a terminal.
pub(crate) struct Live {
    pub(crate) core: Core,
    pub(crate) launch: Launch,
    pub(crate) screen: Screen<Stdout>,
    pub(crate) keyboard: Keyboard,
    pub(crate) feed: Feed,
    pub(crate) editor: Editor,
    pub(crate) history: History,
    pub(crate) editor_command: String,
    events: Events,
    questions: Questions,
    waiting: VecDeque<Open>,
    shown: Option<Shown>,
    turn: Option<Turn>,
    last: Option<TurnResult>,
    started: Instant,
    presses: Presses,
    /// The person ended the run in a turn.
    is_stopped: bool,
    held: Held,
    note: Option<Line>,
    is_over: bool,
}

/// What a live run is made of.
pub(crate) struct Parts {
    pub(crate) core: Core,
    pub(crate) launch: Launch,
    pub(crate) screen: Screen<Stdout>,
    pub(crate) keyboard: Keyboard,
    pub(crate) feed: Feed,
    pub(crate) history: History,
    pub(crate) editor_command: String,
}

const PROMPT: &str = "› ";

impl Live {
    pub(crate) fn new(parts: Parts, events: Events, questions: Questions) -> Self {
        Self {
            core: parts.core,
            launch: parts.launch,
            screen: parts.screen,
            keyboard: parts.keyboard,
            feed: parts.feed,
            editor: Editor::new(PROMPT).with_history(&parts.history),
            history: parts.history,
            editor_command: parts.editor_command,
            events,
            questions,
            waiting: VecDeque::new(),
            shown: None,
            turn: None,
            last: None,
            started: Instant::now(),
            presses: Presses::default(),
            is_stopped: false,
            held: Held::default(),
            note: None,
            is_over: false,
        }
    }

    /// Runs until the person or the agent ends it.
    pub(crate) async fn run(&mut self, prompt: Option<String>) -> anyhow::Result<Ending> {
        if let Err(error) = self.turns(prompt).await {
            // A terminal that is gone must not leave an agent behind.
            self.core.handle.close().await;
            return Err(error);
        }
        self.finish().await
    }

    async fn turns(&mut self, prompt: Option<String>) -> anyhow::Result<()> {
        if let Some(prompt) = prompt {
            self.send(prompt).await?;
        }
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        while !self.is_over {
            self.draw()?;
            let interest = self.shown.as_ref().map(|shown| shown.open.interest());
            tokio::select! {
                biased;
                input = self.keyboard.next() => self.input(input).await?,
                event = self.events.next() => match event {
                    Some(event) => self.heard(&event)?,
                    None => self.is_over = true,
                },
                Some(question) = self.questions.next() => {
                    // What was said before it is shown before it.
                    while let Some(event) = self.events.try_next() {
                        self.event(&event)?;
                    }
                    self.question(question)?;
                }
                () = withdrawn(interest), if self.shown.is_some() => self.withdrawn()?,
                end = ended(self.turn.as_mut()), if self.turn.is_some() => self.turn_ended(end)?,
                _ = tick.tick(), if self.is_busy() || self.is_resting() => {}
            }
        }
        Ok(())
    }

    /// Takes an event and what has come behind it, so that a flood is drawn once and not line by line.
    fn heard(&mut self, event: &Event) -> io::Result<()> {
        self.event(event)?;
        for _ in 0..AT_ONCE {
            match self.events.try_next() {
                Some(event) => self.event(&event)?,
                None => break,
            }
        }
        Ok(())
    }

    async fn finish(&mut self) -> anyhow::Result<Ending> {
        self.turn = None;
        self.shown = None;
        self.waiting.clear();
        // A terminal that is gone must not keep the agent from being ended.
        let ending = [Line::of("Ending the agent …", Tone::Dim)];
        let _ = self.screen.live(&ending, None);
        let closed = self.core.handle.close().await;
        self.screen.clear_live()?;
        self.print_held()?;
        let lines = self.feed.finish();
        self.print(&lines)?;
        if let Some(id) = self.core.handle.session_id() {
            self.print(&[Line::of(
                format!("Go on with: countersign run --resume {id}"),
                Tone::Dim,
            )])?;
        }
        let died = closed.ended_by.is_none() && (closed.code != Some(0) || closed.signal.is_some());
        if died {
            self.print(&[Line::of(format!("The agent is gone: {closed}"), Tone::Bad)])?;
        }
        if died && !closed.stderr.is_empty() {
            let tail: Vec<Line> = closed
                .stderr
                .lines()
                .map(|line| Line::of(line, Tone::Bad))
                .collect();
            self.print(&tail)?;
        }
        Ok(match &self.last {
            _ if self.is_stopped => Ending::Interrupted,
            _ if died => Ending::Failed,
            Some(result) if !result.is_success() && !result.is_interrupted() => Ending::Failed,
            _ => Ending::Fine,
        })
    }

    /// Whether a dialog has just appeared.
    fn is_resting(&self) -> bool {
        self.shown
            .as_ref()
            .is_some_and(|shown| shown.since.elapsed() < REST)
    }

    fn is_busy(&self) -> bool {
        self.turn.is_some() || !matches!(self.feed.status(), Status::Idle)
    }

    async fn send(&mut self, text: String) -> anyhow::Result<()> {
        let shown: Vec<Line> = text
            .lines()
            .map(|line| Line::of(line, Tone::Strong).after("› ", Tone::Accent))
            .collect();
        let lines = self.feed.finish();
        self.print(&lines)?;
        self.print(&[Line::new()])?;
        self.print(&shown)?;
        let turn = self.core.handle.send(text).await?;
        // A message during a turn joins it or waits behind it: the last one's result is the end.
        self.turn = Some(turn);
        self.presses.forget();
        self.note = None;
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        let unseen = self.core.note(event);
        self.feed.set_host_mode(self.core.mode_name());
        match event {
            Event::Message(frame) => {
                let lines = match frame.message() {
                    Ok(message) => self.feed.take(&message, self.started.elapsed()),
                    Err(_) => self.feed.broken(frame.line()),
                };
                self.print(&lines)?;
            }
            Event::Notice(notice) => self.print(&[Line::of(notice.to_string(), Tone::Warn)])?,
            Event::Lagged { events, .. } => {
                self.print(&[Line::of(
                    format!("{events} lines came too fast to be shown."),
                    Tone::Warn,
                )])?;
            }
            Event::TooLong { bytes } => {
                self.print(&[Line::of(
                    format!("A line of {bytes} bytes was passed over."),
                    Tone::Warn,
                )])?;
            }
            Event::Closed(_) => self.is_over = true,
            _ => {}
        }
        unseen.iter().try_for_each(|entry| self.tell(entry))
    }

    fn tell(&mut self, entry: &Entry) -> io::Result<()> {
        if let (Decided::Deny | Decided::SentBack, Some(id)) = (entry.decided, &entry.tool_use_id) {
            self.feed.denied(id);
        }
        match told(entry) {
            Some(line) => self.print(&[line]),
            None => Ok(()),
        }
    }

    fn question(&mut self, question: countersign_client::Question) -> io::Result<()> {
        // What was said before it is shown before it.
        let position = question.responder().position();
        while let Some(event) = self.events.try_next() {
            let at = event.frame().map(|frame| frame.position());
            self.event(&event)?;
            if at.is_some_and(|at| at + 1 >= position) {
                break;
            }
        }
        match self.core.take(question) {
            Taken::Settled(entry) => self.tell(&entry),
            Taken::Refused(why) => self.print(&[Line::of(why, Tone::Warn)]),
            Taken::Open(open) => {
                self.waiting.push_back(open);
                self.show_next()
            }
        }
    }

    /// Shows the next question, unless one is shown or something is half typed.
    fn show_next(&mut self) -> io::Result<()> {
        if self.shown.is_some() || !self.editor.text().is_empty() {
            return Ok(());
        }
        let Some(open) = self.waiting.pop_front() else {
            return Ok(());
        };
        let dialog = dialog_for(&open, &self.core, self.feed.context());
        if let Open::Permission(_, brief) = &open
            && let Some(id) = &brief.entry.tool_use_id
        {
            self.feed.shown(id);
        }
        let intro = dialog.intro(usize::from(self.screen.size().columns));
        self.print(&intro)?;
        self.shown = Some(Shown {
            open,
            dialog,
            since: Instant::now(),
        });
        Ok(())
    }

    fn withdrawn(&mut self) -> io::Result<()> {
        if let Some(shown) = self.shown.take()
            && let Some(entry) = self.core.withdrawn(shown.open)
        {
            self.tell(&entry)?;
        }
        self.print_held()?;
        self.show_next()
    }

    fn turn_ended(&mut self, end: countersign_client::Result<TurnResult>) -> io::Result<()> {
        self.turn = None;
        self.note = None;
        match end {
            Ok(result) => self.last = Some(result),
            Err(error) => self.print(&[Line::of(error.to_string(), Tone::Bad)])?,
        }
        Ok(())
    }

    async fn input(&mut self, input: Input) -> anyhow::Result<()> {
        match &input {
            Input::Closed => {
                self.is_over = true;
                return Ok(());
            }
            Input::Resize(size) => {
                self.feed.resized(usize::from(size.columns));
                self.screen.resized(*size)?;
                return Ok(());
            }
            Input::Key(Key::Ctrl('c')) => {
                self.interrupt()?;
                return Ok(());
            }
            Input::Key(Key::Ctrl('z')) => {
                self.screen.clear_live()?;
                self.keyboard.stop();
                return Ok(());
            }
            _ => {}
        }
        match self.shown.as_mut() {
            Some(shown) if shown.since.elapsed() < REST => Ok(()),
            Some(shown) => {
                let step = shown.dialog.input(&input);
                self.step(step).await
            }
            None => self.typed(&input).await,
        }
    }

    async fn step(&mut self, step: Step) -> anyhow::Result<()> {
        let mut step = step;
        loop {
            match step {
                Step::Going => return Ok(()),
                Step::Edit { text, suffix } => {
                    self.screen.clear_live()?;
                    let command = self.editor_command.clone();
                    let edited = self
                        .keyboard
                        .suspend(|| external::edit_text(&text, suffix, &command));
                    let edited = match edited {
                        Ok(text) => text,
                        Err(error) => {
                            self.print(&[Line::of(error.to_string(), Tone::Bad)])?;
                            None
                        }
                    };
                    let Some(shown) = self.shown.as_mut() else {
                        return Ok(());
                    };
                    step = shown.dialog.edited(edited);
                }
                Step::Done(choice) => return self.decided(choice).await,
            }
        }
    }

    async fn decided(&mut self, choice: Choice) -> anyhow::Result<()> {
        let Some(shown) = self.shown.take() else {
            return Ok(());
        };
        self.screen.clear_live()?;
        match self.core.decide(shown.open, choice) {
            Ok((entry, after)) => {
                if let Some(entry) = entry {
                    self.tell(&entry)?;
                }
                self.print_held()?;
                if let After::StartAfresh(prompt) = after {
                    self.start_afresh(prompt).await?;
                }
                self.show_next()?;
            }
            Err((open, why)) => {
                self.print(&[Line::of(why, Tone::Bad)])?;
                self.waiting.push_front(open);
                self.show_next()?;
            }
        }
        Ok(())
    }

    /// Ends this agent and goes on with another one that knows only the plan.
    async fn start_afresh(&mut self, prompt: String) -> anyhow::Result<()> {
        self.print(&[Line::of("A fresh conversation begins.", Tone::Dim)])?;
        self.core.handle.close().await;
        self.waiting.clear();
        let Started { session, watching } = self.launch.afresh().start().await?;
        let Session {
            handle,
            events,
            questions,
            ..
        } = session;
        self.core.watching = watching;
        self.core.handle = handle;
        self.events = events;
        self.questions = questions;
        self.turn = None;
        self.send(prompt).await
    }

    async fn typed(&mut self, input: &Input) -> anyhow::Result<()> {
        self.note = None;
        self.presses.forget();
        if matches!(input, Input::Key(Key::BackTab)) {
            return self.next_mode().await;
        }
        match self.editor.input(input) {
            Edited::Going => {}
            Edited::Cancelled => self.editor.clear(),
            Edited::Ended => self.is_over = true,
            Edited::Done(text) => {
                let text = text.trim().to_owned();
                self.editor = Editor::new(PROMPT).with_history(&self.history);
                match text.as_str() {
                    "" => {}
                    "/exit" | "/quit" => self.is_over = true,
                    _ => {
                        self.history.add(&text);
                        self.editor = Editor::new(PROMPT).with_history(&self.history);
                        self.send(text).await?;
                    }
                }
            }
        }
        self.show_next()?;
        Ok(())
    }

    /// Ask → accept edits → plan → ask.
    async fn next_mode(&mut self) -> anyhow::Result<()> {
        use countersign_client::PermissionMode;
        let is_planning = self.core.handle.permission_mode().as_deref() == Some("plan");
        let (profile, mode, words) = match (is_planning, self.core.desk.profile()) {
            (true, _) => (
                Profile::Careful,
                PermissionMode::Default,
                "Ask about each call",
            ),
            (false, Profile::Careful) => (
                Profile::Edits,
                PermissionMode::Default,
                "Accept edits in this folder",
            ),
            (false, _) => (Profile::Careful, PermissionMode::Plan, "Plan first"),
        };
        let wanted_plan = mode == PermissionMode::Plan;
        if wanted_plan != is_planning {
            if let Err(error) = self.core.handle.set_permission_mode(mode).await {
                self.note = Some(Line::of(error.to_string(), Tone::Bad));
                return Ok(());
            }
            self.core.desk.planning(wanted_plan);
        }
        self.core.desk.set_profile(profile);
        self.note = Some(Line::of(words, Tone::Accent));
        Ok(())
    }

    fn interrupt(&mut self) -> io::Result<()> {
        let is_typing = !self.editor.text().is_empty();
        match self.presses.press(
            Instant::now(),
            self.is_busy() || self.shown.is_some(),
            is_typing,
        ) {
            Pressed::End { in_turn } => {
                self.is_over = true;
                self.is_stopped = in_turn;
            }
            Pressed::Interrupt => {
                self.note = Some(Line::of(
                    "Interrupting … Ctrl-C again ends the run.",
                    Tone::Warn,
                ));
                let handle = self.core.handle.clone();
                tokio::spawn(async move { handle.interrupt().await });
            }
            Pressed::Warn => self.note = Some(Line::of("Ctrl-C again ends the run.", Tone::Dim)),
            Pressed::Clear => {
                self.editor.clear();
                return self.show_next();
            }
        }
        Ok(())
    }

    /// Prints, but nothing between a question and its answer: there it would stand in for the question.
    fn print(&mut self, lines: &[Line]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        if self.shown.is_none() {
            return self.screen.print(lines);
        }
        self.held.hold(lines);
        Ok(())
    }

    /// Prints what came while a question was open.
    fn print_held(&mut self) -> io::Result<()> {
        let held = self.held.take();
        self.print(&held)
    }

    fn draw(&mut self) -> io::Result<()> {
        let size = self.screen.size();
        if let Some(shown) = &self.shown {
            let (mut lines, cursor) = shown.dialog.lines(size);
            if self.is_resting() {
                not_yet(&mut lines);
            }
            return self.screen.live(&lines, cursor);
        }
        let mut lines = Vec::new();
        let tail = self.feed.tail();
        let rows: Vec<Line> = tail
            .iter()
            .flat_map(|line| line.rows(usize::from(size.columns)))
            .collect();
        lines.extend(rows[rows.len().saturating_sub(TAIL)..].iter().cloned());
        if self.is_busy() {
            let mark = spinner::frame(self.started.elapsed());
            let words = self.feed.status().words_at(self.started.elapsed());
            lines.push(
                Line::of(words, Tone::Dim)
                    .add("  Ctrl-C interrupts", Tone::Dim)
                    .after(&format!("{mark} "), Tone::Accent)
                    .cut(usize::from(size.columns)),
            );
        }
        if !self.waiting.is_empty() {
            lines.push(Line::of(
                "A question waits: send or clear what you type to see it.",
                Tone::Warn,
            ));
        }
        lines.extend(self.note.clone());
        let above = lines.len();
        let (editor, (row, column)) = self.editor.lines(size.columns);
        lines.extend(editor);
        let row = u16::try_from(above).unwrap_or_default() + row;
        self.screen.live(&lines, Some((row, column)))
    }
}

async fn withdrawn(interest: Option<countersign_client::Interest>) {
    match interest {
        Some(interest) => interest.withdrawn().await,
        None => std::future::pending().await,
    }
}

async fn ended(turn: Option<&mut Turn>) -> countersign_client::Result<TurnResult> {
    match turn {
        Some(turn) => turn.result().await,
        None => std::future::pending().await,
    }
}
