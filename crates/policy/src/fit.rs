//! Whether something is meant by a rule.
//!
//! Three answers, because a text may hide what it will be: a denial must hold for what *may* be meant, an allow only for
//! what certainly is.

/// Whether something is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fit {
    /// Certainly not.
    No,
    /// It may be: this is not known before it runs. The text says why.
    Maybe(String),
    /// Certainly.
    Yes,
}

impl Fit {
    /// Certainly meant.
    pub fn is_yes(&self) -> bool {
        *self == Fit::Yes
    }

    /// Certainly not meant.
    pub fn is_no(&self) -> bool {
        *self == Fit::No
    }

    /// `Yes` or `No`.
    pub fn certain(is_meant: bool) -> Fit {
        match is_meant {
            true => Fit::Yes,
            false => Fit::No,
        }
    }

    /// Whether either is meant: the surer of the two.
    #[must_use]
    pub fn or(self, other: impl FnOnce() -> Fit) -> Fit {
        match self {
            Fit::Yes => Fit::Yes,
            Fit::No => other(),
            Fit::Maybe(why) => match other() {
                Fit::Yes => Fit::Yes,
                _ => Fit::Maybe(why),
            },
        }
    }
}
