//! The script as a value: a header and a list of replies, each a list of steps.
//!
//! Owns the shapes and the load-time check of variables. How a script is written is `parse`'s matter, which reply
//! answers which request is `choose`'s. Invariant: a parsed script holds no reply without a step, and nothing
//! after a step that ends the reply.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::Vars;
use super::template;

/// A parsed script, ready to be served.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    pub(super) header: Header,
    pub(super) replies: Vec<Reply>,
}

/// What holds for the whole script.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Header {
    /// What a side call gets; without it, what `side` makes up.
    pub(super) side: Option<Text>,
    pub(super) main: MainRule,
}

/// Which requests the script's plain replies are for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum MainRule {
    /// Those that offer tools. The CLI's own small questions (titles, probes) offer none.
    #[default]
    WithTools,
    Any,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reply {
    pub(super) line: usize,
    pub(super) audience: Audience,
    pub(super) uses: Uses,
    pub(super) matcher: Matcher,
    pub(super) takes: Vec<Take>,
    pub(super) steps: Vec<Step>,
    pub(super) usage: Usage,
    pub(super) stop: Option<Stop>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Audience {
    Main,
    Side,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Uses {
    Times(u32),
    Always,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Matcher {
    /// The next one in order.
    Next,
    /// The text of the newest user message contains this.
    Newest(Text),
    /// The first user message contains this: a conversation (a sub-agent's, say) told by how it began.
    First(Text),
}

/// A variable whose value is found in the request: what stands between two texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Take {
    pub(super) name: String,
    pub(super) after: String,
    pub(super) until: String,
    pub(super) at: Position,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Think(Text),
    Say(Text),
    Tool {
        name: String,
        input: Json,
    },
    /// A content block given whole, for kinds the script has no word for.
    Block(Json),
    /// A stream event given whole, for kinds no API version has.
    Event {
        name: String,
        data: Json,
    },
    Wait(Duration),
    Pace(Duration),
    /// Characters per delta from here on.
    Chunk(usize),
    Error(ErrorStep),
    Cut(Cut),
}

impl Step {
    pub(super) fn ends_the_reply(&self) -> bool {
        matches!(self, Step::Error(_) | Step::Cut(_))
    }
}

/// How a connection is dropped in mid-stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// Everything said so far arrives, then the connection ends without the end of the body.
    Close,
    /// A TCP reset: what the client has not read yet may be lost with it.
    Reset,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ErrorStep {
    pub(super) status: u16,
    /// The `type` in the error body where it is not the usual one of the status.
    pub(super) kind: Option<String>,
    pub(super) message: Text,
    pub(super) headers: Vec<(String, String)>,
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stop {
    pub(super) reason: String,
    /// `stop_details` of a refusal: its `category` and `explanation`, as far as the script gives them.
    pub(super) details: Vec<(String, String)>,
}

/// Token counts of a reply; `None` is filled in by `render`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) cache_read: Option<u64>,
    pub(super) cache_write: Option<u64>,
}

/// Text with `${name}` in it, said `repeat` times over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) template: String,
    pub(super) repeat: usize,
    pub(super) at: Position,
}

/// JSON whose strings may hold `${name}`, and `{"$repeat":[text, count]}` in place of a string.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Json {
    pub(super) template: Value,
    pub(super) at: Position,
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
        let mut taken: Vec<&str> = Vec::new();
        if let Some(side) = &self.header.side {
            known(template::names(&side.template), side.at, |name| {
                vars.contains_key(name)
            })?;
        }
        for reply in &self.replies {
            if let Matcher::Newest(text) | Matcher::First(text) = &reply.matcher {
                known(template::names(&text.template), text.at, |name| {
                    vars.contains_key(name)
                })?;
            }
            taken.extend(reply.takes.iter().map(|take| take.name.as_str()));
            reply.check(|name| vars.contains_key(name) || taken.contains(&name))?;
        }
        Ok(())
    }
}

impl Reply {
    /// Whether everything the reply names `has_value`.
    pub(super) fn check(&self, has_value: impl Fn(&str) -> bool) -> Result<(), UnknownVariable> {
        self.steps.iter().try_for_each(|step| match step {
            Step::Think(text) | Step::Say(text) | Step::Error(ErrorStep { message: text, .. }) => {
                known(template::names(&text.template), text.at, &has_value)
            }
            Step::Tool { input: json, .. } | Step::Block(json) | Step::Event { data: json, .. } => {
                known(template::names_in_json(&json.template), json.at, &has_value)
            }
            Step::Wait(_) | Step::Pace(_) | Step::Chunk(_) | Step::Cut(_) => Ok(()),
        })
    }
}

fn known(
    names: Vec<String>,
    at: Position,
    has_value: impl Fn(&str) -> bool,
) -> Result<(), UnknownVariable> {
    match names.into_iter().find(|name| !has_value(name)) {
        Some(name) => Err(UnknownVariable { name, at }),
        None => Ok(()),
    }
}
