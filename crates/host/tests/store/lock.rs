//! One host for a data folder, and a number for each.

use std::io::BufRead as _;
use std::process::{Command, Stdio};

use countersign_host::store::{FILE, HostLock, LockError, Store};

use crate::stage::{Stage, set, write};

/// Set in the process that takes the lock and stays.
const INSIDE: &str = "STORE_LOCK_IN";

#[test]
fn a_second_host_of_a_folder_is_refused_and_told_who_has_it() {
    let stage = Stage::new();
    if let Some(dir) = std::env::var_os(INSIDE) {
        let _lock = HostLock::take(dir.as_ref()).unwrap();
        println!("taken");
        loop {
            std::thread::park();
        }
    }
    let name = "lock::a_second_host_of_a_folder_is_refused_and_told_who_has_it";
    let mut other = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(INSIDE, stage.dir())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = std::io::BufReader::new(other.stdout.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains("taken")));

    let refused = HostLock::take(&stage.dir()).unwrap_err();
    let words = refused.to_string();
    match refused {
        LockError::Held { pid, .. } => assert_eq!(pid, other.id()),
        other => panic!("{other}"),
    }
    assert!(words.contains(&other.id().to_string()), "{words}");

    // However it ends, the folder is free.
    other.kill().unwrap();
    other.wait().unwrap();
    HostLock::take(&stage.dir()).unwrap();
}

#[test]
fn the_lock_is_taken_once_in_one_process_too() {
    let stage = Stage::new();
    let lock = HostLock::take(&stage.dir()).unwrap();
    let refused = HostLock::take(&stage.dir()).unwrap_err();
    assert!(matches!(refused, LockError::Held { pid, .. } if pid == std::process::id()));
    drop(lock);
    HostLock::take(&stage.dir()).unwrap();
}

#[test]
fn the_epoch_rises_by_one_with_each_host() {
    let stage = Stage::new();
    for expected in 1..=3 {
        let mut lock = HostLock::take(&stage.dir()).unwrap();
        let (_store, epoch) = Store::take(&mut lock).unwrap();
        assert_eq!(epoch, expected);
    }
}

#[test]
fn the_epoch_rises_when_the_database_is_put_back_to_an_older_copy() {
    let stage = Stage::new();
    let take = || {
        let mut lock = HostLock::take(&stage.dir()).unwrap();
        let (store, epoch) = Store::take(&mut lock).unwrap();
        write(&store, set("x"));
        epoch
    };
    let (file, copy) = (stage.dir().join(FILE), stage.dir().join("copy"));
    assert_eq!(take(), 1);
    std::fs::copy(&file, &copy).unwrap();
    assert_eq!(take(), 2);
    assert_eq!(take(), 3);
    std::fs::copy(&copy, &file).unwrap();
    assert_eq!(take(), 4);
}

#[cfg(unix)]
#[test]
fn the_folder_and_the_lock_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &std::path::Path| {
        let found = std::fs::metadata(path).unwrap();
        found.permissions().mode() & 0o7777
    };
    let stage = Stage::new();
    std::fs::create_dir(stage.dir()).unwrap();
    let set = |mode| {
        std::fs::set_permissions(stage.dir(), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(0o755);
    drop(HostLock::take(&stage.dir()).unwrap());
    assert_eq!(mode(&stage.dir()), 0o700);
    assert_eq!(mode(&stage.dir().join("host.lock")), 0o600);
    // A folder of many stays theirs.
    set(0o1777);
    HostLock::take(&stage.dir()).unwrap_err();
    assert_eq!(mode(&stage.dir()), 0o1777);
}
