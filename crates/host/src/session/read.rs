//! From a record of the journal to what it says.
//!
//! Owns [`facts`]. Invariants: no line is an error, whatever stands in it; every line of the agent is at least a sign of
//! life; pieces of a streamed answer, of which there are most, cost no more than a look at their first bytes.

use countersign_journal::{KeeperEvent, Kind, Record};

use countersign_wire::route::{Route, Text};

use super::fact::{Report, Seen, Trouble, TurnEnd};
use super::glance::{
    AnswerLine, AskLine, LifecycleLine, LimitLine, MessageLine, ResultLine, SystemLine, WishLine,
    line,
};
use super::{Fact, words};
use crate::control::MessageId;

/// The most tasks that are read from one line.
const MOST_TASKS: usize = super::open::MOST;

/// How a piece of a streamed answer begins, as every CLI writes it.
const PIECE: &[u8] = b"{\"type\":\"stream_event\"";

/// What a record says, as far as the state of a session depends on it.
pub fn facts(record: &Record<'_>) -> Vec<Fact> {
    match record.kind {
        Kind::Agent => agent(record.payload),
        Kind::Host => host(record.payload),
        Kind::Keeper => keeper(record.payload),
        Kind::Stderr | Kind::StderrPiece => {
            let text = String::from_utf8_lossy(record.payload);
            vec![Fact::Stderr(words::tail(&text).to_owned())]
        }
        Kind::Note | Kind::AgentPiece => Vec::new(),
    }
}

fn agent(payload: &[u8]) -> Vec<Fact> {
    if payload.starts_with(PIECE) {
        return vec![Fact::Sign];
    }
    let Ok(route) = Route::of(payload) else {
        return vec![Fact::Sign];
    };
    let said = match route.kind.raw() {
        b"system" => system(payload, &route).into_iter().collect(),
        b"assistant" => assistant(payload, &route),
        b"user" => user(payload, &route),
        b"result" => vec![Fact::Ended(ended(payload, &route))],
        b"control_request" => asked(payload, &route).into_iter().collect(),
        b"control_cancel_request" => withdrawn(&route).into_iter().collect(),
        b"command_lifecycle" => lifecycle(payload).into_iter().collect(),
        b"rate_limit_event" => limit(payload).into_iter().collect(),
        b"conversation_reset" => {
            let read: LifecycleLine = line(payload);
            let conversation = read.new_conversation_id.map(|id| words::name(&id));
            vec![Fact::Reset { conversation }]
        }
        _ => Vec::new(),
    };
    match said.is_empty() {
        true => vec![Fact::Sign],
        false => said,
    }
}

fn name(text: Option<Text<'_>>) -> Option<String> {
    text.map(|text| words::name(&text.get()))
        .filter(|name| !name.is_empty())
}

fn short(text: Option<String>) -> Option<String> {
    text.map(|text| words::name(&text))
}

fn system(payload: &[u8], route: &Route<'_>) -> Option<Fact> {
    let subtype = route.subtype?;
    let read: SystemLine = match subtype.raw() {
        b"init"
        | b"status"
        | b"session_state_changed"
        | b"api_retry"
        | b"task_started"
        | b"task_updated"
        | b"task_notification"
        | b"background_tasks_changed" => line(payload),
        _ => return None,
    };
    let id = short(read.task_id);
    match subtype.raw() {
        b"init" => Some(Fact::Init(Seen {
            conversation: name(route.session_id),
            model: short(read.model),
            mode: short(read.permission_mode),
            version: short(read.claude_code_version),
        })),
        b"status" => short(read.permission_mode).map(Fact::Mode),
        b"session_state_changed" => report(&read.state?).map(Fact::Reported),
        b"api_retry" => {
            let delay = read.retry_delay_ms.unwrap_or_default().max(0.0);
            // A float too large or not a number becomes the nearest count there is.
            let delay = (delay as u64).saturating_mul(1000);
            Some(Fact::Retry { delay })
        }
        b"task_started" => Some(Fact::TaskBegan {
            id: id?,
            tool_use_id: name(route.tool_use_id),
            background: read.is_backgrounded,
        }),
        b"task_updated" => {
            let (id, patch) = (id?, read.patch?);
            match patch.status.as_deref() {
                Some("completed" | "failed" | "killed" | "stopped" | "cancelled" | "error") => {
                    Some(Fact::TaskEnded { id })
                }
                _ if patch.is_backgrounded == Some(true) => Some(Fact::TaskBackgrounded { id }),
                _ => None,
            }
        }
        b"task_notification" => id.map(|id| Fact::TaskEnded { id }),
        _ => {
            let listed = read.tasks?.into_iter();
            let ids = listed.filter_map(|task| short(task.task_id));
            Some(Fact::Tasks(ids.take(MOST_TASKS).collect()))
        }
    }
}

