//! What the tests have in common: recorded lines, questions made by hand, and what is known when one is decided.

use std::path::PathBuf;

use countersign_client::options::Version;
use countersign_host::approval::{Agent, Asked, Known, asked};
use countersign_host::control::approval::{PlanDecision, Way};
use countersign_host::control::{ApprovalId, ControlError, SessionId};
use countersign_wire::recording::{Direction, entry};
use serde_json::{Value, json};

pub(crate) const NEW: Version = Version::new(2, 1, 325);
pub(crate) const MIDDLE: Version = Version::new(2, 1, 197);
pub(crate) const OLD: Version = Version::new(2, 1, 62);
pub(crate) const OLDEST: Version = Version::new(2, 0, 75);

/// The versions with recordings.
pub(crate) const RECORDED: [&str; 3] = ["newest", "2.1.62", "2.0.75"];

/// What a CLI of this version said in a scenario.
pub(crate) fn recorded(version: &str, scenario: &str) -> Vec<Vec<u8>> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/wire")
        .join(version)
        .join(format!("{scenario}.ndjson"));
    let text = std::fs::read_to_string(&file).unwrap();
    let entries = text
        .lines()
        .skip(1)
        .map(|line| entry(line.as_bytes()).unwrap());
    entries
        .filter(|entry| entry.direction == Direction::Out)
        .map(|entry| entry.line)
        .collect()
}

/// The questions of a recording.
pub(crate) fn questions(version: &str, scenario: &str) -> Vec<Asked> {
    let lines = recorded(version, scenario);
    lines.iter().filter_map(|line| asked(line)).collect()
}

/// A question, as a CLI would ask it.
pub(crate) fn ask(request: Value) -> Asked {
    let line = json!({"type": "control_request", "request_id": "r1", "request": request});
    asked(line.to_string().as_bytes()).expect("a question")
}

/// A question about a call.
pub(crate) fn tool(name: &str, input: Value) -> Asked {
    ask(
        json!({"subtype": "can_use_tool", "tool_name": name, "input": input, "tool_use_id": "toolu_1"}),
    )
}

/// A plan with this text.
pub(crate) fn plan(text: &str) -> Asked {
    tool(
        "ExitPlanMode",
        json!({"plan": text, "planFilePath": "/home/user/.claude/plans/x.md"}),
    )
}

pub(crate) const NOW: u64 = 1_800_000_000_000_000;

/// What is known of a version whose agent waits.
pub(crate) fn known(version: Version) -> Known {
    let session = SessionId::new(NOW, 1);
    Known {
        approval: ApprovalId::of(session, 1, 42, NOW),
        now: NOW,
        version: Some(version),
        agent: Agent::Waits,
    }
}

/// The same after the agent has gone.
pub(crate) fn gone(version: Version) -> Known {
    Known {
        agent: Agent::Gone,
        ..known(version)
    }
}

pub(crate) fn choose(way: Way) -> PlanDecision {
    PlanDecision {
        choice: way,
        mode: None,
        plan: None,
        rules: Vec::new(),
        allowed_prompts: Vec::new(),
        feedback: None,
        images: Vec::new(),
        comments: Vec::new(),
        compact: false,
    }
}

pub(crate) fn image() -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}})
}

/// Why a decision was refused as making no sense.
pub(crate) fn invalid<T: std::fmt::Debug>(result: Result<T, ControlError>) -> String {
    match result {
        Err(ControlError::Invalid { why }) => why,
        other => panic!("not refused as invalid: {other:?}"),
    }
}
