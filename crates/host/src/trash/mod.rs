//! The trash: what is removed lies here until a person says that it may go.
//!
//! Owns the folder `trash` of the data folder: one folder for each thing that was put here, with the thing as `it` and a
//! file `entry.json` that says where it was and why it went. How a thing gets here from another disk is `carry`'s.
//! Invariants: a thing is at its old place or whole in the trash, whenever we are killed; names never collide; restoring
//! never overwrites; nothing is deleted without the word of a person.

mod carry;
mod entry;
mod error;
pub(crate) mod path_text;
mod sweep;

pub mod disk;
pub mod retention;

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

pub use entry::{Listing, Reason, TrashId, Trashed};
pub use error::TrashError;

/// The thing itself, in its folder.
const IT: &str = "it";

/// What belongs to the thing and lay elsewhere.
const RECORD: &str = "record";

/// What the name of a thing from another disk ends in until it is whole.
const PART: &str = ".part";

/// What an entry is renamed to before it is deleted, so that a half-deleted one is never offered again.
const GOING: &str = ".going";

/// A person said that what is in the trash may be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    by: String,
}

impl Word {
    /// The word of this person: the name of their token or user.
    ///
    /// # Errors
    /// When nobody is named.
    pub fn of(by: &str) -> Result<Self, TrashError> {
        let by = by.trim();
        if by.is_empty() {
            return Err(TrashError::NoWord);
        }
        Ok(Self { by: by.to_owned() })
    }

    /// Who said it.
    pub fn by(&self) -> &str {
        &self.by
    }
}

/// The trash of a host. All of its calls block.
#[derive(Debug, Clone)]
pub struct Trash {
    folder: PathBuf,
}

impl Trash {
    /// The trash in this folder, which is made when the first thing comes.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Moves what lies at `path` into the trash. A link goes as a link. `at` is now, in microseconds of Unix time.
    ///
    /// # Errors
    /// When it cannot go. Then it is still where it was, unless [`TrashError::LeftBehind`] says otherwise.
    pub fn put(&self, path: &Path, why: impl Into<Reason>, at: u64) -> Result<TrashId, TrashError> {
        let path = self.may_go(path)?;
        let (id, place) = self.reserve(at)?;
        let entry = Trashed {
            id: id.clone(),
            origin: path.clone(),
            reason: why.into(),
            at,
            used: false,
        };
        let moved = entry
            .write(&place)
            .map_err(TrashError::io(&place))
            .and_then(|()| bring(&path, &place, IT, &id));
        match moved {
            Ok(()) => {
                sync(&place);
                sync(&self.folder);
                Ok(id)
            }
            Err(error) => {
                // Without the thing, there is nothing here but our own notes and half a copy.
                if fs::symlink_metadata(place.join(IT)).is_err() {
                    let _ = sweep::delete(&place);
                }
                Err(error)
            }
        }
    }

    /// The place of a thing while it is here.
    pub fn place_of(&self, id: &TrashId) -> PathBuf {
        self.folder.join(id.as_str()).join(IT)
    }

    /// Moves what belongs to a thing that is here, as git's record of a worktree does, beside it. A link goes as a link.
    ///
    /// # Errors
    /// When it cannot go. Then it is still where it was, unless [`TrashError::LeftBehind`] says otherwise.
    pub fn put_record(&self, id: &TrashId, path: &Path) -> Result<(), TrashError> {
        let path = self.may_go(path)?;
        self.entry(id)?;
        let place = self.folder.join(id.as_str());
        let mut name = RECORD.to_owned();
        let mut number = 1;
        // One that was stopped while it came from another disk may be there, whole.
        while fs::symlink_metadata(place.join(&name)).is_ok() {
            number += 1;
            name = format!("{RECORD}-{number}");
        }
        bring(&path, &place, &name, id)?;
        sync(&place);
        Ok(())
    }

    /// The place of what belongs to a thing, if it is here.
    pub fn record_of(&self, id: &TrashId) -> Option<PathBuf> {
        let record = self.folder.join(id.as_str()).join(RECORD);
        let is_folder = fs::symlink_metadata(&record).is_ok_and(|found| found.is_dir());
        is_folder.then_some(record)
    }

