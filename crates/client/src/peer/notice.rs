//! What the client noticed and dealt with by itself, told because somebody may want to know.

use std::fmt;

/// Something that is no message of the CLI but concerns the session.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// A change of mode was accepted but is not in force.
    ModeNotTaken {
        /// What was asked for.
        wanted: String,
        /// What the CLI says is in force.
        got: String,
    },
    /// The CLI answered the same request again; the first answer counted.
    RepeatedReply {
        /// The request.
        request_id: String,
    },
    /// An answer came after its request had been given up.
    LateReply {
        /// The request.
        request_id: String,
    },
    /// The CLI asked again under an id that is open; only the first was passed on.
    RepeatedQuestion {
        /// The request.
        request_id: String,
    },
    /// A question could not be understood and was refused.
    BrokenQuestion {
        /// Its `subtype`, as far as it could be read.
        subtype: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Changes that were to go with an answer were left out, because this version would refuse the whole answer.
    UpdatesDropped {
        /// Which, and why.
        reasons: Vec<String>,
    },
    /// A model was chosen that the CLI did not list; it fails at the next turn if there is none of that name.
    UnlistedModel {
        /// What was chosen.
        model: String,
    },
    /// A hook is to block when it fails, which this CLI does not know: a hook that answers too late lets the call pass to
    /// the permission question.
    OnFailureUnknown,
    /// Too many questions were open at once; this one was refused.
    TooManyQuestions {
        /// Its `subtype`.
        subtype: String,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ModeNotTaken { wanted, got } => {
                write!(f, "mode {wanted} was accepted, but {got} is in force")
            }
            Self::RepeatedReply { request_id } => write!(f, "{request_id} was answered again"),
            Self::LateReply { request_id } => {
                write!(f, "the answer to {request_id} came after it was given up")
            }
            Self::RepeatedQuestion { request_id } => write!(f, "{request_id} was asked again"),
            Self::BrokenQuestion { subtype, reason } => {
                write!(f, "a broken `{subtype}` was refused: {reason}")
            }
            Self::UpdatesDropped { reasons } => {
                write!(f, "left out of the answer: {}", reasons.join("; "))
            }
            Self::UnlistedModel { model } => write!(f, "the CLI does not list a model `{model}`"),
            Self::OnFailureUnknown => f.write_str(
                "this CLI does not know `onFailure`; a hook that times out does not block",
            ),
            Self::TooManyQuestions { subtype } => {
                write!(f, "a `{subtype}` was refused: too many questions are open")
            }
        }
    }
}
