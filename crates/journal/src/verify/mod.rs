//! Whether a journal is what was written.
//!
//! Owns the walk over all segments, compressed or not, and what is said about them. Changes nothing. Invariant: what is
//! called whole was held against its chain up to the last head, and against the host's seals as far as there are any;
//! behind that the numbers alone speak. What changed is named by record where marks allow it, else by the heads around.

mod segment;
mod verdict;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use blake3::Hash;
use ed25519_dalek::VerifyingKey;

use crate::cursor::Cursor;
use crate::error::ReadError;
use crate::folder;
use crate::header::{self, BadHeader, Header};
use crate::lines::{Lines, Piece, newest_begun};
use crate::seal::{self, Seal};
use crate::source::Source;
use segment::Walk;

pub use verdict::{Fault, Verdict, What};

/// Goes through the journal of a session folder, a journal folder or one segment, up to the first fault. With a key the
/// seals beside the journal are held against it, too.
///
/// # Errors
/// When a file cannot be opened, or a later build has written it. What is wrong inside is a [`Fault`].
pub fn verify(path: &Path, key: Option<&VerifyingKey>) -> Result<Verdict, ReadError> {
    let mut check = Check::default();
    let segments = Segments::of(path)?;
    if let (Some(key), Segments::Folder { dir, .. }) = (key, &segments) {
        check.key = Some(*key);
        let session = dir.parent().unwrap_or(dir);
        match seal::read(session) {
            Ok(seals) => {
                let by_cursor = seals.into_iter().map(|seal| (seal.cursor(), seal));
                check.seals = by_cursor.collect();
            }
            Err(seal::SealError::Line { after }) => check.bad_seal = Some(after),
            Err(seal::SealError::Io { path, source }) => {
                return Err(ReadError::Io { path, source });
            }
        }
    }
    let fault = match check.all(&segments) {
        Ok(()) => None,
        Err(Stop::Fault(fault)) => Some(fault),
        Err(Stop::Error(error)) => return Err(error),
    };
    check.verdict.fault = fault;
    Ok(check.verdict)
}

/// Which files.
enum Segments {
    Folder { dir: PathBuf, numbers: Vec<u32> },
    File(PathBuf),
}

impl Segments {
    fn of(path: &Path) -> Result<Self, ReadError> {
        let fail = |error| ReadError::io(path, error);
        if path.is_file() {
            return Ok(Self::File(path.to_owned()));
        }
        let dir = folder::journal_of(path).map_err(fail)?;
        let numbers = folder::segments(&dir).map_err(fail)?;
        if numbers.is_empty() && !dir.is_dir() {
            return Err(fail(std::io::ErrorKind::NotFound.into()));
        }
        Ok(Self::Folder { dir, numbers })
    }
}

/// Why the walk ends before the end.
enum Stop {
    Fault(Fault),
    Error(ReadError),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// The walk over all segments.
#[derive(Default)]
struct Check {
    verdict: Verdict,
    session: String,
    /// One segment, which cannot know what stood before it.
    is_alone: bool,
    /// The whole segment before, and how far its heads have vouched for it.
    previous: Option<Previous>,
    key: Option<VerifyingKey>,
    seals: BTreeMap<Cursor, Seal>,
    /// A line of the seals cannot be read, behind this one.
    bad_seal: Option<Cursor>,
}

/// What is known of the segment before.
struct Previous {
    number: u32,
    hash: Hash,
    last_head: Cursor,
    /// Bytes behind its last newline.
    torn: u64,
}

impl Check {
    fn all(&mut self, segments: &Segments) -> Result<(), Stop> {
        match segments {
            Segments::File(path) => {
                let source = Source::open(path);
                let source = source.map_err(|error| Stop::Error(ReadError::io(path, error)))?;
                let number = folder::number_of(path).unwrap_or(0);
                self.is_alone = true;
                self.segment(number, source, path, true)?;
            }
            Segments::Folder { dir, numbers } => {
                let newest = newest_begun(dir, numbers);
                let newest = newest.map_err(|error| Stop::Error(ReadError::io(dir, error)))?;
                for number in numbers {
                    let path = folder::plain(dir, *number);
                    let source = Source::of(dir, *number);
                    let source =
                        source.map_err(|error| Stop::Error(ReadError::io(&path, error)))?;
                    let Some(source) = source else {
                        continue;
                    };
                    self.segment(*number, source, &path, *number >= newest)?;
                }
            }
        }
        self.seals_left()
    }

