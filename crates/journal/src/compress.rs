//! Closed segments made small.
//!
//! Owns the replacement of a segment by its compressed form. Invariants: at every moment one complete form has its name;
//! the plain one goes only after the other was read back and found the same, and is on the disk; readers that have the
//! plain one open read on in it. The newest segment is never touched.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::chain::Chain;
use crate::folder;
use crate::lines::newest_begun;
use crate::source::Source;

/// Half the effort costs a tenth of the size: closed segments are written once.
const LEVEL: i32 = 3;

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Compressed {
    /// How many segments were replaced.
    pub segments: u32,
    /// How many bytes they had.
    pub before: u64,
    /// How many bytes they have.
    pub after: u64,
}

/// Why a segment was not compressed. It is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompressError {
    /// The system refused.
    #[error("cannot compress {}: {source}", path.display())]
    Io {
        /// Which file or folder.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// What was compressed does not come back.
    #[error("{} does not come back as it was; it stays as it is", path.display())]
    Differs {
        /// Which file.
        path: PathBuf,
    },
}

/// Compresses all segments of a journal folder but the newest. A segment that somebody else is compressing is left to
/// them.
///
/// # Errors
/// When a segment cannot be compressed; those before it are.
pub fn compress_closed(dir: &Path) -> Result<Compressed, CompressError> {
    let mut done = Compressed::default();
    let fail = |path: &Path, source| CompressError::Io {
        path: path.to_owned(),
        source,
    };
    let numbers = folder::segments(dir).map_err(|error| fail(dir, error))?;
    let newest = newest_begun(dir, &numbers).map_err(|error| fail(dir, error))?;
    for number in numbers.iter().filter(|number| **number < newest) {
        let plain = folder::plain(dir, *number);
        match one(dir, *number) {
            // Somebody else was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !plain.exists() => {}
            Ok(Outcome::Done { before, after }) => {
                done.segments += 1;
                done.before += before;
                done.after += after;
            }
            Ok(Outcome::Nothing) => {}
            Ok(Outcome::Differs) => return Err(CompressError::Differs { path: plain }),
            Err(error) => return Err(fail(&plain, error)),
        }
    }
    Ok(done)
}

enum Outcome {
    Done { before: u64, after: u64 },
    Nothing,
    Differs,
}

fn one(dir: &Path, number: u32) -> io::Result<Outcome> {
    let plain = folder::plain(dir, number);
    let packed = folder::packed(dir, number);
    let mut source = match File::open(&plain) {
        Ok(source) => source,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Outcome::Nothing),
        Err(error) => return Err(error),
    };
    let before = source.metadata()?.len();
    let is_left_over = packed.exists() && hash_of(&packed).ok() == Some(hash_of(&plain)?);
    if !is_left_over {
        let new = packed.with_extension("zst.new");
        let Some(file) = claim(&new)? else {
            return Ok(Outcome::Nothing);
        };
        let hash = pack(&mut source, &file)?;
        file.sync_all()?;
        if unpacked_hash(&new)? != hash {
            fs::remove_file(&new)?;
            return Ok(Outcome::Differs);
        }
        fs::rename(&new, &packed)?;
        folder::sync_dir(dir)?;
    }
    let after = fs::metadata(&packed)?.len();
    fs::remove_file(&plain)?;
    Ok(Outcome::Done { before, after })
}

/// The file to write into, if nobody else writes into it.
fn claim(path: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    let file = folder::open_private(options.write(true).create(true), path)?;
    if !is_alone(&file, path)? {
        return Ok(None);
    }
    file.set_len(0)?;
    Ok(Some(file))
}

/// Takes the file's lock. Whoever had it may have put the file in place meanwhile: then it is not ours to write.
#[cfg(unix)]
fn is_alone(file: &File, path: &Path) -> io::Result<bool> {
    use rustix::fs::FlockOperation;
    use std::os::unix::fs::MetadataExt;
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    let named = fs::metadata(path);
    Ok(named.is_ok_and(|named| named.ino() == file.metadata().map_or(0, |own| own.ino())))
}

#[cfg(not(unix))]
fn is_alone(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Compresses, and returns the hash of the plain bytes.
fn pack(source: &mut File, into: &File) -> io::Result<blake3::Hash> {
    let mut encoder = zstd::Encoder::new(into, LEVEL)?;
    encoder.include_checksum(true)?;
    let mut chain = Chain::default();
    let mut buffer = vec![0; 256 << 10];
    loop {
        let read = source.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        chain.update(&buffer[..read]);
        io::Write::write_all(&mut encoder, &buffer[..read])?;
    }
    encoder.finish()?;
    Ok(chain.hash())
}

/// The hash of the plain bytes of a segment in either form.
fn hash_of(path: &Path) -> io::Result<blake3::Hash> {
    hash_source(Source::open(path)?)
}

fn unpacked_hash(path: &Path) -> io::Result<blake3::Hash> {
    hash_source(Source::packed(File::open(path)?)?)
}

fn hash_source(mut source: Source) -> io::Result<blake3::Hash> {
    let mut chain = Chain::default();
    let mut buffer = vec![0; 256 << 10];
    loop {
        match source.read(&mut buffer)? {
            0 => return Ok(chain.hash()),
            read => chain.update(&buffer[..read]),
        }
    }
}
