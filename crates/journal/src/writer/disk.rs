//! What the writer does to a disk, as a seam.
//!
//! Owns the calls and their real form. Decides nothing: what a short write or a failed sync means is the writer's. A
//! test can stand in with a disk that is full, or that loses what it was given.

use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, Seek, SeekFrom, Write};
use std::path::Path;

use crate::folder;

/// A segment that is appended to.
pub(crate) trait Segment: Send {
    /// Appends; may take less than it was given.
    fn append(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize>;
    /// Makes the file this long, returns what was reserved behind that, and appends there from now on.
    fn cut_to(&mut self, len: u64) -> io::Result<()>;
    /// Keeps room on the disk for bytes that may come, without making the file longer.
    fn reserve(&mut self, from: u64, len: u64) -> io::Result<()>;
    /// Brings it to the disk.
    fn sync(&mut self) -> io::Result<()>;
    /// Whether it still has a name: without one, nobody finds what is written to it.
    fn has_name(&self) -> bool {
        true
    }
}

/// Where segments are made.
pub(crate) trait Disk: Send {
    /// A file that was not there, or was empty.
    fn create(&self, path: &Path) -> io::Result<Box<dyn Segment>>;
    /// A file that is there, to be appended to behind `len`.
    fn reopen(&self, path: &Path, len: u64) -> io::Result<Box<dyn Segment>>;
    /// Makes the names in the folder last.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
}

/// The disk of this machine.
#[derive(Debug)]
pub(crate) struct RealDisk;

impl Disk for RealDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn Segment>> {
        let file = folder::open_private(OpenOptions::new().write(true).create(true), path)?;
        if file.metadata()?.len() > 0 {
            // Somebody else writes here. Nothing of theirs is touched.
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(Box::new(RealSegment(file)))
    }

    fn reopen(&self, path: &Path, len: u64) -> io::Result<Box<dyn Segment>> {
        let file = folder::open_private(OpenOptions::new().write(true), path)?;
        let mut segment = RealSegment(file);
        segment.cut_to(len)?;
        Ok(Box::new(segment))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        folder::sync_dir(dir)
    }
}

struct RealSegment(File);

impl Segment for RealSegment {
    fn append(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match slices {
            [one] => self.0.write(one),
            many => self.0.write_vectored(many),
        }
    }

    fn cut_to(&mut self, len: u64) -> io::Result<()> {
        self.0.set_len(len)?;
        self.0.seek(SeekFrom::Start(len)).map(drop)
    }

    fn reserve(&mut self, from: u64, len: u64) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            let keep_size = rustix::fs::FallocateFlags::KEEP_SIZE;
            rustix::fs::fallocate(&self.0, keep_size, from, len)?;
            Ok(())
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (from, len);
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }

    #[cfg(unix)]
    fn has_name(&self) -> bool {
        use std::os::unix::fs::MetadataExt as _;
        // Where that cannot be said, writing will tell.
        self.0.metadata().map_or(true, |found| found.nlink() > 0)
    }
}
