//! Settings of the host, and the number of its starts.
//!
//! Owns a value for each name, and the epoch. Invariant: the epoch only rises, also when the database was put back to an
//! older copy.

use rusqlite::{Connection, OptionalExtension as _};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::StoreError;
use super::value::Json;

/// A setting; none if it was never set.
///
/// # Errors
/// When it is of another shape.
pub fn get<T: DeserializeOwned>(
    connection: &Connection,
    key: &str,
) -> Result<Option<T>, StoreError> {
    let mut settings = connection.prepare_cached("SELECT value FROM settings WHERE key = ?1")?;
    let found: Option<Json<T>> = settings.query_row([key], |row| row.get(0)).optional()?;
    Ok(found.map(|value| value.0))
}

/// Sets a setting.
///
/// # Errors
/// When the database fails.
pub fn set(connection: &Connection, key: &str, value: &impl Serialize) -> Result<(), StoreError> {
    let sql = "INSERT INTO settings (key, value) VALUES (?1, ?2)
               ON CONFLICT (key) DO UPDATE SET value = excluded.value";
    connection
        .prepare_cached(sql)?
        .execute((key, Json(value)))?;
    Ok(())
}

/// Takes a setting back.
///
/// # Errors
/// When the database fails.
pub fn unset(connection: &Connection, key: &str) -> Result<(), StoreError> {
    let mut delete = connection.prepare_cached("DELETE FROM settings WHERE key = ?1")?;
    delete.execute([key])?;
    Ok(())
}

/// The number of the present host; 0 before the first.
///
/// # Errors
/// When the database fails.
pub fn epoch(connection: &Connection) -> Result<u64, StoreError> {
    let mut epoch = connection.prepare_cached("SELECT epoch FROM epoch")?;
    let epoch = epoch.query_row([], |row| row.get(0)).optional()?;
    Ok(epoch.unwrap_or_default())
}

/// A number that no host before has had: one more than the last, and than `seen` elsewhere.
///
/// # Errors
/// When the database fails.
pub fn next_epoch(connection: &Connection, seen: u64) -> Result<u64, StoreError> {
    let next = epoch(connection)?.max(seen) + 1;
    let sql = "INSERT INTO epoch (one, epoch) VALUES (1, ?1)
               ON CONFLICT (one) DO UPDATE SET epoch = excluded.epoch";
    connection.prepare_cached(sql)?.execute([next])?;
    Ok(next)
}
