//! What every agent of a fleet does, and what must come of it.
//!
//! Owns the scenario and the counts that follow from it. Invariant: whatever is counted afterwards is counted against this,
//! never against what another agent did.

use std::fmt::Write as _;

/// How much each agent says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene {
    /// Bursts of deltas in the turn with calls.
    pub(crate) bursts: usize,
    /// Deltas in a burst, numbered from 1.
    pub(crate) deltas: usize,
}

/// Bytes of text in a delta.
const BYTES: usize = 120;

/// Between two bursts: an agent streams for seconds, as a model does, and does not only flood once.
const PAUSE: &str = "200ms";

/// The message that begins the turn with calls, and the one that begins the turn that streams until it is interrupted.
pub(crate) const WORK: &str = "work";
pub(crate) const TALK: &str = "talk";

/// Leaves a mark; a rule allows it.
pub(crate) const ALLOWED: &str = "mark";
/// Leaves a mark, too; a rule denies it.
pub(crate) const DENIED: &str = "wreck";

/// The person's own rules.
pub(crate) const RULES: &str = r#"[[rule]]
allow = "Bash(./mark:*)"

[[rule]]
deny = "Bash(./wreck:*)"
"#;

impl Scene {
    pub(crate) const FULL: Self = Self {
        bursts: 40,
        deltas: 50,
    };
    pub(crate) const QUICK: Self = Self {
        bursts: 12,
        deltas: 25,
    };

    /// Calls of one agent that a rule allows.
    pub(crate) const CALLS_ALLOWED: usize = 4;
    /// Calls of one agent that a rule denies.
    pub(crate) const CALLS_DENIED: usize = 2;

    /// Bursts come around the calls, and two calls are of one message.
    pub(crate) fn text(&self) -> String {
        let call = |name: &str, number: &str| {
            format!(
                "  tool Bash {{\"command\":\"./{name} ${{prompt}} {number}\",\"description\":\"Leave a mark\"}}\n"
            )
        };
        let part = (self.bursts / 4).to_string();
        let stream = |bursts: &str| {
            format!(
                "  repeat {bursts}\n    flood {} {BYTES}\n    wait {PAUSE}\n  end\n",
                self.deltas
            )
        };
        let mut text = format!("turn always when \"{WORK}\"\n");
        text += &stream(&part);
        text += &call(ALLOWED, "1");
        text += &stream(&part);
        text += &call(DENIED, "2");
        text += &stream(&part);
        let _ = write!(
            text,
            "  together\n{}{}  end\n",
            call(ALLOWED, "3"),
            call(DENIED, "4")
        );
        text += &call(ALLOWED, "5");
        text += &stream(&(self.bursts - self.bursts / 4 * 3).to_string());
        text += &call(ALLOWED, "6");
        text += "  say \"Done.\"\n";
        let _ = write!(text, "turn always when \"{TALK}\"\n{}", stream("forever"));
        text + "turn always\n  say \"Here I am.\"\n"
    }

    /// Marks that the agent with this message leaves, in their order.
    pub(crate) fn marks(message: &str) -> Vec<String> {
        ["1", "3", "5", "6"]
            .map(|number| format!("{ALLOWED} {message} {number}"))
            .to_vec()
    }
}

/// The message to agent `index`.
pub(crate) fn message(what: &str, index: usize) -> String {
    format!("{what} agent-{index}")
}
