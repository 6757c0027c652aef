//! How an agent is started: the builder.
//!
//! Owns [`Claude`]: the CLI's options, who answers its questions, and the bounds of the client itself. Cheap to clone;
//! one serves many sessions.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use countersign_process::Marker;
use countersign_wire::Json;
use countersign_wire::control::Initialize;
use countersign_wire::recording::Direction;

use crate::agent::{AgentProcess, Graces, OnStderr, SpawnSpec};
use crate::error::Result;
use crate::handlers::{DialogHandler, ElicitationHandler, Handlers};
use crate::hook::Hook;
use crate::input::Prompt;
use crate::launch::{LaunchPlan, child_env, launch};
use crate::options::{
    Capabilities, Draft, Needs, Options, Surroundings, Warning, option_setters, probe_version,
};
use crate::peer::Config;
use crate::permission::PermissionHandler;
use crate::query::Query;
use crate::record::Recorder;
use crate::session::{Greeting, Session};
use crate::tap::{self, Tap};
use crate::transport::{Peer, Setup};

/// The bounds of the client itself. Each has a named effect when it is reached.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Bounds {
    /// What may wait for a listener, in bytes (16 MiB). Beyond it the oldest lines are given up, and
    /// [`crate::Event::Lagged`] says so.
    pub queue_bytes: usize,
    /// What may wait to be written, in bytes (64 MiB). Beyond it [`crate::Error::Backlog`].
    pub outbox_bytes: usize,
    /// The longest line that is taken (256 MiB, the CLI's own bound). Beyond it [`crate::Event::TooLong`]; a question in
    /// such a line is not answered, so lower it with care.
    pub max_line: usize,
    /// How long a control request waits (60 s). Then [`crate::Error::TimedOut`].
    pub control_timeout: Duration,
    /// How long the greeting waits (60 s).
    pub initialize_timeout: Duration,
    /// How long a one-shot query waits for background work after its result (600 s). Then it is ended.
    pub background_ceiling: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            queue_bytes: 16 << 20,
            outbox_bytes: 64 << 20,
            max_line: countersign_wire::frame::DEFAULT_MAX_LINE,
            control_timeout: Duration::from_secs(60),
            initialize_timeout: Duration::from_secs(60),
            background_ceiling: Duration::from_secs(600),
        }
    }
}

type StderrListener = Arc<dyn Fn(&str) + Send + Sync>;

/// How an agent is started, and who answers its questions.
///
/// ```no_run
/// # async fn example() -> countersign_client::Result<()> {
/// use countersign_client::{AllowTools, Claude};
///
/// let session = Claude::new()
///     .model("sonnet")
///     .permissions(AllowTools::new(["Read", "Grep"]))
///     .connect()
///     .await?;
/// let result = session.send("What is in this folder?").await?.await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Claude {
    options: Options,
    pub(crate) handlers: Handlers,
    pub(crate) bounds: Bounds,
    graces: Graces,
    on_stderr: Option<StderrListener>,
    tap: Option<Tap>,
}

impl std::fmt::Debug for Claude {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Claude")
            .field("options", &self.options)
            .field("handlers", &self.handlers)
            .field("bounds", &self.bounds)
            .field("graces", &self.graces)
            .finish_non_exhaustive()
    }
}

option_setters!(Claude);

impl Claude {
    /// The `claude` that is found, in the current folder, with its own defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// With these options.
    pub fn with_options(options: Options) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn options_mut(&mut self) -> &mut Options {
        &mut self.options
    }

    /// Who decides about calls: an async closure, a [`PermissionHandler`], or a ready one ([`crate::AllowTools`], …).
    #[must_use]
    pub fn permissions(mut self, handler: impl PermissionHandler) -> Self {
        self.handlers.permission = Some(Arc::new(handler));
        self
    }

    /// Questions that no callback answers come as values ([`Session::questions`]).
    #[must_use]
    pub fn questions(mut self) -> Self {
        self.handlers.takes_questions = true;
        self
    }

    /// Who answers questions of MCP servers. Without one they are declined.
    #[must_use]
    pub fn elicitations(mut self, handler: impl ElicitationHandler) -> Self {
        self.handlers.elicitation = Some(Arc::new(handler));
        self
    }

