//! From a session's setup to an agent that asks about every call.
//!
//! Owns the options that agents are started with, and those by which a host speaks to one that runs already. Starts
//! nothing: the keeper does. Invariants: the CLI is in its default mode or in plan mode, never in one that lets calls
//! pass; in a folder that nobody trusts only the person's own settings are read; secrets go by file or environment.

use std::path::Path;

use countersign_client::Claude;
use countersign_client::options::{
    Capabilities, OLDEST_SUPPORTED, OptionError, SettingSource, Version,
};
use countersign_client::wire::mcp::McpServerConfig;
use countersign_policy::{Disk as _, RealDisk, Watch};
use serde_json::{Value, json};

use super::environment;
use super::error::DeskError;
use super::extras;
use super::grounds::{self, HostSettings};
use super::in_force::Wanted;
use super::policy::Desk;
use super::versions::cli;
use super::watching::Watching;
use crate::control::session::Setup;

/// Which conversation of the CLI an agent is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conversation {
    /// A new one under this id, a UUID. Also where a resume found none of that id.
    New {
        /// Its id.
        id: String,
    },
    /// One that goes on.
    Resume {
        /// Its id.
        id: String,
    },
    /// A new one that begins as a copy of another.
    Fork {
        /// The id of the other.
        from: String,
        /// Its own id, a UUID.
        id: String,
    },
}

/// An agent that can be started, or that runs and can be spoken to.
#[derive(Debug)]
pub struct Starting {
    /// The options, questions as values.
    pub claude: Claude,
    /// What keeps it asking.
    pub watching: Watching,
    /// What must be in force before it gets a message.
    pub wanted: Wanted,
    /// The version, if it told.
    pub version: Option<Version>,
}

/// What the agent of a session is started with. The desk must be that of the new agent ([`Desk::next_agent`]).
///
/// # Errors
/// When there is no CLI, or something in the setup makes no sense.
pub async fn start(
    desk: &Desk,
    setup: &Setup,
    conversation: &Conversation,
    host: &HostSettings,
    now: u64,
) -> Result<Starting, DeskError> {
    let command = command(setup, host);
    let env = environment::all(setup, host);
    let version = host.versions.of(command, env).await?;
    if let Some(version) = version.filter(|version| *version < OLDEST_SUPPORTED) {
        return Err(DeskError::TooOld(version));
    }
    if let (Conversation::Fork { .. }, Some(version)) = (conversation, version)
        && !Capabilities::of(Some(version)).takes_id_of_fork()
    {
        return Err(OptionError::ForkIdNotInVersion(version).into());
    }
    let watching = Watching::new(watch(desk, setup, host), version);
    let mode = desk.mode(now).for_next_agent().of_cli();
    let mut claude = options(host, &watching)
        .cli(cli(command))
        .cwd(desk.grounds().cwd())
        .permission_mode(mode.clone())
        .settings(watching.settings())
        .include_partial_messages(true)
        .file_checkpointing(true);
    claude = environment::given(claude, setup, host)?;
    claude = extras::given(claude, setup, version)?;
    claude = match conversation {
        Conversation::New { id } => claude.session_id(id),
        Conversation::Resume { id } => claude.resume(id),
        Conversation::Fork { from, id } => claude.resume(from).fork_session(true).session_id(id),
    };
    if !desk.withheld().programs.is_empty() {
        claude = claude.setting_sources([SettingSource::User]);
    }
    if let Some(model) = &setup.model {
        claude = claude.model(model);
    }
    if let Some(text) = &setup.append_system_prompt {
        claude = claude.append_system_prompt(text.as_str());
    }
    if let Some(budget) = setup.budget_usd {
        claude = claude.max_budget_usd(backstop(budget)?);
    }
    for folder in desk.added() {
        claude = claude.add_dir(folder);
    }
    for (name, server) in &setup.mcp_servers {
        claude = claude.mcp_server(name, server_of(name, server)?);
    }
    Ok(Starting {
        wanted: Wanted::new(setup, mode, desk.added(), &watching),
        claude,
        watching,
        version,
    })
}

/// What speaks to an agent that another host started: it answers the hooks that wait, and asks nothing of a CLI. `version`
/// is the one the agent told, if it did.
pub fn attach(
    desk: &Desk,
    setup: &Setup,
    host: &HostSettings,
    version: Option<Version>,
    now: u64,
) -> Starting {
    let watching = Watching::new(watch(desk, setup, host), version);
    let mode = desk.mode(now).of_cli();
    Starting {
        claude: options(host, &watching),
        wanted: Wanted::new(setup, mode, desk.added(), &watching),
        watching,
        version,
    }
}

