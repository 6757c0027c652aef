//! A scripted `claude` as a process, and everything a test wants to know of it afterwards.
//!
//! Owns the folder of one test: what the process read, how it was started. Every process of a test carries the name of
//! that folder in its environment, as whatever it starts does, so that "nothing is left running" can be looked up.

use std::future::{Future, IntoFuture};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use countersign_client::{Claude, Event, Events, Frame, Graces, Kind, Peer};
use countersign_rehearsal::cli::{Ended, PlayError, Scenario, play};
use countersign_testkit::demand;
use serde_json::Value;
use tempfile::TempDir;
use tokio::task::JoinHandle;

/// How long anything may take. Far more than it takes: machines that run tests are busy.
const DEADLINE: Duration = Duration::from_secs(30);

/// Waits for something that must happen.
pub(crate) async fn within<F: IntoFuture>(future: F) -> F::Output {
    match tokio::time::timeout(DEADLINE, future.into_future()).await {
        Ok(output) => output,
        Err(_) => panic!("it did not happen within {DEADLINE:?}"),
    }
}

/// Waits until something holds that nobody tells of.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < DEADLINE, "it never came to this: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Has a CLI end by itself when it is asked to, however slow the machine is. Whoever wants to see a later step does not.
pub(crate) fn unhurried(graces: &mut Graces) {
    graces.interrupt = DEADLINE;
    graces.close = DEADLINE;
    graces.background = DEADLINE;
}

/// One scripted CLI and the folder of its test.
pub(crate) struct Stage {
    folder: PathBuf,
    scenario: String,
    /// Removes the folder, unless that is somebody else's.
    owned: Option<TempDir>,
}

impl Stage {
    pub(crate) fn new(scenario: &str) -> Self {
        let owned = tempfile::tempdir().unwrap();
        let mut stage = Self::at(owned.path().to_owned(), scenario);
        stage.owned = Some(owned);
        stage
    }

