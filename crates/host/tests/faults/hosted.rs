//! A host as a process: its orders, what it tells, its end.
//!
//! Owns [`Hosted`]. It prints one JSON object a line; they are read as they come, so that a test can wait for one.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use serde_json::Value;

use crate::evidence;
use crate::orders::Orders;
use crate::procs;
use crate::wait;

/// A program that is built beside the tests.
pub(crate) fn program(name: &str) -> String {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    let program = profile.join("examples").join(name);
    assert!(
        program.exists(),
        "{} is missing; `cargo build -p countersign-host --examples` builds it",
        program.display()
    );
    program.to_str().unwrap().to_owned()
}

/// A host that runs, or ran. Killed when dropped; the agents live on.
pub(crate) struct Hosted {
    child: Child,
    told: Arc<Mutex<Vec<Value>>>,
    reading: JoinHandle<()>,
    log: PathBuf,
    session: PathBuf,
}

impl Hosted {
    /// Starts one with nothing of the caller in sight.
    pub(crate) fn start(root: &Path, orders: &Orders) -> Self {
        let file = root.join("orders.json");
        std::fs::write(&file, serde_json::to_vec(orders).unwrap()).unwrap();
        let log = root.join("host.log");
        let options = std::fs::File::options()
            .create(true)
            .append(true)
            .open(&log);
        let mut child = Command::new(program("hosted"))
            .arg(&file)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(options.unwrap())
            .spawn()
            .unwrap();
        let told = Arc::new(Mutex::new(Vec::new()));
        let (lines, into) = (child.stdout.take().unwrap(), Arc::clone(&told));
        let reading = std::thread::spawn(move || {
            for line in BufReader::new(lines).lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line).unwrap_or(Value::String(line));
                into.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(value);
            }
        });
        Self {
            child,
            told,
            reading,
            log,
            session: orders
                .data
                .join("sessions")
                .join(orders.session.to_string()),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it told so far.
    pub(crate) fn told(&self) -> Vec<Value> {
        self.told
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// What it told of this event.
    pub(crate) fn events(&self, name: &str) -> Vec<Value> {
        let told = self.told().into_iter();
        told.filter(|event| event["event"] == name).collect()
    }

    /// Waits for the first such event.
    pub(crate) fn until(&mut self, name: &str) -> Value {
        let found = wait::within(wait::DEADLINE, || {
            let has_ended = self.reading.is_finished();
            match self.events(name).into_iter().next() {
                Some(event) => Some(Some(event)),
                None => has_ended.then_some(None),
            }
        });
        found
            .flatten()
            .unwrap_or_else(|| panic!("the host never told of {name}\n{}", self.story()))
    }

    /// Whether it has ended.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Waits for its end, and until all it told is here.
    pub(crate) fn until_ended(&mut self) -> ExitStatus {
        let ended = || {
            let status = self.child.try_wait().unwrap();
            status.filter(|_| self.reading.is_finished())
        };
        match wait::within(wait::DEADLINE, ended) {
            Some(status) => status,
            None => panic!("the host did not end\n{}", self.story()),
        }
    }

    /// Waits until all has come to rest and it has left. Gives how everything stands.
    pub(crate) fn until_at_rest(&mut self) -> Value {
        let status = self.until_ended();
        assert!(status.success(), "{status}\n{}", self.story());
        self.until("rest")
    }

    /// The same, for one that has much to do.
    pub(crate) fn until_at_rest_within(&mut self, time: std::time::Duration) -> Value {
        if wait::within(time, || self.ended()).is_none() {
            panic!("it never came to rest\n{}", self.story());
        }
        self.until_at_rest()
    }

    /// `kill -9`, and its end.
    pub(crate) fn kill(&mut self) {
        procs::kill(self.pid());
        self.until_ended();
    }

    /// What it told, what went wrong in it, and what its session has on the disk.
    pub(crate) fn story(&self) -> String {
        let told = self.told();
        let told: Vec<String> = told.iter().map(|told| cut(&told.to_string())).collect();
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        format!(
            "told:\n{}\nstderr:\n{log}\n{}",
            told.join("\n"),
            evidence::story(&self.session)
        )
    }
}

fn cut(line: &str) -> String {
    line.chars().take(600).collect()
}

impl Drop for Hosted {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
