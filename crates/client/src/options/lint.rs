//! What is odd about a set of options, though it can be run: above all, what keeps the permission handler from being
//! asked.
//!
//! Looks at the finished arguments, so that extra arguments count too. Changes nothing.

use std::fmt;

use super::Needs;
use super::argv::Draft;
use super::capability::Capabilities;
use super::env::ChildEnv;
use super::version::Version;

/// Something the caller should know before the run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The mode decides before the handler is asked.
    ModeNeverAsks {
        /// The mode, or the flag that means it.
        mode: String,
    },
    /// These rules allow whole tools, about which the handler is not asked.
    RulesNeverAsk {
        /// The rules.
        rules: Vec<String>,
    },
    /// `--permission-prompts none` denies whatever would be asked.
    PromptsNone,
    /// The CLI refuses to skip permissions as root.
    BypassAsRoot,
    /// A hook is all that stands between the model and its tools, and it fails open when this process ends.
    HooksFailOpen {
        /// The mode.
        mode: String,
    },
    /// `debug` does nothing beside `debug_file`.
    DebugTwice,
    /// There is nothing to fork.
    ForkWithoutResume,
    /// Whether this version has the flag is not known; if not, it ends with exit code 1.
    FlagUnmeasured {
        /// The flag.
        flag: String,
        /// The version, if known.
        version: Option<Version>,
    },
    /// This version ignores a field of `initialize`.
    FieldIgnored {
        /// The field.
        field: String,
        /// The version.
        version: Version,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ModeNeverAsks { mode } => write!(
                f,
                "{mode} decides by itself: the permission handler is asked about questions and plans at most"
            ),
            Self::RulesNeverAsk { rules } => write!(
                f,
                "the permission handler is not asked about {}: allowed_tools lists them whole",
                rules.join(", ")
            ),
            Self::PromptsNone => f.write_str(
                "permission_prompts is none: all that would be asked is denied, and the handler is never called",
            ),
            Self::BypassAsRoot => f.write_str(
                "the CLI refuses to skip permissions as root and ends: use another user, or set IS_SANDBOX=1 in a sandbox",
            ),
            Self::HooksFailOpen { mode } => write!(
                f,
                "in mode {mode} tools run unasked if this process ends while a hook is open: let a permission handler decide"
            ),
            Self::DebugTwice => f.write_str("debug does nothing beside debug_file"),
            Self::ForkWithoutResume => {
                f.write_str("fork_session does nothing without resume or continue_conversation")
            }
            Self::FlagUnmeasured { flag, version } => match version {
                Some(version) => write!(f, "{flag} may be unknown to CLI {version}, which would end"),
                None => write!(f, "{flag} is unknown to older CLIs, and the version is not known"),
            },
            Self::FieldIgnored { field, version } => {
                write!(f, "CLI {version} ignores {field} of initialize: update it")
            }
        }
    }
}

/// What the lints look at.
pub(crate) struct Scene<'a> {
    pub(crate) needs: &'a Needs,
    pub(crate) capabilities: &'a Capabilities,
    pub(crate) env: &'a ChildEnv,
    pub(crate) root: bool,
    /// Rules as the caller listed them.
    pub(crate) allowed: &'a [String],
    /// Both ways to debug were asked for.
    pub(crate) debug_twice: bool,
}

/// Everything odd about a draft.
pub(crate) fn warnings(draft: &Draft, scene: &Scene<'_>) -> Vec<Warning> {
    let mut found = Vec::new();
    let mode = draft.value("--permission-mode").unwrap_or("default");
    let skips = draft.has("--dangerously-skip-permissions");
    if scene.needs.answers_permissions {
        found.extend(unreachable(draft, scene, mode, skips));
    }
    let permissive = skips || matches!(mode, "acceptEdits" | "bypassPermissions");
    if scene.needs.hooks && permissive && scene.capabilities.hook_fails_open_on_stdin_close() {
        found.push(Warning::HooksFailOpen {
            mode: mode.to_owned(),
        });
    }
    let bypass =
        skips || mode == "bypassPermissions" || draft.has("--allow-dangerously-skip-permissions");
    let sandboxed = scene
        .env
        .get("IS_SANDBOX")
        .is_some_and(|value| value == "1");
    if scene.root && bypass && !sandboxed {
        found.push(Warning::BypassAsRoot);
    }
    if scene.debug_twice {
        found.push(Warning::DebugTwice);
    }
    if draft.has("--fork-session") && !draft.has("--resume") && !draft.has("--continue") {
        found.push(Warning::ForkWithoutResume);
    }
    found
}

/// What keeps the handler from being asked.
fn unreachable(draft: &Draft, scene: &Scene<'_>, mode: &str, skips: bool) -> Vec<Warning> {
    let mut found = Vec::new();
    if skips {
        found.push(Warning::ModeNeverAsks {
            mode: "--dangerously-skip-permissions".to_owned(),
        });
    } else if matches!(mode, "bypassPermissions" | "dontAsk") {
        found.push(Warning::ModeNeverAsks {
            mode: mode.to_owned(),
        });
    }
    if draft.value("--permission-prompts") == Some("none") {
        found.push(Warning::PromptsNone);
    }
    let whole = scene.allowed.iter().filter(|rule| allows_whole_tool(rule));
    let rules: Vec<_> = whole.cloned().collect();
    if !rules.is_empty() {
        found.push(Warning::RulesNeverAsk { rules });
    }
    found
}

/// A name without brackets, or with brackets around everything.
fn allows_whole_tool(rule: &str) -> bool {
    match rule.trim().split_once('(') {
        None => true,
        Some((_, inside)) => matches!(inside.trim_end_matches(')').trim(), "" | "*" | ":*" | "**"),
    }
}
