//! Opens a journal to write: a new generation, or the end of the last one.
//!
//! Owns what is done to the files of earlier writers: an unfinished record at the very end is cut, nothing else is ever
//! touched. Invariants: a generation is begun once, and only after everything before it is on the disk; a segment has the
//! heads of one version, so one of an earlier version is left as it is, and the next one goes on.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;

use super::disk::{Disk, RealDisk};
use super::stage::Stage;
use super::{Limits, Writer, begin_segment};
use crate::error::OpenError;
use crate::event::KeeperEvent;
use crate::folder;
use crate::header::{self, Header, Previous, VERSION};
use crate::marks;
use crate::survey::{self, Carried, Newest, Survey};

impl Writer {
    /// Begins `generation` in the journal folder `dir`, which is made if it is missing. The header is written and not yet
    /// synced. Also says what the generations before have left.
    ///
    /// # Errors
    /// [`OpenError::Generation`] when this generation or a later one was begun before; otherwise when something cannot
    /// be read or written.
    pub fn open(
        dir: &Path,
        session: &str,
        generation: u32,
        limits: Limits,
    ) -> Result<(Self, Carried), OpenError> {
        Self::open_on(Box::new(RealDisk), dir, session, generation, limits)
    }

    pub(super) fn open_on(
        disk: Box<dyn Disk>,
        dir: &Path,
        session: &str,
        generation: u32,
        limits: Limits,
    ) -> Result<(Self, Carried), OpenError> {
        if !header::is_name(session) {
            return Err(OpenError::Name);
        }
        folder::make_dir(dir).map_err(|error| OpenError::io(dir, error))?;
        let Survey {
            carried,
            newest,
            stillborn,
        } = survey::look(dir)?;
        check(&carried, newest.as_ref(), session, generation)?;
        secure(dir, newest.as_ref(), stillborn)?;
        let is_begun = |newest: &Newest| newest.header.generation == generation;
        let newest = match newest {
            Some(newest) if is_begun(&newest) && newest.header.previous.version() == VERSION => {
                // Its writer was stopped before the first record: it goes on where that one was stopped.
                let writer = Self::go_on(disk, dir, newest, &carried, limits)?;
                return Ok((writer, carried));
            }
            newest => newest,
        };
        let number = match (&newest, stillborn) {
            (_, Some(number)) => number,
            (Some(newest), None) => newest.number + 1,
            (None, None) => 1,
        };
        let previous = newest.map_or(Previous::NONE, |newest| {
            Previous::Mark(marks::of_marks(&newest.marks))
        });
        let header = Header {
            session: session.to_owned(),
            generation,
            first_seq: carried.seq.saturating_add(1),
            previous,
        };
        let writer = Self::begin(disk, dir, number, &header, carried.seq, limits)?;
        Ok((writer, carried))
    }

    /// Goes on in the newest generation: for whoever found it without an end, and says so in it.
    ///
    /// # Errors
    /// When there is none, or something cannot be read or written.
    pub fn reopen(dir: &Path, limits: Limits) -> Result<(Self, Carried), OpenError> {
        let Survey {
            carried,
            newest,
            stillborn,
        } = survey::look(dir)?;
        let nothing = || OpenError::Nothing {
            dir: dir.to_owned(),
        };
        let newest = newest
            .filter(|newest| newest.is_plain)
            .ok_or_else(nothing)?;
        secure(dir, Some(&newest), stillborn)?;
        let is_earlier = newest.header.previous.version() < VERSION;
        let path = folder::plain(dir, newest.number);
        let mut writer = Self::go_on(Box::new(RealDisk), dir, newest, &carried, limits)?;
        if is_earlier {
            let begun = writer.begin_next(carried.at, &summed_up(&carried));
            begun.map_err(|error| OpenError::io(&path, io::Error::other(error)))?;
        }
        Ok((writer, carried))
    }

