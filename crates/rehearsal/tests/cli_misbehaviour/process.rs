//! The scripted CLI as a process whose stdout is read with a deadline, byte for byte.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Everything that must come comes within this time.
const SOON: Duration = Duration::from_secs(20);
/// What does not come within this time is taken not to come.
const NEVER: Duration = Duration::from_millis(300);

pub(crate) struct Process {
    child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stderr: Option<ChildStderr>,
    chunks: Receiver<Vec<u8>>,
    /// What was read and not yet looked at.
    pub(crate) unread: Vec<u8>,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The example that `cargo test` builds next to the tests.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test.parent().and_then(|deps| deps.parent()).unwrap();
    let program = target.join("examples/play_scenario");
    assert!(
        program.exists(),
        "{} is missing; `cargo build -p countersign-rehearsal --examples` builds it",
        program.display()
    );
    program
}

/// How the scenario is started, with nothing of the caller in its environment.
pub(crate) fn command(text: &str) -> Command {
    let mut command = Command::new(program());
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("COUNTERSIGN_SCENARIO_TEXT", text);
    command
}

impl Process {
    pub(crate) fn start(text: &str) -> Self {
        Self::spawn(&mut command(text))
    }

    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let (sender, chunks) = mpsc::sync_channel(64);
        std::thread::spawn(move || {
            let mut block = vec![0; 64 * 1024];
            while let Ok(read @ 1..) = stdout.read(&mut block) {
                if sender.send(block[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            stdin: child.stdin.take(),
            stderr: child.stderr.take(),
            child,
            chunks,
            unread: Vec::new(),
        }
    }

    /// Started, and in its first turn.
    pub(crate) fn in_turn(text: &str) -> Self {
        let mut process = Self::start(text);
        process.user("hi");
        process
    }

    pub(crate) fn send(&mut self, line: &Value) {
        let line = format!("{line}\n");
        self.stdin
            .as_mut()
            .unwrap()
            .write_all(line.as_bytes())
            .unwrap();
    }

    pub(crate) fn user(&mut self, text: &str) {
        self.send(&json!({"type": "user", "message": {"role": "user", "content": text}}));
    }

    pub(crate) fn request(&mut self, id: &str, subtype: &str) {
        let body = json!({"subtype": subtype, "model": "opus", "mode": "plan"});
        self.send(&json!({"type": "control_request", "request_id": id, "request": body}));
    }

    pub(crate) fn allow(&mut self, request: &Value) {
        let response = json!({"behavior": "allow", "updatedInput": request["request"]["input"]});
        let response = json!({
            "subtype": "success", "request_id": request["request_id"], "response": response,
        });
        self.send(&json!({"type": "control_response", "response": response}));
    }

    /// Takes in what comes next. False at the end.
    fn read_more(&mut self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.chunks.recv_timeout(left) {
            Ok(chunk) => {
                self.unread.extend(chunk);
                true
            }
            Err(RecvTimeoutError::Disconnected) => false,
            Err(RecvTimeoutError::Timeout) => panic!(
                "nothing came any more after {:?}",
                String::from_utf8_lossy(&self.unread)
            ),
        }
    }

    /// The next line, without its newline; None at the end.
    pub(crate) fn line(&mut self) -> Option<Vec<u8>> {
        let deadline = Instant::now() + SOON;
        let mut looked = 0;
        loop {
            if let Some(at) = self.unread[looked..].iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.unread.drain(..=looked + at).collect();
                line.pop();
                return Some(line);
            }
            looked = self.unread.len();
            if !self.read_more(deadline) {
                return None;
            }
        }
    }

    /// The next line that is JSON and of this type.
    pub(crate) fn until(&mut self, kind: &str) -> Value {
        loop {
            let line = self
                .line()
                .unwrap_or_else(|| panic!("the end came before {kind}"));
            if let Ok(line) = serde_json::from_slice::<Value>(&line)
                && line["type"] == kind
            {
                return line;
            }
        }
    }

    /// Waits until these bytes have come, and takes all up to them.
    pub(crate) fn until_bytes(&mut self, wanted: &[u8]) {
        let deadline = Instant::now() + SOON;
        loop {
            let found = self
                .unread
                .windows(wanted.len())
                .position(|part| part == wanted);
            if let Some(at) = found {
                self.unread.drain(..at + wanted.len());
                return;
            }
            assert!(self.read_more(deadline), "the end came first");
        }
    }

    /// All that is left of stdout.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let deadline = Instant::now() + SOON;
        while self.read_more(deadline) {}
        std::mem::take(&mut self.unread)
    }

    /// Whether nothing comes for a while, and stdout stays open.
    pub(crate) fn is_silent(&mut self) -> bool {
        self.unread.is_empty()
            && matches!(
                self.chunks.recv_timeout(NEVER),
                Err(RecvTimeoutError::Timeout)
            )
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end, which must come.
    pub(crate) fn status(&mut self) -> ExitStatus {
        let deadline = Instant::now() + SOON;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        panic!("it did not end");
    }
}
