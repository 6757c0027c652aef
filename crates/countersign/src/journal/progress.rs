//! A bar for what takes longer than a second; nothing where nobody watches.

use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::source::Source;

const WORTH_A_BAR: Duration = Duration::from_secs(1);

/// The clock is asked once in so many records.
const EVERY: u32 = 256;

#[derive(Debug)]
pub(crate) struct Progress {
    started: Instant,
    is_watched: bool,
    bar: Option<ProgressBar>,
    records: u32,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            is_watched: io::stderr().is_terminal(),
            bar: None,
            records: 0,
        }
    }

    /// One more record was read.
    pub(crate) fn step(&mut self, source: &Source) {
        self.records = self.records.wrapping_add(1);
        if !self.is_watched || !self.records.is_multiple_of(EVERY) {
            return;
        }
        if self.bar.is_none() && self.started.elapsed() < WORTH_A_BAR {
            return;
        }
        let (read, size) = source.progress();
        let bar = self.bar.get_or_insert_with(|| bar(size));
        // A compressed segment holds more than its size.
        if size > 0 && read > size {
            bar.set_length(read);
        }
        bar.set_position(read);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(size: u64) -> ProgressBar {
    let (length, template) = match size {
        0 => (None, "{bytes} read"),
        size => (Some(size), "{bytes} of {total_bytes} [{wide_bar}] {eta}"),
    };
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(template);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Something that moves while a work takes longer than a second that cannot say how far it is.
#[derive(Debug)]
pub(crate) struct Spinner {
    /// Dropped at the end, which the thread hears.
    end: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Spinner {
    pub(crate) fn new(words: &'static str) -> Self {
        if !io::stderr().is_terminal() {
            return Self {
                end: None,
                thread: None,
            };
        }
        let (end, ended) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let is_short = ended.recv_timeout(WORTH_A_BAR) != Err(RecvTimeoutError::Timeout);
            if is_short {
                return;
            }
            let bar = ProgressBar::new_spinner().with_message(words);
            bar.enable_steady_tick(Duration::from_millis(100));
            // Nothing is ever sent: this ends with the sender.
            let _ = ended.recv();
            bar.finish_and_clear();
        });
        Self {
            end: Some(end),
            thread: Some(thread),
        }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.end.take();
        if let Some(thread) = self.thread.take() {
            // It can only have failed to draw.
            let _ = thread.join();
        }
    }
}
