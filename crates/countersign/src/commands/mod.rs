//! The commands, one file each: arguments, help texts, and the thin shell around what does the work.

pub(crate) mod experiments;
pub(crate) mod journal;
pub(crate) mod overview;
pub(crate) mod policy;
pub(crate) mod rehearse;
#[cfg(unix)]
pub(crate) mod reindex;
pub(crate) mod run;
pub(crate) mod wire;
