//! Changes that go with an allow: rules, modes, folders, and where they are kept.
//!
//! Owns [`Rule`] (a rule as it is written in settings) and [`Update`], which makes every update of the wire. Invariant: a
//! text that is no rule is an error; read as something else, a denial would deny nothing.

use std::fmt;
use std::str::FromStr;

use countersign_wire::Extra;
use countersign_wire::permission::{
    DirectoriesUpdate, ModeUpdate, PermissionRule, PermissionUpdate, RuleBehavior, RuleDestination,
    RulesUpdate,
};
use countersign_wire::vocab::PermissionMode;

/// A permission rule: a tool, or the calls of a tool that fit a content.
///
/// ```
/// use countersign_client::Rule;
///
/// let rule: Rule = "Bash(npm test:*)".parse()?;
/// assert_eq!(rule, Rule::tool("Bash").content("npm test:*"));
/// assert_eq!(rule.to_string(), "Bash(npm test:*)");
/// # Ok::<(), countersign_client::RuleError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    tool: String,
    content: Option<String>,
}

impl Rule {
    /// Every call of a tool.
    pub fn tool(name: impl Into<String>) -> Self {
        Self {
            tool: name.into(),
            content: None,
        }
    }

    /// Only the calls that fit: a command or `prefix:*` for Bash, a path pattern for files, `domain:host` for WebFetch.
    /// On 2.1.62 a rule for a command does not free it of the check of its paths.
    #[must_use]
    pub fn content(mut self, content: impl Into<String>) -> Self {
        self.content = Some(content.into());
        self
    }
}

/// A text that is no permission rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no permission rule ({reason}): write `Tool` or `Tool(content)`")]
pub struct RuleError {
    text: String,
    reason: &'static str,
}

impl FromStr for Rule {
    type Err = RuleError;

    /// Reads `Tool` or `Tool(content)`. The content goes from the first bracket to the one at the end.
    fn from_str(text: &str) -> Result<Self, RuleError> {
        let wrong = |reason| RuleError {
            text: text.to_owned(),
            reason,
        };
        let trimmed = text.trim();
        let (tool, content) = match trimmed.split_once('(') {
            None => (trimmed, None),
            Some((tool, rest)) => {
                let content = rest.strip_suffix(')');
                let content = content.ok_or_else(|| wrong("the bracket is not closed"))?;
                if content.trim().is_empty() {
                    return Err(wrong("there is nothing in the brackets"));
                }
                (tool, Some(content.to_owned()))
            }
        };
        let is_odd = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',');
        match tool {
            "" => Err(wrong("there is no tool")),
            tool if tool.contains(is_odd) => Err(wrong("this is no name of a tool")),
            tool => Ok(Self {
                tool: tool.to_owned(),
                content,
            }),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            Some(content) => write!(f, "{}({content})", self.tool),
            None => f.write_str(&self.tool),
        }
    }
}

impl From<Rule> for PermissionRule {
    fn from(rule: Rule) -> Self {
        Self {
            tool_name: rule.tool,
            rule_content: rule.content,
            extra: Extra::default(),
        }
    }
}

impl From<PermissionRule> for Rule {
    fn from(rule: PermissionRule) -> Self {
        Self {
            tool: rule.tool_name,
            content: rule.rule_content,
        }
    }
}

/// A change that goes with an allow. Kept for the session unless another place is named.
///
/// ```
/// use countersign_client::{Decision, Update};
///
/// let decision = Decision::allow().with_update(Update::allow_rule("Bash(npm test:*)")?.in_local_settings());
/// # Ok::<(), countersign_client::RuleError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use = "an update does nothing until it goes with a decision"]
pub struct Update {
    change: Change,
    destination: RuleDestination,
}

#[derive(Debug, Clone, PartialEq)]
enum Change {
    Add(RuleBehavior, Vec<Rule>),
    Replace(RuleBehavior, Vec<Rule>),
    Remove(RuleBehavior, Vec<Rule>),
    Mode(PermissionMode),
    AddDirectories(Vec<String>),
    RemoveDirectories(Vec<String>),
}

impl Update {
    fn new(change: Change) -> Self {
        Self {
            change,
            destination: RuleDestination::Session,
        }
    }

    /// Calls that fit are allowed without asking.
    pub fn allow(rules: impl IntoIterator<Item = Rule>) -> Self {
        Self::add(RuleBehavior::Allow, rules)
    }

    /// Calls that fit are denied without asking.
    pub fn deny(rules: impl IntoIterator<Item = Rule>) -> Self {
        Self::add(RuleBehavior::Deny, rules)
    }

    /// Calls that fit are asked about, even where they would not be.
    pub fn ask(rules: impl IntoIterator<Item = Rule>) -> Self {
        Self::add(RuleBehavior::Ask, rules)
    }

    /// [`Update::allow`] with one rule as text.
    ///
    /// # Errors
    /// When the text is no rule.
    pub fn allow_rule(rule: &str) -> Result<Self, RuleError> {
        Ok(Self::allow([rule.parse()?]))
    }

    /// [`Update::deny`] with one rule as text.
    ///
    /// # Errors
    /// When the text is no rule.
    pub fn deny_rule(rule: &str) -> Result<Self, RuleError> {
        Ok(Self::deny([rule.parse()?]))
    }

