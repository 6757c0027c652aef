//! What comes of a question: settled by rule, or for a person.
//!
//! Owns [`Ruling`] and its reason, which is made for the record: it names the rule and where the rule stands. Nothing
//! here decides.

use std::borrow::Cow;

use countersign_policy::Verdict;
use serde::Serialize;

/// What comes of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Ruling {
    /// The call runs.
    Allow(Because),
    /// The call does not run.
    Deny {
        /// What the model reads.
        message: String,
        /// Why, for the record.
        because: Because,
    },
    /// A person decides.
    Ask {
        /// Why no rule settles it.
        because: Because,
        /// Sets of rules of ours, each of which would allow it from now on; narrowest first.
        suggestions: Vec<Vec<String>>,
        /// The mode *edits* would have allowed it.
        edits_would_do: bool,
    },
}

impl Ruling {
    /// Its reason.
    pub fn because(&self) -> &Because {
        match self {
            Self::Allow(because) | Self::Deny { because, .. } | Self::Ask { because, .. } => {
                because
            }
        }
    }
}

/// Why a ruling is what it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Because {
    /// The kind of reason: those of the policy, [`Because::UNREADABLE`], [`Because::NOBODY`].
    pub kind: Cow<'static, str>,
    /// In a sentence.
    pub text: String,
    /// The rule that decided, as it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The number of that rule, where it is one that people made: others may read the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// Where that rule stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The part of the call that decided, where it has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

impl Because {
    /// Rules cannot be read, so that nothing is allowed by rule.
    pub const UNREADABLE: &'static str = "rules-unreadable";
    /// The mode asks nobody.
    pub const NOBODY: &'static str = "nobody-is-asked";

    /// The reason of a verdict.
    pub(super) fn of(verdict: &Verdict) -> Self {
        let reason = &verdict.reason;
        Self {
            kind: Cow::Owned(reason.why.to_string()),
            text: reason.text.clone(),
            rule: reason.rule.as_ref().map(ToString::to_string),
            number: reason.rule.as_ref().and_then(|rule| rule.number),
            origin: reason.rule.as_ref().map(|rule| rule.origin.to_string()),
            part: reason.part.clone(),
        }
    }

    pub(super) fn plain(kind: &'static str, text: String) -> Self {
        Self {
            kind: Cow::Borrowed(kind),
            text,
            rule: None,
            number: None,
            origin: None,
            part: None,
        }
    }
}
