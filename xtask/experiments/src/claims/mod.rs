//! What the seed says, as data, and how it is held against what was seen.
//!
//! Owns [`Claim`] and [`compare`]. A claim is the seed's figure, how the same figure is read from an observation, and the
//! section of the ground truth that explains a difference. Invariant: a verdict is computed, never written.

mod modes;
mod prompts;
mod wording;

use std::collections::BTreeMap;

use serde::Serialize;

use super::Letter;
use super::figure::Figure;
use super::seen::Seen;
use super::takes::TakeName;

/// The tables, in the order they are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Table {
    ReportedMode,
    MessageFlow,
    Timing,
    Prompts,
    KeyQuestions,
    Findings,
    Wording,
    CostAndStyle,
}

impl Table {
    pub(crate) const ALL: [Self; 8] = [
        Self::ReportedMode,
        Self::MessageFlow,
        Self::Timing,
        Self::Prompts,
        Self::KeyQuestions,
        Self::Findings,
        Self::Wording,
        Self::CostAndStyle,
    ];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::ReportedMode => "Permission mode that init reports",
            Self::MessageFlow => "Message flow",
            Self::Timing => "Control messages and timing",
            Self::Prompts => "Permission prompts",
            Self::KeyQuestions => "Key questions",
            Self::Findings => "Findings",
            Self::Wording => "Wording of questions and answers",
            Self::CostAndStyle => "Cost and style",
        }
    }
}

/// Reads a figure from the observations of the takes that a claim is about, in the order it names them.
type Measure = fn(&[&Seen]) -> Figure;

/// One thing that the seed says.
#[derive(Debug, Clone)]
struct Claim {
    table: Table,
    of: Vec<TakeName>,
    what: &'static str,
    seed: Figure,
    here: Here,
    /// The section of the ground truth that a difference falls under, and what it says.
    truth: (&'static str, &'static str),
}

/// How it is held against this run.
#[derive(Debug, Clone)]
enum Here {
    /// By the same figure.
    Same(Measure),
    /// It is only shown, for this reason.
    Shown(&'static str, Measure),
    /// By nothing: it is about a model that thinks.
    Nothing,
}

/// What came of a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Comparison {
    pub(crate) table: Table,
    pub(crate) experiments: Vec<Letter>,
    pub(crate) what: &'static str,
    pub(crate) seed: Figure,
    /// What was seen here, if it can be.
    pub(crate) here: Option<Figure>,
    #[serde(flatten)]
    pub(crate) verdict: Verdict,
}

/// Whether the seed's figure holds here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Agrees,
    Differs {
        /// Of the ground truth.
        section: &'static str,
        why: &'static str,
    },
    NotComparable {
        why: &'static str,
    },
    NotMeasurable {
        why: &'static str,
    },
}

/// Why a figure of a thinking model has no counterpart.
const SCRIPTED: &str = "on a scripted model";
/// Why a take was not run.
const NOT_ROOT: &str = "without being root";

/// Holds what the seed says about these experiments against what was seen of them.
pub(crate) fn compare(letters: &[Letter], seen: &BTreeMap<TakeName, &Seen>) -> Vec<Comparison> {
    let mut comparisons: Vec<_> = claims()
        .into_iter()
        .filter(|claim| claim.of.iter().all(|take| letters.contains(&take.letter())))
        .map(|claim| claim.compare(seen))
        .collect();
    comparisons.sort_by_key(|comparison| comparison.table);
    comparisons
}

fn claims() -> Vec<Claim> {
    [modes::claims(), prompts::claims(), wording::claims()].concat()
}

impl Claim {
    fn compare(self, seen: &BTreeMap<TakeName, &Seen>) -> Comparison {
        let mut experiments: Vec<Letter> = self.of.iter().map(|take| take.letter()).collect();
        experiments.dedup();
        let of: Option<Vec<&Seen>> = self.of.iter().map(|take| seen.get(take).copied()).collect();
        let (section, why) = self.truth;
        let (here, verdict) = match (self.here, of) {
            (Here::Nothing, _) => (None, Verdict::NotMeasurable { why: SCRIPTED }),
            (_, None) => (None, Verdict::NotMeasurable { why: NOT_ROOT }),
            (Here::Shown(why, measure), Some(of)) => {
                (Some(measure(&of)), Verdict::NotComparable { why })
            }
            (Here::Same(measure), Some(of)) => match measure(&of) {
                here if here == self.seed => (Some(here), Verdict::Agrees),
                here => (Some(here), Verdict::Differs { section, why }),
            },
        };
        Comparison {
            table: self.table,
            experiments,
            what: self.what,
            seed: self.seed,
            here,
            verdict,
        }
    }
}

#[cfg(test)]
mod tests;
