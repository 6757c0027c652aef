//! A figure: what the seed says or what was seen, in a form that can be held against another.

use std::fmt;

use serde::Serialize;

/// A value that two sides can agree on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Figure {
    /// How many.
    Count(usize),
    /// Whether it is so.
    Truth(bool),
    /// A word or a sentence.
    Text(String),
    /// Several, in order.
    List(Vec<String>),
}

impl Figure {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(crate) fn list<T: Into<String>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Truth(true) => f.write_str("yes"),
            Self::Truth(false) => f.write_str("no"),
            Self::Text(text) => f.write_str(text),
            Self::List(items) if items.is_empty() => f.write_str("(none)"),
            Self::List(items) => f.write_str(&items.join(", ")),
        }
    }
}
