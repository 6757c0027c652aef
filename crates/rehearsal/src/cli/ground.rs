//! What is found on disk before the engine starts: settings, agents, commands, and the session to go on with.
//!
//! Reads only. Invariant: without a ground nothing is read and nothing is left behind, as inside a test.

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde_json::{Value, json};

use super::args::Flags;
use super::cast::Cast;
use super::disk::{
    self, Agents, Chosen, Commands, NoHome, Past, Places, Plugin, ResumeError, Settings,
};
use super::version::Version;

/// What was found.
#[derive(Debug, Clone)]
pub struct Ground {
    pub(in crate::cli) places: Places,
    pub(in crate::cli) settings: Settings,
    pub(in crate::cli) agents: Agents,
    pub(in crate::cli) commands: Commands,
    pub(in crate::cli) plugins: Vec<Plugin>,
    pub(in crate::cli) past: Option<Past>,
    pub(in crate::cli) trusted: bool,
    pub(in crate::cli) git_branch: String,
    /// Servers of `--mcp-config` that live in the host.
    pub(in crate::cli) servers: Vec<String>,
    /// Servers of `--mcp-config` that are processes, and how each is started.
    pub(in crate::cli) processes: Vec<(String, Value)>,
    /// Said on stderr at the start.
    pub(in crate::cli) warnings: Vec<String>,
}

/// Why the CLI does not start here.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum GroundError {
    #[error(transparent)]
    NoHome(#[from] NoHome),
    #[error(transparent)]
    Resume(#[from] ResumeError),
}

impl Ground {
    /// Reads what the flags and the environment name.
    pub(in crate::cli) fn find(
        flags: &Flags,
        env: &BTreeMap<String, String>,
        cwd: &str,
        version: Version,
    ) -> Result<Self, GroundError> {
        let places = Places::of_environment(|name| env.get(name).map(OsString::from), cwd)?;
        let chosen = match flags.value("--setting-sources") {
            Some(sources) => Chosen::parse(sources),
            None => Chosen::ALL,
        };
        let is_object =
            |text: &&str| serde_json::from_str(text).is_ok_and(|text: Value| text.is_object());
        let managed = flags.value("--managed-settings").filter(is_object);
        let settings = Settings::load(&places, chosen, flags.settings.as_deref(), managed);
        let cast = Cast::of(version);
        let initialized = cast.reply("initialize").cloned().unwrap_or_default();
        let mut agents = Agents::load(&initialized["agents"], &places, chosen);
        if let Some(text) = &flags.agents {
            // What is wrong with it was said when the flags were read.
            agents.add_json(&serde_json::from_str(text).unwrap_or_default());
        }
        let mut commands = Commands::load(&places, chosen);
        let more = flags.values("--plugin-dir-no-mcp");
        let plugins = flags.values("--plugin-dir").chain(more);
        let plugins: Vec<Plugin> = plugins.map(|dir| Plugin::read(&places.cwd, dir)).collect();
        for plugin in &plugins {
            agents.add_plugin(plugin);
            commands.add_plugin(plugin);
        }
        let trusted = disk::is_trusted(&places);
        let (of_host, others): (Vec<_>, Vec<_>) = servers(flags.values("--mcp-config"))
            .into_iter()
            .partition(|(_, server)| server["type"] == "sdk");
        let is_process = |(_, server): &(String, Value)| server["command"].is_string();
        Ok(Self {
            commands,
            plugins,
            past: past(flags, &places)?,
            git_branch: places.git_branch(),
            warnings: distrusted(&places, &settings, trusted),
            servers: of_host.into_iter().map(|(name, _)| name).collect(),
            processes: others.into_iter().filter(is_process).collect(),
            settings,
            agents,
            trusted,
            places,
        })
    }
}

/// What is said on stdout of a session that cannot be gone on with, before the process ends.
pub(in crate::cli) fn lost(session: &str, uuid: &str, error: &str) -> Value {
    let mut line = Value::Object(Cast::of(Version::NEWEST).line("lost"));
    line["session_id"] = session.into();
    line["uuid"] = uuid.into();
    line["errors"] = json!([error]);
    line
}

fn past(flags: &Flags, places: &Places) -> Result<Option<Past>, ResumeError> {
    let past = match &flags.resume {
        Some(wanted) => Some(disk::resolve(places, wanted)?),
        None if flags.has("--continue") => disk::latest(places),
        None => {
            if let Some(session) = &flags.session {
                disk::free(places, session)?;
            }
            None
        }
    };
    match (past, flags.value("--resume-session-at")) {
        (Some(past), Some(uuid)) => {
            let drops = flags.value("--resume-drops-turn");
            Ok(Some(past.cut_at(uuid, drops)?))
        }
        (past, _) => Ok(past),
    }
}

/// What the project allows does not count until a person trusts the folder.
fn distrusted(places: &Places, settings: &Settings, trusted: bool) -> Vec<String> {
    let allowed = settings
        .of(super::source::Source::Project)
        .and_then(|settings| settings["permissions"]["allow"].as_array());
    match allowed {
        Some(rules) if !trusted && !rules.is_empty() => {
            vec![disk::distrust(places, rules.len())]
        }
        _ => Vec::new(),
    }
}

/// The servers of files or JSON: name and definition.
fn servers<'a>(configs: impl Iterator<Item = &'a str>) -> Vec<(String, Value)> {
    let read = |config: &str| {
        let text = match config.trim_start().starts_with('{') {
            true => config.to_owned(),
            false => std::fs::read_to_string(config).unwrap_or_default(),
        };
        let parsed: Value = serde_json::from_str(&text).unwrap_or_default();
        parsed["mcpServers"]
            .as_object()
            .cloned()
            .unwrap_or_default()
    };
    configs.flat_map(read).collect()
}
