//! A host in a folder of its own, with an agent that plays a scenario.
//!
//! Owns [`Stage`]. Invariants: agents see nothing of the caller; when a stage is dropped none of its processes runs.

use std::ffi::OsString;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use countersign_host::control::session::Setup;
use countersign_host::control::{
    ApprovalFilter, ApprovalView, Cmd, Command, Control, Decide, Message, NewSession, Receipt,
    SessionFilter, SessionId, SessionView,
};
use countersign_host::{Host, Settings};
use countersign_keeper::KeeperCommand;
use countersign_rehearsal::real::{Places, environment};
use rustix::process::{PidfdFlags, PidfdGetfdFlags};
use tempfile::TempDir;

/// How long anything may take. Far more than it takes: machines that run tests are busy.
pub(crate) const DEADLINE: Duration = Duration::from_secs(40);

/// A program that is built beside the tests.
pub(crate) fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    let program = profile.join("examples").join(name);
    assert!(
        program.exists(),
        "{} is missing; `cargo build -p countersign-host --examples` builds it",
        program.display()
    );
    program
}

/// What the hosts of tests have in common: agents see this environment and nothing else, and are ended soon.
pub(crate) fn usual(root: &Path, env: Vec<(OsString, OsString)>) -> Settings {
    let keeper = KeeperCommand {
        program: program("hosted_keeper"),
        args: vec!["keeper".into()],
        env: Vec::new(),
    };
    let mut settings = Settings::new(root.join("data"), keeper);
    settings.agents.inherits = false;
    settings.agents.env = env;
    settings.graces.interrupt_ms = 500;
    settings.graces.stdin_ms = 1_000;
    settings.graces.terminate_ms = 500;
    settings
}

/// A host and everything around it.
pub(crate) struct Stage {
    root: TempDir,
    host: Option<Host>,
    pub(crate) settings: Settings,
}

impl Stage {
    /// A host whose agents play this scenario.
    pub(crate) async fn new(scenario: &str) -> Self {
        Self::with(scenario, |_| {}).await
    }

    pub(crate) async fn with(scenario: &str, change: impl FnOnce(&mut Settings)) -> Self {
        if let Err(error) = countersign_rehearsal::cli::Scenario::parse(scenario, "scenario") {
            panic!("{error}");
        }
        let root = tempfile::Builder::new()
            .prefix("countersign-host-")
            .tempdir()
            .unwrap();
        let places = Places::below(root.path());
        let file = root.path().join("scenario");
        std::fs::write(&file, scenario).unwrap();
        std::fs::create_dir_all(root.path().join("project")).unwrap();
        std::fs::create_dir_all(root.path().join("home")).unwrap();
        let more = [(
            "COUNTERSIGN_SCENARIO".to_owned(),
            file.to_str().unwrap().to_owned(),
        )];
        let env = environment(&places, "/usr/bin:/bin".into(), "http://127.0.0.1:9", &more);
        let mut settings = usual(root.path(), env.unwrap());
        settings.agents.claude = vec![program("hosted_agent").to_str().unwrap().to_owned()];
        change(&mut settings);
        Self::at(root, settings).await
    }

    /// A host in this folder.
    pub(crate) async fn at(root: TempDir, settings: Settings) -> Self {
        let mut stage = Self {
            root,
            host: None,
            settings,
        };
        stage.open().await;
        stage
    }

    /// Starts a host.
    pub(crate) async fn open(&mut self) {
        let host = Host::open(self.settings.clone()).await;
        self.host = Some(host.unwrap_or_else(|error| panic!("{error}")));
    }

    /// The host ends, and another one begins; agents live on.
    pub(crate) async fn restart(&mut self) {
        self.close().await;
        self.open().await;
    }

    /// The host ends; agents live on.
    pub(crate) async fn close(&mut self) {
        let host = self.host.take().unwrap();
        host.close().await;
    }

