//! A recorded agent as a process: its lines on stdout, a host's lines on stdin.
//!
//! Owns the walk over the records and the order of things: before a line is said, whatever the recorded agent had heard
//! by then has been heard today. A request that nobody foresaw is replied to from elsewhere in the recording, or refused:
//! no host waits for nothing. Exits as the recorded agent did.

use std::collections::VecDeque;
use std::io::{self, StdoutLock, Write as _};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::bail;
use countersign_journal::{Cursor, Exit, KeeperEvent, Kind};

use super::host::{Heard, Host};
use super::pace::Pace;
use super::script::{Live, Need, Reply, Script, refusal, with_request_id};
use super::{Beginning, place};
use crate::Outcome;
use crate::journal::range::{Place, Range};
use crate::journal::source::{Item, Owned, Source};

/// `--version`: that of the recorded CLI.
pub(super) fn version(source: Source) -> anyhow::Result<Outcome> {
    let Some(version) = Beginning::read(source, &Range::default())?.version else {
        bail!("the recording does not say which version it is of");
    };
    writeln!(io::stdout(), "{version} (Claude Code)")?;
    Ok(Outcome::Fine)
}

/// Plays the agent of one generation.
pub(super) fn play(source: Source, mut range: Range, pace: Pace) -> anyhow::Result<Outcome> {
    if source.path().as_os_str() == "-" {
        bail!("as an agent, stdin belongs to the host: give a file or a folder");
    }
    let script = foresee(source.again()?, &mut range)?;
    let mut play = Play {
        again: source.again()?,
        range,
        script,
        host: Host::listen()?,
        inbox: VecDeque::new(),
        out: io::stdout().lock(),
        pace,
        started: Instant::now(),
        exit: None,
        has_said: false,
        at: Cursor::START,
    };
    play.run(source)
}

/// Which generation is played, and which requests its host made. Without a line of the host, only one side was recorded.
fn foresee(mut source: Source, range: &mut Range) -> anyhow::Result<Script> {
    let mut requests = Vec::new();
    let mut has_host = false;
    let mut others = false;
    while let Some(item) = source.next()? {
        let Item::Record(generation, record) = item else {
            continue;
        };
        if place(range, generation, &record) == Place::Inside && range.generation.is_none() {
            range.generation = Some(generation);
        }
        if range.generation.is_some_and(|played| played != generation) {
            others = true;
        } else if record.kind == Kind::Host {
            has_host = true;
            if let Live::Request { .. } = Live::of(record.payload) {
                requests.push((generation, record.payload.to_vec()));
            }
        }
    }
    let Some(played) = range.generation else {
        bail!("there is nothing in this part of it");
    };
    if others {
        tell(&format!(
            "plays generation {played}; --generation chooses another"
        ));
    }
    let mut script = Script::new(!has_host);
    let of_played = requests
        .iter()
        .filter(|(generation, _)| *generation == played);
    of_played.for_each(|(_, line)| script.foresee(line));
    Ok(script)
}

fn tell(words: &str) {
    // Nothing is left to report to if stderr is gone.
    let _ = writeln!(io::stderr(), "replay: {words}");
}

struct Play {
    /// To read the recording once more from its beginning.
    again: Source,
    range: Range,
    script: Script,
    host: Host,
    /// Lines of the host that nobody has waited for yet.
    inbox: VecDeque<Live>,
    out: StdoutLock<'static>,
    pace: Pace,
    started: Instant,
    exit: Option<Exit>,
    has_said: bool,
    /// The record that was played last.
    at: Cursor,
}

/// Whether what was waited for came.
#[derive(Debug, PartialEq, Eq)]
enum Met {
    Yes,
    /// Stdin ended before.
    HostGone,
}

impl Play {
    fn run(&mut self, mut source: Source) -> anyhow::Result<Outcome> {
        while let Some(item) = source.next()? {
            let Item::Record(generation, record) = item else {
                continue;
            };
            match place(&self.range, generation, &record) {
                Place::Before => continue,
                Place::After => break,
                Place::Inside => {}
            }
            let record = Owned::of(generation, &record);
            self.at = record.cursor();
            if self.record(&record)? == Met::HostGone {
                return Ok(Outcome::Fine);
            }
        }
        self.end()
    }

    fn record(&mut self, record: &Owned) -> anyhow::Result<Met> {
        match record.kind {
            Kind::Agent | Kind::AgentPiece => {
                while let Some(need) = self.script.guess(&record.payload) {
                    if self.meet(&need)? == Met::HostGone {
                        return Ok(Met::HostGone);
                    }
                }
                self.rest(record.at)?;
                if let Some(line) = self.script.say(&record.payload) {
                    self.say(&line)?;
                }
            }
            Kind::Host => {
                if let Some(need) = self.script.host(&record.payload) {
                    // What is recorded as the host's time is today's host's own.
                    self.pace.due(record.at);
                    return self.meet(&need);
                }
            }
            Kind::Stderr | Kind::StderrPiece => {
                self.rest(record.at)?;
                let mut line = record.payload.clone();
                line.push(b'\n');
                io::stderr().write_all(&line)?;
            }
            Kind::Keeper => {
                if let Ok(KeeperEvent::Exit(exit)) = serde_json::from_slice(&record.payload) {
                    self.exit = Some(exit);
                }
            }
            Kind::Note => {}
        }
        Ok(Met::Yes)
    }

