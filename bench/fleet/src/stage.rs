//! A host in a folder of its own, whose agents all play the same scene.
//!
//! Owns [`Stage`]: the folder, the rules, the host. Invariants: agents see nothing of the caller; when a stage is dropped
//! none of its processes runs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::BufRead as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use countersign_host::control::session::Setup;
use countersign_host::control::{
    Cmd, Command, Control as _, Message, NewSession, SessionFilter, SessionId,
};
use countersign_host::{Host, Settings};
use countersign_keeper::KeeperCommand;
use countersign_rehearsal::real::{Places, environment};
use futures_util::future::try_join_all;
use tempfile::TempDir;

use crate::scene::{ALLOWED, DENIED, RULES, Scene, message};
use crate::sweep;
use crate::usage::{self, Memory};

/// How long anything may take. Far more than it takes: the machine may be busy.
pub(crate) const DEADLINE: Duration = Duration::from_secs(600);

/// What the name of a host's folder begins with.
pub(crate) const FOLDER: &str = "fleet-";

/// Between two looks.
pub(crate) const LOOK: Duration = Duration::from_millis(250);

/// Every state but *idle*.
const NOT_IDLE: [&str; 11] = [
    "queued",
    "starting",
    "running",
    "needs_you",
    "paused",
    "stalled",
    "ending",
    "stopped",
    "failed",
    "not_signed_in",
    "unreachable",
];

/// A host and everything around it.
pub(crate) struct Stage {
    root: TempDir,
    host: Option<Host>,
}

