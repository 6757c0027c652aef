//! The forms of the database, one after the other.
//!
//! Owns the list of migrations. They are only added: a released one never changes, since databases have gone through it.
//! Before each a copy of the database is laid beside it. Invariants: a migration happens whole or not at all; a database
//! of a newer build, or of another program, is refused and left as it is.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::StoreError;
use super::open::{APPLICATION, beside, private, sync_folder_of};

/// Every migration in its order: the first makes form 1.
pub(super) const ALL: &[&str] = &[
    include_str!("migrations/0001_begin.sql"),
    include_str!("migrations/0002_presented.sql"),
    include_str!("migrations/0003_shelf.sql"),
    include_str!("migrations/0004_indexed.sql"),
    include_str!("migrations/0005_file.sql"),
];

/// How many pages of a copy go at once.
const PAGES: i32 = 1024;

/// Refuses what this build must not touch.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let not_ours = || StoreError::NotOurs {
        path: path.to_owned(),
    };
    let failed = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => not_ours(),
        _ => error.into(),
    };
    let (application, found): (i32, u32) = connection
        .query_row(
            "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .map_err(failed)?;
    let has_tables: bool = connection
        .query_row("SELECT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| {
            row.get(0)
        })
        .map_err(failed)?;
    let is_new = !has_tables && application == 0 && found == 0;
    if !is_new && application != APPLICATION {
        return Err(not_ours());
    }
    let known = ALL.len() as u32;
    if found > known {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found,
            known,
        });
    }
    Ok(())
}

/// Brings the database to the newest form.
pub(super) fn migrate(
    connection: &mut Connection,
    path: &Path,
    migrations: &[&str],
) -> Result<(), StoreError> {
    let form: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for (sql, next) in migrations.iter().zip(1_u32..).skip(form as usize) {
        if next > 1 {
            back_up(connection, &backup_path(path, next))?;
        }
        let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        change.execute_batch(sql)?;
        change.pragma_update(None, "application_id", APPLICATION)?;
        change.pragma_update(None, "user_version", next)?;
        change.commit()?;
        tracing::info!(form = next, "the database has a new form");
    }
    Ok(())
}

/// Where the copy lies that was made before the database got this form.
pub(super) fn backup_path(path: &Path, form: u32) -> PathBuf {
    beside(path, &format!(".before-{form:04}"))
}

/// A copy of the whole, on the disk before this returns. A crash leaves an old one or the new one.
fn back_up(connection: &Connection, to: &Path) -> Result<(), StoreError> {
    let new = beside(to, ".new");
    private(&new, OpenOptions::new().create(true).truncate(true))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut copy = Connection::open_with_flags(&new, flags)?;
    copy.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    Backup::new(connection, &mut copy)?.run_to_completion(PAGES, Duration::ZERO, None)?;
    copy.close().map_err(|(_, error)| error)?;
    let failed = |error| StoreError::io(format!("{} cannot be kept", to.display()), error);
    File::open(&new)
        .and_then(|file| file.sync_all())
        .map_err(failed)?;
    std::fs::rename(&new, to).map_err(failed)?;
    sync_folder_of(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "CREATE TABLE words (word TEXT NOT NULL);";
    const SECOND: &str = "ALTER TABLE words ADD COLUMN count INTEGER NOT NULL DEFAULT 1;";
    const THIRD: &str = "CREATE INDEX words_by_count ON words (count);";

    struct Place {
        _folder: tempfile::TempDir,
        path: PathBuf,
    }

    impl Place {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            Self {
                path: folder.path().join("x.db"),
                _folder: folder,
            }
        }

        fn open(&self) -> Connection {
            let connection = Connection::open(&self.path).unwrap();
            let mode = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0));
            assert_eq!(mode, Ok("wal".to_owned()));
            connection
        }

        fn backups(&self) -> Vec<String> {
            let names = std::fs::read_dir(self.path.parent().unwrap()).unwrap();
            let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<String> = names.filter(|name| name.contains("before")).collect();
            names.sort();
            names
        }
    }

    fn form(connection: &Connection) -> u32 {
        let form = connection.pragma_query_value(None, "user_version", |row| row.get(0));
        form.unwrap()
    }

    fn words(path: &Path) -> Vec<String> {
        let connection = Connection::open(path).unwrap();
        let mut words = connection.prepare("SELECT word FROM words").unwrap();
        let words = words.query_map([], |row| row.get(0)).unwrap();
        words.map(Result::unwrap).collect()
    }

    #[test]
    fn a_new_database_needs_no_copy_and_a_copy_lies_beside_it_before_each_change() {
        let place = Place::new();
        let mut connection = place.open();
        migrate(&mut connection, &place.path, &[FIRST]).unwrap();
        assert_eq!(place.backups(), Vec::<String>::new());
        connection
            .execute("INSERT INTO words VALUES ('kept')", [])
            .unwrap();

        migrate(&mut connection, &place.path, &[FIRST, SECOND, THIRD]).unwrap();
        assert_eq!(form(&connection), 3);
        assert_eq!(place.backups(), ["x.db.before-0002", "x.db.before-0003"]);
        for (before, had) in [(2, 1), (3, 2)] {
            let copy = backup_path(&place.path, before);
            assert_eq!(words(&copy), ["kept"]);
            assert_eq!(form(&Connection::open(&copy).unwrap()), had);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_copy_is_for_its_owners_eyes_only() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = Place::new();
        let mut connection = place.open();
        migrate(&mut connection, &place.path, &[FIRST, SECOND]).unwrap();
        let copy = std::fs::metadata(backup_path(&place.path, 2)).unwrap();
        assert_eq!(copy.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_change_that_fails_leaves_the_form_before_it_and_can_be_tried_again() {
        let place = Place::new();
        let mut connection = place.open();
        migrate(&mut connection, &place.path, &[FIRST]).unwrap();
        connection
            .execute("INSERT INTO words VALUES ('kept')", [])
            .unwrap();
        let broken = "CREATE TABLE half (x); INSERT INTO nowhere VALUES (1);";
        migrate(&mut connection, &place.path, &[FIRST, broken]).unwrap_err();
        assert_eq!(form(&connection), 1);
        let half = "SELECT count(*) FROM sqlite_schema WHERE name = 'half'";
        let half: u32 = connection.query_row(half, [], |row| row.get(0)).unwrap();
        assert_eq!(half, 0);
        assert_eq!(words(&backup_path(&place.path, 2)), ["kept"]);

        migrate(&mut connection, &place.path, &[FIRST, SECOND]).unwrap();
        assert_eq!(form(&connection), 2);
        assert_eq!(words(&place.path), ["kept"]);
    }
}