    /// Brings what belongs to a thing back to this place.
    ///
    /// # Errors
    /// When it is not here, or something is at that place. Then it is still here.
    pub fn restore_record(&self, id: &TrashId, to: &Path) -> Result<(), TrashError> {
        let record = self.record_of(id);
        let record = record.ok_or_else(|| TrashError::NoEntry(id.clone()))?;
        match move_out(&record, to, id) {
            // It is whole at its place.
            Err(TrashError::LeftBehind { .. }) => Ok(()),
            done => done,
        }
    }

    /// Notes that what lies here is there again by another way.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn mark_used(&self, id: &TrashId) -> Result<(), TrashError> {
        let place = self.folder.join(id.as_str());
        let mut entry = self.entry(id)?;
        entry.used = true;
        entry.write(&place).map_err(TrashError::io(&place))
    }

    /// Brings a thing back to where it was.
    ///
    /// # Errors
    /// When it is not in the trash, or something is at its old place. Then it is still in the trash.
    pub fn restore(&self, id: &TrashId) -> Result<PathBuf, TrashError> {
        let entry = self.entry(id)?;
        self.restore_to(id, &entry.origin)
    }

    /// Brings a thing back to another place.
    ///
    /// # Errors
    /// As [`restore`](Self::restore).
    pub fn restore_to(&self, id: &TrashId, to: &Path) -> Result<PathBuf, TrashError> {
        let place = self.folder.join(id.as_str());
        self.entry(id)?;
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(TrashError::io(parent))?;
        }
        let it = place.join(IT);
        match move_out(&it, to, id) {
            Err(error @ TrashError::LeftBehind { .. }) => {
                // It is whole at its place; what is left here is offered, and does no harm.
                tracing::warn!(%error, "a thing was restored and is in the trash, too");
                return Ok(to.to_owned());
            }
            done => done?,
        }
        to.parent().inspect(|parent| sync(parent));
        if self.record_of(id).is_some() {
            // The entry says what it belongs to.
            return Ok(to.to_owned());
        }
        let _ = fs::remove_file(place.join(entry::FILE));
        let _ = fs::remove_dir(&place);
        Ok(to.to_owned())
    }

    /// What is in the trash, oldest first.
    ///
    /// # Errors
    /// When its folder cannot be read.
    pub fn list(&self) -> Result<Listing, TrashError> {
        let mut listing = Listing::default();
        for place in self.places()? {
            if fs::symlink_metadata(place.join(IT)).is_err() {
                // Nothing came here: we were killed before it moved, or after it went back.
                continue;
            }
            match Trashed::read(&place) {
                Ok(entry) => listing.entries.push(entry),
                Err(_) => listing.damaged.push(place),
            }
        }
        listing
            .entries
            .sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
        listing.damaged.sort();
        Ok(listing)
    }

    /// Deletes for good what came here before `at`. Only on the word of a person. What cannot be read is left.
    ///
    /// # Errors
    /// At the first thing that cannot be deleted; the ones before it are gone.
    pub fn empty_older_than(&self, at: u64, word: &Word) -> Result<Vec<Trashed>, TrashError> {
        let mut gone = Vec::new();
        for entry in self.list()?.entries {
            if entry.at >= at {
                continue;
            }
            let place = self.folder.join(entry.id.as_str());
            let going = self.folder.join(format!("{}{GOING}", entry.id));
            fs::rename(&place, &going).map_err(TrashError::io(&place))?;
            sweep::delete(&going).map_err(TrashError::io(&going))?;
            tracing::info!(id = %entry.id, by = word.by(), "deleted from the trash");
            gone.push(entry);
        }
        for place in self.leftovers()? {
            sweep::delete(&place).map_err(TrashError::io(&place))?;
        }
        Ok(gone)
    }

    /// The thing that came from this path last, if it is here and was not made again.
    ///
    /// # Errors
    /// When the trash cannot be read.
    pub fn last_from(&self, origin: &Path) -> Result<Option<Trashed>, TrashError> {
        let entries = self.list()?.entries;
        Ok(entries
            .into_iter()
            .rfind(|entry| entry.origin == origin && !entry.used))
    }

    fn entry(&self, id: &TrashId) -> Result<Trashed, TrashError> {
        let place = self.folder.join(id.as_str());
        if fs::symlink_metadata(place.join(IT)).is_err() {
            return Err(TrashError::NoEntry(id.clone()));
        }
        Trashed::read(&place).map_err(TrashError::io(&place))
    }

    /// The whole path of what may go, with every link above it resolved.
    fn may_go(&self, path: &Path) -> Result<PathBuf, TrashError> {
        let refused = |why| TrashError::Refused {
            path: path.to_owned(),
            why,
        };
        let Some(Component::Normal(name)) = path.components().next_back() else {
            return Err(refused("it has no name"));
        };
        if fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Err(TrashError::NotThere(path.to_owned()));
        }
        let above = match path.parent() {
            Some(above) if !above.as_os_str().is_empty() => above,
            _ => Path::new("."),
        };
        let above = above.canonicalize().map_err(TrashError::io(path))?;
        let whole = above.join(name);
        make_private(&self.folder).map_err(TrashError::io(&self.folder))?;
        let trash = self.folder.canonicalize();
        let trash = trash.map_err(TrashError::io(&self.folder))?;
        if whole.starts_with(&trash) || trash.starts_with(&whole) {
            return Err(refused("it is the trash, or has to do with it"));
        }
        Ok(whole)
    }

    /// A folder that nobody else has.
    fn reserve(&self, at: u64) -> Result<(TrashId, PathBuf), TrashError> {
        let mut number = 0;
        loop {
            let id = TrashId::new(at, number);
            let place = self.folder.join(id.as_str());
            match make_one_private(&place) {
                Ok(()) => return Ok((id, place)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(TrashError::io(&place)(error)),
            }
        }
    }

    fn places(&self) -> Result<Vec<PathBuf>, TrashError> {
        let named = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| TrashId::parse(name).is_some())
        };
        Ok(self.all()?.into_iter().filter(named).collect())
    }

    fn leftovers(&self) -> Result<Vec<PathBuf>, TrashError> {
        let is_going = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.and_then(|name| name.strip_suffix(GOING))
                .is_some_and(|name| TrashId::parse(name).is_some())
        };
        Ok(self.all()?.into_iter().filter(is_going).collect())
    }

    fn all(&self) -> Result<Vec<PathBuf>, TrashError> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(TrashError::io(&self.folder)(error)),
        };
        entries
            .map(|entry| {
                entry
                    .map(|entry| entry.path())
                    .map_err(TrashError::io(&self.folder))
            })
            .collect()
    }
}