    /// [`Update::ask`] with one rule as text.
    ///
    /// # Errors
    /// When the text is no rule.
    pub fn ask_rule(rule: &str) -> Result<Self, RuleError> {
        Ok(Self::ask([rule.parse()?]))
    }

    /// Adds rules.
    pub fn add(behavior: RuleBehavior, rules: impl IntoIterator<Item = Rule>) -> Self {
        Self::new(Change::Add(behavior, rules.into_iter().collect()))
    }

    /// Replaces the rules of this behaviour in the place where it is kept.
    pub fn replace(behavior: RuleBehavior, rules: impl IntoIterator<Item = Rule>) -> Self {
        Self::new(Change::Replace(behavior, rules.into_iter().collect()))
    }

    /// Removes rules. Rules of the command line ([`Update::for_cli_arguments`]) can be removed from 2.1.197 on.
    pub fn remove(behavior: RuleBehavior, rules: impl IntoIterator<Item = Rule>) -> Self {
        Self::new(Change::Remove(behavior, rules.into_iter().collect()))
    }

    /// Changes the mode. In the settings of the user it is the mode of later sessions, too. `bypassPermissions` needs
    /// an agent that was launched for it from 2.1.197 on, `auto` a version that has it; both are left out otherwise.
    pub fn mode(mode: PermissionMode) -> Self {
        Self::new(Change::Mode(mode))
    }

    /// Lets the agent work in these folders, too.
    pub fn add_directories<I, S>(folders: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        let folders = folders.into_iter().map(Into::into);
        Self::new(Change::AddDirectories(folders.collect()))
    }

    /// Takes such folders back.
    pub fn remove_directories<I, S>(folders: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        let folders = folders.into_iter().map(Into::into);
        Self::new(Change::RemoveDirectories(folders.collect()))
    }

    /// Kept until the session ends.
    pub fn in_session(self) -> Self {
        self.kept(RuleDestination::Session)
    }

    /// Written to `.claude/settings.local.json` of the folder. 2.1.197 does not honour rules there in a folder that was
    /// not trusted.
    pub fn in_local_settings(self) -> Self {
        self.kept(RuleDestination::LocalSettings)
    }

    /// Written to `.claude/settings.json` of the folder. From 2.1.197 on rules there are not honoured in a folder that
    /// was not trusted: the same call is asked about again.
    pub fn in_project_settings(self) -> Self {
        self.kept(RuleDestination::ProjectSettings)
    }

    /// Written to the settings of the user.
    pub fn in_user_settings(self) -> Self {
        self.kept(RuleDestination::UserSettings)
    }

    /// As if it stood on the command line; nothing is written.
    pub fn for_cli_arguments(self) -> Self {
        self.kept(RuleDestination::CliArg)
    }

    /// Kept there.
    pub fn kept(mut self, destination: RuleDestination) -> Self {
        self.destination = destination;
        self
    }
}

impl From<Update> for PermissionUpdate {
    fn from(update: Update) -> Self {
        let destination = update.destination;
        let extra = Extra::default();
        let rules = |behavior, rules: Vec<Rule>, destination| RulesUpdate {
            rules: rules.into_iter().map(Into::into).collect(),
            behavior,
            destination,
            extra: Extra::default(),
        };
        match update.change {
            Change::Add(behavior, list) => Self::AddRules(rules(behavior, list, destination)),
            Change::Replace(behavior, list) => {
                Self::ReplaceRules(rules(behavior, list, destination))
            }
            Change::Remove(behavior, list) => Self::RemoveRules(rules(behavior, list, destination)),
            Change::Mode(mode) => Self::SetMode(ModeUpdate {
                mode,
                destination,
                extra,
            }),
            Change::AddDirectories(directories) => Self::AddDirectories(DirectoriesUpdate {
                directories,
                destination,
                extra,
            }),
            Change::RemoveDirectories(directories) => Self::RemoveDirectories(DirectoriesUpdate {
                directories,
                destination,
                extra,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_as_they_are_written_in_settings() {
        for (text, tool, content) in [
            ("Bash", "Bash", None),
            ("Bash(npm test:*)", "Bash", Some("npm test:*")),
            ("Bash(echo (a))", "Bash", Some("echo (a)")),
            ("Read(//etc/**)", "Read", Some("//etc/**")),
            ("mcp__srv__tool", "mcp__srv__tool", None),
            (" WebFetch(domain:a.b) ", "WebFetch", Some("domain:a.b")),
        ] {
            let rule: Rule = text.parse().unwrap();
            assert_eq!(rule.tool, tool);
            assert_eq!(rule.content.as_deref(), content);
            assert_eq!(rule.to_string(), text.trim());
        }
    }

    #[test]
    fn a_text_that_is_no_rule_is_refused_with_the_reason() {
        for (text, reason) in [
            ("", "there is no tool"),
            ("(x)", "there is no tool"),
            ("Bash(rm", "not closed"),
            ("Bash(rm) ", ""),
            ("Bash()", "nothing in the brackets"),
            ("Bash Write", "no name"),
            ("Bash,Write", "no name"),
            ("Bash(a) b", "not closed"),
        ] {
            match text.parse::<Rule>() {
                Ok(_) => assert_eq!(reason, "", "{text}"),
                Err(error) => assert!(error.to_string().contains(reason), "{error}"),
            }
        }
    }
}
