//! How long is waited for what.
//!
//! Owns the spans, in microseconds as all times are. They are kept with the core, so that a restored one waits as long.

use serde::{Deserialize, Serialize};

const SECOND: u64 = 1_000_000;

/// Spans in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timing {
    /// A turn that nothing explains and that says nothing for so long has stalled.
    pub stall_after: u64,
    /// How long an interrupt may take.
    pub interrupt_grace: u64,
    /// How long the end of an agent may take before it is killed. Longer than the keeper's own plan.
    pub end_grace: u64,
    /// An agent that is idle for so long goes to sleep. None: never.
    pub sleep_after: Option<u64>,
    /// A message that the CLI has taken begins its turn within this, or has been there before.
    pub begin_grace: u64,
    /// What a turn has cost is told within this, or the next message goes without it.
    pub count_grace: u64,
    /// How often an agent that did not come up is started again without a person's word.
    pub most_starts: u32,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            stall_after: 5 * 60 * SECOND,
            interrupt_grace: 5 * SECOND,
            end_grace: 11 * SECOND,
            sleep_after: Some(30 * 60 * SECOND),
            begin_grace: 5 * SECOND,
            count_grace: SECOND,
            most_starts: 3,
        }
    }
}
