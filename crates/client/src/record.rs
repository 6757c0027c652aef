//! Writing what crosses the wire to a file, in the format of docs/recordings.md.
//!
//! Owns the file. Invariants: it is new, and only its owner can read it; each line is in it before the next is taken, so
//! that nothing is lost when the process dies; lines are verbatim, nothing in them is masked. A disk that fails ends the
//! recording, never the session.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use countersign_wire::recording::{self, Direction};

/// A recording that is being written. Cheap to clone; all clones write to one file.
///
/// What an agent reads and writes stands in it as it was: prompts, file contents, whatever a tool printed. Treat the
/// file as you treat the files the agent worked on.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use countersign_client::{Claude, Recorder};
///
/// let recorder = Recorder::create("session.ndjson", "2.1.325", "a look around")?;
/// let session = Claude::new().record(&recorder).connect().await?;
/// session.send("What is in this folder?").await?.await?;
/// session.close().await;
/// recorder.check()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    start: Instant,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Open(File),
    /// The first thing that went wrong; nothing was written after it.
    Failed(io::ErrorKind, String),
}

/// Why there is no recording, or only a part of one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The file could not be made.
    #[error("cannot make the recording {}: name a file that is not there yet, in a folder you may write to", .path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line could not be written, and none after it was.
    #[error("the recording {} ends early: is the disk full?", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Recorder {
    /// Makes the file, which must not be there yet, and writes its first line: the version of the CLI, and in a few words
    /// what is recorded.
    ///
    /// # Errors
    /// When the file is there already or cannot be made.
    pub fn create(path: impl AsRef<Path>, cli: &str, what: &str) -> Result<Self, RecordError> {
        let path = path.as_ref().to_owned();
        let file = new_file(&path).and_then(|mut file| {
            file.write_all(&recording::header_line(cli, what))?;
            Ok(file)
        });
        let file = file.map_err(|source| RecordError::Create {
            path: path.clone(),
            source,
        })?;
        Ok(Self {
            shared: Arc::new(Shared {
                path,
                start: Instant::now(),
                state: Mutex::new(State::Open(file)),
            }),
        })
    }

    /// Writes one line.
    pub fn take(&self, direction: Direction, line: &[u8]) {
        let mut state = self
            .shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let State::Open(file) = &mut *state else {
            return;
        };
        // The time is read under the lock, so that times never go back in the file.
        let at = self
            .shared
            .start
            .elapsed()
            .as_millis()
            .try_into()
            .unwrap_or(u64::MAX);
        // One write a line: a process that dies leaves whole lines behind.
        if let Err(error) = file.write_all(&recording::entry_line(at, direction, line)) {
            tracing::warn!(%error, path = %self.shared.path.display(), "the recording ends early");
            *state = State::Failed(error.kind(), error.to_string());
        }
    }

    /// Whether everything so far is in the file.
    ///
    /// # Errors
    /// When a line could not be written; the recording ends before it.
    pub fn check(&self) -> Result<(), RecordError> {
        match &*self
            .shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
        {
            State::Open(_) => Ok(()),
            State::Failed(kind, text) => Err(RecordError::Write {
                path: self.shared.path.clone(),
                source: io::Error::new(*kind, text.clone()),
            }),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }
}

/// A file that was not there before, for its owner alone.
fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path) -> Vec<(Direction, String)> {
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines = text.lines();
        let header = recording::header(lines.next().unwrap().as_bytes()).unwrap();
        assert_eq!(
            (header.cli.as_str(), header.scenario.as_str()),
            ("2.1.325", "a test")
        );
        let entries = lines.map(|line| recording::entry(line.as_bytes()).unwrap());
        entries
            .map(|entry| (entry.direction, String::from_utf8(entry.line).unwrap()))
            .collect()
    }

    #[test]
    fn each_line_is_in_the_file_as_soon_as_it_was_taken() {
        let folder = tempfile::tempdir().unwrap();
        let recorder = Recorder::create(folder.path().join("a"), "2.1.325", "a test").unwrap();
        recorder.take(Direction::Run, b"--verbose");
        recorder.clone().take(Direction::In, br#"{"type":"user"}"#);
        let expected = [
            (Direction::Run, "--verbose".to_owned()),
            (Direction::In, r#"{"type":"user"}"#.to_owned()),
        ];
        assert_eq!(read(recorder.path()), expected);
        recorder.check().unwrap();
    }

    #[test]
    fn a_file_that_is_there_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine");
        std::fs::write(&path, "mine").unwrap();
        let refused = Recorder::create(&path, "", "").unwrap_err();
        assert!(refused.to_string().contains("not there yet"), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_can_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let recorder = Recorder::create(folder.path().join("a"), "", "").unwrap();
        let mode = std::fs::metadata(recorder.path())
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_ends_the_recording_and_is_told() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let recorder = Recorder {
            shared: Arc::new(Shared {
                path: "somewhere".into(),
                start: Instant::now(),
                state: Mutex::new(State::Open(full)),
            }),
        };
        recorder.take(Direction::Out, b"{}");
        recorder.take(Direction::Out, b"{}");
        let told = recorder.check().unwrap_err();
        assert!(told.to_string().contains("somewhere ends early"), "{told}");
    }
}
