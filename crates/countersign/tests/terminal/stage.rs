//! A daemon in a home of its own, and commands that speak to it.
//!
//! Owns [`Stage`]. Invariants: nothing of the caller is in any environment; every wait has a deadline; when a stage is
//! dropped no process of it runs: neither daemon nor keeper nor agent.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// How long anything may take. Far more than it takes: machines that run tests are busy.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// A home, a project, a daemon.
pub(crate) struct Stage {
    root: TempDir,
    daemon: Option<Child>,
    /// What the daemon said of itself.
    pub(crate) said: Value,
}

/// What a command printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A command that goes on.
pub(crate) struct Going {
    child: Child,
    lines: Receiver<String>,
}

impl Stage {
    /// A home without a daemon.
    pub(crate) fn alone() -> Self {
        let root = tempfile::Builder::new()
            .prefix("cs-term-")
            .tempdir()
            .unwrap();
        for name in ["home", "project", "tmp"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        Self {
            root,
            daemon: None,
            said: Value::Null,
        }
    }

    /// A home with a daemon whose agents play this scenario.
    pub(crate) fn playing(scenario: &str) -> Self {
        let mut stage = Self::alone();
        let file = stage.root().join("scenario");
        std::fs::write(file, scenario).unwrap();
        stage.serve("127.0.0.1:0");
        stage
    }

    /// Where each agent notes its arguments, the last one last.
    fn note(&self) -> PathBuf {
        self.root().join("argv")
    }

    /// The arguments that the last agent was started with.
    pub(crate) fn flags(&self) -> Vec<String> {
        let note = std::fs::read_to_string(self.note()).unwrap();
        let note: Value = serde_json::from_str(&note).unwrap();
        serde_json::from_value(note["argv"].clone()).unwrap()
    }

    /// Starts the daemon.
    pub(crate) fn serve(&mut self, listen: &str) {
        let program = env!("CARGO_BIN_EXE_countersign");
        let scenario = self.root().join("scenario");
        let claude = format!(
            "/usr/bin/env 'COUNTERSIGN_SCENARIO_ARGV={}' '{program}' rehearse cli --scenario '{}'",
            self.note().display(),
            scenario.display()
        );
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.root().join("log"));
        let mut child = self
            .command(&[
                "serve",
                "--json",
                "--no-open",
                "--listen",
                listen,
                "--claude",
                &claude,
            ])
            .stderr(log.unwrap())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let said = serde_json::from_str(&line);
        self.daemon = Some(child);
        self.said = said.unwrap_or_else(|error| panic!("{error}: {line:?}\n{}", self.logged()));
    }

    /// The daemon is told to end, and does. Agents stay.
    pub(crate) fn end_daemon(&mut self) {
        let mut child = self.daemon.take().unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        until("the daemon ends", || {
            child.try_wait().unwrap().ok_or_else(String::new)
        });
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    pub(crate) fn url(&self) -> &str {
        self.said["url"].as_str().unwrap()
    }

    fn logged(&self) -> String {
        std::fs::read_to_string(self.root().join("log")).unwrap_or_default()
    }

    /// The program with nothing of the caller's environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.root().join("home"))
            .env("TMPDIR", self.root().join("tmp"))
            .env("PATH", "/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .current_dir(self.project())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// A command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        finish(self.command(arguments).spawn().unwrap())
    }

    /// A command to its end, with something on stdin.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        drop(stdin);
        finish(child)
    }

