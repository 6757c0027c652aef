//! Permission rules → a verdict with its reason.
//!
//! Owns the question "may this call run?" as far as rules can answer it: Claude Code's rule language and precedence,
//! matched on what a call really does. Pure: the time comes in as a value, the disk through [`Disk`].
//!
//! A call is taken apart into *acts* ([`act`]): the simple commands of a shell text, the files that are read or
//! written, the host that is fetched from. Every act must be allowed for the call to be allowed; one denied act denies
//! the call; what cannot be read is asked. So `git log; rm -rf x` is two acts, and a rule for `git log` allows one.
//!
//! ```text
//! text of rules ─ source ─▶ Rule ─┐
//! can_use_tool ─ call ─▶ act ─────┴─ decide ─▶ Verdict (Allow, Ask or Deny; which rule; why)
//! ```
//!
//! Deny > ask > what is never allowed by rule > allow > profile. Invariants: adding a deny rule never makes a verdict
//! milder; nothing that cannot be parsed is allowed; no rule is matched against the beginning of a text.

#![warn(missing_docs)]

pub mod act;
mod call;
pub mod check;
mod decide;
mod elsewhere;
mod explain;
mod fit;
mod glance;
mod guard;
mod guess;
mod harm;
mod meaning;
mod naming;
pub mod path;
mod place;
mod profile;
mod ruin;
pub mod rule;
pub mod shell;
pub mod source;
mod suggest;
mod verdict;
mod watch;

pub use call::{Call, Marks};
pub use decide::Policy;
pub use explain::{Explanation, Step};
pub use fit::Fit;
pub use guard::LOST;
pub use harm::{Harm, harm};
pub use place::{Disk, Place, RealDisk};
pub use profile::Profile;
pub use rule::{Effect, Origin, Rule, RuleError, Scope};
pub use suggest::suggest;
pub use verdict::{Reason, Verdict, Why};
pub use watch::{
    ASKED_TOOLS, EVERY_TOOL, Watch, asks_about_everything, is_known_tool, is_taken_everywhere,
};
