//! What a check of a call comes to before the mode has its say, and the questions in it.

use std::path::Path;

use serde_json::{Value, json};

use super::decision::{Accepted, Refusal};
use super::rule::Rule;
use crate::cli::source::Source;

/// What a check says.
#[derive(Debug)]
pub(super) enum Verdict {
    Free(Accepted),
    Denied(Refusal),
    Asked(Question),
}

/// What may settle a question in place of a person; the later, the less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Firm {
    /// Modes and hooks.
    Usual,
    /// Modes; it is about a file that changes what programs do.
    Safety,
    /// Nothing but `dontAsk`: a rule wants the question.
    Rule,
    /// The same, and it removes far too much.
    Danger,
    /// It is a question to the user by itself.
    Person,
}

/// A question.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// What the model is told if nobody can answer.
    pub(super) message: String,
    pub(super) firm: Firm,
    /// The fields of `can_use_tool` that are the question's own.
    pub(super) fields: Value,
}

impl Question {
    /// A question with these fields.
    pub(super) fn new(message: String, fields: Value) -> Self {
        Question {
            message,
            firm: Firm::Usual,
            fields,
        }
    }

    /// A call that needs a word, with rules that would allow it.
    pub(super) fn wanted(tool: &str, offers: &[Rule]) -> Self {
        let offers: Vec<Value> = offers
            .iter()
            .map(|rule| suggest_rules(std::slice::from_ref(rule), Source::Local))
            .collect();
        Question::new(not_granted(tool), json!({"permission_suggestions": offers}))
    }

    /// A question that a rule wants.
    pub(super) fn by_rule(source: Source, tool: &str) -> Self {
        let fields = json!({
            "decision_reason_type": "rule",
            "decision_reason_rule_source": source.name(),
            "server_policy_ask_only": false,
        });
        Question::new(not_granted(tool), fields).firm(Firm::Rule)
    }

    /// A question that the mode wants.
    pub(super) fn by_mode(tool: &str) -> Self {
        Question::new(not_granted(tool), json!({"decision_reason_type": "mode"}))
    }

    /// A question that a hook wants.
    pub(super) fn by_hook(reason: &str) -> Self {
        let fields = json!({
            "decision_reason": reason,
            "decision_reason_type": "hook",
            "decision_reason_hook_event": "PreToolUse",
            "decision_reason_hook_source": "settings",
        });
        Question::new(reason.to_owned(), fields)
    }

    /// A question for this reason.
    pub(super) fn because(reason: &str, kind: &str, offers: Vec<Value>) -> Self {
        let fields = json!({
            "decision_reason": reason,
            "decision_reason_type": kind,
            "permission_suggestions": offers,
        });
        Question::new(reason.to_owned(), fields)
    }

    /// The same question, harder to settle.
    pub(super) fn firm(self, firm: Firm) -> Self {
        Question { firm, ..self }
    }

    /// The same question with one more field.
    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.fields[key] = value.into();
        self
    }

    /// The `decision_reason_type`.
    pub(super) fn kind(&self) -> Option<&str> {
        self.fields["decision_reason_type"].as_str()
    }
}

pub(super) fn not_granted(tool: &str) -> String {
    format!("Claude requested permissions to use {tool}, but you haven't granted it yet.")
}

/// The suggestion to allow these from now on.
pub(super) fn suggest_rules(rules: &[Rule], destination: Source) -> Value {
    let rules: Vec<Value> = rules.iter().map(Rule::value).collect();
    json!({"type": "addRules", "rules": rules, "behavior": "allow", "destination": destination.name()})
}

/// The suggestion to work in this folder too.
pub(super) fn suggest_folder(folder: &Path) -> Value {
    json!({"type": "addDirectories", "directories": [folder.to_string_lossy()], "destination": "session"})
}

/// The suggestion to accept edits from now on.
pub(super) fn suggest_edits() -> Value {
    json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"})
}

/// The suggestion to read in this folder; there is none for the whole disk.
pub(super) fn suggest_reading(folder: &Path) -> Option<Value> {
    folder.parent()?;
    let path = folder.to_string_lossy().replace('\\', "/");
    let rule = Rule::new("Read", Some(&format!("/{path}/**")))?;
    Some(suggest_rules(&[rule], Source::Session))
}
