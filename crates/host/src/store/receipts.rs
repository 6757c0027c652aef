//! Receipts: that a command was done, and what came of it.
//!
//! Owns the keys. Invariants: the same key with the same command gives the same receipt and does nothing twice; with
//! another command it is refused; receipt and deed are one transaction.

use rusqlite::{Connection, OptionalExtension as _};
use serde::Serialize;

use super::StoreError;
use super::value::Json;
use crate::control::{Cmd, Command, Did, Digest, Receipt};

/// How long a receipt is kept, in microseconds: 30 days.
pub const KEPT: u64 = 30 * 24 * 60 * 60 * 1_000_000;

/// What makes two commands the same: who wants it, and what.
///
/// # Errors
/// When the command cannot be put into words.
pub fn digest(cmd: &Cmd, command: &Command) -> Result<Digest, StoreError> {
    digest_of(cmd, command)
}

/// The same for what is no command of its own.
///
/// # Errors
/// When it cannot be put into words.
pub(crate) fn digest_of(cmd: &Cmd, wanted: &impl Serialize) -> Result<Digest, StoreError> {
    let text = serde_json::to_vec(&(&cmd.principal, wanted));
    text.map(|text| Digest::of(&text))
        .map_err(|error| StoreError::Invalid(format!("the command cannot be stored: {error}")))
}

/// The receipt of a key, if it was used for this.
///
/// # Errors
/// [`StoreError::KeyReused`] when it was used for something else.
pub fn find(
    connection: &Connection,
    key: &str,
    digest: &Digest,
) -> Result<Option<Receipt>, StoreError> {
    let sql = "SELECT digest, receipt FROM receipts WHERE key = ?1";
    let mut receipts = connection.prepare_cached(sql)?;
    let found: Option<(Digest, Json<Receipt>)> = receipts
        .query_row([key], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match found {
        Some((known, _)) if known != *digest => Err(StoreError::KeyReused(key.to_owned())),
        found => Ok(found.map(|(_, receipt)| receipt.0)),
    }
}

/// Stores a receipt. To be called in the job that does what it is about.
///
/// # Errors
/// [`StoreError::KeyReused`] when the key has one.
pub fn put(connection: &Connection, digest: &Digest, receipt: &Receipt) -> Result<(), StoreError> {
    let sql = "INSERT INTO receipts (key, digest, receipt, at) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (key) DO NOTHING";
    let mut insert = connection.prepare_cached(sql)?;
    match insert.execute((&receipt.key, digest, Json(receipt), receipt.at))? {
        0 => Err(StoreError::KeyReused(receipt.key.clone())),
        _ => Ok(()),
    }
}

/// Does something once for a key, and gives the receipt: the one of before, if it was done before.
///
/// # Errors
/// Those of the deed, and [`StoreError::KeyReused`].
pub fn once(
    connection: &Connection,
    key: &str,
    digest: &Digest,
    now: u64,
    deed: impl FnOnce(&Connection) -> Result<Did, StoreError>,
) -> Result<Receipt, StoreError> {
    if let Some(receipt) = find(connection, key, digest)? {
        return Ok(receipt);
    }
    let receipt = Receipt {
        key: key.to_owned(),
        at: now,
        did: deed(connection)?,
    };
    put(connection, digest, &receipt)?;
    Ok(receipt)
}

/// Forgets receipts that are older than [`KEPT`]. Gives how many.
///
/// # Errors
/// When the database fails.
pub fn purge(connection: &Connection, now: u64) -> Result<usize, StoreError> {
    let mut delete = connection.prepare_cached("DELETE FROM receipts WHERE at < ?1")?;
    Ok(delete.execute([now.saturating_sub(KEPT)])?)
}
