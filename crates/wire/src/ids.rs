//! The ids of the wire. Each is a plain string there; here none can be taken for another.

use crate::open::id_type;

id_type! {
    /// A conversation, as the CLI names it (a UUID).
    SessionId,
    /// Correlates a `control_request` with its `control_response`; chosen by the sender.
    RequestId,
    /// One tool call of the model (`toolu_…`).
    ToolUseId,
    /// One line of the CLI, or a user message the host sent (a UUID).
    MessageUuid,
    /// One message of the model's API (`msg_…`); several assistant lines share it.
    ApiMessageId,
    /// A sub-agent; the same text as its [`TaskId`].
    AgentId,
    /// A background task, shell or sub-agent.
    TaskId,
}
