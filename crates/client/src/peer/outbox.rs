//! The road to the CLI's stdin: whole lines, in order, under one lock.
//!
//! Owns what was handed in and not yet written. A line goes out at once, by the caller's own hand, while the pipe takes
//! it; what the pipe does not take waits and is written by a task. Invariants: lines never interleave; nothing is
//! written after the close; what waits is bounded: a full outbox refuses messages, and requests some way beyond that
//! ([`PutError::Full`]). Answers are always taken: there are never more of them than questions that may be open.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Buf as _, Bytes};
use countersign_wire::recording::Direction;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Notify;

use crate::kept::{Freight, Road, RoadError};
use crate::tap::Tap;

/// A writer that is nobody's pipe.
pub(crate) type BoxedWriter = Box<dyn AsyncWrite + Send + Unpin>;

/// Where lines go.
pub(crate) enum Sink {
    /// The stdin of a child: can be tried without waiting.
    #[cfg(unix)]
    Pipe(tokio::net::UnixStream),
    /// Any other writer.
    Other(BoxedWriter),
    /// Another process that writes for us, with a queue and a bound of its own.
    Kept(Arc<dyn Road>),
}

/// What may wait beyond the bound for messages.
const REQUEST_ROOM: usize = 16 << 20;

/// Why a line was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PutError {
    /// The road is closed.
    Closed,
    /// More waits already than is permitted: the CLI does not read.
    Full,
}

pub(crate) struct Outbox {
    state: Mutex<State>,
    /// Wakes the task that writes what waits.
    work: Notify,
    /// Tells that something was written, or that the end was reached.
    progress: Notify,
    limit: usize,
    tap: Option<Tap>,
    runtime: tokio::runtime::Handle,
}

struct State {
    waiting: VecDeque<Bytes>,
    bytes: usize,
    #[cfg(unix)]
    pipe: Option<Arc<tokio::net::UnixStream>>,
    /// The writer, until its task takes it.
    other: Option<BoxedWriter>,
    kept: Option<Arc<dyn Road>>,
    /// Whether the task that writes what waits is running.
    is_draining: bool,
    is_closing: bool,
    is_closed: bool,
}

