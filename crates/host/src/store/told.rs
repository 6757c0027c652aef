//! What agents said of themselves when they came: their commands, their models.
//!
//! Owns the rows. The newest word holds.

use rusqlite::{Connection, OptionalExtension as _, Row};
use serde_json::Value;

use super::StoreError;
use super::value::Json;
use crate::control::{Named, SessionId};

/// The slash commands.
pub const COMMANDS: &str = "commands";

/// The models.
pub const MODELS: &str = "models";

/// Keeps what an agent named.
///
/// # Errors
/// When its session is not there.
pub fn put(
    connection: &Connection,
    session: SessionId,
    name: &str,
    at: u64,
    items: &[Value],
) -> Result<(), StoreError> {
    let sql = "INSERT INTO told (session, name, at, value) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (session, name) DO UPDATE SET at = excluded.at, value = excluded.value";
    let mut insert = connection.prepare_cached(sql)?;
    insert.execute((session, name, at, Json(items)))?;
    Ok(())
}

fn named(row: &Row<'_>) -> rusqlite::Result<Named> {
    Ok(Named {
        at: row.get("at")?,
        items: row.get::<_, Json<_>>("value")?.0,
    })
}

/// What the agent of a session named last; nothing if it never did.
///
/// # Errors
/// When the database fails.
pub fn of_session(
    connection: &Connection,
    session: SessionId,
    name: &str,
) -> Result<Named, StoreError> {
    let sql = "SELECT at, value FROM told WHERE session = ?1 AND name = ?2";
    let mut told = connection.prepare_cached(sql)?;
    let found = told.query_row((session, name), named).optional()?;
    Ok(found.unwrap_or_default())
}

/// What any agent named last.
///
/// # Errors
/// When the database fails.
pub fn newest(connection: &Connection, name: &str) -> Result<Named, StoreError> {
    let sql = "SELECT at, value FROM told WHERE name = ?1 ORDER BY at DESC LIMIT 1";
    let mut told = connection.prepare_cached(sql)?;
    let found = told.query_row([name], named).optional()?;
    Ok(found.unwrap_or_default())
}
