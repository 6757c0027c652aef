//! What of the person's own settings may stand beside ours.
//!
//! Owns the list of settings that every pinned version takes, with their kinds, and the form of a rule that none of them
//! refuses. A CLI that finds one setting wrong drops the whole object and says nothing, our rules with it; so what is
//! not certain to be right is set aside. Nothing here weighs a rule.

use serde_json::{Map, Value, json};

/// The person's settings in two parts.
pub(super) struct Sorted {
    /// What goes along at the start.
    pub(super) kept: Map<String, Value>,
    /// What is tried later, where there is any.
    pub(super) rest: Option<Map<String, Value>>,
    /// The names of what is tried later.
    pub(super) left_out: Vec<String>,
}

/// What a setting must be.
enum Kind {
    Text,
    Flag,
    /// A whole number, zero or more.
    Count,
    Texts,
    /// Texts, numbers and flags by name.
    Variables,
    /// Lists of texts by name.
    ListsOfTexts,
    /// An object with some of these fields and no others.
    Fields(&'static [(&'static str, Kind)]),
}

/// Settings and what they must be, as 2.0.75 declares them and as 2.1.62 and 2.1.325 take them.
const VOUCHED: &[(&str, Kind)] = &[
    ("agent", Kind::Text),
    ("alwaysThinkingEnabled", Kind::Flag),
    ("apiKeyHelper", Kind::Text),
    ("awsAuthRefresh", Kind::Text),
    ("awsCredentialExport", Kind::Text),
    ("cleanupPeriodDays", Kind::Count),
    ("companyAnnouncements", Kind::Texts),
    ("disableAllHooks", Kind::Flag),
    ("disabledMcpjsonServers", Kind::Texts),
    ("enableAllProjectMcpServers", Kind::Flag),
    ("enabledMcpjsonServers", Kind::Texts),
    ("env", Kind::Variables),
    ("forceLoginOrgUUID", Kind::Text),
    ("includeCoAuthoredBy", Kind::Flag),
    ("minimumVersion", Kind::Text),
    ("model", Kind::Text),
    ("otelHeadersHelper", Kind::Text),
    ("outputStyle", Kind::Text),
    ("promptSuggestionEnabled", Kind::Flag),
    ("sandbox", Kind::Fields(SANDBOX)),
    ("skipWebFetchPreflight", Kind::Flag),
    ("spinnerTipsEnabled", Kind::Flag),
    ("syntaxHighlightingDisabled", Kind::Flag),
];

const SANDBOX: &[(&str, Kind)] = &[
    ("enabled", Kind::Flag),
    ("autoAllowBashIfSandboxed", Kind::Flag),
    ("allowUnsandboxedCommands", Kind::Flag),
    ("enableWeakerNestedSandbox", Kind::Flag),
    ("excludedCommands", Kind::Texts),
    ("ignoreViolations", Kind::ListsOfTexts),
    ("network", Kind::Fields(NETWORK)),
];

const NETWORK: &[(&str, Kind)] = &[
    ("allowedDomains", Kind::Texts),
    ("allowUnixSockets", Kind::Texts),
    ("allowAllUnixSockets", Kind::Flag),
    ("allowLocalBinding", Kind::Flag),
    ("httpProxyPort", Kind::Count),
    ("socksProxyPort", Kind::Count),
];

/// The points at which 2.0.75 lets hooks run. A name it does not know is a wrong setting for it, and for 2.1.62.
const HOOK_EVENTS: [&str; 12] = [
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
    "PermissionRequest",
];

/// What may stand beside our rules, and what must wait.
pub(super) fn sort(given: Option<&Value>) -> Sorted {
    let mut kept = Map::new();
    let mut rest = Map::new();
    let mut left_out = Vec::new();
    for (name, value) in given.and_then(Value::as_object).into_iter().flatten() {
        match name.as_str() {
            // Ours, whatever the person's says.
            "useAutoModeDuringPlan" => {}
            "permissions" => permissions(value, &mut kept, &mut rest, &mut left_out),
            "hooks" => hooks(value, &mut kept, &mut rest, &mut left_out),
            _ if is_vouched_for(name, value) => {
                kept.insert(name.clone(), value.clone());
            }
            _ => {
                rest.insert(name.clone(), value.clone());
                left_out.push(name.clone());
            }
        }
    }
    Sorted {
        kept,
        rest: (!rest.is_empty()).then_some(rest),
        left_out,
    }
}

fn is_vouched_for(name: &str, value: &Value) -> bool {
    VOUCHED
        .iter()
        .any(|(known, kind)| *known == name && kind.fits(value))
}

