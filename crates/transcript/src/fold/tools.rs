//! Tool calls, from the model's first word to their result.
//!
//! Owns how far a call is, and what settles its question: the result of that call and nothing else.

use countersign_wire::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Fold;
use crate::body::{
    Denial, Level, Notice, NoticeKind, Outcome, Returned, Role, Signed, Standing, Task, TaskState,
    Tool, ToolState, Verdict, Withdrawn,
};
use crate::bounds;
use crate::clip::{Clip, Shown, digest, word};
use crate::entry::Body;
use crate::glance::{Block, MetaGlance, NoticeGlance, StructuredGlance};
use crate::id::EntryId;
use crate::totals::named;

/// A call whose entry is open.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) entry: EntryId,
    /// Of the input the model wrote.
    pub(super) digest: u64,
}

/// The name of a tool as permissions know it.
pub(super) fn full_name(server: Option<&str>, name: &str) -> String {
    match server {
        Some(server) => word(&format!("mcp__{server}__{name}")),
        None => word(name),
    }
}

impl Fold {
    /// The model makes a call, or is writing one.
    pub(super) fn call(
        &mut self,
        speaker: &str,
        id: &str,
        name: &str,
        input: Option<&Json>,
        message: Option<String>,
    ) {
        let id = &word(id);
        let here = self.live.here();
        let shown = input.map(|input| Shown::of(input, here));
        let known = self.calls.get(id).map(|call| call.entry);
        let entry = match known {
            Some(entry) => {
                if let Some(tool) = self.live.tool(entry) {
                    tool.input = shown.or(tool.input.take());
                    tool.message = message.or(tool.message.take());
                    if tool.state == ToolState::Writing && input.is_some() {
                        tool.state = ToolState::Called;
                    }
                }
                entry
            }
            None => self.new_call(speaker, id, name, shown, message),
        };
        let Some(input) = input else { return };
        if let Some(call) = self.calls.get_mut(id) {
            call.digest = digest(input);
        }
        if Role::of(name) == Role::Agent {
            self.agent_input(id, entry, input);
        }
    }

    pub(super) fn new_call(
        &mut self,
        speaker: &str,
        id: &str,
        name: &str,
        input: Option<Shown>,
        message: Option<String>,
    ) -> EntryId {
        let role = Role::of(name);
        let tool = Tool {
            tool_use_id: id.to_owned(),
            name: name.to_owned(),
            role,
            message,
            state: match input {
                Some(_) => ToolState::Called,
                None => ToolState::Writing,
            },
            input,
            approval: None,
            denial: None,
            signed: None,
            result: None,
            took: None,
            agent: None,
        };
        let place = self.place_under(speaker);
        let entry = self.live.open(place, Body::Tool(Box::new(tool)));
        self.calls.insert(id.to_owned(), Call { entry, digest: 0 });
        named(&mut self.sums().tools, name).calls += 1;
        if role == Role::Agent {
            self.sums().agents += 1;
            self.agent_started(id, entry, speaker);
        }
        entry
    }

    /// What the input of a call says about the sub-agent it starts.
    fn agent_input(&mut self, id: &str, entry: EntryId, input: &Json) {
        let value = input.to_value().unwrap_or_default();
        let field = |name: &str| value.get(name).and_then(Value::as_str).map(word);
        let (description, agent_type) = (field("description"), field("subagent_type"));
        let label = description.clone().or_else(|| agent_type.clone());
        let is_background = value.get("run_in_background") == Some(&Value::Bool(true));
        self.agent_met(id, None, label.as_deref());
        if let Some(tool) = self.live.tool(entry) {
            let agent = tool.agent.get_or_insert_with(|| Box::new(new_task()));
            agent.description = description.unwrap_or_default();
            agent.agent_type = agent_type;
            agent.tool_use_id = Some(id.to_owned());
            agent.is_background |= is_background;
        }
    }

    /// A result came.
    pub(super) fn returned(
        &mut self,
        speaker: &str,
        block: &Block,
        structured: Option<&Json>,
        meta: Option<&MetaGlance>,
    ) {
        let (text, attachments) = content_text(block.content.as_ref());
        let here = self.live.here();
        let returned = Returned {
            text: Clip::of(&text, here),
            attachments,
            is_error: block.is_error == Some(true),
            structured: structured.map(|json| Shown::of(json, here)),
            at: self.live.at(),
        };
        let id = word(block.tool_use_id.as_deref().unwrap_or_default());
        match self.calls.get(&id).map(|call| call.entry) {
            Some(entry) => self.came_back(entry, returned, structured, meta),
            None => self.orphan(speaker, &id, returned),
        }
    }

