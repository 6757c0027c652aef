//! Where tools are run: the working folder, what was read and changed so far, and the environment of commands.
//!
//! Shared by the threads that run tools; every part of it that changes is behind a lock of its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::memory::Memory;
use super::ran::Ran;
use super::stop::Stop;
use super::undo::{self, Undo};
use super::{bash, edit, paths, read, web, write};
use crate::cli::paths::absolute;

/// A call that is to be run.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Job {
    pub(in crate::cli) tool: String,
    /// As [`accept`](super::accept) gave it.
    pub(in crate::cli) input: Value,
    /// The file that the output of a command in the background goes to.
    pub(in crate::cli) task: Option<PathBuf>,
}

/// The place where tools are run.
#[derive(Debug)]
pub(in crate::cli) struct Workbench {
    first_cwd: PathBuf,
    cwd: Mutex<PathBuf>,
    pub(super) home: PathBuf,
    pub(super) env: Vec<(OsString, OsString)>,
    /// Folders beside the working folder in which a shell may stay.
    folders: Mutex<Vec<PathBuf>>,
    /// Where the output of commands is caught.
    scratch: PathBuf,
    pub(super) memory: Memory,
    pub(super) undo: Undo,
    checkpoints: bool,
    marks: AtomicU64,
}

impl Workbench {
    /// A place with nothing read or changed yet. The environment is all that commands get, but for what the CLI adds.
    pub(in crate::cli) fn new(cwd: PathBuf, home: PathBuf, env: Vec<(OsString, OsString)>) -> Self {
        let cwd = std::fs::canonicalize(&cwd).unwrap_or(cwd);
        Self {
            scratch: home.join(".claude").join("shell-output"),
            first_cwd: cwd.clone(),
            cwd: Mutex::new(cwd),
            home,
            env,
            folders: Mutex::default(),
            memory: Memory::default(),
            undo: Undo::default(),
            checkpoints: false,
            marks: AtomicU64::new(0),
        }
    }

    /// Catches the output of commands in this folder, which is made when it is needed.
    pub(in crate::cli) fn with_scratch(mut self, scratch: PathBuf) -> Self {
        self.scratch = scratch;
        self
    }

    /// Remembers files before they are changed, so that they can be put back.
    pub(in crate::cli) fn with_checkpoints(mut self) -> Self {
        self.checkpoints = true;
        self
    }

    /// A shell may stay in this folder, too.
    pub(in crate::cli) fn add_folder(&self, folder: PathBuf) {
        lock(&self.folders).push(folder);
    }

    /// A message of the user came.
    pub(in crate::cli) fn begin_checkpoint(&self, message: &str) {
        if self.checkpoints {
            self.undo.begin(message);
        }
    }

    /// The reply to `rewind_files`, or its error.
    pub(in crate::cli) fn rewind(&self, message: &str, dry_run: bool) -> Result<Value, String> {
        match self.checkpoints {
            true => self.undo.rewind(message, dry_run),
            false => undo::refused("File rewinding is not enabled.", dry_run),
        }
    }

    /// The host says that the model knows this file as it was at that time, in milliseconds.
    pub(in crate::cli) fn seed_read(&self, path: &str, changed_at: u64) {
        let path = self.path(path);
        let as_it_is = paths::changed_at(&path).is_ok_and(|at| at <= u128::from(changed_at));
        if as_it_is && let Ok(text) = super::text::Text::read(&path) {
            self.memory.read(&path, Some(text.body));
        }
    }

    /// What speaks against a call before hooks and people are asked about it.
    pub(in crate::cli) fn check(&self, tool: &str, input: &Value) -> Result<(), Ran> {
        match tool {
            "Edit" => edit::check(self, input),
            "Write" => write::check(self, input),
            _ => Ok(()),
        }
    }

    /// Does it, and comes back when it is done, or as far as its report goes.
    pub(in crate::cli) fn run(&self, job: &Job, stop: &Stop) -> Ran {
        let Job { tool, input, .. } = job;
        if let Err(refused) = self.check(tool, input) {
            return refused;
        }
        match tool.as_str() {
            "Bash" => bash::run(self, job, stop),
            "Edit" => edit::run(self, input),
            "Read" => read::run(self, input),
            "WebFetch" | "WebSearch" => web::run(tool, input),
            "Write" => write::run(self, input),
            other => Ran::no_such_tool(other),
        }
    }

    /// The folder the shell is in.
    pub(in crate::cli) fn cwd(&self) -> PathBuf {
        lock(&self.cwd).clone()
    }

    /// The shell ended in that folder: it stays there, unless that is outside; then it is back where it began.
    pub(super) fn shell_ended_in(&self, folder: PathBuf) -> Moved {
        let inside = |allowed: &Path| folder.starts_with(allowed);
        let stays =
            inside(&self.first_cwd) || lock(&self.folders).iter().any(|known| inside(known));
        let mut cwd = lock(&self.cwd);
        *cwd = if stays {
            folder
        } else {
            self.first_cwd.clone()
        };
        if stays {
            Moved::Stays
        } else {
            Moved::Reset(self.first_cwd.clone())
        }
    }

    pub(super) fn path(&self, given: &str) -> PathBuf {
        absolute(given, &self.cwd(), &self.home)
    }

    /// A file of a command that no other command of this session has; its folder is made.
    pub(super) fn scratch_file(&self) -> std::io::Result<PathBuf> {
        std::fs::create_dir_all(&self.scratch)?;
        let mark = self.marks.fetch_add(1, Ordering::Relaxed);
        Ok(self.scratch.join(format!("b{}-{mark}", std::process::id())))
    }
}

/// Where a shell is after a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Moved {
    Stays,
    Reset(PathBuf),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
