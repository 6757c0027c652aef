//! Hears the points that a host passes, and ends it at the one it was told.
//!
//! Owns [`Listener`], a subscriber of traces: points are counted, warnings go to stderr. Invariant: the process is killed
//! in the very call that passes the point, as `kill -9` would.

use std::fmt::{Debug, Write as _};
use std::io::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::orders::Death;

/// Where the host tells of its points.
const TARGET: &str = "countersign_host::point";

/// Follows one host.
#[derive(Debug)]
pub(crate) struct Listener {
    die: Option<Death>,
    passed: AtomicU32,
}

impl Listener {
    /// Hears everything from now on.
    pub(crate) fn listen(die: Option<Death>) {
        let listener = Self {
            die,
            passed: AtomicU32::new(0),
        };
        let _ = tracing::subscriber::set_global_default(listener);
    }

    fn pass(&self, point: &str) {
        let Some(death) = self.die.as_ref().filter(|death| death.point == point) else {
            return;
        };
        if self.passed.fetch_add(1, Ordering::SeqCst) + 1 == death.nth {
            end_by_force();
        }
    }
}

/// A point of the program around the host.
pub(crate) fn passed(point: &str) {
    tracing::trace!(target: "countersign_host::point", point);
}

fn end_by_force() -> ! {
    let me = rustix::process::getpid();
    let _ = rustix::process::kill_process(me, rustix::process::Signal::KILL);
    loop {
        std::thread::park();
    }
}

#[derive(Default)]
struct Words {
    point: String,
    all: String,
}

impl Visit for Words {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "point" {
            value.clone_into(&mut self.point);
        }
        let _ = write!(self.all, " {}={value}", field.name());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.all, " {}={value:?}", field.name());
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == TARGET || *metadata.level() <= Level::INFO
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut words = Words::default();
        event.record(&mut words);
        if event.metadata().target() == TARGET {
            return self.pass(&words.point);
        }
        let (level, target) = (event.metadata().level(), event.metadata().target());
        let _ = writeln!(std::io::stderr(), "{level} {target}{}", words.all);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