    /// A result of a call that is not known.
    fn orphan(&mut self, speaker: &str, id: &str, returned: Returned) {
        let notice = Notice {
            level: Level::Info,
            about: NoticeKind::Orphan,
            source: "user/tool_result".to_owned(),
            text: returned.text,
            tool_use_id: Some(id.to_owned()),
        };
        let place = self.place_under(speaker);
        self.live.put(place, Body::Notice(Box::new(notice)));
    }

    fn came_back(
        &mut self,
        entry: EntryId,
        returned: Returned,
        structured: Option<&Json>,
        meta: Option<&MetaGlance>,
    ) {
        let at = self.live.at();
        let why = self.turn.why_withdrawn();
        let Some(began) = self.live.get(entry).map(|entry| entry.at) else {
            return;
        };
        let Some(tool) = self.live.tool(entry) else {
            return;
        };
        let is_error = returned.is_error;
        tool.signed = meta.and_then(signed).or(tool.signed.take());
        tool.state = match (is_refused(tool), is_error) {
            (true, _) => ToolState::Refused,
            (false, true) => ToolState::Failed,
            (false, false) => ToolState::Ran,
        };
        let approval = tool.approval.as_ref();
        let answer = approval.and_then(|approval| approval.answer.as_ref());
        let since = answer.map_or(began, |answer| answer.at);
        let took = at.saturating_sub(since);
        tool.took = (tool.state != ToolState::Refused).then_some(took);
        tool.result = Some(returned);
        let (state, took, name) = (tool.state, tool.took, tool.name.clone());
        let is_going_on = goes_on(tool, structured);
        self.settle(entry, |verdict| match verdict {
            Some(Verdict::Allow) if is_error => Ok(Outcome::Failed),
            Some(Verdict::Allow) => Ok(Outcome::Ran),
            Some(_) => Ok(Outcome::Refused),
            None => Err(why),
        });
        let counts = named(&mut self.sums().tools, &name);
        counts.took = counts.took.saturating_add(took.unwrap_or_default());
        counts.failed += u64::from(state == ToolState::Failed);
        counts.refused += u64::from(state == ToolState::Refused);
        if !is_going_on {
            self.end_call(entry);
        }
    }

    /// The call is over: also what its sub-agent was writing.
    pub(super) fn end_call(&mut self, entry: EntryId) {
        let at = self.live.at();
        let Some(tool) = self.live.tool(entry) else {
            return;
        };
        let id = tool.tool_use_id.clone();
        if let Some(agent) = &mut tool.agent
            && !agent.state.is_over()
        {
            agent.state = match tool.state {
                ToolState::Ran => TaskState::Completed,
                ToolState::Unknown => TaskState::Unknown,
                _ => TaskState::Failed,
            };
            agent.ended_at = Some(at);
        }
        self.end_stream(&id);
        self.retry_over(&id);
        let why = self.turn.why_withdrawn();
        self.settle(entry, |verdict| match verdict {
            Some(_) => Ok(Outcome::Unknown),
            None => Err(why),
        });
        self.close(entry);
    }

    /// Says what came of a question, if that is not known yet. Told whether and how it was answered.
    pub(super) fn settle(
        &mut self,
        entry: EntryId,
        how: impl FnOnce(Option<Verdict>) -> Result<Outcome, Withdrawn>,
    ) {
        let at = self.live.at();
        let approval = match self.live.change(entry).map(|entry| &mut entry.body) {
            Some(Body::Tool(tool)) => tool.approval.as_deref_mut(),
            Some(Body::Ask(ask)) => Some(&mut ask.approval),
            _ => None,
        };
        let Some(approval) = approval else { return };
        if !matches!(approval.standing, Standing::Open | Standing::Written) {
            return;
        }
        let is_open = approval.standing == Standing::Open;
        let verdict = approval.answer.as_ref().map(|answer| answer.verdict);
        approval.ended_at = Some(at);
        match how(verdict) {
            Ok(outcome) => {
                approval.standing = Standing::Settled(outcome);
                self.sums().approvals.settled(outcome);
            }
            Err(why) => {
                approval.standing = Standing::Withdrawn(why);
                self.sums().approvals.withdrawn(why);
            }
        }
        if is_open {
            let counts = &mut self.sums().approvals;
            counts.open = counts.open.saturating_sub(1);
        }
    }

    /// The CLI denied a call without asking.
    pub(super) fn denied(&mut self, glance: &NoticeGlance) -> bool {
        let id = glance.tool_use_id.as_deref().unwrap_or_default();
        let entry = self.calls.get(id).map(|call| call.entry);
        let Some(tool) = entry.and_then(|entry| self.live.tool(entry)) else {
            return false;
        };
        tool.denial = Some(Denial {
            message: word(glance.message.as_deref().unwrap_or_default()),
            reason: glance.decision_reason.as_deref().map(word),
            code: glance.decision_reason_code.as_deref().map(word),
        });
        true
    }