    /// What a command that must work prints.
    #[track_caller]
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(
            ran.code,
            Some(0),
            "{arguments:?}\n{ran:?}\n{}",
            self.logged()
        );
        ran.out
    }

    /// The JSON of a command that must work.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let out = self.ok(&[arguments, &["--json"]].concat());
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
    }

    /// A command that goes on.
    pub(crate) fn going(&self, arguments: &[&str]) -> Going {
        let mut child = self.command(arguments).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            let lines = out.lines().map_while(Result::ok);
            lines
                .take_while(|line| sender.send(line.clone()).is_ok())
                .count()
        });
        Going { child, lines }
    }

    /// Begins a session, and gives its whole id.
    #[track_caller]
    pub(crate) fn start(&self, prompt: &str) -> String {
        let receipt = self.json(&["start", prompt]);
        receipt["did"]["session"].as_str().unwrap().to_owned()
    }

    /// Waits until a session stands so.
    #[track_caller]
    pub(crate) fn until_state(&self, id: &str, state: &str) -> Value {
        until(state, || {
            let shown = self.json(&["show", id]);
            match shown["session"]["state"] == state {
                true => Ok(shown),
                false => Err(format!("{shown:#}\n{}", self.logged())),
            }
        })
    }

    /// Waits for the only open question, and gives it.
    #[track_caller]
    pub(crate) fn question(&self) -> Value {
        until("a question", || {
            let open = self.json(&["inbox"]);
            match open.as_array().unwrap().as_slice() {
                [one] => Ok(one.clone()),
                _ => Err(format!("{open:#}\n{}", self.logged())),
            }
        })
    }

    /// Waits until the transcript holds this.
    #[track_caller]
    pub(crate) fn until_said(&self, id: &str, words: &str) -> String {
        until(words, || {
            let text = self.ok(&["logs", id]);
            if text.contains(words) {
                Ok(text)
            } else {
                Err(text)
            }
        })
    }
}

/// The id of a question.
pub(crate) fn id(question: &Value) -> &str {
    question["id"].as_str().unwrap()
}

/// The end of an id, as it is shown.
pub(crate) fn end(id: &str) -> String {
    id[id.len() - 6..].to_lowercase()
}

fn finish(mut child: Child) -> Ran {
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let reading = std::thread::spawn(move || {
        let mut text = String::new();
        err.read_to_string(&mut text).unwrap();
        text
    });
    let mut text = String::new();
    out.read_to_string(&mut text).unwrap();
    Ran {
        code: child.wait().unwrap().code(),
        out: text,
        err: reading.join().unwrap(),
    }
}

impl Going {
    /// Reads lines until one holds this.
    #[track_caller]
    pub(crate) fn until(&mut self, words: &str) -> String {
        let begun = Instant::now();
        let mut all = String::new();
        loop {
            let left = DEADLINE.saturating_sub(begun.elapsed());
            let Ok(line) = self.lines.recv_timeout(left) else {
                let mut why = String::new();
                if let (Ok(Some(_)), Some(err)) = (self.child.try_wait(), &mut self.child.stderr) {
                    err.read_to_string(&mut why).unwrap();
                }
                panic!("it never said {words:?}\n{all}\n{why}");
            };
            if line.contains(words) {
                return line;
            }
            all.push_str(&line);
            all.push('\n');
        }
    }

    /// Ctrl-C; how it ended.
    pub(crate) fn interrupt(mut self) -> Option<i32> {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until what is looked at is so.
#[track_caller]
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Result<T, String>) -> T {
    let begun = Instant::now();
    loop {
        match look() {
            Ok(found) => return found,
            Err(seen) => assert!(
                begun.elapsed() < DEADLINE,
                "it never came to this: {what}\n{seen}"
            ),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        let begun = Instant::now();
        loop {
            let left = processes_in(self.root());
            if left.is_empty() || begun.elapsed() > DEADLINE {
                return;
            }
            for pid in left {
                // It may have ended meanwhile.
                let _ = kill_process(pid, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Processes that name this folder, or work in it. Nobody else knows its name. One that has ended and waits for its parent
/// has neither.
fn processes_in(root: &Path) -> Vec<Pid> {
    let name = root.to_str().unwrap().as_bytes();
    let own = std::process::id();
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let ours = pids.filter(|pid| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let folder = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        let names_it = words.windows(name.len()).any(|part| part == name);
        *pid != own && (names_it || folder.starts_with(root))
    });
    ours.filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?))
        .collect()
}
