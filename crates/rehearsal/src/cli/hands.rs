//! What acts on the world for the engine: tools in the working folder, files, settings.
//!
//! Blocking; what may take long runs on a thread of its own, so that the player is never held up. Invariant: a deed that
//! was stopped ends at once.

use std::ffi::OsString;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::act::{self, Job, Stop, Task, Workbench};
use super::disk::{self, Places};
use super::engine::deed::{Done, Kind, Look, Printed, Ran};
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
            bench = bench.keeping(kept.join("tool-results"), kept.join("shell-output"));
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

    /// Does it, and tells every outcome that somebody waits for: none, one, or a second one for a command that goes on
    /// in the background.
    pub(super) fn perform(
        &self,
        serial: u64,
        deed: &Deed,
        stop: &Stop,
        tell: &mut dyn FnMut(Outcome),
    ) {
        let done = match &deed.0 {
            Kind::Tool { name, input, task } => {
                self.tool(name, input, task.as_ref(), stop, tell);
                None
            }
            Kind::Check { name, input } => {
                let problem = self.inner.bench.check(name, input).err();
                Some(Done::Checked(problem.map(ran)))
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
        if let Some(done) = done {
            tell(self.outcome(done));
        }
        lock(&self.inner.running).retain(|(of, _)| *of != serial);
    }

    fn tool(
        &self,
        name: &str,
        input: &Value,
        task: Option<&(String, String)>,
        stop: &Stop,
        tell: &mut dyn FnMut(Outcome),
    ) {
        let job = Job {
            tool: name.to_owned(),
            input: input.clone(),
            task: task.map(|(id, output)| Task {
                id: id.clone(),
                output: PathBuf::from(output),
            }),
        };
        let mut reported = self.inner.bench.run(&job, stop);
        let rest = reported.rest.take();
        let mut told = ran(reported);
        told.goes_on = rest.is_some();
        tell(self.outcome(Done::Ran(told)));
        if let Some(rest) = rest {
            let ended = Ran {
                content: Value::Null,
                structured: Value::Null,
                is_error: None,
                exit: Some(rest.wait()),
                goes_on: false,
            };
            tell(self.outcome(Done::RanOn(ended)));
        }
    }

    fn outcome(&self, done: Done) -> Outcome {
        let plan = lock(&self.inner.plan_file).clone();
        Outcome {
            done,
            plan: plan.and_then(|path| std::fs::read_to_string(path).ok()),
        }
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
            Kind::Tool { .. }
            | Kind::Check { .. }
            | Kind::Look(_)
            | Kind::Hook { .. }
            | Kind::Serve { .. } => {}
        }
    }

    /// A command of the settings, with what it is told on stdin. One that takes too long is ended.
    fn hook(&self, command: &str, input: &str, patience: Duration) -> Printed {
        let failed = |error: std::io::Error| Printed {
            stdout: String::new(),
            stderr: format!("cannot run the hook: {error}"),
            exit: None,
        };
        let shell = if cfg!(windows) {
            ["cmd", "/C"]
        } else {
            ["sh", "-c"]
        };
        let mut child = match Command::new(shell[0])
            .args([shell[1], command])
            .current_dir(&self.inner.cwd)
            .env_clear()
            .envs(self.inner.env.iter().cloned())
            .env("CLAUDE_PROJECT_DIR", &self.inner.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
        {
            Ok(child) => child,
            Err(error) => return failed(error),
        };
        if let Some(mut stdin) = child.stdin.take() {
            // A hook need not read what it is told.
            let _ = stdin.write_all(input.as_bytes());
        }
        let read = |pipe: Option<Box<dyn Read + Send>>| {
            std::thread::spawn(move || {
                let mut text = Vec::new();
                if let Some(mut pipe) = pipe {
                    let _ = pipe.read_to_end(&mut text);
                }
                String::from_utf8_lossy(&text).into_owned()
            })
        };
        let stdout = read(
            child
                .stdout
                .take()
                .map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
        );
        let stderr = read(
            child
                .stderr
                .take()
                .map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
        );
        let exit = wait_for(&mut child, patience);
        Printed {
            stdout: stdout.join().unwrap_or_default(),
            stderr: stderr.join().unwrap_or_default(),
            exit,
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

/// The exit code; None for one that took too long and was ended.
fn wait_for(child: &mut Child, patience: Duration) -> Option<i32> {
    const LOOK: Duration = Duration::from_millis(5);
    let until = Instant::now() + patience;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.code(),
            Ok(None) if Instant::now() < until => std::thread::sleep(LOOK),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

fn ran(reported: act::Ran) -> Ran {
    Ran {
        content: reported.content,
        structured: reported.structured,
        is_error: reported.is_error,
        exit: reported.exit,
        goes_on: false,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