    /// In a folder that is there.
    pub(crate) fn at(folder: PathBuf, scenario: &str) -> Self {
        // A mistake in the scenario shows here, with its line, and not as a CLI that does not come up.
        if let Err(error) = Scenario::parse(scenario, "scenario") {
            panic!("{error}");
        }
        Self {
            folder,
            scenario: scenario.to_owned(),
            owned: None,
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A client of this CLI, with nothing of the caller in its environment.
    pub(crate) fn claude(&self) -> Claude {
        // `sh` and `setsid` are looked for on PATH.
        let path = std::env::var_os("PATH").unwrap();
        self.claude_in_this_environment()
            .env_clear()
            .env("PATH", path)
    }

    /// The same, with what a child inherits.
    pub(crate) fn claude_in_this_environment(&self) -> Claude {
        Claude::new()
            .cli(demand::example("scripted_claude"))
            .cwd(self.folder())
            .env("COUNTERSIGN_SCENARIO_TEXT", &self.scenario)
            .env("COUNTERSIGN_SCENARIO_LOG", self.folder().join("log"))
            .env("COUNTERSIGN_SCENARIO_ARGV", self.folder().join("argv"))
    }

    /// What the CLI read from its stdin so far: whole lines.
    pub(crate) fn heard(&self) -> Vec<Value> {
        let log = std::fs::read_to_string(self.folder().join("log")).unwrap_or_default();
        let whole = log.rfind('\n').map_or("", |end| &log[..=end]);
        whole
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The bytes it read.
    pub(crate) fn heard_bytes(&self) -> Vec<u8> {
        std::fs::read(self.folder().join("log")).unwrap_or_default()
    }

    /// The answers it got to its own questions.
    pub(crate) fn answers(&self) -> Vec<Value> {
        let heard = self.heard().into_iter();
        heard
            .filter(|line| line["type"] == "control_response")
            .map(|line| line["response"].clone())
            .collect()
    }

    /// The control requests of one kind that it got.
    pub(crate) fn asked(&self, subtype: &str) -> Vec<Value> {
        let heard = self.heard().into_iter();
        heard
            .filter(|line| line["type"] == "control_request")
            .map(|line| line["request"].clone())
            .filter(|request| request["subtype"] == subtype)
            .collect()
    }

    /// How it was started: `argv`, `env`, `cwd`, `pid`.
    pub(crate) fn note(&self) -> Value {
        let note = std::fs::read(self.folder().join("argv")).unwrap();
        serde_json::from_slice(&note).unwrap()
    }

    pub(crate) fn argv(&self) -> Vec<String> {
        serde_json::from_value(self.note()["argv"].clone()).unwrap()
    }

    /// What still runs of it: the CLI and everything it started, by the folder in their environment.
    pub(crate) fn running(&self) -> Vec<u32> {
        let mark = self.folder().to_str().unwrap().as_bytes();
        let mine = std::process::id();
        let mut running = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok())
            else {
                continue;
            };
            let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            if pid != mine && memchr::memmem::find(&environ, mark).is_some() {
                running.push(pid);
            }
        }
        running
    }

    /// Waits until nothing of it runs, and its own process is reaped.
    pub(crate) async fn until_nothing_runs(&self) {
        until("nothing is left running", || self.running().is_empty()).await;
        if self.folder().join("argv").exists() {
            let pid = self.note()["pid"].as_u64().unwrap();
            until("the CLI is reaped", || !is_child(pid)).await;
        }
    }

    /// Nothing of it runs now, without waiting for it.
    pub(crate) fn assert_nothing_runs(&self) {
        assert_eq!(self.running(), [0; 0], "still running");
    }

    /// The process ids that children of the CLI wrote to files of this name in the folder.
    pub(crate) async fn pid_in(&self, file: &str) -> u64 {
        let path = self.folder().join(file);
        let read = || std::fs::read_to_string(&path).unwrap_or_default();
        until("the child has written its pid", || read().ends_with('\n')).await;
        read().trim().parse().unwrap()
    }
}

/// Whether this process has a child of this number, dead or alive.
fn is_child(pid: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    after_name.split(' ').nth(1) == Some(&std::process::id().to_string())
}

/// A scripted CLI inside the test, on the runtime's clock.
pub(crate) fn in_process(scenario: &str) -> (Peer, JoinHandle<Result<Ended, PlayError>>) {
    let scenario = Scenario::parse(scenario, "scenario").unwrap_or_else(|error| panic!("{error}"));
    let (peer, far) = Peer::pair();
    let (reader, writer) = tokio::io::split(far);
    (peer, tokio::spawn(play(scenario, reader, writer)))
}

/// The next line that fits; the events before it are passed over.
pub(crate) async fn next_frame(events: &mut Events, mut fits: impl FnMut(&Frame) -> bool) -> Frame {
    loop {
        match within(events.next()).await {
            Some(Event::Message(frame)) if fits(&frame) => return frame,
            Some(Event::Closed(closed)) => panic!("the end came first: {closed}"),
            Some(_) => {}
            None => panic!("the events ended"),
        }
    }
}

/// The next line of this kind.
pub(crate) async fn next_kind(events: &mut Events, kind: Kind) -> Frame {
    next_frame(events, |frame| frame.kind() == kind).await
}

/// All events that are there already.
pub(crate) fn there(events: &mut Events) -> Vec<Event> {
    std::iter::from_fn(|| events.try_next()).collect()
}

/// The lines among them, as JSON.
pub(crate) fn lines(events: &[Event]) -> Vec<Value> {
    let frames = events.iter().filter_map(Event::frame);
    frames
        .filter_map(|frame| serde_json::from_slice(frame.line()).ok())
        .collect()
}

/// A line as JSON.
pub(crate) fn value(frame: &Frame) -> Value {
    serde_json::from_slice(frame.line()).unwrap()
}

const ALONE: &str = "COUNTERSIGN_TEST_ALONE";

/// Runs a test in a process of its own, where nobody else opens files, starts threads or takes memory.
pub(crate) fn alone(name: &str, environment: &[(&str, &str)], body: impl Future<Output = ()>) {
    if std::env::var_os(ALONE).is_some() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        return runtime.block_on(body);
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(ALONE, "1")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A line of `/proc/self/status`, as a number: `Threads`, or `VmHWM` in KiB.
pub(crate) fn own_status(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
