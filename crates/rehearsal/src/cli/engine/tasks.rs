//! Work beside the main conversation: sub-agents, and commands in the background.
//!
//! Owns who works, what the host is told of it, and the turn that begins by itself when something in the background is
//! done. Invariant: a task is started and finished once, and reports to the call that began it or to a new turn.

use std::time::Duration;

use serde_json::{Value, json};

use super::call::{Call, Stage};
use super::deed::{Deed, Kind};
use super::fiber::{Role, Wait};
use super::report::Report;
use super::talk::{Agent, MAIN, Talk};
use super::turn::Beginning;
use super::{Engine, Output};
use crate::cli::act::Ran;
use crate::cli::args;
use crate::cli::scenario::{Step, Steps};

/// What a request to the model takes at least.
const LATENCY: Duration = Duration::from_millis(2);

/// A task that runs in the background, or an agent that is waited for.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) id: String,
    pub(super) run_id: String,
    pub(super) tool_use_id: String,
    pub(super) description: String,
    /// The type of the sub-agent; None for a command.
    pub(super) agent: Option<String>,
    pub(super) background: bool,
    /// The conversation of an agent, or the serial of a command.
    pub(super) work: Work,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Talk(u64),
    Command(u64),
}

impl Engine {
    pub(super) fn is_in_background(&self, talk: u64) -> bool {
        self.agent(talk).is_some_and(|agent| agent.background)
    }

    /// The call becomes a conversation of its own.
    pub(super) fn delegate(&mut self, index: usize) {
        let call = &self.calls[index];
        let input = call.input.clone();
        let (serial, tool_use_id, errand) =
            (call.serial, call.tool_use_id.clone(), call.errand.clone());
        let text = |key: &str| input[key].as_str().unwrap_or_default().to_owned();
        let kind = match text("subagent_type") {
            empty if empty.is_empty() => "general-purpose".to_owned(),
            kind => kind,
        };
        if !self.knows_agent(&kind) {
            let known = self.agent_names().join(", ");
            let problem = format!("Agent type '{kind}' not found. Available agents: {known}");
            return self.acted(index, Report::error(problem));
        }
        if let Some(problem) = self.permissions.agent_denied(&kind) {
            return self.acted(index, Report::error(problem));
        }
        let wanted = input["run_in_background"].as_bool();
        let background = wanted.unwrap_or(true);
        self.count_agent(&kind, wanted, background);
        let chosen = self.agents.as_ref().and_then(|agents| agents.lookup(&kind));
        let chosen = input["model"]
            .as_str()
            .map(str::to_owned)
            .or_else(|| chosen.and_then(|definition| definition.model.clone()))
            .filter(|model| model != "inherit");
        let model = chosen.and_then(|model| args::resolve_model(&model));
        let agent = Agent {
            model: model.unwrap_or_else(|| self.model.clone()),
            task_id: self.ids.agent(),
            run_id: self.ids.run(),
            tool_use_id,
            kind,
            description: text("description"),
            prompt: text("prompt"),
            background,
            since: self.now,
        };
        let key = serial + 1;
        let mut talk = Talk {
            key,
            agent: Some(agent.clone()),
            ..Talk::default()
        };
        talk.hear(json!([{"type": "text", "text": agent.prompt}]));
        self.talks.push(talk);
        self.note_agent(key);
        let prompt = json!({
            "uuid": self.ids.uuid(),
            "message": {"role": "user", "content": agent.prompt},
        });
        self.note_aside(key, &prompt);
        self.push_task(Task {
            id: agent.task_id.clone(),
            run_id: agent.run_id.clone(),
            tool_use_id: agent.tool_use_id.clone(),
            description: agent.description.clone(),
            agent: Some(agent.kind.clone()),
            background,
            work: Work::Talk(key),
        });
        if background {
            self.report_launch(index, &agent);
        } else {
            self.calls[index].stage = Stage::Delegated;
        }
        let steps = errand.unwrap_or_else(|| self.own_way());
        self.set_out(key, steps);
    }

    /// The agent begins, as soon as callbacks have heard of it.
    fn set_out(&mut self, key: u64, steps: Steps) {
        let Some(agent) = self.agent(key).cloned() else {
            return;
        };
        let fields = json!({"agent_id": agent.task_id, "agent_type": agent.kind});
        let serials = self.ask_hooks(key, "SubagentStart", &fields);
        let mut all = Vec::new();
        match (agent.background, serials.is_empty()) {
            (true, _) => {}
            (false, true) => self.say_prompt(key),
            (false, false) => all.push(Step::TellErrand),
        }
        // The model takes its time: agents of one message begin before the first of them speaks.
        all.push(Step::Pause(LATENCY));
        all.push(Step::Repeat {
            times: Some(1),
            steps,
        });
        self.spawn_fiber(all.into(), Role::Agent, key);
        if let Some(fiber) = self.fibers.last_mut() {
            fiber.wait = Wait::Answer(serials);
        }
    }

