//! How the agent of a run is started.
//!
//! Owns the options that `run` gives the CLI. Invariant: it is started so that every call is asked about, whatever its
//! own settings allow. Two things make it so: rules that ask about every tool, and a hook that says *ask* on versions
//! where a hook of somebody's settings would otherwise let calls pass.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use countersign_client::hook::PreToolUse;
use countersign_client::options::{
    ChildEnv, Cli, OLDEST_SUPPORTED, SettingSource, Surroundings, Version, probe_version,
};
use countersign_client::wire::Extra;
use countersign_client::wire::control::ApplyFlagSettings;
use countersign_client::{Claude, Hook, HookError, Json, PermissionMode, Recorder, Session};
use countersign_policy::Watch;

/// Everything that starting an agent takes.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    /// A path or a command with arguments; `claude` is searched for without.
    pub(crate) claude: Option<String>,
    pub(crate) cwd: PathBuf,
    pub(crate) add_dirs: Vec<PathBuf>,
    pub(crate) model: Option<String>,
    pub(crate) mode: PermissionMode,
    /// The conversation that goes on.
    pub(crate) resume: Option<String>,
    /// What makes it ask.
    pub(crate) watch: Watch,
    /// Whether the folder brings programs of its own that nobody trusts: its settings are not read then.
    pub(crate) is_wary: bool,
    /// Whether text comes as it is written.
    pub(crate) streams: bool,
    pub(crate) recorder: Option<Recorder>,
}

/// An agent that was started.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) session: Session,
    pub(crate) watching: Watching,
}

/// What keeps an agent asking.
#[derive(Debug)]
pub(crate) struct Watching {
    watch: Watch,
    /// Whether the hook says *ask*.
    hook_asks: Arc<AtomicBool>,
}

/// So much may wait to be shown or passed on. Beyond it the oldest lines are given up, and that is said.
const UNREAD: usize = 256 << 20;

/// How long a version may take that does not know the request and says nothing.
const APPLYING: Duration = Duration::from_secs(5);

/// How long `--version` may take. A cold start of the slowest takes two seconds.
const PROBING: Duration = Duration::from_secs(20);

/// From this version on no hook of settings lets a call pass that a rule wants asked, and saying *ask* by a hook would
/// hide what the CLI has to say about a call.
const HOOKS_CANNOT_PASS: &str = "2.1.325";

impl Launch {
    /// The same in a fresh conversation, out of plan mode.
    pub(crate) fn afresh(&self) -> Self {
        Self {
            resume: None,
            mode: PermissionMode::Default,
            ..self.clone()
        }
    }

    /// Starts the agent.
    pub(crate) async fn start(&self) -> anyhow::Result<Started> {
        let hook_asks = Arc::new(AtomicBool::new(true));
        let asks = Arc::clone(&hook_asks);
        let hook = Hook::of(PreToolUse, move |_input, _context| {
            let asks = asks.load(Ordering::Relaxed);
            async move {
                Ok::<_, HookError>(match asks {
                    true => PreToolUse::ask("Countersign asks about every call."),
                    false => PreToolUse::pass(),
                })
            }
        });
        let mut claude = Claude::new()
            .cwd(&self.cwd)
            .permission_mode(self.mode.clone())
            .settings(Json::from(self.watch.settings.clone()))
            .include_partial_messages(self.streams)
            .bounds(|bounds| bounds.queue_bytes = UNREAD)
            .hook(hook)
            .questions();
        if self.is_wary {
            claude = claude.setting_sources([SettingSource::User]);
        }
        if let Some(command) = &self.claude {
            claude = claude.cli_command(command.clone());
        }
        if let Some(model) = &self.model {
            claude = claude.model(model.clone());
        }
        if let Some(session) = &self.resume {
            claude = claude.resume(session.clone());
        }
        for dir in &self.add_dirs {
            claude = claude.add_dir(dir);
        }
        if let Some(recorder) = &self.recorder {
            claude = claude.record(recorder);
        }
        let session = claude.connect().await?;
        if session.handle.version().is_none() {
            self.refuse_too_old().await?;
        }
        tracing::debug!(pid = session.handle.pid(), cwd = %self.cwd.display(), wary = self.is_wary, "the agent was started");
        if let Some(rest) = &self.watch.rest {
            let request = ApplyFlagSettings {
                settings: Json::from(rest.clone()),
                extra: Extra::default(),
            };
            let applied = session.handle.call_within(request, APPLYING).await;
            applied.with_context(|| {
                format!(
                    "this version does not take: {}",
                    self.watch.left_out.join(", ")
                )
            })?;
        }
        let watching = Watching {
            watch: self.watch.clone(),
            hook_asks,
        };
        Ok(Started { session, watching })
    }
}

impl Launch {
    /// Refuses a CLI on which no call would ever run. Only versions that do not name themselves in their greeting are that old.
    async fn refuse_too_old(&self) -> anyhow::Result<()> {
        let cli = self.claude.clone().map_or(Cli::Search, Cli::Line);
        let around = Surroundings::of_this_process();
        let located = cli.locate(&around)?;
        let env = ChildEnv::from_iter(around.env);
        match probe_version(&located, &env, PROBING).await {
            Ok(version) if version < OLDEST_SUPPORTED => anyhow::bail!(
                "claude {version} is too old: install {OLDEST_SUPPORTED} or a newer one (`claude update`), and start again"
            ),
            Ok(_) => Ok(()),
            Err(error) => {
                tracing::debug!(%error, "no version");
                Ok(())
            }
        }
    }
}

impl Watching {
    /// The agent said which version it is and which tools it has. Gives the settings that are still missing.
    pub(crate) fn learn(&mut self, version: Option<Version>, tools: &[String]) -> Option<Json> {
        let needs_no_hook = match (version, HOOKS_CANNOT_PASS.parse()) {
            (Some(version), Ok(first)) => version >= first,
            _ => false,
        };
        self.hook_asks.store(!needs_no_hook, Ordering::Relaxed);
        self.watch.watch_also(tools).map(Json::from)
    }
}
