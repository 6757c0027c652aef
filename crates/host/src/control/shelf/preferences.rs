//! What a person prefers about the host, over what it was started with.
//!
//! Owns [`Preferences`]: only what takes effect. Times are microseconds.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::given;

/// The name of the preference that a command line can give.
pub(crate) const MAX_AGENTS: &str = "max_agents";

/// What this host goes by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Preferences {
    /// So many agents live at once.
    pub max_agents: usize,
    /// An agent that is idle for so long goes to sleep. None: never.
    pub sleep_after: Option<u64>,
    /// A question that nobody answers is denied after so long. None: never. Holds for questions that come from now on.
    pub expiry: Option<u64>,
    /// Turns that were cut off by a crash or a reboot go on by themselves when a host begins.
    pub resumes_cut_off: bool,
    /// An agent that crashes in the middle of a turn is started again and told to go on, once for each turn.
    #[serde(default)]
    pub asks_again_after_crash: bool,
    /// Ended sessions in which nothing happened for so many days are proposed for the trash. None: never. None goes by itself.
    #[serde(default)]
    pub retention_days: Option<u32>,
    /// Folders below which a person may look for one to work in; the home where there are none. Those that sessions worked in
    /// are shown beside them.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    pub browse_roots: Vec<PathBuf>,
    /// Regular expressions of what is a secret, beside what looks like one and what `redact.txt` says.
    #[serde(default)]
    pub redact: Vec<String>,
    /// What the command line said for this run, by name. A preference of such a name is kept, and counts when the host is
    /// started without it.
    #[serde(default)]
    pub given: Vec<String>,
}

/// Other preferences. What is left out stays.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PatchPreferences {
    /// So many agents live at once, from 1 to 1000. Those that are too many are not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 1000)]
    pub max_agents: Option<usize>,
    /// An agent that is idle for so long goes to sleep; `null`: never.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<u64>)]
    pub sleep_after: Option<Option<u64>>,
    /// A question that nobody answers is denied after so long; `null`: never.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<u64>)]
    pub expiry: Option<Option<u64>>,
    /// Turns that were cut off go on by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes_cut_off: Option<bool>,
    /// An agent that crashes in the middle of a turn is asked again, once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks_again_after_crash: Option<bool>,
    /// After so many days ended sessions are proposed for the trash, 1 to 3650; `null`: never.
    #[serde(
        default,
        deserialize_with = "given",
        skip_serializing_if = "Option::is_none"
    )]
    #[schema(value_type = Option<u32>)]
    pub retention_days: Option<Option<u32>>,
    /// All folders below which a person may look; none for the home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<String>>)]
    pub browse_roots: Option<Vec<PathBuf>>,
    /// All regular expressions of what is a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redact: Option<Vec<String>>,
}

impl PatchPreferences {
    /// What both say; where they differ, the later one.
    #[must_use]
    pub fn then(self, later: Self) -> Self {
        Self {
            max_agents: later.max_agents.or(self.max_agents),
            sleep_after: later.sleep_after.or(self.sleep_after),
            expiry: later.expiry.or(self.expiry),
            resumes_cut_off: later.resumes_cut_off.or(self.resumes_cut_off),
            asks_again_after_crash: later.asks_again_after_crash.or(self.asks_again_after_crash),
            retention_days: later.retention_days.or(self.retention_days),
            browse_roots: later.browse_roots.or(self.browse_roots),
            redact: later.redact.or(self.redact),
        }
    }

    /// What holds, where this is laid over what a host was started with.
    #[must_use]
    pub fn over(&self, start: &Preferences) -> Preferences {
        let is_given = |name: &str| start.given.iter().any(|given| given == name);
        let most = self.max_agents.filter(|_| !is_given(MAX_AGENTS));
        Preferences {
            max_agents: most.unwrap_or(start.max_agents),
            sleep_after: self.sleep_after.unwrap_or(start.sleep_after),
            expiry: self.expiry.unwrap_or(start.expiry),
            resumes_cut_off: self.resumes_cut_off.unwrap_or(start.resumes_cut_off),
            asks_again_after_crash: self
                .asks_again_after_crash
                .unwrap_or(start.asks_again_after_crash),
            retention_days: self.retention_days.unwrap_or(start.retention_days),
            browse_roots: self
                .browse_roots
                .clone()
                .unwrap_or_else(|| start.browse_roots.clone()),
            redact: self.redact.clone().unwrap_or_else(|| start.redact.clone()),
            given: start.given.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_never_and_absence_leaves_it() {
        let start = Preferences {
            max_agents: 32,
            sleep_after: Some(5),
            expiry: None,
            resumes_cut_off: false,
            asks_again_after_crash: false,
            retention_days: None,
            browse_roots: Vec::new(),
            redact: Vec::new(),
            given: Vec::new(),
        };
        let read = |text: &str| serde_json::from_str::<PatchPreferences>(text).unwrap();
        let never = read(r#"{"sleep_after":null}"#);
        assert_eq!(never.over(&start).sleep_after, None);
        let both = never.then(read(r#"{"max_agents":2,"expiry":7}"#));
        let stored = serde_json::to_string(&both).unwrap();
        let held = read(&stored).over(&start);
        assert_eq!((held.max_agents, held.sleep_after), (2, None));
        assert_eq!((held.expiry, held.resumes_cut_off), (Some(7), false));
        assert!(serde_json::from_str::<PatchPreferences>(r#"{"max_agent":2}"#).is_err());
    }

    #[test]
    fn what_the_command_line_gave_holds_and_what_an_earlier_build_stored_is_read() {
        let old = r#"{"max_agents":32,"sleep_after":null,"expiry":null,"resumes_cut_off":false}"#;
        let mut start: Preferences = serde_json::from_str(old).unwrap();
        let said: PatchPreferences =
            serde_json::from_str(r#"{"max_agents":2,"retention_days":30}"#).unwrap();
        assert_eq!(said.over(&start).max_agents, 2);
        start.given = vec![MAX_AGENTS.to_owned()];
        let held = said.over(&start);
        assert_eq!((held.max_agents, held.retention_days), (32, Some(30)));
        assert_eq!(held.given, [MAX_AGENTS]);
    }
}
