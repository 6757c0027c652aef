//! Whether an agent stands as it was asked for, said by the agent itself.
//!
//! Owns what must hold before an agent gets a message ([`Wanted`]) and the comparison with what it says. Changes only what
//! a request can change ([`put_in_force`]). Invariant: what this version cannot say is listed as unproved, never taken for
//! granted; nothing that lets calls pass rests on it, since every call is asked about in any case.

use std::path::{Path, PathBuf};

use countersign_client::options::Version;
use countersign_client::wire::control::InitializeReply;
use countersign_client::{Error, Handle, Json, PermissionMode};
use countersign_policy::rule::todays_name;
use countersign_policy::{ASKED_TOOLS, Disk as _, EVERY_TOOL, RealDisk};
use serde::Deserialize;

use super::watching::{HOOKS_CANNOT_PASS, Watching, needs_hook};
use crate::control::session::Setup;

/// What must hold for an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted {
    /// The model that was chosen; the CLI's own choice without one.
    pub model: Option<String>,
    /// The mode of the CLI.
    pub mode: PermissionMode,
    /// Folders that count as inside.
    pub add_dirs: Vec<PathBuf>,
    /// Rules by which the CLI asks about every call.
    asks: Vec<String>,
    /// Rules by which the CLI leaves alone what is ours.
    denies: Vec<String>,
    /// The settings that hold these rules.
    settings: Json,
    /// Whether the hook was registered.
    has_hook: bool,
}

/// What does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unmet {
    /// Another model.
    #[error("the model is {got}, not {wanted}")]
    Model {
        /// The one that was chosen.
        wanted: String,
        /// The one that answers.
        got: String,
    },
    /// Another mode.
    #[error("the mode is {got}, not {wanted}")]
    Mode {
        /// The one that was chosen.
        wanted: String,
        /// The one in force.
        got: String,
    },
    /// A folder that does not count as inside.
    #[error("{} does not count as inside", .0.display())]
    Folder(PathBuf),
    /// A rule that is not in force.
    #[error("the rule `{0}` is not in force")]
    Rule(String),
    /// This version lets hooks of settings allow calls, and was started as if it did not.
    #[error("claude {0} was started without the hook that it needs: start it again")]
    Hook(Version),
}

/// How an agent stands.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InForce {
    /// What does not hold.
    pub unmet: Vec<Unmet>,
    /// What this version does not tell before a turn: `mode`, `model`, `folders`, `rules`.
    pub unproved: Vec<&'static str>,
}

impl InForce {
    /// Whether nothing is known to be amiss.
    pub fn holds(&self) -> bool {
        self.unmet.is_empty()
    }
}

/// What an agent says of itself.
#[derive(Debug, Clone, Default)]
struct Seen {
    version: Option<Version>,
    mode: Option<String>,
    model: Option<String>,
    /// What the CLI says that the wanted model is called in full.
    full_name: Option<String>,
    rules: Option<Vec<(String, String)>>,
    folders: Option<Vec<PathBuf>>,
}

impl Wanted {
    pub(super) fn new(
        setup: &Setup,
        mode: PermissionMode,
        add_dirs: &[PathBuf],
        watching: &Watching,
    ) -> Self {
        let permissions = &watching.watch().settings["permissions"];
        let texts = |list: &str| -> Vec<String> {
            let rules = permissions[list].as_array().into_iter().flatten();
            let texts = rules.filter_map(|rule| rule.as_str().map(str::to_owned));
            texts.collect()
        };
        Self {
            model: setup.model.clone(),
            mode,
            add_dirs: add_dirs.to_vec(),
            // The rule for every tool stands for no tool on older versions; the others show that the settings were taken.
            asks: texts("ask")
                .into_iter()
                .filter(|rule| rule != EVERY_TOOL)
                .collect(),
            denies: texts("deny"),
            settings: watching.settings(),
            has_hook: watching.has_hook(),
        }
    }

