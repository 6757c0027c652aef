//! One rule: which calls it means, what it says about them, where it comes from and how long it holds.
//!
//! Owns the text form `Tool` or `Tool(content)` of Claude Code and what the content means for each kind of tool.
//! Invariant: a text that is no rule is an error, never a rule that means something else.

use std::fmt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use crate::path::PathPattern;
use crate::shell::CommandPattern;

/// What a rule says. Ordered: the strictest is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// It runs.
    Allow,
    /// A person is asked.
    Ask,
    /// It does not run.
    Deny,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Effect::Allow => "allow",
            Effect::Ask => "ask",
            Effect::Deny => "deny",
        })
    }
}

/// Where a rule was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case", tag = "from")]
pub enum Origin {
    /// `--allow`, `--deny` on the command line.
    CommandLine,
    /// Said in this session.
    Session,
    /// Kept by a host, beside its sessions.
    Kept,
    /// A file, with the line where that is known.
    File {
        /// The file.
        path: PathBuf,
        /// The line, counted from one.
        line: Option<usize>,
        /// What kind of file it is.
        kind: FileKind,
    },
}

/// The files that rules stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// Settings of an administrator.
    Managed,
    /// The person's `settings.json` of Claude Code.
    User,
    /// A repository's `.claude/settings.json`.
    Project,
    /// A repository's `.claude/settings.local.json`.
    Local,
    /// The person's own `countersign.toml`.
    Own,
    /// A repository's `countersign.toml`.
    Repository,
}

impl FileKind {
    /// Whether whoever wrote the repository wrote this: what it allows counts only once the person trusts the folder.
    pub fn is_of_repository(self) -> bool {
        matches!(
            self,
            FileKind::Project | FileKind::Local | FileKind::Repository
        )
    }
}

/// For which calls a rule holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// This session.
    Session,
    /// Sessions whose working folder is this real path or below it.
    Repository(PathBuf),
    /// Every session.
    Always,
}

/// One rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// What it says.
    pub effect: Effect,
    /// Which calls it means.
    pub matcher: Matcher,
    /// Where it was written.
    pub origin: Origin,
    /// For which sessions it holds.
    pub scope: Scope,
    /// Until when it holds.
    pub expires: Option<Timestamp>,
    /// Why it is there, in the words of who wrote it.
    pub note: Option<String>,
    /// The number under which a host keeps it.
    pub number: Option<u64>,
}

/// Which calls a rule means.
#[derive(Debug, Clone, PartialEq)]
pub struct Matcher {
    /// The tool's name of today, `*` standing for any run of characters in the names of MCP tools.
    pub tool: String,
    /// Which of its calls.
    pub content: Content,
    /// As it was written.
    pub text: String,
}

/// Which calls of a tool are meant.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// All of them.
    Whole,
    /// A shell command.
    Command(CommandPattern),
    /// A path, for tools that read or write files.
    Path(PathPattern),
    /// A host, for fetching: `domain:example.com`.
    Domain(String),
    /// A name or text, for other tools: the kind of sub-agent, the skill.
    Text(String),
}

/// A text that is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no rule: {reason}")]
pub struct RuleError {
    /// The text.
    pub text: String,
    /// What is wrong, with what to write instead.
    pub reason: String,
}

/// Names that tools had once, and their names of today.
const FORMER: [(&str, &str); 7] = [
    ("Task", "Agent"),
    ("KillShell", "TaskStop"),
    ("KillBash", "TaskStop"),
    ("AgentOutputTool", "TaskOutput"),
    ("BashOutput", "TaskOutput"),
    ("exit_plan_mode", "ExitPlanMode"),
    ("ProposeGoal", "SetGoal"),
];

/// The name a tool goes by today: rules hold for both.
pub fn todays_name(tool: &str) -> &str {
    let found = FORMER.iter().find(|(former, _)| *former == tool);
    found.map_or(tool, |(_, today)| today)
}

/// Tools whose rules carry a path.
const PATH_TOOLS: [&str; 9] = [
    "Read",
    "Glob",
    "Grep",
    "LS",
    "NotebookRead",
    "Edit",
    "MultiEdit",
    "Write",
    "NotebookEdit",
];

/// Tools whose rules carry a shell command.
const SHELL_TOOLS: [&str; 2] = ["Bash", "Monitor"];

impl Rule {
    /// Reads a rule that holds everywhere and for ever. `base` is the folder that a path with one leading `/` starts from:
    /// that of the file the rule stands in.
    ///
    /// # Errors
    /// When the text is no rule.
    pub fn parse(
        effect: Effect,
        text: &str,
        base: &Path,
        origin: Origin,
    ) -> Result<Self, RuleError> {
        Ok(Self {
            effect,
            matcher: Matcher::parse(text, base)?,
            origin,
            scope: Scope::Always,
            expires: None,
            note: None,
            number: None,
        })
    }

    /// Whether it holds now, in a session that works in `cwd` (a real path).
    pub fn holds(&self, cwd: &Path, now: Timestamp) -> bool {
        let is_here = match &self.scope {
            Scope::Session | Scope::Always => true,
            Scope::Repository(root) => cwd.starts_with(root),
        };
        is_here && self.expires.is_none_or(|end| now < end)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.effect, self.matcher.text)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::CommandLine => f.write_str("the command line"),
            Origin::Session => f.write_str("this session"),
            Origin::Kept => f.write_str("remembered"),
            Origin::File {
                path, line: None, ..
            } => write!(f, "{}", path.display()),
            Origin::File {
                path,
                line: Some(line),
                ..
            } => write!(f, "{}:{line}", path.display()),
        }
    }
}