impl Outbox {
    pub(crate) fn new(
        sink: Sink,
        limit: usize,
        tap: Option<Tap>,
        runtime: tokio::runtime::Handle,
    ) -> Self {
        let mut state = State {
            waiting: VecDeque::new(),
            bytes: 0,
            #[cfg(unix)]
            pipe: None,
            other: None,
            kept: None,
            is_draining: false,
            is_closing: false,
            is_closed: false,
        };
        match sink {
            #[cfg(unix)]
            Sink::Pipe(pipe) => state.pipe = Some(Arc::new(pipe)),
            Sink::Other(writer) => state.other = Some(writer),
            Sink::Kept(road) => state.kept = Some(road),
        }
        Self {
            state: Mutex::new(state),
            work: Notify::new(),
            progress: Notify::new(),
            limit,
            tap,
            runtime,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands in one whole line. Does not wait. A message is refused when much waits, a request some way beyond that.
    pub(crate) fn put(
        self: &Arc<Self>,
        line: Vec<u8>,
        freight: Freight<'_>,
    ) -> Result<(), PutError> {
        debug_assert!(line.ends_with(b"\n") && line.is_ascii());
        let mut state = self.lock();
        if state.is_closing || state.is_closed {
            return Err(PutError::Closed);
        }
        let room = match freight {
            Freight::Message => self.limit,
            Freight::Request => self.limit.saturating_add(REQUEST_ROOM),
            Freight::Answer { .. } => usize::MAX,
        };
        if state.bytes.saturating_add(line.len()) > room && !state.waiting.is_empty() {
            return Err(PutError::Full);
        }
        if let Some(tap) = &self.tap {
            // Before it is written, so that its answer cannot be heard first.
            tap(Direction::In, line.trim_ascii_end());
        }
        if let Some(road) = &state.kept {
            // Under the lock, so that lines keep their order.
            return road.put(line, freight).map_err(|error| match error {
                RoadError::Full => PutError::Full,
                RoadError::Closed => PutError::Closed,
            });
        }
        let Ok(written) = state.write_now(&line) else {
            state.close();
            return Err(PutError::Closed);
        };
        if written == line.len() {
            return Ok(());
        }
        let mut line = Bytes::from(line);
        line.advance(written);
        state.bytes += line.len();
        state.waiting.push_back(line);
        self.wake(&mut state);
        Ok(())
    }

    fn wake(self: &Arc<Self>, state: &mut State) {
        if state.is_draining {
            self.work.notify_one();
        } else {
            state.is_draining = true;
            self.runtime.spawn(drain(Arc::clone(self)));
        }
    }

    /// Waits until what was handed in is written, or cannot be any more.
    pub(crate) async fn flushed(&self) {
        let kept = self.lock().kept.clone();
        if let Some(road) = kept {
            return road.flushed().await;
        }
        loop {
            let progress = self.progress.notified();
            tokio::pin!(progress);
            progress.as_mut().enable();
            if self.lock().waiting.is_empty() {
                return;
            }
            progress.await;
        }
    }

    /// Closes the road after what waits was written; later lines are refused.
    pub(crate) fn close(self: &Arc<Self>) {
        let mut state = self.lock();
        state.is_closing = true;
        if state.waiting.is_empty() && !state.is_draining {
            state.close();
            self.progress.notify_waiters();
        } else {
            self.wake(&mut state);
        }
    }

    /// Closes the road at once; what waits is dropped.
    pub(crate) fn cut(&self) {
        self.lock().close();
        self.work.notify_one();
        self.progress.notify_waiters();
    }
}

impl State {
    /// Writes what the pipe takes at once; so much it was.
    #[cfg(unix)]
    fn write_now(&self, line: &[u8]) -> io::Result<usize> {
        let Some(pipe) = self.pipe.as_ref().filter(|_| self.waiting.is_empty()) else {
            return Ok(0);
        };
        let mut written = 0;
        while written < line.len() {
            match pipe.try_write(&line[written..]) {
                Ok(more) => written += more,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(written)
    }

    /// Only a pipe can be tried without waiting.
    #[cfg(not(unix))]
    fn write_now(&self, _: &[u8]) -> io::Result<usize> {
        Ok(0)
    }

    fn close(&mut self) {
        self.is_closed = true;
        self.waiting.clear();
        self.bytes = 0;
        #[cfg(unix)]
        {
            self.pipe = None;
        }
        self.other = None;
        self.kept = None;
    }
}

/// Writes what waits, and ends when nothing does.
async fn drain(outbox: Arc<Outbox>) {
    let mut other = outbox.lock().other.take();
    loop {
        let next = {
            let mut state = outbox.lock();
            if state.is_closed {
                break;
            }
            match state.waiting.front().cloned() {
                Some(line) => Some(line),
                None if state.is_closing => {
                    state.close();
                    break;
                }
                None if other.is_none() => {
                    state.is_draining = false;
                    break;
                }
                None => None,
            }
        };
        outbox.progress.notify_waiters();
        let Some(line) = next else {
            outbox.work.notified().await;
            continue;
        };
        let written = match &mut other {
            Some(writer) => tokio::select! {
                written = write_whole(writer, &line) => written,
                () = closed(&outbox) => break,
            },
            None => write_to_pipe(&outbox, &line).await,
        };
        let mut state = outbox.lock();
        if written.is_err() {
            state.close();
            break;
        }
        if let Some(front) = state.waiting.pop_front() {
            state.bytes -= front.len();
        }
    }
    if let Some(writer) = &mut other {
        let _ = writer.shutdown().await;
    }
    outbox.progress.notify_waiters();
}

async fn write_whole(writer: &mut BoxedWriter, line: &[u8]) -> io::Result<()> {
    writer.write_all(line).await?;
    writer.flush().await
}

/// Waits until the road was cut.
async fn closed(outbox: &Outbox) {
    while !outbox.lock().is_closed {
        outbox.work.notified().await;
    }
}

#[cfg(unix)]
async fn write_to_pipe(outbox: &Outbox, line: &[u8]) -> io::Result<()> {
    let mut rest = line;
    while !rest.is_empty() {
        let Some(pipe) = outbox.lock().pipe.clone() else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        tokio::select! {
            ready = pipe.writable() => ready?,
            () = closed(outbox) => return Err(io::ErrorKind::BrokenPipe.into()),
        }
        match pipe.try_write(rest) {
            Ok(written) => rest = &rest[written..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(not(unix))]
async fn write_to_pipe(_: &Outbox, _: &[u8]) -> io::Result<()> {
    Err(io::ErrorKind::BrokenPipe.into())
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    const ANSWER: Freight<'_> = Freight::Answer {
        request_id: "r",
        note: None,
        refuses: false,
    };

    fn outbox(sink: Sink, limit: usize) -> Arc<Outbox> {
        let runtime = tokio::runtime::Handle::current();
        Arc::new(Outbox::new(sink, limit, None, runtime))
    }

    fn line(letter: u8, length: usize) -> Vec<u8> {
        let mut line = vec![letter; length];
        line.push(b'\n');
        line
    }

    #[tokio::test]
    async fn lines_come_out_whole_and_in_order_whatever_the_pipe_takes() {
        let (sender, mut receiver) = tokio::net::UnixStream::pair().unwrap();
        let outbox = outbox(Sink::Pipe(sender), 64 << 20);
        let lines: Vec<Vec<u8>> = (0..50)
            .map(|n| line(b'a' + n % 26, usize::from(n) * 7_000))
            .collect();
        for line in &lines {
            outbox.put(line.clone(), Freight::Message).unwrap();
        }
        outbox.close();
        let mut read = Vec::new();
        receiver.read_to_end(&mut read).await.unwrap();
        assert_eq!(read, lines.concat());
        assert_eq!(
            outbox.put(line(b'z', 1), Freight::Message),
            Err(PutError::Closed)
        );
    }

    #[tokio::test]
    async fn another_writer_gets_the_same() {
        let (near, mut far) = tokio::io::duplex(100);
        let outbox = outbox(Sink::Other(Box::new(near)), 1 << 20);
        let lines: Vec<Vec<u8>> = (0..20).map(|n| line(b'a' + n, 50)).collect();
        for line in &lines {
            outbox.put(line.clone(), Freight::Message).unwrap();
        }
        outbox.close();
        let mut read = Vec::new();
        far.read_to_end(&mut read).await.unwrap();
        assert_eq!(read, lines.concat());
    }

    #[tokio::test]
    async fn a_full_outbox_refuses_and_takes_again_when_there_is_room() {
        let (near, mut far) = tokio::io::duplex(16);
        let outbox = outbox(Sink::Other(Box::new(near)), 100);
        outbox.put(line(b'a', 90), Freight::Message).unwrap();
        assert_eq!(
            outbox.put(line(b'b', 90), Freight::Message),
            Err(PutError::Full)
        );
        outbox.put(line(b'r', 1), Freight::Request).unwrap();
        outbox.put(line(b'x', 1), ANSWER).unwrap();
        let mut read = vec![0; 95];
        far.read_exact(&mut read).await.unwrap();
        outbox.flushed().await;
        outbox.put(line(b'b', 90), Freight::Message).unwrap();
    }

    #[tokio::test]
    async fn a_cut_road_ends_at_once_though_nobody_reads() {
        let (sender, receiver) = tokio::net::UnixStream::pair().unwrap();
        let outbox = outbox(Sink::Pipe(sender), 64 << 20);
        outbox.put(line(b'a', 1 << 20), Freight::Message).unwrap();
        outbox.cut();
        outbox.flushed().await;
        assert_eq!(
            outbox.put(line(b'b', 1), Freight::Message),
            Err(PutError::Closed)
        );
        drop(receiver);
    }
}
