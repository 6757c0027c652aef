//! The same records in a table of SQLite, as one would do it: WAL, one writer, a prepared insert.
//!
//! Owns the database of one run. A batch is one transaction; a batch of one is an insert of its own.

use std::path::Path;

use anyhow::ensure;
use rusqlite::{Connection, params};

/// How much of a crash of the machine it is to survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sync {
    /// The file stays readable; the newest transactions may be lost. What the journal promises for an agent's lines.
    Normal,
    /// Nothing is promised.
    Off,
}

#[derive(Debug)]
pub(crate) struct Table {
    connection: Connection,
    next: i64,
}

impl Table {
    pub(crate) fn create(file: &Path, sync: Sync) -> anyhow::Result<Self> {
        let connection = Connection::open(file)?;
        let mode: String =
            connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
        ensure!(mode == "wal", "SQLite chose the mode {mode}");
        let word = match sync {
            Sync::Normal => "NORMAL",
            Sync::Off => "OFF",
        };
        connection.execute_batch(&format!(
            "PRAGMA synchronous = {word};
             CREATE TABLE record (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind INTEGER NOT NULL, payload BLOB NOT NULL);"
        ))?;
        Ok(Self {
            connection,
            next: 1,
        })
    }

    /// Appends the record `times` times in one transaction.
    pub(crate) fn append(
        &mut self,
        at: u64,
        kind: u8,
        payload: &[u8],
        times: u64,
    ) -> anyhow::Result<()> {
        let is_batch = times > 1;
        if is_batch {
            self.connection
                .prepare_cached("BEGIN IMMEDIATE")?
                .execute([])?;
        }
        {
            let mut insert = self
                .connection
                .prepare_cached("INSERT INTO record VALUES (?1, ?2, ?3, ?4)")?;
            for _ in 0..times {
                insert.execute(params![self.next, at as i64, kind, payload])?;
                self.next += 1;
            }
        }
        if is_batch {
            self.connection.prepare_cached("COMMIT")?.execute([])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_is_in_the_table() {
        let dir = tempfile::tempdir().unwrap();
        let mut table = Table::create(&dir.path().join("db"), Sync::Normal).unwrap();
        table.append(5, b'a', b"one", 1).unwrap();
        table.append(6, b'a', b"more", 10).unwrap();
        let (count, most): (i64, i64) = table
            .connection
            .query_row("SELECT count(*), max(seq) FROM record", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!((count, most), (11, 11));
    }
}
