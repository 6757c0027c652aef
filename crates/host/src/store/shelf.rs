//! Checkpoints of transcripts.
//!
//! Owns the two shelves over the same rows: one for whoever has a connection already, one for a thread that may wait.
//! Everything on them is derived. Invariants: what was put is what is got, also before it is committed for others; only pages
//! of transcripts write here, by their own keys.

use countersign_transcript::pages::{Key, Shelf, ShelfError};
use rusqlite::{Connection, OptionalExtension as _};

use super::{Durability, Store, StoreError};
use crate::control::SessionId;

fn get(
    connection: &Connection,
    session: SessionId,
    key: Key,
) -> Result<Option<Vec<u8>>, StoreError> {
    let sql = "SELECT value FROM shelf WHERE session = ?1 AND name = ?2";
    let mut shelf = connection.prepare_cached(sql)?;
    let value = shelf.query_row((session, key.to_string()), |row| row.get(0));
    Ok(value.optional()?)
}

fn put(
    connection: &Connection,
    session: SessionId,
    key: Key,
    value: &[u8],
) -> Result<(), StoreError> {
    let sql = "INSERT INTO shelf (session, name, value) VALUES (?1, ?2, ?3)
               ON CONFLICT (session, name) DO UPDATE SET value = excluded.value";
    let mut shelf = connection.prepare_cached(sql)?;
    shelf.execute((session, key.to_string(), value))?;
    Ok(())
}

/// Throws the checkpoints of a session away. They are made again from its journal.
///
/// # Errors
/// When the database fails.
pub fn clear(connection: &Connection, session: SessionId) -> Result<(), StoreError> {
    let mut delete = connection.prepare_cached("DELETE FROM shelf WHERE session = ?1")?;
    delete.execute([session])?;
    Ok(())
}

fn failed(error: StoreError) -> ShelfError {
    std::io::Error::other(error).into()
}

/// The checkpoints of a session, inside of a job or a question.
#[derive(Debug)]
pub struct ShelfIn<'a> {
    connection: &'a Connection,
    session: SessionId,
}

impl<'a> ShelfIn<'a> {
    /// Those of this session.
    pub fn new(connection: &'a Connection, session: SessionId) -> Self {
        Self {
            connection,
            session,
        }
    }
}

impl Shelf for ShelfIn<'_> {
    fn get(&self, key: Key) -> Result<Option<Vec<u8>>, ShelfError> {
        get(self.connection, self.session, key).map_err(failed)
    }

    fn put(&mut self, key: Key, value: &[u8]) -> Result<(), ShelfError> {
        put(self.connection, self.session, key, value).map_err(failed)
    }
}

/// The checkpoints of a session, for a thread that may wait.
#[derive(Debug, Clone)]
pub struct StoredShelf {
    store: Store,
    session: SessionId,
}

impl StoredShelf {
    /// Those of this session.
    pub fn new(store: Store, session: SessionId) -> Self {
        Self { store, session }
    }
}

impl Shelf for StoredShelf {
    fn get(&self, key: Key) -> Result<Option<Vec<u8>>, ShelfError> {
        let found = self
            .store
            .read_blocking(|connection| get(connection, self.session, key));
        found.map_err(failed)
    }

    fn put(&mut self, key: Key, value: &[u8]) -> Result<(), ShelfError> {
        let (session, value) = (self.session, value.to_vec());
        let done = self
            .store
            .write_blocking(Durability::Normal, move |connection| {
                put(connection, session, key, &value)
            });
        done.map_err(failed)
    }
}