    fn compare(&self, seen: &Seen) -> InForce {
        let mut found = InForce::default();
        let wanted = self.mode.as_str();
        match seen.mode.as_deref() {
            None => found.unproved.push("mode"),
            Some(got) if got != wanted => found.unmet.push(Unmet::Mode {
                wanted: wanted.to_owned(),
                got: got.to_owned(),
            }),
            Some(_) => {}
        }
        if let Some(wanted) = &self.model {
            match seen
                .model
                .as_ref()
                .map(|got| (got, seen.is_model(wanted, got)))
            {
                None | Some((_, None)) => found.unproved.push("model"),
                Some((got, Some(false))) => found.unmet.push(Unmet::Model {
                    wanted: wanted.clone(),
                    got: got.clone(),
                }),
                Some((_, Some(true))) => {}
            }
        }
        match &seen.folders {
            None if !self.add_dirs.is_empty() => found.unproved.push("folders"),
            None => {}
            Some(folders) => {
                let is_missing =
                    |folder: &&PathBuf| !folders.iter().any(|known| same(known, folder));
                let missing = self.add_dirs.iter().filter(is_missing).cloned();
                found.unmet.extend(missing.map(Unmet::Folder));
            }
        }
        match &seen.rules {
            None => found.unproved.push("rules"),
            Some(rules) => {
                let asks = self.asks.iter().map(|rule| ("ask", rule));
                let denies = self.denies.iter().map(|rule| ("deny", rule));
                // The CLI lists a tool by its name of today, and which name that is depends on the version.
                let is_listed = |effect: &str, rule: &str| {
                    let is_it = |text: &str| text == rule || text == todays_name(rule);
                    (rules.iter()).any(|(known, text)| known == effect && is_it(text))
                };
                // Where every tool is asked about, it does not matter what one of them is called by now.
                let asks_about_all = is_listed("ask", EVERY_TOOL);
                let asks = asks.filter(|(_, rule)| !asks_about_all || !is_tool(rule));
                for (effect, rule) in asks.chain(denies) {
                    if !is_listed(effect, rule) {
                        found.unmet.push(Unmet::Rule(format!("{effect} {rule}")));
                    }
                }
            }
        }
        if let Some(version) = seen.version.filter(|version| needs_hook(Some(*version)))
            && !self.has_hook
        {
            found.unmet.push(Unmet::Hook(version));
        }
        found
    }
}

/// Returns whether a rule names a whole tool of the CLI itself, by whatever name.
fn is_tool(rule: &str) -> bool {
    ASKED_TOOLS.contains(&rule)
}

impl Seen {
    /// Whether the model that answers is the wanted one, if that can be said.
    fn is_model(&self, wanted: &str, got: &str) -> Option<bool> {
        if let Some(full) = &self.full_name {
            return Some(full == got || wanted == got);
        }
        // Older versions do not say which model a short name means; it is a part of the full one, or a choice of theirs.
        let (short, _) = wanted.split_once('[').unwrap_or((wanted, ""));
        match got.contains(short) {
            true => Some(true),
            false => short.contains(['-', '.', '/']).then_some(false),
        }
    }
}

fn same(one: &Path, other: &Path) -> bool {
    one == other
        || RealDisk
            .real(one)
            .is_some_and(|one| RealDisk.real(other) == Some(one))
}

/// How an agent stands that was greeted. 2.1.325 is asked; older versions tell the rest with their first turn
/// ([`told_by_init`]).
///
/// # Errors
/// When the agent is gone, or does not answer.
pub async fn in_force(handle: &Handle, wanted: &Wanted) -> Result<InForce, Error> {
    let version = handle.version();
    let mut seen = Seen {
        version,
        mode: handle.permission_mode(),
        model: handle.model(),
        full_name: full_name(wanted.model.as_deref(), handle.initialize_reply()),
        ..Seen::default()
    };
    if version.is_some_and(|version| version >= HOOKS_CANNOT_PASS) {
        let settings = handle.settings().await?;
        seen.model = settings.applied.map(|applied| applied.model).or(seen.model);
        let state = handle.permission_rules().await?.state;
        let holding = state.rules.into_iter();
        let holding = holding.filter(|rule| rule.not_in_effect != Some(true));
        let rules = holding.map(|rule| (rule.behavior.as_str().to_owned(), rule.rule));
        seen.rules = Some(rules.collect());
        let folders = state.workspace_directories.into_iter();
        seen.folders = Some(folders.map(|folder| PathBuf::from(folder.path)).collect());
    }
    Ok(wanted.compare(&seen))
}