    /// How a conversation goes on without a scenario of its own.
    pub(super) fn own_way(&self) -> Steps {
        match self.mind {
            Some(_) => std::sync::Arc::new([Step::Consult]),
            None => std::sync::Arc::new([Step::Follow(None)]),
        }
    }

    fn count_agent(&mut self, kind: &str, wanted: Option<bool>, background: bool) {
        match wanted {
            Some(true) => self.agent_stats.background += 1,
            Some(false) => self.agent_stats.foreground += 1,
            None => self.agent_stats.unset += 1,
        }
        self.agent_stats.started_in_background += u64::from(background);
        self.agent_stats.spawned(kind);
    }

    pub(super) fn say_prompt(&mut self, key: u64) {
        let prompt = self.talk(key).first_prompt();
        let mut line = json!({
            "type": "user",
            "message": {"role": "user", "content": [{"type": "text", "text": prompt}]},
            "session_id": self.session,
            "uuid": self.ids.uuid(),
        });
        self.stamp(&mut line);
        self.name_agent(&mut line, key);
        self.say_value(&line);
    }

    fn report_launch(&mut self, index: usize, agent: &Agent) {
        let text = format!(
            "Async agent launched successfully. (This tool result is not its report.) agentId: {}",
            agent.task_id
        );
        let report = Report {
            content: json!([{"type": "text", "text": text}]),
            structured: json!({
                "isAsync": true,
                "status": "async_launched",
                "agentId": agent.task_id,
                "description": agent.description,
                "resolvedModel": agent.model,
                "prompt": agent.prompt,
                "outputFile": self.output_file(&agent.task_id),
                "canReadOutputFile": true,
                "canContinueAgent": true,
            }),
            ..Report::default()
        };
        self.acted(index, report);
    }

    fn push_task(&mut self, task: Task) {
        let mut line = json!({
            "subtype": "task_started",
            "task_id": task.id,
            "run_id": task.run_id,
            "tool_use_id": task.tool_use_id,
            "description": task.description,
            "is_backgrounded": task.background,
            "task_type": task_type(&task),
        });
        if let (Some(kind), Work::Talk(key)) = (&task.agent, task.work) {
            line["subagent_type"] = kind.clone().into();
            line["spawn_depth"] = 1.into();
            line["prompt"] = self.talk(key).first_prompt().into();
        }
        let background = task.background;
        self.tasks.push(task);
        if background {
            self.say_tasks();
        }
        self.say_system(line);
    }

    /// What runs in the background, whenever that changes.
    pub(super) fn say_tasks(&mut self) {
        let listed: Vec<Value> = self.background_tasks().map(listed).collect();
        self.say_system(json!({"subtype": "background_tasks_changed", "tasks": listed}));
    }

