//! The pure core of a session: what its journal says, how it stands, what follows.
//!
//! Owns [`facts`] (a record of the journal → [`Fact`]s) and [`Core`] ([`Input`]s → [`Effect`]s). No clock, no files, no
//! runtime: time comes in with each input, and whoever runs the effects tells what came of them. Invariants: there is
//! never more than one agent; *running* is proved; from every state there is a way out; nothing in here grows without a
//! bound; a core that was stored and restored does the same as one that was not.
//!
//! How it is run: effects in their order and before the next input; records in their order, each once, the core stored
//! with the cursor. A host that begins gives [`Input::HostBegan`] to a restored core, then what the journal holds beyond the
//! cursor, then [`Input::CaughtUp`]; in between nothing is sent or started. A question counts as a person's until
//! [`Input::Decided`] says that a rule or a person has decided it, so a rule's verdict is told in the same breath as the
//! question, before the effects of either are run. An answer that the keeper refuses because the question is not open is told
//! as [`Fact::Withdrawn`]. The record of an agent's exit says the same as [`Input::Gone`], and comes first; the second of
//! them does nothing. [`Effect::PutBack`] and [`Effect::GiveUpRoom`] may be said of what is already so.

mod agent;
mod clock;
mod core;
mod effect;
mod fact;
mod glance;
mod hear;
mod input;
mod onward;
mod open;
mod read;
mod shown;
mod timing;
mod turn;
mod wish;
mod words;

pub use self::core::Core;
pub use effect::{Begin, Effect, Kept};
pub use fact::{Fact, Report, Seen, Trouble, TurnEnd};
pub use input::Input;
pub use read::facts;
pub use timing::Timing;
