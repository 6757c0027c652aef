//! A run that nobody sits at: one prompt, printed as text or as NDJSON.
//!
//! Owns the loop of such a run. Nobody is asked: what no rule allows is refused, and the exit code says so. Ctrl-C
//! interrupts the turn, twice ends the run. The agent is ended once nothing goes on any more, background work included.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use countersign_client::{Event, Kind, Session, TurnResult};
use serde_json::{Value, json};

use super::core::{Core, Taken, now};
use super::ending::Ending;
use super::ledger::{By, Decided, Entry};
use super::signals::{Signals, Told};
use crate::show::{Feed, View};
use crate::term::style::{Line, Tone};

/// Work in the background is waited for as long as this after the last result.
const BACKGROUND: Duration = Duration::from_secs(600);

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// What a person reads.
    Text { with_colour: bool, width: usize },
    /// Every line of the agent as it is, and ours between them.
    Json,
}

/// Runs one prompt to its end.
pub(crate) async fn run(
    core: Core,
    session: Session,
    prompt: String,
    form: Form,
    view: View,
    signals: &mut Signals,
) -> anyhow::Result<Ending> {
    let mut batch = Batch {
        core,
        out: io::stdout(),
        form,
        feed: Feed::new(view),
        started: Instant::now(),
    };
    batch.run(session, prompt, signals).await
}

struct Batch {
    core: Core,
    out: io::Stdout,
    form: Form,
    feed: Feed,
    started: Instant,
}

/// How a run went.
#[derive(Debug, Default)]
struct Course {
    end: Option<countersign_client::Result<TurnResult>>,
    interrupts: u32,
    /// A signal told us to end.
    is_ended: bool,
}

impl Course {
    fn ending(&self, refused: u64) -> Ending {
        match &self.end {
            _ if self.is_ended => Ending::Terminated,
            _ if self.interrupts > 0 => Ending::Interrupted,
            Some(Ok(result)) if result.is_success() => match refused {
                0 => Ending::Fine,
                _ => Ending::NobodyThere,
            },
            _ => Ending::Failed,
        }
    }
}

impl Batch {
    async fn run(
        &mut self,
        session: Session,
        prompt: String,
        signals: &mut Signals,
    ) -> anyhow::Result<Ending> {
        let handle = session.handle.clone();
        let course = self.turns(session, prompt, signals).await;
        // Whatever went wrong on our side, nothing of the agent is left.
        let closed = handle.close().await;
        let course = course?;
        let ending = course.ending(self.core.ledger.refused_for_want_of_a_person());
        if self.form == Form::Json {
            self.line(&json!({
                "type": "countersign_end", "at": now().to_string(), "outcome": ending.word(),
                "session_id": handle.session_id(), "exit_code": closed.code, "signal": closed.signal,
            }))?;
        }
        tracing::debug!(
            outcome = ending.word(),
            code = closed.code,
            signal = closed.signal,
            "the agent ended"
        );
        match course.end {
            Some(Err(error)) if course.interrupts == 0 && !course.is_ended => Err(error.into()),
            _ => Ok(ending),
        }
    }

    /// From the first message to when nothing goes on any more.
    async fn turns(
        &mut self,
        session: Session,
        prompt: String,
        signals: &mut Signals,
    ) -> anyhow::Result<Course> {
        let Session {
            handle,
            mut events,
            mut questions,
            ..
        } = session;
        let mut turn = handle.send(prompt).await?;
        let mut course = Course::default();
        let mut patience = tokio::time::Instant::now() + BACKGROUND;
        loop {
            tokio::select! {
                biased;
                told = signals.next() => match told {
                    Told::End => {
                        course.is_ended = true;
                        break;
                    }
                    Told::Interrupt => {
                        course.interrupts += 1;
                        if course.interrupts > 1 || course.end.is_some() {
                            break;
                        }
                        let stopping = handle.clone();
                        tokio::spawn(async move { stopping.interrupt().await });
                    }
                },
                event = events.next() => match event {
                    // The agent is gone, and the turn knows why.
                    None => {
                        if course.end.is_none() {
                            course.end = Some(turn.result().await);
                        }
                        break;
                    }
                    Some(event) => self.event(&event)?,
                },
                Some(question) = questions.next() => {
                    // What was said before it is shown before it.
                    while let Some(event) = events.try_next() {
                        self.event(&event)?;
                    }
                    let taken = self.core.take(question);
                    self.taken(taken)?;
                }
                result = turn.result(), if course.end.is_none() => {
                    let is_over = result.is_err();
                    course.end = Some(result);
                    if is_over {
                        break;
                    }
                    patience = tokio::time::Instant::now() + BACKGROUND;
                }
                _ = tokio::time::timeout_at(patience, handle.idle()), if course.end.is_some() => break,
            }
        }
        while let Some(event) = events.try_next() {
            self.event(&event)?;
        }
        let lines = self.feed.finish();
        self.print(&lines)?;
        Ok(course)
    }

