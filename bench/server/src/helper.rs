//! A part of the measurement in a process of its own: a client of the server, or the other end of a floor.
//!
//! Owns its start, the word that it is ready, what it found, and its end. Invariant: none outlives what started it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, ensure};
use serde::Serialize;
use serde::de::DeserializeOwned;

const READY: &str = "ready";

/// A process with a role of this program.
#[derive(Debug)]
pub(crate) struct Helper {
    child: Child,
    stdin: Option<ChildStdin>,
    told: BufReader<ChildStdout>,
}

impl Helper {
    /// Starts it and waits until it is ready.
    pub(crate) fn start(role: &str, args: &[String]) -> anyhow::Result<Self> {
        let own = std::env::current_exe().context("where this program is")?;
        let mut child = Command::new(own)
            .arg(role)
            .args(args)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("no {role}"))?;
        let stdin = child.stdin.take();
        let told = BufReader::new(child.stdout.take().context("no pipe")?);
        let mut helper = Self { child, stdin, told };
        let line = helper.line()?;
        ensure!(line == READY, "the {role} is not ready: {line:?}");
        Ok(helper)
    }

    /// Tells it to begin, or to end.
    pub(crate) fn go(&mut self) -> anyhow::Result<()> {
        let stdin = self.stdin.as_mut().context("it was told to end")?;
        Ok(stdin.write_all(b"go\n")?)
    }

    /// What it found. Waits for it.
    pub(crate) fn found<T: DeserializeOwned>(&mut self) -> anyhow::Result<T> {
        let line = self.line()?;
        serde_json::from_str(&line).with_context(|| format!("nothing was found: {line:?}"))
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        self.told.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> anyhow::Result<()> {
        self.stdin.take();
        let status = self.child.wait()?;
        ensure!(status.success(), "it failed: see above");
        Ok(())
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // It has ended, unless something went wrong.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Says that this process is ready.
pub(crate) fn ready() -> anyhow::Result<()> {
    Ok(writeln!(std::io::stdout(), "{READY}")?)
}

/// Waits for the word to begin. False if there will be none.
pub(crate) fn may_begin() -> anyhow::Result<bool> {
    Ok(std::io::stdin().read_line(&mut String::new())? > 0)
}

/// Says what this process found.
pub(crate) fn tell(found: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string(found)?;
    Ok(writeln!(std::io::stdout(), "{text}")?)
}
