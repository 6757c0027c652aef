//! Other targets while jobs are under way.
//!
//! Owns [`Targets::replace`]. Invariants: a job keeps its place, so that what becomes of it is told of the right target; who
//! is told no longer gets nothing more, whatever waits.

use super::{Lane, Targets};
use crate::notify::target::{BadTarget, Target};

impl Targets {
    /// These are told from now on, and nobody else. What waits for one that stays is still told to it.
    ///
    /// # Errors
    /// What is wrong with one of them; then nothing changes.
    pub fn replace(&mut self, targets: Vec<Target>) -> Result<(), BadTarget> {
        let new = Self::new(targets, self.schedule)?.lanes;
        let mut new: Vec<Target> = new.into_iter().map(|lane| lane.target).collect();
        for lane in &mut self.lanes {
            match new.iter().position(|one| one.name == lane.target.name) {
                Some(place) => {
                    let target = new.remove(place);
                    if lane.is_retired || lane.target.to != target.to {
                        // It is somewhere else now.
                        lane.last = None;
                    }
                    lane.target = target;
                    lane.is_retired = false;
                }
                None => lane.retire(),
            }
        }
        for target in new {
            let is_free = |lane: &&mut Lane| lane.is_retired && lane.under_way.is_none();
            match self.lanes.iter_mut().find(is_free) {
                Some(lane) => *lane = Lane::of(target),
                None => self.lanes.push(Lane::of(target)),
            }
        }
        Ok(())
    }

    /// Whether nobody is told anything.
    pub fn is_empty(&self) -> bool {
        self.lanes.iter().all(|lane| lane.is_retired)
    }
}

impl Lane {
    fn retire(&mut self) {
        self.is_retired = true;
        self.waiting.clear();
        // Not tried again.
        if let Some(job) = &mut self.under_way {
            job.is_settled = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::notify::{Event, Outcome, Schedule, Secret, Shape, Target, Targets, To};

    fn target(name: &str) -> Target {
        Target {
            name: name.to_owned(),
            on: Target::usual(),
            to: To::Webhook {
                url: Secret::new("http://127.0.0.1:9/hook"),
                secret: None,
                headers: Default::default(),
                shape: Shape::Text,
            },
        }
    }

    fn targets(names: &[&str]) -> Vec<Target> {
        names.iter().map(|name| target(name)).collect()
    }

    #[test]
    fn what_became_of_a_try_is_forgotten_with_the_address() {
        let mut targets = Targets::new(vec![target("one")], Schedule::default()).unwrap();
        targets.on_one("one", &Event::test(1), 1);
        let job = targets.due(1).remove(0);
        targets.tried(&job, 2, &Outcome::Done, 0.5);
        let mut same = target("one");
        same.on.clear();
        targets.replace(vec![same]).unwrap();
        assert!(targets.last("one").is_some(), "it is told there as before");
        let mut other = target("one");
        if let To::Webhook { url, .. } = &mut other.to {
            *url = Secret::new("http://127.0.0.1:9/elsewhere");
        }
        targets.replace(vec![other]).unwrap();
        assert_eq!(targets.last("one"), None);
        targets.replace(Vec::new()).unwrap();
        assert_eq!(targets.last("one"), None);
    }

    #[test]
    fn who_is_told_no_longer_gets_nothing_more_and_the_others_keep_what_waits() {
        let mut all = Targets::new(targets(&["a", "b"]), Schedule::default()).unwrap();
        for name in ["a", "b"] {
            assert!(all.on_one(name, &Event::test(1), 1).is_some());
        }
        let under_way = all.due(1);
        assert_eq!(under_way.len(), 2);
        for name in ["a", "b"] {
            assert!(all.on_one(name, &Event::test(2), 2).is_some());
        }
        all.replace(targets(&["b", "c"])).unwrap();
        assert!(all.on_one("a", &Event::test(3), 3).is_none(), "it is gone");
        assert_eq!(all.open(), 3, "one of each under way, and one of b waits");
        let failed = Outcome::Unreached { why: "no".into() };
        for job in &under_way {
            all.tried(job, 4, &failed, 0.5);
        }
        assert_eq!(all.open(), 2, "what was under way for a is not tried again");
        all.replace(Vec::new()).unwrap();
        assert!(all.is_empty());
        assert_eq!(all.open(), 0);
    }

    #[test]
    fn one_that_comes_back_is_told_again_and_an_unsound_one_changes_nothing() {
        let mut all = Targets::new(targets(&["a"]), Schedule::default()).unwrap();
        all.replace(Vec::new()).unwrap();
        all.replace(targets(&["b"])).unwrap();
        all.replace(targets(&["a"])).unwrap();
        assert!(all.on_one("a", &Event::test(1), 1).is_some());
        assert!(all.replace(targets(&["b", "b"])).is_err());
        assert!(all.on_one("a", &Event::test(1), 1).is_some());
    }
}
