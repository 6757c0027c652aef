//! Who speaks: the main conversation, or a sub-agent below a call.
//!
//! Owns the tree of sub-agents as far as it is needed to place a line: by the call that started one, or by the agent's own
//! id. Bounded: the oldest agents are forgotten, and their lines stand without a parent.

use countersign_wire::route::Route;
use serde::{Deserialize, Serialize};

use super::Fold;
use super::live::Place;
use crate::bounds;
use crate::clip::word;
use crate::id::EntryId;

/// A sub-agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Agent {
    /// The entry of the call that started it.
    pub(super) entry: EntryId,
    /// The call of the sub-agent that made that call; empty in the main conversation.
    pub(super) above: String,
    /// What it does.
    pub(super) label: String,
    /// The agent's own id, which is that of its task.
    pub(super) agent_id: Option<String>,
}

impl Fold {
    /// Whose a line is.
    pub(super) fn place(&self, route: &Route<'_>) -> Place {
        match &route.parent_tool_use_id {
            Some(id) => self.place_under(&id.get()),
            None => Place::default(),
        }
    }

    /// The place of what a sub-agent says, by the call that started it.
    pub(super) fn place_under(&self, speaker: &str) -> Place {
        if speaker.is_empty() {
            return Place::default();
        }
        Place {
            parent: self.agents.get(speaker).map(|agent| agent.entry),
            speaker: Some(word(speaker)),
        }
    }

    /// The place of what a sub-agent says, by its own id.
    pub(super) fn place_of(&self, agent_id: Option<&str>) -> Place {
        let Some(agent_id) = agent_id else {
            return Place::default();
        };
        let found = self
            .agents
            .iter()
            .find(|(_, agent)| agent.agent_id.as_deref() == Some(agent_id));
        match found {
            Some((speaker, _)) => self.place_under(speaker),
            None => Place::default(),
        }
    }

    /// A call starts a sub-agent.
    pub(super) fn agent_started(&mut self, tool_use_id: &str, entry: EntryId, above: &str) {
        let agent = Agent {
            entry,
            above: above.to_owned(),
            label: String::new(),
            agent_id: None,
        };
        self.agents.insert(tool_use_id.to_owned(), agent);
        if self.agents.len() > bounds::AGENTS {
            let oldest = self.agents.iter().min_by_key(|(_, agent)| agent.entry);
            let oldest = oldest.map(|(id, _)| id.clone());
            oldest.map(|id| self.agents.remove(&id));
        }
    }

    /// Something is learnt about a sub-agent.
    pub(super) fn agent_met(
        &mut self,
        tool_use_id: &str,
        agent_id: Option<&str>,
        label: Option<&str>,
    ) {
        if let Some(agent) = self.agents.get_mut(tool_use_id) {
            if let (None, Some(id)) = (&agent.agent_id, agent_id) {
                agent.agent_id = Some(word(id));
            }
            if let (true, Some(label)) = (agent.label.is_empty(), label) {
                agent.label = word(label);
            }
        }
    }

    /// What the sub-agents do that lead to this one, outermost first.
    pub(super) fn path(&self, speaker: Option<&str>) -> Vec<String> {
        let mut path = Vec::new();
        let mut at = speaker.unwrap_or_default();
        while let Some(agent) = self.agents.get(at) {
            path.push(agent.label.clone());
            if path.len() >= bounds::DEPTH {
                break;
            }
            at = &agent.above;
        }
        path.reverse();
        path
    }
}
