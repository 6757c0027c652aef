//! `countersign run` in a real terminal: tmux, a CLI, a scripted model.
//!
//! Owns [`Stage`]: starts the pane, sends keys, waits for what is on the screen. Invariants: nothing of the caller is in
//! the pane's environment; every wait has a deadline and shows the screen when it fails; the tmux server is this test's
//! own and ends with it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use countersign_rehearsal::model::{Options, Script, Server, Vars};
use countersign_rehearsal::real::{Places, environment, scripted, search_path};
use countersign_testkit::demand;
use countersign_testkit::sandbox::{RunAs, Sandbox};
use regex::Regex;

/// For whatever must happen soon. Long, since a loaded machine is slow; no test waits for it to pass.
const PATIENCE: Duration = Duration::from_secs(40);

/// How often the screen is looked at.
const LOOK: Duration = Duration::from_millis(40);

/// Which CLI is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    /// Ours, with no model at all.
    Scripted,
    /// The real one of this version, on the scripted model.
    Real(&'static str),
}

/// Columns and rows.
pub(crate) type Size = (u16, u16);

pub(crate) const SMALL: Size = (80, 24);
pub(crate) const LARGE: Size = (200, 60);
pub(crate) const NARROW: Size = (40, 16);

/// How a stage is set.
#[derive(Debug, Clone)]
pub(crate) struct Set<'a> {
    pub(crate) which: Which,
    pub(crate) size: Size,
    /// What the model says. For the scripted CLI it may be a whole scenario, which begins with `turn`.
    pub(crate) model: &'a str,
    /// Arguments of `countersign run`.
    pub(crate) args: &'a [&'a str],
    /// Files of the project.
    pub(crate) files: &'a [(&'a str, &'a str)],
    /// Files of the home; `${home}` in them is its path.
    pub(crate) home: &'a [(&'a str, &'a str)],
    /// Variables beside the sandbox's own.
    pub(crate) env: &'a [(&'a str, &'a str)],
}

/// One pane.
pub(crate) struct Stage {
    sandbox: Sandbox,
    server: Option<Server>,
    runtime: tokio::runtime::Runtime,
    socket: String,
}

/// The command of a CLI, the model behind it, and what it is told by variables.
type Backstage = (Vec<OsString>, Option<Server>, Vec<(String, String)>);

