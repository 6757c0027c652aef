//! Files that people hand to the agent of a session.
//!
//! Owns the folder beside the data folder in which they lie, one folder for each session: beside it, because everything in
//! the data folder is closed to agents, whatever rules say. Invariants: a name is one name and leads nowhere else; nothing
//! is overwritten; no link on the way is followed; a file is whole or not there.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, mkdirat, openat, unlinkat};
use rustix::io::Errno;

use crate::control::{ControlError, Result, SessionId, Upload};

/// Bytes of one file.
const LARGEST: usize = 20 << 20;

/// Files of one session.
const MOST: usize = 500;

/// Bytes of all files of one session.
const MOST_BYTES: u64 = 256 << 20;

/// The longest name, in bytes. There is room for a number behind it.
const LONGEST: usize = 200;

/// How often a name that is taken is tried with another number.
const TRIES: u32 = 100;

/// Where uploads lie.
#[derive(Debug, Clone)]
pub(crate) struct Uploads {
    root: PathBuf,
}

impl Uploads {
    pub(crate) fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// The folder of a session, which is there from its first file on.
    pub(crate) fn folder(&self, session: SessionId) -> PathBuf {
        self.root.join(session.to_string())
    }

    /// Keeps a file under this name, or under one with a number where another file has it. The same bytes under the same
    /// name are kept once, so a request that comes again after a crash makes no second file. Blocks.
    pub(crate) fn put(&self, session: SessionId, name: &str, bytes: &[u8]) -> Result<Upload> {
        let name = sound(name)?;
        if bytes.len() > LARGEST {
            return Err(ControlError::invalid(format!(
                "a file has at most {} MiB",
                LARGEST >> 20
            )));
        }
        let known = self.list(session)?;
        let all: u64 = known.iter().map(|one| one.bytes).sum();
        if known.len() >= MOST || all + bytes.len() as u64 > MOST_BYTES {
            return Err(ControlError::not_now(format!(
                "a session has at most {MOST} files and {} MiB of them: remove some first",
                MOST_BYTES >> 20
            )));
        }
        let folder = self.open(session).map_err(failed)?;
        let stored = store(&folder, &name, bytes).map_err(failed)?;
        self.look(session, &stored)
            .ok_or_else(|| failed(io::Error::from(io::ErrorKind::NotFound)))
    }

    /// The files of a session, oldest first. Blocks.
    pub(crate) fn list(&self, session: SessionId) -> Result<Vec<Upload>> {
        let entries = match std::fs::read_dir(self.folder(session)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(failed)?,
        };
        let names = entries.flatten().map(|entry| entry.file_name());
        let found = names.filter_map(|name| self.look(session, name.to_str()?));
        let mut found: Vec<Upload> = found.collect();
        found.sort_by(|a, b| (a.at, &a.name).cmp(&(b.at, &b.name)));
        Ok(found)
    }

    /// The file of this name: never what a link leads to, and never what is not a file.
    pub(crate) fn look(&self, session: SessionId, name: &str) -> Option<Upload> {
        if sound(name).as_deref() != Ok(name) {
            return None;
        }
        let path = self.folder(session).join(name);
        let found = std::fs::symlink_metadata(&path).ok()?;
        let written = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        found.is_file().then(|| Upload {
            name: name.to_owned(),
            path,
            bytes: found.len(),
            at: u64::try_from(written.as_micros()).unwrap_or(u64::MAX),
        })
    }

    /// The folder of a session, made where it is missing. An agent of this user could have put a link in its place.
    fn open(&self, session: SessionId) -> io::Result<OwnedFd> {
        if let Some(above) = self.root.parent() {
            std::fs::create_dir_all(above)?;
        }
        let root = folder_in(CWD, &self.root)?;
        folder_in(&root, Path::new(&session.to_string()))
    }
}

fn folder_in(place: impl rustix::fd::AsFd, name: &Path) -> io::Result<OwnedFd> {
    match mkdirat(&place, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(&place, name, flags, Mode::empty())?)
}

/// Writes a file that is there when it is whole, and gives the name it has.
fn store(folder: &OwnedFd, name: &str, bytes: &[u8]) -> io::Result<String> {
    // Hidden names are never uploads, so half a file is never shown.
    let part = format!(".part-{}", uuid::Uuid::new_v4().simple());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = std::fs::File::from(openat(folder, &part, flags, Mode::RUSR | Mode::WUSR)?);
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    let named = written.and_then(|()| name_it(folder, &part, name, bytes));
    let _ = unlinkat(folder, &part, AtFlags::empty());
    named
}

/// Gives the part its name. A link in the folder is made or refused by the system as one step, so nothing is overwritten.
fn name_it(folder: &OwnedFd, part: &str, name: &str, bytes: &[u8]) -> io::Result<String> {
    for number in 1..=TRIES {
        let tried = numbered(name, number);
        match linkat(folder, part, folder, &tried, AtFlags::empty()) {
            Ok(()) => return Ok(tried),
            Err(Errno::EXIST) if is_same(folder, &tried, bytes) => return Ok(tried),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists))
}

