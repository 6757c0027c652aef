//! The shell itself: one process group for each command, its output in a file.
//!
//! Output goes to a file and not through a pipe, so the shell is waited for and not whoever it left behind with its
//! output open. Invariant: a command sees the environment it was given and nothing of ours.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use crate::cli::act::stop::{Stop, end_group};

/// What the CLI adds to the environment of commands.
const ADDED: [(&str, &str); 6] = [
    ("AI_AGENT", "claude-code_2-1-325_agent"),
    ("CLAUDECODE", "1"),
    ("CLAUDE_CODE_CHILD_SESSION", "1"),
    ("COREPACK_ENABLE_AUTO_PIN", "0"),
    ("GIT_EDITOR", "true"),
    ("NoDefaultCurrentDirectoryInExePath", "1"),
];

/// What a command is started with.
pub(super) struct Start<'a> {
    pub(super) command: &'a str,
    pub(super) cwd: &'a Path,
    pub(super) env: &'a [(OsString, OsString)],
    pub(super) output: &'a Path,
    /// Where the shell writes the folder it ended in.
    pub(super) ended_in: Option<&'a Path>,
}

/// A command that runs.
#[derive(Debug)]
pub(in crate::cli::act) struct Running {
    group: u32,
    ended: Receiver<i32>,
}

impl Running {
    pub(super) fn start(start: &Start<'_>, stop: &Stop) -> std::io::Result<Self> {
        let output = File::create(start.output)?;
        let shell = shell(start.env);
        let mut command = Command::new(&shell);
        command
            .arg("-c")
            .arg(script(start.command, start.ended_in))
            .current_dir(start.cwd)
            .env_clear()
            .envs(start.env.iter().map(|(key, value)| (key, value)))
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        for (key, value) in ADDED {
            if !start.env.iter().any(|(known, _)| known == key) {
                command.env(key, value);
            }
        }
        command.process_group(0);
        let child = command.spawn()?;
        let group = child.id();
        stop.add(group);
        let (tell, ended) = sync_channel(1);
        let stop = stop.clone();
        std::thread::spawn(move || {
            let exit = wait(child, || stop.remove(group));
            // Nobody may be waiting any more.
            let _ = tell.send(exit);
        });
        Ok(Self { group, ended })
    }

    /// Waits for the end, for so long at most.
    pub(super) fn wait_for(&self, time: Duration) -> Option<i32> {
        match self.ended.recv_timeout(time) {
            Ok(exit) => Some(exit),
            Err(RecvTimeoutError::Timeout) => None,
            // The thread that waits for the process is gone; there is nothing to wait for.
            Err(RecvTimeoutError::Disconnected) => Some(1),
        }
    }

    pub(super) fn wait(&self) -> i32 {
        self.ended.recv().unwrap_or(1)
    }

    pub(super) fn kill(&self) {
        end_group(self.group);
    }
}

/// Waits for the process. Its number is given up before it is reaped, so that it cannot be another's by then.
fn wait(mut child: Child, give_up_number: impl FnOnce()) -> i32 {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let number = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(number) = number {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(number), options) {}
    }
    give_up_number();
    exit(child.wait())
}

fn exit(status: std::io::Result<ExitStatus>) -> i32 {
    let Ok(status) = status else {
        return 1;
    };
    status.code().unwrap_or(1)
}

/// The shell of the environment, if it is one that the CLI takes; else one that is there.
fn shell(env: &[(OsString, OsString)]) -> PathBuf {
    let named = env
        .iter()
        .find(|(key, _)| key == "SHELL")
        .map(|(_, value)| PathBuf::from(value));
    let taken = |path: &PathBuf| {
        let name = path.file_name().unwrap_or(OsStr::new(""));
        (name == "bash" || name == "zsh") && path.is_file()
    };
    let usual = ["/bin/bash", "/usr/bin/bash", "/bin/zsh", "/bin/sh"].map(PathBuf::from);
    named
        .filter(taken)
        .or_else(|| usual.into_iter().find(|path| path.is_file()))
        .unwrap_or_else(|| "bash".into())
}

/// The command, and where it ended: only if it did not fail, as the CLI does it.
fn script(command: &str, ended_in: Option<&Path>) -> String {
    let command = quoted(command);
    match ended_in {
        Some(file) => format!(
            "eval {command} < /dev/null && pwd -P >| {}",
            quoted(&file.to_string_lossy())
        ),
        None => format!("eval {command} < /dev/null"),
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\"'\"'"))
}
