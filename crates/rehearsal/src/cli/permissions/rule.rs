//! One rule as text: `Tool`, or `Tool(content)`.
//!
//! Owns reading and writing it, the former names of tools, and how `list_permission_rules` describes it. A text that is
//! no rule is no rule: it allows nothing and forbids nothing.

use serde_json::{Value, json};

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::cli) enum Behavior {
    /// Runs without a question.
    Allow,
    /// Never runs.
    Deny,
    /// Always asks.
    Ask,
}

impl Behavior {
    /// In the order in which they are listed.
    pub(super) const ALL: [(&'static str, Behavior); 3] = [
        ("allow", Behavior::Allow),
        ("ask", Behavior::Ask),
        ("deny", Behavior::Deny),
    ];

    pub(super) fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, behavior)| *behavior)
    }

    pub(super) fn name(self) -> &'static str {
        let found = Self::ALL.iter().find(|(_, known)| *known == self);
        found.map_or("ask", |(name, _)| name)
    }
}

/// A tool, and which of its calls are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct Rule {
    /// The tool's name of today.
    pub(super) tool: String,
    /// Which calls; all of them without.
    pub(super) content: Option<String>,
}

/// Names that tools had once.
const FORMER: [(&str, &str); 4] = [
    ("Task", "Agent"),
    ("KillShell", "TaskStop"),
    ("KillBash", "TaskStop"),
    ("Brief", "SendUserMessage"),
];

/// The name a tool goes by today.
pub(super) fn today(tool: &str) -> &str {
    let found = FORMER.iter().find(|(former, _)| *former == tool);
    found.map_or(tool, |(_, name)| name)
}

impl Rule {
    /// A rule for all calls of a tool, or for those that the content means.
    pub(super) fn new(tool: &str, content: Option<&str>) -> Option<Self> {
        let known = tool.starts_with("mcp__") || tool.starts_with(|c: char| c.is_ascii_uppercase());
        let plain = tool
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-*.".contains(c));
        if !known || !plain {
            return None;
        }
        let content = content.filter(|content| !matches!(*content, "" | "*" | ":*"));
        Some(Rule {
            tool: today(tool).to_owned(),
            content: content.map(str::to_owned),
        })
    }

    /// Reads `Tool` or `Tool(content)`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let Some(open) = text.find('(') else {
            return Rule::new(text, None);
        };
        let inner = text[open + 1..].strip_suffix(')')?;
        let plain = inner
            .replace("\\(", "(")
            .replace("\\)", ")")
            .replace("\\\\", "\\");
        Rule::new(&text[..open], Some(&plain))
    }

    /// The rule as it is written in a settings file.
    pub(super) fn text(&self) -> String {
        match &self.content {
            None => self.tool.clone(),
            Some(content) => {
                let escaped = content
                    .replace('\\', "\\\\")
                    .replace('(', "\\(")
                    .replace(')', "\\)");
                format!("{}({escaped})", self.tool)
            }
        }
    }

    /// The rule as a part of an update.
    pub(super) fn value(&self) -> Value {
        match &self.content {
            None => json!({"toolName": self.tool}),
            Some(content) => json!({"toolName": self.tool, "ruleContent": content}),
        }
    }

    /// What it means, where the CLI says so.
    pub(super) fn description(&self) -> Option<Value> {
        let content = match (self.tool.as_str(), self.content.as_deref()) {
            ("Bash", None) => return Some(json!({"prefix": "Any Bash command"})),
            ("Bash", Some(content)) => content,
            (_, Some(_)) => return None,
            (tool, None) => {
                return Some(json!({
                    "prefix": "Any use of the ", "emphasis": tool, "suffix": " tool",
                }));
            }
        };
        let start = content.strip_suffix(":*").or(content.strip_suffix(" *"));
        Some(match start {
            Some(start) => {
                json!({"prefix": "Any Bash command starting with ", "emphasis": start})
            }
            None => json!({"prefix": "The Bash command ", "emphasis": content}),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_written_as_it_was_read() {
        for text in [
            "Bash",
            "Bash(git log:*)",
            "Read(//etc/**)",
            "mcp__srv__*",
            "Bash(a\\(b\\))",
            "Agent(Explore)",
        ] {
            assert_eq!(Rule::parse(text).unwrap().text(), text);
        }
        assert_eq!(
            Rule::parse("Task(Explore)").unwrap().text(),
            "Agent(Explore)"
        );
        assert_eq!(Rule::parse("Bash(*)"), Rule::parse("Bash"));
    }

    #[test]
    fn what_is_no_rule_is_none() {
        for text in ["", "*", "nope(x)", "bad rule(", "Bash(a", "(x)"] {
            assert_eq!(Rule::parse(text), None, "{text}");
        }
    }
}
