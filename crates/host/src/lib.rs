//! Many agents under one roof: sessions, approvals, plan review, decided exactly once and with a record.
//!
//! Owns what outlives a connection and an agent. Clients speak to it through [`control`]. Invariants: the journal of a
//! session is the truth about what crossed its wire; the database holds what people entrusted to us, and what can be made
//! again from journals; a person's decision is on the disk before it is acknowledged; nothing of a person's work is
//! deleted.

#![warn(missing_docs)]

pub mod approval;
mod care;
pub mod control;
pub mod desk;
mod earlier;
mod events;
mod folders;
mod follow;
mod host;
mod host_key;
pub mod import;
mod index;
mod insights;
mod live;
mod make;
pub mod model_names;
pub mod money;
pub mod notify;
mod packed;
mod pages;
pub mod plan;
mod points;
mod pull;
mod recover;
mod reindex;
mod room;
pub mod session;
mod shelf;
mod space_reserve;
pub mod store;
pub mod trash;
mod uploads;
mod upserts;
pub mod worktree;

pub use countersign_process::{few_heaps, raise_descriptor_limit};
pub use folders::Folders;
pub use host::{Host, HostError, Settings};
pub use reindex::{Reindexed, reindex};