    /// Starts a host, if the folder is free.
    pub(crate) async fn try_open(&mut self) -> Result<(), countersign_host::HostError> {
        self.host = Some(Host::open(self.settings.clone()).await?);
        Ok(())
    }

    /// The host goes without a word.
    pub(crate) fn drop_host(&mut self) {
        self.host = None;
    }

    pub(crate) fn host(&self) -> &Host {
        self.host.as_ref().unwrap()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// What tools left in the project.
    pub(crate) fn ran(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.project().join("ran.log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) async fn start(&self, prompt: &str) -> SessionId {
        self.start_with(prompt, Setup::default()).await
    }

    pub(crate) async fn start_with(&self, prompt: &str, setup: Setup) -> SessionId {
        let new = NewSession {
            id: SessionId::fresh(),
            prompt: Some(Message::text(prompt)),
            cwd: self.project(),
            setup,
            worktree: None,
        };
        let id = new.id;
        self.execute(Command::Start(Box::new(new))).await;
        id
    }

    /// A session in another folder.
    pub(crate) async fn start_in(&self, prompt: &str, cwd: PathBuf) -> SessionId {
        let new = NewSession {
            id: SessionId::fresh(),
            prompt: Some(Message::text(prompt)),
            cwd,
            setup: Setup::default(),
            worktree: None,
        };
        let id = new.id;
        self.execute(Command::Start(Box::new(new))).await;
        id
    }

    pub(crate) fn cmd() -> Cmd {
        Cmd::of("the suite", "test")
    }

    pub(crate) async fn execute(&self, command: Command) -> Receipt {
        let done = self.host().execute(Self::cmd(), command.clone()).await;
        done.unwrap_or_else(|error| panic!("{error}: {command:?}"))
    }

    pub(crate) async fn view(&self, id: SessionId) -> SessionView {
        self.host().session(id).await.unwrap()
    }

    /// Waits until the session stands so.
    pub(crate) async fn until(&self, id: SessionId, what: &str) -> SessionView {
        self.until_seen(id, what, |view| view.state.name() == what)
            .await
    }

    pub(crate) async fn until_seen(
        &self,
        id: SessionId,
        what: &str,
        holds: impl Fn(&SessionView) -> bool,
    ) -> SessionView {
        let start = Instant::now();
        loop {
            let view = self.view(id).await;
            if holds(&view) {
                return view;
            }
            if start.elapsed() >= DEADLINE {
                let all = self.all_stories().await;
                panic!("it never came to this: {what}\n{view:#?}\n{all}");
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits until the transcript says that these modes were entered, one after the other.
    pub(crate) async fn until_divided(&self, id: SessionId, modes: &[&str]) {
        let start = Instant::now();
        loop {
            let page = self.host().transcript(id, None, 500).await.unwrap();
            let entered = page.items.into_iter().filter_map(|entry| match entry.body {
                countersign_transcript::Body::Mode(mode) => Some(mode.to),
                _ => None,
            });
            let entered: Vec<String> = entered.collect();
            if entered == modes {
                return;
            }
            assert!(
                start.elapsed() < DEADLINE,
                "not {modes:?} but {entered:?}\n{}",
                self.story(id)
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until the agent has said this.
    pub(crate) async fn until_said(&self, id: SessionId, words: &str) {
        let start = Instant::now();
        loop {
            let page = self.host().transcript(id, None, 50).await.unwrap();
            let text = serde_json::to_string(&page.items).unwrap();
            if text.contains(words) {
                return;
            }
            assert!(
                start.elapsed() < DEADLINE,
                "it never said {words}\n{:#?}\n{}",
                self.view(id).await,
                self.story(id)
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// The open approvals of a session, once there are so many.
    pub(crate) async fn open_approvals(&self, id: SessionId, count: usize) -> Vec<ApprovalView> {
        let start = Instant::now();
        loop {
            let filter = ApprovalFilter {
                session: Some(id),
                life: Some("open".to_owned()),
                ..ApprovalFilter::default()
            };
            let page = self.host().approvals(filter).await.unwrap();
            if page.items.len() == count {
                return page.items;
            }
            if start.elapsed() >= DEADLINE {
                let all = self.all_stories().await;
                panic!("not {count} open: {:#?}\n{all}", page.items);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits until an approval is so far.
    pub(crate) async fn until_life(&self, one: &ApprovalView, life: &str) -> ApprovalView {
        let start = Instant::now();
        loop {
            let view = self.host().approval(one.id).await.unwrap();
            if view.life.name() == life {
                return view;
            }
            assert!(
                start.elapsed() < DEADLINE,
                "it is not {life}: {view:#?}\n{}",
                self.story(one.session)
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(crate) async fn decide(&self, one: &ApprovalView, decide: Decide) -> Receipt {
        self.execute(Command::Decide {
            approval: one.id,
            saw: one.digest.clone(),
            decide,
        })
        .await
    }

    /// The journal of a session, for a failure.
    /// Why one waits is often a matter of the others.
    async fn all_stories(&self) -> String {
        let page = self
            .host()
            .sessions(SessionFilter::default())
            .await
            .unwrap();
        let stories = page.items.into_iter().map(|view| {
            let story = self.story(view.id);
            format!("{view:#?}\n{story}\n")
        });
        stories.collect()
    }

    pub(crate) fn story(&self, id: SessionId) -> String {
        let dir = self
            .settings
            .agents
            .data
            .join("sessions")
            .join(id.to_string());
        let mut story = String::new();
        let mut files: Vec<_> = std::fs::read_dir(dir.join("journal"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        files.sort();
        for file in files {
            let text = std::fs::read(&file).unwrap_or_default();
            for line in String::from_utf8_lossy(&text).lines() {
                story.extend(line.chars().take(300));
                story.push('\n');
            }
        }
        let log = std::fs::read_to_string(dir.join("keeper.log")).unwrap_or_default();
        format!("journal:\n{story}\nkeeper.log:\n{log}")
    }

    /// The connections to keepers break; keepers and agents live. Gives how many there were.
    pub(crate) fn break_connections(&self) -> usize {
        let own = rustix::process::getpid();
        let own = rustix::process::pidfd_open(own, PidfdFlags::empty()).unwrap();
        let names = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        let numbers = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut broken = 0;
        for number in numbers.collect::<Vec<i32>>() {
            let flags = PidfdGetfdFlags::empty();
            let Ok(same) = rustix::process::pidfd_getfd(&own, number, flags) else {
                continue;
            };
            let stream = UnixStream::from(same);
            let is_ours = stream.peer_addr().is_ok_and(|peer| {
                peer.as_pathname()
                    .is_some_and(|path| path.starts_with(self.root()))
            });
            if is_ours && stream.shutdown(Shutdown::Both).is_ok() {
                broken += 1;
            }
        }
        broken
    }

    /// Everything of this stage that runs.
    pub(crate) fn processes(&self) -> Vec<i32> {
        let own = self.root.path().to_str().unwrap().as_bytes().to_vec();
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry
                .file_name()
                .to_str()
                .and_then(|it| it.parse::<i32>().ok())
            else {
                continue;
            };
            let has = |name: &str| {
                let text = std::fs::read(entry.path().join(name)).unwrap_or_default();
                memchr::memmem::find(&text, &own).is_some()
            };
            if pid != std::process::id() as i32 && (has("cmdline") || has("environ")) {
                found.push(pid);
            }
        }
        found
    }
}

impl Stage {
    /// Kills everything of this stage that runs, as a loss of power would.
    pub(crate) fn kill_all(&self) {
        for pid in self.processes() {
            if let Some(pid) = rustix::process::Pid::from_raw(pid) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.host.take();
        self.kill_all();
    }
}
