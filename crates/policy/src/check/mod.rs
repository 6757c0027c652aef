//! What is wrong with rules, before a call comes.
//!
//! Owns [`Finding`]: mistakes on reading, examples that do not hold, rules that can never speak, rules that allow more
//! than they seem to. Invariant: a rule is said to be covered by another only where that is certain.

mod cover;
mod danger;
mod examples;
mod names;

use jiff::Timestamp;
use serde::Serialize;

pub use cover::covers;
pub use danger::why_dangerous;
pub use examples::examples;
pub use names::{START_WITH_A_TOOL, is_tool, must_name_a_tool, nearest_tool};

use crate::place::Place;
use crate::rule::{Effect, FileKind, Origin, Rule};
use crate::source::{At, Loaded, Problem, Read};

/// Something to look at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Its kind.
    pub kind: Kind,
    /// Where, for what stands in a file.
    pub at: Option<At>,
    /// The rule, as it is written with its effect.
    pub rule: Option<String>,
    /// What is the matter.
    pub what: String,
    /// What to do about it.
    pub fix: String,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The rules work, but not as somebody may think.
    Warning,
    /// The rules are not used like this.
    Error,
}

/// The kinds of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// It cannot be read.
    Syntax,
    /// An example does not hold.
    Example,
    /// A stricter rule speaks whenever this one would.
    Shadowed,
    /// Another rule says the same about more calls.
    Needless,
    /// The same rule stands here twice.
    Duplicate,
    /// It holds no longer.
    Expired,
    /// No tool has this name.
    UnknownTool,
    /// It allows nearly everything.
    Dangerous,
    /// The path starts somewhere else than it seems to.
    Start,
}

/// All that is wrong with the rules of a session.
pub fn loaded(loaded: &Loaded, now: Timestamp) -> Vec<Finding> {
    let mut findings: Vec<Finding> = loaded.problems.iter().map(Finding::of_problem).collect();
    findings.extend(rules(&loaded.rules, now));
    // What is not in force leaves others their say, but is held against them.
    let mut with_one = loaded.rules.clone();
    for rule in &loaded.withheld {
        with_one.push(rule.clone());
        findings.extend(alone(rule, now));
        findings.extend(among(&with_one, loaded.rules.len(), now));
        with_one.pop();
    }
    in_order(findings)
}

/// All that is wrong with the rules of one file.
pub fn read(read: &Read, place: &Place<'_>, now: Timestamp) -> Vec<Finding> {
    let mut findings: Vec<Finding> = read.problems.iter().map(Finding::of_problem).collect();
    findings.extend(
        examples(&read.examples, place, now)
            .iter()
            .map(Finding::of_problem),
    );
    findings.extend(rules(&read.rules, now));
    in_order(findings)
}

/// As they stand in the files.
fn in_order(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| a.at.cmp(&b.at));
    findings
}

/// What is wrong with rules that can be read.
pub fn rules(rules: &[Rule], now: Timestamp) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        findings.extend(alone(rule, now));
        findings.extend(among(rules, index, now));
    }
    findings
}

/// What can be said about a rule without looking at others.
fn alone(rule: &Rule, now: Timestamp) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(end) = rule.expires.filter(|end| *end <= now) {
        let what = format!("it ended on {end}");
        findings.push(Finding::about(
            rule,
            Kind::Expired,
            what,
            "take it out, or give it a later end",
        ));
    }
    findings.extend(unknown_tool(rule));
    if rule.effect == Effect::Allow
        && let Some(why) = why_dangerous(&rule.matcher)
    {
        let fix = "name the commands that you mean, such as `Bash(git log:*)`";
        findings.push(Finding::about(rule, Kind::Dangerous, why, fix));
    }
    let in_user_settings = matches!(
        &rule.origin,
        Origin::File {
            kind: FileKind::User,
            ..
        }
    );
    if in_user_settings && starts_from_the_file(&rule.matcher.text) {
        let what = "a path with one `/` starts from the folder of this settings file";
        let fix = "write `//` before a whole path, or no `/` for the working folder";
        findings.push(Finding::about(rule, Kind::Start, what, fix));
    }
    findings
}

