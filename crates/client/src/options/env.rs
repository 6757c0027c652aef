//! The environment of the child, whole: what is inherited, what is kept from it, what is set.
//!
//! Pure; the variables of this process come in as values ([`super::Surroundings`]). Invariant: what the caller sets
//! explicitly always arrives, and nothing that an outer session left behind does.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::locate::Surroundings;

/// Marks the CLI and everything it starts, so that descendants can be found after it is gone.
pub const MARKER: &str = "COUNTERSIGN_AGENT";

/// Names what kind of host this is. The CLI knows a closed list of words; this one is its own for "driven by a
/// program, none of the two SDKs", and what it would choose itself. A word it does not know loses the SDK defaults.
const ENTRYPOINT: &str = "sdk-cli";

/// Variables that are not inherited.
const SCRUBBED: &[&str] = &[
    // An outer session of the CLI: the CLI refuses to nest, or takes itself for a child of that session.
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_PID",
    "CLAUDE_EFFORT",
    "AI_AGENT",
    MARKER,
    // Promises of an outer host that this one does not keep.
    "CLAUDE_AGENT_SDK_VERSION",
    "CLAUDE_AGENT_SDK_CLIENT_APP",
    "CLAUDE_CODE_SDK_READS_SESSION_STATE",
    "CLAUDE_CODE_SDK_READS_STARTUP_MARKS",
    "CLAUDE_CODE_SDK_HAS_OAUTH_REFRESH",
    "CLAUDE_CODE_SDK_HAS_HOST_AUTH_REFRESH",
    "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING",
    "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT",
    "CLAUDE_CODE_QUESTION_EXTENDED",
    "CLAUDE_CODE_QUESTION_OPTIONAL_DESCRIPTIONS",
    "CLAUDE_CODE_AGENT_PROGRESS_SUMMARIES",
    "CLAUDE_CODE_STREAM_EVENT_HOLD_MS",
    "CLAUDE_CODE_RESUME_INTERRUPTED_TURN",
    "CLAUDE_CODE_RESUME_REASON",
    "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS",
    // Make node print on stdout or run something else first.
    "NODE_OPTIONS",
    "DEBUG",
    // Belong to a span that is over.
    "TRACEPARENT",
    "TRACESTATE",
];

/// The complete environment of a child. Its `Debug` shows names only.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ChildEnv(BTreeMap<OsString, OsString>);

impl ChildEnv {
    /// The value of a variable.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.0.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// All variables, by name. Start the child with a cleared environment and these.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(k, v)| (k.as_os_str(), v.as_os_str()))
    }

    /// All variables, by name.
    pub(crate) fn into_pairs(self) -> impl Iterator<Item = (OsString, OsString)> {
        self.0.into_iter()
    }

    fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        let name = name.into();
        self.remove(&name);
        self.0.insert(name, value.into());
    }

    fn remove(&mut self, name: &OsStr) {
        self.0.retain(|present, _| !same_name(present, name));
    }
}

impl<K: Into<OsString>, V: Into<OsString>> FromIterator<(K, V)> for ChildEnv {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(variables: I) -> Self {
        let pairs = variables.into_iter().map(|(k, v)| (k.into(), v.into()));
        Self(pairs.collect())
    }
}

impl fmt::Debug for ChildEnv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Names of variables do not tell upper from lower case on Windows.
fn same_name(a: &OsStr, b: &OsStr) -> bool {
    if cfg!(windows) {
        a.eq_ignore_ascii_case(b)
    } else {
        a == b
    }
}

/// One change the caller makes to the environment; later ones win.
#[derive(Clone)]
pub(crate) enum EnvChange {
    Set(OsString, OsString),
    Remove(OsString),
    /// Nothing is inherited.
    Clear,
}

impl fmt::Debug for EnvChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set(name, _) => write!(f, "{}=…", name.display()),
            Self::Remove(name) => write!(f, "-{}", name.display()),
            Self::Clear => f.write_str("clear"),
        }
    }
}

/// What of the options ends in the environment.
#[derive(Debug, Clone, Default)]
pub(crate) struct EnvOptions {
    pub(crate) changes: Vec<EnvChange>,
    pub(crate) entrypoint: Option<String>,
    pub(crate) client_app: Option<String>,
    pub(crate) config_dir: Option<PathBuf>,
    pub(crate) file_checkpointing: bool,
    pub(crate) no_session_state_events: bool,
    pub(crate) question_previews: Option<String>,
    pub(crate) background_wait: Option<Duration>,
    pub(crate) mcp_tool_timeout: Option<Duration>,
    pub(crate) max_retries: Option<u32>,
    pub(crate) trace_parent: Option<String>,
    pub(crate) trace_state: Option<String>,
}

impl EnvOptions {
    /// The child's environment: inherited and scrubbed, then what the options mean, then what the caller set.
    pub(crate) fn build(
        &self,
        around: &Surroundings,
        cwd: Option<&Path>,
        marker: Option<&OsStr>,
    ) -> ChildEnv {
        let mut env = ChildEnv::default();
        let cleared = self.changes.iter().any(|c| matches!(c, EnvChange::Clear));
        if !cleared {
            env.0.extend(around.env.iter().cloned());
            for name in SCRUBBED {
                env.remove(OsStr::new(name));
            }
        }
        for (name, value) in self.own_variables() {
            env.set(name, value);
        }
        if let Some(cwd) = cwd {
            env.set("PWD", cwd);
        }
        for change in &self.changes {
            match change {
                EnvChange::Set(name, value) => env.set(name, value),
                EnvChange::Remove(name) => env.remove(name),
                EnvChange::Clear => {}
            }
        }
        // Last: without it descendants could not be found.
        if let Some(marker) = marker {
            env.set(MARKER, marker);
        }
        env
    }

