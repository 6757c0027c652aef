//! What can be looked at: a journal, a recording, plain lines of a CLI. Told apart by what is in it.
//!
//! Owns how each of them becomes records: a recording's start and end of a CLI become the keeper's `open` and `exit`,
//! plain lines are the agent's, unless only a host says such things. One line at a time: no input is ever in memory as
//! a whole. Invariant: generations and numbers only rise, as in a journal.

mod lines;
mod records;

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use countersign_journal::{Cursor, Kind, ReadError, Reader, Record};
use countersign_wire::recording::{self, FORMAT};
use countersign_wire::route::Route;

use self::lines::Lines;
use self::records::Records;

/// What an input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Form {
    /// The folder of a session, with `journal` in it.
    Session,
    /// A folder of segments.
    Journal,
    /// One segment.
    Segment,
    /// One of our recordings.
    Recording,
    /// What a CLI printed.
    Plain,
}

impl Form {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Form::Session => "session folder",
            Form::Journal => "journal folder",
            Form::Segment => "one segment of a journal",
            Form::Recording => "recording",
            Form::Plain => "lines of a CLI, without times",
        }
    }

    pub(crate) fn is_journal(self) -> bool {
        matches!(self, Form::Session | Form::Journal | Form::Segment)
    }

    /// Whether records say when they were written.
    pub(crate) fn has_times(self) -> bool {
        self != Form::Plain
    }

    /// Whether that is a time of the clock; a recording counts from its beginning.
    pub(crate) fn has_clock(self) -> bool {
        self.is_journal()
    }
}

/// Why an input cannot be read. Every message says what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SourceError {
    #[error("cannot read {}: {error}; {WANTED}", .path.display())]
    Open { path: PathBuf, error: io::Error },
    #[error("{} holds no journal: {WANTED}", .0.display())]
    NoJournal(PathBuf),
    #[error("{} is empty: {WANTED}", .0.display())]
    Empty(PathBuf),
    #[error("{} is no journal, no recording and no output of a CLI ({found}): {WANTED}", .path.display())]
    Unknown { path: PathBuf, found: String },
    #[error("{} is a recording of format {found}; this build reads format {FORMAT}: use the build that wrote it", .path.display())]
    Format { path: PathBuf, found: u64 },
    #[error("{0}")]
    Journal(ReadError),
    #[error("cannot read {}: {error}", .path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("a segment cannot be read from standard input: give its path")]
    SegmentPiped,
    #[error(
        "standard input can be read once, and this reads its input twice: write it to a file first"
    )]
    Twice,
}

impl From<ReadError> for SourceError {
    /// Names the compressed file where the plain one is not there.
    fn from(error: ReadError) -> Self {
        Self::Journal(match error {
            ReadError::Io { path, source } if !path.exists() => {
                let mut packed = path.clone().into_os_string();
                packed.push(".zst");
                let packed = PathBuf::from(packed);
                let path = if packed.exists() { packed } else { path };
                ReadError::Io { path, source }
            }
            error => error,
        })
    }
}

const WANTED: &str = "give a session's folder, its journal, one segment, a recording, or a file with the output of `claude --output-format stream-json`";

/// The first bytes of a segment.
const SEGMENT: &[u8] = b"#countersign-journal ";

/// The first bytes of a compressed one.
const COMPRESSED: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// About what stands around a payload: its number, its time, its kind.
const AROUND: u64 = 26;

/// A record with a buffer of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owned {
    pub(crate) generation: u32,
    pub(crate) seq: u64,
    pub(crate) at: u64,
    pub(crate) kind: Kind,
    pub(crate) payload: Vec<u8>,
}

impl Owned {
    pub(crate) fn of(generation: u32, record: &Record<'_>) -> Self {
        Self {
            generation,
            seq: record.seq,
            at: record.at,
            kind: record.kind,
            payload: record.payload.to_vec(),
        }
    }

    #[cfg(test)]
    pub(crate) fn record(&self) -> Record<'_> {
        Record {
            seq: self.seq,
            at: self.at,
            kind: self.kind,
            payload: &self.payload,
        }
    }

    pub(crate) fn cursor(&self) -> Cursor {
        Cursor::new(self.generation, self.seq)
    }
}

/// The next of an input.
#[derive(Debug)]
pub(crate) enum Item<'a> {
    Record(u32, Record<'a>),
    /// Something that is no record, told and passed over.
    Damaged(String),
}

/// An input, read from its beginning.
pub(crate) struct Source {
    path: PathBuf,
    form: Form,
    inner: Inner,
    /// Bytes read so far, and how many there are.
    read: u64,
    size: u64,
}

enum Inner {
    Journal(Box<Records>),
    Lines(Box<Lines>),
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.path.display(), self.form.words())
    }
}

impl Source {
    /// Opens whatever `path` is; `-` is standard input.
    pub(crate) fn open(path: &Path) -> Result<Self, SourceError> {
        if path == Path::new("-") {
            return Self::of_lines(path, Box::new(io::stdin()), 0);
        }
        let cannot = |error| SourceError::Open {
            path: path.to_owned(),
            error,
        };
        let about = fs::metadata(path).map_err(cannot)?;
        if about.is_dir() {
            let form = folder_form(path)?.ok_or_else(|| SourceError::NoJournal(path.to_owned()))?;
            return Self::of_journal(path, form);
        }
        let mut file = BufReader::with_capacity(1 << 16, File::open(path).map_err(cannot)?);
        let begins = file.fill_buf().map_err(cannot)?;
        if begins.starts_with(SEGMENT) || begins.starts_with(&COMPRESSED) {
            return Self::of_journal(path, Form::Segment);
        }
        Self::of_lines(path, Box::new(file), about.len())
    }

