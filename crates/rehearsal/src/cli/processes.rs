//! MCP servers that are processes: started at their first message, spoken to in lines of JSON-RPC on their pipes.
//!
//! Owns the processes and nothing of what is said. Invariant: a message that gets no answer in time, or whose process ends,
//! is an error and holds nobody up; a server lives no longer than the CLI.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::act::Stop;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked whether nobody waits any more.
const LOOK: Duration = Duration::from_millis(50);

/// The servers of one CLI, by name.
#[derive(Debug)]
pub(super) struct Processes {
    cwd: PathBuf,
    env: Vec<(OsString, OsString)>,
    running: Mutex<BTreeMap<String, Arc<Mutex<Option<Process>>>>>,
}

/// One server.
#[derive(Debug)]
struct Process {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Processes {
    pub(super) fn new(cwd: PathBuf, env: Vec<(OsString, OsString)>) -> Self {
        Self {
            cwd,
            env,
            running: Mutex::default(),
        }
    }

    /// Sends a message to a server, which is started for its first one, and gives back the answer; null for a message
    /// that gets none.
    pub(super) fn send(
        &self,
        name: &str,
        config: &Value,
        message: &Value,
        stop: &Stop,
    ) -> Result<Value, String> {
        let place = {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(running.entry(name.to_owned()).or_default())
        };
        // Messages of one server wait for each other.
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        let process = match &mut *place {
            Some(process) => process,
            empty => empty.insert(self.start(config)?),
        };
        let answer = process.exchange(message, stop);
        if answer.is_err() {
            *place = None;
        }
        answer
    }

    fn start(&self, config: &Value) -> Result<Process, String> {
        let command = config["command"].as_str().unwrap_or_default();
        let arguments = config["args"].as_array().into_iter().flatten();
        let own = config["env"].as_object().into_iter().flatten();
        let mut child = Command::new(command)
            .args(arguments.filter_map(Value::as_str))
            .current_dir(&self.cwd)
            .env_clear()
            .envs(self.env.iter().cloned())
            .envs(own.filter_map(|(name, value)| Some((name, value.as_str()?))))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("cannot start {command}: {error}"))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(format!("{command} has no pipes"));
        };
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Process {
            child,
            stdin,
            lines,
        })
    }
}

impl Process {
    fn exchange(&mut self, message: &Value, stop: &Stop) -> Result<Value, String> {
        let closed = || "MCP error -32000: Connection closed".to_owned();
        writeln!(self.stdin, "{message}").map_err(|_| closed())?;
        let Some(id) = message.get("id") else {
            return Ok(Value::Null);
        };
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until && !stop.is_raised() {
            match self.lines.recv_timeout(LOOK) {
                Ok(line) => {
                    let answer: Value = serde_json::from_str(&line).unwrap_or_default();
                    // Notifications, requests of its own and late answers are passed over.
                    if answer.get("id") == Some(id) && answer.get("method").is_none() {
                        return Ok(answer);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(closed()),
            }
        }
        Err("MCP error -32001: Request timed out".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_that_ends_or_cannot_be_started_is_an_error() {
        let env = std::env::vars_os().filter(|(name, _)| name == "PATH");
        let processes = Processes::new(std::env::temp_dir(), env.collect());
        let message = json!({"id": 1, "method": "initialize"});
        for (command, part) in [
            ("true", "Connection closed"),
            ("/nowhere/server", "cannot start /nowhere/server"),
        ] {
            let config = json!({"command": command});
            let answer = processes.send(command, &config, &message, &Stop::default());
            let error = answer.unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
