//! What lies on the disk, by session: journal, worktree, uploads, trash.
//!
//! Owns the measuring and its memory. Counts what the disk gives (blocks), a file with several names once, follows no link
//! and leaves no disk for another. Invariant: reads only; the journal of a session is measured anew each time, a folder of
//! a worktree only if its time of change is another one or the last look is [`GOOD_FOR`] ago.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Trash;
use crate::control::SessionId;
use crate::folders::uploads_of;
use crate::worktree::slug;

/// A file that only grows does not change its folder. So a folder is read again after ten minutes (in microseconds).
pub const GOOD_FOR: u64 = 600_000_000;

/// How many folders are remembered. Those above are read each time.
const MOST_REMEMBERED: usize = 100_000;

/// What one session has on the disk, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Use {
    /// Its folder: the journal, and what its keeper left.
    pub journal: u64,
    /// Its worktree, build output included.
    pub worktree: u64,
    /// Files that were handed to its agent.
    #[serde(default)]
    pub uploads: u64,
    /// What of it is in the trash.
    pub trash: u64,
}

impl Use {
    /// All of it.
    pub fn total(self) -> u64 {
        self.journal + self.worktree + self.uploads + self.trash
    }
}

/// What the data folder holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Disk {
    /// By session.
    pub sessions: BTreeMap<SessionId, Use>,
    /// What belongs to no session that is here.
    pub nobody: Use,
    /// How many files and folders could not be looked at.
    pub unread: u64,
}

impl Disk {
    /// All of it.
    pub fn total(&self) -> u64 {
        let all = self.sessions.values().map(|one| one.total());
        all.sum::<u64>() + self.nobody.total()
    }

    fn of(&mut self, session: Option<SessionId>) -> &mut Use {
        match session {
            Some(session) => self.sessions.entry(session).or_default(),
            None => &mut self.nobody,
        }
    }
}

/// Measures, and remembers folders that have not changed.
#[derive(Debug, Default)]
pub struct Measure {
    known: HashMap<PathBuf, Known>,
    /// How many files were looked at since the start.
    looked: u64,
}

#[derive(Debug)]
struct Known {
    changed: (i64, i64),
    at: u64,
    /// What lies in it directly.
    own: u64,
    folders: Vec<OsString>,
}

impl Measure {
    /// What lies in this data folder. `now` in microseconds of Unix time. Blocks.
    ///
    /// # Errors
    /// When the folder of the sessions or of the worktrees cannot be read.
    pub fn use_of(&mut self, data: &Path, now: u64) -> io::Result<Disk> {
        let mut disk = Disk::default();
        for (name, path) in entries(&data.join("sessions"))? {
            let session = name.to_str().and_then(|name| name.parse().ok());
            let bytes = self.walk(&path, None, &mut disk.unread);
            disk.of(session).journal += bytes;
        }
        let by_short: HashMap<_, _> = disk
            .sessions
            .keys()
            .map(|session| (slug::short(*session), *session))
            .collect();
        for (name, path) in entries(&data.join("worktrees"))? {
            let short = name.to_str().and_then(|name| name.split('-').next());
            let session = short.and_then(|short| by_short.get(short)).copied();
            let bytes = self.walk(&path, Some(now), &mut disk.unread);
            disk.of(session).worktree += bytes;
        }
        for (name, path) in entries(&uploads_of(data))? {
            let owner = name.to_str().and_then(|name| name.parse().ok());
            let bytes = self.walk(&path, None, &mut disk.unread);
            disk.of(owner).uploads += bytes;
        }
        self.add_trash(&data.join("trash"), now, &mut disk)?;
        self.forget_old(now);
        Ok(disk)
    }

    /// How many files were looked at since this was made: what a measuring costs.
    pub fn looked(&self) -> u64 {
        self.looked
    }