impl Set<'_> {
    /// Starts the pane; `None` with a word on stderr where tmux or the CLI is not there.
    pub(crate) fn open(&self) -> Option<Stage> {
        if !has_tmux() {
            return None;
        }
        let sandbox = Sandbox::create(RunAs::Caller).unwrap();
        for (name, content) in self.files {
            sandbox.write(name, content).unwrap();
        }
        for (name, content) in self.home {
            let content = content.replace("${home}", &sandbox.home().to_string_lossy());
            std::fs::write(sandbox.home().join(name), content).unwrap();
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let mut vars = Vars::new();
        vars.insert(
            "cwd".to_owned(),
            sandbox.project().to_string_lossy().into_owned(),
        );
        vars.insert(
            "home".to_owned(),
            sandbox.home().to_string_lossy().into_owned(),
        );
        let (claude, server, mut more) = self.claude(&sandbox, &runtime, vars)?;
        more.extend(
            self.env
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        more.push(("TERM".to_owned(), "screen-256color".to_owned()));
        let base = server
            .as_ref()
            .map_or("http://127.0.0.1:9".to_owned(), Server::base_url);
        let path = search_path(&claude, &[]);
        let env = environment(&Places::below(sandbox.root()), path, &base, &more).unwrap();
        let stage = Stage {
            sandbox,
            server,
            runtime,
            socket: socket_name(),
        };
        stage.start(self, &claude, &env);
        Some(stage)
    }

    /// The command of the CLI, the model behind it, and what it is told by variables.
    fn claude(
        &self,
        sandbox: &Sandbox,
        runtime: &tokio::runtime::Runtime,
        vars: Vars,
    ) -> Option<Backstage> {
        match self.which {
            Which::Scripted if self.model.trim_start().starts_with("turn") => {
                let command = [env!("CARGO_BIN_EXE_countersign"), "rehearse", "cli"]
                    .map(OsString::from)
                    .into();
                let scenario = (
                    "COUNTERSIGN_SCENARIO_TEXT".to_owned(),
                    self.model.to_owned(),
                );
                Some((command, None, vec![scenario]))
            }
            Which::Scripted => {
                let script = sandbox.root().join("model.txt");
                std::fs::write(&script, self.model).unwrap();
                let command = [env!("CARGO_BIN_EXE_countersign"), "rehearse", "cli"]
                    .map(OsString::from)
                    .into();
                Some((command, None, scripted(&script, &vars).into()))
            }
            Which::Real(version) => {
                let installed = demand::cli(version)?;
                let script = Script::parse(self.model).unwrap_or_else(|error| panic!("{error}"));
                let options = Options {
                    vars,
                    ..Options::default()
                };
                let server = runtime.block_on(Server::start(script, options)).unwrap();
                Some((installed.command, Some(server), Vec::new()))
            }
        }
    }
}

impl Stage {
    fn start(&self, set: &Set<'_>, claude: &[OsString], env: &[(OsString, OsString)]) {
        let config = self.sandbox.root().join("tmux.conf");
        let text = "set -g status off\nset -g history-limit 5000\nset -s escape-time 0\n";
        std::fs::write(&config, text).unwrap();
        let words: Vec<String> = claude
            .iter()
            .map(|word| format!("'{}'", word.to_string_lossy()))
            .collect();
        let mut command = Command::new("tmux");
        command
            .env_clear()
            .env("LANG", "C.UTF-8")
            .env("PATH", "/usr/bin:/bin");
        command.args(["-u", "-L", &self.socket, "-f"]).arg(&config);
        command.args([
            "new-session",
            "-d",
            "-x",
            &set.size.0.to_string(),
            "-y",
            &set.size.1.to_string(),
        ]);
        command.arg("-c").arg(self.sandbox.project());
        // The shell waits for it: tmux itself does not always learn how what it started has ended.
        let shell = "\"$@\"; printf '\\n(exit %s)\\n' $?; exec tail -f /dev/null";
        command.args(["--", "/bin/sh", "-c", shell, "sh", "/usr/bin/env", "-i"]);
        for (name, value) in env {
            let mut pair = name.clone();
            pair.push("=");
            pair.push(value);
            command.arg(pair);
        }
        command
            .args([env!("CARGO_BIN_EXE_countersign"), "run", "--claude"])
            .arg(words.join(" "));
        command.args(set.args);
        let made = command.output().unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
    }

    fn tmux(&self, args: &[&str]) -> String {
        let out = Command::new("tmux")
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .args(["-u", "-L", &self.socket])
            .args(args)
            .output()
            .unwrap();
        String::from_utf8_lossy(&out.stdout).into_owned()
    }

    /// What is on the screen.
    pub(crate) fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// What was ever on the screen.
    pub(crate) fn scrollback(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-S", "-"])
    }

    /// The screen with its colours.
    pub(crate) fn coloured(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-e", "-S", "-"])
    }

    /// Waits until the screen is as wanted.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, wanted: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let screen = self.scrollback();
            if wanted(&screen) {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "waited for {what}, and there is:\n{screen}"
            );
            std::thread::sleep(LOOK);
        }
    }

    /// Waits for a text.
    #[track_caller]
    pub(crate) fn see(&self, text: &str) {
        self.until(&format!("{text:?}"), |screen| screen.contains(text));
    }

    /// Waits for a question that is ready for keys.
    #[track_caller]
    pub(crate) fn asked(&self, text: &str) {
        self.until(&format!("a question with {text:?}"), |screen| {
            let live = last_rows(screen, 14);
            screen.contains(text) && live.contains("Enter") && !live.contains("one moment")
        });
    }

    /// Waits until the turn is over and the prompt is there.
    #[track_caller]
    pub(crate) fn idle(&self) {
        self.until("the prompt", |screen| {
            let live = last_rows(screen, 4);
            live.lines().any(|line| line.trim_end() == "›") && !live.contains("Ctrl-C interrupts")
        });
    }

    /// Presses keys, by tmux's names for them.
    pub(crate) fn keys(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// Types a text as it is.
    pub(crate) fn write(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    pub(crate) fn resize(&self, size: Size) {
        self.tmux(&[
            "resize-window",
            "-x",
            &size.0.to_string(),
            "-y",
            &size.1.to_string(),
        ]);
    }

    /// Waits for the end and gives the exit code.
    #[track_caller]
    pub(crate) fn ended(&self) -> i32 {
        let code = |screen: &str| {
            let (_, rest) = screen.split_once("(exit ")?;
            rest.split_once(')')?.0.parse().ok()
        };
        self.until("the end", |screen| code(screen).is_some());
        code(&self.scrollback()).unwrap()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.sandbox.project().join(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.sandbox.home()
    }

    /// What stands in a file of the project.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    /// What a person sees, with what differs from run to run taken out.
    pub(crate) fn picture(&self) -> String {
        let project = self.sandbox.project().to_string_lossy().into_owned();
        let home = self.sandbox.home().to_string_lossy().into_owned();
        let screen = self
            .scrollback()
            .replace(&project, &stand_in("project", project.len()));
        let screen = screen.replace(&home, &stand_in("home", home.len()));
        let rows: Vec<String> = screen.lines().map(steady).collect();
        let text = rows.join("\n");
        // The names of plan files are made up, so the line may break anywhere.
        let plan =
            Regex::new(r"● (Write|Edit)\s+\S+/\.claude/plans/\S+\.md\s*\((\S+)\s+(lines?)\)")
                .unwrap();
        let session = Regex::new(r"session\s+[0-9a-f]{8}").unwrap();
        let text = plan.replace_all(&text, "● $1  (the plan file) ($2 $3)");
        session
            .replace_all(&text, "session (id)")
            .trim_end()
            .to_owned()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
        if let Some(server) = self.server.take() {
            self.runtime.block_on(server.shutdown());
        }
    }
}

/// A name of the same length, so that lines break where they did.
fn stand_in(name: &str, length: usize) -> String {
    format!("/{name:-<width$}", width = length.saturating_sub(1))
}

/// A row without figures: times, costs, tokens, ids, models.
fn steady(row: &str) -> String {
    let row = row.trim_end();
    if row.starts_with("· ") && row.contains(" context ") {
        return "· (time, cost, tokens, context)".to_owned();
    }
    if row.starts_with("· ") && row.contains("Claude Code") {
        return "· (model, mode, version, folder, session)".to_owned();
    }
    if row.contains("--resume ") {
        let (head, _) = row.split_once("--resume ").unwrap_or((row, ""));
        return format!("{head}--resume (session)");
    }
    row.to_owned()
}

fn last_rows(screen: &str, count: usize) -> String {
    let rows: Vec<&str> = screen.trim_end().lines().collect();
    rows[rows.len().saturating_sub(count)..].join("\n")
}

fn socket_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!(
        "countersign-{}-{}",
        std::process::id(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    )
}

fn has_tmux() -> bool {
    let is_there = Command::new("tmux")
        .arg("-V")
        .output()
        .is_ok_and(|out| out.status.success());
    if !is_there {
        assert!(
            !demand::is_required("tmux"),
            "tmux is required and not there: install the package tmux"
        );
        eprintln!("skipped: tmux is not there (install the package tmux)");
    }
    is_there
}
