//! Secrets masked on the way out: streams, pages, logs, problems.
//!
//! Owns which values and patterns count on this server: what a person added, what the host itself was entrusted with, and
//! what looks like a secret (`countersign_api::redact`). Journals are never changed. Invariants: JSON stays JSON; a value that
//! was learned is masked in everything that leaves afterwards. Limit: of a secret that a model writes in pieces the first
//! pieces have left before it can be known.

pub(crate) mod answers;
mod own;
mod restore;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use countersign_api::control::Command;
use countersign_api::control::session::Setup;
use countersign_api::redact::{Edit, Wanted, apply, handled, may_look_like_one};
use regex::Regex;

/// So many values are remembered. Beyond it new ones are found by their looks only, and that is logged.
const MOST_KNOWN: usize = 4_096;

/// A shorter value is no secret, and hiding it would hide the text.
const SHORTEST: usize = 8;

/// A longer one is looked for in pieces, so that all of them can be looked for at once.
const LONGEST: usize = 2_048;

/// A pattern that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("`{pattern}` is no pattern: {source}")]
pub struct BadPattern {
    pattern: String,
    source: regex::Error,
}

/// Takes secrets out of what leaves.
pub struct Redactor {
    /// Those that hold as long as this runs.
    patterns: Vec<Regex>,
    known: RwLock<Known>,
}

struct Known {
    /// Those that a person can change.
    preferred: Vec<Regex>,
    values: BTreeSet<String>,
    sought: Arc<Sought>,
}

/// What is looked for. Shared, since a copy of an expression would have to warm up anew for each line.
#[derive(Default)]
struct Sought {
    wanted: Wanted,
    /// The values as they stand in JSON.
    written: Option<Regex>,
    /// One of them does not stand in JSON as it is: within JSON that is itself a string it has yet another form.
    has_escapes: bool,
}

impl Sought {
    /// Whether one of the values may stand in a text, which is JSON or is not.
    fn may_be_in(&self, text: &str) -> bool {
        let stands = |it: &Option<Regex>| it.as_ref().is_some_and(|it| it.is_match(text));
        stands(&self.written)
            || self.has_escapes && (text.contains("\\\\") || stands(&self.wanted.known))
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor")
            .field("patterns", &self.patterns)
            .finish_non_exhaustive()
    }
}

impl Default for Redactor {
    /// By looks alone.
    fn default() -> Self {
        Self::with(Vec::new())
    }
}

