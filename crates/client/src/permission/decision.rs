//! What is answered to a permission question.
//!
//! Owns [`Decision`]. Invariants: an allow always carries the whole input, the original one unless another was given; a
//! denial always has a message; fields without a value are left out. That form is taken by every version.

use countersign_wire::permission::{Allow, Deny, PermissionResult, PermissionUpdate};
use countersign_wire::vocab::PermissionMode;
use countersign_wire::{Extra, Json};
use serde::Serialize;

use super::{PermissionRequest, Update};

/// What is decided about a call.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a decision does nothing until it is given as the answer"]
pub struct Decision {
    kind: DecisionKind,
}

#[derive(Debug, Clone, PartialEq)]
enum DecisionKind {
    Allow {
        input: Option<Json>,
        updates: Vec<PermissionUpdate>,
    },
    Deny {
        message: String,
        stop: bool,
    },
}

impl Decision {
    /// The call runs, with the input that was asked about.
    pub fn allow() -> Self {
        Self {
            kind: DecisionKind::Allow {
                input: None,
                updates: Vec::new(),
            },
        }
    }

    /// The call does not run; the model reads `message` and goes on.
    pub fn deny(message: impl Into<String>) -> Self {
        Self {
            kind: DecisionKind::Deny {
                message: message.into(),
                stop: false,
            },
        }
    }

    /// The call does not run and the turn ends. Newer CLIs then tell the model a text of their own.
    pub fn deny_and_stop(message: impl Into<String>) -> Self {
        Self {
            kind: DecisionKind::Deny {
                message: message.into(),
                stop: true,
            },
        }
    }

    /// Runs the call with another input. It replaces the original as a whole. No effect on a denial.
    pub fn with_input(mut self, changed: Json) -> Self {
        if let DecisionKind::Allow { input, .. } = &mut self.kind {
            *input = Some(changed);
        }
        self
    }

    /// Runs the call with another input, made from any serialisable value.
    ///
    /// # Errors
    /// When `input` has no JSON form.
    pub fn with_input_of<T: Serialize>(self, input: &T) -> Result<Self, serde_json::Error> {
        Ok(self.with_input(Json::of(input)?))
    }

    /// Applies a change together with the allow: an [`Update`](super::Update), or one of the CLI's suggestions. No effect
    /// on a denial. What this version would choke on is left out, and told as [`crate::Notice::UpdatesDropped`].
    pub fn with_update(mut self, update: impl Into<PermissionUpdate>) -> Self {
        if let DecisionKind::Allow { updates, .. } = &mut self.kind {
            updates.push(update.into());
        }
        self
    }

    /// Applies several changes, in order. No effect on a denial.
    pub fn with_updates<I>(self, updates: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<PermissionUpdate>,
    {
        updates.into_iter().fold(self, Self::with_update)
    }

    /// The call runs, and what the CLI suggests as "always allow this" is remembered: its rules, never its change of
    /// mode. Only an allow where the CLI wants no such rule, or suggests none.
    pub fn allow_always(request: &PermissionRequest) -> Self {
        if request.suppress_always_allow_rule == Some(true) {
            return Self::allow();
        }
        Self::allow().with_updates(request.rule_suggestions().cloned())
    }

    /// Changes the mode together with the allow, for this session. A refused change is silent on the wire; it is told
    /// as [`crate::Notice::ModeNotTaken`].
    pub fn with_mode(self, mode: PermissionMode) -> Self {
        self.with_update(Update::mode(mode))
    }

    /// Whether the call runs.
    pub fn is_allow(&self) -> bool {
        matches!(self.kind, DecisionKind::Allow { .. })
    }

    /// Whether it lets the call run as it was asked, with nothing changed (updates were taken out before).
    pub(crate) fn is_plain_allow(&self) -> bool {
        matches!(self.kind, DecisionKind::Allow { input: None, .. })
    }

    pub(crate) fn take_updates(&mut self) -> Vec<PermissionUpdate> {
        match &mut self.kind {
            DecisionKind::Allow { updates, .. } => std::mem::take(updates),
            DecisionKind::Deny { .. } => Vec::new(),
        }
    }

    /// The answer in the form that every version takes: the whole input, no empty fields.
    pub(crate) fn into_result(
        self,
        original: &Json,
        updates: Vec<PermissionUpdate>,
    ) -> PermissionResult {
        match self.kind {
            DecisionKind::Allow { input, .. } => {
                let input = input.filter(is_object).unwrap_or_else(|| original.clone());
                PermissionResult::Allow(Allow {
                    updated_input: Some(input),
                    updated_permissions: (!updates.is_empty()).then_some(updates),
                    ..Allow::default()
                })
            }
            DecisionKind::Deny { message, stop } => PermissionResult::Deny(Deny {
                message,
                interrupt: stop.then_some(true),
                tool_use_id: None,
                decision_classification: None,
                extra: Extra::default(),
            }),
        }
    }

    /// Whether an input that was given cannot be one: the call is denied rather than run with something else.
    pub(crate) fn has_broken_input(&self) -> bool {
        match &self.kind {
            DecisionKind::Allow { input, .. } => {
                input.as_ref().is_some_and(|json| !is_object(json))
            }
            DecisionKind::Deny { .. } => false,
        }
    }
}

fn is_object(json: &Json) -> bool {
    json.as_str().trim_start().starts_with('{')
}
