//! Sub-agents and shells that the agent keeps track of (2.1.62 and later).
//!
//! Owns which entry tells of a task: that of its call, if the call started a sub-agent; one of its own, if it runs in the
//! background; none, if it is a call that merely takes long.

use countersign_wire::route::Route;
use serde::{Deserialize, Serialize};

use super::Fold;
use super::tools::new_task;
use crate::body::{Role, Task, TaskState};
use crate::bounds;
use crate::clip::{Clip, word};
use crate::entry::Body;
use crate::glance::{self, TaskGlance, TasksGlance};
use crate::id::EntryId;
use crate::meter::whole;

/// Where a task is told of.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum TaskAt {
    /// In an entry of its own, or in that of its call.
    Entry(EntryId),
    /// Nowhere so far: the turn waits for it.
    Front {
        call: EntryId,
        kind: Option<String>,
        description: String,
    },
}

impl TaskAt {
    /// The entry whose end is the task's.
    pub(super) fn entry(&self) -> Option<EntryId> {
        match self {
            Self::Entry(entry) => Some(*entry),
            Self::Front { call, .. } => Some(*call),
        }
    }
}

impl Fold {
    pub(super) fn task(&mut self, line: &[u8], route: &Route<'_>, subtype: &str) {
        let glance = glance::line::<TaskGlance>(line);
        let id = glance.as_ref().and_then(|glance| glance.task_id.as_deref());
        let (Some(id), Some(glance)) = (id.map(word), glance.as_ref()) else {
            return self.broken(line, route);
        };
        match subtype {
            "task_started" => self.task_started(&id, glance),
            "task_updated" => {
                if let Some(patch) = &glance.patch {
                    self.task_changed(&id, patch, false);
                }
            }
            "task_progress" => self.task_changed(&id, glance, false),
            _ => {
                // A CLI that tells only of the end is believed, too.
                if !self.tasks.contains_key(&id) {
                    self.task_started(&id, glance);
                    self.moved_back(&id);
                }
                self.task_changed(&id, glance, true);
            }
        }
    }

    fn task_started(&mut self, id: &str, glance: &TaskGlance) {
        if self.tasks.contains_key(id) {
            return self.task_changed(id, glance, false);
        }
        if self.tasks.len() >= bounds::TASKS {
            return;
        }
        let call = glance.tool_use_id.as_deref().map(word);
        let call = call.as_ref().and_then(|call| self.calls.get(call));
        let call = call.map(|call| call.entry);
        let role = call.and_then(|call| match &self.live.get(call)?.body {
            Body::Tool(tool) => Some(tool.role),
            _ => None,
        });
        if let (Some(call), Some(Role::Agent)) = (call, role) {
            self.tasks.insert(id.to_owned(), TaskAt::Entry(call));
            if let Some(call) = &glance.tool_use_id {
                self.agent_met(&word(call), Some(id), glance.description.as_deref());
            }
            if let Some(tool) = self.live.tool(call) {
                let agent = tool.agent.get_or_insert_with(|| Box::new(new_task()));
                agent.task_id = Some(id.to_owned());
            }
            return self.task_changed(id, glance, false);
        }
        let at = match (call, glance.is_backgrounded) {
            (Some(call), Some(false)) => TaskAt::Front {
                call,
                kind: glance.task_type.as_deref().map(word),
                description: word(glance.description.as_deref().unwrap_or_default()),
            },
            _ => return self.open_task(id, glance, call),
        };
        self.tasks.insert(id.to_owned(), at);
    }

    /// A task gets an entry of its own.
    fn open_task(&mut self, id: &str, glance: &TaskGlance, call: Option<EntryId>) {
        let mut task = new_task();
        task.task_id = Some(id.to_owned());
        task.tool_use_id = glance.tool_use_id.as_deref().map(word);
        task.tool = call;
        task.is_background = true;
        update(&mut task, glance, self.live.here());
        let place = match call.and_then(|call| self.live.get(call)) {
            Some(entry) => self.place_under(entry.speaker.as_deref().unwrap_or_default()),
            None => super::live::Place::default(),
        };
        let entry = self.live.open(place, Body::Task(Box::new(task)));
        self.tasks.insert(id.to_owned(), TaskAt::Entry(entry));
        self.sums().tasks += 1;
    }

