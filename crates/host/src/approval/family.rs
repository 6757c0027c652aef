//! Who asks: the path from the main agent down to a sub-agent.
//!
//! Owns what is learnt from the lines of a session about its sub-agents: which call started which, below which other one.
//! A question names its agent by `agent_id` (`task_started` tells the call of that id), or only by its own call (2.0.75,
//! whose lines tell below which call it was made). Bounded: the oldest are forgotten, and their questions have a shorter
//! path. Lenient: a line that cannot be read teaches nothing.

use std::collections::VecDeque;

use countersign_wire::route::Route;
use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Asked;
use crate::control::approval::Asker;

/// So many sub-agents are remembered.
const AGENTS: usize = 256;

/// So many calls of sub-agents are remembered.
const CALLS: usize = 1024;

/// A path is no longer than this.
const DEPTH: usize = 16;

/// Words of a line that are kept are no longer than this.
const LETTERS: usize = 200;

/// The sub-agents of a session, as far as they are remembered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Family {
    agents: VecDeque<Member>,
    /// A call of a sub-agent, and the call that started the sub-agent.
    calls: VecDeque<(String, String)>,
}

/// A sub-agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Member {
    /// The call that started it.
    call: String,
    /// The call that started the sub-agent which made that call. None: the main agent made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    above: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

#[derive(Deserialize)]
struct TaskStarted {
    task_id: Option<String>,
    tool_use_id: Option<String>,
    description: Option<String>,
    subagent_type: Option<String>,
    task_type: Option<String>,
    parent_task_id: Option<String>,
}

#[derive(Deserialize)]
struct FromBelow {
    agent_id: Option<String>,
    subagent_type: Option<String>,
    task_description: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    message: Blocks,
}

#[derive(Deserialize)]
struct Blocks {
    content: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(default)]
    r#type: String,
    id: Option<String>,
    name: Option<String>,
    input: Option<Box<RawValue>>,
    tool_use_id: Option<String>,
}

#[derive(Deserialize, Default)]
struct TaskInput {
    description: Option<String>,
    subagent_type: Option<String>,
}

impl Family {
    /// Learns from a line of the agent.
    pub fn note(&mut self, line: &[u8]) {
        let Ok(route) = Route::of(line) else {
            return;
        };
        let parent = route.parent_tool_use_id.map(|id| id.get().into_owned());
        if route.kind == "system" && route.subtype.is_some_and(|word| word == "task_started") {
            self.started(line);
        } else if route.kind == "assistant" {
            let says_call = memmem::find(line, b"\"tool_use\"").is_some();
            let starts = || {
                [&b"\"Task\""[..], b"\"Agent\""]
                    .iter()
                    .any(|name| memmem::find(line, name).is_some())
            };
            if says_call && (parent.is_some() || starts()) {
                self.called(line, parent.as_deref());
            }
        } else if let (true, Some(parent)) = (route.kind == "user", &parent) {
            self.heard(line, parent);
        }
    }

    /// `task_started`: an agent's own id, and the call that started it.
    fn started(&mut self, line: &[u8]) {
        let Ok(task) = serde_json::from_slice::<TaskStarted>(line) else {
            return;
        };
        let is_agent = task
            .task_type
            .as_deref()
            .is_none_or(|kind| kind == "local_agent");
        let (true, Some(call)) = (is_agent, task.tool_use_id) else {
            return;
        };
        let above = task.parent_task_id.and_then(|id| {
            let parent = self
                .agents
                .iter()
                .find(|agent| agent.agent_id.as_ref() == Some(&id));
            parent.map(|parent| parent.call.clone())
        });
        self.learn(Member {
            call,
            above,
            agent_id: task.task_id,
            kind: task.subagent_type,
            description: task.description,
        });
    }

