//! The script as a value: a header and a list of replies, each a list of parts.
//!
//! Owns the shapes, the load-time check of variables, and filling in their values. How a script is written is `parse`'s
//! matter, which reply answers which request is `reply`'s. Invariant: a parsed script holds no reply that says nothing, and
//! nothing after a part that ends the reply.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::Vars;
use super::template::{expand, expand_json};

/// A parsed script, ready to be served.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    /// What a side call gets; without it, what is made up.
    pub(super) side: Option<String>,
    /// Whether every request counts as one of the conversation. Otherwise those that offer tools: the CLI's own small
    /// questions (titles, probes) offer none.
    pub(super) main_any: bool,
    pub(super) replies: Vec<Reply>,
    /// Names that need a value from the start.
    pub(super) names: Vec<(String, Position)>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Reply {
    pub(super) line: usize,
    /// Whether it answers side calls.
    pub(super) side: bool,
    /// How often it may be used; always if not said.
    pub(super) times: Option<u32>,
    pub(super) matcher: Option<Matcher>,
    pub(super) takes: Vec<Take>,
    pub(super) parts: Vec<Part>,
    pub(super) usage: Usage,
    pub(super) stop: Option<Stop>,
    /// Names in its parts.
    pub(super) names: Vec<(String, Position)>,
}

/// What a request must contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Matcher {
    /// The text of the newest user message contains this.
    Newest(String),
    /// The first user message contains this: a conversation (a sub-agent's, say) told by how it began.
    First(String),
}

/// A variable whose value is found in the request: what stands between two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Take {
    pub(super) name: String,
    pub(super) after: String,
    pub(super) until: String,
    pub(super) at: Position,
}

/// A part of a reply.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Think(String),
    Say(String),
    Tool {
        name: String,
        input: Value,
    },
    /// A content block given whole, for kinds the script has no word for.
    Block(Value),
    /// A stream event given whole, for kinds no API version has.
    Event {
        name: String,
        data: Value,
    },
    Wait(Duration),
    Pace(Duration),
    /// Characters per delta from here on.
    Chunk(usize),
    Error {
        status: u16,
        kind: String,
        text: String,
        headers: Vec<(String, String)>,
    },
    /// The connection breaks here: by a TCP reset, which may lose what the client has not read, or after all was sent.
    Cut {
        reset: bool,
    },
}

impl Part {
    pub(super) fn ends_the_reply(&self) -> bool {
        matches!(self, Self::Error { .. } | Self::Cut { .. })
    }

    /// Whether it is a content block, or a stream event of its own.
    pub(super) fn is_said(&self) -> bool {
        !matches!(self, Self::Wait(_) | Self::Pace(_) | Self::Chunk(_)) && !self.ends_the_reply()
    }

    fn filled(&self, vars: &Vars) -> Self {
        match self {
            Self::Think(text) => Self::Think(expand(text, vars)),
            Self::Say(text) => Self::Say(expand(text, vars)),
            Self::Tool { name, input } => Self::Tool {
                name: name.clone(),
                input: expand_json(input, vars),
            },
            Self::Block(block) => Self::Block(expand_json(block, vars)),
            Self::Event { name, data } => Self::Event {
                name: name.clone(),
                data: expand_json(data, vars),
            },
            Self::Error {
                status,
                kind,
                text,
                headers,
            } => Self::Error {
                status: *status,
                kind: kind.clone(),
                text: expand(text, vars),
                headers: headers.clone(),
            },
            other => other.clone(),
        }
    }
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) reason: String,
    /// `stop_details` of a refusal: its `category` and `explanation`, as far as the script gives them.
    pub(crate) details: Vec<(String, String)>,
}

/// What a reply counts, as far as a script or scenario names it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Usage {
    pub(crate) input: Option<u64>,
    pub(crate) output: Option<u64>,
    pub(crate) cache_read: Option<u64>,
    pub(crate) cache_write: Option<u64>,
    /// Dollars; a scenario may name them.
    pub(crate) cost: Option<f64>,
}

/// A reply, filled in.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Spoken {
    pub(crate) parts: Vec<Part>,
    pub(crate) usage: Usage,
    /// Why the model stopped, where the script says so.
    pub(crate) stop: Option<Stop>,
}

/// Line and column in a script, both from 1; the column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// A script names a variable nobody gave a value for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{at}: ${{{name}}} has no value; give one with --var {name}=…, take it from a request, or write $${{ for a plain ${{"
)]
pub struct UnknownVariable {
    pub name: String,
    pub at: Position,
}

impl Script {
    /// How many replies the script holds.
    pub fn replies(&self) -> usize {
        self.replies.len()
    }

    /// Whether every `${name}` has a value: among `vars`, or taken from a request by this reply or an earlier one.
    pub fn check(&self, vars: &Vars) -> Result<(), UnknownVariable> {
        let mut known: Vec<&str> = vars.keys().map(String::as_str).collect();
        check(&self.names, |name| known.contains(&name))?;
        for reply in &self.replies {
            known.extend(reply.takes.iter().map(|take| take.name.as_str()));
            check(&reply.names, |name| known.contains(&name))?;
        }
        Ok(())
    }
}

impl Reply {
    /// The reply with the values in their places. The check at load goes by the order in the script; replies with a
    /// condition may come in another, so it is made once more.
    pub(super) fn filled(&self, vars: &Vars) -> Result<Spoken, UnknownVariable> {
        check(&self.names, |name| vars.contains_key(name))?;
        Ok(Spoken {
            parts: self.parts.iter().map(|part| part.filled(vars)).collect(),
            usage: self.usage,
            stop: self.stop.clone(),
        })
    }
}

fn check(
    names: &[(String, Position)],
    has_value: impl Fn(&str) -> bool,
) -> Result<(), UnknownVariable> {
    match names.iter().find(|(name, _)| !has_value(name)) {
        Some((name, at)) => Err(UnknownVariable {
            name: name.clone(),
            at: *at,
        }),
        None => Ok(()),
    }
}
