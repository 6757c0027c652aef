//! The policy of one session, and what its agent is started with.
//!
//! Owns the way from settings files, kept rules and the mode to a ruling on each question ([`Desk`]), and the way from a
//! session's setup to a started agent that asks about every call ([`start`], [`attach`]). Decides nothing that is a
//! person's to decide. Invariants: rules that cannot be read never make a session milder; hands-off ends by itself and
//! with its agent; no agent reads or writes what is ours.

mod environment;
mod error;
mod extras;
mod files;
mod grounds;
mod in_force;
mod kept;
mod plan_files;
mod policy;
mod ruling;
mod start;
mod time_box;
mod versions;
mod watching;

pub(crate) use environment::{
    check_variables, environment_of_host, variable_of_agent, variable_of_host,
};
pub use error::DeskError;
pub(crate) use extras::{check as check_extras, check_version};
pub use grounds::{Grounds, HostSettings};
pub use in_force::{InForce, Unmet, Wanted, in_force, put_in_force, told_by_init};
pub use kept::{KeptRule, Reach};
pub use policy::{Desk, Withheld};
pub use ruling::{Because, Ruling};
pub(crate) use start::check;
pub use start::{Conversation, Starting, attach, start};
pub use versions::Versions;
pub use watching::{HOOKS_CANNOT_PASS, Watching, needs_hook};
