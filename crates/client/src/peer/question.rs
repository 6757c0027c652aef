//! What the CLI asks, as values.
//!
//! Owns the kinds of questions that come to whoever reads them. Each holds the right to answer it, a [`Responder`].

use countersign_wire::Json;
use countersign_wire::control::{
    Elicitation, ElicitationAction, ElicitationReply, RequestUserDialog, RequestUserDialogReply,
};

use super::responder::{Responder, Withdrawn};
use crate::permission::PermissionQuestion;

/// What the CLI asks of the host.
#[derive(Debug)]
#[non_exhaustive]
#[must_use = "a question that is dropped is refused"]
pub enum Question {
    /// May this tool run?
    Permission(PermissionQuestion),
    /// An MCP server asks the person something.
    Elicitation(ElicitationQuestion),
    /// The CLI wants a dialog shown.
    Dialog(DialogQuestion),
    /// A request that this build has no name for, or that belongs to other hosts.
    Other(OtherQuestion),
}

impl Question {
    /// The right to answer it.
    pub fn responder(&self) -> &Responder {
        match self {
            Self::Permission(question) => question.responder(),
            Self::Elicitation(question) => &question.responder,
            Self::Dialog(question) => &question.responder,
            Self::Other(question) => &question.responder,
        }
    }
}

/// An MCP server asks the person something.
#[derive(Debug)]
pub struct ElicitationQuestion {
    request: Elicitation,
    responder: Responder,
}

impl ElicitationQuestion {
    pub(crate) fn new(request: Elicitation, responder: Responder) -> Self {
        Self { request, responder }
    }

    /// What is asked.
    pub fn request(&self) -> &Elicitation {
        &self.request
    }

    /// The right to answer it.
    pub fn responder(&self) -> &Responder {
        &self.responder
    }

    /// The right to answer it, for an answer with a note ([`Responder::note`]).
    pub fn into_responder(self) -> Responder {
        self.responder
    }

    /// Answers with the values of the form.
    ///
    /// # Errors
    /// When the question was withdrawn.
    pub fn accept(self, content: Json) -> Result<(), Withdrawn> {
        self.reply(ElicitationAction::Accept, Some(content))
    }

    /// The person says no.
    ///
    /// # Errors
    /// When the question was withdrawn.
    pub fn decline(self) -> Result<(), Withdrawn> {
        self.reply(ElicitationAction::Decline, None)
    }

    /// The person closed the form.
    ///
    /// # Errors
    /// When the question was withdrawn.
    pub fn cancel(self) -> Result<(), Withdrawn> {
        self.reply(ElicitationAction::Cancel, None)
    }

    fn reply(self, action: ElicitationAction, content: Option<Json>) -> Result<(), Withdrawn> {
        self.responder.reply(&ElicitationReply {
            action,
            content,
            extra: countersign_wire::Extra::default(),
        })
    }
}

/// The CLI wants a dialog shown.
#[derive(Debug)]
pub struct DialogQuestion {
    request: RequestUserDialog,
    responder: Responder,
}

impl DialogQuestion {
    pub(crate) fn new(request: RequestUserDialog, responder: Responder) -> Self {
        Self { request, responder }
    }

    /// Which dialog, and what it shows.
    pub fn request(&self) -> &RequestUserDialog {
        &self.request
    }

    /// The right to answer it.
    pub fn responder(&self) -> &Responder {
        &self.responder
    }

    /// The right to answer it, for an answer with a note ([`Responder::note`]).
    pub fn into_responder(self) -> Responder {
        self.responder
    }

    /// Answers it.
    ///
    /// # Errors
    /// When the question was withdrawn.
    pub fn answer(self, reply: &RequestUserDialogReply) -> Result<(), Withdrawn> {
        self.responder.reply(reply)
    }
}

/// A request that this build has no name for.
#[derive(Debug)]
pub struct OtherQuestion {
    subtype: String,
    body: Json,
    responder: Responder,
}

impl OtherQuestion {
    pub(crate) fn new(subtype: String, body: Json, responder: Responder) -> Self {
        Self {
            subtype,
            body,
            responder,
        }
    }

    /// Its `subtype`.
    pub fn subtype(&self) -> &str {
        &self.subtype
    }

    /// The whole `request`.
    pub fn body(&self) -> &Json {
        &self.body
    }

    /// The right to answer it.
    pub fn into_responder(self) -> Responder {
        self.responder
    }
}
