//! One agent, kept: a small process that owns its pipes and its journal, and lives on when the host does not.
//!
//! Owns both ends of that: the process itself (guard and keeper, no runtime, one thread), and what a host does with
//! it (start, attach, recover). Invariants: one agent for a generation, whatever crashes; every frame is journalled
//! before it is passed on; no grant reaches an agent before it is on the disk; each host line is taken once.
//!
//! Start with [`Order`] and [`start`], then [`main`], which becomes the process: `guard`, then `keep`.
#![warn(missing_docs)]

pub mod protocol;

mod habits;
mod order;

pub use habits::{Habits, Step};
pub use order::{Arg, Graces, KeeperCommand, Order};

#[cfg(unix)]
pub mod attach;
#[cfg(unix)]
mod clock;
#[cfg(unix)]
mod command;
#[cfg(unix)]
mod folder;
#[cfg(unix)]
mod guard;
#[cfg(unix)]
mod keep;
#[cfg(unix)]
mod lock;
#[cfg(unix)]
mod recover;
#[cfg(unix)]
mod socket;
#[cfg(unix)]
mod spec;
#[cfg(unix)]
mod start;
#[cfg(unix)]
mod stray;

#[cfg(unix)]
pub use command::main_if_asked;
#[cfg(unix)]
pub use folder::{KeeperJson, is_on_network};
#[cfg(unix)]
pub use guard::main;
#[cfg(unix)]
pub use recover::{Found, RecoverError, bury, kill, look};
#[cfg(unix)]
pub use start::{StartError, Started, start};
