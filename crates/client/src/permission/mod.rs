//! "May this tool run?": the question, and who answers it.
//!
//! Owns [`PermissionRequest`] (what is asked) and [`PermissionHandler`] (who decides). The files beside this one own what
//! is answered ([`Decision`]), what may change with it ([`Update`]), ready handlers, and the two calls that are really
//! something else: a plan to approve and questions to a person ([`Subject`]). Invariant: a handler that panics, is
//! dropped or never existed denies.

mod decision;
mod form;
mod plan;
mod ready;
mod update;

use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;

use countersign_wire::control::CanUseTool;
use countersign_wire::permission::PermissionUpdate;
use countersign_wire::tools::ToolInput;

pub use decision::Decision;
pub use form::{FormError, QuestionForm};
pub use plan::Plan;
pub use ready::{AllowAll, AllowTools, DenyAll};
pub use update::{Rule, RuleError, Update};

use crate::peer::responder::{Interest, Responder, Withdrawn};

/// A future in a box.
pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The CLI asks whether a call may run. Cheap to clone; derefs to the fields of the wire.
#[derive(Debug, Clone)]
pub struct PermissionRequest(Arc<Asked>);

#[derive(Debug)]
struct Asked {
    ask: Box<CanUseTool>,
    interest: Interest,
    position: u64,
}

impl PermissionRequest {
    pub(crate) fn new(ask: Box<CanUseTool>, interest: Interest, position: u64) -> Self {
        Self(Arc::new(Asked {
            ask,
            interest,
            position,
        }))
    }

    /// The input as a typed view, for the tools that are known.
    ///
    /// # Errors
    /// When the tool is known and the input does not fit it.
    pub fn tool_input(&self) -> Result<ToolInput, serde_json::Error> {
        ToolInput::view(&self.tool_name, &self.input)
    }

    /// The changes the CLI suggests to go with an allow. They may contain a change of mode: choose, do not echo.
    pub fn suggestions(&self) -> &[PermissionUpdate] {
        self.permission_suggestions.as_deref().unwrap_or_default()
    }

    /// Those of the suggestions that only add rules: what "always allow this" means, without a change of mode.
    pub fn rule_suggestions(&self) -> impl Iterator<Item = &PermissionUpdate> {
        let is_rule = |update: &&PermissionUpdate| matches!(update, PermissionUpdate::AddRules(_));
        self.suggestions().iter().filter(is_rule)
    }

    /// What it really is about.
    pub fn subject(&self) -> Subject {
        match self.tool_input() {
            Ok(ToolInput::ExitPlanMode(input)) => Subject::Plan(Plan::new(*input, &self.input)),
            Ok(ToolInput::EnterPlanMode(_)) => Subject::EnterPlanMode,
            Ok(ToolInput::AskUserQuestion(input)) => {
                Subject::Questions(QuestionForm::new(input.questions, &self.input))
            }
            _ => Subject::Call,
        }
    }

    /// Whether and when the CLI withdraws the question.
    pub fn interest(&self) -> &Interest {
        &self.0.interest
    }

    /// How many events the CLI had told before it asked.
    pub fn position(&self) -> u64 {
        self.0.position
    }
}

/// What a permission question is really about.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Subject {
    /// A tool wants to run. Also a plan or a form that this build cannot read.
    Call,
    /// The agent presents its plan and wants to leave plan mode. Asked in every mode, bypass too.
    Plan(Plan),
    /// The agent wants to enter plan mode. Only 2.0.75 asks; later versions enter it and say so by `system/status`.
    EnterPlanMode,
    /// The agent asks the person. Asked in every mode, bypass too.
    Questions(QuestionForm),
}

impl Deref for PermissionRequest {
    type Target = CanUseTool;

    fn deref(&self) -> &CanUseTool {
        &self.0.ask
    }
}

/// A permission question with the right to answer it.
#[derive(Debug)]
#[must_use = "a question that is dropped is denied"]
pub struct PermissionQuestion {
    request: PermissionRequest,
    responder: Responder,
}

impl PermissionQuestion {
    pub(crate) fn new(request: PermissionRequest, responder: Responder) -> Self {
        Self { request, responder }
    }

    /// What is asked.
    pub fn request(&self) -> &PermissionRequest {
        &self.request
    }

    /// The right to answer it.
    pub fn responder(&self) -> &Responder {
        &self.responder
    }

    /// The right to answer it, for an answer that no [`Decision`] can say. Nothing is checked or completed then.
    pub fn into_responder(self) -> Responder {
        self.responder
    }

    /// Has this kept with the answer ([`Responder::note`]).
    pub fn note(&mut self, note: crate::Json) {
        self.responder.note(note);
    }

    /// Gives the decision.
    ///
    /// # Errors
    /// When the question was withdrawn: by an interrupt, by another answer, by the end of the agent.
    pub fn answer(self, decision: Decision) -> Result<(), Withdrawn> {
        crate::peer::settle(&self.request, self.responder, decision)
    }

    /// The call runs as asked.
    ///
    /// # Errors
    /// When the question was withdrawn.
    pub fn allow(self) -> Result<(), Withdrawn> {
        self.answer(Decision::allow())
    }

    /// The call does not run; the model reads `message`.
    ///
    /// # Errors
    /// When the question was withdrawn.
    pub fn deny(self, message: impl Into<String>) -> Result<(), Withdrawn> {
        self.answer(Decision::deny(message))
    }

    /// The call does not run and the turn ends.
    ///
    /// # Errors
    /// When the question was withdrawn.
    pub fn deny_and_stop(self, message: impl Into<String>) -> Result<(), Withdrawn> {
        self.answer(Decision::deny_and_stop(message))
    }
}

impl Deref for PermissionQuestion {
    type Target = PermissionRequest;

    fn deref(&self) -> &PermissionRequest {
        &self.request
    }
}

/// Who decides about calls. Any `Fn(PermissionRequest) -> impl Future<Output = Decision>` is one.
///
/// Many questions may be put to it at once. When the CLI withdraws one, its future is dropped.
pub trait PermissionHandler: Send + Sync + 'static {
    /// Decides about one call.
    fn decide(&self, request: PermissionRequest) -> BoxFuture<'_, Decision>;
}

impl<F, Fut> PermissionHandler for F
where
    F: Fn(PermissionRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Decision> + Send + 'static,
{
    fn decide(&self, request: PermissionRequest) -> BoxFuture<'_, Decision> {
        Box::pin(self(request))
    }
}