    fn begin(
        disk: Box<dyn Disk>,
        dir: &Path,
        number: u32,
        header: &Header,
        seq: u64,
        limits: Limits,
    ) -> Result<Self, OpenError> {
        let path = folder::plain(dir, number);
        let line = header.line();
        let (segment, reserved) = begin_segment(&*disk, &path, line.as_bytes(), limits.reserve)
            .map_err(|error| OpenError::io(&path, error))?;
        let mut stage = Stage::new(seq, 0, limits.head_every);
        stage.begin_segment(line.as_bytes());
        Ok(Self {
            disk,
            dir: dir.to_owned(),
            session: header.session.clone(),
            generation: header.generation,
            limits,
            number,
            segment,
            end: line.len() as u64,
            reserved,
            stage,
            synced: seq,
            is_dirty: true,
            is_dir_dirty: true,
            sync_failed: false,
            hurry: 0,
            is_broken: false,
        })
    }

    fn go_on(
        disk: Box<dyn Disk>,
        dir: &Path,
        newest: Newest,
        carried: &Carried,
        limits: Limits,
    ) -> Result<Self, OpenError> {
        let path = folder::plain(dir, newest.number);
        let segment = disk
            .reopen(&path, newest.end)
            .map_err(|error| OpenError::io(&path, error))?;
        let mut stage = Stage::new(carried.seq, carried.at, limits.head_every);
        stage.resume(newest.marks);
        Ok(Self {
            disk,
            dir: dir.to_owned(),
            session: newest.header.session,
            generation: newest.header.generation,
            limits,
            number: newest.number,
            segment,
            end: newest.end,
            // Asked for with the first commit, which may do without.
            reserved: (limits.reserve > 0).then_some(newest.end),
            stage,
            // What was there was secured.
            synced: carried.seq,
            is_dirty: false,
            is_dir_dirty: false,
            sync_failed: false,
            hurry: 0,
            is_broken: false,
        })
    }
}

/// What a later segment of a generation that has ended must know of the earlier ones. Its questions are withdrawn.
fn summed_up(carried: &Carried) -> KeeperEvent {
    KeeperEvent::Carried {
        last_n: carried.last_n,
        epoch: carried.epoch,
        open: Vec::new(),
        agent: carried.agent,
    }
}

/// Whose the journal is, and whether the generation is new.
fn check(
    carried: &Carried,
    newest: Option<&Newest>,
    session: &str,
    generation: u32,
) -> Result<(), OpenError> {
    let Some(newest) = newest else {
        return Ok(());
    };
    if carried.session != session {
        return Err(OpenError::Session {
            asked: session.to_owned(),
            found: carried.session.clone(),
        });
    }
    let was_there = newest.header.generation;
    // A header alone is no agent: nothing was started before the first record was on the disk. That of a later segment is
    // none of those: an agent ran when it was written.
    let is_unused = was_there == generation && !newest.has_records && newest.is_plain;
    if was_there >= generation && !is_unused {
        return Err(OpenError::Generation {
            asked: generation,
            newest: was_there,
        });
    }
    Ok(())
}

/// Cuts what no whole record is at the very end, returns what an earlier writer had reserved, and brings the rest to the
/// disk: the next header vouches for it.
fn secure(dir: &Path, newest: Option<&Newest>, stillborn: Option<u32>) -> Result<(), OpenError> {
    let cut = |number: u32, len: u64| {
        let path = folder::plain(dir, number);
        let fail = |error| OpenError::io(&path, error);
        let file = OpenOptions::new().write(true).open(&path).map_err(fail)?;
        file.set_len(len).map_err(fail)?;
        file.sync_all().map_err(fail)
    };
    if let Some(newest) = newest.filter(|newest| newest.is_plain) {
        cut(newest.number, newest.end)?;
    }
    if let Some(number) = stillborn {
        cut(number, 0)?;
    }
    folder::sync_dir(dir).map_err(|error| OpenError::io(dir, error))
}