    fn event(&mut self, event: &Event) -> io::Result<()> {
        let unseen = self.core.note(event);
        self.feed.set_host_mode(self.core.mode_name());
        match (self.form, event) {
            (Form::Json, Event::Message(frame)) if frame.kind() == Kind::Malformed => {
                let line = String::from_utf8_lossy(frame.line());
                self.notice(&format!("the CLI wrote a line that is no message: {line}"))?;
            }
            (Form::Json, Event::Message(frame)) => {
                self.out.write_all(frame.line())?;
                self.out.write_all(b"\n")?;
                self.out.flush()?;
            }
            (Form::Json, Event::Notice(notice)) => self.notice(&notice.to_string())?,
            (Form::Json, Event::TooLong { bytes }) => {
                self.notice(&format!("a line of {bytes} bytes was passed over"))?
            }
            (_, Event::Lagged { events, .. }) => {
                let text = format!("{events} lines came too fast to be passed on");
                match self.form {
                    Form::Json => self.notice(&text)?,
                    Form::Text { .. } => self.print(&[Line::of(text, Tone::Warn)])?,
                }
            }
            (Form::Text { .. }, Event::Message(frame)) => {
                let lines = match frame.message() {
                    Ok(message) => self.feed.take(&message, self.started.elapsed()),
                    Err(_) => self.feed.broken(frame.line()),
                };
                self.print(&lines)?;
            }
            (Form::Text { .. }, Event::Notice(notice)) => {
                self.print(&[Line::of(notice.to_string(), Tone::Warn)])?;
            }
            _ => {}
        }
        for entry in unseen {
            self.decided(&entry)?;
        }
        Ok(())
    }

    fn taken(&mut self, taken: Taken) -> io::Result<()> {
        match taken {
            Taken::Settled(entry) => self.decided(&entry),
            Taken::Refused(why) => match self.form {
                Form::Json => self.notice(&why),
                Form::Text { .. } => self.print(&[Line::of(why, Tone::Warn)]),
            },
            // Nobody is here: the desk settles everything. Dropped, it is refused.
            Taken::Open(_) => Ok(()),
        }
    }

    fn decided(&mut self, entry: &Entry) -> io::Result<()> {
        match self.form {
            Form::Json => self.line(&entry.to_json(&now().to_string())),
            Form::Text { .. } => {
                if let (Decided::Deny | Decided::SentBack, Some(id)) =
                    (entry.decided, &entry.tool_use_id)
                {
                    self.feed.denied(id);
                }
                match told(entry) {
                    Some(line) => self.print(&[line]),
                    None => Ok(()),
                }
            }
        }
    }

    fn notice(&mut self, text: &str) -> io::Result<()> {
        self.line(&json!({"type": "countersign_notice", "at": now().to_string(), "text": text}))
    }

    fn line(&mut self, value: &Value) -> io::Result<()> {
        writeln!(self.out, "{value}")?;
        self.out.flush()
    }

    fn print(&mut self, lines: &[Line]) -> io::Result<()> {
        let Form::Text { with_colour, width } = self.form else {
            return Ok(());
        };
        for line in lines {
            for row in line.rows(width) {
                writeln!(self.out, "{}", row.write(with_colour).trim_end())?;
            }
        }
        self.out.flush()
    }
}

/// A decision in one line, where a person wants to know of it. What the model is told stands in the result.
pub(crate) fn told(entry: &Entry) -> Option<Line> {
    let reason = entry
        .verdict
        .as_ref()
        .map(|verdict| verdict.reason.text.as_str());
    let by_rule = || {
        let rule = entry
            .verdict
            .as_ref()
            .and_then(|verdict| verdict.reason.rule.as_ref());
        rule.map_or("Refused.".to_owned(), |rule| {
            format!("Refused by `{rule}` ({}).", rule.origin)
        })
    };
    let (mark, tone, text) = match (entry.decided, entry.by) {
        (_, By::Cli) => return None,
        (Decided::Allow, By::Policy) => ("✓ ", Tone::Dim, reason.unwrap_or_default().to_owned()),
        (Decided::Allow, By::Yes) => ("✓ ", Tone::Dim, "Allowed by --yes.".to_owned()),
        (Decided::Allow, _) => ("✓ ", Tone::Good, allowed(entry)),
        (Decided::Deny, By::Policy) => ("✗ ", Tone::Bad, by_rule()),
        (Decided::Deny, By::Nobody) => (
            "✗ ",
            Tone::Bad,
            "Refused: nobody is here to ask.".to_owned(),
        ),
        (Decided::Deny, _) => ("✗ ", Tone::Bad, "Refused.".to_owned()),
        (Decided::SentBack, _) => ("· ", Tone::Dim, "Kept planning.".to_owned()),
        (Decided::Withdrawn, _) => ("– ", Tone::Dim, "The question was withdrawn.".to_owned()),
    };
    Some(
        Line::of(text, tone)
            .after(mark, tone)
            .after("  ", Tone::Plain),
    )
}

fn allowed(entry: &Entry) -> String {
    match entry.tool.as_str() {
        "AskUserQuestion" => return "Answered.".to_owned(),
        "ExitPlanMode" => return "Approved.".to_owned(),
        _ => {}
    }
    match (entry.remembered.is_empty(), &entry.changed) {
        (false, _) => format!(
            "Allowed, from now on by {}.",
            entry.remembered.join(" and ")
        ),
        (true, Some(input)) => {
            let call = crate::show::call::headline(&entry.tool, input, std::path::Path::new("/"));
            format!("Allowed, as you changed it: {}", call.text())
        }
        (true, None) => "Allowed.".to_owned(),
    }
}
