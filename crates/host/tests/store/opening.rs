//! Opening the file: who may read it, what is refused, and that released migrations never change.

use std::collections::BTreeMap;

use countersign_host::store::{Store, StoreError};

use crate::stage::{Stage, is_set, set, write};

/// Every migration that was ever released, with its BLAKE3 hash. Lines are only added.
const RELEASED: &str = include_str!("migrations.sums");

#[test]
fn migrations_are_only_added() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/migrations");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (
            name,
            blake3::hash(&std::fs::read(&path).unwrap()).to_string(),
        )
    });
    let files: BTreeMap<String, String> = files.collect();
    let released = RELEASED.lines().map(|line| {
        let (hash, name) = line.split_once("  ").unwrap();
        (name.to_owned(), hash.to_owned())
    });
    let released: BTreeMap<String, String> = released.collect();
    assert_eq!(
        files, released,
        "write a new migration instead, and add its line"
    );
    let numbers = files.keys().map(|name| name[..4].parse::<usize>().unwrap());
    assert!(numbers.eq(1..=files.len()), "they count from 1");

    // And the build knows all of them.
    let stage = Stage::new();
    let form = write(&stage.store(), |connection| {
        Ok(connection.pragma_query_value(None, "user_version", |row| row.get::<_, usize>(0))?)
    });
    assert_eq!(form, files.len());
}

#[cfg(unix)]
#[test]
fn the_file_and_its_log_are_for_their_owners_eyes_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let stage = Stage::new();
    let mode = |behind: &str| {
        let path = stage.file().with_extension(format!("db{behind}"));
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    let store = stage.store();
    write(&store, set("x"));
    assert!(is_set(&store, "x"));
    for behind in ["", "-wal", "-shm"] {
        assert_eq!(mode(behind), 0o600, "{behind}");
    }
    drop(store);
    // One that was opened to others is closed again.
    std::fs::set_permissions(stage.file(), std::fs::Permissions::from_mode(0o644)).unwrap();
    let store = stage.store();
    write(&store, set("y"));
    for behind in ["", "-wal", "-shm"] {
        assert_eq!(mode(behind), 0o600, "{behind}");
    }
}

#[test]
fn a_database_of_a_newer_build_is_refused_and_left_as_it_is() {
    let stage = Stage::new();
    let store = stage.store();
    write(&store, |connection| {
        Ok(connection.pragma_update(None, "user_version", 4242)?)
    });
    drop(store);
    let before = std::fs::read(stage.file()).unwrap();
    let error = Store::open(&stage.file()).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 4242, .. }));
    let said = error.to_string();
    assert!(
        said.contains("newer build") && said.contains("4242"),
        "{said}"
    );
    assert!(said.contains("install that build again"), "{said}");
    assert!(std::fs::read(stage.file()).unwrap() == before);
}

#[test]
fn the_file_of_another_program_is_refused_and_left_as_it_is() {
    let text = b"these are notes, and no database at all; they are long enough to be read as one"
        .repeat(9);
    let stage = Stage::new();
    std::fs::write(stage.file(), &text).unwrap();
    let error = Store::open(&stage.file()).unwrap_err();
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");
    assert_eq!(std::fs::read(stage.file()).unwrap(), text);

    let stage = Stage::new();
    let other = rusqlite::Connection::open(stage.file()).unwrap();
    other.execute_batch("CREATE TABLE theirs (x)").unwrap();
    drop(other);
    let before = std::fs::read(stage.file()).unwrap();
    let error = Store::open(&stage.file()).unwrap_err();
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");
    assert!(std::fs::read(stage.file()).unwrap() == before);
}

#[test]
fn what_was_stored_is_there_when_it_is_opened_again() {
    let stage = Stage::new();
    let store = stage.store();
    write(&store, set("x"));
    drop(store);
    assert!(is_set(&stage.store(), "x"));
}