/// Into the folder of the trash, by a new name where the disk is the same, else by a copy.
fn bring(path: &Path, place: &Path, name: &str, id: &TrashId) -> Result<(), TrashError> {
    let to = place.join(name);
    match carry::rename_new(path, &to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
        moved => return moved.map_err(TrashError::io(path)),
    }
    copy_then_remove(path, &place.join(format!("{name}{PART}")), &to, id)
}

/// Out of the trash, likewise.
fn move_out(from: &Path, to: &Path, id: &TrashId) -> Result<(), TrashError> {
    match carry::rename_new(from, to) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(TrashError::Occupied(to.to_owned()))
        }
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => carry_back(from, to, id),
        moved => moved.map_err(TrashError::io(to)),
    }
}

/// Out of the trash to another disk.
fn carry_back(it: &Path, to: &Path, id: &TrashId) -> Result<(), TrashError> {
    let mut part = to.as_os_str().to_owned();
    part.push(format!(".{id}.part"));
    match copy_then_remove(it, Path::new(&part), to, id) {
        Err(TrashError::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
            Err(TrashError::Occupied(to.to_owned()))
        }
        done => done,
    }
}

fn copy_then_remove(from: &Path, part: &Path, to: &Path, id: &TrashId) -> Result<(), TrashError> {
    let copied = carry::copy(from, part);
    let whole = copied.and_then(|copied| {
        carry::rename_new(part, to).map_err(TrashError::io(to))?;
        Ok(copied)
    });
    let copied = whole.inspect_err(|_| {
        // A copy of what is still at its old place.
        let _ = sweep::delete(part);
    })?;
    to.parent().inspect(|parent| sync(parent));
    carry::remove(from, &copied).map_err(|source| TrashError::LeftBehind {
        id: id.clone(),
        path: from.to_owned(),
        source,
    })
}

/// Brings the names in a folder to the disk. A move that is not there yet after a power loss is at its old place.
fn sync(folder: &Path) {
    let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
}

fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

fn make_one_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().mode(0o700).create(folder)
}