    fn own_variables(&self) -> Vec<(&'static str, OsString)> {
        let millis = |d: Duration| OsString::from(d.as_millis().to_string());
        let text = |t: &String| OsString::from(t);
        let entrypoint = self.entrypoint.as_deref().unwrap_or(ENTRYPOINT);
        let mut own = vec![("CLAUDE_CODE_ENTRYPOINT", entrypoint.into())];
        let mut add = |name, value: Option<OsString>| own.extend(value.map(|value| (name, value)));
        let on = |switch: bool| switch.then(|| OsString::from("1"));
        add(
            "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS",
            on(!self.no_session_state_events),
        );
        add(
            "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING",
            on(self.file_checkpointing),
        );
        add(
            "CLAUDE_AGENT_SDK_CLIENT_APP",
            self.client_app.as_ref().map(text),
        );
        add(
            "CLAUDE_CONFIG_DIR",
            self.config_dir.clone().map(OsString::from),
        );
        add(
            "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT",
            self.question_previews.as_ref().map(text),
        );
        add(
            "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS",
            self.background_wait.map(millis),
        );
        add("MCP_TOOL_TIMEOUT", self.mcp_tool_timeout.map(millis));
        add(
            "CLAUDE_CODE_MAX_RETRIES",
            self.max_retries.map(|n| n.to_string().into()),
        );
        add("TRACEPARENT", self.trace_parent.as_ref().map(text));
        add("TRACESTATE", self.trace_state.as_ref().map(text));
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(variables: &[(&str, &str)]) -> Surroundings {
        Surroundings {
            env: variables
                .iter()
                .map(|(k, v)| (k.into(), v.into()))
                .collect(),
            ..Surroundings::default()
        }
    }

    fn set(name: &str, value: &str) -> EnvChange {
        EnvChange::Set(name.into(), value.into())
    }

    #[test]
    fn nothing_of_an_outer_session_is_inherited() {
        let outer: Vec<_> = SCRUBBED.iter().map(|name| (*name, "outer")).collect();
        let env = EnvOptions::default().build(&around(&outer), None, None);
        assert!(env.iter().all(|(_, value)| value != "outer"), "{env:?}");
    }

    #[test]
    fn everything_else_is_inherited() {
        let env = EnvOptions::default().build(
            &around(&[("PATH", "/bin"), ("ANTHROPIC_API_KEY", "k")]),
            None,
            None,
        );
        assert_eq!(env.get("PATH"), Some(OsStr::new("/bin")));
        assert_eq!(env.get("ANTHROPIC_API_KEY"), Some(OsStr::new("k")));
    }

    #[test]
    fn what_the_caller_sets_wins_over_scrubbing_and_over_our_own() {
        let options = EnvOptions {
            changes: vec![
                set("NODE_OPTIONS", "--max-old-space-size=4096"),
                set("CLAUDE_CODE_ENTRYPOINT", "mine"),
                EnvChange::Remove("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS".into()),
            ],
            ..EnvOptions::default()
        };
        let env = options.build(&around(&[("NODE_OPTIONS", "-r x")]), None, None);
        assert_eq!(
            env.get("NODE_OPTIONS"),
            Some(OsStr::new("--max-old-space-size=4096"))
        );
        assert_eq!(env.get("CLAUDE_CODE_ENTRYPOINT"), Some(OsStr::new("mine")));
        assert_eq!(env.get("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"), None);
    }

    #[test]
    fn a_cleared_environment_has_only_what_was_set_and_what_we_need() {
        let options = EnvOptions {
            changes: vec![EnvChange::Clear, set("PATH", "/only")],
            ..EnvOptions::default()
        };
        let env = options.build(&around(&[("HOME", "/h")]), None, Some(OsStr::new("m")));
        insta::assert_debug_snapshot!(env, @r#"
        {
            "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS",
            "CLAUDE_CODE_ENTRYPOINT",
            "COUNTERSIGN_AGENT",
            "PATH",
        }
        "#);
    }

    #[test]
    fn each_option_of_the_environment_sets_its_variable() {
        let options = EnvOptions {
            file_checkpointing: true,
            client_app: Some("app/1".into()),
            config_dir: Some("/c".into()),
            question_previews: Some("html".into()),
            background_wait: Some(Duration::from_secs(2)),
            mcp_tool_timeout: Some(Duration::from_millis(1500)),
            max_retries: Some(3),
            trace_parent: Some("00-1".into()),
            trace_state: Some("a=b".into()),
            ..EnvOptions::default()
        };
        let env = options.build(&around(&[]), Some(Path::new("/work")), None);
        let lines: Vec<_> = env
            .iter()
            .map(|(k, v)| format!("{}={}", k.display(), v.display()))
            .collect();
        insta::assert_snapshot!(lines.join("\n"), @r"
        CLAUDE_AGENT_SDK_CLIENT_APP=app/1
        CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1
        CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=1
        CLAUDE_CODE_ENTRYPOINT=sdk-cli
        CLAUDE_CODE_MAX_RETRIES=3
        CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS=2000
        CLAUDE_CODE_QUESTION_PREVIEW_FORMAT=html
        CLAUDE_CONFIG_DIR=/c
        MCP_TOOL_TIMEOUT=1500
        PWD=/work
        TRACEPARENT=00-1
        TRACESTATE=a=b
        ");
    }

    #[test]
    fn values_are_not_shown() {
        let change = format!("{:?}", set("ANTHROPIC_API_KEY", "sk-1"));
        assert_eq!(change, "ANTHROPIC_API_KEY=…");
        let env = ChildEnv::from_iter([("ANTHROPIC_API_KEY", "sk-1")]);
        assert!(!format!("{env:?}").contains("sk-1"));
    }
}