    /// The turn no longer waits for a task.
    pub(super) fn moved_back(&mut self, id: &str) {
        let Some(TaskAt::Front {
            call,
            kind,
            description,
        }) = self.tasks.get(id).cloned()
        else {
            return;
        };
        let glance = TaskGlance {
            task_type: kind,
            description: Some(description),
            tool_use_id: match self.live.get(call).map(|entry| &entry.body) {
                Some(Body::Tool(tool)) => Some(tool.tool_use_id.clone()),
                _ => None,
            },
            ..TaskGlance::default()
        };
        self.open_task(id, &glance, Some(call));
    }

    fn task_changed(&mut self, id: &str, glance: &TaskGlance, is_end: bool) {
        if glance.is_backgrounded == Some(true) {
            self.moved_back(id);
        }
        let (here, at) = (self.live.here(), self.live.at());
        let Some(TaskAt::Entry(entry)) = self.tasks.get(id).cloned() else {
            return;
        };
        let body = self.live.change(entry).map(|entry| &mut entry.body);
        let (task, has_returned) = match body {
            Some(Body::Task(task)) => (task, true),
            Some(Body::Tool(tool)) => match &mut tool.agent {
                Some(agent) => (agent, tool.result.is_some()),
                None => return,
            },
            _ => return,
        };
        update(task, glance, here);
        if is_end && !task.state.is_over() {
            task.state = TaskState::Completed;
        }
        if task.state.is_over() {
            task.ended_at.get_or_insert(at);
        }
        if is_end && has_returned {
            match self.live.get(entry).map(|entry| &entry.body) {
                Some(Body::Tool(_)) => self.end_call(entry),
                _ => self.close(entry),
            }
        }
    }

    /// The list of what runs in the background.
    pub(super) fn task_list(&mut self, line: &[u8], route: &Route<'_>) {
        let Some(glance) = glance::line::<TasksGlance>(line) else {
            return self.broken(line, route);
        };
        let listed = glance.tasks.unwrap_or_default();
        let is_listed = |id: &str| {
            let ids = listed.iter().filter_map(|task| task.task_id.as_deref());
            ids.into_iter().any(|listed| word(listed) == id)
        };
        for id in self.tasks.keys().cloned().collect::<Vec<_>>() {
            if is_listed(&id) {
                self.moved_back(&id);
            } else {
                self.unlisted(&id);
            }
        }
    }

    /// A task that was said to be over, and of which no last word came.
    fn unlisted(&mut self, id: &str) {
        let Some(TaskAt::Entry(entry)) = self.tasks.get(id).cloned() else {
            return;
        };
        match self.live.get(entry).map(|entry| &entry.body) {
            Some(Body::Task(task)) if task.state.is_over() => self.close(entry),
            Some(Body::Tool(tool)) if tool.result.is_some() => {
                let agent = tool.agent.as_ref();
                if agent.is_some_and(|agent| agent.state.is_over()) {
                    self.end_call(entry);
                }
            }
            _ => {}
        }
    }
}

/// Takes what a message says about a task.
fn update(task: &mut Task, glance: &TaskGlance, here: countersign_journal::Cursor) {
    let set = |field: &mut Option<String>, said: &Option<String>| {
        if let Some(said) = said {
            *field = Some(word(said));
        }
    };
    set(&mut task.kind, &glance.task_type);
    set(&mut task.agent_type, &glance.subagent_type);
    set(&mut task.output_file, &glance.output_file);
    set(&mut task.last_tool, &glance.last_tool_name);
    set(&mut task.error, &glance.error);
    // Progress has its own words for what the task does at the moment.
    if let (true, Some(description)) = (task.description.is_empty(), &glance.description) {
        task.description = word(description);
    }
    task.is_background |= glance.is_backgrounded == Some(true);
    if let Some(usage) = &glance.usage {
        let number = |number: Option<f64>| number.map(|number| whole(Some(number)));
        task.tokens = number(usage.total_tokens).or(task.tokens);
        task.tool_uses = number(usage.tool_uses).or(task.tool_uses);
        task.duration_ms = number(usage.duration_ms).or(task.duration_ms);
    }
    if let Some(summary) = &glance.summary {
        task.summary = Some(Clip::of(summary, here));
    }
    task.state = match glance.status.as_deref() {
        Some("completed") => TaskState::Completed,
        Some("failed") => TaskState::Failed,
        Some("killed" | "stopped") => TaskState::Stopped,
        Some("paused") => TaskState::Paused,
        Some("running" | "pending") => TaskState::Running,
        _ => task.state,
    };
}
