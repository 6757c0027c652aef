//! Rules, verdicts and findings as text and as JSON.
//!
//! Owns the shapes that `--json` prints, which docs/policy.md describes: every key is always there.

use std::fmt::Write as _;

use countersign_policy::check::{Finding, Severity};
use countersign_policy::source::Problem;
use countersign_policy::{Rule, Verdict};
use serde_json::{Value, json};

/// A finding for people: where, how bad, what, and what to do.
pub(super) fn finding(finding: &Finding) -> String {
    let mut text = String::new();
    if let Some(at) = &finding.at {
        let _ = write!(text, "{at}: ");
    }
    text.push_str(match finding.severity {
        Severity::Error => "error: ",
        Severity::Warning => "warning: ",
    });
    if let Some(rule) = &finding.rule {
        let _ = write!(text, "`{rule}`: ");
    }
    let _ = write!(text, "{}\n    {}", finding.what, finding.fix);
    text
}

/// Problems that keep rules from being used, as one error.
pub(super) fn unusable(problems: &[Problem]) -> anyhow::Error {
    let mut text = "these rules cannot be used, since something they forbid may be lost".to_owned();
    for problem in problems.iter().filter(|problem| problem.stops) {
        let _ = write!(
            text,
            "\n  {}: {}\n      {}",
            problem.at, problem.what, problem.fix
        );
    }
    anyhow::anyhow!(text)
}

pub(super) fn rule_json(rule: Option<&Rule>) -> Value {
    rule.map_or(Value::Null, |rule| {
        json!({
            "effect": rule.effect,
            "text": rule.matcher.text,
            "origin": rule.origin,
            "scope": rule.scope,
            "expires": rule.expires.map(|end| end.to_string()),
            "note": rule.note,
        })
    })
}

pub(super) fn verdict_json(verdict: &Verdict) -> Value {
    json!({
        "verdict": verdict.effect,
        "why": verdict.reason.why,
        "reason": verdict.reason.text,
        "rule": rule_json(verdict.reason.rule.as_ref()),
        "part": verdict.reason.part,
        "may_be_waved_through": verdict.may_be_waved_through,
    })
}

/// A text on one line, cut where it is long.
pub(super) fn short(text: &str, most: usize) -> String {
    let mut line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    // What a terminal would obey is not for showing.
    line.retain(|c| !c.is_control());
    match line.char_indices().nth(most) {
        None => line,
        Some((cut, _)) => format!("{}…", line[..cut].trim_end()),
    }
}

/// `1 rule`, `2 rules`.
pub(super) fn count(number: usize, one: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_one_line_without_anything_a_terminal_obeys() {
        assert_eq!(short("a\n  b\tc", 10), "a b c");
        assert_eq!(short("\u{1b}[31mred", 10), "[31mred");
        assert_eq!(short("ééééé", 3), "ééé…");
    }
}