    pub(super) fn background_tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| task.background)
    }

    /// What an agent is at, told before or after the line of its call.
    pub(super) fn say_progress(&mut self, talk: u64, tool: &str, input: &Value) {
        let Some(agent) = self.agent(talk).cloned() else {
            return;
        };
        let doing = input["description"].as_str().unwrap_or(tool);
        let usage = self.agent_usage(talk, 1);
        self.say_system(json!({
            "subtype": "task_progress",
            "task_id": agent.task_id,
            "run_id": agent.run_id,
            "tool_use_id": agent.tool_use_id,
            "description": format!("Running {doing}"),
            "subagent_type": agent.kind,
            "usage": usage,
            "last_tool_name": tool,
        }));
    }

    fn agent_usage(&mut self, talk: u64, more: usize) -> Value {
        let since = self.agent(talk).map_or(self.now, |agent| agent.since);
        let elapsed = self.now.saturating_sub(since).as_millis();
        let talk = self.talk(talk);
        json!({
            "total_tokens": talk.last_spent.tokens(),
            "tool_uses": talk.tools_used.len() + more,
            "duration_ms": u64::try_from(elapsed).unwrap_or_default(),
        })
    }

    /// An agent has nothing more to say: callbacks hear of it first. Gives back what is waited for.
    pub(super) fn close_agent(&mut self, key: u64) -> Vec<u64> {
        self.close_message(key, "end_turn");
        let Some(agent) = self.agent(key).cloned() else {
            return Vec::new();
        };
        let fields = json!({
            "stop_hook_active": false,
            "agent_id": agent.task_id,
            "agent_type": agent.kind,
            "agent_transcript_path": self.agent_transcript_path(&agent.task_id),
            "last_assistant_message": self.talk(key).said,
            "background_tasks": [],
            "session_crons": [],
        });
        self.ask_hooks(key, "SubagentStop", &fields)
    }

    /// An agent has nothing more to do.
    pub(super) fn finish_agent(&mut self, key: u64) {
        self.close_message(key, "end_turn");
        let Some(agent) = self.agent(key).cloned() else {
            return;
        };
        self.agent_stats.completed += 1;
        let usage = self.agent_usage(key, 0);
        let said = self.talk(key).said.clone();
        let fields = json!({"summary": said, "usage": usage});
        self.settle_task(Work::Talk(key), "completed", fields);
        let call = (self.calls.iter()).position(|call| call.tool_use_id == agent.tool_use_id);
        match call {
            Some(index) if !agent.background => {
                let report = self.agent_report(key, &agent, &said);
                self.acted(index, report);
            }
            _ => self.begin_after_task(&agent.run_id, &said),
        }
        self.talks.retain(|talk| talk.key != key);
    }

    fn agent_report(&mut self, key: u64, agent: &Agent, said: &str) -> Report {
        let elapsed = self.now.saturating_sub(agent.since).as_millis();
        let talk = self.talk(key);
        let (spent, tools) = (talk.last_spent, talk.tools_used.clone());
        let used = tools.join(", ");
        let note = format!("<tools-used-before-summary>{used}</tools-used-before-summary>\n");
        let handed = format!("[Subagent hand-back] The text below is the final report.\n{said}");
        let mut content = vec![json!({"type": "text", "text": said})];
        let told = match tools.is_empty() {
            true => handed,
            false => {
                content.insert(0, json!({"type": "text", "text": note}));
                format!("{note}{handed}")
            }
        };
        let mut usage = self.cast.line("result")["usage"].clone();
        spent.fill_usage(&mut usage);
        let count = |names: &[&str]| {
            let used = tools.iter().filter(|tool| names.contains(&tool.as_str()));
            used.count()
        };
        let others = tools.len() - count(&["Read", "Grep", "Glob", "Bash", "Edit", "Write"]);
        let mut structured = json!({
            "status": "completed",
            "prompt": agent.prompt,
            "agentId": agent.task_id,
            "agentType": agent.kind,
            "harnessNoteCount": u8::from(!tools.is_empty()),
            "harnessTailCount": 0,
            "harnessSectionHash": format!("{:016x}", self.ids.number()),
            "content": content,
            "resolvedModel": agent.model,
            "totalDurationMs": u64::try_from(elapsed).unwrap_or_default(),
            "totalTokens": spent.tokens(),
            "totalToolUseCount": tools.len(),
            "usage": usage,
            "canContinueAgent": true,
        });
        if !tools.is_empty() {
            structured["toolStats"] = json!({
                "readCount": count(&["Read"]),
                "searchCount": count(&["Grep", "Glob"]),
                "bashCount": count(&["Bash"]),
                "editFileCount": count(&["Edit", "Write"]),
                "linesAdded": 0,
                "linesRemoved": 0,
                "otherToolCount": others,
            });
            structured["toolsUsed"] = tools.into();
        }
        Report {
            content: json!([{"type": "text", "text": told}]),
            structured,
            gist: Some(said.to_owned()),
            ..Report::default()
        }
    }

    /// The task is over: the host is told, and it is no longer listed.
    fn settle_task(&mut self, work: Work, status: &str, more: Value) {
        let Some(index) = self.tasks.iter().position(|task| task.work == work) else {
            return;
        };
        let task = self.tasks.remove(index);
        self.say_system(json!({
            "subtype": "task_updated",
            "task_id": task.id,
            "run_id": task.run_id,
            "patch": {"status": status, "end_time": self.wall_ms()},
        }));
        let told = if status == "killed" {
            "stopped"
        } else {
            status
        };
        let mut line = json!({
            "subtype": "task_notification",
            "task_id": task.id,
            "run_id": task.run_id,
            "tool_use_id": task.tool_use_id,
            "status": told,
            "output_file": self.output_file(&task.id),
        });
        super::lines::merge(&mut line, &more);
        // Of an agent that nothing waits for, the summary is its last word.
        let is_report = task.background && task.agent.is_some() && status == "completed";
        if is_report {
            line["summary_is_report"] = true.into();
        }
        self.say_system(line);
        if task.background {
            self.say_tasks();
        }
    }

    /// A command that the turn does not wait for.
    pub(super) fn run_in_background(&mut self, index: usize) {
        let call = &self.calls[index];
        let (name, input, tool_use_id) = (
            call.name.clone(),
            call.input.clone(),
            call.tool_use_id.clone(),
        );
        let serial = self.next_call;
        self.next_call += 1;
        let id = self.ids.shell();
        let task = Task {
            id: id.clone(),
            run_id: self.ids.run(),
            tool_use_id,
            description: input["description"].as_str().unwrap_or_default().to_owned(),
            agent: None,
            background: true,
            work: Work::Command(serial),
        };
        self.push_task(task);
        let deed = Deed(Kind::Tool {
            name,
            input,
            task: Some(self.output_file(&id)),
        });
        self.out.push(Output::Do { serial, deed });
        let text = format!(
            "Command running in background with ID: {id}. Output is being written to: {}",
            self.output_file(&id)
        );
        let report = Report {
            structured: json!({
                "stdout": "", "stderr": "", "interrupted": false, "isImage": false,
                "noOutputExpected": false, "backgroundTaskId": id,
            }),
            is_error: Some(false),
            ..Report::text(text)
        };
        self.acted(index, report);
    }

    /// A command in the background has ended. Says whether it was one.
    pub(super) fn finish_background(&mut self, serial: u64, ran: &Ran) -> bool {
        let work = Work::Command(serial);
        let Some(task) = self.tasks.iter().find(|task| task.work == work) else {
            return false;
        };
        let (description, run_id) = (task.description.clone(), task.run_id.clone());
        let failed = ran.exit.is_some_and(|code| code != 0);
        let status = if failed { "failed" } else { "completed" };
        let summary = match ran.exit {
            Some(code) if failed => {
                format!("Background command \"{description}\" failed with exit code {code}")
            }
            _ => format!("Background command \"{description}\" completed (exit code 0)"),
        };
        self.settle_task(work, status, json!({"summary": summary}));
        self.begin_after_task(&run_id, &summary);
        true
    }

    /// When something in the background is done, the model is told in a turn of its own.
    fn begin_after_task(&mut self, run_id: &str, summary: &str) {
        self.beginnings.push_back(Beginning::Task {
            run_id: run_id.to_owned(),
            text: format!("<task-notification>\n{summary}\n</task-notification>"),
        });
    }

    /// Stops a task by its id, for the host or for the model. None if there is none.
    pub(super) fn stop_task(&mut self, id: &str) -> Option<String> {
        let task = self.tasks.iter().find(|task| task.id == id)?;
        let (work, description) = (task.work, task.description.clone());
        match work {
            Work::Command(serial) => {
                self.out.push(Output::Abort { serial });
                self.settle_task(work, "killed", json!({"summary": description}));
            }
            Work::Talk(key) => self.kill_agent(key, &description),
        }
        Some(description)
    }

    pub(super) fn stop_by_call(&mut self, index: usize, input: &Value) {
        let id = input["task_id"].as_str().or(input["shell_id"].as_str());
        let id = id.unwrap_or_default().to_owned();
        let report = match self.stop_task(&id) {
            Some(command) => Report {
                structured: json!({
                    "message": format!("Successfully stopped task: {id}"),
                    "task_id": id, "command": command,
                }),
                ..Report::text(format!("Successfully stopped task: {id} ({command})"))
            },
            None => Report::error(format!("No task found with ID: {id}")),
        };
        self.acted(index, report);
    }

    /// Agents that are waited for end with the turn they work for.
    pub(super) fn end_waited_agents(&mut self) {
        let waited: Vec<u64> = self
            .talks
            .iter()
            .filter(|talk| talk.key != MAIN && !self.is_in_background(talk.key))
            .map(|talk| talk.key)
            .collect();
        for key in waited {
            self.kill_agent(key, "");
        }
    }

    fn kill_agent(&mut self, key: u64, summary: &str) {
        self.fibers.retain(|fiber| fiber.talk != key);
        self.calls.retain(|call| call.talk != key);
        self.agent_stats.killed_by_user += 1;
        self.settle_task(Work::Talk(key), "killed", json!({"summary": summary}));
        self.talks.retain(|talk| talk.key != key);
    }

    /// The host denied a call of an agent and said stop: the agent ends, and the conversation that waits for it goes on.
    pub(super) fn end_stopped_agent(&mut self, key: u64) {
        let Some(agent) = self.agent(key).cloned() else {
            return;
        };
        self.kill_agent(key, &agent.description);
        let waits = |call: &Call| {
            call.tool_use_id == agent.tool_use_id && matches!(call.stage, Stage::Delegated)
        };
        if let Some(index) = self.calls.iter().position(waits) {
            let report = Report {
                not_run: Some("interrupted"),
                ..Report::error("[Request interrupted by user for tool use]")
            };
            self.report(index, report);
        }
    }

    pub(super) fn output_file(&self, task: &str) -> String {
        format!("{}/{}/tasks/{task}.output", self.tasks_dir, self.session)
    }
}

fn task_type(task: &Task) -> &'static str {
    match task.agent {
        Some(_) => "local_agent",
        None => "local_bash",
    }
}

fn listed(task: &Task) -> Value {
    let mut entry = json!({
        "task_id": task.id,
        "run_id": task.run_id,
        "task_type": task_type(task),
        "description": task.description,
    });
    if let Some(kind) = &task.agent {
        entry["subagent_type"] = kind.clone().into();
    }
    entry
}
