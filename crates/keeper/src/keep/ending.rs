//! The end: steps taken, the agent reaped, its descendants ended, the last bytes and its exit recorded.
//!
//! Owns what is done at each step; which step it is comes from `plan`. Invariants: the agent has ended when it is reaped,
//! not when its pipes close; its exit is on the disk before anybody is told; then nothing of it runs any more.

use std::fs::File;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use countersign_journal::{Exit, KeeperEvent, Kind, ProcessName};
use countersign_process::end_descendants;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::WaitStatus;

use super::plan::Step;
use super::{Keeper, Phase, clock};
use crate::protocol::{EndPlan, FromKeeper};

/// How long the pipes of an agent that has ended are read: somebody else may hold them.
const DRAIN: Duration = Duration::from_millis(500);

/// How long its descendants are tried to be ended.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long hosts may take to hear of the end.
const FAREWELL: Duration = Duration::from_millis(500);

impl Keeper {
    pub(super) fn on_signals(&mut self) {
        if self.signals.take() {
            let parent = rustix::process::getppid().map(|pid| pid.as_raw_pid().unsigned_abs());
            if self.facts.guard.is_some() && parent != self.facts.guard {
                self.end_unguarded();
            } else {
                self.end(EndPlan::Gentle, "signal");
            }
        }
        if let Some(status) = self.agent.reap() {
            self.on_exit(status);
        }
    }

    /// The agent is to end.
    pub(super) fn end(&mut self, plan: EndPlan, why: &str) {
        if !matches!(self.phase, Phase::Live) {
            return;
        }
        let in_turn = self.is_in_turn();
        if let Some(step) = self.plan.ask(plan, in_turn, clock::boot()) {
            self.why_end = Some(why.to_owned());
            self.take(step);
        }
    }

    /// An agent that must not lose its stdin within a turn counts as within one if it might be.
    pub(super) fn is_in_turn(&self) -> bool {
        if self.plan.kills_first() {
            self.turn.may_run()
        } else {
            self.turn.is_running()
        }
    }

    fn end_unguarded(&mut self) {
        if let Some(step) = self.plan.hurry(clock::boot()) {
            self.why_end = Some("the guard is gone".to_owned());
            self.take(step);
        }
    }

    pub(super) fn take(&mut self, step: Step) {
        if !self.agent.is_running() {
            return;
        }
        let event = KeeperEvent::Ending {
            step: step.name().to_owned(),
            why: self.why_end.take(),
        };
        self.record(&event);
        match step {
            Step::Interrupt => self.interrupt(),
            Step::Stdin => self.stdin.close(),
            Step::Terminate => self.agent.terminate(),
            Step::Kill => self.agent.kill(),
        }
    }

    /// Journalled and synced as every line that a host sends.
    fn interrupt(&mut self) {
        let generation = self.facts.generation;
        let line = format!(
            r#"{{"type":"control_request","request_id":"keeper-end-{generation}","request":{{"subtype":"interrupt"}}}}"#
        );
        self.book.push(Kind::Note, br#"{"by":"keeper"}"#);
        let seq = self.book.push(Kind::Host, line.as_bytes());
        match self.book.commit(true) {
            Ok(()) => {
                self.tell_tail();
                if self.sync() {
                    self.stdin.push(seq, None, format!("{line}\n").into_bytes());
                    self.write_to_agent();
                }
            }
            // The next step comes all the same.
            Err(trouble) => self.on_trouble(&trouble),
        }
    }

    fn on_exit(&mut self, status: WaitStatus) {
        self.questions.close_all();
        self.stdin.close();
        let swept = end_descendants(Instant::now() + PATIENCE);
        for one in &swept.survivors {
            self.log(&format!("cannot end {one}"));
        }
        let killed = swept.ended.into_iter().map(|one| ProcessName {
            pid: one.pid,
            command: one.command,
        });
        let exit = Exit {
            code: status.exit_status(),
            signal: status.terminating_signal(),
            error: self.broken.clone(),
            step: self.plan.step().map(|step| step.name().to_owned()),
            unwritten: self.stdin.unwritten(),
            killed: killed.collect(),
        };
        self.phase = Phase::Draining {
            exit,
            until: clock::boot() + DRAIN,
        };
    }

    pub(super) fn is_drained(&self, now: Duration) -> bool {
        let Phase::Draining { until, .. } = &self.phase else {
            return false;
        };
        let is_empty = self.stdout.file().is_none() && self.stderr.file().is_none();
        is_empty || *until <= now
    }

    /// Records the exit, tells everybody, and leaves.
    pub(super) fn finish(mut self) -> ExitCode {
        self.take_what_is_left();
        let Phase::Draining { exit, .. } = std::mem::replace(&mut self.phase, Phase::Gone) else {
            return ExitCode::FAILURE;
        };
        let is_recorded = self.record_exit(&exit);
        self.tell_tail();
        self.say_to_all(&FromKeeper::Gone { exit });
        self.say_farewell();
        self.book.finish();
        if is_recorded {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    /// One last look into each pipe. The time to drain them may be over because this process or the whole machine stood
    /// still, and then the agent's last words are there unread.
    fn take_what_is_left(&mut self) {
        if self.stdout.file().is_some_and(has_something) {
            self.on_stdout();
        }
        if self.stderr.file().is_some_and(has_something) {
            self.on_stderr();
        }
    }

    /// The last pieces, the exit and a head in one append; with the room that is kept if there is no other. If not even
    /// that is enough the pieces are given up.
    fn record_exit(&mut self, exit: &Exit) -> bool {
        if self.broken.is_some() {
            return false;
        }
        self.push_last_pieces();
        self.push_missed();
        self.book.push_event(&KeeperEvent::Exit(exit.clone()));
        self.book.push_head();
        let mut recorded = self.book.commit(true);
        if recorded.is_err() {
            let lost = self.stdout.rest().len() + self.stderr.rest().len();
            self.log(&format!(
                "no room for the last {lost} bytes of the agent and more"
            ));
            self.book.push_event(&KeeperEvent::Exit(exit.clone()));
            self.book.push_head();
            recorded = self.book.commit(true);
        }
        let recorded = recorded.and_then(|()| self.book.sync());
        if let Err(trouble) = &recorded {
            self.log(&format!("the exit is not recorded: {trouble:?}"));
        }
        recorded.is_ok()
    }

    fn push_last_pieces(&mut self) {
        for (pipe, line_kind, piece_kind) in [
            (&self.stdout, Kind::Agent, Kind::AgentPiece),
            (&self.stderr, Kind::Stderr, Kind::StderrPiece),
        ] {
            for line in pipe.lines() {
                self.book.push(line_kind, line);
            }
            if !pipe.rest().is_empty() {
                self.book.push(piece_kind, pipe.rest());
            }
        }
    }

    /// Waits a moment for those who read slowly.
    fn say_farewell(&mut self) {
        let until = clock::boot() + FAREWELL;
        loop {
            self.write_to_hosts();
            let left = until.saturating_sub(clock::boot());
            let mut fds: Vec<_> = self
                .clients
                .iter()
                .filter(|client| client.has_to_say())
                .map(|client| PollFd::new(&client.stream, PollFlags::OUT))
                .collect();
            if fds.is_empty() || left.is_zero() {
                return;
            }
            let left = Timespec::try_from(left).unwrap_or_default();
            let _ = poll(&mut fds, Some(&left));
        }
    }
}

/// Whether it can be read without waiting.
fn has_something(file: &File) -> bool {
    let mut fds = [PollFd::new(file, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}
