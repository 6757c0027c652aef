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
    ChildEnv, Cli, OLDEST_SUPPORTED, SettingSource, Surroundings, Thinking, Version, probe_version,
};
use countersign_client::wire::Extra;
use countersign_client::wire::control::ApplyFlagSettings;
use countersign_client::wire::vocab::Effort;
use countersign_client::{Claude, Hook, HookError, Json, PermissionMode, Recorder, Session};
use countersign_host::model_names;
use countersign_policy::Watch;

/// Everything that starting an agent takes.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    /// A path or a command with arguments; `claude` is searched for without.
    pub(crate) claude: Option<String>,
    pub(crate) cwd: PathBuf,
    pub(crate) add_dirs: Vec<PathBuf>,
    pub(crate) model: Option<String>,
    pub(crate) limits: Limits,
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

/// How hard the model works, and what ends it.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Limits {
    /// How much work the model puts into an answer: low, medium, high, xhigh or max
    #[arg(long, value_name = "LEVEL", value_parser = ["low", "medium", "high", "xhigh", "max"])]
    effort: Option<String>,
    /// Think with at most this many tokens; 0 turns thinking off
    #[arg(long, value_name = "N")]
    thinking_tokens: Option<u32>,
    /// End a turn after this many round trips to the model
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_turns: Option<u32>,
    /// End the turn that reaches so many US dollars; a fresh conversation counts anew
    #[arg(long, value_name = "USD", value_parser = crate::remote::budget, allow_negative_numbers = true)]
    budget: Option<f64>,
}

impl Limits {
    fn given(&self, mut claude: Claude) -> Claude {
        if let Some(effort) = &self.effort {
            claude = claude.effort(Effort::from(effort.as_str()));
        }
        if let Some(most) = self.thinking_tokens {
            claude = claude.thinking(Thinking::Budget(most));
        }
        if let Some(turns) = self.max_turns {
            claude = claude.max_turns(turns);
        }
        if let Some(budget) = self.budget {
            claude = claude.max_budget_usd(budget);
        }
        claude
    }
}

/// Starts the CLI, and says which option it lacks where it ends for that.
async fn connect(claude: Claude) -> anyhow::Result<Session> {
    claude.connect().await.map_err(|error| {
        let missing = missing_option(&format!("{error:#} {error:?}"));
        missing.map_or_else(|| anyhow::Error::from(error), anyhow::Error::msg)
    })
}

/// Why the CLI did not start, where it does not know an option that was asked for.
fn missing_option(error: &str) -> Option<String> {
    let flags = [
        ("--effort", "--effort"),
        ("--thinking'", "--thinking-tokens 0"),
    ];
    let asked = flags
        .iter()
        .find(|(flag, _)| error.contains("unknown option") && error.contains(flag));
    asked.map(|(_, option)| {
        format!("this version of Claude Code does not have {option}: leave it out, or use 2.1.62 or later")
    })
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

    /// Refuses a model that neither the CLI nor the environment names.
    fn check_model(&self, session: &Session) -> anyhow::Result<()> {
        let Some(model) = &self.model else {
            return Ok(());
        };
        let listed = session.handle.initialize_reply();
        let listed = listed.map_or_else(Vec::new, |reply| reply.models.clone());
        let listed = serde_json::to_value(listed).unwrap_or_default();
        let listed = listed.as_array().into_iter().flatten();
        let listed = listed.filter_map(|model| model["value"].as_str().map(str::to_owned));
        let of_person = model_names::VARIABLES
            .iter()
            .filter_map(|name| std::env::var(name).ok());
        model_names::check_among(model, listed.chain(of_person))?;
        Ok(())
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
        claude = self.limits.given(claude);
        if let Some(session) = &self.resume {
            claude = claude.resume(session.clone());
        }
        for dir in &self.add_dirs {
            claude = claude.add_dir(dir);
        }
        if let Some(recorder) = &self.recorder {
            claude = claude.record(recorder);
        }
        let session = connect(claude).await?;
        if session.handle.version().is_none() {
            self.refuse_too_old().await?;
        }
        self.check_model(&session)?;
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
    /// Refuses a CLI that is older than all that were measured. Only versions that do not name themselves in their greeting
    /// are that old.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_the_cli_lacks_is_named_with_the_version_that_has_it() {
        let said = missing_option("the agent ended: error: unknown option '--effort'").unwrap();
        assert!(
            said.contains("--effort") && said.contains("2.1.62"),
            "{said}"
        );
        let off = missing_option("error: unknown option '--thinking'").unwrap();
        assert!(off.contains("--thinking-tokens 0"), "{off}");
        assert_eq!(missing_option("error: unknown option '--other'"), None);
    }
}
