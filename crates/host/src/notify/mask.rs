//! What is known of secrets beside their looks.
//!
//! Owns [`Mask`], which whoever opens a host may give it: values that were entrusted to it, patterns of the person. It is for
//! what is cut before it leaves: half of a secret is not known by anybody. Invariant: what cannot be masked is not told.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::control::{ApprovalView, SessionView};

type Masking = dyn Fn(&str) -> String + Send + Sync;

/// Takes out of a text what is secret in it. A text that is JSON stays JSON.
#[derive(Clone, Default)]
pub struct Mask(Option<Arc<Masking>>);

impl Mask {
    /// By this.
    pub fn new(mask: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(mask)))
    }

    /// The text without it.
    pub(crate) fn of(&self, text: &str) -> String {
        match &self.0 {
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
        if let Some(mask) = &self.0 {
            let masked = mask(&asked.input.to_string());
            asked.input = serde_json::from_str(&masked).unwrap_or(Value::Null);
        }
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mask").field(&self.0.is_some()).finish()
    }
}
