//! The keyboard.
//!
//! Owns the thread that reads the terminal and the life of raw mode. What bytes mean is the decoder's. The reader is our
//! own because it must stop at once when it is told to, and end when the terminal goes away. Invariant: while the
//! terminal is given away nothing of ours reads from it, and however we end it is left as it was found.

use std::collections::VecDeque;
use std::io::{self, PipeReader, PipeWriter, Write as _};
use std::os::fd::OwnedFd;
use std::panic;
use std::sync::Once;
use std::thread::{self, JoinHandle, ThreadId};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Signal, kill_current_process_group};
use tokio::sync::mpsc::{self, Receiver, Sender};

use super::decode::Decoder;
use super::screen::Size;
use super::signals::{Told, Watch};
use super::tty;

/// How long an escape byte waits for what it may begin.
const ESCAPE_PATIENCE: Duration = Duration::from_millis(50);

/// So many inputs wait to be read; what is typed beyond stays with the terminal.
const MOST_WAITING: usize = 256;

/// How long a stop may take to reach us.
const STOP_PATIENCE: Duration = Duration::from_millis(250);

/// Something the terminal says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    Key(Key),
    /// A text, with plain line ends.
    Paste(String),
    /// Another size, or the same one after something else wrote to the terminal. Draw anew.
    Resize(Size),
    /// There is no terminal any more, or we were told to end.
    Closed,
}

/// A key, or keys held together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    /// With a small letter.
    Ctrl(char),
    Alt(char),
    Enter,
    /// Alt or Shift with Enter, where the terminal can tell.
    AltEnter,
    Tab,
    /// Shift with Tab.
    BackTab,
    Backspace,
    Delete,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    Esc,
    WordLeft,
    WordRight,
    /// Alt or Ctrl with Backspace.
    DeleteWord,
    F(u8),
}

/// The keyboard, in raw mode while this lives.
#[derive(Debug)]
pub(crate) struct Keyboard {
    reader: Option<Reader>,
    told: Receiver<Told>,
    watch: Watch,
    /// What was typed before the terminal was given away.
    early: VecDeque<Input>,
}

impl Keyboard {
    /// Takes the terminal.
    pub(crate) fn open() -> io::Result<Self> {
        let (tell, told) = mpsc::channel(16);
        let watch = Watch::start(tell)?;
        restore_on_panic();
        tty::seize()?;
        let reader = tty::input()
            .and_then(Reader::start)
            .inspect_err(|_| tty::release())?;
        Ok(Self {
            reader: Some(reader),
            told,
            watch,
            early: VecDeque::new(),
        })
    }

    /// The next input. Nothing is lost where this is dropped before it is done.
    pub(crate) async fn next(&mut self) -> Input {
        if let Some(input) = self.early.pop_front() {
            return input;
        }
        let Some(reader) = &mut self.reader else {
            return Input::Closed;
        };
        tokio::select! {
            biased;
            told = self.told.recv() => match told {
                Some(Told::Draw) => Input::Resize(Size::of_terminal()),
                Some(Told::Interrupt) => Input::Key(Key::Ctrl('c')),
                Some(Told::End) | None => Input::Closed,
            },
            input = reader.inputs.recv() => input.unwrap_or(Input::Closed),
        }
    }

    /// Gives the terminal to `f`, an editor for instance, and takes it again afterwards. Clear the live area before.
    pub(crate) fn suspend<T>(&mut self, f: impl FnOnce() -> T) -> T {
        if let Some(reader) = self.reader.take() {
            self.early.extend(reader.stop());
        }
        tty::release();
        let value = f();
        // If it cannot be had again, the next input says that it is closed.
        self.reader = tty::seize()
            .and_then(|()| tty::input())
            .and_then(Reader::start)
            .ok();
        value
    }

    /// Stops this process and its group as Ctrl-Z does, until the shell continues it. Clear the live area before.
    pub(crate) fn stop(&mut self) {
        let woken = self.watch.woken();
        self.suspend(|| {
            woken.after(STOP_PATIENCE, || {
                // Where no shell could continue us, the system does not stop us either.
                let _ = kill_current_process_group(Signal::TSTP);
            });
        });
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.stop();
        }
        tty::release();
    }
}

/// A panic prints its message on a terminal that is in order.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    let owner: ThreadId = thread::current().id();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let was_seized = tty::is_seized();
            tty::abandon();
            before(info);
            // A task may fail and the rest go on.
            if was_seized && thread::current().id() != owner {
                let _ = tty::seize();
            }
        }));
    });
}

/// The thread that reads.
#[derive(Debug)]
struct Reader {
    /// Gives what it had read but nobody took.
    thread: JoinHandle<Vec<Input>>,
    wake: PipeWriter,
    inputs: Receiver<Input>,
}

impl Reader {
    fn start(tty: OwnedFd) -> io::Result<Self> {
        let (woken, wake) = io::pipe()?;
        let (tell, inputs) = mpsc::channel(MOST_WAITING);
        let thread = thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || {
                read(&tty, &woken, &tell).unwrap_or_else(|_| {
                    let _ = tell.blocking_send(Input::Closed);
                    Vec::new()
                })
            })?;
        Ok(Self {
            thread,
            wake,
            inputs,
        })
    }

    /// Ends the thread, and gives what it had read.
    fn stop(mut self) -> Vec<Input> {
        // It may wait for keys, or for room in the queue.
        let _ = self.wake.write_all(b".");
        self.inputs.close();
        let untold = self.thread.join().unwrap_or_default();
        let mut left = Vec::new();
        while let Ok(input) = self.inputs.try_recv() {
            left.push(input);
        }
        left.extend(untold);
        left
    }
}

/// Reads until it is woken, nobody listens or the terminal is gone, which is an error. Gives what nobody took.
fn read(tty: &OwnedFd, woken: &PipeReader, tell: &Sender<Input>) -> io::Result<Vec<Input>> {
    let mut decoder = Decoder::default();
    let mut bytes = [0; 4096];
    loop {
        let patience = decoder.is_waiting().then_some(ESCAPE_PATIENCE);
        let inputs = match wait(tty, woken, patience)? {
            Ready::Woken => return Ok(Vec::new()),
            Ready::Quiet => decoder.settle(),
            Ready::Bytes => match rustix::io::read(tty, &mut bytes) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => decoder.feed(&bytes[..count]),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
                Err(error) => return Err(error.into()),
            },
        };
        let mut inputs = inputs.into_iter();
        while let Some(input) = inputs.next() {
            if let Err(untold) = tell.blocking_send(input) {
                return Ok([untold.0].into_iter().chain(inputs).collect());
            }
        }
    }
}

enum Ready {
    Bytes,
    Woken,
    Quiet,
}

fn wait(tty: &OwnedFd, woken: &PipeReader, patience: Option<Duration>) -> io::Result<Ready> {
    let patience = patience.map(|patience| Timespec {
        tv_sec: 0,
        tv_nsec: patience.subsec_nanos().into(),
    });
    loop {
        let mut both = [
            PollFd::new(woken, PollFlags::IN),
            PollFd::new(tty, PollFlags::IN),
        ];
        match rustix::event::poll(&mut both, patience.as_ref()) {
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(0) => return Ok(Ready::Quiet),
            Ok(_) if !both[0].revents().is_empty() => return Ok(Ready::Woken),
            Ok(_) => return Ok(Ready::Bytes),
        }
    }
}

#[cfg(test)]
mod tests;
