//! One kept agent and the folder of its test.
//!
//! Owns the folders, the numbers of the hosts that come, and what can be looked up afterwards: the journal, and what the
//! agent itself says it has read. When a test is over, its agent is ended by its keeper.

use std::future::IntoFuture;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use countersign_client::Claude;
use countersign_journal::{Kind, Reader, Step};
use countersign_keeper::attach::{
    AttachError, Attachment, Counting, Credentials, Kept, Launch, Outbox, attach, connect, launch,
};
use countersign_keeper::protocol::{Role, Standing};
use countersign_keeper::{Graces, KeeperCommand};
use tempfile::TempDir;

/// How long anything may take. Far more than it takes: machines that run tests are busy.
const DEADLINE: Duration = Duration::from_secs(30);

/// Waits for something that must happen.
pub(crate) async fn within<F: IntoFuture>(future: F) -> F::Output {
    match tokio::time::timeout(DEADLINE, future.into_future()).await {
        Ok(output) => output,
        Err(_) => panic!("it did not happen within {DEADLINE:?}"),
    }
}

/// Waits until something holds that nobody tells of.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < DEADLINE, "it never came to this: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) fn contains(line: &[u8], word: &str) -> bool {
    memchr::memmem::find(line, word.as_bytes()).is_some()
}

/// A program that `cargo test` builds beside the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    let program = profile.join("examples").join(name);
    assert!(
        program.exists(),
        "{} is missing; `cargo build -p countersign-keeper --examples` builds it",
        program.display()
    );
    program
}

pub(crate) struct Stage {
    folder: TempDir,
    scenario: String,
    epoch: AtomicU64,
}

impl Stage {
    pub(crate) fn new(scenario: &str) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            scenario: scenario.to_owned(),
            epoch: AtomicU64::new(0),
        }
    }

    fn dir(&self) -> PathBuf {
        self.folder.path().join("session")
    }

    fn token() -> String {
        "a secret of this test".to_owned()
    }

    fn next_epoch(&self) -> u64 {
        self.epoch.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Starts the agent.
    pub(crate) async fn launch(&self, claude: Claude) -> Kept {
        self.launch_with(claude, Graces::default()).await
    }

    /// Launches an agent whose keeper gives it this much time to end. What its host would give it does not count there.
    pub(crate) async fn launch_with(&self, claude: Claude, graces: Graces) -> Kept {
        let launched = self.try_launch_with(claude, graces).await;
        launched.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The files that were written for the agent.
    pub(crate) fn files(&self) -> usize {
        let Ok(folders) = std::fs::read_dir(self.dir().join("files")) else {
            return 0;
        };
        let count = |folder: std::fs::DirEntry| std::fs::read_dir(folder.path()).unwrap().count();
        folders.flatten().map(count).sum()
    }

    pub(crate) async fn try_launch(&self, claude: Claude) -> Result<Kept, AttachError> {
        self.try_launch_with(claude, Graces::default()).await
    }

    async fn try_launch_with(&self, claude: Claude, graces: Graces) -> Result<Kept, AttachError> {
        let claude = claude
            .cli(example("scripted_agent"))
            .cwd(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("COUNTERSIGN_SCENARIO_TEXT", &self.scenario)
            .env("COUNTERSIGN_SCENARIO_LOG", self.folder.path().join("log"));
        let keeper = KeeperCommand {
            program: example("kept"),
            args: Vec::new(),
            env: Vec::new(),
        };
        let order = Launch {
            session: "s-1".to_owned(),
            generation: 1,
            dir: self.dir(),
            run: self.folder.path().join("run"),
            token: Self::token(),
            epoch: self.next_epoch(),
            graces,
            has_hooks: false,
        };
        within(launch(claude, keeper, &order, count)).await
    }

    /// Comes as another host.
    pub(crate) async fn attach(&self, claude: Claude) -> Kept {
        self.try_attach(claude).await.unwrap()
    }

    pub(crate) async fn try_attach(&self, claude: Claude) -> Result<Kept, AttachError> {
        let attachment = self.try_connect(&Self::token()).await?;
        within(attach(claude, &self.dir(), attachment, None)).await
    }

    pub(crate) async fn try_connect(&self, token: &str) -> Result<Attachment, AttachError> {
        let who = Credentials {
            epoch: self.next_epoch(),
            token: token.to_owned(),
            role: Role::Own,
        };
        within(connect(&self.dir(), &who, DEADLINE, count)).await
    }

    /// The payloads of one kind in the journal.
    pub(crate) fn records(&self, kind: Kind) -> Vec<Vec<u8>> {
        let Ok(mut reader) = Reader::open(&self.dir()) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        loop {
            match reader.next().unwrap() {
                Step::Record(record) if record.kind == kind => found.push(record.payload.to_vec()),
                Step::End => return found,
                _ => {}
            }
        }
    }

    /// What the agent says it has read.
    pub(crate) fn heard(&self) -> Vec<Vec<u8>> {
        let log = std::fs::read(self.folder.path().join("log")).unwrap_or_default();
        let mut lines: Vec<_> = log
            .split(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        // Behind the last newline is nothing, or half a line.
        lines.pop();
        lines
    }

    /// How often the agent said a line with that word.
    pub(crate) fn said(&self, word: &str) -> usize {
        let lines = self.records(Kind::Agent);
        lines.iter().filter(|line| contains(line, word)).count()
    }

    /// How often it was asked that.
    pub(crate) fn asked(&self, subtype: &str) -> usize {
        let word = format!(r#""subtype":"{subtype}""#);
        let heard = self.heard();
        let is_request = |line: &&Vec<u8>| contains(line, "\"control_request\"");
        let asked = heard.iter().filter(is_request);
        asked.filter(|line| contains(line, &word)).count()
    }
}

fn count(standing: &Standing) -> Box<dyn Outbox> {
    Box::new(Counting::after(standing.last_n))
}

impl Drop for Stage {
    fn drop(&mut self) {
        // The agent has nobody left: end it by its keeper, whose death signal reaches the rest.
        if let Ok(keeper) = countersign_keeper::KeeperJson::read(&self.dir())
            && let Some(pid) = rustix::process::Pid::from_raw(keeper.keeper.cast_signed())
        {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}