    fn segment(
        &mut self,
        number: u32,
        source: Source,
        path: &Path,
        is_newest: bool,
    ) -> Result<(), Stop> {
        let mut lines = Lines::new(source).hashing();
        let here = self.verdict.end;
        let piece = match lines.next(usize::MAX) {
            Ok(piece) => piece,
            Err(error) => return Err(unreadable(number, here, path, error)),
        };
        let Piece::Line(line) = piece else {
            // Its writer was stopped before the header was whole.
            let what = What::Header { segment: number };
            return if is_newest {
                Ok(())
            } else {
                Err(Fault::new(here, what).into())
            };
        };
        let header = match Header::parse(lines.bytes(line)) {
            Ok(header) => header,
            Err(why @ BadHeader::Version(_)) => {
                let path = path.to_owned();
                return Err(Stop::Error(ReadError::Header { path, why }));
            }
            Err(_) => return Err(Fault::new(here, What::Header { segment: number }).into()),
        };
        let doubt = self.join(number, &header)?;
        let mut walk = Walk::new(&mut lines, number, &header, doubt, self);
        walk.records(path)?;
        let (last_head, torn) = walk.finish(is_newest)?;
        self.verdict.segments += 1;
        self.verdict.torn = torn;
        self.previous = Some(Previous {
            number,
            hash: lines.into_chain().hash(),
            last_head,
            torn,
        });
        Ok(())
    }

    /// Holds a header against what stands before it. A doubt that the segment itself may settle is returned.
    fn join(&mut self, number: u32, header: &Header) -> Result<Option<Fault>, Stop> {
        let end = self.verdict.end;
        let wrong_header = Fault::new(
            Cursor::new(header.generation, header.first_seq),
            What::Header { segment: number },
        );
        let Some(previous) = &self.previous else {
            self.session = header.session.clone();
            self.verdict.generations = 1;
            self.verdict.end = Cursor::new(header.generation, header.first_seq.saturating_sub(1));
            return if self.is_alone || is_first(number, header) {
                Ok(None)
            } else if header.first_seq > 1 {
                Err(Fault::new(Cursor::new(1, 1), What::Cut).into())
            } else {
                Err(wrong_header.into())
            };
        };
        if previous.torn > 0 {
            return Err(Fault::new(end, What::TornTail).into());
        }
        let next = Cursor::new(end.generation, end.seq.saturating_add(1));
        if number != previous.number.saturating_add(1) || header.first_seq > next.seq {
            return Err(Fault::new(next, What::Cut).into());
        }
        if header.session != self.session || header.generation < end.generation {
            return Err(wrong_header.into());
        }
        let doubt = if header.first_seq < next.seq {
            let added = Cursor::new(end.generation, header.first_seq);
            Some(Fault::new(added, What::Added))
        } else if header.previous != previous.hash {
            let from = previous.last_head;
            Some(Fault::new(end, What::Between { from }))
        } else {
            None
        };
        if header.generation > end.generation {
            self.verdict.generations += 1;
            self.verdict.end.generation = header.generation;
        }
        Ok(doubt)
    }

    /// A head that its chain vouches for: does the host, too?
    fn sealed(&mut self, at: Cursor, hash: &Hash) -> Result<(), Fault> {
        self.verdict.heads += 1;
        let Some(key) = &self.key else {
            return Ok(());
        };
        let from = self.verdict.sealed.unwrap_or(Cursor::START);
        let missing = self.seals.keys().next().copied();
        if missing.is_some_and(|missing| missing < at) {
            // A head was signed where none is any more.
            return Err(Fault::new(at, What::Between { from }));
        }
        let Some(seal) = self.seals.remove(&at) else {
            return Ok(());
        };
        if !seal.is_by(key, &self.session) {
            return Err(Fault::new(at, What::BadSeal));
        }
        if seal.hash != hash.to_hex().as_str() {
            return Err(Fault::new(at, What::Between { from }));
        }
        self.verdict.sealed = Some(at);
        Ok(())
    }

    /// What was signed and is not there.
    fn seals_left(&self) -> Result<(), Stop> {
        let end = self.verdict.end;
        if let Some(after) = self.bad_seal {
            return Err(Fault::new(after, What::BadSeal).into());
        }
        let (Some(key), Some((at, seal))) = (&self.key, self.seals.first_key_value()) else {
            return Ok(());
        };
        if !seal.is_by(key, &self.session) {
            return Err(Fault::new(*at, What::BadSeal).into());
        }
        let from = self.verdict.sealed.unwrap_or(Cursor::START);
        Err(if *at > end {
            Fault::new(
                Cursor::new(end.generation, end.seq.saturating_add(1)),
                What::Cut,
            )
            .into()
        } else {
            Fault::new(*at, What::Between { from }).into()
        })
    }
}

/// Whether nothing stands before this segment.
fn is_first(number: u32, header: &Header) -> bool {
    number == 1 && header.first_seq == 1 && header.previous == header::no_hash()
}

fn unreadable(number: u32, after: Cursor, path: &Path, error: std::io::Error) -> Stop {
    use std::io::ErrorKind::{InvalidData, Other, UnexpectedEof};
    match error.kind() {
        // The decoder's words for bytes that are not its own.
        InvalidData | Other | UnexpectedEof => {
            let next = Cursor::new(after.generation, after.seq.saturating_add(1));
            Fault::new(next, What::Unreadable { segment: number }).into()
        }
        _ => Stop::Error(ReadError::io(path, error)),
    }
}
