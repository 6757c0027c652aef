//! The modes of the terminal.
//!
//! Owns raw mode and what goes with it, and the way back, which must be open to everybody who may have to take it: the
//! keyboard that is dropped, a panic, a signal. So the modes to return to stand in one place for the whole process.
//! Invariant: [`release`] can be called at any time, any number of times.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::termios::{self, OptionalActions, OutputModes, Termios};

use super::screen::Size;

/// Bracketed paste on.
const ENTER: &[u8] = b"\x1b[?2004h";

/// Bracketed paste off, the end of an update that was cut off, lines wrapped, the cursor seen, plain text.
const LEAVE: &[u8] = b"\x1b[?2026l\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[0m";

/// To a fresh row below what is live, and nothing behind it.
const FRESH_ROW: &[u8] = b"\r\n\x1b[J";

/// What is to be restored.
struct Seized {
    input: OwnedFd,
    output: File,
    modes: Termios,
}

static SEIZED: Mutex<Option<Seized>> = Mutex::new(None);

fn seized() -> MutexGuard<'static, Option<Seized>> {
    SEIZED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes keys one by one from now on, without echo.
pub(crate) fn seize() -> io::Result<()> {
    let mut seized = seized();
    if seized.is_some() {
        return Ok(());
    }
    let (input, mut output) = (input()?, output()?);
    let modes = termios::tcgetattr(&input)?;
    let mut raw = modes.clone();
    raw.make_raw();
    // A line that somebody else prints still begins at the left.
    raw.output_modes |= modes.output_modes & (OutputModes::OPOST | OutputModes::ONLCR);
    termios::tcsetattr(&input, OptionalActions::Drain, &raw)?;
    let _ = output.write_all(ENTER);
    *seized = Some(Seized {
        input,
        output,
        modes,
    });
    Ok(())
}

/// Gives the terminal back as it was. Whether it worked is of no use to anybody: there is nothing left to try.
pub(crate) fn release() {
    if let Some(mut seized) = seized().take() {
        let _ = seized.output.write_all(LEAVE);
        let _ = termios::tcsetattr(&seized.input, OptionalActions::Drain, &seized.modes);
    }
}

/// Gives the terminal back in the middle of things: whoever writes next does not write into the live area.
pub(crate) fn abandon() {
    if is_seized() {
        release();
        leave_live_area();
    }
}

/// Goes below what is live. For the end of all, when nobody clears it any more.
pub(crate) fn leave_live_area() {
    if let Ok(mut output) = output() {
        let _ = output.write_all(FRESH_ROW);
    }
}

/// Whether the terminal is ours at this moment.
pub(crate) fn is_seized() -> bool {
    seized().is_some()
}

/// Where keys come from: stdin, or the terminal itself where stdin is something else.
pub(crate) fn input() -> io::Result<OwnedFd> {
    match io::stdin().is_terminal() {
        true => io::stdin().as_fd().try_clone_to_owned(),
        false => Ok(OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/tty")?
            .into()),
    }
}

/// A way to the terminal past the locks of stdout, which may be held by whoever just panicked.
fn output() -> io::Result<File> {
    let shown = [
        io::stdout().as_fd().try_clone_to_owned(),
        io::stderr().as_fd().try_clone_to_owned(),
    ];
    match shown.into_iter().flatten().find(|fd| fd.is_terminal()) {
        Some(fd) => Ok(fd.into()),
        None => OpenOptions::new().write(true).open("/dev/tty"),
    }
}

/// How large the terminal is, if there is one that says so.
pub(crate) fn size() -> Option<Size> {
    let asked = [
        termios::tcgetwinsize(io::stdout()),
        termios::tcgetwinsize(io::stderr()),
        termios::tcgetwinsize(io::stdin()),
    ];
    let size = asked
        .into_iter()
        .flatten()
        .find(|size| size.ws_col > 0 && size.ws_row > 0)?;
    Some(Size {
        columns: size.ws_col,
        rows: size.ws_row,
    })
}
