//! How an agent is brought to its end, step by step. Pure: times come in, the step to take goes out.
//!
//! Owns the order of the steps and their graces. Taking a step is done elsewhere. Invariants: steps only get harder; an
//! agent that must not lose its stdin within a turn is killed instead.

use std::time::Duration;

use crate::order::Graces;
use crate::protocol::EndPlan;

/// How long an agent has at most once nobody guards it.
const UNGUARDED: Duration = Duration::from_secs(1);

/// A step. Later ones are harder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// The running turn is interrupted.
    Interrupt,
    /// Stdin is closed.
    Stdin,
    /// SIGTERM to the agent's group.
    Terminate,
    /// SIGKILL to the agent.
    Kill,
}

impl Step {
    /// As it stands in the journal.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "interrupt",
            Self::Stdin => "stdin",
            Self::Terminate => "terminate",
            Self::Kill => "kill",
        }
    }
}

/// How far the end of the agent has come.
#[derive(Debug)]
pub(crate) struct Plan {
    graces: Graces,
    kill_first: bool,
    now: Option<(Step, Option<Duration>)>,
}

impl Plan {
    pub(crate) fn new(graces: Graces, kill_first: bool) -> Self {
        Self {
            graces,
            kill_first,
            now: None,
        }
    }

    /// Whether the agent must not lose its stdin within a turn.
    pub(crate) fn kills_first(&self) -> bool {
        self.kill_first
    }

    /// The step that was taken last.
    pub(crate) fn step(&self) -> Option<Step> {
        self.now.map(|(step, _)| step)
    }

    /// When [`Plan::tick`] has something to say.
    pub(crate) fn until(&self) -> Option<Duration> {
        self.now?.1
    }

    /// The agent is to end. Returns the step to take; none if a step as hard as that was taken before.
    pub(crate) fn ask(&mut self, plan: EndPlan, in_turn: bool, now: Duration) -> Option<Step> {
        let first = match plan {
            EndPlan::Gentle if in_turn => Step::Interrupt,
            EndPlan::Gentle => Step::Stdin,
            EndPlan::Quick => Step::Terminate,
            EndPlan::Kill => Step::Kill,
        };
        (self.step() < Some(first)).then(|| self.enter(first, now))
    }

    /// The guard is gone: if this process were killed now, nobody would end the agent. There is a moment for SIGTERM, in
    /// which it can write down its conversation, and no more.
    pub(crate) fn hurry(&mut self, now: Duration) -> Option<Step> {
        let step = self.ask(EndPlan::Quick, false, now);
        if let Some((Step::Terminate, Some(until))) = &mut self.now {
            *until = (*until).min(now + UNGUARDED);
        }
        step
    }

    /// The turn is over.
    pub(crate) fn turn_ended(&mut self, now: Duration) -> Option<Step> {
        (self.step() == Some(Step::Interrupt)).then(|| self.enter(Step::Stdin, now))
    }

    /// Time has passed.
    pub(crate) fn tick(&mut self, now: Duration) -> Option<Step> {
        let (step, until) = self.now?;
        if until? > now {
            return None;
        }
        let next = match step {
            Step::Interrupt if self.kill_first => Step::Kill,
            Step::Interrupt => Step::Stdin,
            Step::Stdin => Step::Terminate,
            Step::Terminate | Step::Kill => Step::Kill,
        };
        Some(self.enter(next, now))
    }

    fn enter(&mut self, step: Step, now: Duration) -> Step {
        let grace = match step {
            Step::Interrupt => Some(self.graces.interrupt_ms),
            Step::Stdin => Some(self.graces.stdin_ms),
            Step::Terminate => Some(self.graces.terminate_ms),
            Step::Kill => None,
        };
        self.now = Some((step, grace.map(|ms| now + Duration::from_millis(ms))));
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn plan(kill_first: bool) -> Plan {
        Plan::new(Graces::default(), kill_first)
    }

    #[test]
    fn a_gentle_end_takes_every_step_after_its_grace() {
        let mut plan = plan(false);
        assert_eq!(plan.tick(at(0)), None);
        assert_eq!(
            plan.ask(EndPlan::Gentle, true, at(0)),
            Some(Step::Interrupt)
        );
        assert_eq!(
            (plan.tick(at(1_999)), plan.until()),
            (None, Some(at(2_000)))
        );
        assert_eq!(plan.tick(at(2_000)), Some(Step::Stdin));
        assert_eq!(plan.tick(at(6_999)), None);
        assert_eq!(plan.tick(at(7_000)), Some(Step::Terminate));
        assert_eq!(plan.tick(at(9_000)), Some(Step::Kill));
        assert_eq!((plan.tick(at(99_000)), plan.until()), (None, None));
    }

    #[test]
    fn the_result_of_the_turn_is_not_waited_for_any_longer() {
        let mut plan = plan(false);
        assert_eq!(plan.turn_ended(at(0)), None);
        plan.ask(EndPlan::Gentle, true, at(0));
        assert_eq!(plan.turn_ended(at(10)), Some(Step::Stdin));
        assert_eq!(plan.turn_ended(at(11)), None);
        assert_eq!(plan.until(), Some(at(5_010)));
    }

    #[test]
    fn without_a_turn_there_is_nothing_to_interrupt() {
        assert_eq!(
            plan(true).ask(EndPlan::Gentle, false, at(0)),
            Some(Step::Stdin)
        );
    }

    #[test]
    fn an_agent_that_must_not_lose_its_stdin_within_a_turn_is_killed() {
        let mut stuck = plan(true);
        stuck.ask(EndPlan::Gentle, true, at(0));
        assert_eq!(stuck.tick(at(2_000)), Some(Step::Kill));
        let mut ended = plan(true);
        ended.ask(EndPlan::Gentle, true, at(0));
        assert_eq!(ended.turn_ended(at(5)), Some(Step::Stdin));
    }

    #[test]
    fn without_a_guard_there_is_a_moment_for_sigterm_and_no_more() {
        let mut late = plan(false);
        late.ask(EndPlan::Gentle, true, at(0));
        assert_eq!(late.hurry(at(500)), Some(Step::Terminate));
        assert_eq!(late.until(), Some(at(1_500)));
        assert_eq!(late.tick(at(1_500)), Some(Step::Kill));
        assert_eq!((late.hurry(at(1_600)), late.until()), (None, None));
        let mut terminated = plan(false);
        terminated.ask(EndPlan::Quick, true, at(0));
        assert_eq!(terminated.hurry(at(100)), None);
        assert_eq!(terminated.until(), Some(at(1_100)));
    }

    #[test]
    fn a_second_wish_only_makes_it_harder() {
        let mut plan = plan(false);
        assert_eq!(plan.ask(EndPlan::Quick, true, at(0)), Some(Step::Terminate));
        assert_eq!(plan.ask(EndPlan::Gentle, true, at(1)), None);
        assert_eq!(plan.ask(EndPlan::Quick, true, at(2)), None);
        assert_eq!(plan.ask(EndPlan::Kill, true, at(3)), Some(Step::Kill));
        assert_eq!(plan.ask(EndPlan::Kill, true, at(4)), None);
    }
}
