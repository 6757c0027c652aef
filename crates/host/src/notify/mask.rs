//! What is known of secrets beside their looks.
//!
//! Owns [`Mask`], which whoever opens a host may give it: values that were entrusted to it, patterns of the person. It is for
//! what is cut before it leaves: half of a secret is not known by anybody. Invariant: what cannot be masked is not told.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::control::session::Setup;
use crate::control::{ApprovalView, SessionView};

type Masking = dyn Fn(&str) -> String + Send + Sync;
type Learning = dyn Fn(&[Setup], &[String]) + Send + Sync;

/// Takes out of a text what is secret in it. A text that is JSON stays JSON.
#[derive(Clone, Default)]
pub struct Mask {
    mask: Option<Arc<Masking>>,
    learn: Option<Arc<Learning>>,
}

impl Mask {
    /// By this.
    pub fn new(mask: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self {
            mask: Some(Arc::new(mask)),
            learn: None,
        }
    }

    /// Before anything is told, `learn` hears how every session was started and the patterns that a person prefers.
    #[must_use]
    pub fn learning(self, learn: impl Fn(&[Setup], &[String]) + Send + Sync + 'static) -> Self {
        Self {
            learn: Some(Arc::new(learn)),
            ..self
        }
    }

    /// What there is to learn.
    pub(crate) fn learn(&self, setups: &[Setup], patterns: &[String]) {
        if let Some(learn) = &self.learn {
            learn(setups, patterns);
        }
    }

    /// The text without it.
    pub(crate) fn of(&self, text: &str) -> String {
        match &self.mask {
            Some(mask) => mask(text),
            None => text.to_owned(),
        }
    }

    fn text(&self, text: &mut String) {
        *text = self.of(text);
    }

    /// What is told of a session.
    pub(crate) fn session(&self, view: &mut SessionView) {
        self.text(&mut view.name);
        self.text(&mut view.reason);
    }

    /// What is told of a question.
    pub(crate) fn question(&self, asked: &mut ApprovalView) {
        self.text(&mut asked.tool);
        // Made of the input, of which no more is told than the mask leaves.
        asked.harm = None;
        if let Some(mask) = &self.mask {
            let masked = mask(&asked.input.to_string());
            asked.input = serde_json::from_str(&masked).unwrap_or(Value::Null);
        }
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mask").field(&self.mask.is_some()).finish()
    }
}