fn is_same(folder: &OwnedFd, name: &str, bytes: &[u8]) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = openat(folder, name, flags, Mode::empty()) else {
        return false;
    };
    let mut file = std::fs::File::from(file);
    let has_length =
        |found: std::fs::Metadata| found.is_file() && found.len() == bytes.len() as u64;
    if !file.metadata().is_ok_and(has_length) {
        return false;
    }
    let mut known = Vec::new();
    let read = io::Read::read_to_end(
        &mut io::Read::take(&mut file, LARGEST as u64 + 1),
        &mut known,
    );
    read.is_ok() && known == bytes
}

/// `plan.md`, `plan-2.md`, `plan-3.md`, …
fn numbered(name: &str, number: u32) -> String {
    match (number, name.rsplit_once('.')) {
        (1, _) => name.to_owned(),
        (_, Some((stem, kind))) if !stem.is_empty() => format!("{stem}-{number}.{kind}"),
        _ => format!("{name}-{number}"),
    }
}

/// The name of a file, if it is one that leads nowhere, hides nothing and means itself in a shell and on a screen.
fn sound(name: &str) -> Result<String> {
    let name = name.trim();
    let is_bad = |c: char| {
        c.is_control()
            || matches!(c, '/' | '\\' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let why = match name {
        "" => "a file needs a name",
        _ if name.len() > LONGEST => "the name of the file is too long: 200 bytes are the most",
        _ if name.contains(is_bad) => {
            "the name of a file has no path and no control characters in it"
        }
        _ if name.starts_with(['.', '-']) => "the name of a file begins with neither `.` nor `-`",
        _ => return Ok(name.to_owned()),
    };
    Err(ControlError::invalid(why))
}

fn failed(error: io::Error) -> ControlError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ControlError::NoSpace,
        _ => ControlError::Unavailable {
            why: format!("the folder of uploads cannot be used ({error})"),
            retry_ms: 1_000,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one() -> SessionId {
        SessionId::new(1_000, 1)
    }

    fn place() -> (tempfile::TempDir, Uploads) {
        let place = tempfile::tempdir().unwrap();
        let uploads = Uploads::at(place.path().join("data-uploads"));
        (place, uploads)
    }

    fn names(uploads: &Uploads) -> Vec<String> {
        let all = uploads.list(one()).unwrap().into_iter();
        let mut names: Vec<String> = all.map(|one| one.name).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_kept_for_this_user_alone_and_found_again() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_place, uploads) = place();
        assert_eq!(uploads.list(one()), Ok(Vec::new()));
        let kept = uploads.put(one(), " plan.md ", b"# Plan").unwrap();
        assert_eq!((kept.name.as_str(), kept.bytes), ("plan.md", 6));
        assert_eq!(std::fs::read(&kept.path).unwrap(), b"# Plan");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&kept.path), 0o600);
        assert_eq!(mode(&uploads.folder(one())), 0o700);
        assert_eq!(uploads.list(one()).unwrap(), [kept]);
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number_and_the_same_bytes_are_kept_once() {
        let (_place, uploads) = place();
        for bytes in [b"one", b"two", b"one", b"two"] {
            uploads.put(one(), "a.txt", bytes).unwrap();
        }
        uploads.put(one(), "plain", b"1").unwrap();
        uploads.put(one(), "plain", b"2").unwrap();
        assert_eq!(names(&uploads), ["a-2.txt", "a.txt", "plain", "plain-2"]);
    }

    #[test]
    fn no_name_leads_elsewhere_or_hides() {
        let (place, uploads) = place();
        let long = "x".repeat(LONGEST + 1);
        for name in [
            "",
            " ",
            ".",
            "..",
            "../a",
            "a/b",
            "/etc/passwd",
            "..\\a",
            ".bashrc",
            ".part-1",
            "-rf",
            "a\0b",
            "a\nb",
            "a\u{202e}txt.exe",
            &long,
        ] {
            assert!(uploads.put(one(), name, b"x").is_err(), "{name:?}");
            assert_eq!(uploads.look(one(), name), None, "{name:?}");
        }
        assert_eq!(names(&uploads), [""; 0]);
        let made: Vec<_> = std::fs::read_dir(place.path()).unwrap().collect();
        assert!(made.is_empty(), "nothing is made for a bad name: {made:?}");
    }

    #[test]
    fn a_link_in_the_place_of_a_folder_or_a_file_is_not_followed() {
        let (place, uploads) = place();
        let elsewhere = place.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::fs::create_dir(place.path().join("data-uploads")).unwrap();
        std::os::unix::fs::symlink(&elsewhere, uploads.folder(one())).unwrap();
        assert!(uploads.put(one(), "keys", b"mine").is_err());
        assert!(!elsewhere.join("keys").exists());
        std::fs::remove_file(uploads.folder(one())).unwrap();
        std::fs::create_dir(uploads.folder(one())).unwrap();
        let target = elsewhere.join("target");
        std::os::unix::fs::symlink(&target, uploads.folder(one()).join("keys")).unwrap();
        let kept = uploads.put(one(), "keys", b"mine").unwrap();
        assert_eq!(kept.name, "keys-2");
        assert!(!target.exists());
        assert_eq!(names(&uploads), ["keys-2"], "a link is no upload");
    }

    #[test]
    fn a_file_that_is_too_large_is_refused() {
        let (_place, uploads) = place();
        let error = uploads
            .put(one(), "big", &vec![0; LARGEST + 1])
            .unwrap_err();
        assert!(error.to_string().contains("20 MiB"), "{error}");
    }
}
