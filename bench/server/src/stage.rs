//! A server over a host in a folder of its own, whose agents do what they are told.
//!
//! Owns [`Stage`]: the folder, the rules, the host, the server on loopback. Invariants: agents see nothing of the caller; when
//! a stage is dropped none of its processes runs.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use countersign_host::control::session::Setup;
use countersign_host::control::{Cmd, Command, Control as _, Message, NewSession, SessionId};
use countersign_host::{Host, Settings};
use countersign_keeper::KeeperCommand;
use countersign_rehearsal::real::{Places, environment};
use countersign_server::auth::{Auth, Hosts};
use countersign_server::{App, clock, listen, router};
use tempfile::TempDir;

use crate::agent::Order;
use crate::sweep;

/// How long anything may take. Far more than it takes: the machine may be busy.
const DEADLINE: Duration = Duration::from_secs(300);

/// Between two looks.
const LOOK: Duration = Duration::from_millis(5);

/// Between two looks at what is measured: a look is work, too.
const SELDOM: Duration = Duration::from_millis(250);

/// What the name of a server's folder begins with.
pub(crate) const FOLDER: &str = "server-";

/// So many agents run at once at most.
const AGENTS: usize = 64;

/// A rule allows it.
pub(crate) const BY_RULE: &str = "mark";
/// No rule says anything of it.
pub(crate) const BY_PERSON: &str = "other";

/// The person's own rules.
const RULES: &str = "[[rule]]\nallow = \"Bash(./mark:*)\"\n";

/// A server and everything around it.
pub(crate) struct Stage {
    root: TempDir,
    host: Option<Host>,
    address: SocketAddr,
    token: PathBuf,
}

impl Stage {
    pub(crate) async fn set(data: &Path) -> anyhow::Result<Self> {
        let root = tempfile::Builder::new().prefix(FOLDER).tempdir_in(data);
        let root = root.context("no folder for a server")?;
        let whole = root.path().canonicalize().context("where it is")?;
        let places = Places::below(&whole);
        for folder in places.all() {
            std::fs::create_dir_all(&folder).context("no folder for agents")?;
        }
        let config = places.home().join(".config/countersign");
        std::fs::create_dir_all(&config).context("no folder for rules")?;
        std::fs::write(config.join("countersign.toml"), RULES).context("no rules")?;
        let env = environment(&places, "/usr/bin:/bin".into(), "http://127.0.0.1:9", &[])?;
        let keeper = KeeperCommand::this_program().context("where this program is")?;
        let own = keeper.program.to_string_lossy().into_owned();
        let mut settings = Settings::new(whole.join("data"), keeper);
        settings.most_agents = AGENTS;
        settings.agents.inherits = false;
        settings.agents.env = env;
        settings.agents.claude = vec![own, "agent".to_owned()];
        let host = Host::open(settings).await.context("no host")?;
        let auth = Auth::open(&whole.join("auth"), clock::now()).context("no tokens")?;
        let token = auth.token_file();
        let app = App::new(Arc::new(host.clone()), Arc::new(auth), Hosts::default());
        let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
        let listener = listen::tcp(loopback, false).await?;
        let address = listener.address().context("where it listens")?;
        let served = listen::serve_on(
            vec![listener],
            router(Arc::new(app)),
            std::future::pending(),
        );
        tokio::spawn(served);
        Ok(Self {
            root,
            host: Some(host),
            address,
            token,
        })
    }

    pub(crate) fn host(&self) -> anyhow::Result<&Host> {
        self.host.as_ref().context("the host has ended")
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Where the server is, and the file of the token: what every client is told first.
    pub(crate) fn door(&self) -> Vec<String> {
        vec![
            self.address.to_string(),
            self.token.to_string_lossy().into_owned(),
        ]
    }

    /// A session whose agent waits for orders.
    pub(crate) async fn start(&self) -> anyhow::Result<SessionId> {
        let id = self.begin().await?;
        self.until(id, "idle").await?;
        Ok(id)
    }

    /// The same without waiting for it.
    pub(crate) async fn begin(&self) -> anyhow::Result<SessionId> {
        let root = self.root.path().canonicalize().context("where it is")?;
        let new = NewSession {
            id: SessionId::fresh(),
            prompt: Some(Message::text(Order::Rest.text())),
            cwd: Places::below(root).project(),
            setup: Setup::default(),
            worktree: None,
        };
        let id = new.id;
        self.execute(Command::Start(Box::new(new))).await?;
        Ok(id)
    }

    pub(crate) async fn order(&self, session: SessionId, order: &Order) -> anyhow::Result<()> {
        let message = Message::text(order.text());
        self.execute(Command::Send { session, message }).await
    }

    /// Ends an agent and waits for it.
    pub(crate) async fn stop(&self, session: SessionId) -> anyhow::Result<()> {
        self.execute(Command::Stop { session }).await?;
        self.until(session, "stopped").await
    }

    async fn execute(&self, command: Command) -> anyhow::Result<()> {
        let told = format!("{command:?}");
        let done = self
            .host()?
            .execute(Cmd::of("the bench", "server"), command);
        done.await.with_context(|| format!("not taken: {told}"))?;
        Ok(())
    }

    /// Waits until a session stands like this.
    pub(crate) async fn until(&self, session: SessionId, state: &str) -> anyhow::Result<()> {
        let start = Instant::now();
        loop {
            let view = self.host()?.session(session).await?;
            let is = view.state.name();
            if is == state {
                return Ok(());
            }
            if ["failed", "not_signed_in", "unreachable", "stalled"].contains(&is) {
                bail!("a session is {is}, not {state}: {}", view.reason);
            }
            ensure!(
                start.elapsed() < DEADLINE,
                "a session stays {is}: {}",
                view.reason
            );
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Looks after a while whether a session goes on.
    pub(crate) async fn alive(&self, session: SessionId) -> anyhow::Result<()> {
        tokio::time::sleep(SELDOM).await;
        let view = self.host()?.session(session).await?;
        let is = view.state.name();
        ensure!(
            ["running", "needs_you", "idle"].contains(&is),
            "a session is {is}: {}",
            view.reason
        );
        Ok(())
    }

    /// The keeper of the only agent that runs.
    pub(crate) fn keeper(&self) -> anyhow::Result<u32> {
        // The guard waits in the same program; the keeper is its child, so it has the higher number.
        let keepers = sweep::processes(self.root.path()).into_iter();
        let keepers = keepers.filter(|(_, command)| command.split('\0').nth(1) == Some("keeper"));
        let pid = keepers.map(|(pid, _)| pid).max().context("no keeper")?;
        Ok(u32::try_from(pid)?)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.host.take();
        sweep::end(self.root.path());
    }
}
