//! Where a journal ends: the newest record and the place behind it.
//!
//! Owns the words in which a writer tells readers how far they may read. A tail is a level: a newer one makes an older
//! one worthless.

use serde::{Deserialize, Serialize};

/// The newest record, and where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tail {
    /// Its number.
    pub seq: u64,
    /// The number of its segment.
    pub seg: u32,
    /// How long the segment is.
    pub off: u64,
}