impl Matcher {
    /// Reads `Tool` or `Tool(content)`; `\(` and `\)` stand for brackets.
    ///
    /// # Errors
    /// When the text is no rule.
    pub fn parse(text: &str, base: &Path) -> Result<Self, RuleError> {
        let wrong = |reason: String| RuleError {
            text: text.to_owned(),
            reason,
        };
        let trimmed = text.trim();
        let (tool, inner) = match trimmed.split_once('(') {
            None => (trimmed, None),
            Some((tool, rest)) => match rest.strip_suffix(')') {
                Some(inner) => (tool, Some(unescaped(inner))),
                None => {
                    return Err(wrong(
                        "the bracket is not closed; write `Tool(content)`".into(),
                    ));
                }
            },
        };
        let tool = tool_name(tool).map_err(wrong)?;
        let content = match inner.as_deref().map(str::trim) {
            None | Some("*" | ":*") => Content::Whole,
            Some("") => {
                return Err(wrong(format!(
                    "there is nothing in the brackets; write `{tool}` for all calls"
                )));
            }
            Some(inner) => Content::parse(&tool, inner, base).map_err(wrong)?,
        };
        Ok(Self {
            tool,
            content,
            text: trimmed.to_owned(),
        })
    }
}

fn unescaped(inner: &str) -> String {
    inner
        .replace("\\(", "(")
        .replace("\\)", ")")
        .replace("\\\\", "\\")
}

fn tool_name(tool: &str) -> Result<String, String> {
    if tool == "*" {
        return Err("a rule names a tool; write one rule for each".to_owned());
    }
    let starts_well =
        tool.starts_with("mcp__") || tool.starts_with(|c: char| c.is_ascii_uppercase());
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '*');
    if !starts_well || !tool.chars().all(is_plain) {
        return Err("it does not begin with the name of a tool. Start with a tool name, for example `Bash(npm test:*)`".to_owned());
    }
    if tool.contains('*') && !tool.starts_with("mcp__") {
        return Err("`*` may stand in the names of MCP tools only".to_owned());
    }
    Ok(todays_name(tool).to_owned())
}

impl Content {
    fn parse(tool: &str, inner: &str, base: &Path) -> Result<Self, String> {
        if tool.starts_with("mcp__") {
            return Err("rules for MCP tools have no brackets; write the name alone".to_owned());
        }
        if SHELL_TOOLS.contains(&tool) {
            return CommandPattern::parse(inner).map(Content::Command);
        }
        if PATH_TOOLS.contains(&tool) {
            return PathPattern::parse(inner, base).map(Content::Path);
        }
        if tool == "WebFetch" {
            let domain = inner.strip_prefix("domain:").unwrap_or("").trim();
            return match is_domain(domain) {
                true => Ok(Content::Domain(domain.to_ascii_lowercase())),
                false => Err(
                    "write `WebFetch(domain:example.com)` or `WebFetch(domain:*.example.com)`"
                        .to_owned(),
                ),
            };
        }
        Ok(Content::Text(inner.to_owned()))
    }
}

fn is_domain(domain: &str) -> bool {
    let name = domain.strip_prefix("*.").unwrap_or(domain);
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Matcher, RuleError> {
        Matcher::parse(text, Path::new("/project"))
    }

    #[test]
    fn a_rule_is_a_tool_or_some_of_its_calls() {
        let whole = |text: &str| parsed(text).unwrap().content == Content::Whole;
        assert!(whole("Bash") && whole("Bash(*)") && whole("Bash(:*)") && whole("mcp__srv__*"));
        assert!(!whole("Bash(git log:*)") && !whole("Read(.env)"));
        assert_eq!(parsed("Task(Explore)").unwrap().tool, "Agent");
        assert_eq!(
            parsed("WebFetch(domain:Docs.Example)").unwrap().content,
            Content::Domain("docs.example".into())
        );
    }

    #[test]
    fn what_is_no_rule_is_an_error_that_says_what_to_write() {
        for text in [
            "",
            "*",
            "nope(x)",
            "bad rule(",
            "Bash(a",
            "(x)",
            "Bash()",
            "Ba*",
            "mcp__srv__t(x)",
            "WebFetch(https://a.example)",
            "WebFetch(domain:)",
            "WebFetch(domain:*)",
            "Bash Read",
        ] {
            let error = parsed(text).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("`{text}` is no rule: ")),
                "{error}"
            );
        }
    }

    #[test]
    fn a_rule_holds_where_and_as_long_as_it_says() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let mut rule = Rule::parse(Effect::Allow, "Bash", Path::new("/"), Origin::Session).unwrap();
        let now = at("2026-06-01T00:00:00Z");
        assert!(rule.holds(Path::new("/p"), now));
        rule.scope = Scope::Repository("/p/a".into());
        assert!(rule.holds(Path::new("/p/a/b"), now) && !rule.holds(Path::new("/p/ab"), now));
        rule.expires = Some(now);
        assert!(!rule.holds(Path::new("/p/a"), now));
        assert!(rule.holds(Path::new("/p/a"), at("2026-05-31T23:59:59Z")));
    }
}
