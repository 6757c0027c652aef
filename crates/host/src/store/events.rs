//! What happened in all sessions, by number.
//!
//! Owns the numbers. Events are kept up to a count; who was away for longer hears that there is a gap. Invariants: a
//! number is never used twice; nobody is led over a gap without a word.

use rusqlite::{Connection, Row};

use super::StoreError;
use super::value::Json;
use crate::control::{Happened, HostEvent, SessionId};

/// How many are kept.
pub const KEPT: u64 = 100_000;

/// How many are told at once.
const MOST: usize = 10_000;

fn of(row: &Row<'_>) -> rusqlite::Result<HostEvent> {
    Ok(HostEvent {
        number: row.get("number")?,
        at: row.get("at")?,
        session: row.get("session")?,
        what: row.get::<_, Json<_>>("what")?.0,
    })
}

/// Something happened. Gives its number.
///
/// # Errors
/// When the database fails.
pub fn add(
    connection: &Connection,
    at: u64,
    session: Option<SessionId>,
    what: &Happened,
) -> Result<u64, StoreError> {
    let sql = "INSERT INTO events (at, session, what) VALUES (?1, ?2, ?3) RETURNING number";
    let mut insert = connection.prepare_cached(sql)?;
    Ok(insert.query_row((at, session, Json(what)), |row| row.get(0))?)
}

/// The number of the last event that ever was; 0 before the first.
///
/// # Errors
/// When the database fails.
pub fn last(connection: &Connection) -> Result<u64, StoreError> {
    let sql = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'";
    Ok(connection
        .prepare_cached(sql)?
        .query_row([], |row| row.get(0))?)
}

/// Events after a number, oldest first. Where some are no longer kept, or the number is of a time that is no more (the
/// database was put back to an older copy), a [`Happened::Gap`] comes first, with the number before the next one.
///
/// # Errors
/// When the database fails.
pub fn after(
    connection: &Connection,
    after: u64,
    most: usize,
) -> Result<Vec<HostEvent>, StoreError> {
    let last = last(connection)?;
    let sql = "SELECT min(number), (SELECT at FROM events ORDER BY number LIMIT 1) FROM events";
    let mut first = connection.prepare_cached(sql)?;
    let (first, at): (Option<u64>, Option<u64>) =
        first.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let before_first = first.map_or(last, |first| first - 1);
    let from = if after > last {
        Some(last)
    } else if after < before_first {
        Some(before_first)
    } else {
        None
    };
    let mut events = Vec::new();
    events.extend(from.map(|number| HostEvent {
        number,
        at: at.unwrap_or_default(),
        session: None,
        what: Happened::Gap,
    }));
    let sql = "SELECT * FROM events WHERE number > ?1 ORDER BY number LIMIT ?2";
    let mut rows = connection.prepare_cached(sql)?;
    let rows = rows.query_map((from.unwrap_or(after), most.min(MOST) as u64), of)?;
    for event in rows {
        events.push(event?);
    }
    Ok(events)
}

/// Forgets all but the newest. Gives how many went.
///
/// # Errors
/// When the database fails.
pub fn purge(connection: &Connection, keep: u64) -> Result<usize, StoreError> {
    let last = last(connection)?;
    let mut delete = connection.prepare_cached("DELETE FROM events WHERE number <= ?1")?;
    Ok(delete.execute([last.saturating_sub(keep)])?)
}
