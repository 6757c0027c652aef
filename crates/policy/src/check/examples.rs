//! Holds rules against their own examples.
//!
//! Owns what it means for an example to hold: with this entry's rules alone, under the careful profile, it is decided
//! and the reason is looked at, so that what the profile allows is not taken for the rule's doing.

use jiff::Timestamp;

use crate::decide::Policy;
use crate::place::Place;
use crate::profile::Profile;
use crate::rule::{Origin, Rule, Scope};
use crate::source::{Example, Examples, Problem};
use crate::verdict::{Verdict, Why};

/// The examples that do not hold.
pub fn examples(entries: &[Examples], place: &Place<'_>, now: Timestamp) -> Vec<Problem> {
    let failing = entries.iter().flat_map(|entry| {
        let failures = entry
            .examples
            .iter()
            .filter_map(|example| failure(entry, example, place, now));
        failures.collect::<Vec<_>>()
    });
    failing.collect()
}

fn failure(
    entry: &Examples,
    example: &Example,
    place: &Place<'_>,
    now: Timestamp,
) -> Option<Problem> {
    let first = entry.rules.first()?;
    let entry_shown = shown(entry);
    let problem = |what: String, fix: String| {
        Some(Problem {
            at: example.at.clone(),
            what,
            fix,
            stops: true,
            is_example: true,
        })
    };
    let mut decided = None;
    for tool in tools(&entry.rules) {
        let call = match example.call(tool) {
            Ok(call) => call,
            Err(fix) => {
                return problem(
                    format!("{} is no example for {entry_shown}", example.text()),
                    fix,
                );
            }
        };
        let verdict = decide(&entry.rules, &call, place, now);
        if verdict.effect != first.effect || verdict.reason.why != Why::Rule {
            decided.get_or_insert(verdict);
            continue;
        }
        if example.is_match {
            return None;
        }
        let by = match &verdict.reason.rule {
            Some(rule) => format!("`{rule}` (line {})", line_of(rule, entry)),
            None => entry_shown,
        };
        let what = format!("{} must not be meant by {by}, and is", example.text());
        return problem(what, "narrow the rule, or take the example out".to_owned());
    }
    let verdict = decided.filter(|_| example.is_match)?;
    let what = format!(
        "{} must be meant by {entry_shown}, and is not: with it alone the verdict is {} ({})",
        example.text(),
        verdict.effect,
        verdict.reason.text.trim_end_matches('.'),
    );
    problem(what, "widen the rule, or mend the example".to_owned())
}

/// The rules of an entry, with its line.
fn shown(entry: &Examples) -> String {
    let rules = match &entry.rules[..] {
        [rule] => format!("`{rule}`"),
        rules => format!("one of the {} rules there", rules.len()),
    };
    match entry.at.line {
        Some(line) => format!("{rules} (line {line})"),
        None => rules,
    }
}

fn line_of(rule: &Rule, entry: &Examples) -> usize {
    let own = match &rule.origin {
        Origin::File { line, .. } => *line,
        Origin::CommandLine | Origin::Session | Origin::Kept => None,
    };
    own.or(entry.at.line).unwrap_or_default()
}

/// The tools of an entry, each once.
fn tools(rules: &[Rule]) -> Vec<&str> {
    let mut tools: Vec<&str> = rules
        .iter()
        .map(|rule| rule.matcher.tool.as_str())
        .collect();
    tools.dedup();
    tools
}

/// The verdict with these rules alone, where and while they hold.
fn decide(rules: &[Rule], call: &crate::Call, place: &Place<'_>, now: Timestamp) -> Verdict {
    let unbound = |rule: &Rule| Rule {
        scope: Scope::Always,
        expires: None,
        ..rule.clone()
    };
    let policy = Policy {
        rules: rules.iter().map(unbound).collect(),
        profile: Profile::Careful,
    };
    let cwd = rules.iter().find_map(|rule| match &rule.scope {
        Scope::Repository(folder) => Some(folder.as_path()),
        _ => None,
    });
    let place = Place {
        cwd: cwd.unwrap_or(place.cwd),
        ..*place
    };
    policy.decide(call, &place, now)
}
