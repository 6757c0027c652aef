//! The agent's stderr: always read, the end of it kept.
//!
//! Owns the task that reads and the last 64 KiB of what it read. Invariants: the agent never waits for anybody
//! here; memory is bounded, and next to nothing for an agent that says nothing.

use std::collections::VecDeque;
#[cfg(unix)]
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::JoinHandle;

use super::mask::{LineMask, Secrets};
use super::pipes::StderrPipe;
use super::spawn::OnStderr;

/// How much of stderr is kept.
const KEPT: usize = 64 << 10;

/// The longest line that is handed on; the rest of a longer one is left out.
const LONGEST_LINE: usize = 8 << 10;

/// Longer than any secret in one word.
const LONGEST_SECRET: usize = 512;

/// The bytes of one read.
const CHUNK: usize = 16 << 10;

/// After this many reads in a row, others get their turn.
#[cfg(unix)]
const TURN: usize = 32;

/// The end of a stream of text, up to 64 KiB of it.
#[derive(Debug)]
pub(super) struct StderrTail {
    bytes: VecDeque<u8>,
    /// Something before the kept bytes is gone.
    cut: bool,
    secrets: Arc<Secrets>,
}

impl StderrTail {
    /// An empty tail that masks these.
    pub(super) fn new(secrets: Secrets) -> Self {
        StderrTail {
            bytes: VecDeque::new(),
            cut: false,
            secrets: Arc::new(secrets),
        }
    }

    /// Adds what was read.
    pub(super) fn push(&mut self, chunk: &[u8]) {
        let fits = chunk
            .get(chunk.len().saturating_sub(KEPT)..)
            .unwrap_or(chunk);
        let over = (self.bytes.len() + fits.len()).saturating_sub(KEPT);
        self.cut |= over > 0 || fits.len() < chunk.len();
        self.bytes.drain(..over);
        self.bytes.extend(fits);
    }

    /// What is kept, secrets masked. A line that lost its beginning is left out, because what remains of a
    /// secret cut in two cannot be recognised.
    pub(super) fn masked(&self) -> String {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let whole = if self.cut {
            after_first_break(&bytes)
        } else {
            &bytes
        };
        let text = self.secrets.masked(&String::from_utf8_lossy(whole));
        if self.cut {
            format!("[…]\n{text}")
        } else {
            text
        }
    }
}

/// What follows the first line end; in one endless line, what follows the first blank.
fn after_first_break(bytes: &[u8]) -> &[u8] {
    let at = memchr::memchr(b'\n', bytes)
        .filter(|at| at + 1 < bytes.len())
        .or_else(|| memchr::memchr(b' ', bytes));
    at.and_then(|at| bytes.get(at + 1..)).unwrap_or_default()
}

/// Where to cut a line that goes on, so that no secret is cut in two: at a blank near its end, or well before it.
fn before_last_blank(line: &[u8]) -> usize {
    let certain = line.len().saturating_sub(LONGEST_SECRET);
    let near = line.get(certain..).unwrap_or_default();
    certain + memchr::memrchr(b' ', near).unwrap_or(0)
}

/// Cuts chunks into lines for whoever wants to be told of each.
struct Lines {
    told: OnStderr,
    mask: LineMask,
    line: Vec<u8>,
    too_long: bool,
}

impl Lines {
    fn push(&mut self, chunk: &[u8]) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            let room = LONGEST_LINE - self.line.len();
            self.too_long |= text.len() > room;
            self.line.extend(text.iter().take(room));
            if piece.ends_with(b"\n") {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        if self.line.ends_with(b"\r") {
            self.line.pop();
        }
        if self.too_long {
            self.line.truncate(before_last_blank(&self.line));
        }
        let mut line = self.mask.line(&String::from_utf8_lossy(&self.line));
        if self.too_long {
            line.push('…');
        }
        (self.told)(&line);
        self.line.clear();
        self.too_long = false;
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        if !self.line.is_empty() && !std::thread::panicking() {
            let _ = catch_unwind(AssertUnwindSafe(|| self.end_line()));
        }
    }
}

/// The task that reads stderr. It ends with the stream, or when this is dropped.
#[derive(Debug)]
pub(super) struct Drain {
    tail: Arc<Mutex<StderrTail>>,
    task: JoinHandle<()>,
    closed: bool,
}

impl Drain {
    pub(super) fn start(pipe: StderrPipe, tail: StderrTail, told: Option<OnStderr>) -> Drain {
        let lines = told.map(|told| Lines {
            told,
            mask: LineMask::new(tail.secrets.clone()),
            line: Vec::new(),
            too_long: false,
        });
        let tail = Arc::new(Mutex::new(tail));
        let sink = Sink {
            tail: tail.clone(),
            lines,
        };
        Drain {
            tail,
            task: tokio::spawn(read_all(pipe, sink)),
            closed: false,
        }
    }

    /// Waits until the stream has ended. May be dropped and called again.
    pub(super) async fn closed(&mut self) {
        if !self.closed {
            let _ = (&mut self.task).await;
            self.closed = true;
        }
    }