    fn of_journal(path: &Path, form: Form) -> Result<Self, SourceError> {
        let reader = Reader::open(path)?;
        Ok(Self {
            path: path.to_owned(),
            form,
            inner: Inner::Journal(Box::new(Records::new(reader))),
            read: 0,
            size: journal_size(path),
        })
    }

    fn of_lines(path: &Path, input: Box<dyn Read>, size: u64) -> Result<Self, SourceError> {
        let mut lines = Lines::new(input);
        let failed = |error| SourceError::Read {
            path: path.to_owned(),
            error,
        };
        let first = lines.peek().map_err(failed)?;
        let form = match first {
            None => return Err(SourceError::Empty(path.to_owned())),
            Some(first) => line_form(path, first)?,
        };
        if form == Form::Recording {
            lines.read_recording();
        }
        Ok(Self {
            path: path.to_owned(),
            form,
            inner: Inner::Lines(Box::new(lines)),
            read: 0,
            size,
        })
    }

    /// The same input from its beginning.
    pub(crate) fn again(&self) -> Result<Self, SourceError> {
        match self.path == Path::new("-") {
            true => Err(SourceError::Twice),
            false => Self::open(&self.path),
        }
    }

    pub(crate) fn form(&self) -> Form {
        self.form
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The session's name, if the input tells it.
    pub(crate) fn session(&self) -> Option<&str> {
        match &self.inner {
            Inner::Journal(reader) => Some(reader.session()),
            Inner::Lines(_) => None,
        }
    }

    /// The version of the CLI and what was played, if this is a recording.
    pub(crate) fn header(&self) -> Option<&recording::Header> {
        match &self.inner {
            Inner::Journal(_) => None,
            Inner::Lines(lines) => lines.header(),
        }
    }

    /// How much was read, and how much there is; 0 where nobody knows.
    pub(crate) fn progress(&self) -> (u64, u64) {
        (self.read, self.size)
    }

    /// The next record, or nothing at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Item<'_>>, SourceError> {
        match &mut self.inner {
            Inner::Lines(lines) => {
                let path = &self.path;
                let item = lines.next().map_err(|error| SourceError::Read {
                    path: path.clone(),
                    error,
                })?;
                if let Some((_, bytes)) = &item {
                    self.read += bytes;
                }
                Ok(item.map(|(item, _)| item))
            }
            Inner::Journal(reader) => {
                let item = reader.next()?;
                if let Some(Item::Record(_, record)) = &item {
                    self.read += record.payload.len() as u64 + AROUND;
                }
                Ok(item)
            }
        }
    }
}

/// What a folder is, by the names in it. One that cannot be listed is told as that.
fn folder_form(path: &Path) -> Result<Option<Form>, SourceError> {
    if has_segments(&path.join("journal"))? {
        return Ok(Some(Form::Session));
    }
    Ok(has_segments(path)?.then_some(Form::Journal))
}

fn has_segments(folder: &Path) -> Result<bool, SourceError> {
    match fs::read_dir(folder) {
        Ok(mut names) => Ok(names.any(|entry| {
            entry.is_ok_and(|entry| entry.file_name().to_str().is_some_and(is_segment))
        })),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(SourceError::Read {
            path: folder.to_owned(),
            error,
        }),
        Err(_) => Ok(false),
    }
}

/// Whether a file of this name is a segment.
pub(crate) fn is_segment(name: &str) -> bool {
    let bare = name.strip_suffix(".zst").unwrap_or(name);
    bare.strip_suffix(".j")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit()))
}

/// How large the segments are, compressed ones as they are.
fn journal_size(path: &Path) -> u64 {
    let Ok(about) = fs::metadata(path) else {
        return 0;
    };
    if !about.is_dir() {
        return about.len();
    }
    let inner = path.join("journal");
    let folder = if inner.is_dir() {
        inner.as_path()
    } else {
        path
    };
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    names
        .filter(|entry| entry.file_name().to_str().is_some_and(is_segment))
        .filter_map(|entry| entry.metadata().ok())
        .map(|about| about.len())
        .sum()
}

/// What a file is, by its first line.
fn line_form(path: &Path, first: &[u8]) -> Result<Form, SourceError> {
    if let Some(header) = recording::header(first) {
        return match header.recording {
            FORMAT => Ok(Form::Recording),
            found => Err(SourceError::Format {
                path: path.to_owned(),
                found,
            }),
        };
    }
    if Route::of(first).is_ok() {
        return Ok(Form::Plain);
    }
    if first.starts_with(SEGMENT) || first.starts_with(&COMPRESSED) {
        return Err(SourceError::SegmentPiped);
    }
    let start: String = String::from_utf8_lossy(first).chars().take(40).collect();
    Err(SourceError::Unknown {
        path: path.to_owned(),
        found: format!("it begins with {start:?}"),
    })
}