/// What is said in the greeting, and who answers what.
fn options(host: &HostSettings, watching: &Watching) -> Claude {
    let claude = Claude::new()
        .supported_dialog_kinds(host.dialog_kinds.clone())
        .questions();
    watching.hooked(claude)
}

/// Whether an agent can be set up so in this folder, as far as that shows before one is started.
///
/// # Errors
/// What makes no sense.
pub(crate) fn check(setup: &Setup, cwd: &Path, host: &HostSettings) -> Result<(), DeskError> {
    environment::check_variables(&setup.env)?;
    extras::check(setup)?;
    for (name, server) in &setup.mcp_servers {
        server_of(name, server)?;
    }
    grounds::Grounds::of(setup, cwd, None, host).map(drop)
}

pub(super) fn command<'a>(setup: &'a Setup, host: &'a HostSettings) -> &'a [String] {
    match setup.claude.is_empty() {
        true => &host.claude,
        false => &setup.claude,
    }
}

/// What makes the agent ask, and a second lock on what is ours: policy is the first.
fn watch(desk: &Desk, setup: &Setup, host: &HostSettings) -> Watch {
    let locks = locks(desk.grounds().cwd(), host);
    let servers = setup.mcp_servers.keys();
    let servers = servers.map(|name| format!("mcp__{}", as_the_cli_names(name)));
    let tools: Vec<String> = desk.mcp_tools().map(str::to_owned).chain(servers).collect();
    let mut given = extras::settings(setup);
    given.insert("permissions".to_owned(), json!({"deny": locks}));
    Watch::new(Some(&Value::Object(given)), &tools)
}

/// The CLI has letters, digits, `_` and `-` in the names of tools, and `_` for whatever else stands in a server's.
fn as_the_cli_names(server: &str) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
        true => c,
        false => '_',
    };
    server.chars().map(plain).collect()
}

/// Rules of the CLI that close what is ours, by its letters and by where it leads.
fn locks(cwd: &Path, host: &HostSettings) -> Vec<String> {
    let mut rules = Vec::new();
    for path in grounds::closed(cwd, host) {
        let real = RealDisk.real(&path).filter(|real| *real != path);
        for path in [Some(path), real].into_iter().flatten() {
            let Some(text) = path.to_str().filter(|text| is_plain(text)) else {
                continue;
            };
            for tool in ["Read", "Edit"] {
                rules.push(match path.is_file() {
                    true => format!("{tool}(/{text})"),
                    false => format!("{tool}(/{text}/**)"),
                });
            }
        }
    }
    rules
}

/// Whether a path means itself in a rule of the CLI. One that does not is left to policy.
fn is_plain(path: &str) -> bool {
    cfg!(unix) && !path.contains(['*', '?', '[', ']', '{', '}', '!', '(', ')', '\\'])
}

/// A budget is kept by the host, which interrupts and asks. This one is for when there is none.
fn backstop(budget: f64) -> Result<f64, DeskError> {
    match budget.is_finite() && budget > 0.0 {
        true => Ok(budget * 2.0),
        false => Err(DeskError::BadBudget(budget)),
    }
}

fn server_of(name: &str, server: &Value) -> Result<McpServerConfig, DeskError> {
    let bad = |why: String| DeskError::BadServer {
        name: name.to_owned(),
        why,
    };
    match serde_json::from_value(server.clone()) {
        Ok(McpServerConfig::Sdk(_)) => Err(bad("no server runs in this host".to_owned())),
        Ok(config) => Ok(config),
        Err(error) => Err(bad(without_values(&error.to_string()))),
    }
}

/// What a reader says of a value that does not fit, without the value: it may be a key.
pub(super) fn without_values(said: &str) -> String {
    match (said.find('"'), said.rfind('"')) {
        (Some(from), Some(to)) if from < to => {
            format!("{}[masked]{}", &said[..from], &said[to + 1..])
        }
        _ => said.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_cannot_be_read_does_not_show_what_was_written_there() {
        let key = concat!("not-a-", "real-key");
        for server in [
            json!({"command": "x", "env": key}),
            json!({"command": "x", "env": {"KEY": [key]}}),
            json!({"command": "x", "args": key}),
            json!({"type": "http", "url": "https://x", "headers": key}),
            json!(key),
        ] {
            let said = server_of("calc", &server).unwrap_err().to_string();
            assert!(said.contains("calc") && !said.contains(key), "{said}");
        }
    }
}
