//! Signals that concern the terminal.
//!
//! Owns the thread that waits for them. A change of size, a wake-up and an interrupt become inputs. What ends us first
//! gives the terminal back, then leaves a little time to end in order, then ends us as the signal would have.

use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};
use signal_hook::iterator::{Handle, Signals};
use signal_hook::low_level::emulate_default_handler;
use tokio::sync::mpsc::Sender;

use super::tty;

/// How long we may take to end after we were told to.
/// Longer than it takes to end an agent that listens to nothing.
const GRACE: Duration = Duration::from_secs(15);

/// What a signal says to the one who reads keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// Draw anew: another size, or back from a stop.
    Draw,
    /// As if Ctrl-C had been typed.
    Interrupt,
    /// It is over.
    End,
}

/// Listens while it lives.
#[derive(Debug)]
pub(crate) struct Watch {
    handle: Handle,
    woken: Arc<Woken>,
}

/// Whether a stop was followed by a wake-up.
#[derive(Debug, Default)]
pub(crate) struct Woken {
    is_so: Mutex<bool>,
    changed: Condvar,
}

impl Watch {
    /// Starts listening.
    pub(crate) fn start(tell: Sender<Told>) -> io::Result<Self> {
        let mut signals = Signals::new([SIGWINCH, SIGCONT, SIGINT, SIGQUIT, SIGTERM, SIGHUP])?;
        let handle = signals.handle();
        let woken = Arc::new(Woken::default());
        let wake = Arc::clone(&woken);
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                let mut is_ending = false;
                for signal in signals.forever() {
                    hear(signal, &tell, &wake, &mut is_ending);
                }
            })?;
        Ok(Self { handle, woken })
    }

    /// Waits for wake-ups, apart from the rest.
    pub(crate) fn woken(&self) -> Arc<Woken> {
        Arc::clone(&self.woken)
    }
}

impl Woken {
    /// Runs `stop`, which stops this process, and comes back when it goes on: after a wake-up, or after `most` where
    /// nothing stopped it.
    pub(crate) fn after(&self, most: Duration, stop: impl FnOnce()) {
        let lock = || self.is_so.lock().unwrap_or_else(PoisonError::into_inner);
        *lock() = false;
        stop();
        drop(
            self.changed
                .wait_timeout_while(lock(), most, |is_so| !*is_so),
        );
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.handle.close();
    }
}

fn hear(signal: i32, tell: &Sender<Told>, woken: &Woken, is_ending: &mut bool) {
    // A queue that is full holds one that says the same: nobody has read for long.
    let tell = |told| {
        let _ = tell.try_send(told);
    };
    match signal {
        SIGWINCH => tell(Told::Draw),
        SIGCONT => {
            *woken.is_so.lock().unwrap_or_else(PoisonError::into_inner) = true;
            woken.changed.notify_all();
            // The shell had the terminal meanwhile, and left its own modes.
            if tty::is_seized() {
                tty::release();
                let _ = tty::seize();
                tell(Told::Draw);
            }
        }
        // While an editor has the terminal, its Ctrl-C and Ctrl-\ reach us as well.
        SIGINT | SIGQUIT if !tty::is_seized() => {}
        SIGINT => tell(Told::Interrupt),
        ending if *is_ending => end_as(ending),
        ending => {
            *is_ending = true;
            tty::release();
            tell(Told::End);
            thread::spawn(move || {
                thread::sleep(GRACE);
                end_as(ending);
            });
        }
    }
}

fn end_as(signal: i32) {
    tty::leave_live_area();
    // It does not come back where it works; where it fails, nothing else would work either.
    let _ = emulate_default_handler(signal);
}