    /// The CLI will not run a call, though it was allowed. Told whether the call is known. A newer question about it stays.
    pub(super) fn not_run(&mut self, glance: &NoticeGlance) -> bool {
        let id = glance.tool_use_id.as_deref().unwrap_or_default();
        let Some(entry) = self.calls.get(id).map(|call| call.entry) else {
            return false;
        };
        let Some(tool) = self.live.tool(entry) else {
            return false;
        };
        if tool
            .approval
            .as_ref()
            .is_some_and(|approval| approval.standing == Standing::Open)
        {
            return false;
        }
        tool.state = ToolState::Refused;
        tool.denial = Some(Denial {
            message: late_words(glance),
            reason: None,
            code: glance.reason.as_deref().map(word),
        });
        self.settle(entry, |_| Ok(Outcome::Unused));
        true
    }
}

/// What a person is told of a call that was allowed too late.
pub(super) fn late_words(glance: &NoticeGlance) -> String {
    let reason = glance.reason.as_deref().map(word).unwrap_or_default();
    match reason.as_str() {
        "" => "Allowed too late: the call did not run.".to_owned(),
        reason => format!("Allowed too late: the call did not run ({reason})."),
    }
}

/// Whether a call that came back was not let run. One whose question an interrupt took away was not.
fn is_refused(tool: &Tool) -> bool {
    let by_answer = tool.approval.as_ref().is_some_and(|approval| {
        match (&approval.answer, approval.standing) {
            (_, Standing::Withdrawn(Withdrawn::Interrupted)) => true,
            (Some(answer), _) => answer.verdict != Verdict::Allow,
            (None, _) => false,
        }
    });
    let by_cli = tool.signed.as_ref().is_some_and(|signed| {
        signed.decision.as_deref() == Some("reject")
            || signed.not_run.as_deref() == Some("user-rejected")
    });
    by_answer || by_cli || tool.denial.is_some()
}

/// Whether a call has returned, but what it started goes on.
fn goes_on(tool: &mut Tool, structured: Option<&Json>) -> bool {
    let Some(agent) = &mut tool.agent else {
        return false;
    };
    let says: StructuredGlance = structured
        .and_then(|json| json.to().ok())
        .unwrap_or_default();
    let is_async = says.is_async == Some(true) || says.status.as_deref() == Some("async_launched");
    agent.is_background |= is_async;
    // Without a task nobody would ever say that it has ended.
    is_async && agent.task_id.is_some() && !agent.state.is_over()
}

fn signed(meta: &MetaGlance) -> Option<Signed> {
    let decision = meta.permission_decision.as_ref();
    let signed = Signed {
        decision: decision.and_then(|decision| decision.decision.as_deref().map(word)),
        source: decision.and_then(|decision| decision.source.as_deref().map(word)),
        reason: decision.and_then(|decision| decision.reason_type.as_deref().map(word)),
        not_run: meta.non_execution_kind.as_deref().map(word),
    };
    (signed.decision.is_some() || signed.not_run.is_some()).then_some(signed)
}

/// A task of which nothing is known.
pub(super) fn new_task() -> Task {
    Task {
        task_id: None,
        kind: None,
        agent_type: None,
        description: String::new(),
        tool_use_id: None,
        tool: None,
        is_background: false,
        state: TaskState::Running,
        tokens: None,
        tool_uses: None,
        duration_ms: None,
        last_tool: None,
        summary: None,
        output_file: None,
        error: None,
        ended_at: None,
    }
}

/// The words of a result, and how many pictures and documents it has.
fn content_text(content: Option<&Json>) -> (String, u32) {
    let Some(content) = content else {
        return (String::new(), 0);
    };
    let blocks = match content.to_value() {
        Ok(Value::String(text)) => return (text, 0),
        Ok(Value::Array(blocks)) => blocks,
        _ => return (content.as_str().to_owned(), 0),
    };
    let (mut text, mut attachments) = (String::new(), 0);
    for block in &blocks {
        let field = |name: &str| block.get(name).and_then(Value::as_str);
        match (field("type"), field("text")) {
            (Some("image" | "document"), _) => attachments += 1,
            (_, Some(words)) => {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(words);
            }
            _ if text.len() < bounds::TEXT => {
                let separator = if text.is_empty() { "" } else { "\n" };
                text.push_str(&format!("{separator}{block}"));
            }
            _ => {}
        }
    }
    (text, attachments)
}
