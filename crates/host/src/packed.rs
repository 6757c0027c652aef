//! The journal of a session as one tar archive, byte for byte.
//!
//! Owns what goes into it: the segments, the seals and the public key they are held against, so that it can be verified
//! elsewhere. Indexes are left out; they are made again. Invariants: all files are open before the first byte leaves, so a
//! segment that is compressed meanwhile is not missed; a segment that grows meanwhile is told as far as it went then.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
use std::time::UNIX_EPOCH;

use futures_core::stream::BoxStream;

use crate::control::{ControlError, Result};
use crate::pull::{self, Looking, Pulled, Source};

/// So much is read at once.
const CHUNK: usize = 64 << 10;

/// Everything in a tar archive fills blocks of this size.
const BLOCK: usize = 512;

/// The most that the field for a file's size holds: eleven octal digits.
const LARGEST: u64 = (1 << 33) - 1;

/// Opens the journal in a session's folder. Names in the archive begin with `name`. Blocks.
pub(crate) fn open(
    folder: &Path,
    public: &Path,
    name: &str,
) -> Result<BoxStream<'static, Result<Vec<u8>>>> {
    let mut files = Vec::new();
    let segments = folder.join("journal");
    let mut names = match fs::read_dir(&segments) {
        Ok(entries) => entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.ends_with(".j") || name.ends_with(".j.zst"))
            .collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(unreadable(&error)),
    };
    names.sort_unstable();
    let segments = names
        .into_iter()
        .map(|file| (segments.join(&file), format!("{name}/journal/{file}")));
    let others = [
        (folder.join("seals"), format!("{name}/seals")),
        (public.to_owned(), format!("{name}/seal.pub")),
    ];
    for (path, within) in segments.chain(others) {
        match Part::open(&path, &within) {
            Ok(part) => files.push(part),
            // No seal was made yet, or a segment is compressed and has another name now.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable(&error)),
        }
    }
    files.reverse();
    Ok(Box::pin(Pulled::new(Packing { files, at: None })))
}

fn unreadable(error: &io::Error) -> ControlError {
    ControlError::Unavailable {
        why: format!("the journal cannot be read: {error}"),
        retry_ms: 1_000,
    }
}

/// One file of the archive.
struct Part {
    file: File,
    header: [u8; BLOCK],
    left: u64,
    length: u64,
}

impl Part {
    fn open(path: &Path, within: &str) -> io::Result<Self> {
        let file = File::open(path)?;
        let found = file.metadata()?;
        let written = found.modified()?.duration_since(UNIX_EPOCH);
        let seconds = written.map_or(0, |since| since.as_secs());
        let header = header(within, found.len(), seconds)
            .ok_or_else(|| io::Error::other("it does not fit into an archive"))?;
        Ok(Self {
            file,
            header,
            left: found.len(),
            length: found.len(),
        })
    }

    /// The next bytes of it; none at its end.
    fn next(&mut self) -> io::Result<Vec<u8>> {
        let most = self.left.min(CHUNK as u64);
        let mut bytes = Vec::with_capacity(CHUNK + BLOCK);
        (&mut self.file).take(most).read_to_end(&mut bytes)?;
        // After a loss of power a keeper may cut a torn end. A file that is shorter than its header says breaks an archive.
        if (bytes.len() as u64) < most {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        self.left -= most;
        if self.left == 0 && most > 0 {
            let over = (self.length % BLOCK as u64) as usize;
            bytes.resize(bytes.len() + (BLOCK - over) % BLOCK, 0);
        }
        Ok(bytes)
    }
}

/// What is still to be told, last first.
struct Packing {
    files: Vec<Part>,
    at: Option<Part>,
}

impl Packing {
    /// The next bytes, and whether there are more.
    fn step(&mut self) -> io::Result<(Vec<u8>, bool)> {
        if let Some(part) = &mut self.at {
            let bytes = part.next()?;
            if !bytes.is_empty() {
                return Ok((bytes, true));
            }
            self.at = None;
        }
        match self.files.pop() {
            Some(part) => {
                let header = part.header.to_vec();
                self.at = Some(part);
                Ok((header, true))
            }
            // Two empty blocks end an archive.
            None => Ok((vec![0; 2 * BLOCK], false)),
        }
    }
}

impl Source for Packing {
    type Item = Result<Vec<u8>>;

    fn next(mut self) -> Looking<Self> {
        Box::pin(async move {
            let looked = pull::look(move || {
                let step = self.step();
                (self, step)
            });
            match looked.await {
                Some((packing, Ok((bytes, is_more)))) => {
                    (is_more.then_some(packing), vec![Ok(bytes)])
                }
                Some((_, Err(error))) => (None, vec![Err(unreadable(&error))]),
                None => (None, Vec::new()),
            }
        })
    }
}

/// The header of a file: the form of POSIX.1-1988, for this user alone. None if a name or a size does not fit.
fn header(name: &str, length: u64, seconds: u64) -> Option<[u8; BLOCK]> {
    if name.len() > 100 || length > LARGEST {
        return None;
    }
    let mut block = [0; BLOCK];
    let mut put = |at: usize, text: &[u8]| block[at..at + text.len()].copy_from_slice(text);
    put(0, name.as_bytes());
    put(100, b"0000600\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{length:011o}\0").as_bytes());
    put(136, format!("{:011o}\0", seconds.min(LARGEST)).as_bytes());
    // The sum counts its own field as spaces.
    put(148, b"        ");
    put(156, b"0");
    put(257, b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Some(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_says_name_size_and_its_own_sum() {
        let block = header("s/journal/000001.j", 0o1234, 7).unwrap();
        assert!(block.starts_with(b"s/journal/000001.j\0"));
        assert_eq!(&block[124..136], b"00000001234\0");
        assert_eq!(&block[257..265], b"ustar\x0000");
        let told = std::str::from_utf8(&block[148..154]).unwrap();
        let mut plain = block;
        plain[148..156].fill(b' ');
        let sum: u32 = plain.iter().map(|byte| u32::from(*byte)).sum();
        assert_eq!(u32::from_str_radix(told, 8), Ok(sum));
        assert_eq!(header(&"x".repeat(101), 0, 0), None);
        assert_eq!(header("x", LARGEST + 1, 0), None);
    }
}
