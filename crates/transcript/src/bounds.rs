//! How much a fold keeps, and what happens beyond it.
//!
//! Owns the numbers. Invariant: whatever an agent says, and for however long, the memory of a fold and the size of
//! its checkpoint depend on these numbers alone.

/// Bytes of one text of an entry. More is cut off; the entry says how long the whole is and which record has it.
pub const TEXT: usize = 16 << 10;

/// Bytes of a word: names, ids, reasons. More is cut off.
pub const WORD: usize = 1 << 10;

/// Entries that may still change. With one more, the oldest is let go: it stays as it is, and what comes for it later
/// becomes an entry of its own.
pub const OPEN: usize = 512;

/// Bytes of all texts of open entries together. Beyond it, the oldest of them are shortened to [`SHORT`] a text.
pub const OPEN_BYTES: usize = 1 << 20;

/// Bytes that are left of a text that had to be shortened.
pub const SHORT: usize = 512;

/// Speakers whose messages are being written at once. With one more, what the first of them has written is final.
pub const STREAMS: usize = 64;

/// Blocks of one message that are being written. More are passed over; their final lines are read all the same.
pub const BLOCKS: usize = 256;

/// Tasks that are known by their id. Of one more, only the last word is told.
pub const TASKS: usize = 1024;

/// Sub-agents that are known by the call that started them. Lines of one that was forgotten stand without a parent.
pub const AGENTS: usize = 512;

/// Requests of the host that wait for their reply. The reply to one that was forgotten changes nothing.
pub const REQUESTS: usize = 128;

/// Names that totals tell apart (tools, models, who decided). Further ones are counted together as [`OTHERS`].
pub const NAMES: usize = 128;

/// How totals call what they do not tell apart.
pub const OTHERS: &str = "(others)";

/// Levels of sub-agents that a path names. Deeper ones name the innermost.
pub const DEPTH: usize = 16;

/// Items of a list within an entry: errors of a turn, processes that were ended. More are left out.
pub const ITEMS: usize = 16;