/// Rules that name no existing tool, so that they mean no call.
pub fn unknown_tools(rules: &[Rule]) -> Vec<Finding> {
    rules.iter().filter_map(unknown_tool).collect()
}

fn unknown_tool(rule: &Rule) -> Option<Finding> {
    let tool = &rule.matcher.tool;
    if is_tool(tool) {
        return None;
    }
    let fix = match nearest_tool(tool) {
        Some(name) => format!("{START_WITH_A_TOOL}; `{name}` may be meant"),
        None => format!("{START_WITH_A_TOOL}; tools of MCP servers begin with `mcp__`"),
    };
    let what = format!("there is no tool `{tool}`, so it means no call");
    Some(Finding::about(rule, Kind::UnknownTool, what, fix))
}

fn starts_from_the_file(text: &str) -> bool {
    let content = text
        .split_once('(')
        .map_or("", |(_, content)| content.trim_start());
    let is_about_paths = [
        "Read",
        "Edit",
        "Write",
        "MultiEdit",
        "NotebookEdit",
        "Glob",
        "Grep",
        "LS",
    ]
    .iter()
    .any(|tool| {
        text.strip_prefix(tool)
            .is_some_and(|rest| rest.starts_with('('))
    });
    is_about_paths && content.starts_with('/') && !content.starts_with("//")
}

/// The first rule that leaves nothing to say for this one.
fn among(rules: &[Rule], index: usize, now: Timestamp) -> Option<Finding> {
    let rule = &rules[index];
    let mut others = rules
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != index);
    let speaks =
        |other: &Rule| other.effect >= rule.effect && other.expires.is_none_or(|end| end > now);
    let (other_index, other) = others.find(|(other_index, other)| {
        // Of two that say the same, the first stays.
        let goes_first =
            !(other.effect == rule.effect && covers(rule, other)) || *other_index < index;
        speaks(other) && covers(other, rule) && goes_first
    })?;
    let by = format!("`{other}` ({})", other.origin);
    let is_same = other.effect == rule.effect && covers(rule, other) && other_index < index;
    Some(match (other.effect == rule.effect, is_same) {
        (_, true) => Finding::about(
            rule,
            Kind::Duplicate,
            format!("{by} says the same"),
            "take one of them out",
        ),
        (true, false) => Finding::about(
            rule,
            Kind::Needless,
            format!("{by} already means all of these calls"),
            "take it out",
        ),
        (false, _) => {
            let what = format!("{by} wins whenever it would speak");
            Finding::about(
                rule,
                Kind::Shadowed,
                what,
                "take it out, or narrow the other",
            )
        }
    })
}

impl Finding {
    fn of_problem(problem: &Problem) -> Self {
        Self {
            severity: match problem.stops {
                true => Severity::Error,
                false => Severity::Warning,
            },
            kind: match problem.is_example {
                true => Kind::Example,
                false => Kind::Syntax,
            },
            at: Some(problem.at.clone()),
            rule: None,
            what: problem.what.clone(),
            fix: problem.fix.clone(),
        }
    }

    fn about(rule: &Rule, kind: Kind, what: impl Into<String>, fix: impl Into<String>) -> Self {
        let at = match &rule.origin {
            Origin::File { path, line, .. } => Some(At {
                file: path.clone(),
                line: *line,
                column: None,
            }),
            Origin::CommandLine | Origin::Session | Origin::Kept => None,
        };
        Self {
            severity: Severity::Warning,
            kind,
            at,
            rule: Some(rule.to_string()),
            what: what.into(),
            fix: fix.into(),
        }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(at) = &self.at {
            write!(f, "{at}: ")?;
        }
        if let Some(rule) = &self.rule {
            write!(f, "`{rule}`: ")?;
        }
        write!(f, "{}. {}", self.what, self.fix)
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::Syntax => "syntax",
            Kind::Example => "example",
            Kind::Shadowed => "shadowed",
            Kind::Needless => "needless",
            Kind::Duplicate => "duplicate",
            Kind::Expired => "expired",
            Kind::UnknownTool => "unknown tool",
            Kind::Dangerous => "dangerous",
            Kind::Start => "start",
        })
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
