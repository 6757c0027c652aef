//! Who looks on at a session of a host: answers as ordered, tells the suite, and ends the host at the ordered step.
//!
//! Owns the other side of the host's seam. What a session gave is written down as it comes, so that the suite can hold it
//! against the journal.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use countersign_client::Json;
use countersign_keeper::attach::PutOutcome;
use countersign_keeper::protocol::Standing;
use serde_json::json;
use tokio::sync::Notify;

use super::orders::{Decide, Orders, Step};
use super::{Build, tell};
use crate::host::seam::{At, Seam};

/// Looks on at one session.
pub(crate) struct Onlooker {
    pub(crate) build: Build,
    pub(crate) orders: Arc<Orders>,
    /// Which session.
    pub(crate) index: usize,
    /// How many questions are open in all sessions.
    pub(crate) open: Arc<Open>,
    /// Where what the session gives is written down.
    pub(crate) heard: Mutex<Option<File>>,
}

/// The questions that a host leaves open.
#[derive(Debug, Default)]
pub(crate) struct Open {
    count: AtomicUsize,
    grown: Notify,
}

impl Open {
    /// Waits until there are so many.
    pub(crate) async fn reach(&self, enough: usize) {
        while self.count.load(Ordering::SeqCst) < enough {
            self.grown.notified().await;
        }
    }

    fn one_more(&self) {
        self.count.fetch_add(1, Ordering::SeqCst);
        self.grown.notify_one();
    }
}

impl Seam for Onlooker {
    fn at(&self, point: At<'_>) {
        match point {
            At::HandedInAgain(n, outcome) => {
                tell("again", json!({"n": n, "how": format!("{outcome:?}")}));
            }
            At::Attached(standing, started) => {
                self.write_down_from(standing);
                self.tell_standing(standing, started);
            }
            At::Heard(line) => self.write_down(line),
            At::Asked(id) => {
                tell("question", json!({"session": self.index, "id": id}));
                self.reached(Step::Asked);
            }
            At::Held => self.open.one_more(),
            At::Decided(id) => {
                tell("decided", json!({"session": self.index, "id": id}));
                self.reached(Step::Decided);
            }
            At::Answered(id, outcome) => {
                let how = format!("{outcome:?}");
                tell("answered", json!({"id": id, "how": how}));
                if let PutOutcome::Written { .. } = outcome {
                    self.reached(Step::Written);
                }
            }
        }
    }

    fn decide(&self) -> Option<(bool, Json)> {
        let allows = match self.orders.decide {
            Decide::Allow => true,
            Decide::Deny => false,
            Decide::Hold => return None,
        };
        let mut note = json!({"by": "rule", "why": "the suite", "client": self.build.name});
        if self.build.notes_more {
            note["mood"] = json!({"of": "later builds"});
        }
        Some((allows, Json::of(&note).expect("a note")))
    }
}

impl Onlooker {
    fn tell_standing(&self, standing: &Standing, started: Option<&str>) {
        let open = standing.open.iter();
        let open: Vec<&str> = open.map(|open| open.request_id.as_str()).collect();
        let about = json!({
            "session": self.index, "generation": standing.generation, "build": standing.build,
            "epoch": standing.epoch, "open": open, "started": started,
        });
        tell("attached", about);
    }

    /// The name of the file says behind which record the session was come to.
    fn write_down_from(&self, standing: &Standing) {
        let (generation, seq) = (standing.generation, standing.tail.seq);
        let (id, by) = (&self.orders.sessions[self.index].id, std::process::id());
        let name = format!("{id}.{generation}.{seq}.{by}.heard");
        let path: PathBuf = self.orders.state.join(name);
        let file = File::options().create(true).append(true).open(path);
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        *heard = Some(file.expect("a file for what is heard"));
    }

    fn write_down(&self, line: &[u8]) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let heard = heard.as_mut().expect("nothing is heard before it is in");
        let written = heard.write_all(&[line, b"\n"].concat());
        written.expect("what is heard can be written down");
    }

    fn reached(&self, step: Step) {
        if self.orders.die == Some(step) {
            die();
        }
    }
}

/// Ends this process as `kill -9` would.
fn die() -> ! {
    let me = rustix::process::getpid();
    let _ = rustix::process::kill_process(me, rustix::process::Signal::KILL);
    loop {
        std::thread::park();
    }
}
