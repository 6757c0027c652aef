//! Deletes a folder of the trash with everything in it.
//!
//! Owns the way through folders that their owner may not write to, as caches of build tools are. Follows no link: a link
//! goes, what it leads to stays.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Deletes it. One that is not there is gone already.
pub(super) fn delete(path: &Path) -> io::Result<()> {
    match remove(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_up(path)?;
            remove(path)
        }
        done => done,
    }
}

fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Lets the owner write to every folder below.
fn open_up(path: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    if !found.is_dir() {
        return Ok(());
    }
    let mode = found.permissions().mode();
    if mode & 0o700 != 0o700 {
        fs::set_permissions(path, fs::Permissions::from_mode(mode | 0o700))?;
    }
    for entry in fs::read_dir(path)? {
        open_up(&entry?.path())?;
    }
    Ok(())
}
