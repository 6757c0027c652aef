//! The commands, one file each: arguments, help texts, and the thin shell around what does the work.

#[cfg(unix)]
pub(crate) mod answer;
#[cfg(unix)]
pub(crate) mod approve;
#[cfg(unix)]
pub(crate) mod deny;
#[cfg(unix)]
pub(crate) mod disk;
pub(crate) mod drift;
#[cfg(unix)]
pub(crate) mod fork;
#[cfg(unix)]
pub(crate) mod import;
#[cfg(unix)]
pub(crate) mod inbox;
#[cfg(unix)]
pub(crate) mod interrupt;
pub(crate) mod journal;
#[cfg(unix)]
pub(crate) mod logs;
#[cfg(unix)]
pub(crate) mod mcp;
#[cfg(unix)]
pub(crate) mod mode;
#[cfg(unix)]
pub(crate) mod model;
pub(crate) mod openapi;
pub(crate) mod overview;
#[cfg(unix)]
pub(crate) mod plan;
pub(crate) mod policy;
pub(crate) mod rehearse;
#[cfg(unix)]
pub(crate) mod reindex;
#[cfg(unix)]
pub(crate) mod resume;
#[cfg(unix)]
pub(crate) mod rewind;
#[cfg(unix)]
pub(crate) mod rm;
pub(crate) mod run;
#[cfg(unix)]
pub(crate) mod send;
#[cfg(unix)]
pub(crate) mod serve;
#[cfg(unix)]
pub(crate) mod sessions;
#[cfg(unix)]
pub(crate) mod show;
#[cfg(unix)]
pub(crate) mod start;
#[cfg(unix)]
pub(crate) mod stop;
#[cfg(unix)]
pub(crate) mod token;
pub(crate) mod wire;