fn report(state: &str) -> Option<Report> {
    match state {
        "running" => Some(Report::Running),
        "requires_action" => Some(Report::RequiresAction),
        "idle" => Some(Report::Idle),
        _ => None,
    }
}

fn assistant(payload: &[u8], route: &Route<'_>) -> Vec<Fact> {
    let read: MessageLine = line(payload);
    let parent = name(route.parent_tool_use_id);
    let calls = read.blocks().iter().filter_map(|block| {
        let is_call = matches!(block.kind.as_deref(), Some("tool_use" | "mcp_tool_use"));
        is_call.then(|| {
            Some(Fact::ToolBegan {
                id: words::name(block.id.as_deref()?),
                name: words::name(block.name.as_deref().unwrap_or("a tool")),
                parent: parent.clone(),
            })
        })?
    });
    let mut said: Vec<_> = calls.collect();
    if let Some(error) = &read.error {
        said.push(Fact::AnswerFailed(match error.as_str() {
            "authentication_failed" => Trouble::SignIn,
            "rate_limit" => Trouble::Limit,
            _ => Trouble::Other,
        }));
    }
    said
}

fn user(payload: &[u8], route: &Route<'_>) -> Vec<Fact> {
    let read: MessageLine = line(payload);
    let goes_on = read.tool_use_result.as_ref().is_some_and(|it| it.goes_on());
    let ends = read.blocks().iter().filter_map(|block| {
        let is_end = matches!(
            block.kind.as_deref(),
            Some("tool_result" | "mcp_tool_result")
        );
        is_end.then(|| {
            Some(Fact::ToolEnded {
                id: words::name(block.tool_use_id.as_deref()?),
                goes_on,
            })
        })?
    });
    let mut said: Vec<_> = ends.collect();
    if said.is_empty() && route.parent_tool_use_id.is_none() {
        said.extend(message(route).map(|message| Fact::Taken { message }));
    }
    said
}

/// The message that a line is, by our id of it.
fn message(route: &Route<'_>) -> Option<MessageId> {
    MessageId::of_uuid(&route.uuid?.get())
}

fn ended(payload: &[u8], route: &Route<'_>) -> TurnEnd {
    let read: ResultLine = line(payload);
    let is_success = route.subtype.is_some_and(|subtype| subtype == "success");
    let ok = is_success && !read.is_error.unwrap_or_default();
    let said = read.result.filter(|text| !text.is_empty());
    let errors = read.errors.filter(|errors| !errors.is_empty());
    let told = said.or_else(|| errors.map(|errors| errors.join("; ")));
    let told = told.unwrap_or_else(|| name(route.subtype).unwrap_or_default());
    let status = read.api_error_status.map(|status| status as u16);
    let reason = read.terminal_reason.unwrap_or_default();
    TurnEnd {
        ok,
        is_capped: (route.subtype).is_some_and(|subtype| subtype == "error_max_budget_usd"),
        aborted: reason.starts_with("aborted_"),
        status: status.or_else(|| words::status_in(&told)),
        why: match ok {
            true => String::new(),
            false => words::sentence(&told),
        },
    }
}

