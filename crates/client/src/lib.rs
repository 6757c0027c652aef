//! Drives one Claude Code agent: a `claude` CLI whose stdio this process has taken over.
//!
//! Two ways in. [`query`] runs one prompt; [`Claude::connect`] opens a [`Session`] that lives as long as you hold it,
//! split into a [`Handle`] to speak, [`Events`] to listen and [`session::Questions`] to answer.

#![warn(missing_docs)]

mod agent;
#[cfg(feature = "blocking")]
pub mod blocking;
mod claude;
mod closed;
mod control;
mod error;
mod handlers;
pub mod history;
pub mod hook;
mod input;
mod launch;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod options;
mod peer;
mod permission;
mod query;
pub mod session;
mod supervise;
mod transport;
mod turn;

pub use agent::{Graces, SpawnError};
pub use claude::{Bounds, Claude};
pub use closed::{Closed, EndedBy};
pub use control::{InterruptReceipt, ModeTaken};
pub use countersign_wire as wire;
pub use error::{Error, Result};
pub use handlers::{DialogHandler, ElicitationHandler};
pub use hook::{Hook, HookContext, HookError, HookHandler};
pub use input::Prompt;
pub use options::Options;
pub use peer::audience::{Event, Events};
pub use peer::batch::{Frame, Kind};
pub use peer::notice::Notice;
pub use peer::question::{
    DialogQuestion, ElicitationQuestion, Interest, OtherQuestion, Question, Responder, Withdrawn,
};
pub use permission::{
    AllowAll, AllowTools, Decision, DenyAll, FormError, PermissionHandler, PermissionQuestion,
    PermissionRequest, Plan, QuestionForm, Rule, RuleError, Subject, Update,
};
pub use query::{Outcome, Query, Run, query};
pub use session::{Handle, Session};
pub use transport::Peer;
pub use turn::{Turn, TurnFailure, TurnResult, TurnStream};
