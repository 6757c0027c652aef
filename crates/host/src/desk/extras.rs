//! How hard an agent works, and the hooks and sub-agents a session brings.
//!
//! Owns what of these is sound, what a version lacks, and how they reach the CLI. Invariants: hooks of a session stand where
//! those of a person's settings stand, beside our ask rules and never in their place; none answers a question that is a
//! person's; a sub-agent brings no mode, no hook and no server of its own.

use countersign_client::Claude;
use countersign_client::options::{Thinking, Version};
use countersign_client::wire::control::AgentDefinition;
use countersign_client::wire::vocab::Effort;
use serde_json::{Map, Value, json};

use super::environment;
use super::error::DeskError;
use super::grounds::HostSettings;
use super::start::{command, without_values};
use crate::control::session::Setup;

/// The first version with `--effort` and `--thinking`.
const FIRST_WITH_EFFORT: Version = Version::new(2, 1, 62);

/// The levels of effort, from the least.
const EFFORTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

/// Maximum number of tokens to think with.
const MOST_THINKING: u32 = 1_000_000;

/// The points at which a session's hooks run. `PermissionRequest` is not among them: it would answer in a person's place.
const HOOK_EVENTS: [&str; 11] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
];

/// What a definition of a sub-agent may say.
const AGENT_FIELDS: [&str; 10] = [
    "description",
    "prompt",
    "tools",
    "disallowedTools",
    "model",
    "skills",
    "maxTurns",
    "effort",
    "background",
    "initialPrompt",
];

/// Checks the form of it, whatever CLI it is for.
///
/// # Errors
/// What makes no sense.
pub(crate) fn check(setup: &Setup) -> Result<(), DeskError> {
    let bad = |option, why: &str| {
        Err(DeskError::BadOption {
            option,
            why: why.to_owned(),
        })
    };
    if let Some(effort) = &setup.effort
        && !EFFORTS.contains(&effort.as_str())
    {
        return bad("effort", "choose low, medium, high, xhigh or max");
    }
    if setup.max_turns == Some(0) {
        return bad("max_turns", "give at least 1, or leave it out for no limit");
    }
    if setup
        .max_thinking_tokens
        .is_some_and(|most| most > MOST_THINKING)
    {
        return bad(
            "max_thinking_tokens",
            "give at most 1000000; 0 turns thinking off",
        );
    }
    check_hooks(&setup.hooks)?;
    for (name, agent) in &setup.agents {
        agent_of(name, agent)?;
    }
    Ok(())
}

