//! The environment of an agent: what it inherits, what is ours, what a session sets.
//!
//! Owns the order: the host's own environment without our variables, then what the host sets for all agents, then what
//! the session sets, then the CLI's folder. Invariant: no variable of ours is inherited, since it may be a secret.

use std::collections::BTreeMap;
use std::ffi::OsString;

use countersign_client::Claude;

use super::error::DeskError;
use super::grounds::HostSettings;
use crate::control::session::Setup;

/// What the names of our own variables begin with.
const OURS: &str = "COUNTERSIGN_";

/// Where the CLI keeps its settings and transcripts.
const CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

fn is_ours(name: &str) -> bool {
    name.get(..OURS.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(OURS))
}

/// A variable of the host: what it sets for its agents, else what it has itself.
pub(crate) fn variable_of_host(name: &str, host: &HostSettings) -> Option<OsString> {
    let set = host.env.iter().rev().find(|(known, _)| known == name);
    match set {
        Some((_, value)) => Some(value.clone()),
        None if host.inherits => std::env::var_os(name),
        None => None,
    }
}

/// A variable as the agent sees it.
pub(crate) fn variable_of_agent(
    name: &str,
    setup: &Setup,
    host: &HostSettings,
) -> Option<OsString> {
    if let Some(folder) = setup.config_dir.as_ref().filter(|_| name == CONFIG_DIR) {
        return Some(folder.clone().into_os_string());
    }
    match setup.env.get(name) {
        Some(value) => Some(value.into()),
        None => variable_of_host(name, host).filter(|_| !is_ours(name)),
    }
}

/// Every variable that the agent has before the client adds its own: for whoever must run the CLI beforehand.
pub(super) fn all(setup: &Setup, host: &HostSettings) -> Vec<(OsString, OsString)> {
    let inherited =
        std::env::vars_os().filter(|(name, _)| host.inherits && !is_ours(&name.to_string_lossy()));
    let session = setup.env.iter();
    let config = setup.config_dir.iter();
    inherited
        .chain(host.env.iter().cloned())
        .chain(session.map(|(name, value)| (name.into(), value.into())))
        .chain(config.map(|folder| (CONFIG_DIR.into(), folder.into())))
        .collect()
}

/// What the host gives to every agent, and to what it starts for them.
pub(crate) fn environment_of_host(host: &HostSettings) -> Vec<(OsString, OsString)> {
    all(&Setup::default(), host)
}

/// Whether a process can have these variables.
pub(crate) fn check_variables(env: &BTreeMap<String, String>) -> Result<(), DeskError> {
    let is_bad = |(name, value): &(&String, &String)| {
        name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
    };
    match env.iter().find(is_bad) {
        Some((name, _)) => Err(DeskError::BadVariable(name.clone())),
        None => Ok(()),
    }
}

/// Gives the agent its environment.
pub(super) fn given(
    mut claude: Claude,
    setup: &Setup,
    host: &HostSettings,
) -> Result<Claude, DeskError> {
    if host.inherits {
        for (name, _) in std::env::vars_os() {
            if is_ours(&name.to_string_lossy()) {
                claude = claude.env_remove(name);
            }
        }
    } else {
        claude = claude.env_clear();
    }
    for (name, value) in &host.env {
        claude = claude.env(name, value);
    }
    check_variables(&setup.env)?;
    for (name, value) in &setup.env {
        claude = claude.env(name, value);
    }
    if let Some(folder) = &setup.config_dir {
        claude = claude.env(CONFIG_DIR, folder);
    }
    Ok(claude)
}