impl Redactor {
    /// With a person's own patterns.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, BadPattern> {
        let read = |pattern: &str| {
            Regex::new(pattern).map_err(|source| BadPattern {
                pattern: pattern.to_owned(),
                source,
            })
        };
        let patterns: Result<Vec<Regex>, _> = patterns.into_iter().map(read).collect();
        Ok(Self::with(patterns?))
    }

    fn with(patterns: Vec<Regex>) -> Self {
        let known = Known {
            preferred: Vec::new(),
            values: BTreeSet::new(),
            sought: Arc::new(Sought {
                wanted: Wanted::new(patterns.clone(), None),
                ..Sought::default()
            }),
        };
        Self {
            patterns,
            known: RwLock::new(known),
        }
    }

    /// From now on these values are masked wherever they stand.
    pub fn learn(&self, values: impl IntoIterator<Item = String>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let before = known.values.len();
        let mut left_out = 0;
        for value in values {
            for piece in value.lines().map(str::trim).flat_map(pieces) {
                match piece.len() >= SHORTEST && !known.values.contains(piece) {
                    true if known.values.len() >= MOST_KNOWN => left_out += 1,
                    true => drop(known.values.insert(piece.to_owned())),
                    false => {}
                }
            }
        }
        if left_out > 0 {
            tracing::error!(
                left_out,
                "more secrets than are remembered: these are found by their looks only"
            );
        }
        if known.values.len() > before {
            self.seek(&mut known);
        }
    }

    /// From now on these patterns of a person count, and none that they preferred before. One that cannot be read is left out,
    /// and said: the host has read them before it stored them.
    pub fn prefer(&self, patterns: &[String]) {
        let read = |pattern: &String| {
            let built = Regex::new(pattern);
            let said =
                built.inspect_err(|_| tracing::error!("a pattern of secrets cannot be read"));
            said.ok()
        };
        let preferred = patterns.iter().filter_map(read).collect();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.preferred = preferred;
        self.seek(&mut known);
    }

    /// Puts together what is looked for.
    fn seek(&self, known: &mut Known) {
        let written: Vec<String> = known.values.iter().map(|it| in_json(it)).collect();
        let values = any_of(known.values.iter().map(String::as_str));
        let patterns = self.patterns.iter().chain(&known.preferred);
        let mut forms = known.values.iter().zip(&written);
        known.sought = Arc::new(Sought {
            has_escapes: forms.any(|(value, written)| value != written),
            wanted: Wanted::new(patterns.cloned().collect(), values),
            written: any_of(written.iter().map(String::as_str)),
        });
    }

    /// What a command entrusts the host with, before it is carried out.
    pub fn learn_command(&self, command: &Command) {
        match command {
            Command::Start(new) => self.learn_setup(&new.setup),
            Command::SetEnv { env, .. } => self.learn_setup(&Setup {
                env: env.clone(),
                ..Setup::default()
            }),
            _ => {}
        }
    }

    /// What a session is started with, before it is.
    pub fn learn_setup(&self, setup: &Setup) {
        self.learn_setups(std::slice::from_ref(setup));
    }

    /// What sessions were started with.
    pub fn learn_setups(&self, setups: &[Setup]) {
        self.learn(setups.iter().flat_map(handled));
    }

    /// A line of a journal, or any other text, without its secrets.
    pub fn line<'a>(&self, line: &'a str) -> Cow<'a, str> {
        self.masked(line, |_| false)
    }

    /// An answer of ours, as JSON: what the program itself put there stays, since nothing could be decided without it.
    pub fn answer<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let own = OnceCell::new();
        self.masked(text, |edit| {
            let places = own.get_or_init(|| match is_json(text) {
                true => own::places(text),
                false => BTreeSet::new(),
            });
            places.contains(&edit.range.start)
        })
    }

    fn sought(&self) -> Arc<Sought> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&known.sought)
    }

    fn masked<'a>(&self, line: &'a str, stays: impl Fn(&Edit) -> bool) -> Cow<'a, str> {
        let sought = self.sought();
        let may_hold = !sought.wanted.patterns.is_empty()
            || line.contains("\\u")
            || may_look_like_one(line)
            || sought.may_be_in(line);
        if !may_hold {
            return Cow::Borrowed(line);
        }
        let mut edits = sought.wanted.edits(line);
        edits.retain(|edit| !stays(edit));
        match apply(line, &edits) {
            Some((masked, _)) => Cow::Owned(masked),
            None => Cow::Borrowed(line),
        }
    }

    /// A value of JSON without its secrets.
    #[must_use]
    pub fn value(&self, value: &serde_json::Value) -> serde_json::Value {
        let text = value.to_string();
        match self.line(&text) {
            Cow::Borrowed(_) => value.clone(),
            // It was JSON, so it is; if it were not, nothing of it is told.
            Cow::Owned(masked) => serde_json::from_str(&masked).unwrap_or_default(),
        }
    }
}

/// A value in pieces of about the same length, none longer than can be looked for.
fn pieces(value: &str) -> impl Iterator<Item = &str> {
    let length = value.len().div_ceil(value.len().div_ceil(LONGEST).max(1));
    let mut rest = value;
    std::iter::from_fn(move || {
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(length.max(4)));
        rest = behind;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The longest first, so that none hides a part of another.
fn any_of<'a>(values: impl Iterator<Item = &'a str>) -> Option<Regex> {
    let mut values: Vec<&str> = values.collect();
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    let all: Vec<String> = values.into_iter().map(regex::escape).collect();
    let built = regex::RegexBuilder::new(&all.join("|"))
        .size_limit(256 << 20)
        .build();
    let built =
        built.inspect_err(|error| tracing::error!(%error, "secrets are found by their looks only"));
    built.ok().filter(|_| !all.is_empty())
}

fn is_json(text: &str) -> bool {
    text.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// As it stands between the quotes of a JSON string.
fn in_json(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted
        .get(1..quoted.len() - 1)
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests;
