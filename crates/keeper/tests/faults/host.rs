//! A test host as a process: its orders, what it tells, its end.
//!
//! Owns [`Host`]. A host prints one JSON object a line; they are read as they come, so that a test can wait for one. Where
//! one ends that should not have, the failure tells what its sessions have on the disk, too.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use serde_json::Value;

use crate::evidence;
use crate::orders::Orders;
use crate::procs;
use crate::stage::program;
use crate::wait;

/// A host that runs, or ran. Killed when dropped; the agents live on.
pub(crate) struct Host {
    child: Child,
    told: Arc<Mutex<Vec<Value>>>,
    reading: JoinHandle<()>,
    log: PathBuf,
    /// The folders of its sessions.
    sessions: Vec<PathBuf>,
}

impl Host {
    /// Starts that build of the host with nothing of the caller in sight.
    pub(crate) fn start(build: &str, root: &Path, orders: &Orders) -> Self {
        std::fs::create_dir_all(&orders.state).unwrap();
        let file = root.join("orders.json");
        std::fs::write(&file, serde_json::to_vec(orders).unwrap()).unwrap();
        let log = root.join("host.log");
        let stderr = std::fs::File::options()
            .create(true)
            .append(true)
            .open(&log)
            .unwrap();
        let mut child = Command::new(program(build))
            .arg(&file)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .unwrap();
        let told = Arc::new(Mutex::new(Vec::new()));
        let (lines, into) = (child.stdout.take().unwrap(), Arc::clone(&told));
        let reading = std::thread::spawn(move || {
            for line in BufReader::new(lines).lines().map_while(Result::ok) {
                let value = serde_json::from_str(&line).unwrap_or(Value::String(line));
                let mut told = into.lock().unwrap_or_else(PoisonError::into_inner);
                told.push(value);
            }
        });
        Self {
            child,
            told,
            reading,
            log,
            sessions: orders.sessions.iter().map(|one| one.dir.clone()).collect(),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it told so far.
    pub(crate) fn told(&self) -> Vec<Value> {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.clone()
    }

    /// What it told of this event.
    pub(crate) fn events(&self, name: &str) -> Vec<Value> {
        let told = self.told().into_iter();
        told.filter(|event| event["event"] == name).collect()
    }

    /// Waits for the first such event.
    pub(crate) fn until(&mut self, name: &str) -> Value {
        self.until_so_many(name, 1).remove(0)
    }

    /// Waits until there are so many.
    pub(crate) fn until_so_many(&mut self, name: &str, count: usize) -> Vec<Value> {
        let found = wait::within(wait::DEADLINE, || {
            let has_ended = self.reading.is_finished();
            let events = self.events(name);
            match events.len() >= count {
                true => Some(Some(events)),
                false => has_ended.then_some(None),
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

    /// Waits until it has done all it was told and left.
    pub(crate) fn until_left(&mut self) {
        let status = self.until_ended();
        assert!(status.success(), "{status}\n{}", self.story());
    }

    /// `kill -9`, and its end.
    pub(crate) fn kill(&mut self) {
        procs::kill(self.pid());
        self.until_ended();
    }

    /// What it told, what went wrong in it, and what its sessions have on the disk.
    pub(crate) fn story(&self) -> String {
        let told: Vec<String> = self.told().iter().map(Value::to_string).collect();
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let sessions: Vec<String> = self
            .sessions
            .iter()
            .map(|dir| evidence::story(dir))
            .collect();
        format!(
            "told:\n{}\nstderr:\n{log}\n{}",
            told.join("\n"),
            sessions.join("\n")
        )
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
