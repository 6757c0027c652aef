//! A full disk: told as one, nothing half stored, and all goes on when there is room.
//!
//! Owns the small disk: a tmpfs in a mount namespace of the test's own process. A machine that has none for us is tested
//! by SQLite's own bound on the size of a file.

use countersign_host::control::ControlError;
use countersign_host::store::{Connection, Store, StoreError, settings};

use crate::stage::{Stage, is_set, read, refused, set, write};

/// One value of a mebibyte.
fn much(key: &str) -> impl FnOnce(&Connection) -> Result<(), StoreError> + use<> {
    let key = key.to_owned();
    move |connection| settings::set(connection, &key, &"x".repeat(1 << 20))
}

/// How many of them were stored before there was no more room.
fn fill(store: &Store) -> usize {
    for number in 0..1000 {
        let key = format!("much {number}");
        match store.write_blocking(countersign_host::store::Durability::Full, much(&key)) {
            Ok(()) => {}
            Err(error) => {
                assert!(matches!(error, StoreError::NoSpace), "{error:?}");
                return number;
            }
        }
    }
    panic!("the disk has no end");
}

fn stored(store: &Store) -> usize {
    read(store, |connection| {
        let sql = "SELECT count(*) FROM settings WHERE length(value) > 1048576";
        Ok(connection.query_row(sql, [], |row| row.get(0))?)
    })
}

#[test]
fn a_file_that_may_not_grow_is_told_as_a_full_disk() {
    let stage = Stage::new();
    let store = stage.store();
    write(&store, |connection| {
        Ok(connection.execute_batch("PRAGMA max_page_count = 1000")?)
    });
    let fit = fill(&store);
    assert!(fit > 0);
    assert_eq!(stored(&store), fit);
    assert_eq!(
        ControlError::from(refused(&store, much("one more"))),
        ControlError::NoSpace
    );
    // What is small still has room, and the writer is as it was.
    write(&store, set("small"));
    assert!(is_set(&store, "small"));
    write(&store, |connection| {
        Ok(connection.execute_batch("PRAGMA max_page_count = 100000")?)
    });
    write(&store, much("with room again"));
    assert_eq!(stored(&store), fit + 1);
}

#[cfg(target_os = "linux")]
mod small {
    use std::path::Path;
    use std::process::Command;

    use super::{Stage, Store, fill, is_set, much, refused, set, stored, write};
    use countersign_host::store::StoreError;

    /// Set in the process that has the namespace.
    const INSIDE: &str = "STORE_DISK_INSIDE";

    /// Runs the test again in a mount namespace of its own. False: this is that run.
    fn elsewhere(name: &str) -> bool {
        if std::env::var_os(INSIDE).is_some() {
            return false;
        }
        let mut unshare = Command::new("unshare");
        if !rustix::process::geteuid().is_root() {
            unshare.args(["--user", "--map-root-user"]);
        }
        unshare.args(["--mount", "--propagation", "private"]);
        let may = Command::new(unshare.get_program())
            .args(unshare.get_args())
            .arg("true")
            .output();
        if !may.is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: no mount namespace can be had here (`unshare --mount`)");
            return true;
        }
        let output = unshare
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(INSIDE, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.contains("1 passed"),
            "{said}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        true
    }

    fn mount(options: &str, at: &Path) {
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(at)
            .status();
        assert!(done.is_ok_and(|status| status.success()), "mount {options}");
    }

    #[test]
    fn a_full_disk_is_told_as_one_and_all_goes_on_when_there_is_room() {
        let name = "disk::small::a_full_disk_is_told_as_one_and_all_goes_on_when_there_is_room";
        if elsewhere(name) {
            return;
        }
        let stage = Stage::new();
        std::fs::create_dir(stage.dir()).unwrap();
        mount("size=8m,mode=700", &stage.dir());
        let file = stage.dir().join("host.db");
        let store = Store::open(&file).unwrap();
        let fit = fill(&store);
        assert!(fit > 0);
        assert_eq!(stored(&store), fit);
        let error = refused(&store, much("one more"));
        assert!(matches!(error, StoreError::NoSpace), "{error:?}");

        mount("remount,size=64m", &stage.dir());
        write(&store, much("with room again"));
        write(&store, set("small"));
        assert_eq!(stored(&store), fit + 1);
        drop(store);
        let store = Store::open(&file).unwrap();
        assert_eq!(stored(&store), fit + 1);
        assert!(is_set(&store, "small"));
        drop(store);
        let done = Command::new("umount").arg(stage.dir()).status();
        assert!(done.is_ok_and(|status| status.success()), "umount");
    }

    #[test]
    fn a_disk_that_was_full_from_the_start_is_told_as_one() {
        let name = "disk::small::a_disk_that_was_full_from_the_start_is_told_as_one";
        if elsewhere(name) {
            return;
        }
        let stage = Stage::new();
        std::fs::create_dir(stage.dir()).unwrap();
        mount("size=64k,mode=700", &stage.dir());
        std::fs::write(stage.dir().join("other"), vec![0; 48 << 10]).unwrap();
        let error = Store::open(&stage.dir().join("host.db")).unwrap_err();
        assert!(matches!(error, StoreError::NoSpace), "{error:?}");
        let done = Command::new("umount").arg(stage.dir()).status();
        assert!(done.is_ok_and(|status| status.success()), "umount");
    }
}