impl Kind {
    fn fits(&self, value: &Value) -> bool {
        match self {
            Kind::Text => value.is_string(),
            Kind::Flag => value.is_boolean(),
            Kind::Count => value.is_u64(),
            Kind::Texts => is_texts(value),
            Kind::Variables => values(value).is_some_and(|mut values| {
                values.all(|value| value.is_string() || value.is_number() || value.is_boolean())
            }),
            Kind::ListsOfTexts => values(value).is_some_and(|mut values| values.all(is_texts)),
            Kind::Fields(fields) => value.as_object().is_some_and(|object| {
                let known = |(name, kind): &(&str, Kind)| {
                    object.get(*name).is_none_or(|value| kind.fits(value))
                };
                fields.iter().all(known)
                    && object
                        .keys()
                        .all(|name| fields.iter().any(|(known, _)| known == name))
            }),
        }
    }
}

fn values(object: &Value) -> Option<impl Iterator<Item = &Value>> {
    Some(object.as_object()?.values())
}

fn is_texts(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|list| list.iter().all(Value::is_string))
}

/// Deny rules and added folders; the rest of the permissions is ours to weigh.
fn permissions(
    given: &Value,
    kept: &mut Map<String, Value>,
    rest: &mut Map<String, Value>,
    left_out: &mut Vec<String>,
) {
    let mut sure = Map::new();
    let denied = || {
        given["deny"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
    };
    if denied().next().is_some() {
        let taken: Vec<&str> = denied().filter(|rule| is_taken_everywhere(rule)).collect();
        sure.insert("deny".into(), json!(taken));
    }
    if let Some(folders) = given
        .get("additionalDirectories")
        .filter(|folders| is_texts(folders))
    {
        sure.insert("additionalDirectories".into(), folders.clone());
    }
    if given["disableBypassPermissionsMode"] == "disable" {
        sure.insert("disableBypassPermissionsMode".into(), "disable".into());
    }
    let unsure = denied().filter(|rule| !is_taken_everywhere(rule));
    let unsure: Vec<String> = unsure
        .map(|rule| format!("permissions.deny: {rule}"))
        .collect();
    if !unsure.is_empty() {
        let mut whole = sure.clone();
        whole.insert("deny".into(), json!(denied().collect::<Vec<_>>()));
        rest.insert("permissions".into(), Value::Object(whole));
        left_out.extend(unsure);
    }
    kept.insert("permissions".into(), Value::Object(sure));
}

/// Hooks are kept by the point they hang on.
fn hooks(
    given: &Value,
    kept: &mut Map<String, Value>,
    rest: &mut Map<String, Value>,
    left_out: &mut Vec<String>,
) {
    let mut sure = Map::new();
    let mut unsure = Vec::new();
    for (event, matchers) in given.as_object().into_iter().flatten() {
        if HOOK_EVENTS.contains(&event.as_str()) && is_matchers(matchers) {
            sure.insert(event.clone(), matchers.clone());
        } else {
            unsure.push(format!("hooks.{event}"));
        }
    }
    if !unsure.is_empty() || !given.is_object() {
        rest.insert("hooks".into(), given.clone());
    }
    left_out.extend(unsure);
    if !sure.is_empty() {
        kept.insert("hooks".into(), Value::Object(sure));
    }
}

fn is_matchers(value: &Value) -> bool {
    let is_hook = |hook: &Value| {
        let is_said = match hook["type"].as_str() {
            Some("command") => hook["command"].is_string(),
            Some("prompt") => hook["prompt"].is_string(),
            _ => false,
        };
        let text = |name: &str| hook.get(name).is_none_or(Value::is_string);
        let timeout = hook
            .get("timeout")
            .is_none_or(|time| time.as_f64().is_some_and(|time| time > 0.0));
        is_said && timeout && text("model") && text("statusMessage")
    };
    let is_matcher = |matcher: &Value| {
        let hooks = matcher["hooks"].as_array();
        matcher.get("matcher").is_none_or(Value::is_string)
            && hooks.is_some_and(|hooks| hooks.iter().all(is_hook))
    };
    value
        .as_array()
        .is_some_and(|list| list.iter().all(is_matcher))
}

/// Whether no pinned version finds this rule wrong. Strict: what is not certain is not.
pub fn is_taken_everywhere(rule: &str) -> bool {
    let (tool, content) = match rule.split_once('(') {
        None => (rule, None),
        Some((tool, rest)) => match rest.strip_suffix(')') {
            Some(content) if !content.is_empty() => (tool, Some(content)),
            _ => return false,
        },
    };
    let is_name = |name: &str| {
        let mut letters = name.chars();
        letters
            .next()
            .is_some_and(|first| first.is_ascii_uppercase())
            && letters.all(|c| c.is_ascii_alphanumeric())
    };
    let is_mcp = || {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*');
        super::mcp_server(tool).is_some_and(|server| !server.contains('*'))
            && tool.chars().all(is_plain)
    };
    match content {
        None => is_name(tool) || is_mcp(),
        Some(content) => is_name(tool) && is_content(tool, content),
    }
}

fn is_content(tool: &str, content: &str) -> bool {
    if content.contains(['(', ')', '\\']) || content.chars().any(char::is_control) {
        return false;
    }
    match tool {
        "Bash" => {
            let command = content.strip_suffix(":*").unwrap_or(content);
            let is_even = |quote: char| command.matches(quote).count().is_multiple_of(2);
            !command.trim().is_empty() && !command.contains('*') && is_even('"') && is_even('\'')
        }
        "WebFetch" => content.starts_with("domain:") && !content.contains("://"),
        "WebSearch" => !content.contains(['*', '?']),
        "Read" | "Write" | "Edit" | "Glob" | "NotebookRead" | "NotebookEdit" => {
            let is_at_an_edge = || {
                let edges = ["**", "/*", "*."];
                content.starts_with('*')
                    || content.ends_with('*')
                    || edges.iter().any(|edge| content.contains(edge))
            };
            !content.contains(":*") && (!content.contains('*') || is_at_an_edge())
        }
        _ => !content.contains('*'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(given: Value) -> Value {
        Value::Object(sort(Some(&given)).kept)
    }

    #[test]
    fn a_setting_of_the_right_kind_is_kept_and_one_of_the_wrong_kind_waits() {
        let given = json!({
            "model": "sonnet", "cleanupPeriodDays": "x", "env": {"A": 1}, "effortLevel": "high",
            "sandbox": {"enabled": true, "network": {"allowedDomains": ["a.test"]}},
            "statusLine": {"type": "command", "command": "true"}
        });
        let sorted = sort(Some(&given));
        let names: Vec<&String> = sorted.kept.keys().collect();
        assert_eq!(names, ["env", "model", "sandbox"]);
        assert_eq!(
            sorted.left_out,
            ["cleanupPeriodDays", "effortLevel", "statusLine"]
        );
        assert_eq!(sorted.rest.unwrap()["effortLevel"], "high");
    }

    #[test]
    fn an_object_with_a_field_that_nobody_vouches_for_waits() {
        assert_eq!(
            kept(json!({"sandbox": {"enabled": true, "filesystem": {}}})),
            json!({})
        );
        assert_eq!(
            kept(json!({"sandbox": {"network": {"httpProxyPort": "80"}}})),
            json!({})
        );
    }

    #[test]
    fn hooks_are_kept_by_event_and_all_of_them_come_back_later() {
        let hook = json!([{"matcher": "Bash", "hooks": [{"type": "command", "command": "true", "timeout": 5}]}]);
        let given = json!({"hooks": {"PostToolUse": hook, "Setup": hook, "Stop": [{"hooks": [{"type": "http", "url": "x"}]}]}});
        let sorted = sort(Some(&given));
        assert_eq!(
            Value::Object(sorted.kept),
            json!({"hooks": {"PostToolUse": hook}})
        );
        assert_eq!(sorted.left_out, ["hooks.Setup", "hooks.Stop"]);
        assert_eq!(sorted.rest.unwrap()["hooks"], given["hooks"]);
    }

    #[test]
    fn what_is_no_object_is_nothing() {
        for given in [json!(null), json!([1]), json!("x")] {
            let sorted = sort(Some(&given));
            assert!(sorted.kept.is_empty() && sorted.rest.is_none(), "{given}");
        }
    }

    #[test]
    fn only_rules_that_no_version_finds_wrong_are_taken() {
        for rule in [
            "Bash",
            "Bash(rm:*)",
            "Bash(git push --force)",
            "Read(./.env)",
            "Read(//etc/**)",
            "Edit(**/*.lock)",
            "Read(src/*.ts)",
            "WebFetch(domain:example.com)",
            "mcp__srv",
            "mcp__srv__*",
            "mcp__my-srv__do_it",
            "Skill(review)",
        ] {
            assert!(is_taken_everywhere(rule), "{rule}");
        }
        for rule in [
            "",
            "bash",
            "propose_skills",
            "mcp",
            "mcp__",
            "mcp__*",
            "mcp__srv(x)",
            "Bash()",
            "Bash(",
            "Bash(*)",
            "Bash(:*)",
            "Bash(npm run *)",
            "Bash(git * main)",
            "Bash(echo \")",
            "Bash(a (b))",
            "Read(src:*)",
            "Read(a*b)",
            "WebFetch(https://a.test)",
            "WebFetch(a.test)",
            "WebSearch(a*)",
            "Bash(rm) extra",
        ] {
            assert!(!is_taken_everywhere(rule), "{rule}");
        }
    }
}