/// Brings about what a request can bring about (mode, model, rules), and looks again.
///
/// # Errors
/// When the agent is gone, or does not answer.
pub async fn put_in_force(handle: &Handle, wanted: &Wanted) -> Result<InForce, Error> {
    let found = in_force(handle, wanted).await?;
    if found.holds() {
        return Ok(found);
    }
    let is_amiss = |what: fn(&Unmet) -> bool| found.unmet.iter().any(what);
    if is_amiss(|unmet| matches!(unmet, Unmet::Mode { .. })) {
        handle.set_permission_mode(wanted.mode.clone()).await?;
    }
    if is_amiss(|unmet| matches!(unmet, Unmet::Model { .. })) {
        handle.set_model(wanted.model.as_deref()).await?;
    }
    if is_amiss(|unmet| matches!(unmet, Unmet::Rule(_))) {
        handle.apply_flag_settings(wanted.settings.clone()).await?;
    }
    in_force(handle, wanted).await
}

/// What of the wanted does not hold, by the line with which a turn begins.
pub fn told_by_init(
    wanted: &Wanted,
    init: &[u8],
    greeting: Option<&InitializeReply>,
) -> Vec<Unmet> {
    #[derive(Deserialize)]
    struct Init {
        #[serde(rename = "permissionMode")]
        permission_mode: Option<String>,
        model: Option<String>,
        claude_code_version: Option<String>,
    }
    let Ok(init) = serde_json::from_slice::<Init>(init) else {
        return Vec::new();
    };
    let seen = Seen {
        version: init.claude_code_version.as_deref().and_then(Version::find),
        mode: init.permission_mode,
        full_name: full_name(wanted.model.as_deref(), greeting),
        model: init.model,
        ..Seen::default()
    };
    wanted.compare(&seen).unmet
}

/// What a model is called in full, where the greeting says so.
fn full_name(wanted: Option<&str>, greeting: Option<&InitializeReply>) -> Option<String> {
    let wanted = wanted?;
    let model = greeting?
        .models
        .iter()
        .find(|model| model.value == wanted)?;
    model.resolved_model.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(asks: &[&str]) -> Wanted {
        Wanted {
            model: None,
            mode: PermissionMode::Default,
            add_dirs: Vec::new(),
            asks: asks.iter().map(|rule| (*rule).to_owned()).collect(),
            denies: Vec::new(),
            settings: Json::from(serde_json::json!({})),
            has_hook: true,
        }
    }

    fn unmet(asks: &[&str], listed: &[&str]) -> Vec<Unmet> {
        let rules = listed
            .iter()
            .map(|rule| ("ask".to_owned(), (*rule).to_owned()));
        let seen = Seen {
            rules: Some(rules.collect()),
            ..Seen::default()
        };
        wanted(asks).compare(&seen).unmet
    }

    #[test]
    fn a_tool_that_has_another_name_on_another_version_is_asked_about_by_either() {
        // 2.1.325 lists the one, 2.1.327 the other, for the same rules.
        assert_eq!(unmet(&["ProposeGoal"], &["ProposeGoal"]), []);
        assert_eq!(unmet(&["ProposeGoal", "SetGoal"], &["SetGoal"]), []);
    }

    #[test]
    fn a_renamed_tool_is_no_trouble_where_every_tool_is_asked_about() {
        assert_eq!(unmet(&["TaskGet", "Bash"], &["*", "Bash"]), []);
        let missing = unmet(&["TaskGet", "Bash"], &["Bash"]);
        assert_eq!(missing, [Unmet::Rule("ask TaskGet".to_owned())]);
        // A rule of a server is one of its own, and shows that the settings were taken.
        let missing = unmet(&["mcp__notes"], &["*"]);
        assert_eq!(missing, [Unmet::Rule("ask mcp__notes".to_owned())]);
    }
}
