//! The calls that run, and the sub-agents they started.
//!
//! Owns the pairing of results with calls and how deep an agent is nested. Bounded: the oldest calls and agents are
//! forgotten beyond a number no session reaches.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;
use std::time::Duration;

use countersign_wire::Json;
use serde_json::Value;

use super::Speaker;
use crate::show::{call, text};
use crate::term::style::Line;

const MOST: usize = 4_096;
/// A longer input is not kept until its result.
const KEPT: usize = 1 << 20;

/// A call whose result has not come.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) headline: Line,
    /// Kept where the result is shown by it.
    pub(super) input: Value,
    pub(super) speaker: Speaker,
    since: Duration,
}

#[derive(Debug)]
struct Agent {
    depth: usize,
    label: String,
}

#[derive(Debug, Default)]
pub(super) struct Calls {
    open: HashMap<String, Call>,
    order: VecDeque<String>,
    agents: HashMap<String, Agent>,
    agents_order: VecDeque<String>,
    shown: HashSet<String>,
    denied: HashSet<String>,
}

impl Calls {
    /// A call begins: its headline.
    pub(super) fn begin(
        &mut self,
        id: &str,
        tool: &str,
        input: &Json,
        speaker: &Speaker,
        cwd: &Path,
        now: Duration,
    ) -> Line {
        let value = input.to_value().unwrap_or_default();
        let headline = call::headline(tool, &value, cwd);
        if matches!(tool, "Task" | "Agent") {
            let label =
                text::field(&value, "description").or_else(|| text::field(&value, "subagent_type"));
            self.agent(
                id,
                self.depth(speaker) + 1,
                text::one_row(label.unwrap_or("sub-agent"), 80),
            );
        }
        let is_kept = matches!(
            tool,
            "Write" | "Edit" | "MultiEdit" | "NotebookEdit" | "TodoWrite"
        ) && input.as_str().len() <= KEPT;
        let call = Call {
            tool: tool.to_owned(),
            headline: headline.clone(),
            input: if is_kept { value } else { Value::Null },
            speaker: speaker.clone(),
            since: now,
        };
        self.open.insert(id.to_owned(), call);
        self.order.push_back(id.to_owned());
        while self.order.len() > MOST {
            self.order
                .pop_front()
                .map(|oldest| self.open.remove(&oldest));
        }
        headline
    }

    /// Its result is here.
    pub(super) fn end(&mut self, id: &str) -> Option<Call> {
        self.order.retain(|other| other != id);
        self.open.remove(id)
    }

    pub(super) fn is_open(&self, id: &str) -> bool {
        self.open.contains_key(id)
    }

    /// A turn is over: what has no result will have none.
    pub(super) fn forget_open(&mut self) {
        self.open.clear();
        self.order.clear();
        self.shown.clear();
        self.denied.clear();
    }

    pub(super) fn note_shown(&mut self, id: &str) {
        if self.shown.len() < MOST {
            self.shown.insert(id.to_owned());
        }
    }

    pub(super) fn note_denied(&mut self, id: &str) {
        if self.denied.len() < MOST {
            self.denied.insert(id.to_owned());
        }
    }

    pub(super) fn was_shown(&mut self, id: &str) -> bool {
        self.shown.remove(id)
    }

    pub(super) fn was_denied(&mut self, id: &str) -> bool {
        self.denied.remove(id)
    }

    /// A sub-agent that is heard of for the first time without its call.
    pub(super) fn meet(&mut self, speaker: &Speaker, label: Option<&str>) {
        if let Some(id) = speaker
            .as_deref()
            .filter(|id| !self.agents.contains_key(*id))
        {
            self.agent(id, 1, text::one_row(label.unwrap_or("sub-agent"), 80));
        }
    }

    fn agent(&mut self, id: &str, depth: usize, label: String) {
        self.agents.insert(id.to_owned(), Agent { depth, label });
        self.agents_order.push_back(id.to_owned());
        while self.agents_order.len() > MOST {
            self.agents_order
                .pop_front()
                .map(|oldest| self.agents.remove(&oldest));
        }
    }

    /// How deep lines of this speaker are nested.
    pub(super) fn depth(&self, speaker: &Speaker) -> usize {
        match speaker {
            None => 0,
            Some(id) => self.agents.get(id).map_or(1, |agent| agent.depth),
        }
    }

    pub(super) fn label(&self, id: &str) -> &str {
        self.agents
            .get(id)
            .map_or("sub-agent", |agent| &agent.label)
    }

    /// The call that began last, since when, and how many run beside it.
    pub(super) fn running(&self) -> Option<(Line, Duration, usize)> {
        let call = self.order.back().and_then(|id| self.open.get(id))?;
        let is_agent = |call: &Call| matches!(&*call.tool, "Task" | "Agent");
        let others = self.open.values().filter(|call| !is_agent(call)).count();
        let others = others.saturating_sub(usize::from(!is_agent(call)));
        Some((call.headline.clone(), call.since, others))
    }
}
