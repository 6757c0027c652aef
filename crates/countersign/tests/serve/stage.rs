//! The program in a home of its own.
//!
//! Owns [`Stage`] and [`Daemon`]. Invariants: nothing of the caller is in its environment; every wait has a deadline; when a
//! stage is dropped no process of it runs: neither daemon nor keeper nor agent.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::http::{Answer, Browser};

/// How long anything may take. Far more than it takes: machines that run tests are busy.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

/// A home, a project, and what runs in them.
pub(crate) struct Stage {
    root: TempDir,
}

/// A daemon that was started.
pub(crate) struct Daemon {
    child: Child,
    out: BufReader<ChildStdout>,
    /// What it said of itself.
    pub(crate) said: Value,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let root = tempfile::Builder::new()
            .prefix("cs-serve-")
            .tempdir()
            .unwrap();
        for name in ["home", "project", "tmp"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        Self { root }
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    /// The data folder of this home.
    pub(crate) fn data(&self) -> PathBuf {
        self.root().join("home/.local/share/countersign")
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
            // The plain page, also where the other one was built before.
            .env("COUNTERSIGN_UI", self.root().join("no-page"))
            .current_dir(self.project())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// A daemon on any free port, once it has said where it is.
    #[track_caller]
    pub(crate) fn serve(&self, arguments: &[&str]) -> Daemon {
        self.serve_with(arguments, |_| {})
    }

    #[track_caller]
    pub(crate) fn serve_with(
        &self,
        arguments: &[&str],
        change: impl FnOnce(&mut Command),
    ) -> Daemon {
        let any = ["--listen", "127.0.0.1:0"];
        let any = if arguments.contains(&"--listen") {
            &any[..0]
        } else {
            &any[..]
        };
        let mut command = self.command(&[&["serve", "--json"], any, arguments].concat());
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.log())
            .unwrap();
        command.stderr(log);
        change(&mut command);
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let said = serde_json::from_str(&line);
        let said = said.unwrap_or_else(|error| panic!("{error}: {line:?}\n{}", self.logged()));
        Daemon { child, out, said }
    }

    fn log(&self) -> PathBuf {
        self.root().join("log")
    }

    /// What daemons wrote to stderr.
    pub(crate) fn logged(&self) -> String {
        std::fs::read_to_string(self.log()).unwrap_or_default()
    }

    /// A scenario that agents play, as `--claude` takes it.
    pub(crate) fn playing(&self, scenario: &str) -> String {
        let file = self.root().join("scenario");
        std::fs::write(&file, scenario).unwrap();
        let program = env!("CARGO_BIN_EXE_countersign");
        format!("'{program}' rehearse cli --scenario '{}'", file.display())
    }
}

impl Daemon {
    pub(crate) fn link(&self) -> &str {
        self.said["link"].as_str().unwrap()
    }

    pub(crate) fn address(&self) -> &str {
        self.said["url"]
            .as_str()
            .unwrap()
            .strip_prefix("http://")
            .unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Somebody who is not signed in.
    pub(crate) fn stranger(&self) -> Browser {
        Browser::new(self.address())
    }

    /// Somebody who has used the link.
    #[track_caller]
    pub(crate) fn signed_in(&self) -> Browser {
        let mut browser = self.stranger();
        let answer = browser.sign_in(self.link());
        assert_eq!(answer.status, 303, "{answer:?}");
        browser
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Waits for its end; what it printed last.
    #[track_caller]
    pub(crate) fn ended(mut self) -> (ExitStatus, String) {
        let begun = Instant::now();
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None => assert!(begun.elapsed() < DEADLINE, "it does not end"),
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        (status, rest)
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

/// Waits until a page holds this.
#[track_caller]
pub(crate) fn until_shown(browser: &Browser, path: &str, words: &str) -> Answer {
    until(words, || {
        let page = browser.get(path);
        match page.status == 200 && page.body.contains(words) {
            true => Ok(page),
            false => Err(format!("{page:?}")),
        }
    })
}

impl Drop for Stage {
    fn drop(&mut self) {
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

/// Processes that name this folder, or work in it. Nobody else knows its name.
fn processes_in(root: &Path) -> Vec<Pid> {
    let name = root.to_str().unwrap().as_bytes();
    let own = std::process::id();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
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
