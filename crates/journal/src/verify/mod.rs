//! Whether a journal is what was written.
//!
//! Owns the walk over all segments, compressed or not, and what is said about them. Changes nothing. Invariant: what is
//! called whole was held against its marks up to the last head, and against the host's seals as far as there are any;
//! behind that the numbers alone speak. What changed is named by record where marks allow it, else by the heads around.
//! The heads that a host signs are found on the same walk: nothing is signed that is not as it was marked.

mod segment;
mod verdict;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use blake3::Hash;
use ed25519_dalek::VerifyingKey;

use crate::chain;
use crate::cursor::Cursor;
use crate::error::ReadError;
use crate::folder;
use crate::header::{BadHeader, Header, Previous};
use crate::heads::{HeadAt, Heads};
use crate::lines::{Lines, Piece, newest_begun};
use crate::marks;
use crate::seal::{self, Seal};
use crate::source::Source;
use segment::{Finished, Walk};

pub use verdict::{Fault, Verdict, What};

/// Goes through the journal of a session folder, a journal folder or one segment, up to the first fault. With keys the
/// seals beside the journal are held against them, too: each has to be by one of them. There are several where the host
/// was given another one.
///
/// # Errors
/// When a file cannot be opened, or a later build has written it. What is wrong inside is a [`Fault`].
pub fn verify(path: &Path, keys: &[VerifyingKey]) -> Result<Verdict, ReadError> {
    let mut check = Check::default();
    let segments = Segments::of(path)?;
    if let (false, Segments::Folder { dir, .. }) = (keys.is_empty(), &segments) {
        check.keys = keys.to_vec();
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
    if let Some(What::Between { from }) = fault.map(|fault| fault.what) {
        // A head that was changed vouches for nothing.
        let vouched = check.verdict.vouched.map(|at| at.min(from));
        check.verdict.vouched = vouched.filter(|at| at.seq > 0);
    }
    check.verdict.fault = fault;
    Ok(check.verdict)
}

/// The heads behind the last seal, up to the first fault.
pub(crate) fn heads_behind(path: &Path, last: Option<&Seal>) -> Result<Heads, ReadError> {
    let mut segments = Segments::of(path)?;
    let mut check = Check {
        heads: Some(Vec::new()),
        anchor: last.cloned(),
        ..Check::default()
    };
    if let (Some(last), Segments::Folder { dir, numbers }) = (last, &mut segments)
        && let Some(before) = last.before()
        && let Some(at) = holding(dir, numbers, last.cursor())?
    {
        // What stands before this segment was signed.
        numbers.drain(..at);
        check.before = before;
        check.is_alone = true;
    }
    let walked = check.all(&segments);
    let fault = match (walked, &check.anchor) {
        (Ok(()), None) => None,
        // What was signed last is not there.
        (Ok(()), Some(seal)) => Some(Fault::new(seal.cursor(), What::Cut)),
        (Err(Stop::Fault(fault)), _) => Some(fault),
        (Err(Stop::Error(error)), _) => return Err(error),
    };
    let mut heads = check.heads.unwrap_or_default();
    // Not before the last seal was found as it was signed, nor a head that a later line told of.
    let is_sound = |at: Cursor| fault.is_none_or(|fault| fault.is_behind(at));
    heads.retain(|head| check.anchor.is_none() && is_sound(head.cursor));
    heads.retain(|head| last.is_none_or(|last| head.cursor > last.cursor()));
    Ok(Heads { heads, fault })
}

/// Which of these segments holds this record, or would.
fn holding(dir: &Path, numbers: &[u32], at: Cursor) -> Result<Option<usize>, ReadError> {
    for (place, number) in numbers.iter().enumerate().rev() {
        let fail = |error| ReadError::io(&folder::plain(dir, *number), error);
        let Some(source) = Source::of(dir, *number).map_err(fail)? else {
            continue;
        };
        let mut lines = Lines::new(source);
        let Piece::Line(line) = lines.next(usize::MAX).map_err(fail)? else {
            continue;
        };
        let begins = Header::parse(lines.bytes(line))
            .is_ok_and(|header| Cursor::new(header.generation, header.first_seq) <= at);
        if begins {
            return Ok(Some(place));
        }
    }
    Ok(None)
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
struct Check {
    verdict: Verdict,
    session: String,
    /// Over the segments before the one that is gone through.
    before: Hash,
    /// What a host could sign, if that is asked for.
    heads: Option<Vec<HeadAt>>,
    /// What it signed last, until it was found to be so.
    anchor: Option<Seal>,
    /// One segment, which cannot know what stood before it.
    is_alone: bool,
    /// The whole segment before, and how far its heads have vouched for it.
    previous: Option<Passed>,
    /// Whose seals count; none of them is looked at without any.
    keys: Vec<VerifyingKey>,
    seals: BTreeMap<Cursor, Seal>,
    /// A line of the seals cannot be read, behind this one.
    bad_seal: Option<Cursor>,
}

impl Default for Check {
    fn default() -> Self {
        Self {
            verdict: Verdict::default(),
            session: String::new(),
            before: chain::NOTHING,
            heads: None,
            anchor: None,
            is_alone: false,
            previous: None,
            keys: Vec::new(),
            seals: BTreeMap::new(),
            bad_seal: None,
        }
    }
}

/// What is known of the segment before.
struct Passed {
    number: u32,
    hash: Hash,
    /// Over the marks from its last head on.
    mark: u32,
    last_head: Cursor,
    /// The head before that.
    earlier_head: Cursor,
    /// Bytes behind its last newline.
    torn: u64,
}

impl Passed {
    /// Whether it is the segment that the header of the next one speaks of.
    fn is_meant_by(&self, said: Previous) -> bool {
        match said {
            Previous::Hash(hash) => hash == self.hash,
            Previous::Mark(mark) => mark == self.mark,
        }
    }

    /// The last record that is beyond doubt where it is not. A mark is over the last head, too, which then vouches for nothing.
    fn doubted_from(&self, said: Previous) -> Cursor {
        match said {
            Previous::Hash(_) => self.last_head,
            Previous::Mark(_) => self.earlier_head,
        }
    }
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
                // Those behind it had not begun, and may begin while this is read.
                for number in numbers.iter().filter(|number| **number <= newest) {
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
        // It stands before the next record: all that were seen are before it.
        let bad_header = Fault::new(behind(here), What::Header { segment: number });
        let piece = match lines.next(usize::MAX) {
            Ok(piece) => piece,
            Err(error) => return Err(unreadable(number, here, path, error)),
        };
        let Piece::Line(line) = piece else {
            // Its writer was stopped before the header was whole.
            return if is_newest {
                Ok(())
            } else {
                Err(bad_header.into())
            };
        };
        let line = lines.bytes(line);
        let header = match Header::parse(line) {
            Ok(header) => header,
            Err(why @ BadHeader::Version(_)) => {
                let path = path.to_owned();
                return Err(Stop::Error(ReadError::Header { path, why }));
            }
            Err(_) => return Err(bad_header.into()),
        };
        let marks = marks::first(&header, line);
        let doubt = self.join(number, &header)?;
        let mut walk = Walk::new(&mut lines, number, &header, marks, doubt, self);
        walk.records(path)?;
        let Finished {
            last_head,
            earlier_head,
            mark,
            torn,
        } = walk.finish(is_newest)?;
        self.verdict.segments += 1;
        self.verdict.torn = torn;
        let hash = lines.into_chain().hash();
        self.before = chain::join(&self.before, &hash);
        self.previous = Some(Passed {
            number,
            hash,
            mark,
            last_head,
            earlier_head,
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
        let next = behind(end);
        if number != previous.number.saturating_add(1) || header.first_seq > next.seq {
            return Err(Fault::new(next, What::Cut).into());
        }
        if header.session != self.session || header.generation < end.generation {
            return Err(wrong_header.into());
        }
        let doubt = if header.first_seq < next.seq {
            let added = Cursor::new(end.generation, header.first_seq);
            Some(Fault::new(added, What::Added))
        } else if !previous.is_meant_by(header.previous) {
            let from = previous.doubted_from(header.previous);
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

    /// A head that its marks vouch for: does the host, too? The hash is over its segment up to it.
    fn sealed(&mut self, at: Cursor, hash: &Hash) -> Result<(), Fault> {
        self.verdict.heads += 1;
        if let Some(anchor) = self.anchor.take_if(|anchor| anchor.cursor() <= at)
            && (anchor.cursor() < at || !anchor.is_of(&self.before, hash))
        {
            let from = Cursor::START;
            let cursor = anchor.cursor();
            self.anchor = Some(anchor);
            return Err(Fault::new(cursor, What::Between { from }));
        }
        if let Some(heads) = &mut self.heads {
            heads.push(HeadAt {
                cursor: at,
                before: self.before.to_hex().to_string(),
                hash: chain::join(&self.before, hash).to_hex().to_string(),
            });
        }
        if self.keys.is_empty() {
            return Ok(());
        }
        let from = self.verdict.sealed.unwrap_or(Cursor::START);
        let missing = self.seals.keys().next().copied();
        if missing.is_some_and(|missing| missing < at) {
            // A head was signed where none is any more.
            return Err(Fault::new(at, What::Between { from }));
        }
        let Some(seal) = self.seals.remove(&at) else {
            return Ok(());
        };
        if !self.is_signed(&seal) {
            return Err(Fault::new(at, What::BadSeal));
        }
        if !seal.is_of(&self.before, hash) {
            return Err(Fault::new(at, What::Between { from }));
        }
        self.verdict.sealed = Some(at);
        Ok(())
    }

    fn is_signed(&self, seal: &Seal) -> bool {
        let mut keys = self.keys.iter();
        keys.any(|key| seal.is_by(key, &self.session))
    }

    /// What was signed and is not there.
    fn seals_left(&self) -> Result<(), Stop> {
        let end = self.verdict.end;
        if let Some(after) = self.bad_seal {
            return Err(Fault::new(after, What::BadSeal).into());
        }
        let Some((at, seal)) = self.seals.first_key_value() else {
            return Ok(());
        };
        if !self.is_signed(seal) {
            return Err(Fault::new(*at, What::BadSeal).into());
        }
        let from = self.verdict.sealed.unwrap_or(Cursor::START);
        Err(if *at > end {
            Fault::new(behind(end), What::Cut).into()
        } else {
            Fault::new(*at, What::Between { from }).into()
        })
    }
}

/// Whether nothing stands before this segment.
fn is_first(number: u32, header: &Header) -> bool {
    number == 1 && header.first_seq == 1 && header.previous.is_none()
}

/// The record behind this one, of the same generation.
fn behind(record: Cursor) -> Cursor {
    Cursor::new(record.generation, record.seq.saturating_add(1))
}

fn unreadable(number: u32, after: Cursor, path: &Path, error: std::io::Error) -> Stop {
    use std::io::ErrorKind::{InvalidData, Other, UnexpectedEof};
    match error.kind() {
        // The decoder's words for bytes that are not its own.
        InvalidData | Other | UnexpectedEof => {
            Fault::new(behind(after), What::Unreadable { segment: number }).into()
        }
        _ => Stop::Error(ReadError::io(path, error)),
    }
}