    pub(super) fn masked(&self) -> String {
        locked(&self.tail).masked()
    }
}

impl Drop for Drain {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn locked(tail: &Mutex<StderrTail>) -> MutexGuard<'_, StderrTail> {
    tail.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Sink {
    tail: Arc<Mutex<StderrTail>>,
    lines: Option<Lines>,
}

impl Sink {
    fn push(&mut self, chunk: &[u8]) {
        locked(&self.tail).push(chunk);
        let Some(lines) = &mut self.lines else { return };
        if catch_unwind(AssertUnwindSafe(|| lines.push(chunk))).is_err() {
            // What was gathered for it goes without telling it.
            lines.line.clear();
            self.lines = None;
            tracing::warn!("the callback for stderr panicked and is not called again");
        }
    }
}

/// Reads until the stream ends. The buffer lives on the stack of one turn, so a silent agent costs none.
#[cfg(unix)]
async fn read_all(pipe: StderrPipe, mut sink: Sink) {
    loop {
        if pipe.readable().await.is_err() || read_a_turn(&pipe, &mut sink).is_err() {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// Reads what is there, for one turn at most. An error, be it only the end of the stream, ends the reading.
#[cfg(unix)]
fn read_a_turn(pipe: &StderrPipe, sink: &mut Sink) -> io::Result<()> {
    let mut chunk = [0; CHUNK];
    for _ in 0..TURN {
        match pipe.try_read(&mut chunk) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => sink.push(chunk.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(not(unix))]
async fn read_all(mut pipe: StderrPipe, mut sink: Sink) {
    use tokio::io::AsyncReadExt as _;
    let mut chunk = vec![0; CHUNK];
    while let Ok(read @ 1..) = pipe.read(&mut chunk).await {
        sink.push(chunk.get(..read).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail() -> StderrTail {
        StderrTail::new(Secrets::default())
    }

    #[test]
    fn a_silent_tail_holds_no_memory_and_a_short_one_is_whole() {
        let mut tail = tail();
        assert_eq!(tail.bytes.capacity(), 0);
        tail.push(b"one\ntw");
        tail.push(b"o\n");
        assert_eq!(tail.masked(), "one\ntwo\n");
        assert!(tail.bytes.capacity() < 256);
    }

    #[test]
    fn of_much_the_last_whole_lines_are_kept() {
        let mut tail = tail();
        for number in 0..20_000 {
            tail.push(format!("line {number}\n").as_bytes());
        }
        let text = tail.masked();
        assert!(text.starts_with("[…]\nline ") && text.ends_with("line 19999\n"));
        assert!(text.len() <= KEPT + 8 && text.len() > KEPT - 64);
        assert!(tail.bytes.capacity() <= 2 * KEPT);
    }

    #[test]
    fn of_one_endless_line_the_end_is_kept_from_a_blank_on() {
        let mut tail = tail();
        tail.push(format!("{} the end", "x".repeat(10 << 20)).as_bytes());
        assert_eq!(tail.masked(), "[…]\nthe end");
        assert!(tail.bytes.capacity() <= 2 * KEPT);
    }

    #[test]
    fn what_is_left_of_a_secret_cut_in_two_is_not_shown() {
        let mut tail = tail();
        let secret = format!("sk-ant-{}", "q".repeat(40));
        tail.push(format!("{secret}\n").as_bytes());
        // Leaves the last ten letters of the secret.
        tail.push(&vec![b'.'; KEPT - 13]);
        tail.push(b"\n.");
        assert!(!tail.masked().contains('q'));
    }

    fn lines_of(chunks: &[&[u8]]) -> Vec<String> {
        let (sender, receiver) = std::sync::mpsc::channel();
        let mut lines = Lines {
            told: Box::new(move |line| sender.send(line.to_owned()).unwrap()),
            mask: LineMask::new(Arc::default()),
            line: Vec::new(),
            too_long: false,
        };
        chunks.iter().for_each(|chunk| lines.push(chunk));
        drop(lines);
        receiver.iter().collect()
    }

    #[test]
    fn lines_do_not_depend_on_chunks_and_the_last_needs_no_line_end() {
        let lines = lines_of(&[b"on", b"e\r\n\ntw", b"o\nthree"]);
        assert_eq!(lines, ["one", "", "two", "three"]);
    }

    #[test]
    fn a_line_too_long_is_told_cut() {
        let long = vec![b'y'; 3 * LONGEST_LINE];
        let lines = lines_of(&[&long, &long, b"\nshort\n"]);
        assert_eq!(
            lines[0].len(),
            LONGEST_LINE - LONGEST_SECRET + '…'.len_utf8()
        );
        assert_eq!(lines[1], "short");
        let mut worded = vec![b'y'; LONGEST_LINE - 20];
        worded.extend(b" and a secret that is cut\n");
        assert!(lines_of(&[&worded])[0].ends_with("y and a secret that…"));
    }
}
