//! The clock of the server.
//!
//! Owns the one place where the time is read; everything else gets it as a value.

/// One second, in the unit of every time.
pub const SECOND: u64 = 1_000_000;

/// Now, in microseconds of Unix time.
pub fn now() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |now| u64::try_from(now.as_micros()).unwrap_or(u64::MAX))
}
