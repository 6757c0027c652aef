//! The agent's side: what it prints goes into the journal, then whoever follows is told; what it is to read is written.
//!
//! Owns the order of that. Several lines of one read are one append. Invariant: what a line means counts only from when the
//! line is in the journal.

use countersign_journal::{KeeperEvent, Kind};
use countersign_process::return_memory;

use super::line::{Heard, hear};
use super::turn::Turn;
use super::{Keeper, clock};
use crate::habits::Step;
use crate::protocol::{EndPlan, FromKeeper, MAX_PUT, Ref};

/// The longest line of stderr in one record. What is longer is cut, since it is for people only.
const MAX_STDERR: usize = 1 << 20;

/// What the lines of one append tell.
#[derive(Debug, Default)]
struct Batch {
    questions: Vec<(u64, Heard)>,
    turn: Turn,
    has_result: bool,
}

impl Batch {
    fn add(&mut self, seq: u64, heard: Option<Heard>) {
        let Some(heard) = heard else {
            return;
        };
        self.turn.hear(&heard);
        match heard {
            Heard::Turn => {}
            Heard::Result => self.has_result = true,
            question => self.questions.push((seq, question)),
        }
    }
}

impl Keeper {
    pub(super) fn on_stdout(&mut self) {
        if let Err(error) = self.stdout.read() {
            self.log(&format!("the agent's stdout: {error}"));
            self.stdout.close();
        }
        self.journal_stdout();
        if self.stdout.rest().len() > MAX_PUT {
            self.end(EndPlan::Kill, "a line of the agent is longer than 256 MiB");
        }
    }

    /// Appends the whole lines that were read. `false` if they could not be; then they are still there.
    pub(super) fn journal_stdout(&mut self) -> bool {
        if !self.stdout.has_lines() {
            return true;
        }
        let mut heard = Batch {
            turn: self.turn,
            ..Batch::default()
        };
        let long = self.stdout.take_long();
        let is_long = long.is_some();
        if let Some(line) = long {
            let told = hear(&line);
            heard.add(self.book.push_owned(Kind::Agent, line), told);
        }
        for line in self.stdout.lines() {
            heard.add(self.book.push(Kind::Agent, line), hear(line));
        }
        if heard.has_result {
            self.book.push_head();
        }
        if let Err(trouble) = self.book.commit(false) {
            if let Some(line) = self.book.take_returned() {
                self.stdout.give_back(line);
            }
            self.on_trouble(&trouble);
            return false;
        }
        self.stdout.forget_lines();
        if is_long {
            return_memory();
        }
        self.turn = heard.turn;
        for (seq, heard) in heard.questions {
            self.on_heard(seq, heard);
        }
        self.tell_tail();
        if heard.has_result {
            self.on_result();
        }
        self.roll();
        true
    }

    fn on_heard(&mut self, seq: u64, heard: Heard) {
        match heard {
            Heard::Question {
                request_id,
                subtype,
            } => {
                if !self.questions.ask(request_id, subtype, seq) {
                    self.record_turned_away("question", Some(self.agent.name.pid));
                }
            }
            Heard::Withdrawn { request_id } => self.questions.close(&request_id),
            Heard::Turn | Heard::Result => {}
        }
    }

    fn on_result(&mut self) {
        // Followers need not wait for the disk.
        self.write_to_hosts();
        self.sync();
        // Another turn may have begun behind it already.
        if !self.is_in_turn()
            && let Some(step) = self.plan.turn_ended(clock::boot())
        {
            self.take(step);
        }
    }

    fn roll(&mut self) {
        let before = self.book.tail().seg;
        let carried = || KeeperEvent::Carried {
            last_n: self.numbers.last(),
            epoch: self.epoch,
            open: self.questions.list(),
            agent: Some(self.agent.name),
        };
        if let Err(trouble) = self.book.roll(carried) {
            self.on_trouble(&trouble);
        }
        if self.book.tail().seg != before {
            self.tell_tail();
        }
    }

    pub(super) fn on_stderr(&mut self) {
        if let Err(error) = self.stderr.read() {
            self.log(&format!("the agent's stderr: {error}"));
            self.stderr.close();
        }
        self.journal_stderr();
    }

    /// As [`Keeper::journal_stdout`].
    pub(super) fn journal_stderr(&mut self) -> bool {
        let is_too_long = self.stderr.rest().len() > MAX_STDERR;
        if !self.stderr.has_lines() && !is_too_long {
            return true;
        }
        for line in self.stderr.lines() {
            self.book.push(Kind::Stderr, line);
        }
        if is_too_long {
            self.book.push(Kind::Stderr, self.stderr.rest());
        }
        if let Err(trouble) = self.book.commit(false) {
            self.on_trouble(&trouble);
            return false;
        }
        if is_too_long {
            self.stderr.forget_all();
            return_memory();
        } else {
            self.stderr.forget_lines();
        }
        self.tell_tail();
        self.roll();
        true
    }

    /// Writes to the agent what it takes, and tells the host of what it has taken whole.
    pub(super) fn write_to_agent(&mut self) {
        for (reference, seq) in self.stdin.write() {
            let Some(reference) = reference else {
                continue;
            };
            self.stop_at(&reference, Step::Written);
            self.say_to_owner(&FromKeeper::Ok { reference, seq });
        }
    }

    /// Stops this process if its habits say so, until somebody lets it go on.
    pub(super) fn stop_at(&self, reference: &Ref, step: Step) {
        let wanted = match reference {
            Ref::Answer(_) => self.habits.stop_at,
            Ref::N(_) => self.habits.stop_at_message,
        };
        if wanted == Some(step) {
            let own = rustix::process::getpid();
            let _ = rustix::process::kill_process(own, rustix::process::Signal::STOP);
        }
    }
}