    fn add_trash(&mut self, trash: &Path, now: u64, disk: &mut Disk) -> io::Result<()> {
        let listing = Trash::at(trash).list().map_err(io::Error::other)?;
        let owners: HashMap<_, _> = listing
            .entries
            .iter()
            .map(|entry| (entry.id.as_str(), entry.reason.session))
            .collect();
        for (name, path) in entries(trash)? {
            let owner = name.to_str().and_then(|name| owners.get(name));
            let bytes = self.walk(&path, Some(now), &mut disk.unread);
            disk.of(owner.copied().flatten()).trash += bytes;
        }
        Ok(())
    }

    /// The bytes below a path. With `now`, folders that are known and unchanged are not read again.
    fn walk(&mut self, root: &Path, now: Option<u64>, unread: &mut u64) -> u64 {
        let Ok(top) = fs::symlink_metadata(root) else {
            *unread += 1;
            return 0;
        };
        let mut seen = HashSet::new();
        if !top.is_dir() {
            return bytes_of(&top, &mut seen);
        }
        let device = top.dev();
        let mut sum = 0;
        let mut ahead = vec![root.to_owned()];
        while let Some(folder) = ahead.pop() {
            self.looked += 1;
            let found = match fs::symlink_metadata(&folder) {
                Ok(found) if found.is_dir() && found.dev() == device => found,
                Ok(_) => continue,
                Err(_) => {
                    *unread += 1;
                    continue;
                }
            };
            sum += found.blocks() * 512;
            let changed = (found.mtime(), found.mtime_nsec());
            if let Some(known) = self.remembered(&folder, changed, now) {
                sum += known.own;
                ahead.extend(known.folders.iter().map(|name| folder.join(name)));
                continue;
            }
            let (own, folders) = self.read(&folder, &mut seen, unread);
            sum += own;
            ahead.extend(folders.iter().map(|name| folder.join(name)));
            if let Some(at) = now
                && (self.known.len() < MOST_REMEMBERED || self.known.contains_key(&folder))
            {
                let known = Known {
                    changed,
                    at,
                    own,
                    folders,
                };
                self.known.insert(folder, known);
            }
        }
        sum
    }

    fn remembered(&self, folder: &Path, changed: (i64, i64), now: Option<u64>) -> Option<&Known> {
        let now = now?;
        let known = self.known.get(folder)?;
        let is_fresh = now.checked_sub(known.at).is_some_and(|age| age < GOOD_FOR);
        (is_fresh && known.changed == changed).then_some(known)
    }

    fn read(
        &mut self,
        folder: &Path,
        seen: &mut HashSet<(u64, u64)>,
        unread: &mut u64,
    ) -> (u64, Vec<OsString>) {
        let (mut own, mut folders) = (0, Vec::new());
        let Ok(entries) = fs::read_dir(folder) else {
            *unread += 1;
            return (own, folders);
        };
        for entry in entries {
            // `metadata` of an entry does not follow a link.
            let found = entry.and_then(|entry| Ok((entry.metadata()?, entry.file_name())));
            self.looked += 1;
            match found {
                Ok((found, name)) if found.is_dir() => folders.push(name),
                Ok((found, _)) => own += bytes_of(&found, seen),
                Err(_) => *unread += 1,
            }
        }
        (own, folders)
    }

    /// A folder that was not looked at again for twice as long as it is good for is gone.
    fn forget_old(&mut self, now: u64) {
        self.known
            .retain(|_, known| now.abs_diff(known.at) < 2 * GOOD_FOR);
    }
}

fn bytes_of(found: &fs::Metadata, seen: &mut HashSet<(u64, u64)>) -> u64 {
    let is_new = found.nlink() < 2 || seen.insert((found.dev(), found.ino()));
    if is_new { found.blocks() * 512 } else { 0 }
}

/// What lies in a folder; nothing if it is not there.
fn entries(folder: &Path) -> io::Result<Vec<(OsString, PathBuf)>> {
    let read = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read?,
    };
    read.map(|entry| entry.map(|entry| (entry.file_name(), entry.path())))
        .collect()
}
