//! What keeps an agent asking about every call.
//!
//! Owns the settings that make it ask, and the hook that says *ask* on versions where a hook of somebody's settings would
//! let a call pass (docs/decisions/009-every-call-is-seen.md). Invariants: no version that can do without has the hook,
//! since a hook is not answered while the host is away; a hook that waits for a host is answered by the next one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use countersign_client::hook::PreToolUse;
use countersign_client::options::Version;
use countersign_client::wire::Extra;
use countersign_client::wire::control::ApplyFlagSettings;
use countersign_client::{Claude, Error, Handle, Hook, HookError, Json};
use countersign_policy::Watch;

/// From this version on no hook of settings lets a call pass that a rule wants asked, and saying *ask* by a hook would
/// hide what the CLI has to say about a call.
pub const HOOKS_CANNOT_PASS: Version = Version::new(2, 1, 325);

/// `apply_flag_settings` is known from here on.
const APPLIES: Version = Version::new(2, 1, 45);

/// How long the CLI waits for the hook: longer than a host is away. Measured to be taken.
const A_DAY: Duration = Duration::from_secs(86_400);

/// How long a version may take that says nothing to a request it does not know.
const APPLYING: Duration = Duration::from_secs(5);

/// Whether an agent of this version needs the hook. One whose version is not known does.
pub fn needs_hook(version: Option<Version>) -> bool {
    version.is_none_or(|version| version < HOOKS_CANNOT_PASS)
}

fn applies(version: Option<Version>) -> bool {
    version.is_some_and(|version| version >= APPLIES)
}

/// What keeps one agent asking.
#[derive(Debug, Clone)]
pub struct Watching {
    watch: Watch,
    /// Whether the hook says *ask*; none where there is no hook.
    hook_asks: Option<Arc<AtomicBool>>,
}

impl Watching {
    /// For an agent of this version that is about to start, or was started before.
    pub(super) fn new(watch: Watch, version: Option<Version>) -> Self {
        let hook_asks = needs_hook(version).then(|| Arc::new(AtomicBool::new(true)));
        Self { watch, hook_asks }
    }

    /// Whether the agent has the hook.
    pub fn has_hook(&self) -> bool {
        self.hook_asks.is_some()
    }

    /// What `--settings` is to hold.
    pub(super) fn settings(&self) -> Json {
        Json::from(self.watch.settings.clone())
    }

    pub(super) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Registers the hook, if there is one.
    pub(super) fn hooked(&self, claude: Claude) -> Claude {
        let Some(asks) = self.hook_asks.clone() else {
            return claude;
        };
        let hook = Hook::of(PreToolUse, move |_input, _context| {
            let asks = asks.load(Ordering::Relaxed);
            async move {
                Ok::<_, HookError>(match asks {
                    true => PreToolUse::ask("Countersign asks about every call."),
                    false => PreToolUse::pass(),
                })
            }
        });
        claude.hook(hook.timeout(A_DAY))
    }

    /// Sends what could not stand in `--settings`, once the agent is greeted. What this version does not take is told
    /// and is no reason to stop: policy holds it.
    ///
    /// # Errors
    /// When the agent is gone.
    pub async fn settle(&mut self, handle: &Handle) -> Result<(), Error> {
        self.learn_version(handle.version());
        match self.watch.rest.clone() {
            Some(rest) => self.apply(handle, Json::from(rest)).await,
            None => Ok(()),
        }
    }

    /// The agent said which version it is and which tools it has, by the line with which a turn begins. Gives the settings
    /// by which it asks about those that no rule names yet, for `apply_flag_settings`; nothing for a version without it.
    pub fn learn(&mut self, init: &[u8]) -> Option<Json> {
        #[derive(serde::Deserialize)]
        struct Init {
            #[serde(default)]
            tools: Vec<String>,
            claude_code_version: Option<String>,
        }
        let init: Init = serde_json::from_slice(init).ok()?;
        let version = Version::find(init.claude_code_version.as_deref()?);
        self.learn_version(version);
        let missing = self.watch.watch_also(&init.tools).map(Json::from);
        missing.filter(|_| applies(version))
    }

    /// The tools that no rule asks about on every version.
    pub fn unwatched(&self, tools: &[String]) -> Vec<String> {
        self.watch.unwatched(tools)
    }

    /// The version is known for certain: a hook that it does not need has no opinion.
    pub fn learn_version(&self, version: Option<Version>) {
        if let Some(asks) = &self.hook_asks {
            asks.store(needs_hook(version), Ordering::Relaxed);
        }
    }

    async fn apply(&self, handle: &Handle, settings: Json) -> Result<(), Error> {
        if !applies(handle.version()) {
            return Ok(());
        }
        let extra = Extra::default();
        let request = ApplyFlagSettings { settings, extra };
        match handle.call_within(request, APPLYING).await {
            Err(error @ Error::Closed(_)) => Err(error),
            Err(error) => {
                tracing::warn!(%error, "the agent did not take all settings");
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }
}