    /// Who answers dialogs. Say which kinds by [`Claude::supported_dialog_kinds`].
    #[must_use]
    pub fn dialogs(mut self, handler: impl DialogHandler) -> Self {
        self.handlers.dialog = Some(Arc::new(handler));
        self
    }

    /// Registers a hook. Hooks of one event are called all at once; a denial wins.
    #[must_use]
    pub fn hook(mut self, hook: Hook) -> Self {
        self.handlers.hooks.push(hook);
        self
    }

    /// Mounts an MCP server that runs in this process.
    #[cfg(feature = "mcp")]
    #[must_use]
    pub fn mcp(mut self, server: impl Into<crate::mcp::Mount>) -> Self {
        self.handlers.servers.push(server.into());
        self
    }

    /// Mounts an MCP server of your own making: each JSON-RPC message of the CLI is given to `answer`, notifications too,
    /// and what it gives back is the reply. It must not block. With the feature `mcp`, `Claude::mcp` takes servers that
    /// speak the protocol for you.
    #[must_use]
    pub fn mcp_messages(
        mut self,
        name: impl Into<String>,
        answer: impl Fn(Json) -> Json + Send + Sync + 'static,
    ) -> Self {
        self.handlers
            .answering
            .push((name.into(), Arc::new(answer)));
        self
    }

    /// The bounds of the client itself.
    #[must_use]
    pub fn bounds(mut self, change: impl FnOnce(&mut Bounds)) -> Self {
        change(&mut self.bounds);
        self
    }

    /// How long each step of the ending may take.
    #[must_use]
    pub fn graces(mut self, change: impl FnOnce(&mut Graces)) -> Self {
        change(&mut self.graces);
        self
    }

    /// Called with each line of stderr, secrets masked. The end of stderr is kept in any case.
    #[must_use]
    pub fn on_stderr(mut self, listener: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.on_stderr = Some(Arc::new(listener));
        self
    }

    /// Called with every whole line that crosses, without its newline, in the order of the wire: what the agent prints,
    /// what is written to it, its stderr (secrets masked), its start and its end. One such listener; the last one set
    /// counts.
    ///
    /// It is called where the lines are read and written: let it be quick, and let it not speak to the session. A line
    /// that is longer than [`Bounds::max_line`] is not heard.
    #[must_use]
    pub fn tap(mut self, listener: impl Fn(Direction, &[u8]) + Send + Sync + 'static) -> Self {
        self.tap = Some(Arc::new(listener));
        self
    }

    /// Writes every line that crosses to a recording. Takes the place of [`Claude::tap`].
    #[must_use]
    pub fn record(self, recorder: &Recorder) -> Self {
        let recorder = recorder.clone();
        self.tap(move |direction, line| recorder.take(direction, line))
    }

    /// One run: a prompt and the events up to its end.
    pub fn query(self, prompt: impl Into<Prompt>) -> Query {
        Query::new(self, prompt.into())
    }

    /// Starts the agent and greets it.
    ///
    /// # Errors
    /// When there is no CLI, the options contradict each other, the process does not start, or ends before it answers.
    pub async fn connect(self) -> Result<Session> {
        let marker = Marker::of(uuid::Uuid::new_v4().as_u128());
        let plan = self.plan(&marker, None).await?;
        let timeout = self.bounds.initialize_timeout;
        let (greeting, initialize) = self.start(plan, marker)?;
        greeting.greet(initialize, timeout).await
    }

    /// Starts the agent. Apart, so that nothing of this is kept while the greeting is waited for.
    fn start(self, plan: LaunchPlan, marker: Marker) -> Result<(Greeting, Initialize)> {
        let cwd = match plan.cwd {
            Some(cwd) => cwd,
            None => std::env::current_dir().unwrap_or_else(|_| ".".into()),
        };
        if let Some(tap) = &self.tap {
            tap::tell_start(tap, &plan.args);
        }
        let spec = SpawnSpec {
            program: plan.program,
            args: plan.args,
            env: plan.env.into_pairs().collect(),
            cwd,
            marker,
            on_stderr: self.stderr_listener(),
        };
        let (process, pipes) = AgentProcess::spawn(spec)?;
        let terms = Terms {
            capabilities: plan.capabilities,
            may_bypass: plan.may_bypass,
            warnings: plan.warnings,
            files: plan.files,
        };
        let (setup, initialize) = self.setup(terms, plan.initialize);
        Ok((Peer::child(process, pipes).start(setup), initialize))
    }

