//! What ends the daemon: Ctrl-C, a manager, a terminal that closes.
//!
//! Owns the three signals. The first one ends it in order; a second one at once, for whoever does not want to wait. One that
//! was ignored when the program was started (`nohup`) stays so.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens from its making on, so that no signal is missed while a host recovers.
#[derive(Debug)]
pub(super) struct Signals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    hangup: Option<Signal>,
}

impl Signals {
    pub(super) fn listen() -> io::Result<Self> {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let heard = |kind: SignalKind| match is_ignored(&status, kind.as_raw_value()) {
            true => Ok(None),
            false => signal(kind).map(Some),
        };
        Ok(Self {
            interrupt: heard(SignalKind::interrupt())?,
            terminate: heard(SignalKind::terminate())?,
            hangup: heard(SignalKind::hangup())?,
        })
    }

    /// From now on another one ends the process at once.
    pub(super) fn hurry(mut self) {
        tokio::spawn(async move {
            self.next().await;
            std::process::exit(130);
        });
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            () = came(&mut self.interrupt) => {}
            () = came(&mut self.terminate) => {}
            () = came(&mut self.hangup) => {}
        }
    }
}

async fn came(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether this process was started with the signal ignored. Where the system does not tell, it was not.
fn is_ignored(status: &str, number: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let bit = u32::try_from(number - 1)
        .ok()
        .and_then(|bit| 1_u64.checked_shl(bit));
    mask.zip(bit).is_some_and(|(mask, bit)| mask & bit != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nohup_ignores_stays_ignored() {
        let status = "Name:\tx\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000001\n";
        assert!(is_ignored(status, 1));
        assert!(!is_ignored(status, 2) && !is_ignored("", 1) && !is_ignored(status, 0));
    }
}
