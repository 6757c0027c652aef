//! What a check of a tool comes to, before the mode has its say.
//!
//! Owns the question in all its parts, and writes it as the fields of `can_use_tool`. Absent parts are missing, never
//! null.

use serde_json::{Map, Value, json};

use super::super::source::Source;
use super::decision::Refusal;
use super::rule::Rule;

/// What a check says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    /// Runs, for this reason.
    Free(Free),
    /// Does not run.
    Denied(Refusal),
    /// Needs an answer.
    Asked(Box<Asked>),
}

/// Why something runs without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Free {
    /// It never asks.
    Always,
    /// It is a file of the CLI's own, kept for the model to write.
    Own,
    /// It reads inside of the working folders.
    Mode,
    /// Every part of the command may run.
    Parts,
    /// A rule of this source.
    Rule(Source),
}

/// The kinds of reason that modes tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Rule,
    Mode,
    Parts,
    WorkingDir,
    Safety,
    Hook,
    Other,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Rule => "rule",
            Kind::Mode => "mode",
            Kind::Parts => "subcommandResults",
            Kind::WorkingDir => "workingDir",
            Kind::Safety => "safetyCheck",
            Kind::Hook => "hook",
            Kind::Other => "other",
        }
    }
}

/// A question.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Asked {
    /// What the model is told if nobody can answer.
    pub(super) message: String,
    pub(super) reason: Option<String>,
    pub(super) kind: Option<Kind>,
    pub(super) suggestions: Option<Vec<Value>>,
    pub(super) blocked_path: Option<String>,
    /// For a safety check: whether a classifier could settle it.
    pub(super) approvable: Option<bool>,
    pub(super) no_lasting_rule: bool,
    pub(super) policy: Option<bool>,
    /// The rule that asks, if that is the reason.
    pub(super) rule_source: Option<Source>,
    /// A rule that asks, if there is a better reason.
    pub(super) matched: Option<(Source, Rule)>,
    /// Only a person can answer: a question to the user, or a plan.
    pub(super) personal: bool,
    /// A removal that no mode lets through.
    pub(super) danger: bool,
    /// A rule asks about a part of it.
    pub(super) part_ruled: bool,
    /// A part of it is about a touchy file.
    pub(super) touchy: bool,
}

impl Asked {
    /// A question with a reason in words.
    pub(super) fn because(reason: &str, kind: Kind) -> Self {
        Asked {
            message: reason.to_owned(),
            reason: Some(reason.to_owned()),
            kind: Some(kind),
            ..Asked::default()
        }
    }

    /// A question that a rule wants.
    pub(super) fn by_rule(source: Source, tool: &str) -> Self {
        Asked {
            message: format!(
                "Claude requested permissions to use {tool}, but you haven't granted it yet."
            ),
            kind: Some(Kind::Rule),
            rule_source: Some(source),
            policy: Some(false),
            ..Asked::default()
        }
    }

    /// Whether a rule wants the question.
    pub(super) fn ruled(&self) -> bool {
        self.kind == Some(Kind::Rule) || self.part_ruled || self.matched.is_some()
    }

    /// Whether it is put although a hook allows the call.
    pub(super) fn holds_against_hooks(&self) -> bool {
        self.danger
            || self.personal
            || self.touchy
            || self.ruled()
            || self.kind == Some(Kind::Safety)
    }

    pub(super) fn verdict(self) -> Verdict {
        Verdict::Asked(Box::new(self))
    }

    /// The fields of `can_use_tool` that are the question's own.
    pub(super) fn fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields.insert(key.to_owned(), value);
            }
        };
        put(
            "permission_suggestions",
            self.suggestions.clone().map(Value::Array),
        );
        put("blocked_path", self.blocked_path.clone().map(Value::from));
        put("decision_reason", self.reason.clone().map(Value::from));
        put(
            "decision_reason_type",
            self.kind.map(|kind| kind.name().into()),
        );
        put(
            "decision_reason_rule_source",
            self.rule_source.map(|source| source.name().into()),
        );
        put("classifier_approvable", self.approvable.map(Value::from));
        put(
            "suppress_always_allow_rule",
            self.no_lasting_rule.then_some(Value::Bool(true)),
        );
        put("server_policy_ask_only", self.policy.map(Value::from));
        put(
            "requires_user_interaction",
            self.personal.then_some(Value::Bool(true)),
        );
        put("matched_ask_rule", self.matched.as_ref().map(matched));
        fields
    }
}

fn matched((source, rule): &(Source, Rule)) -> Value {
    match &rule.content {
        None => json!({"source": source.name(), "tool_name": rule.tool}),
        Some(content) => {
            json!({"source": source.name(), "tool_name": rule.tool, "rule_content": content})
        }
    }
}

/// The suggestion to allow these from now on.
pub(super) fn suggest_rules(rules: &[Rule], destination: Source) -> Value {
    let rules: Vec<Value> = rules.iter().map(Rule::value).collect();
    json!({"type": "addRules", "rules": rules, "behavior": "allow", "destination": destination.name()})
}

/// The suggestion to work in this folder too.
pub(super) fn suggest_folder(folder: &std::path::Path) -> Value {
    json!({"type": "addDirectories", "directories": [folder.to_string_lossy()], "destination": "session"})
}

/// The suggestion to accept edits from now on.
pub(super) fn suggest_edits() -> Value {
    json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"})
}

/// The suggestion to read in this folder; there is none for the whole disk.
pub(super) fn reading_rule(folder: &std::path::Path) -> Option<Rule> {
    folder.parent()?;
    let path = folder.to_string_lossy().replace('\\', "/");
    Rule::new("Read", Some(&format!("/{path}/**")))
}