impl Stage {
    pub(crate) async fn set(agents: usize, scene: Scene, data: &Path) -> anyhow::Result<Self> {
        let root = tempfile::Builder::new().prefix(FOLDER).tempdir_in(data);
        let root = root.context("no folder for a host")?;
        let whole = root.path().canonicalize().context("where it is")?;
        let places = Places::below(&whole);
        for folder in places.all() {
            std::fs::create_dir_all(&folder).context("no folder for agents")?;
        }
        let project = places.project();
        for name in [ALLOWED, DENIED] {
            let script = format!("#!/bin/sh\necho \"{name} $*\" >> ran.log\n");
            let file = project.join(name);
            std::fs::write(&file, script).context("no program to call")?;
            std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755))
                .context("no program to call")?;
        }
        let config = places.home().join(".config/countersign");
        std::fs::create_dir_all(&config).context("no folder for rules")?;
        std::fs::write(config.join("countersign.toml"), RULES).context("no rules")?;
        let file = whole.join("scenario");
        std::fs::write(&file, scene.text()).context("no scenario")?;
        let more = [(
            "COUNTERSIGN_SCENARIO".to_owned(),
            file.to_string_lossy().into_owned(),
        )];
        let path = "/usr/bin:/bin".into();
        let env = environment(&places, path, "http://127.0.0.1:9", &more)?;
        let keeper = KeeperCommand::this_program().context("where this program is")?;
        let own = keeper.program.to_string_lossy().into_owned();
        let mut settings = Settings::new(whole.join("data"), keeper);
        settings.most_agents = agents;
        settings.agents.inherits = false;
        settings.agents.env = env;
        settings.agents.claude = vec![own, "agent".to_owned()];
        let host = Host::open(settings).await.context("no host")?;
        Ok(Self {
            root,
            host: Some(host),
        })
    }

    pub(crate) fn host(&self) -> anyhow::Result<&Host> {
        self.host.as_ref().context("the host has ended")
    }

    fn project(&self) -> anyhow::Result<PathBuf> {
        let root = self.root.path().canonicalize().context("where it is")?;
        Ok(Places::below(root).project())
    }

    /// What calls left in the project.
    pub(crate) fn marks(&self) -> anyhow::Result<Vec<String>> {
        match std::fs::read_to_string(self.project()?.join("ran.log")) {
            Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error).context("the marks cannot be read"),
        }
    }

    /// How many lines each journal has, its first ones included. Counted in the files: a client that asks would change
    /// what is measured.
    pub(crate) fn records(&self) -> anyhow::Result<BTreeMap<OsString, usize>> {
        let mut all = BTreeMap::new();
        let sessions = self.root.path().join("data/sessions");
        for session in std::fs::read_dir(&sessions).context("no sessions")? {
            let session = session.context("no session")?;
            let lines = all.entry(session.file_name()).or_insert(0);
            let journal = session.path().join("journal");
            for segment in std::fs::read_dir(&journal).context("no journal")? {
                let file = std::fs::File::open(segment.context("no segment")?.path());
                let mut file = std::io::BufReader::new(file.context("no segment")?);
                while file.skip_until(b'\n').context("a segment cannot be read")? > 0 {
                    *lines += 1;
                }
            }
        }
        Ok(all)
    }

    pub(crate) async fn start(&self, prompt: String) -> anyhow::Result<SessionId> {
        let new = NewSession {
            id: SessionId::fresh(),
            prompt: Some(Message::text(prompt)),
            cwd: self.project()?,
            setup: Setup::default(),
            worktree: None,
        };
        let id = new.id;
        self.execute(Command::Start(Box::new(new))).await?;
        Ok(id)
    }

    /// Tells all agents to do this, at the same time.
    pub(crate) async fn send_all(&self, sessions: &[SessionId], what: &str) -> anyhow::Result<()> {
        let sent = sessions.iter().enumerate().map(|(index, session)| {
            let (session, message) = (*session, Message::text(message(what, index)));
            self.execute(Command::Send { session, message })
        });
        try_join_all(sent).await.map(drop)
    }

    pub(crate) async fn execute(&self, command: Command) -> anyhow::Result<()> {
        let told = format!("{command:?}");
        let done = self.host()?.execute(Cmd::of("the bench", "fleet"), command);
        done.await.with_context(|| format!("not taken: {told}"))?;
        Ok(())
    }

    /// How many sessions stand in one of these states, and one of them in words.
    pub(crate) async fn in_states(&self, states: &[&str]) -> anyhow::Result<(usize, String)> {
        let filter = SessionFilter {
            states: states.iter().map(|&state| state.to_owned()).collect(),
            most: 500,
            ..SessionFilter::default()
        };
        let page = self.host()?.sessions(filter).await.context("sessions")?;
        let one = page.items.first();
        let one = one.map(|view| format!("{}: {:?}, {}", view.name, view.state, view.reason));
        Ok((page.items.len(), one.unwrap_or_default()))
    }

    /// Waits until all sessions are idle and `holds`. `meanwhile` is called at every look with how many are not.
    pub(crate) async fn until_idle(
        &self,
        what: &str,
        holds: impl Fn() -> anyhow::Result<bool>,
        mut meanwhile: impl FnMut(usize) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let start = Instant::now();
        loop {
            let (busy, one) = self.in_states(&NOT_IDLE).await?;
            meanwhile(busy)?;
            if busy == 0 && holds()? {
                return Ok(());
            }
            let (lost, which) = self
                .in_states(&[
                    "failed",
                    "not_signed_in",
                    "unreachable",
                    "stalled",
                    "needs_you",
                ])
                .await?;
            if lost > 0 {
                bail!("{what}: {lost} sessions stand otherwise: {which}");
            }
            if start.elapsed() > DEADLINE {
                bail!("{what}: it never came to this; {busy} are busy: {one}");
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Ends every agent and waits for it.
    pub(crate) async fn stop(&self, sessions: &[SessionId]) -> anyhow::Result<()> {
        for session in sessions {
            self.execute(Command::Stop { session: *session }).await?;
        }
        let start = Instant::now();
        while self.in_states(&["stopped"]).await?.0 < sessions.len() {
            anyhow::ensure!(start.elapsed() < DEADLINE, "agents do not end");
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }

    /// What keepers (with their guards) and agents have in memory, all together, in KiB.
    pub(crate) fn others(&self) -> (Memory, Memory) {
        let mut keepers = Memory::default();
        let mut agents = Memory::default();
        for (pid, command) in sweep::processes(self.root.path()) {
            // One that has just ended.
            let Ok(memory) = usage::memory(&pid.to_string()) else {
                continue;
            };
            let side = match command.split('\0').nth(1) {
                Some("keeper") => &mut keepers,
                _ => &mut agents,
            };
            side.rss += memory.rss;
            side.pss += memory.pss;
            side.anonymous += memory.anonymous;
        }
        (keepers, agents)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.host.take();
        sweep::end(self.root.path());
    }
}