    fn say(&mut self, line: &[u8]) -> io::Result<()> {
        self.has_said = true;
        self.out.write_all(line)?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }

    /// Lets the recorded time pass; hears the host meanwhile.
    fn rest(&mut self, at: u64) -> anyhow::Result<()> {
        let due = self.pace.due(at);
        loop {
            let left = due.saturating_sub(self.started.elapsed());
            let heard = match left.is_zero() {
                true => self.host.hear(),
                false => self.host.wait_for(left),
            };
            match heard {
                Heard::Line(live) => self.heard(live),
                Heard::Nothing | Heard::End if left.is_zero() => return Ok(()),
                Heard::Nothing | Heard::End => {}
            }
        }
    }

    fn heard(&mut self, live: Live) {
        match live {
            Live::Answer { request_id } => self.script.note_answer(&request_id),
            Live::Other => {}
            live => self.inbox.push_back(live),
        }
    }

    /// Waits for what the recorded agent waited for.
    fn meet(&mut self, need: &Need) -> anyhow::Result<Met> {
        let mut has_told = false;
        loop {
            while let Heard::Line(live) = self.host.hear() {
                self.heard(live);
            }
            if self.is_met(need) {
                self.pace.waited(self.started.elapsed());
                return Ok(Met::Yes);
            }
            self.reply_to_others()?;
            if !std::mem::replace(&mut has_told, true) {
                tell(&format!("at {}: waits for {need}", self.at));
            }
            match self.host.wait() {
                Heard::Line(live) => self.heard(live),
                Heard::Nothing => {}
                Heard::End => {
                    tell(&format!(
                        "stdin has ended: nothing more will come of {need}"
                    ));
                    return Ok(Met::HostGone);
                }
            }
        }
    }

    fn is_met(&mut self, need: &Need) -> bool {
        if self.script.has(need) {
            return true;
        }
        let found = self
            .inbox
            .iter()
            .position(|live| self.script.meets(need, live));
        if let Some(index) = found {
            self.inbox.remove(index);
        }
        found.is_some()
    }

    /// Requests that are not waited for: replied to before their turn, or refused.
    fn reply_to_others(&mut self) -> anyhow::Result<()> {
        let (requests, rest): (VecDeque<Live>, VecDeque<Live>) = std::mem::take(&mut self.inbox)
            .into_iter()
            .partition(|live| matches!(live, Live::Request { .. }));
        self.inbox = rest;
        for request in requests {
            let Live::Request {
                request_id,
                subtype,
            } = request
            else {
                continue;
            };
            let line = match self.script.unforeseen(&request_id, &subtype) {
                Reply::Refused(line) => {
                    tell(&format!(
                        "refuses the control request {subtype:?}: it was not recorded"
                    ));
                    line
                }
                Reply::Early { recorded } => self
                    .recorded_reply(&recorded)?
                    .and_then(|line| with_request_id(&line, &request_id))
                    .unwrap_or_else(|| refusal(&request_id, &subtype)),
            };
            self.say(&line)?;
        }
        Ok(())
    }

    /// The recorded reply to a request, wherever in the recording it stands.
    fn recorded_reply(&self, recorded: &str) -> anyhow::Result<Option<Vec<u8>>> {
        let mut source = self.again.again()?;
        while let Some(item) = source.next()? {
            let Item::Record(generation, record) = item else {
                continue;
            };
            let is_agent = record.kind == Kind::Agent && Some(generation) == self.range.generation;
            let answer = Live::Answer {
                request_id: recorded.to_owned(),
            };
            if is_agent && Live::of(record.payload) == answer {
                return Ok(Some(record.payload.to_vec()));
            }
        }
        Ok(None)
    }

    /// Everything is said: waits for the end of stdin, unless the recorded agent failed by itself.
    fn end(&mut self) -> anyhow::Result<Outcome> {
        let code = self
            .exit
            .as_ref()
            .map_or(0, |exit| code(exit, self.has_said));
        let was_ended = self.exit.as_ref().is_none_or(|exit| exit.step.is_some());
        if was_ended || code == 0 {
            self.wait_for_the_end()?;
        }
        Ok(match code {
            0 => Outcome::Fine,
            code => Outcome::Ended(ExitCode::from(code)),
        })
    }

    fn wait_for_the_end(&mut self) -> anyhow::Result<()> {
        self.reply_to_others()?;
        tell(&format!("after {}: waits for the end of stdin", self.at));
        loop {
            match self.host.wait() {
                Heard::Line(Live::Message { .. }) => {
                    tell("a message came: nothing more was recorded that could answer it");
                }
                Heard::Line(live) => {
                    self.heard(live);
                    self.reply_to_others()?;
                }
                Heard::Nothing => {}
                Heard::End => return Ok(()),
            }
        }
    }
}

/// As a shell tells it: a signal is 128 and its number. How an agent ended that said something may not be known.
fn code(exit: &Exit, has_said: bool) -> u8 {
    let signal = exit.signal.map(|signal| 128 + signal);
    let unknown = i32::from(!has_said);
    let code = exit.code.or(signal).unwrap_or(unknown);
    u8::try_from(code).unwrap_or(1)
}