fn asked(payload: &[u8], route: &Route<'_>) -> Option<Fact> {
    let subtype = route.subtype?;
    let is_question = matches!(
        subtype.raw(),
        b"can_use_tool" | b"elicitation" | b"request_user_dialog"
    );
    if !is_question {
        return None;
    }
    let ask = line::<AskLine>(payload).request.unwrap_or_default();
    let tool = ask.tool_name.or(ask.mcp_server_name).or(ask.dialog_kind);
    Some(Fact::Asked {
        request_id: name(route.request_id)?,
        subtype: words::name(&subtype.get()),
        tool: short(tool),
    })
}

fn withdrawn(route: &Route<'_>) -> Option<Fact> {
    (route.request_id).map(|request_id| Fact::withdrawn(&request_id.get()))
}

impl Fact {
    /// A question of this name on the wire is over without an answer.
    pub(crate) fn withdrawn(request_id: &str) -> Self {
        Self::Withdrawn {
            request_id: words::name(request_id),
        }
    }
}

fn lifecycle(payload: &[u8]) -> Option<Fact> {
    let read: LifecycleLine = line(payload);
    let message = MessageId::of_uuid(&read.command_uuid?)?;
    match read.state?.as_str() {
        "started" => Some(Fact::Started { message }),
        "completed" => Some(Fact::Completed { message }),
        "cancelled" => Some(Fact::Cancelled { message }),
        _ => None,
    }
}

fn limit(payload: &[u8]) -> Option<Fact> {
    let info = line::<LimitLine>(payload).rate_limit_info?;
    let status = info.status?;
    let goes_over = info.is_using_overage == Some(true)
        || info
            .overage_status
            .is_some_and(|status| status.starts_with("allowed"));
    let seconds = info.resets_at.filter(|seconds| *seconds > 0.0);
    Some(Fact::Limit {
        reached: status == "rejected" && !goes_over,
        until: seconds.map(|seconds| (seconds as u64).saturating_mul(1_000_000)),
    })
}

fn host(payload: &[u8]) -> Vec<Fact> {
    let Ok(route) = Route::of(payload) else {
        return Vec::new();
    };
    let fact = match route.kind.raw() {
        b"user" => Some(Fact::Written {
            message: message(&route),
        }),
        b"control_response" => name(route.request_id).map(|request_id| Fact::Answered {
            request_id,
            ends_turn: ends_turn(payload),
        }),
        b"control_request" => route
            .subtype
            .and_then(|subtype| wished(payload, subtype.raw())),
        _ => None,
    };
    fact.into_iter().collect()
}

/// What the CLI is told to do.
fn wished(payload: &[u8], subtype: &[u8]) -> Option<Fact> {
    let read = || line::<WishLine>(payload).request.unwrap_or_default();
    match subtype {
        b"interrupt" => Some(Fact::Interrupted),
        b"set_permission_mode" => Some(Fact::ModeAsked(short(read().mode).unwrap_or_default())),
        b"set_model" => Some(Fact::ModelAsked(short(read().model).unwrap_or_default())),
        _ => None,
    }
}

fn ends_turn(payload: &[u8]) -> bool {
    let envelope = line::<AnswerLine>(payload).response;
    let answer = envelope.and_then(|envelope| envelope.response);
    answer.is_some_and(|answer| {
        answer.behavior.as_deref() == Some("deny") && answer.interrupt == Some(true)
    })
}

fn keeper(payload: &[u8]) -> Vec<Fact> {
    let Ok(event) = serde_json::from_slice(payload) else {
        return Vec::new();
    };
    let fact = match event {
        KeeperEvent::Open { generation, .. } => Some(Fact::Opened { generation }),
        KeeperEvent::Paused { .. } => Some(Fact::Paused),
        KeeperEvent::Resumed => Some(Fact::Resumed),
        KeeperEvent::Ending { why, .. } => Some(Fact::Ending {
            why: words::sentence(&why.unwrap_or_default()),
        }),
        KeeperEvent::Exit(exit) => Some(Fact::Exited(exit)),
        KeeperEvent::Lost { .. } => Some(Fact::Lost),
        _ => None,
    };
    fact.into_iter().collect()
}
