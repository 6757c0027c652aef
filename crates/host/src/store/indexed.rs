//! How far journals are indexed.
//!
//! Owns the checkpoint that sums, usage and words to search go by. It is stored in the transaction that stores what it led to.
//! Invariant: whoever goes on from a checkpoint can tell whether it still is the one that is stored.

use rusqlite::{Connection, OptionalExtension as _};

use super::{StoreError, search, usage};
use crate::control::SessionId;

/// The checkpoint of a session, as it was stored.
///
/// # Errors
/// When the database fails.
pub(crate) fn get(
    connection: &Connection,
    session: SessionId,
) -> Result<Option<Vec<u8>>, StoreError> {
    let sql = "SELECT checkpoint FROM indexed WHERE session = ?1";
    let mut indexed = connection.prepare_cached(sql)?;
    Ok(indexed.query_row([session], |row| row.get(0)).optional()?)
}

/// Stores the checkpoint of a session.
///
/// # Errors
/// When its session is not there.
pub(crate) fn put(
    connection: &Connection,
    session: SessionId,
    checkpoint: &[u8],
) -> Result<(), StoreError> {
    let sql = "INSERT INTO indexed (session, checkpoint) VALUES (?1, ?2)
               ON CONFLICT (session) DO UPDATE SET checkpoint = excluded.checkpoint";
    let mut indexed = connection.prepare_cached(sql)?;
    indexed.execute((session, checkpoint))?;
    Ok(())
}

/// The sessions that had an agent and are not indexed: of nobody is known what they spent, or it was counted wrongly.
///
/// # Errors
/// When the database fails.
pub(crate) fn missing(connection: &Connection) -> Result<Vec<SessionId>, StoreError> {
    let sql = "SELECT id FROM sessions WHERE generation > 0
               AND id NOT IN (SELECT session FROM indexed) ORDER BY last_activity DESC";
    let mut missing = connection.prepare_cached(sql)?;
    let rows = missing.query_map([], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Forgets all that a session was indexed for, so that the journal gives it again from its first record.
///
/// # Errors
/// When the database fails.
pub(crate) fn forget(connection: &Connection, session: SessionId) -> Result<(), StoreError> {
    usage::clear(connection, session)?;
    search::remove(connection, session)?;
    let sql = "DELETE FROM indexed WHERE session = ?1";
    connection.prepare_cached(sql)?.execute([session])?;
    Ok(())
}
