//! From one segment to the next.
//!
//! Owns when a segment is left and which one follows. Invariants: a segment is followed only by one that has a whole
//! header, and only after it was read again to its end; what a writer has taken back is noticed.

use std::path::Path;

use super::{Current, Damaged, Place, Reader};
use crate::error::ReadError;
use crate::folder;
use crate::header::{BadHeader, Header};
use crate::lines::{Lines, Piece};
use crate::source::Source;

/// A segment whose header was read.
pub(super) struct Upcoming {
    pub(super) number: u32,
    pub(super) lines: Lines,
    pub(super) header: Result<Header, Damaged>,
}

impl Upcoming {
    /// Which generation it says it is of.
    pub(super) fn generation(&self) -> Option<u32> {
        self.header.as_ref().ok().map(|header| header.generation)
    }

    /// None if it is not there, or not begun.
    pub(super) fn of(dir: &Path, number: u32) -> Result<Option<Self>, ReadError> {
        let fail = |error| ReadError::io(&folder::plain(dir, number), error);
        match Source::of(dir, number).map_err(fail)? {
            Some(source) => Self::read(Lines::new(source), number, &folder::plain(dir, number)),
            None => Ok(None),
        }
    }

    /// Reads the header.
    pub(super) fn read(
        mut lines: Lines,
        number: u32,
        path: &Path,
    ) -> Result<Option<Self>, ReadError> {
        let piece = lines.next(usize::MAX);
        let Piece::Line(line) = piece.map_err(|error| ReadError::io(path, error))? else {
            return Ok(None);
        };
        let header = match Header::parse(lines.bytes(line.clone())) {
            Ok(header) => Ok(header),
            Err(why @ BadHeader::Version(_)) => {
                let path = path.to_owned();
                return Err(ReadError::Header { path, why });
            }
            Err(bad) => Err(Damaged {
                segment: number,
                offset: 0,
                len: line.len() as u64,
                flaw: bad.into(),
            }),
        };
        Ok(Some(Self {
            number,
            lines,
            header,
        }))
    }
}

impl Reader {
    /// Opens the first segment, if there is one.
    pub(super) fn begin(&mut self) -> Result<bool, ReadError> {
        let upcoming = match &self.place {
            Place::File(path) => {
                let source = Source::open(path).map_err(|error| ReadError::io(path, error))?;
                let number = folder::number_of(path).unwrap_or(0);
                Upcoming::read(Lines::new(source), number, path)?
            }
            Place::Folder(dir) => later(dir, 0)?,
        };
        let is_there = upcoming.is_some();
        if let Some(upcoming) = upcoming {
            self.enter(upcoming);
        }
        Ok(is_there)
    }

    /// Goes on with this segment.
    pub(super) fn enter(&mut self, upcoming: Upcoming) {
        let generation = match upcoming.header {
            Ok(header) => {
                self.session = header.session;
                header.generation
            }
            Err(damaged) => {
                // Its records are given out all the same, as of the generation before.
                self.damaged.push_back(damaged);
                self.generation()
            }
        };
        self.current = Some(Current {
            number: upcoming.number,
            lines: upcoming.lines,
            generation,
            looked_far: false,
        });
    }

    /// At the end of a segment, with so many bytes of an unfinished line. Whether there is more to read.
    pub(super) fn leave(&mut self, behind: u64) -> Result<bool, ReadError> {
        let (Place::Folder(dir), Some(current)) = (&self.place, &self.current) else {
            return Ok(false);
        };
        if let Some(next) = self.next.take() {
            // Read to its end again since the next one was seen: nothing more comes.
            if behind > 0 {
                self.damaged.push_back(Damaged {
                    segment: current.number,
                    offset: current.lines.offset(),
                    len: behind,
                    flaw: super::Flaw::Torn,
                });
            }
            self.enter(next);
            return Ok(true);
        }
        let fail = |error| ReadError::io(&folder::plain(dir, current.number), error);
        if current.lines.is_cut().map_err(fail)? {
            return self.rewind();
        }
        let mut next = Upcoming::of(dir, current.number.saturating_add(1))?;
        if next.is_none() && !current.looked_far {
            next = later(dir, current.number)?;
        }
        self.next = next;
        if let Some(current) = &mut self.current {
            current.looked_far = true;
        }
        Ok(self.next.is_some())
    }

    /// The writer has taken back what was given out: goes on behind what is left.
    fn rewind(&mut self) -> Result<bool, ReadError> {
        self.seek(self.cursor)?;
        Ok(true)
    }
}

/// The first segment behind `number` that has begun. What is missing before it is `verify`'s to report.
fn later(dir: &Path, number: u32) -> Result<Option<Upcoming>, ReadError> {
    let numbers = folder::segments(dir).map_err(|error| ReadError::io(dir, error))?;
    for later in numbers.into_iter().filter(|later| *later > number) {
        if let Some(upcoming) = Upcoming::of(dir, later)? {
            return Ok(Some(upcoming));
        }
    }
    Ok(None)
}

#[cfg(all(test, unix))]
mod tests {
    use crate::event::KeeperEvent;
    use crate::reader::{Reader, Step};
    use crate::record::Kind;
    use crate::writer::{Limits, Writer};

    #[test]
    fn what_comes_between_the_end_and_the_next_segment_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let (mut writer, _) = Writer::open(dir.path(), "s-1", 1, Limits::default()).unwrap();
        let mut reader = Reader::open(dir.path()).unwrap();
        assert!(matches!(reader.next().unwrap(), Step::End));
        writer.push(1, Kind::Agent, b"late");
        let carried = KeeperEvent::Carried {
            last_n: 0,
            epoch: 0,
            open: Vec::new(),
            agent: None,
        };
        writer.roll(2, &carried).unwrap();
        // The end was seen before all of that, and the next segment is seen after it.
        assert!(reader.leave(0).unwrap());
        assert!(
            matches!(reader.next().unwrap(), Step::Record(record) if record.payload == b"late")
        );
    }
}
