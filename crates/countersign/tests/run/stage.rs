//! `countersign run` with pipes in place of a terminal: a CLI, a scripted model, a sandbox.
//!
//! Owns [`Stage`]: starts the program, waits for its end, hands out what it printed. Invariants: nothing of the caller is
//! in its environment; every wait has a deadline; whatever was started is gone with the stage.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use countersign_rehearsal::model::{Options, Script, Server, Vars};
use countersign_rehearsal::real::{Places, environment, scripted, search_path};
use countersign_testkit::demand;
use countersign_testkit::sandbox::{RunAs, Sandbox};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// For whatever must happen soon. Long, since a loaded machine is slow; no test waits for it to pass.
const PATIENCE: Duration = Duration::from_secs(40);

/// How often something is looked at that nobody tells of.
const LOOK: Duration = Duration::from_millis(10);

/// Which CLI is driven, and who thinks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// Ours, with the model's words.
    Scripted,
    /// Ours, with a scenario in place of a model: it may misbehave.
    Scenario,
    /// Ours, doing what plain words say.
    Plain,
    /// The real one of this version, with the model's words.
    Real(&'static str),
}

/// A place to run in.
pub(crate) struct Stage {
    sandbox: Sandbox,
    server: Option<Server>,
    runtime: tokio::runtime::Runtime,
    /// The words of `--claude`.
    claude: Option<String>,
    env: Vec<(OsString, OsString)>,
}

/// What a run printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit code; nothing where a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A run that goes on.
pub(crate) struct Going {
    child: Child,
    out: Option<JoinHandle<String>>,
    err: Option<JoinHandle<String>>,
}

impl Stage {
    /// Sets the stage; `None` with a word on stderr where the CLI is not there.
    pub(crate) fn new(which: Which, words: &str) -> Option<Self> {
        Self::with(which, words, &[])
    }

    /// The same with variables of its own.
    pub(crate) fn with(which: Which, words: &str, more: &[(&str, &str)]) -> Option<Self> {
        let sandbox = Sandbox::create(RunAs::Caller).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let folder = |path: PathBuf| path.to_string_lossy().into_owned();
        let mut vars = Vars::new();
        vars.insert("cwd".to_owned(), folder(sandbox.project()));
        vars.insert("home".to_owned(), folder(sandbox.home()));
        let ours = [env!("CARGO_BIN_EXE_countersign"), "rehearse", "cli"].map(OsString::from);
        let mut env: Vec<(String, String)> = more
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let (command, server) = match which {
            Which::Plain => (ours.to_vec(), None),
            Which::Scenario => {
                env.push(("COUNTERSIGN_SCENARIO_TEXT".to_owned(), words.to_owned()));
                (ours.to_vec(), None)
            }
            Which::Scripted => {
                let script = sandbox.root().join("model.txt");
                std::fs::write(&script, words).unwrap();
                env.extend(scripted(&script, &vars));
                let state = folder(sandbox.root().join("model-state"));
                env.push(("COUNTERSIGN_MODEL_STATE".to_owned(), state));
                (ours.to_vec(), None)
            }
            Which::Real(version) => {
                let installed = demand::cli(version)?;
                let script = Script::parse(words).unwrap_or_else(|error| panic!("{error}"));
                let options = Options {
                    vars,
                    ..Options::default()
                };
                let server = runtime.block_on(Server::start(script, options)).unwrap();
                (installed.command, Some(server))
            }
        };
        let base = server
            .as_ref()
            .map_or("http://127.0.0.1:9".to_owned(), Server::base_url);
        let places = Places::below(sandbox.root());
        let env = environment(&places, search_path(&command, &[]), &base, &env).unwrap();
        let words: Vec<String> = command
            .iter()
            .map(|word| format!("'{}'", word.to_string_lossy()))
            .collect();
        Some(Self {
            sandbox,
            server,
            runtime,
            claude: Some(words.join(" ")),
            env,
        })
    }

    /// Without `--claude`: it is searched for.
    pub(crate) fn without_cli(mut self) -> Self {
        self.claude = None;
        self
    }

    /// With this one as `--claude`.
    pub(crate) fn cli(mut self, line: &str) -> Self {
        self.claude = Some(line.to_owned());
        self
    }

    /// With a file in the project.
    pub(crate) fn file(self, name: &str, content: &str) -> Self {
        self.sandbox.write(name, content).unwrap();
        self
    }

    /// With a file in the home folder.
    pub(crate) fn home_file(self, name: &str, content: &str) -> Self {
        let path = self.sandbox.home().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.sandbox.project()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.sandbox.home()
    }

    /// A place beside project and home.
    pub(crate) fn aside(&self, name: &str) -> String {
        self.sandbox
            .root()
            .join(name)
            .to_string_lossy()
            .into_owned()
    }