/// Checks that the CLI of a session has what the setup asks for. One whose version is not known is trusted to.
///
/// # Errors
/// When it lacks an option, or there is no CLI.
pub(crate) async fn check_version(setup: &Setup, host: &HostSettings) -> Result<(), DeskError> {
    if lacks(setup, Some(Version::new(0, 0, 0))).is_none() {
        return Ok(());
    }
    let env = environment::all(setup, host);
    let version = host.versions.of(command(setup, host), env).await?;
    match lacks(setup, version) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// The option that this version does not have.
fn lacks(setup: &Setup, version: Option<Version>) -> Option<DeskError> {
    let version = version.filter(|version| *version < FIRST_WITH_EFFORT)?;
    let option = match (&setup.effort, setup.max_thinking_tokens) {
        (Some(_), _) => "effort",
        (None, Some(0)) => "max_thinking_tokens 0",
        _ => return None,
    };
    Some(DeskError::NotInVersion {
        option,
        version,
        since: FIRST_WITH_EFFORT,
    })
}

/// Gives the agent what the session asks for.
///
/// # Errors
/// As [`check`], and when this version lacks an option.
pub(super) fn given(
    mut claude: Claude,
    setup: &Setup,
    version: Option<Version>,
) -> Result<Claude, DeskError> {
    check(setup)?;
    if let Some(error) = lacks(setup, version) {
        return Err(error);
    }
    if let Some(effort) = &setup.effort {
        claude = claude.effort(Effort::from(effort.as_str()));
    }
    if let Some(most) = setup.max_thinking_tokens {
        claude = claude.thinking(Thinking::Budget(most));
    }
    if let Some(turns) = setup.max_turns {
        claude = claude.max_turns(turns);
    }
    for (name, agent) in &setup.agents {
        claude = claude.agents(name, agent_of(name, agent)?);
    }
    Ok(claude)
}

/// The settings that a session brings beside our own.
pub(super) fn settings(setup: &Setup) -> Map<String, Value> {
    let mut settings = Map::new();
    if !setup.hooks.is_empty() {
        settings.insert("hooks".to_owned(), json!(setup.hooks));
    }
    settings
}

fn check_hooks(hooks: &std::collections::BTreeMap<String, Value>) -> Result<(), DeskError> {
    for (event, groups) in hooks {
        let bad = |why: &str| DeskError::BadHook {
            event: event.clone(),
            why: why.to_owned(),
        };
        if event == "PermissionRequest" {
            return Err(bad(
                "it would answer questions that are a person's; make a rule instead",
            ));
        }
        if !HOOK_EVENTS.contains(&event.as_str()) {
            return Err(bad(&format!(
                "there is no such event; known: {}",
                HOOK_EVENTS.join(", ")
            )));
        }
        let is_group = |group: &Value| {
            let matcher = group.get("matcher");
            let hooks = group.get("hooks").and_then(Value::as_array);
            matcher.is_none_or(Value::is_string)
                && has_only(group, &["matcher", "hooks"])
                && hooks.is_some_and(|hooks| !hooks.is_empty() && hooks.iter().all(is_command))
        };
        if !groups
            .as_array()
            .is_some_and(|groups| groups.iter().all(is_group))
        {
            return Err(bad(
                "write it as in settings.json: [{\"matcher\": \"Edit\", \"hooks\": [{\"type\": \"command\", \"command\": \"…\"}]}]",
            ));
        }
    }
    Ok(())
}

fn is_command(hook: &Value) -> bool {
    let text = hook["command"].as_str();
    hook["type"] == "command"
        && text.is_some_and(|text| !text.trim().is_empty())
        && hook.get("timeout").is_none_or(Value::is_number)
        && has_only(hook, &["type", "command", "timeout"])
}

fn has_only(value: &Value, names: &[&str]) -> bool {
    let object = value.as_object();
    object.is_some_and(|object| object.keys().all(|name| names.contains(&name.as_str())))
}

/// A definition of a sub-agent.
fn agent_of(name: &str, agent: &Value) -> Result<AgentDefinition, DeskError> {
    let bad = |why: String| DeskError::BadAgent {
        name: name.to_owned(),
        why,
    };
    let is_plain = |c: char| c.is_alphanumeric() || "-_.:".contains(c);
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
        return Err(bad(
            "its name has letters, digits, `-` and `_`, 64 at most".to_owned()
        ));
    }
    let object = agent
        .as_object()
        .ok_or_else(|| bad("it is no object".to_owned()))?;
    if let Some(other) = object
        .keys()
        .find(|key| !AGENT_FIELDS.contains(&key.as_str()))
    {
        let known = AGENT_FIELDS.join(", ");
        return Err(bad(format!("`{other}` is not taken here; known: {known}")));
    }
    serde_json::from_value(agent.clone()).map_err(|error| bad(without_values(&error.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(change: impl FnOnce(&mut Setup)) -> Setup {
        let mut setup = Setup::default();
        change(&mut setup);
        setup
    }

    #[test]
    fn an_option_that_a_version_lacks_is_refused_with_the_version_that_has_it() {
        let old = Some(Version::new(2, 0, 75));
        let effort = with(|it| it.effort = Some("high".to_owned()));
        let said = given(Claude::new(), &effort, old).unwrap_err().to_string();
        assert!(said.contains("2.0.75") && said.contains("2.1.62"), "{said}");
        given(Claude::new(), &effort, Some(FIRST_WITH_EFFORT)).unwrap();
        given(Claude::new(), &effort, None).unwrap();
        let off = with(|it| it.max_thinking_tokens = Some(0));
        given(Claude::new(), &off, old).unwrap_err();
        let both = with(|it| (it.max_turns, it.max_thinking_tokens) = (Some(3), Some(4096)));
        given(Claude::new(), &both, old).unwrap();
    }

    #[test]
    fn options_that_make_no_sense_are_refused() {
        for setup in [
            with(|it| it.effort = Some("huge".to_owned())),
            with(|it| it.max_turns = Some(0)),
            with(|it| it.max_thinking_tokens = Some(u32::MAX)),
        ] {
            check(&setup).unwrap_err();
        }
    }

    #[test]
    fn a_hook_that_would_answer_for_a_person_is_refused() {
        let command = json!([{"hooks": [{"type": "command", "command": "true"}]}]);
        let hooked = |event: &str, groups: &Value| {
            with(|it| drop(it.hooks.insert(event.to_owned(), groups.clone())))
        };
        check(&hooked("PostToolUse", &command)).unwrap();
        let said = check(&hooked("PermissionRequest", &command))
            .unwrap_err()
            .to_string();
        assert!(said.contains("a person's"), "{said}");
        check(&hooked("Whenever", &command)).unwrap_err();
        for groups in [
            json!({}),
            json!([{"hooks": []}]),
            json!([{"hooks": [{"type": "prompt", "prompt": "x"}]}]),
            json!([{"hooks": [{"type": "command", "command": " "}]}]),
            json!([{"matcher": 1, "hooks": [{"type": "command", "command": "x"}]}]),
        ] {
            check(&hooked("Stop", &groups)).unwrap_err();
        }
    }

    #[test]
    fn hooks_of_a_session_leave_our_ask_rules_and_settings_in_force() {
        let hook = json!([{"matcher": "Edit", "hooks": [{"type": "command", "command": "fmt"}]}]);
        let setup = with(|it| drop(it.hooks.insert("PostToolUse".to_owned(), hook.clone())));
        let watch = countersign_policy::Watch::new(Some(&Value::Object(settings(&setup))), &[]);
        assert_eq!(watch.settings["hooks"]["PostToolUse"], hook);
        let without = countersign_policy::Watch::new(None, &[]);
        assert_eq!(
            watch.settings["permissions"],
            without.settings["permissions"]
        );
        assert!(watch.left_out.is_empty(), "{:?}", watch.left_out);
    }

    #[test]
    fn a_sub_agent_brings_no_mode_no_hook_and_no_server() {
        let sound = json!({"description": "Reviews", "prompt": "Review.", "tools": ["Read"], "maxTurns": 3});
        agent_of("reviewer", &sound).unwrap();
        for field in ["permissionMode", "hooks", "mcpServers", "observer"] {
            let mut agent = sound.clone();
            agent[field] = json!("x");
            let said = agent_of("reviewer", &agent).unwrap_err().to_string();
            assert!(said.contains(field), "{said}");
        }
        agent_of("a b", &sound).unwrap_err();
        agent_of("x", &json!({"description": "no prompt"})).unwrap_err();
    }
}
