//! What users of other clients complained about, one test a complaint, numbered as in the table of `main.rs`.

pub(crate) mod approvals;
pub(crate) mod lines;
pub(crate) mod options;
pub(crate) mod process;
pub(crate) mod servers;
pub(crate) mod turns;