    /// Calls of the model: those that start sub-agents, and those that sub-agents make.
    fn called(&mut self, line: &[u8], parent: Option<&str>) {
        let Ok(said) = serde_json::from_slice::<Said>(line) else {
            return;
        };
        for block in said.message.content {
            let (true, Some(id)) = (block.r#type == "tool_use", block.id) else {
                continue;
            };
            if matches!(block.name.as_deref(), Some("Task" | "Agent")) {
                let input = block.input.as_deref().map(RawValue::get).unwrap_or("{}");
                let input: TaskInput = serde_json::from_str(input).unwrap_or_default();
                self.learn(Member {
                    call: id.clone(),
                    above: parent.map(str::to_owned),
                    agent_id: None,
                    kind: input.subagent_type,
                    description: input.description,
                });
            }
            if let Some(parent) = parent {
                push(
                    &mut self.calls,
                    (short(id), short(parent.to_owned())),
                    CALLS,
                );
            }
        }
    }

    /// Something from inside a sub-agent: its id, where it is told, and results of its calls, which are over.
    fn heard(&mut self, line: &[u8], parent: &str) {
        if let Ok(from) = serde_json::from_slice::<FromBelow>(line) {
            self.learn(Member {
                call: parent.to_owned(),
                above: None,
                agent_id: from.agent_id,
                kind: from.subagent_type,
                description: from.task_description,
            });
        }
        if memmem::find(line, b"\"tool_result\"").is_none() {
            return;
        }
        let Ok(said) = serde_json::from_slice::<Said>(line) else {
            return;
        };
        for over in said
            .message
            .content
            .into_iter()
            .filter_map(|block| block.tool_use_id)
        {
            self.calls.retain(|(call, _)| *call != over);
        }
    }

    /// Adds what is new about a sub-agent. What was learnt first stays.
    fn learn(&mut self, new: Member) {
        let call = short(new.call);
        let at = self.agents.iter().position(|agent| agent.call == call);
        let at = at.unwrap_or_else(|| {
            let agent = Member {
                call,
                ..Member::default()
            };
            push(&mut self.agents, agent, AGENTS);
            self.agents.len() - 1
        });
        let agent = &mut self.agents[at];
        // Nobody is below itself.
        let above = new.above.filter(|above| *above != agent.call);
        fill(&mut agent.above, above);
        fill(&mut agent.agent_id, new.agent_id);
        fill(&mut agent.kind, new.kind);
        fill(&mut agent.description, new.description);
    }

    /// Who asks, outermost first. Empty: the main agent.
    pub fn path(&self, asked: &Asked) -> Vec<Asker> {
        let by_id = asked.agent_id.as_ref().and_then(|id| {
            let mut agents = self.agents.iter().rev();
            agents.find(|agent| agent.agent_id.as_ref() == Some(id))
        });
        let by_call = || {
            let call = asked.tool_use_id.as_ref()?;
            let (_, parent) = self.calls.iter().rev().find(|(id, _)| id == call)?;
            Some(self.agent(parent))
        };
        let (mut at, mut path) = (by_id.cloned().or_else(by_call), Vec::new());
        while let Some(agent) = at.take() {
            let above = agent.above.clone();
            path.push(Asker {
                agent_id: agent.agent_id,
                tool_use_id: Some(agent.call),
                kind: agent.kind,
                description: agent.description,
            });
            if path.len() < DEPTH {
                at = above.map(|above| self.agent(&above));
            }
        }
        match (path.first_mut(), &asked.agent_id) {
            // 2.0.75 says which agent asks nowhere but here.
            (Some(asker), Some(id)) => asker.agent_id = Some(id.clone()),
            // It is a sub-agent, and more is not known.
            (None, Some(id)) => path.push(Asker {
                agent_id: Some(id.clone()),
                tool_use_id: None,
                kind: None,
                description: None,
            }),
            (_, None) => {}
        }
        path.reverse();
        path
    }

    /// What is known of the sub-agent that a call started.
    fn agent(&self, call: &str) -> Member {
        let known = self.agents.iter().rev().find(|agent| agent.call == call);
        known.cloned().unwrap_or_else(|| Member {
            call: call.to_owned(),
            ..Member::default()
        })
    }
}

fn push<T>(queue: &mut VecDeque<T>, item: T, most: usize) {
    queue.push_back(item);
    while queue.len() > most {
        queue.pop_front();
    }
}

fn fill(field: &mut Option<String>, new: Option<String>) {
    if field.is_none() {
        *field = new.map(short);
    }
}

fn short(text: String) -> String {
    match text.char_indices().nth(LETTERS) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}
