//! A decision as it is recorded, and how it reads.
//!
//! Owns who is said to have decided, and what. Invariants: what no rule is named for is the mode's; a plan that was sent
//! back to be made better was not denied.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::approval::Way;

/// A decision as it is recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Decided {
    /// What was decided. `deny` also for a plan that was sent back: `way` tells the two apart.
    pub effect: Effect,
    /// For a plan: the way on that was taken, also where a plain yes or no came to one. Nothing where it was denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way: Option<Way>,
    /// Who: a person's token, `rule`, `expired`, `budget`.
    pub by: String,
    /// Which rule, or what was said.
    pub why: String,
    /// From which client.
    pub client: String,
    /// When: microseconds of Unix time.
    pub at: u64,
    /// The whole of it, for the record.
    pub decision: Value,
}

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Yes.
    Allow,
    /// No.
    Deny,
}

impl Decided {
    /// Returns the word for what was decided: `allow`, `deny`, or `keep-planning` for a plan that was sent back.
    pub fn verdict(&self) -> &'static str {
        match (self.effect, self.way) {
            (_, Some(Way::KeepPlanning)) => "keep-planning",
            (Effect::Allow, _) => "allow",
            (Effect::Deny, _) => "deny",
        }
    }

    /// Returns who decided, as the record says it: `mode` where the host decided and no rule is named.
    pub fn decider(&self) -> &str {
        let names_rule = self.decision.get("rule").is_some_and(Value::is_string);
        match self.by.as_str() {
            "rule" if !names_rule => "mode",
            by => by,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plan_that_was_sent_back_is_no_denial_and_what_no_rule_decided_is_the_modes() {
        let mut decided = Decided {
            effect: Effect::Deny,
            way: Some(Way::KeepPlanning),
            by: "rule".to_owned(),
            why: String::new(),
            client: "host".to_owned(),
            at: 1,
            decision: json!({"kind": "profile", "rule": null}),
        };
        assert_eq!(
            (decided.verdict(), decided.decider()),
            ("keep-planning", "mode")
        );
        decided.way = None;
        decided.decision = json!({"kind": "rule", "rule": "deny Bash"});
        assert_eq!((decided.verdict(), decided.decider()), ("deny", "rule"));
        decided.by = "anna".to_owned();
        decided.effect = Effect::Allow;
        decided.decision = json!({"decision": "allow"});
        assert_eq!((decided.verdict(), decided.decider()), ("allow", "anna"));
    }
}