    /// What stands in a file of the project.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.project().join(name)).ok()
    }

    /// A command of this program, in the project.
    fn countersign(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command.env_clear().envs(self.env.iter().cloned());
        command
            .current_dir(self.project())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn running(&self) -> Command {
        let mut command = self.countersign();
        command.arg("run");
        if let Some(words) = &self.claude {
            command.arg("--claude").arg(words);
        }
        command
    }

    /// Runs an agent to its end, with nothing on stdin.
    #[track_caller]
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let mut command = self.running();
        Going::of(command.args(args)).ended()
    }

    /// Runs an agent to its end, with this on stdin.
    #[track_caller]
    pub(crate) fn piped(&self, args: &[&str], stdin: &str) -> Ran {
        let mut command = self.running();
        let mut going = Going::of(command.args(args).stdin(Stdio::piped()));
        let mut pipe = going.child.stdin.take().unwrap();
        pipe.write_all(stdin.as_bytes()).unwrap();
        drop(pipe);
        going.ended()
    }

    /// Runs an agent to its end, with this file as stdin.
    #[track_caller]
    pub(crate) fn run_from(&self, args: &[&str], stdin: &Path) -> Ran {
        let mut command = self.running();
        let file = std::fs::File::open(stdin).unwrap();
        Going::of(command.args(args).stdin(file)).ended()
    }

    /// Starts an agent.
    pub(crate) fn start(&self, args: &[&str]) -> Going {
        let mut command = self.running();
        Going::of(command.args(args))
    }

    /// Starts an agent and reads one line of what it prints, then no more.
    pub(crate) fn start_and_look_once(&self, args: &[&str]) -> Going {
        let mut command = self.running();
        let mut child = command.args(args).spawn().unwrap();
        let mut line = String::new();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        reader.read_line(&mut line).unwrap();
        drop(reader);
        let err = child.stderr.take().map(read_all);
        Going {
            child,
            out: None,
            err,
        }
    }

    /// Another command of this program.
    #[track_caller]
    pub(crate) fn other(&self, args: &[&str]) -> Ran {
        Going::of(self.countersign().args(args)).ended()
    }

    /// A line as a person types it, in the project.
    #[track_caller]
    pub(crate) fn shell(&self, line: &str) -> Ran {
        let mut command = Command::new("/bin/sh");
        let folder = Path::new(env!("CARGO_BIN_EXE_countersign"))
            .parent()
            .unwrap();
        let path = format!("{}:/usr/bin:/bin", folder.display());
        command
            .env_clear()
            .envs(self.env.iter().cloned())
            .env("PATH", path);
        command
            .current_dir(self.project())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Going::of(command.args(["-c", line])).ended()
    }

    /// Waits until a file of the project has a line in it, and gives that.
    #[track_caller]
    pub(crate) fn line_in(&self, name: &str) -> String {
        let read = || self.read(name).unwrap_or_default();
        until(&format!("{name} is written"), || read().ends_with('\n'));
        read().trim().to_owned()
    }

    /// Waits until nothing runs that was started in here. The home folder in their environment tells.
    #[track_caller]
    pub(crate) fn until_nothing_runs(&self) {
        until("nothing is left running", || {
            processes_of(&self.home()).is_empty()
        });
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            self.runtime.block_on(server.shutdown());
        }
    }
}

impl Going {
    fn of(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let out = child.stdout.take().map(read_all);
        let err = child.stderr.take().map(read_all);
        Self { child, out, err }
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn ended(mut self) -> Ran {
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break Some(status);
            }
            if Instant::now() > deadline {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                break None;
            }
            std::thread::sleep(LOOK);
        };
        let read = |reader: Option<JoinHandle<String>>| {
            reader.map_or(String::new(), |reader| reader.join().unwrap())
        };
        let ran = Ran {
            code: status.and_then(|status| status.code()),
            out: read(self.out.take()),
            err: read(self.err.take()),
        };
        assert!(status.is_some(), "it does not end; it printed:\n{ran:?}");
        ran
    }
}

fn read_all(mut pipe: impl std::io::Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    })
}

impl Ran {
    /// It ended with this code.
    #[track_caller]
    pub(crate) fn is(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.out, self.err);
        self
    }

    /// It printed this.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(self.out.contains(text), "no {text:?} in:\n{}", self.out);
        self
    }

    /// It complained so.
    #[track_caller]
    pub(crate) fn warns(self, text: &str) -> Self {
        assert!(self.err.contains(text), "no {text:?} in:\n{}", self.err);
        self
    }

    /// What it printed, a value a line.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        let parsed = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line:?}"));
        self.out.lines().map(parsed).collect()
    }

    /// The lines of this type.
    #[track_caller]
    pub(crate) fn typed(&self, name: &str) -> Vec<Value> {
        let mut lines = self.lines();
        lines.retain(|line| line["type"] == name);
        lines
    }

    /// Tool, decision and who decided, in order.
    #[track_caller]
    pub(crate) fn decisions(&self) -> Vec<String> {
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        let decided = self.typed("countersign_decision");
        let shown = decided.iter().map(|line| {
            let [tool, decision, by] = ["tool", "decision", "by"].map(|name| word(&line[name]));
            format!("{tool} {decision} {by}")
        });
        shown.collect()
    }
}

/// Waits until something holds.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "it never came to this: {what}");
        std::thread::sleep(LOOK);
    }
}

fn processes_of(home: &Path) -> Vec<String> {
    let wanted = format!("HOME={}", home.display());
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_ours = |pid: &String| {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environ
            .split(|byte| *byte == 0)
            .any(|variable| variable == wanted.as_bytes())
    };
    names
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(is_ours)
        .collect()
}
