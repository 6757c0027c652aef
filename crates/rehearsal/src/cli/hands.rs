//! What acts on the world for the engine: tools in the working folder, files, settings.
//!
//! Blocking; what may take long runs on a thread of its own, so that the player is never held up. Invariant: a deed that
//! was stopped ends at once.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::act::{self, Job, Stop, Workbench};
use super::disk::{self, Places};
use super::engine::deed::{Done, Kind, Look, Printed};
use super::engine::{Deed, Launch, Outcome};
use super::processes::Processes;

/// The shell's hands; cheap to clone, one for each thread.
#[derive(Debug, Clone)]
pub(super) struct Hands {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    bench: Workbench,
    places: Option<Places>,
    cwd: PathBuf,
    env: Vec<(OsString, OsString)>,
    plan_file: Mutex<Option<PathBuf>>,
    processes: Processes,
    /// Deeds that are under way.
    running: Mutex<Vec<(u64, Stop)>>,
}

impl Hands {
    pub(super) fn new(launch: &Launch) -> Self {
        let mut env: Vec<(OsString, OsString)> = (launch.env.iter())
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        // The settings may name more, and win.
        let settings = launch
            .ground
            .as_ref()
            .map(|ground| ground.settings.effective());
        let named = settings
            .as_ref()
            .and_then(|settings| settings["env"].as_object());
        for (name, value) in named.into_iter().flatten() {
            env.retain(|(known, _)| *known != **name);
            env.push((name.into(), value.as_str().unwrap_or_default().into()));
        }
        let cwd = PathBuf::from(&launch.cwd);
        let mut bench = Workbench::new(cwd.clone(), PathBuf::from(&launch.home), env.clone());
        if launch
            .env
            .contains_key("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING")
        {
            bench = bench.with_checkpoints();
        }
        let places = launch.ground.as_ref().map(|ground| ground.places.clone());
        if let Some(places) = &places {
            let kept = places.config_dir.clone();
            bench = bench.with_scratch(kept.join("shell-output"));
        }
        Self {
            inner: Arc::new(Inner {
                bench,
                places,
                processes: Processes::new(cwd.clone(), env.clone()),
                cwd,
                env,
                plan_file: Mutex::default(),
                running: Mutex::default(),
            }),
        }
    }

    /// Whether the deed is over in no time and must keep its place in the order.
    pub(super) fn is_quick(deed: &Deed) -> bool {
        match &deed.0 {
            Kind::Tool { name, .. } => matches!(name.as_str(), "Write" | "Edit" | "Read"),
            Kind::Hook { .. } | Kind::Serve { .. } => false,
            _ => true,
        }
    }

    pub(super) fn stop(&self, serial: u64) {
        let running = lock(&self.inner.running);
        for (_, stop) in running.iter().filter(|(of, _)| *of == serial) {
            stop.raise();
        }
    }

    /// Ends every command that is under way.
    pub(super) fn stop_all(&self) {
        for (_, stop) in lock(&self.inner.running).iter() {
            stop.raise();
        }
    }

    /// A deed begins; it can be stopped from here on.
    pub(super) fn begin(&self, serial: u64) -> Stop {
        let stop = Stop::default();
        lock(&self.inner.running).push((serial, stop.clone()));
        stop
    }

    /// Does it; gives back the outcome that somebody waits for.
    pub(super) fn perform(&self, serial: u64, deed: &Deed, stop: &Stop) -> Option<Outcome> {
        let done = match &deed.0 {
            Kind::Tool { name, input, task } => {
                let job = Job {
                    tool: name.clone(),
                    input: input.clone(),
                    task: task.as_ref().map(PathBuf::from),
                };
                Some(Done::Ran(self.inner.bench.run(&job, stop)))
            }
            Kind::Check { name, input } => {
                Some(Done::Checked(self.inner.bench.check(name, input).err()))
            }
            Kind::Look(look) => Some(Done::Looked(self.look(look))),
            Kind::Hook {
                command,
                input,
                patience,
            } => Some(Done::Hooked(self.hook(command, input, *patience))),
            Kind::Serve {
                server,
                config,
                message,
            } => {
                let answer = self.inner.processes.send(server, config, message, stop);
                Some(Done::Served(answer))
            }
            other => {
                self.note(other);
                None
            }
        };
        lock(&self.inner.running).retain(|(of, _)| *of != serial);
        let plan = lock(&self.inner.plan_file).clone();
        let plan = plan.and_then(|path| std::fs::read_to_string(path).ok());
        done.map(|done| Outcome { done, plan })
    }

    /// What is only written down. A disk that is full shows in the files, not in the conversation.
    fn note(&self, kind: &Kind) {
        match kind {
            Kind::Written(written) => {
                let _ = written.carry_out();
            }
            Kind::Write { path, text } => {
                let _ = disk::replace(Path::new(path), text.as_bytes(), disk::Mode::Shared);
            }
            Kind::Edit(edit) => {
                if let Some(places) = &self.inner.places {
                    let _ = disk::carry_out(places, edit);
                }
            }
            Kind::Plan { path } => *lock(&self.inner.plan_file) = Some(PathBuf::from(path)),
            Kind::Checkpoint { message } => self.inner.bench.begin_checkpoint(message),
            Kind::AddFolder { path } => self.inner.bench.add_folder(PathBuf::from(path)),
            // All others have an outcome.
            _ => {}
        }
    }

    /// A command of the settings, with what it is told on stdin. One that takes too long is ended.
    fn hook(&self, command: &str, input: &str, patience: Duration) -> Printed {
        let started = Command::new("sh")
            .args(["-c", command])
            .current_dir(&self.inner.cwd)
            .env_clear()
            .envs(self.inner.env.iter().cloned())
            .env("CLAUDE_PROJECT_DIR", &self.inner.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = match started {
            Ok(child) => child,
            Err(error) => return Printed::failed(format!("cannot run the hook: {error}")),
        };
        if let Some(mut stdin) = child.stdin.take() {
            // A hook need not read what it is told.
            let _ = stdin.write_all(input.as_bytes());
        }
        let number = child.id();
        let (tell, ended) = std::sync::mpsc::sync_channel(1);
        std::thread::spawn(move || tell.send(child.wait_with_output()));
        match ended.recv_timeout(patience) {
            Ok(Ok(output)) => Printed {
                stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
                stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
                exit: output.status.code(),
            },
            Ok(Err(error)) => Printed::failed(format!("cannot read the hook: {error}")),
            Err(_) => {
                act::end_process(number);
                Printed::failed(String::new())
            }
        }
    }

    fn look(&self, look: &Look) -> Result<Value, String> {
        match look {
            Look::Rewind { message, dry_run } => self.inner.bench.rewind(message, *dry_run),
            Look::SeedRead { path, mtime } => {
                self.inner.bench.seed_read(path, *mtime);
                Ok(Value::Null)
            }
            Look::ReadFile { path } => self.read_file(path),
        }
    }

    fn read_file(&self, path: &str) -> Result<Value, String> {
        let full = self.inner.cwd.join(path);
        match std::fs::read(&full) {
            Ok(bytes) => Ok(json!({
                "contents": String::from_utf8_lossy(&bytes),
                "absPath": full.to_string_lossy(),
                "lossy": std::str::from_utf8(&bytes).is_err(),
                "requested_path": path,
            })),
            Err(error) => Err(format!("cannot read {path}: {error}")),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
