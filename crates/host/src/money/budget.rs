//! What a session may cost before a person is asked.
//!
//! Owns when to ask, not what a session has cost. Pure, and stored with the session. Invariant: a person is asked once for
//! an amount; the next question comes after they raised or lifted it and the new amount is spent, too.

use serde::{Deserialize, Serialize};

use crate::control::ControlError;

/// The largest budget: beyond it the sum of a session says nothing any more.
const MOST: f64 = 1e6;

/// How much more than its budget the CLI itself lets an agent spend, for the time that no host is there to interrupt it.
const BACKSTOP: f64 = 2.0;

/// Whether a session may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It goes on.
    Fine,
    /// The turn ends, and a person is asked.
    Interrupt,
}

/// For which amount a person was asked.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Budget {
    /// The largest one.
    asked: Option<f64>,
}

impl Budget {
    /// After something was spent, or the budget was changed: `spent` is what the session has cost by now.
    pub fn after(&mut self, spent: f64, budget: Option<f64>) -> Verdict {
        let Some(budget) = budget else {
            // A budget that is set after this one was lifted is a new one.
            self.asked = None;
            return Verdict::Fine;
        };
        let was_asked = self.asked.is_some_and(|asked| budget <= asked);
        if was_asked || !is_spent(spent, budget) {
            return Verdict::Fine;
        }
        self.asked = Some(budget);
        Verdict::Interrupt
    }
}

/// Whether the budget is spent: nothing begins by itself then.
pub fn is_over(spent: f64, budget: Option<f64>) -> bool {
    budget.is_some_and(|budget| is_spent(spent, budget))
}

/// A sum that is no number is as good as spent: what cannot be counted is not let run.
fn is_spent(spent: f64, budget: f64) -> bool {
    spent.is_nan() || spent >= budget
}

/// What an agent is told as its own limit (`--max-budget-usd`), when its session has cost `spent` before it starts.
///
/// The CLI holds it against what that process spends, also where its total goes on from earlier ones. All agents of a
/// session together get no further than twice the budget; one that a person let go on beyond that gets the budget again.
pub fn backstop(budget: f64, spent: f64) -> f64 {
    // The larger of the two, also if what was spent is no number.
    (budget * BACKSTOP - spent).max(budget)
}

/// A budget that a person gave, if it is one.
///
/// # Errors
/// [`ControlError::Invalid`] for what is no amount of dollars above zero.
pub fn sound(budget: Option<f64>) -> Result<Option<f64>, ControlError> {
    match budget {
        Some(amount) if amount.is_nan() || amount <= 0.0 || amount > MOST => {
            Err(ControlError::invalid(format!(
                "a budget is an amount of US dollars above 0 and up to {MOST}, such as 2.50; leave it out for none"
            )))
        }
        sound => Ok(sound),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_asked_once_for_an_amount() {
        let mut budget = Budget::default();
        assert_eq!(budget.after(0.99, Some(1.0)), Verdict::Fine);
        assert_eq!(budget.after(1.0, Some(1.0)), Verdict::Interrupt);
        // They let it go on as it is: later turns cost more, and nobody is asked again.
        for spent in [1.0, 1.5, 40.0] {
            assert_eq!(budget.after(spent, Some(1.0)), Verdict::Fine);
            assert!(is_over(spent, Some(1.0)));
        }
    }

    #[test]
    fn the_next_question_comes_after_it_was_raised_and_spent() {
        let mut budget = Budget::default();
        assert_eq!(budget.after(1.2, Some(1.0)), Verdict::Interrupt);
        assert_eq!(budget.after(1.2, Some(2.0)), Verdict::Fine);
        assert_eq!(budget.after(2.0, Some(2.0)), Verdict::Interrupt);
        assert_eq!(budget.after(2.0, Some(2.0)), Verdict::Fine);
        // Raised by too little is asked at once.
        assert_eq!(budget.after(9.0, Some(3.0)), Verdict::Interrupt);
        // Lowered is no news.
        assert_eq!(budget.after(9.0, Some(1.0)), Verdict::Fine);
    }

    #[test]
    fn a_budget_after_none_is_a_new_one() {
        let mut budget = Budget::default();
        assert_eq!(budget.after(5.0, Some(1.0)), Verdict::Interrupt);
        assert_eq!(budget.after(5.0, None), Verdict::Fine);
        assert!(!is_over(5.0, None));
        assert_eq!(budget.after(5.0, Some(1.0)), Verdict::Interrupt);
    }

    #[test]
    fn it_remembers_over_a_restart_of_the_host() {
        let mut budget = Budget::default();
        budget.after(1.0, Some(1.0));
        let text = serde_json::to_string(&budget).unwrap();
        let mut again: Budget = serde_json::from_str(&text).unwrap();
        assert_eq!(again.after(1.5, Some(1.0)), Verdict::Fine);
    }

    #[test]
    fn what_cannot_be_counted_is_not_let_run() {
        assert_eq!(
            Budget::default().after(f64::NAN, Some(1.0)),
            Verdict::Interrupt
        );
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e7] {
            assert!(sound(Some(bad)).is_err(), "{bad}");
        }
        assert_eq!(sound(Some(2.5)), Ok(Some(2.5)));
        assert_eq!(sound(None), Ok(None));
    }

    #[test]
    fn all_agents_of_a_session_get_no_further_than_twice_the_budget() {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(backstop(2.0, 0.0), 4.0));
        assert!(close(backstop(2.0, 1.5), 2.5));
        // Let go on by a person: never nothing, which the CLI would not take.
        assert!(close(backstop(2.0, 9.0), 2.0));
        assert!(close(backstop(2.0, f64::NAN), 2.0));
    }
}
