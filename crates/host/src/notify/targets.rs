//! All targets with what waits for each.
//!
//! Owns the queues and which job is next. Pure: time and jitter come in. Invariants: a target has one job under way, and at
//! most [`Targets::BOUND`] that wait; jobs about one session keep their order, and a job that is to be tried again holds
//! back only those of its own session; when a queue is full, the oldest of the same kind is merged into the new one, which
//! tells how many it stands for.

mod replace;

use std::collections::{BTreeSet, VecDeque};

use super::delivery::Delivery;
use super::event::{Event, Kind};
use super::job::{Job, Next, Outcome, Schedule};
use super::target::{BadTarget, Target};
use crate::control::{ApprovalId, SessionId};

/// Something that a person should know about targets.
///
/// Whoever makes events of these tells no target about them: a target that cannot be reached would be told of it for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// A queue is full: an event was left out in favour of a later one.
    Merged {
        /// Of which target.
        target: String,
        /// Of which kind the event was that was left out.
        kind: Kind,
        /// How many were left out since this host began.
        so_far: u64,
    },
    /// An event did not arrive.
    GaveUp {
        /// At which target.
        target: String,
        /// Where that is, as far as it may be shown.
        place: String,
        /// Which event.
        kind: Kind,
        /// About which session.
        session: Option<SessionId>,
        /// After so many tries.
        tries: u32,
        /// Why.
        why: String,
    },
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Merged {
                target,
                kind,
                so_far,
            } => write!(
                f,
                "`{target}` does not keep up: an event `{}` was merged into a later one ({so_far} so far)",
                kind.name()
            ),
            Self::GaveUp {
                target,
                place,
                kind,
                why,
                ..
            } => write!(
                f,
                "`{target}` ({place}) was not told of `{}`: {why}",
                kind.name()
            ),
        }
    }
}

#[derive(Debug)]
struct Lane {
    target: Target,
    /// In the order of events.
    waiting: VecDeque<Job>,
    under_way: Option<Job>,
    left_out: u64,
    /// What became of the last try.
    last: Option<Delivery>,
    /// It is told no longer; its place stays, since jobs know it by that.
    is_retired: bool,
}

/// All targets with what waits for each.
#[derive(Debug)]
pub struct Targets {
    lanes: Vec<Lane>,
    schedule: Schedule,
    bound: usize,
    next: u64,
}

impl Targets {
    /// How many jobs wait for a target at most.
    pub const BOUND: usize = 256;

