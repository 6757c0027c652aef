//! Bodies of writes, where they are not simply a word of the seam.
//!
//! Owns what a client sends. Ids may be left out: then they follow from the key of the write. Invariant: a field that is
//! not known is refused, so that a misspelt one is not taken for granted.

mod approvals;
mod blocks;
mod sessions;

pub use approvals::{DecideAlikeBody, DecideBody};
pub use blocks::{BlockSource, MessageBlock};
pub use sessions::{
    EditBody, ForkBody, ImportBody, MessageBody, ModeBody, ModeName, ModelBody, MoveBody,
    PatchSession, ResumeBody, RewindBody, StartBody,
};
