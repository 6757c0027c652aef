//! Opening the file.
//!
//! Owns how connections are set up and who may read the files. Invariants: the database, its log and its copies are for
//! the owner's eyes only; what is not a database of ours is left as it is.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::{StoreError, migrate};

/// Marks a database as ours: "CSgn".
pub(super) const APPLICATION: i32 = 0x4353_676e;

/// How long a tool of the person that looks into the file may keep us waiting.
const BUSY: Duration = Duration::from_secs(5);

/// Statements that stay prepared.
const PREPARED: usize = 128;

/// The connection that writes, with the newest form of the tables.
pub(super) fn writer(path: &Path) -> Result<Connection, StoreError> {
    private(path, OpenOptions::new().create(true))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    set_up(&connection)?;
    migrate::check(&connection, path)?;
    for behind in ["", "-wal", "-shm"] {
        close_to_others(&beside(path, behind))?;
    }
    let journal: String =
        connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if journal != "wal" {
        let why = "has no log there: name a data folder on a disk of this machine";
        return Err(StoreError::Invalid(format!("{} {why}", path.display())));
    }
    // On macOS only the full sync reaches the disk.
    connection.execute_batch(
        "PRAGMA synchronous = FULL;
         PRAGMA fullfsync = ON;
         PRAGMA checkpoint_fullfsync = ON;
         PRAGMA journal_size_limit = 67108864;",
    )?;
    migrate::migrate(&mut connection, path, migrate::ALL)?;
    connection.execute_batch("PRAGMA foreign_keys = ON;")?;
    sync_folder_of(path)?;
    Ok(connection)
}

/// A connection that reads.
pub(super) fn reader(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    set_up(&connection)?;
    connection.execute_batch("PRAGMA query_only = ON;")?;
    Ok(connection)
}

fn set_up(connection: &Connection) -> Result<(), StoreError> {
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(PREPARED);
    connection.execute_batch(
        "PRAGMA temp_store = MEMORY;
         PRAGMA trusted_schema = OFF;",
    )?;
    Ok(())
}

/// The file with the same name and something behind it.
pub(super) fn beside(path: &Path, behind: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(behind);
    PathBuf::from(name)
}

/// Opens a file for writing. One that is made by this is for its owner's eyes only, and so is what SQLite puts beside it.
pub(super) fn private(path: &Path, how: &mut OpenOptions) -> Result<File, StoreError> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(how, 0o600);
    how.write(true)
        .open(path)
        .map_err(|error| StoreError::io(format!("{} cannot be opened", path.display()), error))
}

/// Takes a file from everybody else's eyes. One that is not there is no error.
#[cfg(unix)]
fn close_to_others(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::PermissionsExt as _;
    let closed = std::fs::metadata(path).and_then(|found| {
        if found.permissions().mode() & 0o077 == 0 {
            return Ok(());
        }
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
    });
    match closed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io(
            format!("{} cannot be closed to others", path.display()),
            error,
        )),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn close_to_others(_: &Path) -> Result<(), StoreError> {
    Ok(())
}

/// Brings the names beside a file to the disk.
pub(super) fn sync_folder_of(path: &Path) -> Result<(), StoreError> {
    #[cfg(unix)]
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|error| {
                StoreError::io(format!("{} cannot be synced", folder.display()), error)
            })?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
