//! The bytes of one segment, compressed or not, from any offset.
//!
//! Owns how they are read. Knows no lines. Invariants: a segment that may grow is read, never mapped; offsets are those
//! of the plain bytes, whatever the file holds; a segment that is compressed while it is opened is found in one of its
//! two forms.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use crate::folder;

type Decoder = zstd::Decoder<'static, BufReader<File>>;

/// One segment.
pub(crate) enum Source {
    /// As it was written. May grow, or lose an unfinished end.
    Plain { file: File, at: u64 },
    /// Compressed: complete, and read from its beginning.
    Packed { decoder: Box<Decoder>, at: u64 },
}

impl Source {
    /// The segment of that number, if it is there.
    pub(crate) fn of(dir: &Path, number: u32) -> io::Result<Option<Self>> {
        match Self::open(&folder::plain(dir, number)) {
            // The plain file goes only when the compressed one is in place.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened.map(Some),
        }
        match Self::open(&folder::packed(dir, number)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// One file; what it is, its name tells.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if path.extension().is_some_and(|ending| ending == "zst") {
            Self::packed(file)
        } else {
            Ok(Self::Plain { file, at: 0 })
        }
    }

    /// A compressed file, whatever its name.
    pub(crate) fn packed(file: File) -> io::Result<Self> {
        let decoder = Box::new(zstd::Decoder::new(file)?);
        Ok(Self::Packed { decoder, at: 0 })
    }

    /// The next bytes; none at the end, which for a plain segment may be the end for now.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let (read, at) = match self {
            Self::Plain { file, at } => (read_at(file, into, *at)?, at),
            Self::Packed { decoder, at } => (decoder.read(into)?, at),
        };
        *at += read as u64;
        Ok(read)
    }

    /// Goes on reading at `offset`.
    pub(crate) fn go_to(&mut self, offset: u64) -> io::Result<()> {
        match self {
            Self::Plain { at, .. } => *at = offset,
            Self::Packed { decoder, at } => {
                if offset < *at {
                    let mut file = decoder.get_ref().get_ref().try_clone()?;
                    file.rewind()?;
                    **decoder = zstd::Decoder::new(file)?;
                    *at = 0;
                }
                let skip = offset - *at;
                *at += io::copy(&mut decoder.by_ref().take(skip), &mut io::sink())?;
            }
        }
        Ok(())
    }

    /// Whether there can be more than was read so far, or less.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self, Self::Plain { .. })
    }

    /// How long the plain file is now.
    pub(crate) fn plain_len(&self) -> io::Result<Option<u64>> {
        match self {
            Self::Plain { file, .. } => Ok(Some(file.metadata()?.len())),
            Self::Packed { .. } => Ok(None),
        }
    }
}

#[cfg(unix)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    use std::os::unix::fs::FileExt;
    loop {
        match file.read_at(into, at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

#[cfg(windows)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    use std::os::windows::fs::FileExt;
    file.seek_read(into, at)
}
