//! What a run of rounds comes to, in numbers.
//!
//! Owns the line that each test of rounds prints at its end; with `FAULTS_FIGURES` it goes to that file, too, from where
//! the table in `docs/faults.md` is made.

use std::io::Write as _;
use std::time::{Duration, Instant};

use crate::checks::Case;

/// The numbers of one test.
#[derive(Debug)]
pub(crate) struct Figures {
    name: &'static str,
    started: Instant,
    rounds: u32,
    hits: u32,
    sessions: u32,
    frames: usize,
    questions: usize,
    allowed: usize,
    unknown: usize,
    resumed: u32,
    afresh: u32,
    /// The longest time until nothing was left, or the next host was done.
    slowest: Duration,
}

impl Figures {
    pub(crate) fn of(name: &'static str) -> Self {
        Self {
            name,
            started: Instant::now(),
            rounds: 0,
            hits: 0,
            sessions: 0,
            frames: 0,
            questions: 0,
            allowed: 0,
            unknown: 0,
            resumed: 0,
            afresh: 0,
            slowest: Duration::ZERO,
        }
    }

    /// A round is over; `hit`: somebody died before the work was done.
    pub(crate) fn round(&mut self, hit: bool) {
        self.rounds += 1;
        self.hits += u32::from(hit);
    }

    pub(crate) fn recovered(&mut self, time: Duration) {
        self.slowest = self.slowest.max(time);
    }

    /// How the next agent was started: it went on where the last one was, or began again. Nothing if none had to be.
    pub(crate) fn went_on(&mut self, flag: Option<&str>) {
        match flag {
            Some("--resume") => self.resumed += 1,
            Some(_) => self.afresh += 1,
            None => {}
        }
    }

    /// A session is over.
    pub(crate) fn session(&mut self, case: &Case) {
        let tally = case.tally();
        self.sessions += 1;
        self.frames += case.journal.said().count();
        self.questions += tally.asked;
        self.allowed += tally.allowed;
        self.unknown += tally.unknown;
    }

    /// Tells them.
    pub(crate) fn tell(&self) {
        let line = serde_json::json!({
            "test": self.name, "rounds": self.rounds, "hits": self.hits, "sessions": self.sessions,
            "frames": self.frames, "questions": self.questions, "allowed": self.allowed,
            "unknown": self.unknown, "resumed": self.resumed, "afresh": self.afresh,
            "slowest_ms": self.slowest.as_millis() as u64,
            "seconds": self.started.elapsed().as_secs(),
        });
        eprintln!("{line}");
        let Some(path) = std::env::var_os("FAULTS_FIGURES") else {
            return;
        };
        let file = std::fs::File::options()
            .create(true)
            .append(true)
            .open(path);
        let written = file.and_then(|mut file| writeln!(file, "{line}"));
        written.expect("the file of FAULTS_FIGURES can be written");
    }
}
