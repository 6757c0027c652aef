//! Every other tool: the web, MCP servers, questions to the user, and the many that never ask.
//!
//! Owns what these ask for and how a call of any tool is shown to the host.

use serde_json::Value;

use super::super::source::Source;
use super::ask::{Asked, Free, Verdict, suggest_rules};
use super::bench::Bench;
use super::decision::Refusal;
use super::files;
use super::rule::{Behavior, Rule, today};
use super::rules::Entry;
use super::wish::Wish;

/// What is to become of a call.
pub(super) fn judge(bench: &Bench<'_>, wish: &Wish<'_>) -> Verdict {
    let tool = today(wish.tool);
    if bench.rules.whole(Behavior::Deny, tool).is_some() {
        let text = format!("Permission to use {} has been denied.", wish.tool);
        return Verdict::Denied(Refusal::by_rule(text, "rule", None));
    }
    let asks = bench.rules.whole(Behavior::Ask, tool);
    if is_personal(tool) {
        let asked = Asked {
            message: format!("Permission to use {tool} needs an answer of the user."),
            personal: true,
            matched: asks.map(|entry| (entry.source, entry.rule.clone())),
            ..Asked::default()
        };
        return asked.verdict();
    }
    if tool == "WebFetch" {
        return fetch(bench, wish);
    }
    if let Some(entry) = asks {
        return Asked::by_rule(entry.source, tool).verdict();
    }
    if let Some(entry) = bench.rules.whole(Behavior::Allow, tool) {
        return Verdict::Free(Free::Rule(entry.source));
    }
    if wish.mcp.is_some() || tool.starts_with("mcp__") {
        return wanted(tool, Rule::new(tool, None), Some(true));
    }
    match tool {
        "WebSearch" => wanted(tool, Rule::new(tool, None), None),
        "Skill" => skill(bench, wish),
        _ => Verdict::Free(Free::Always),
    }
}

/// Tools that are a question by themselves.
pub(super) fn is_personal(tool: &str) -> bool {
    matches!(tool, "AskUserQuestion" | "ExitPlanMode")
}

fn wanted(tool: &str, rule: Option<Rule>, policy: Option<bool>) -> Verdict {
    let asked = Asked {
        message: format!(
            "Claude requested permissions to use {tool}, but you haven't granted it yet."
        ),
        suggestions: Some(
            rule.iter()
                .map(|rule| suggest_rules(std::slice::from_ref(rule), Source::Local))
                .collect(),
        ),
        policy,
        ..Asked::default()
    };
    asked.verdict()
}

fn skill(bench: &Bench<'_>, wish: &Wish<'_>) -> Verdict {
    let name = wish.text("skill").trim_start_matches('/');
    let fits = |content: &str| {
        content == name
            || content
                .strip_suffix(":*")
                .is_some_and(|start| name.starts_with(start))
    };
    let rule = |behavior| bench.rules.fitting(behavior, "Skill", fits);
    if rule(Behavior::Deny).is_some() {
        let text = "Skill execution blocked by permission rules".to_owned();
        return Verdict::Denied(Refusal::by_rule(text, "rule", None));
    }
    if let Some(entry) = rule(Behavior::Ask) {
        return Asked::by_rule(entry.source, "Skill").verdict();
    }
    if let Some(entry) = rule(Behavior::Allow) {
        return Verdict::Free(Free::Rule(entry.source));
    }
    Verdict::Free(Free::Always)
}

fn fetch(bench: &Bench<'_>, wish: &Wish<'_>) -> Verdict {
    let host = host_of(wish.text("url")).to_ascii_lowercase();
    let fits = |content: &str| {
        let Some(domain) = content.strip_prefix("domain:") else {
            return false;
        };
        let domain = domain.to_ascii_lowercase();
        match domain.strip_prefix("*.") {
            Some(parent) => host
                .strip_suffix(parent)
                .is_some_and(|rest| rest.ends_with('.') && rest.len() > 1),
            None => domain == host,
        }
    };
    let rule = |behavior| -> Option<&Entry> {
        bench
            .rules
            .fitting(behavior, "WebFetch", fits)
            .or_else(|| bench.rules.whole(behavior, "WebFetch"))
    };
    if rule(Behavior::Deny).is_some() {
        let text = format!("WebFetch denied access to domain:{host}.");
        return Verdict::Denied(Refusal::by_rule(text, "rule", None));
    }
    let own = Rule::new("WebFetch", Some(&format!("domain:{host}")));
    let offers: Vec<Value> = own
        .iter()
        .map(|rule| suggest_rules(std::slice::from_ref(rule), Source::Local))
        .collect();
    if let Some(entry) = rule(Behavior::Ask) {
        let asked = Asked {
            suggestions: Some(offers),
            ..Asked::by_rule(entry.source, "WebFetch")
        };
        return asked.verdict();
    }
    match rule(Behavior::Allow) {
        Some(entry) => Verdict::Free(Free::Rule(entry.source)),
        None => wanted("WebFetch", own, None),
    }
}

/// The host of a URL, without port and user.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
    let host = authority.rsplit('@').next().unwrap_or("");
    match host.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or(""),
        None => host.split(':').next().unwrap_or(""),
    }
}

/// The name a call is shown under.
pub(super) fn display_name(wish: &Wish<'_>) -> String {
    let Some(rest) = wish.tool.strip_prefix("mcp__") else {
        return today(wish.tool).to_owned();
    };
    let name = rest.split_once("__").map_or(rest, |(_, name)| name);
    let mut shown = String::with_capacity(name.len());
    let mut start = true;
    for letter in name.chars() {
        let letter = if letter == '_' { ' ' } else { letter };
        if start {
            shown.extend(letter.to_uppercase())
        } else {
            shown.push(letter)
        }
        start = !letter.is_alphanumeric();
    }
    shown
}

/// What a call is about, in a line.
pub(super) fn description(bench: &Bench<'_>, wish: &Wish<'_>) -> Option<String> {
    let text = match wish.tool {
        "Bash" if wish.text("description").is_empty() => wish.text("command"),
        "Bash" | "Monitor" | "Task" | "Agent" => wish.text("description"),
        "Glob" | "Grep" => wish.text("pattern"),
        "WebFetch" => wish.text("url"),
        "WebSearch" => wish.text("query"),
        "Skill" => wish.text("skill"),
        tool if files::touch_of(tool).is_some() => {
            return Some(bench.places.shown(&files::target(bench, wish)));
        }
        _ => "",
    };
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_found_whatever_stands_around_it() {
        for (url, expected) in [
            ("https://a.invalid/x?y", "a.invalid"),
            ("http://u:p@b.invalid:8080/", "b.invalid"),
            ("https://[::1]:80/", "::1"),
            ("c.invalid", "c.invalid"),
            ("https://good.invalid@evil.invalid/", "evil.invalid"),
        ] {
            assert_eq!(host_of(url), expected, "{url}");
        }
    }

    #[test]
    fn tools_of_servers_get_a_readable_name() {
        for (tool, expected) in [
            ("mcp__srv__multi_word_tool", "Multi Word Tool"),
            ("mcp__srv__kebab-tool", "Kebab-Tool"),
            ("Task", "Agent"),
            ("Bash", "Bash"),
        ] {
            assert_eq!(display_name(&Wish::new(tool, &Value::Null)), expected);
        }
    }
}