    /// These targets, with nothing to tell yet.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub fn new(targets: Vec<Target>, schedule: Schedule) -> Result<Self, BadTarget> {
        let mut names = BTreeSet::new();
        for target in &targets {
            target.check()?;
            if !names.insert(target.name.clone()) {
                return Err(BadTarget::Twice(target.name.clone()));
            }
        }
        Ok(Self {
            lanes: targets.into_iter().map(Lane::of).collect(),
            schedule,
            bound: Self::BOUND,
            next: 0,
        })
    }

    /// With another bound.
    #[must_use]
    pub fn bound(mut self, bound: usize) -> Self {
        self.bound = bound.max(1);
        self
    }

    /// The target of a job.
    pub fn target(&self, job: &Job) -> Option<&Target> {
        self.lanes.get(job.target).map(|lane| &lane.target)
    }

    /// Something happened: a job for each target that wants to know. Says where one had no room.
    pub fn on(&mut self, event: &Event, now: u64) -> Vec<Said> {
        self.put(event, now, |_| true)
    }

    /// As [`Targets::on`], for one target. None if there is no such target.
    pub fn on_one(&mut self, name: &str, event: &Event, now: u64) -> Option<Vec<Said>> {
        let is_it = |lane: &Lane| lane.target.name == name && !lane.is_retired;
        let is_there = self.lanes.iter().any(is_it);
        is_there.then(|| self.put(event, now, |target| target.name == name))
    }

    fn put(&mut self, event: &Event, now: u64, chosen: impl Fn(&Target) -> bool) -> Vec<Said> {
        let number = self.next;
        self.next += 1;
        let bound = self.bound;
        let wants =
            |lane: &Lane| !lane.is_retired && lane.target.wants(event.kind) && chosen(&lane.target);
        let lanes = self.lanes.iter_mut().enumerate();
        lanes
            .filter(|(_, lane)| wants(lane))
            .filter_map(|(place, lane)| {
                let job = Job::new(place, number, event.clone(), now);
                lane.put(job, bound)
            })
            .collect()
    }

    /// The jobs to begin now, at most one a target. Each is under way until [`Targets::tried`] says what became of it.
    pub fn due(&mut self, now: u64) -> Vec<Job> {
        self.lanes
            .iter_mut()
            .filter_map(|lane| lane.begin(now))
            .collect()
    }

    /// When [`Targets::due`] has something next, as far as that depends on time alone.
    pub fn wake_at(&self) -> Option<u64> {
        let free = self.lanes.iter().filter(|lane| lane.under_way.is_none());
        let first = free.flat_map(|lane| lane.startable().map(|place| lane.waiting[place].at));
        first.min()
    }

    /// What became of a try that ended `now`. Says if the job was given up.
    pub fn tried(&mut self, job: &Job, now: u64, outcome: &Outcome, jitter: f64) -> Option<Said> {
        let lane = self.lanes.get_mut(job.target)?;
        // A job that was under way is the only one that can have been tried.
        let mut job = lane.under_way.take_if(|own| own.number == job.number)?;
        let next = job.tried(now, outcome, &self.schedule, jitter);
        lane.last = Some(Delivery::of(&job, now, &next, &lane.target));
        match next {
            Next::Done => None,
            Next::Again { .. } if job.is_settled => None,
            Next::Again { at, .. } => {
                job.at = at;
                lane.put_back(job);
                None
            }
            Next::GiveUp { why } => Some(Said::GaveUp {
                target: lane.target.name.clone(),
                place: lane.target.place(),
                kind: job.kind(),
                session: job.session(),
                tries: job.tries,
                why: lane.target.shown(&why),
            }),
        }
    }

    /// What became of the last try at the target of that name, if there was one.
    pub fn last(&self, name: &str) -> Option<&Delivery> {
        let is_it = |lane: &&Lane| lane.target.name == name && !lane.is_retired;
        self.lanes.iter().find(is_it)?.last.as_ref()
    }

    /// A question is settled: whoever has not been told of it need not be.
    pub fn settled(&mut self, approval: ApprovalId) {
        for lane in &mut self.lanes {
            // One that stands for others is told all the same.
            let is_over = |job: &Job| job.approval() == Some(approval) && job.merged == 0;
            lane.waiting.retain(|job| !is_over(job));
            if let Some(job) = lane.under_way.as_mut().filter(|job| is_over(job)) {
                job.is_settled = true;
            }
        }
    }

    /// How many jobs wait or are under way.
    pub fn open(&self) -> usize {
        let open = |lane: &Lane| lane.waiting.len() + usize::from(lane.under_way.is_some());
        self.lanes.iter().map(open).sum()
    }
}

impl Lane {
    fn of(target: Target) -> Self {
        Self {
            target,
            waiting: VecDeque::new(),
            under_way: None,
            left_out: 0,
            last: None,
            is_retired: false,
        }
    }

    fn put(&mut self, mut job: Job, bound: usize) -> Option<Said> {
        let mut said = None;
        if self.waiting.len() >= bound {
            let same_kind = self.waiting.iter().position(|one| one.kind() == job.kind());
            // With none of its kind the oldest goes: the newest is what a person can still act on.
            if let Some(left_out) = self.waiting.remove(same_kind.unwrap_or(0)) {
                job.merge(&left_out);
                self.left_out += 1;
                said = Some(Said::Merged {
                    target: self.target.name.clone(),
                    kind: left_out.kind(),
                    so_far: self.left_out,
                });
            }
        }
        self.waiting.push_back(job);
        said
    }

    /// Where those stand that no earlier one of their session holds back.
    fn startable(&self) -> impl Iterator<Item = usize> + '_ {
        let mut seen = BTreeSet::new();
        let jobs = self.waiting.iter().enumerate();
        jobs.filter_map(move |(place, job)| seen.insert(job.session()).then_some(place))
    }

    fn begin(&mut self, now: u64) -> Option<Job> {
        if self.under_way.is_some() {
            return None;
        }
        let place = self
            .startable()
            .find(|place| self.waiting[*place].at <= now)?;
        let mut job = self.waiting.remove(place)?;
        job.tries += 1;
        self.under_way = Some(job.clone());
        Some(job)
    }

    /// Back to its place in the order. The queue may hold one more than its bound then: the one that was under way.
    fn put_back(&mut self, job: Job) {
        let place = self.waiting.partition_point(|one| one.number < job.number);
        self.waiting.insert(place, job);
    }
}

#[cfg(test)]
#[path = "targets_tests.rs"]
mod tests;