    /// Who hears stderr: the listener, the tap, both or nobody.
    fn stderr_listener(&self) -> Option<OnStderr> {
        let listener = self.on_stderr.clone();
        let Some(tap) = self.tap.clone() else {
            return listener.map(|listener| -> OnStderr { Box::new(move |line| listener(line)) });
        };
        Some(Box::new(move |line| {
            tap(Direction::Err, line.as_bytes());
            if let Some(listener) = &listener {
                listener(line);
            }
        }))
    }

    /// Builds the session on a connection that is there already. Options of the command line have no effect.
    ///
    /// # Errors
    /// When the other side ends or refuses before it answers the greeting.
    pub async fn connect_over(self, peer: Peer) -> Result<Session> {
        let draft = Draft::of(&self.options, &self.needs(None), &Capabilities::of(None))?;
        let timeout = self.bounds.initialize_timeout;
        let (setup, initialize) = self.setup(Terms::default(), draft.initialize);
        peer.start(setup).greet(initialize, timeout).await
    }

    /// Builds the session on a connection without a greeting, for recordings and for agents that were greeted before.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn attach(self, peer: Peer) -> Session {
        let (setup, _) = self.setup(Terms::default(), Initialize::default());
        peer.start(setup).open(None)
    }

    /// What starting takes. Values that go to files are written to `folder`, or to the temporary one.
    pub(crate) async fn plan(&self, marker: &Marker, folder: Option<&Path>) -> Result<LaunchPlan> {
        let around = Surroundings::of_this_process();
        let cli = self.options.cli.locate(&around)?;
        let needs = self.needs(Some(marker));
        let mut version = None;
        if self.options.needs_version() {
            let env = child_env(&self.options, &needs, &around, self.options.cwd.as_deref());
            // A CLI that does not tell its version is treated as the oldest.
            let probing = Box::pin(probe_version(&cli, &env, VERSION_TIMEOUT));
            version = probing.await.ok();
        }
        Ok(launch(
            &self.options,
            &needs,
            &cli,
            version,
            &around,
            folder,
        )?)
    }

    pub(crate) fn needs(&self, marker: Option<&Marker>) -> Needs {
        Needs {
            answers_permissions: self.handlers.answers_permissions(),
            hooks: !self.handlers.hooks.is_empty(),
            sdk_servers: self.handlers.server_names(),
            marker: marker.map(|marker| marker.value().into()),
        }
    }

    pub(crate) fn setup(self, terms: Terms, mut initialize: Initialize) -> (Setup, Initialize) {
        for warning in &terms.warnings {
            tracing::warn!(%warning, "options");
        }
        initialize.hooks = self.handlers.hook_registrations();
        let setup = Setup {
            config: Config {
                queue_bytes: self.bounds.queue_bytes,
                outbox_bytes: self.bounds.outbox_bytes,
                max_line: self.bounds.max_line,
                control_timeout: self.bounds.control_timeout,
                waits_for_listeners: false,
                refuses_dropped: true,
                may_bypass: terms.may_bypass,
                id_prefix: "cs-".to_owned(),
            },
            handlers: self.handlers,
            graces: self.graces,
            capabilities: terms.capabilities,
            warnings: terms.warnings,
            files: terms.files,
            tap: self.tap,
        };
        (setup, initialize)
    }
}

/// How long `--version` may take. A cold start of the slowest takes two seconds.
const VERSION_TIMEOUT: Duration = Duration::from_secs(20);

/// What a launch settled.
#[derive(Default)]
pub(crate) struct Terms {
    pub(crate) capabilities: Capabilities,
    pub(crate) may_bypass: bool,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) files: Vec<tempfile::TempPath>,
}
