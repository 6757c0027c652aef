//! What a person sees of a plan: its text, its wishes, and the ways on.
//!
//! Owns the wording of the ways, and what is said beforehand: how full the context is, that an agent will be started again,
//! what becomes of a changed plan on this version. Invariant: no way is offered that [`super::decide`] would refuse.

use countersign_client::options::Version;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::way;
use super::wish::Wish;
use crate::approval::{Agent, Asked};
use crate::control::approval::Way;

/// A plan to decide on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Card {
    /// The text. None: nobody knows it.
    pub text: Option<String>,
    /// What the plan wants permission for. Prose, with the rules that it may stand for; a decision names the rules.
    pub wishes: Vec<Wish>,
    /// The ways on, in the order they are shown.
    pub ways: Vec<WayOffer>,
    /// How full the context is, in percent, where it is known.
    pub context_percent: Option<f64>,
    /// The agent that asked has gone: every way but *no* starts one again.
    pub restarts: bool,
    /// What becomes of a plan that the person changes and approves, where it is not simply taken.
    pub edit_note: Option<String>,
}

/// A way on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WayOffer {
    /// Which.
    pub way: Way,
    /// In words.
    pub label: String,
    /// Whether the context can be compacted first.
    pub may_compact: bool,
}

/// What is shown of a plan.
pub fn card(
    asked: &Asked,
    version: Option<Version>,
    agent: Agent,
    context_percent: Option<f64>,
) -> Card {
    let text = asked.plan_text();
    let edit_note = (agent == Agent::Waits && !way::writes_plans(version)).then(|| {
        "This version of the CLI does not take a changed plan with the approval: the agent is asked to present it again."
            .to_owned()
    });
    Card {
        text: text.map(str::to_owned),
        wishes: way::wishes(asked),
        ways: ways(text.is_some(), context_percent),
        context_percent,
        restarts: agent == Agent::Gone,
        edit_note,
    }
}

fn ways(has_text: bool, context_percent: Option<f64>) -> Vec<WayOffer> {
    let offer = |way, label: &str| WayOffer {
        way,
        label: label.to_owned(),
        may_compact: way != Way::ClearContext,
    };
    if !has_text {
        return vec![
            offer(Way::Manual, "Leave plan mode, asking about each edit"),
            offer(Way::KeepPlanning, "Keep planning"),
        ];
    }
    let clear = match context_percent {
        Some(full) => format!("Go ahead in a fresh conversation (the context is {full:.0} % full)"),
        None => "Go ahead in a fresh conversation".to_owned(),
    };
    vec![
        offer(Way::ClearContext, &clear),
        offer(Way::AcceptEdits, "Go ahead, accepting edits"),
        offer(Way::Manual, "Go ahead, asking about each edit"),
        offer(Way::KeepPlanning, "Keep planning"),
    ]
}
